/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are spelled out are found in all their forms, and keep their numbers; what is nearly one is none.
 *
 * ODLC_RANDOM_GRAPHS is the number of plants of each kind (without it 200, with ODLC_LONG=1 500), ODLC_RANDOM_SEED the
 * first seed. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "op/graph_text.h"
#include "op/op.h"
#include "pass/formula.h"
#include "pass/pass.h"
#include "planted.h"
#include "random_graph.h"
#include "runtime/executor.h"
#include "tests/support/reference_only.h"
#include "tests/support/share.h"

#define TOLERANCE 1e-5 /* of the largest value, or of 1 */

struct trial {
    struct arena *arena, *scratch;
    struct diags diags;
    struct pass_options options;
    struct pass_context context;
};

static void start(struct trial *t)
{
    *t = (struct trial){.arena = arena_create(), .scratch = arena_create()};
    diags_init(&t->diags, t->arena);
    t->options.target_release = RELEASE(2, 99);
    t->context = (struct pass_context){.scratch = t->scratch, .diags = &t->diags, .options = &t->options};
}

static void stop(struct trial *t)
{
    arena_destroy(t->scratch);
    arena_destroy(t->arena);
}

static uint64_t setting(const char *variable, uint64_t absent)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : absent;
}

static uint64_t plants_to_try(void)
{
    return getenv("ODLC_RANDOM_GRAPHS") ? setting("ODLC_RANDOM_GRAPHS", 0) : share_of(200, 500, "plants");
}

/* The first output's numbers, of a random input: floats, or doubles in a graph of these. */
static const void *execute(struct trial *t, const struct graph *g, uint64_t seed, uint64_t *count)
{
    struct executor *e;
    const tensor_id in = g->inputs.data[0], out = g->outputs.data[0];
    ck_assert_int_eq(
        executor_create(t->arena, t->scratch, &t->diags, g, g->outputs.data, g->outputs.count, &reference_only, &e),
        ODLC_OK);
    const struct buffer *x = &e->buffers[in];
    for (uint64_t i = 0; i < shape_count(&x->shape); i++) {
        const float number = (float)random_below(&seed, 1 << 20) / (1 << 16) - 8;
        convert_elements((uint8_t *)x->data + i * dtype_size(x->dtype), x->dtype, &number, DT_FLOAT32, 1);
    }
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    *count = shape_count(&e->buffers[out].shape);
    return e->buffers[out].data;
}

static uint32_t count_of(const struct graph *g, enum op_id op)
{
    uint32_t count = 0;
    for (size_t i = 0; i < g->order.count; i++)
        count += node_is(graph_node(g, g->order.data[i]), op);
    return count;
}

static void give_up(const struct trial *t, const struct planted *p, const char *before, uint64_t seed, const char *why)
{
    printf("%s, seed %llu: %s\n---- before\n%s---- after\n%s", p->pass, (unsigned long long)seed, why, before,
           graph_print(t->arena, p->g));
    fflush(stdout);
    ck_abort_msg("%s, seed %llu: %s", p->pass, (unsigned long long)seed, why);
}

/* One operator is all that is left, but for Transposes and the node behind. */
static bool is_found(const struct planted *p)
{
    return count_of(p->g, p->op) == 1 && p->g->order.count - count_of(p->g, OP_Transpose) == 2;
}

/* The node that computes the tensor, or the one that a Transpose has it from; NULL: none does. */
static const struct node *producer_of(const struct graph *g, tensor_id t)
{
    const node_id id = graph_tensor(g, t)->producer;
    const struct node *n = id == NO_NODE ? NULL : graph_node(g, id);
    return n && node_is(n, OP_Transpose) ? producer_of(g, n->inputs[0]) : n;
}

/* One operator computes from x what the node behind reads, whatever else there is. */
static bool spans_all(const struct planted *p)
{
    const struct node *last = producer_of(p->g, p->g->outputs.data[0]);
    const struct node *found = producer_of(p->g, last->inputs[0]);
    return found && node_is(found, p->op) && !producer_of(p->g, found->inputs[0]);
}

/* What a plant is made of. */
struct origin {
    size_t kind;
    uint64_t seed;
    int fault;
};

/* What the plant's steps give in doubles. */
static const double *execute_exactly(struct trial *t, const struct origin *o)
{
    const struct planted p = plant(t->arena, &t->diags, o->kind, o->seed, o->fault);
    uint64_t count;
    for (tensor_id id = 0; id < p.g->tensors.count; id++)
        if (graph_tensor(p.g, id)->type->dtype == DT_FLOAT32)
            graph_set_dtype(p.g, id, DT_FLOAT64);
    return execute(t, p.g, o->seed, &count);
}

static bool is_near(double a, double b, double largest)
{
    return fabs(a - b) <= TOLERANCE * largest || (isnan(a) && isnan(b));
}

/* Steps in floats may be ill-conditioned where the operator is not: a variance that is the difference of two moments,
 * much larger ones, loses their last bits. So what differs from them must be what they give in doubles. */
static void check_numbers(struct trial *t, const struct planted *p, const struct origin *origin, const char *text,
                          const float *expected, uint64_t count)
{
    uint64_t found_count;
    const double *exact = NULL;
    const float *found = execute(t, p->g, origin->seed, &found_count);
    double largest = 1;
    ck_assert_uint_eq(count, found_count);
    for (uint64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)expected[i])); /* a NaN is none */
    for (uint64_t i = 0; i < count; i++) {
        if (is_near((double)expected[i], (double)found[i], largest))
            continue;
        exact = exact ? exact : execute_exactly(t, origin);
        if (!is_near(exact[i], (double)found[i], largest))
            give_up(t, p, text, origin->seed, "the numbers differ");
    }
}

/* The number of places for a fault. */
static int check_plant(size_t kind, uint64_t seed)
{
    struct trial t;
    start(&t);
    struct planted p = plant(t.arena, &t.diags, kind, seed, NO_FAULT);
    uint64_t count;
    const char *text = graph_print(t.arena, p.g);
    const float *expected = execute(&t, p.g, seed, &count);
    ck_assert_int_eq(pass_run(&t.context, p.g, p.pass), ODLC_OK);
    if (!is_found(&p))
        give_up(&t, &p, text, seed, "the operator is not found");
    check_numbers(&t, &p, &(struct origin){kind, seed, NO_FAULT}, text, expected, count);
    stop(&t);
    return p.places;
}

/* What has a fault is not found, and keeps its numbers. */
static void check_fault(size_t kind, uint64_t seed, int fault)
{
    struct trial t;
    start(&t);
    struct planted p = plant(t.arena, &t.diags, kind, seed, fault);
    uint64_t count;
    const char *text = graph_print(t.arena, p.g);
    const float *expected = execute(&t, p.g, seed, &count);
    ck_assert_int_eq(pass_run(&t.context, p.g, p.pass), ODLC_OK);
    if (is_found(&p) || (p.is_read && spans_all(&p)))
        give_up(&t, &p, text, seed, "the operator is found where it is not");
    check_numbers(&t, &p, &(struct origin){kind, seed, fault}, text, expected, count);
    stop(&t);
}

START_TEST(plants_are_found)
{
    const uint64_t first = setting("ODLC_RANDOM_SEED", 1), count = plants_to_try();
    for (uint64_t seed = first; seed < first + count; seed++) {
        const int places = check_plant((size_t)_i, seed);
        uint64_t state = seed;
        check_fault((size_t)_i, seed, (int)random_below(&state, (uint32_t)places));
    }
}
END_TEST

/* Seeds whose steps in floats are further from what they mean than the tolerance. */
START_TEST(ill_conditioned_plants)
{
    static const uint64_t seeds[] = {5008471};
    for (size_t kind = 0; kind < plant_kinds(); kind++)
        for (size_t i = 0; i < COUNT_OF(seeds); i++)
            check_plant(kind, seeds[i]);
}
END_TEST

/* ---- formulas ---- */

START_TEST(texts_that_are_no_formulas)
{
    static const char *const texts[] = {"",       "x +",         "NoOperator(x)",        "Tanh(x", "x ^ y",
                                        "#e ^ 2", "x * #a * #b", "Relu6[no_param=1](x)", "(x",     "x)",
                                        "d = x",  "X",           "Tanh(x, x, x, x, x)",  "x - #e"};
    struct arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        ck_assert_msg(!formula_parse(arena, texts[i]), "%s is none", texts[i]);
    arena_destroy(arena);
}
END_TEST

START_TEST(a_formula_is_a_tree)
{
    struct arena *arena = arena_create();
    const struct expr *e = formula_parse(arena, "d = x - 2; 0.5 * d / m:ReduceMean[keep_dims=1](d ^ 2) + @b + #e");
    ck_assert_ptr_nonnull(e);
    ck_assert(e->kind == EXPR_SUM && e->any == 'e' && e->number == 0 && e->n_args == 2);
    const struct expr *quotient = e->args[0], *d = quotient->args[0], *mean = quotient->args[1];
    ck_assert(quotient->kind == EXPR_PRODUCT && quotient->number == 0.5 && quotient->n_args == 2);
    ck_assert(quotient->exponents[0] == 1 && quotient->exponents[1] == -1);
    ck_assert(d->kind == EXPR_SUM && d->number == -2 && d->args[0]->kind == EXPR_OPERAND && d->args[0]->letter == 'x');
    ck_assert(mean->kind == EXPR_CALL && mean->op == OP_ReduceMean && mean->letter == 'm' && mean->n_params == 1);
    ck_assert(mean->params[0].id == PARAM_keep_dims && mean->params[0].value == 1);
    ck_assert(mean->args[0]->kind == EXPR_PRODUCT && mean->args[0]->exponents[0] == 2 && mean->args[0]->args[0] == d);
    ck_assert(e->args[1]->kind == EXPR_CONSTANT && e->args[1]->letter == 'b');
    arena_destroy(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fusions");
    TCase *plants = tcase_create("plants");
    tcase_set_timeout(plants, 0);
    tcase_add_loop_test(plants, plants_are_found, 0, (int)plant_kinds());
    tcase_add_test(plants, ill_conditioned_plants);
    suite_add_tcase(suite, plants);
    TCase *formulas = tcase_create("formulas");
    tcase_add_test(formulas, texts_that_are_no_formulas);
    tcase_add_test(formulas, a_formula_is_a_tree);
    suite_add_tcase(suite, formulas);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
