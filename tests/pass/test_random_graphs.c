/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph computes must depend neither on folding nor on the passes. Random graphs are executed as they are built
 * with nothing folded; then folded, after each pass alone, and after each pass of the whole list, and must give the
 * same numbers. So must the graphs some of whose nodes are claimed by UDOs of random layouts: where a UDO saw or gave a
 * tensor in another order than it declares, its numbers would be others.
 *
 * ODLC_RANDOM_GRAPHS is the number of graphs (without it 120, with ODLC_LONG=1 400), ODLC_RANDOM_SEED the first seed. A
 * failure prints the seed, and the graph before and after the pass. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "op/graph_text.h"
#include "op/op.h"
#include "pass/pass.h"
#include "random_graph.h"
#include "runtime/executor.h"
#include "tests/support/reference_only.h"
#include "tests/support/share.h"

/* Of the largest value of an output; folding a batch normalization rounds weights anew. */
#define TOLERANCE 2e-5

/* One graph at work. */
struct trial {
    uint64_t seed;
    struct arena *arena, *scratch;
    struct diags diags;
    struct pass_options options;
    struct pass_context context;
    struct random_graph random;
    struct map preserved;
    const char *before; /* the graph as text, before any pass */
    const char *step;   /* what was done last */
};

/* The numbers that an output must have, in its own order of axes. */
struct expected {
    struct shape shape;
    const double *values;
};

/* Half of these, by name. */
static void preserve_some(struct map *names, const struct graph *g, const tensor_id *ids, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++)
        if (random_below(state, 2) == 0)
            map_put(names, graph_tensor(g, ids[i])->name, 1);
}

static struct trial *trial_create(uint64_t seed, struct random_form form)
{
    struct arena *arena = arena_create();
    struct trial *t = arena_new(arena, struct trial);
    t->seed = seed;
    t->arena = arena;
    t->scratch = arena_create();
    diags_init(&t->diags, arena);
    t->random = random_graph_make(arena, &t->diags, seed, form);
    uint64_t state = t->random.state;
    t->options.preserve_layout = random_below(&state, 4) == 0;
    t->options.preserve_dtype = random_below(&state, 4) == 0;
    t->options.no_batchnorm_folding = random_below(&state, 4) == 0;
    t->options.keep_quant_nodes = random_below(&state, 4) == 0;
    t->options.target_release = random_below(&state, 2) ? RELEASE_OLDEST : RELEASE_NEWER;
    map_init(&t->preserved, arena);
    if (random_below(&state, 3) == 0)
        t->options.preserve_names = &t->preserved;
    const struct graph *g = t->random.g;
    preserve_some(&t->preserved, g, g->inputs.data, g->inputs.count, &state);
    preserve_some(&t->preserved, g, g->outputs.data, g->outputs.count, &state);
    t->context = (struct pass_context){.scratch = t->scratch, .diags = &t->diags, .options = &t->options};
    t->before = graph_print(arena, t->random.g);
    t->step = "building";
    return t;
}

static void trial_destroy(struct trial *t)
{
    arena_destroy(t->scratch);
    arena_destroy(t->arena);
}

static void give_up(const struct trial *t, const char *why)
{
    printf("seed %llu, after %s: %s\n---- before the passes\n%s---- now\n%s", (unsigned long long)t->seed, t->step, why,
           t->before, graph_print(t->arena, t->random.g));
    for (size_t i = 0; i < t->diags.list.count; i++)
        printf("%s: %s\n", t->diags.list.data[i].code, t->diags.list.data[i].message);
    fflush(stdout);
    ck_abort_msg("seed %llu, after %s: %s", (unsigned long long)t->seed, t->step, why);
}

static void must(const struct trial *t, odlc_status status)
{
    if (status != ODLC_OK)
        give_up(t, odlc_status_name(status));
}

/* ---- execution ---- */

/* Users learn from a note that a graph input or output is stored channels-last. */
static bool is_channels_last(const struct trial *t, const char *note, const char *name)
{
    for (size_t i = 0; i < t->diags.list.count; i++)
        if (strcmp(t->diags.list.data[i].code, note) == 0 && strcmp(t->diags.list.data[i].node, name) == 0)
            return true;
    return false;
}

static void feed_input(const struct trial *t, const struct tensor *in, struct buffer *buffer)
{
    const struct feed *feed = t->random.feeds;
    while (strcmp(feed->name, in->name) != 0)
        feed++;
    struct view view = view_of(feed->data, feed->type.dtype, &feed->type.shape);
    struct perm last = perm_channels_last(feed->type.shape.rank);
    if (is_channels_last(t, "input-layout", in->name))
        view_permute(&view, &last);
    if (buffer->data)
        memcpy(buffer->data, view_load(t->arena, &view, in->type->dtype), tensor_bytes(in->type));
}

static struct executor *execute(struct trial *t)
{
    struct graph *g = t->random.g;
    struct executor *e;
    must(t,
         executor_create(t->arena, t->scratch, &t->diags, g, g->outputs.data, g->outputs.count, &reference_only, &e));
    for (size_t i = 0; i < g->inputs.count; i++) {
        tensor_id id = g->inputs.data[i];
        feed_input(t, graph_tensor(g, id), &e->buffers[id]);
    }
    must(t, executor_run(e));
    return e;
}

static const double *as_doubles(const struct trial *t, const struct buffer *b)
{
    uint64_t count = shape_count(&b->shape);
    double *out = arena_array(t->arena, double, count);
    convert_elements(out, DT_FLOAT64, b->data, b->dtype, count);
    return out;
}

static struct expected *expect(struct trial *t)
{
    const struct graph *g = t->random.g;
    const struct executor *e = execute(t);
    struct expected *out = arena_array(t->arena, struct expected, g->outputs.count);
    for (size_t i = 0; i < g->outputs.count; i++) {
        const struct buffer *b = &e->buffers[g->outputs.data[i]];
        out[i] = (struct expected){b->shape, as_doubles(t, b)};
    }
    return out;
}

/* What is wrong with an output, or NULL. slack: by how much its numbers may differ, beside the tolerance. */
static const char *difference(const struct trial *t, const char *name, const struct expected *expected,
                              const struct buffer *found, double slack)
{
    struct view view = view_of(expected->values, DT_FLOAT64, &expected->shape);
    struct perm last = perm_channels_last(expected->shape.rank);
    if (is_channels_last(t, "output-layout", name))
        view_permute(&view, &last);
    const struct shape shape = view_shape(&view), one = SHAPE(1);
    bool promoted = shape.rank == 0 && shape_equal(&found->shape, &one);
    if (!shape_equal(&shape, &found->shape) && !promoted)
        return arena_printf(t->arena, "%s is %s instead of %s", name, shape_text(t->arena, &found->shape),
                            shape_text(t->arena, &shape));
    const double *want = view_load(t->arena, &view, DT_FLOAT64), *got = as_doubles(t, found);
    uint64_t count = shape_count(&shape);
    double largest = 1;
    for (uint64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(want[i]));
    for (uint64_t i = 0; i < count; i++)
        if (!(fabs(want[i] - got[i]) <= TOLERANCE * largest + slack))
            return arena_printf(t->arena, "%s[%llu] is %.9g instead of %.9g", name, (unsigned long long)i, got[i],
                                want[i]);
    return NULL;
}

static void compare(struct trial *t, const char *step, const struct expected *expected)
{
    const struct graph *g = t->random.g;
    t->step = step;
    const struct executor *e = execute(t);
    for (size_t i = 0; i < g->outputs.count; i++) {
        tensor_id id = g->outputs.data[i];
        const char *wrong =
            difference(t, graph_tensor(g, id)->name, &expected[i], &e->buffers[id], t->random.slacks[i]);
        if (wrong)
            give_up(t, wrong);
    }
}

/* ---- the properties ---- */

static void run_pass(struct trial *t, const char *pass)
{
    t->step = pass;
    must(t, pass_run(&t->context, t->random.g, pass));
}

/* Each pass alone, on the graph as lowering leaves it. */
static void check_each_pass(uint64_t seed, const struct expected *expected)
{
    for (size_t i = 0; pass_name(i); i++) {
        struct trial *t = trial_create(seed, (struct random_form){.with_udos = false});
        if (i == 0)
            compare(t, "folding", expected);
        run_pass(t, pass_name(i));
        compare(t, pass_name(i), expected);
        trial_destroy(t);
    }
}

/* All passes in a row, in every form of the graph. */
static void check_all_passes(uint64_t seed, struct random_form form, const struct expected *expected)
{
    struct trial *t = trial_create(seed, form);
    if (form.with_udos)
        compare(t, "claiming", expected);
    for (size_t i = 0; pass_name(i); i++) {
        run_pass(t, pass_name(i));
        compare(t, pass_name(i), expected);
    }
    trial_destroy(t);
}

static void check_seed(uint64_t seed)
{
    struct trial *plain = trial_create(seed, (struct random_form){.constants_are_inputs = true});
    const struct expected *expected = expect(plain);
    check_each_pass(seed, expected);
    for (unsigned form = 0; form < 4; form++)
        check_all_passes(seed, (struct random_form){.constants_are_inputs = form & 1, .with_udos = form & 2}, expected);
    trial_destroy(plain);
}

static uint64_t setting(const char *variable, uint64_t absent)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : absent;
}

static uint64_t graphs_to_try(const char *what)
{
    return getenv("ODLC_RANDOM_GRAPHS") ? setting("ODLC_RANDOM_GRAPHS", 0) : share_of(120, 400, what);
}

static uint32_t count_nodes(const struct graph *g, enum op_id op)
{
    uint32_t count = 0;
    for (size_t i = 0; i < g->order.count; i++)
        count += node_is(graph_node(g, g->order.data[i]), op);
    return count;
}

/* Encodings of floats that an operand or the graph has. */
static uint32_t count_overrides(const struct graph *g)
{
    uint32_t count = 0;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        const struct tensor *t = n->n_outputs ? node_output(g, n, 0) : NULL;
        count += t && t->quant && t->quant->overridden && dtype_is_float(t->type->dtype);
    }
    return count;
}

/* The numbers of the floats that are left without the pairs are kept by what comes after. */
static void check_encodings(uint64_t seed, uint32_t *pairs, uint32_t *overrides)
{
    struct trial *t = trial_create(seed, (struct random_form){.with_udos = seed & 1});
    const struct expected *expected = NULL;
    uint32_t before = count_nodes(t->random.g, OP_Quantize), left = 0;
    t->options.keep_encodings = true;
    t->options.keep_quant_nodes = false;
    for (size_t i = 0; pass_name(i); i++) {
        run_pass(t, pass_name(i));
        if (expected)
            compare(t, pass_name(i), expected);
        if (strcmp(pass_name(i), "keep_encodings") != 0)
            continue;
        expected = expect(t);
        left = count_nodes(t->random.g, OP_Quantize);
    }
    *pairs += before - left;
    *overrides += count_overrides(t->random.g);
    trial_destroy(t);
}

START_TEST(floats_with_encodings_keep_the_numbers)
{
    uint64_t first = setting("ODLC_RANDOM_SEED", 1), count = graphs_to_try("random graphs with encodings");
    uint32_t pairs = 0, overrides = 0;
    for (uint64_t seed = first; seed < first + count; seed++)
        check_encodings(seed, &pairs, &overrides);
    printf("%u pairs became encodings, %u results of nodes have one\n", pairs, overrides);
    ck_assert_uint_ge(pairs, count / 4);
    ck_assert_uint_ge(overrides, count / 8);
}
END_TEST

/* UDO nodes that the passes left, by whether they keep to the container's order or declare one. */
static void count_udos(const struct graph *g, size_t *as_stored, size_t *declared)
{
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (n->op && n->op->package)
            ++*(n->forms->in[0].as_stored ? as_stored : declared);
    }
}

START_TEST(passes_keep_the_numbers)
{
    uint64_t first = setting("ODLC_RANDOM_SEED", 1), count = graphs_to_try("random graphs");
    for (uint64_t seed = first; seed < first + count; seed++)
        check_seed(seed);
}
END_TEST

/* The graphs have the UDOs that the property is about. */
START_TEST(udos_are_there)
{
    size_t as_stored = 0, declared = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct trial *t = trial_create(seed, (struct random_form){.with_udos = true});
        count_udos(t->random.g, &as_stored, &declared);
        trial_destroy(t);
    }
    ck_assert_uint_ge(as_stored, 10);
    ck_assert_uint_ge(declared, 100);
}
END_TEST

/* Nodes that work on fixed-point tensors: those that move elements alone, others, and those whose weights are such. */
static void count_fixed(const struct graph *g, size_t *moved, size_t *computed, size_t *weighed)
{
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        bool pair = node_is(n, OP_Quantize) || node_is(n, OP_Dequantize);
        bool moves = kernel_of(n->op)->compute == COMPUTE_MOVE;
        if (pair || !dtype_is_fixed(node_output(g, n, 0)->type->dtype))
            continue;
        ++*(moves ? moved : computed);
        *weighed += n->n_inputs == 3 && dtype_is_fixed(node_input(g, n, 1)->type->dtype);
    }
}

/* The graphs have what is quantized, too. */
START_TEST(fixed_point_nodes_are_there)
{
    size_t moved = 0, computed = 0, weighed = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct trial *t = trial_create(seed, (struct random_form){.with_udos = false});
        t->options.keep_quant_nodes = false;
        for (size_t i = 0; pass_name(i); i++)
            run_pass(t, pass_name(i));
        count_fixed(t->random.g, &moved, &computed, &weighed);
        trial_destroy(t);
    }
    printf("on fixed-point tensors: %zu nodes that move elements, %zu others, %zu with such weights\n", moved, computed,
           weighed);
    ck_assert_uint_ge(moved, 40);
    ck_assert_uint_ge(computed, 40);
    ck_assert_uint_ge(weighed, 3);
}
END_TEST

/* The comparison is no stricter and no weaker than it says. */
START_TEST(a_wrong_number_is_found)
{
    struct trial *t = trial_create(1, (struct random_form){.constants_are_inputs = true});
    const double want[] = {0, 8, -1};
    float got[] = {0, 8, -1 - 1e-5f};
    const struct expected expected = {SHAPE(3), want};
    struct buffer found = {.dtype = DT_FLOAT32, .shape = SHAPE(3), .data = got};
    ck_assert_ptr_null(difference(t, "y", &expected, &found, 0));
    got[0] = 2e-4f;
    ck_assert_str_eq(difference(t, "y", &expected, &found, 0), "y[0] is 0.000199999995 instead of 0");
    got[0] = NAN;
    ck_assert_ptr_nonnull(difference(t, "y", &expected, &found, 0));
    found.shape = SHAPE(3, 1);
    ck_assert_str_eq(difference(t, "y", &expected, &found, 0), "y is [3,1] instead of [3]");
    trial_destroy(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("random graphs");
    TCase *passes = tcase_create("passes");
    tcase_set_timeout(passes, 0);
    tcase_add_test(passes, passes_keep_the_numbers);
    tcase_add_test(passes, floats_with_encodings_keep_the_numbers);
    tcase_add_test(passes, udos_are_there);
    tcase_add_test(passes, fixed_point_nodes_are_there);
    tcase_add_test(passes, a_wrong_number_is_found);
    suite_add_tcase(suite, passes);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
