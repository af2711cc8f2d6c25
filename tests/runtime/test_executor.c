/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and their execution, on graphs whose ops are defined here. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "op/infer.h"
#include "op/op.h"
#include "runtime/executor.h"
#include "tests/support/reference_only.h"

#define N 16 /* elements of every tensor: 64 bytes of float32, one slot of the pool */

static struct arena *arena, *scratch;
static struct diags diags;
static struct graph *g;

static odlc_status add_kernel(const struct kernel *k)
{
    const double *a = k->in[0].data, *b = k->in[1].data;
    double *out = k->out[0].data;
    for (uint64_t i = 0; i < shape_count(&k->out[0].shape); i++)
        out[i] = a[i] + b[i];
    return ODLC_OK;
}

/* out[0] = in + 1, out[1] = in - 1 */
static odlc_status fork_kernel(const struct kernel *k)
{
    const double *in = k->in[0].data;
    for (uint64_t i = 0; i < shape_count(&k->in[0].shape); i++) {
        ((double *)k->out[0].data)[i] = in[i] + 1;
        ((double *)k->out[1].data)[i] = in[i] - 1;
    }
    return ODLC_OK;
}

static const struct reference_kernel adds = {COMPUTE_WIDE, add_kernel}, forks_to_two = {COMPUTE_WIDE, fork_kernel};
static const struct op add = {.name = "Add", .dlc_type = "Add", .own_kernel = &adds};
static const struct op forks = {.name = "Fork", .dlc_type = "Fork", .own_kernel = &forks_to_two};
static const struct op reshape = {.id = OP_Reshape, .name = "Reshape", .dlc_type = "Reshape"};
static const struct op of_package = {.name = "Twice", .dlc_type = "Twice", .package = "MyPackage", .own_kernel = &adds};
static const struct op custom = {.name = "Selu", .dlc_type = "Selu", .package = "MyPackage"};

static odlc_status infer_first(const struct infer *c)
{
    c->out[0] = *graph_tensor(c->graph, c->node->inputs[0])->type;
    return ODLC_OK;
}

static const struct op strict = {.name = "Strict", .dlc_type = "Strict", .own_kernel = &adds, .infer = infer_first};

static void setup(void)
{
    arena = arena_create();
    scratch = arena_create();
    diags_init(&diags, arena);
    g = graph_create(arena, "test");
}

static void teardown(void)
{
    arena_destroy(scratch);
    arena_destroy(arena);
}

static tensor_id tensor(const char *name, enum tensor_kind kind)
{
    struct type type = {DT_FLOAT32, SHAPE(N)};
    tensor_id id = graph_add_tensor(g, name, kind, &type);
    if (kind == TENSOR_INPUT)
        vec_push(arena, &g->inputs, id);
    return id;
}

static void node(const struct op *op, const char *name, tensor_id a, tensor_id b, tensor_id out, tensor_id out2)
{
    tensor_id in[] = {a, b}, outs[] = {out, out2};
    node_id id = graph_add_node(g, op, 0, name, in, b == NO_TENSOR ? 1 : 2, outs, out2 == NO_TENSOR ? 1 : 2);
    vec_push(arena, &g->order, id);
}

static float *elements(struct executor *e, tensor_id id)
{
    return e->buffers[id].data;
}

START_TEST(a_chain_needs_two_slots)
{
    tensor_id x = tensor("x", TENSOR_INPUT), t[6];
    for (int i = 0; i < 6; i++) {
        t[i] = tensor("t", TENSOR_NATIVE);
        node(&add, "n", i ? t[i - 1] : x, i ? t[i - 1] : x, t[i], NO_TENSOR);
    }
    struct executor *e;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &t[5], 1, &reference_only, &e), ODLC_OK);
    ck_assert_uint_eq(e->plan.steps.count, 6);
    ck_assert_uint_eq(e->plan.spaces[HOST_SPACE].size, 2 * N * sizeof(float));
    for (int run = 1; run <= 2; run++) { /* inputs survive a run */
        for (int i = 0; run == 1 && i < N; i++)
            elements(e, x)[i] = (float)i;
        ck_assert_int_eq(executor_run(e), ODLC_OK);
        for (int i = 0; i < N; i++)
            ck_assert_float_eq(elements(e, t[5])[i], (float)(64 * i));
    }
}
END_TEST

/* Its place is given back once: two tensors that are alive later do not share it. */
START_TEST(an_operand_that_is_read_twice_is_freed_once)
{
    tensor_id x = tensor("x", TENSOR_INPUT), t[5];
    for (int i = 0; i < 5; i++)
        t[i] = tensor("t", TENSOR_NATIVE);
    node(&add, "2x", x, x, t[0], NO_TENSOR);
    node(&add, "4x", t[0], t[0], t[1], NO_TENSOR);
    node(&add, "5x", t[1], x, t[2], NO_TENSOR);
    node(&add, "8x", t[1], t[1], t[3], NO_TENSOR);
    node(&add, "13x", t[2], t[3], t[4], NO_TENSOR);
    struct executor *e;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &t[4], 1, &reference_only, &e), ODLC_OK);
    ck_assert_uint_eq(e->plan.spaces[HOST_SPACE].size, 3 * N * sizeof(float));
    elements(e, x)[2] = 1;
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    ck_assert_float_eq(elements(e, t[4])[2], 13);
}
END_TEST

/* The place of a tensor that is read under two names is given back once, and kept while one of them is needed. */
START_TEST(reshapes_have_the_place_of_what_they_read)
{
    tensor_id x = tensor("x", TENSOR_INPUT), t[6];
    for (int i = 0; i < 6; i++)
        t[i] = tensor("t", TENSOR_NATIVE);
    node(&add, "2x", x, x, t[0], NO_TENSOR);
    node(&reshape, "2x again", t[0], NO_TENSOR, t[1], NO_TENSOR);
    node(&add, "4x", t[0], t[1], t[2], NO_TENSOR);
    node(&add, "5x", t[2], x, t[3], NO_TENSOR);
    node(&add, "8x", t[2], t[2], t[4], NO_TENSOR);
    node(&add, "13x", t[3], t[4], t[5], NO_TENSOR);
    struct executor *e;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &t[5], 1, &reference_only, &e), ODLC_OK);
    ck_assert_ptr_eq(elements(e, t[1]), elements(e, t[0]));
    ck_assert_uint_eq(e->plan.spaces[HOST_SPACE].size, 3 * N * sizeof(float));
    for (size_t s = 0; s < e->plan.steps.count; s++)
        ck_assert(e->plan.steps.data[s].is_idle == (s == 1));
    elements(e, x)[2] = 1;
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    ck_assert_uint_eq(e->nanoseconds[1], 0);
    ck_assert_float_eq(elements(e, t[5])[2], 13);
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, (tensor_id[]){t[0], t[5]}, 2, &reference_only, &e),
                     ODLC_OK);
    ck_assert_ptr_eq(elements(e, t[1]), elements(e, t[0]));
    elements(e, x)[2] = 1;
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    ck_assert_float_eq(elements(e, t[0])[2], 2);
}
END_TEST

static tensor_id constant(const char *name, float first)
{
    float *values = arena_array(arena, float, N);
    const struct shape shape = SHAPE(N);
    for (int i = 0; i < N; i++)
        values[i] = first + (float)i;
    const struct view view = view_of(values, DT_FLOAT32, &shape);
    return graph_add_constant(g, name, DT_FLOAT32, &view);
}

static struct executor *created(const tensor_id *wanted, size_t n_wanted, const struct executor_options *options)
{
    struct executor *e;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, wanted, n_wanted, options, &e), ODLC_OK);
    return e;
}

/* Of two nodes of constants and one that reads the second, the latter alone is a step; the graph is as before. */
START_TEST(what_constants_give_is_computed_once)
{
    tensor_id x = tensor("x", TENSOR_INPUT), one = constant("one", 1), ten = constant("ten", 10);
    tensor_id up = tensor("up", TENSOR_NATIVE), down = tensor("down", TENSOR_NATIVE),
              sum = tensor("sum", TENSOR_NATIVE);
    tensor_id y = tensor("y", TENSOR_OUTPUT);
    node(&forks, "fork", one, NO_TENSOR, up, down);
    node(&add, "sum", up, ten, sum, NO_TENSOR);
    node(&add, "y", sum, x, y, NO_TENSOR);
    struct executor *e = created(&y, 1, &reference_only);
    ck_assert_uint_eq(e->plan.steps.count, 1);
    ck_assert(graph_tensor(e->scope.graph, sum)->kind == TENSOR_STATIC);
    ck_assert(graph_tensor(g, sum)->kind == TENSOR_NATIVE && graph_tensor(g, sum)->producer != NO_NODE);
    ck_assert_uint_eq(g->order.count, 3);
    for (int run = 1; run <= 2; run++) {
        elements(e, x)[3] = (float)(100 * run);
        ck_assert_int_eq(executor_run(e), ODLC_OK);
        ck_assert_float_eq(elements(e, y)[3], (float)(100 * run) + (1 + 3 + 1) + (10 + 3));
    }
}
END_TEST

/* Steps between constants and results share places, however many there are, and only results are memory behind them. */
START_TEST(steps_between_constants_and_results_share_places)
{
    enum { STEPS = 8, EARLY = 2, COUNT = 1 << 18, BYTES = COUNT * sizeof(float) };
    const struct type type = {DT_FLOAT32, SHAPE(COUNT)};
    float *ones = arena_array(arena, float, COUNT);
    for (int i = 0; i < COUNT; i++)
        ones[i] = 1;
    const struct view view = view_of(ones, DT_FLOAT32, &type.shape);
    tensor_id last = graph_add_constant(g, "ones", DT_FLOAT32, &view), steps[STEPS], out[2];
    tensor_id x = graph_add_tensor(g, "x", TENSOR_INPUT, &type);
    vec_push(arena, &g->inputs, x);
    for (int i = 0; i < STEPS; last = steps[i++]) {
        steps[i] = graph_add_tensor(g, "step", TENSOR_NATIVE, &type);
        node(&add, "step", last, last, steps[i], NO_TENSOR);
    }
    for (int i = 0; i < 2; i++) {
        out[i] = graph_add_tensor(g, "out", TENSOR_OUTPUT, &type);
        node(&add, "out", x, i ? last : steps[EARLY], out[i], NO_TENSOR);
    }
    const size_t before = arena_size(arena);
    struct executor *e = created(out, 2, &reference_only);
    /* The input, two outputs; two results, and two places between. */
    ck_assert_uint_le(arena_size(arena) - before, 7 * BYTES + BYTES / 2);
    for (int run = 1; run <= 2; run++) {
        for (int i = 0; i < COUNT; i++)
            elements(e, x)[i] = (float)run;
        ck_assert_int_eq(executor_run(e), ODLC_OK);
        int wrong = 0;
        for (int i = 0; i < COUNT; i++)
            wrong += elements(e, out[0])[i] != (float)(run + (2 << EARLY)) ||
                     elements(e, out[1])[i] != (float)(run + (1 << STEPS));
        ck_assert_int_eq(wrong, 0);
    }
}
END_TEST

/* What somebody wants or observes, and what a package reads, is computed in each run, and what depends on it. */
START_TEST(what_is_seen_of_constants_is_computed_in_each_run)
{
    tensor_id x = tensor("x", TENSOR_INPUT), one = constant("one", 1), first = tensor("first", TENSOR_NATIVE);
    tensor_id second = tensor("second", TENSOR_NATIVE), y = tensor("y", TENSOR_OUTPUT), z = tensor("z", TENSOR_OUTPUT);
    node(&add, "first", one, one, first, NO_TENSOR);
    node(&add, "second", first, one, second, NO_TENSOR);
    node(&add, "y", second, x, y, NO_TENSOR);
    ck_assert_uint_eq(created(&y, 1, &reference_only)->plan.steps.count, 1);
    ck_assert_uint_eq(created((tensor_id[]){y, second}, 2, &reference_only)->plan.steps.count, 2);
    struct executor *e = created((tensor_id[]){y, first}, 2, &reference_only);
    ck_assert_uint_eq(e->plan.steps.count, 3);
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    ck_assert_float_eq(elements(e, first)[2], 6);
    bool *observed = arena_array(arena, bool, g->tensors.count);
    observed[first] = true;
    struct executor_options options = reference_only;
    options.observed = observed;
    ck_assert_uint_eq(created(&y, 1, &options)->plan.steps.count, 3);
    node(&of_package, "z", second, second, z, NO_TENSOR);
    e = created((tensor_id[]){y, z}, 2, &reference_only);
    ck_assert_uint_eq(e->plan.steps.count, 3);
    ck_assert(graph_tensor(e->scope.graph, second)->kind == TENSOR_NATIVE);
    ck_assert(graph_tensor(e->scope.graph, first)->kind == TENSOR_STATIC);
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    ck_assert_float_eq(elements(e, z)[2], 18);
}
END_TEST

START_TEST(wanted_tensors_keep_their_place)
{
    tensor_id x = tensor("x", TENSOR_INPUT), t[4];
    for (int i = 0; i < 4; i++) {
        t[i] = tensor("t", TENSOR_NATIVE);
        node(&add, "n", i ? t[i - 1] : x, x, t[i], NO_TENSOR);
    }
    struct executor *e;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, t, 4, &reference_only, &e), ODLC_OK);
    ck_assert_uint_eq(e->plan.spaces[HOST_SPACE].size, 4 * N * sizeof(float));
    elements(e, x)[3] = 1.5F;
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(elements(e, t[i])[3], 1.5F * (float)(i + 2));
}
END_TEST

START_TEST(an_unused_output_is_freed_at_once)
{
    tensor_id x = tensor("x", TENSOR_INPUT), up = tensor("up", TENSOR_NATIVE), down = tensor("down", TENSOR_NATIVE);
    tensor_id y = tensor("y", TENSOR_NATIVE), z = tensor("z", TENSOR_OUTPUT);
    node(&forks, "fork", x, NO_TENSOR, up, down);
    node(&add, "y", up, up, y, NO_TENSOR);
    node(&add, "z", y, x, z, NO_TENSOR);
    struct executor *e;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &z, 1, &reference_only, &e), ODLC_OK);
    ck_assert_uint_eq(e->plan.spaces[HOST_SPACE].size, 2 * N * sizeof(float));
    elements(e, x)[N - 1] = 3;
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    ck_assert_float_eq(elements(e, z)[N - 1], 2 * (3 + 1) + 3);
}
END_TEST

START_TEST(nodes_that_nothing_wanted_needs_are_left_out)
{
    tensor_id x = tensor("x", TENSOR_INPUT), other = tensor("other", TENSOR_INPUT);
    tensor_id before = tensor("before", TENSOR_NATIVE), selu = tensor("selu", TENSOR_NATIVE),
              z = tensor("z", TENSOR_OUTPUT);
    node(&add, "before", x, x, before, NO_TENSOR);
    node(&custom, "my_selu", before, NO_TENSOR, selu, NO_TENSOR);
    node(&add, "after", selu, other, z, NO_TENSOR);
    struct executor *e = NULL;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &z, 1, &reference_only, &e), ODLC_ERR_UNSUPPORTED);
    ck_assert_ptr_null(e);
    ck_assert_uint_eq(diags.list.count, 1);
    ck_assert_str_eq(diags.list.data[0].code, "run-no-kernel");
    ck_assert_str_eq(diags.list.data[0].node, "my_selu");
    ck_assert_str_eq(diags.list.data[0].message, "there is no implementation of op Selu (package MyPackage)");
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &before, 1, &reference_only, &e), ODLC_OK);
    ck_assert_uint_eq(e->plan.steps.count, 1);
    ck_assert(e->needed.used[x]);
    ck_assert(!e->needed.used[other]);
    ck_assert_ptr_null(e->buffers[other].data);
    elements(e, x)[0] = 21;
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    ck_assert_float_eq(elements(e, before)[0], 42);
}
END_TEST

START_TEST(constants_need_not_be_aligned_or_plain)
{
    float values[N];
    uint8_t bytes[sizeof values + 1];
    for (int i = 0; i < N; i++)
        values[i] = (float)i * 0.5F;
    memcpy(bytes + 1, values, sizeof values);
    struct shape shape = SHAPE(N);
    struct view unaligned = view_of(bytes + 1, DT_FLOAT32, &shape);
    struct view splat = view_splat_float(arena, DT_FLOAT32, &shape, 100);
    tensor_id a = graph_add_constant(g, "a", DT_FLOAT32, &unaligned),
              b = graph_add_constant(g, "b", DT_FLOAT32, &splat);
    tensor_id z = tensor("z", TENSOR_OUTPUT);
    node(&add, "z", a, b, z, NO_TENSOR);
    tensor_id wanted[] = {z, a};
    struct executor *e;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, wanted, 2, &reference_only, &e), ODLC_OK);
    ck_assert_uint_eq((uintptr_t)e->buffers[a].data % sizeof(float), 0);
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    for (int i = 0; i < N; i++) {
        ck_assert_float_eq(elements(e, z)[i], values[i] + 100);
        ck_assert_float_eq(elements(e, a)[i], values[i]);
    }
}
END_TEST

START_TEST(a_tensor_that_nothing_computes_is_an_error)
{
    tensor_id x = tensor("x", TENSOR_INPUT), lost = tensor("lost", TENSOR_NATIVE), z = tensor("z", TENSOR_OUTPUT);
    node(&add, "z", x, lost, z, NO_TENSOR);
    struct executor *e;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &z, 1, &reference_only, &e), ODLC_ERR_INVALID);
    ck_assert_str_eq(diags.list.data[0].code, "run-no-producer");
    ck_assert_str_eq(diags.list.data[0].attribute, "lost");
}
END_TEST

START_TEST(types_that_cannot_be_are_refused)
{
    static const struct type wrong[] = {{DT_FLOAT32, {1, {N - 1}}}, {DT_FLOAT32, {2, {1, N}}}, {DT_INT32, {1, {N}}}};
    tensor_id x = tensor("x", TENSOR_INPUT), half;
    struct type narrower = {DT_FLOAT16, SHAPE(N)};
    struct executor *e;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        tensor_id z = graph_add_tensor(g, "z", TENSOR_OUTPUT, &wrong[i]);
        node(&strict, "strict", x, x, z, NO_TENSOR);
        ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &z, 1, &reference_only, &e), ODLC_ERR_INVALID);
        ck_assert_str_eq(diags.list.data[i].code, "run-types");
    }
    ck_assert_str_eq(diags.list.data[0].message,
                     "the container gives this tensor Float_32 [15], but Float_32 [16] follows "
                     "from the inputs of Strict");
    half = graph_add_tensor(g, "half", TENSOR_OUTPUT, &narrower); /* another precision is the container's choice */
    node(&strict, "strict", x, x, half, NO_TENSOR);
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &half, 1, &reference_only, &e), ODLC_OK);
}
END_TEST

static tensor_id typed(const char *name, enum tensor_kind kind, enum dtype dtype, int64_t count,
                       const struct quant *quant)
{
    struct type type = {dtype, SHAPE(count)};
    tensor_id id = graph_add_tensor(g, name, kind, &type);
    graph_tensor(g, id)->quant = quant;
    return id;
}

static odlc_status try(tensor_id out)
{
    struct executor *e;
    return executor_create(arena, scratch, &diags, g, &out, 1, &reference_only, &e);
}

/* Tensors of 8 bits with 1/2 a step, floats, and 16 bits with 1/4 a step come together in one of the last kind. */
START_TEST(moved_elements_may_change_their_encoding)
{
    const struct encoding halves = {.bitwidth = 8, .scale = 0.5, .offset = -10},
                          quarters = {.bitwidth = 16, .scale = 0.25, .offset = -3};
    const struct quant half = {.count = 1, .encodings = &halves}, quarter = {.count = 1, .encodings = &quarters};
    tensor_id a = typed("a", TENSOR_INPUT, DT_UFXP8, 1, &half), b = typed("b", TENSOR_INPUT, DT_FLOAT32, 1, NULL);
    tensor_id out = typed("out", TENSOR_OUTPUT, DT_UFXP16, 2, &quarter);
    node(op_row(OP_Concat), "concat", a, b, out, NO_TENSOR);
    struct executor *e;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &out, 1, &reference_only, &e), ODLC_OK);
    *(uint8_t *)e->buffers[a].data = 14; /* 2 */
    *(float *)e->buffers[b].data = 100;
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    const uint16_t *found = e->buffers[out].data;
    ck_assert_uint_eq(found[0], 11);
    ck_assert_uint_eq(found[1], 403);
}
END_TEST

START_TEST(integers_do_not_become_reals)
{
    tensor_id ints = typed("ints", TENSOR_INPUT, DT_INT32, N, NULL), floats = tensor("floats", TENSOR_OUTPUT);
    node(op_row(OP_Concat), "concat", ints, NO_TENSOR, floats, NO_TENSOR);
    ck_assert_int_eq(try(floats), ODLC_ERR_INVALID);
    ck_assert_str_eq(
        diags.list.data[0].message,
        "the container gives this tensor Float_32 [16], but Int_32 [16] follows from the inputs of Concat");
}
END_TEST

START_TEST(an_encoding_that_is_not_known_is_an_error)
{
    const struct encoding halves = {.bitwidth = 8, .scale = 0.5, .offset = -10};
    const struct quant half = {.count = 1, .encodings = &halves};
    tensor_id raw = typed("raw", TENSOR_INPUT, DT_UFXP8, N, NULL),
              same = typed("same", TENSOR_OUTPUT, DT_UFXP8, N, NULL);
    tensor_id other = typed("other", TENSOR_OUTPUT, DT_UFXP8, N, &half), sum = tensor("sum", TENSOR_OUTPUT);
    node(op_row(OP_Concat), "as they are", raw, NO_TENSOR, same, NO_TENSOR);
    node(op_row(OP_Concat), "to others", raw, NO_TENSOR, other, NO_TENSOR);
    node(op_row(OP_ElementWiseAdd), "add", raw, raw, sum, NO_TENSOR);
    ck_assert_int_eq(try(same), ODLC_OK);
    ck_assert_int_eq(try(other), ODLC_ERR_UNSUPPORTED);
    ck_assert_int_eq(try(sum), ODLC_ERR_UNSUPPORTED);
    ck_assert_str_eq(
        diags.list.data[1].message,
        "ElementWiseAdd needs the encoding of tensor raw, which is of type uFxp_8: the container has none, "
        "or one of a kind that is not known");
}
END_TEST

START_TEST(empty_tensors_take_no_harm)
{
    struct type empty = {DT_FLOAT32, SHAPE(2, 0)};
    tensor_id x = graph_add_tensor(g, "x", TENSOR_INPUT, &empty), y = graph_add_tensor(g, "y", TENSOR_NATIVE, &empty);
    tensor_id z = graph_add_tensor(g, "z", TENSOR_OUTPUT, &empty);
    node(&add, "y", x, x, y, NO_TENSOR);
    node(&add, "z", y, y, z, NO_TENSOR);
    struct executor *e;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &z, 1, &reference_only, &e), ODLC_OK);
    ck_assert_int_eq(executor_run(e), ODLC_OK);
}
END_TEST

/* Each string where it stands, also where all are one. */
START_TEST(constants_of_strings)
{
    const char *words[] = {"one", "", "zwei", "tr\xc3\xa8s"};
    struct type type = {DT_STRING, SHAPE(2, 2)};
    for (int splat = 0; splat < 2; splat++) {
        struct view view = view_of(NULL, DT_STRING, &type.shape);
        view.strings = words + splat * 2;
        view.splat = splat;
        tensor_id id = graph_add_constant(g, splat ? "same" : "words", DT_STRING, &view);
        struct executor *e;
        ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &id, 1, &reference_only, &e), ODLC_OK);
        ck_assert_int_eq(executor_run(e), ODLC_OK);
        const char *const *found = e->buffers[id].data;
        for (int i = 0; i < 4; i++)
            ck_assert_str_eq(found[i], splat ? "zwei" : words[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("executor");
    TCase *tcase = tcase_create("executor");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_chain_needs_two_slots);
    tcase_add_test(tcase, reshapes_have_the_place_of_what_they_read);
    tcase_add_test(tcase, what_constants_give_is_computed_once);
    tcase_add_test(tcase, steps_between_constants_and_results_share_places);
    tcase_add_test(tcase, what_is_seen_of_constants_is_computed_in_each_run);
    tcase_add_test(tcase, wanted_tensors_keep_their_place);
    tcase_add_test(tcase, an_unused_output_is_freed_at_once);
    tcase_add_test(tcase, nodes_that_nothing_wanted_needs_are_left_out);
    tcase_add_test(tcase, constants_need_not_be_aligned_or_plain);
    tcase_add_test(tcase, a_tensor_that_nothing_computes_is_an_error);
    tcase_add_test(tcase, types_that_cannot_be_are_refused);
    tcase_add_test(tcase, moved_elements_may_change_their_encoding);
    tcase_add_test(tcase, integers_do_not_become_reals);
    tcase_add_test(tcase, an_encoding_that_is_not_known_is_an_error);
    tcase_add_test(tcase, empty_tensors_take_no_harm);
    tcase_add_test(tcase, an_operand_that_is_read_twice_is_freed_once);
    tcase_add_test(tcase, constants_of_strings);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
