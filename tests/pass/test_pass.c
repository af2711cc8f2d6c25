/* SPDX-License-Identifier: Apache-2.0 */
/* Passes by numbers: what a graph computes must not depend on the passes that ran. test_pass_texts has the texts. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/eval.h"
#include "kernel/kernel.h"
#include "op/graph_text.h"
#include "op/op.h"
#include "op/params.h"
#include "tests/pass/pass_fixture.h"

/* ---- execution: the naive walk over all nodes ---- */

static struct buffer *execute(const struct graph *g, const float *input)
{
    struct buffer *values = arena_array(arena, struct buffer, g->tensors.count);
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        const struct tensor *t = graph_tensor(g, id);
        values[id] = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape};
        if (t->kind == TENSOR_STATIC)
            values[id].data = (void *)(uintptr_t)view_load(arena, t->view, t->type->dtype);
        else
            values[id].data = arena_calloc(arena, shape_count(&t->type->shape), 8);
    }
    for (size_t i = 0; i < g->inputs.count; i++)
        memcpy(values[g->inputs.data[i]].data, input, shape_count(&values[g->inputs.data[i]].shape) * sizeof(float));
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        struct buffer *in = arena_array(arena, struct buffer, n->n_inputs);
        struct buffer *out = arena_array(arena, struct buffer, n->n_outputs);
        for (uint32_t k = 0; k < n->n_inputs; k++)
            if (n->inputs[k] != NO_TENSOR)
                in[k] = values[n->inputs[k]];
        for (uint32_t k = 0; k < n->n_outputs; k++)
            out[k] = values[n->outputs[k]];
        must(eval_node(n, in, out, arena, &diags));
    }
    return values;
}

static float *random_floats(uint64_t count)
{
    float *values = arena_array(arena, float, count);
    for (uint64_t i = 0; i < count; i++)
        values[i] = (float)(rand() % 200 - 100) / 16;
    return values;
}

/* The values of a rank 4 tensor in the other order of axes. */
static float *permuted(const float *values, const struct shape *shape, const struct perm *perm)
{
    struct view v = view_of(values, DT_FLOAT32, shape);
    view_permute(&v, perm);
    return (float *)(uintptr_t)view_load(arena, &v, DT_FLOAT32);
}

/* Fills the constants that the text leaves at zero. */
static void fill_constants(struct graph *g)
{
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        struct tensor *t = graph_tensor(g, id);
        if (t->kind == TENSOR_STATIC && t->view->splat)
            *t->view = view_of(random_floats(shape_count(&t->type->shape)), DT_FLOAT32, &t->type->shape);
    }
}

/* All passes leave the numbers alone. Rank 4 inputs and outputs may change to channels-last; then the data is brought
 * along. */
static struct graph *check_graph(struct graph *g, double tolerance)
{
    srand(3);
    fill_constants(g);
    const struct tensor *in = graph_tensor(g, g->inputs.data[0]), *out = graph_tensor(g, g->outputs.data[0]);
    struct shape in_shape = in->type->shape, out_shape = out->type->shape;
    float *input = random_floats(shape_count(&in_shape));
    float *expected = execute(g, input)[g->outputs.data[0]].data;
    must(pass_run_all(&context, g));
    struct perm last = perm_channels_last(4);
    const struct tensor *new_in = graph_tensor(g, g->inputs.data[0]), *new_out = graph_tensor(g, g->outputs.data[0]);
    if (!shape_equal(&new_in->type->shape, &in_shape))
        input = permuted(input, &in_shape, &last);
    if (!shape_equal(&new_out->type->shape, &out_shape))
        expected = permuted(expected, &out_shape, &last);
    const float *found = execute(g, input)[g->outputs.data[0]].data;
    for (uint64_t i = 0; i < shape_count(&out_shape); i++)
        ck_assert_double_le(fabs((double)found[i] - (double)expected[i]), tolerance * (1 + fabs((double)expected[i])));
    return g;
}

static struct graph *check_numbers(const char *text, double tolerance)
{
    return check_graph(parsed(text), tolerance);
}

static uint32_t count_ops(const struct graph *g, const char *op)
{
    uint32_t count = 0;
    for (size_t i = 0; i < g->order.count; i++)
        count += strcmp(graph_node(g, g->order.data[i])->op->name, op) == 0;
    return count;
}

/* ---- golden texts ---- */

START_TEST(text_survives_the_round_trip)
{
    static const char text[] = "graph \"g\"\n"
                               "input \"x\" float32[1,2]\n"
                               "const \"a\\\"b\" float32[2] {1.5, -2}\n"
                               "node \"n\" ElementWiseAdd (\"x\", \"a\\\"b\") -> \"y\" float32[1,2]\n"
                               "node \"m\" Softmax (\"y\") {axis=1, beta=1} -> \"z\" float32[1,2]\n"
                               "output \"z\"\n";
    ck_assert_str_eq(graph_print(arena, parsed(text)), text);
}
END_TEST

START_TEST(text_errors_have_a_place)
{
    struct graph *g;
    ck_assert_int_eq(graph_parse(arena, &diags, op_registry_new(arena), "graph \"g\"\ninput \"x\" floaty[1]\n", &g),
                     ODLC_ERR_INVALID);
    ck_assert_uint_eq(diags.list.data[0].line, 2);
    ck_assert_str_eq(diags.list.data[0].message, "a dtype before this place expected");
    ck_assert_int_eq(graph_parse(arena, &diags, op_registry_new(arena),
                                 "graph \"g\"\nnode \"n\" Relu (\"x\") -> \"y\" float32[1]\n", &g),
                     ODLC_ERR_INVALID);
    ck_assert_str_eq(diags.list.data[1].message, "the name of a tensor defined above expected");
}
END_TEST

START_TEST(constants_that_do_not_fit_are_named)
{
    struct graph *g = parsed("graph \"g\" input \"x\" int64[2]\n"
                             "const \"big\" int64[2] {7, 5000000000}\n"
                             "node \"a\" ElementWiseAdd (\"x\", \"big\") -> \"y\" int64[2]\n"
                             "output \"y\"");
    ck_assert_int_eq(pass_run(&context, g, "narrow_types"), ODLC_ERR_UNSUPPORTED);
    ck_assert_str_eq(diags.list.data[0].message, "constant big: its element 1 does not fit into int32");
}
END_TEST

/* A constant's cast is done before it is narrowed: 1.2345 is no bfloat16, and -1 no uint64 that uint32 holds. */
START_TEST(pending_casts_come_first)
{
    struct build b;
    tensor_id c, y;
    const struct shape one = SHAPE(1);
    struct type type = {DT_BFLOAT16, one};
    struct graph *g = graph_create(arena, "g");
    build_init(&b, g, &diags);
    vec_push(arena, &g->inputs, graph_add_tensor(g, "x", TENSOR_INPUT, &type));
    c = build_const_floats(&b, "c", &one, (const float[]){1.2345f});
    must(build_cast(&b, c, DT_BFLOAT16, "c.half", &c));
    ck_assert_int_eq(graph_tensor(g, c)->view->dtype, DT_FLOAT32); /* or there is nothing to be seen */
    build_op(&b, OP_ElementWiseAdd, "add");
    build_in(&b, g->inputs.data[0]);
    build_in(&b, c);
    must(build_end(&b, "y", &y));
    graph_tensor(g, y)->kind = TENSOR_OUTPUT;
    vec_push(arena, &g->outputs, y);
    must(pass_run(&context, g, "narrow_types"));
    ck_assert_int_eq(graph_tensor(g, c)->type->dtype, DT_FLOAT32);
    ck_assert(*(const float *)view_load(arena, graph_tensor(g, c)->view, DT_FLOAT32) == 1.234375f);
}
END_TEST

/* ---- layout ---- */

/* Graphs as text: each node on a line of its own, which the formatter would tear apart. */
/* clang-format off */

#define CONV(name, in, weights, bias, out) \
    "node \"" name "\" Conv2d (\"" in "\", \"" weights "\", \"" bias "\") " \
    "{stride=[2]{1, 1}, pad_amount=[2,2]{1, 1, 1, 1}, group=1, dilation=[2]{1, 1}} -> \"" out "\" "
#define TO_LAST(name, in, out) \
    "node \"" name "\" Transpose (\"" in "\") {perm=[4]{0, 2, 3, 1}} layout_only -> \"" out "\" "
#define TO_FIRST(name, in, out) \
    "node \"" name "\" Transpose (\"" in "\") {perm=[4]{0, 3, 1, 2}} layout_only -> \"" out "\" "

START_TEST(layout_transposes_vanish_between_convolutions)
{
    struct graph *g = check_numbers(
        "graph \"g\" input \"x\" float32[1,3,5,6] const \"w\" float32[3,3,3,4] const \"b\" float32[4]\n"
        "const \"w2\" float32[3,3,4,2] const \"b2\" float32[2] const \"s\" float32[4,1,1]\n"
        TO_LAST("t1", "x", "x.l") "float32[1,5,6,3]\n" CONV("c1", "x.l", "w", "b", "c1.l") "float32[1,5,6,4]\n"
        TO_FIRST("t2", "c1.l", "c1") "float32[1,4,5,6]\n"
        "node \"m\" ElementWiseMultiply (\"c1\", \"s\") -> \"m\" float32[1,4,5,6]\n"
        "node \"r\" Relu (\"m\") -> \"r\" float32[1,4,5,6]\n"
        TO_LAST("t3", "r", "r.l") "float32[1,5,6,4]\n" CONV("c2", "r.l", "w2", "b2", "c2.l") "float32[1,5,6,2]\n"
        TO_FIRST("t4", "c2.l", "y") "float32[1,2,5,6]\n"
        "output \"y\"", 1e-6);
    ck_assert_uint_eq(count_ops(g, "Transpose"), 0);
    ck_assert_uint_eq(context.permutes.count, 0);
    struct shape in = SHAPE(1, 5, 6, 3), out = SHAPE(1, 5, 6, 2);
    ck_assert(shape_equal(&graph_tensor(g, g->inputs.data[0])->type->shape, &in));
    ck_assert(shape_equal(&graph_tensor(g, g->outputs.data[0])->type->shape, &out));
    ck_assert_str_eq(graph_tensor(g, g->outputs.data[0])->name, "y");
}
END_TEST

static const char conv_then_reshape[] =
    "graph \"g\" input \"x\" float32[1,3,4,4] const \"w\" float32[3,3,3,2] const \"b\" float32[2]\n"
    TO_LAST("t1", "x", "x.l") "float32[1,4,4,3]\n" CONV("c", "x.l", "w", "b", "c.l") "float32[1,4,4,2]\n"
    TO_FIRST("t2", "c.l", "c") "float32[1,2,4,4]\n"
    "node \"f\" Reshape (\"c\") {shape=[2]{1, 32}} -> \"f\" float32[1,32]\n"
    "node \"s\" Softmax (\"c\") {axis=1, beta=1} -> \"s\" float32[1,2,4,4]\n"
    "node \"f2\" Reshape (\"s\") {shape=[2]{1, 32}} -> \"f2\" float32[1,32]\n"
    "node \"cat\" Concat (\"f\", \"f2\") {axis=1} -> \"y\" float32[1,64]\n"
    "output \"y\"";

START_TEST(reshape_gets_the_own_order_and_axis_params_follow)
{
    struct graph *g = check_numbers(conv_then_reshape, 1e-6);
    ck_assert_uint_eq(count_ops(g, "Transpose"), 2); /* one for each Reshape */
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (strcmp(n->op->name, "Softmax") == 0)
            ck_assert_int_eq(node_int(n, PARAM_axis, -1), 3);
    }
}
END_TEST

START_TEST(preserved_layout_puts_transposes_inside)
{
    options.preserve_layout = true;
    struct graph *g = check_numbers(conv_then_reshape, 1e-6);
    struct shape in = SHAPE(1, 3, 4, 4);
    ck_assert(shape_equal(&graph_tensor(g, g->inputs.data[0])->type->shape, &in));
    ck_assert_uint_eq(count_ops(g, "Transpose"), 3);
}
END_TEST

START_TEST(a_transpose_is_shared_by_its_readers)
{
    struct graph *g = check_numbers(
        "graph \"g\" input \"x\" float32[1,3,4,4] const \"w\" float32[3,3,3,2] const \"b\" float32[2]\n"
        TO_LAST("t1", "x", "x.l") "float32[1,4,4,3]\n" CONV("c", "x.l", "w", "b", "c.l") "float32[1,4,4,2]\n"
        TO_FIRST("t2", "c.l", "c") "float32[1,2,4,4]\n"
        "node \"f\" Reshape (\"c\") {shape=[2]{1, 32}} -> \"f\" float32[1,32]\n"
        "node \"g\" Reshape (\"c\") {shape=[2]{2, 16}} -> \"g\" float32[2,16]\n"
        "node \"h\" Reshape (\"g\") {shape=[2]{1, 32}} -> \"h\" float32[1,32]\n"
        "node \"a\" ElementWiseAdd (\"f\", \"h\") -> \"y\" float32[1,32]\n"
        "output \"y\"", 1e-6);
    ck_assert_uint_eq(count_ops(g, "Transpose"), 1);
}
END_TEST

/* A Reshape that nobody wants channels-last takes the Transpose that is there, instead of one behind itself. */
START_TEST(an_order_that_nobody_wants_costs_nothing)
{
    struct graph *g = check_numbers(
        "graph \"g\" input \"x\" float32[1,3,4,4] const \"w\" float32[3,3,3,2] const \"b\" float32[2]\n"
        "const \"m\" float32[16,3]\n"
        TO_LAST("t1", "x", "x.l") "float32[1,4,4,3]\n" CONV("c", "x.l", "w", "b", "c.l") "float32[1,4,4,2]\n"
        TO_FIRST("t2", "c.l", "c") "float32[1,2,4,4]\n"
        "node \"rows\" Reshape (\"c\") {shape=[3]{1, 2, 16}} -> \"r\" float32[1,2,16]\n"
        "node \"product\" MatMul (\"r\", \"m\") -> \"p\" float32[1,2,3]\n"
        "node \"flat\" Reshape (\"c\") {shape=[2]{1, 32}} -> \"f\" float32[1,32]\n"
        "node \"flat too\" Reshape (\"p\") {shape=[2]{1, 6}} -> \"q\" float32[1,6]\n"
        "node \"cat\" Concat (\"f\", \"q\") {axis=1} -> \"y\" float32[1,38]\n"
        "output \"y\"", 1e-5);
    ck_assert_uint_eq(count_ops(g, "Transpose"), 1);
}
END_TEST

/* The model's own Transpose serves all who want the tensor in that order. */
START_TEST(a_transpose_of_the_model_is_shared)
{
    struct graph *g = check_numbers(
        "graph \"g\" input \"x\" float32[1,3,4,4] const \"w\" float32[3,3,3,2] const \"b\" float32[2]\n"
        TO_LAST("t1", "x", "x.l") "float32[1,4,4,3]\n" CONV("c", "x.l", "w", "b", "c.l") "float32[1,4,4,2]\n"
        TO_FIRST("t2", "c.l", "c") "float32[1,2,4,4]\n"
        "node \"own\" Transpose (\"c\") {perm=[4]{0, 2, 1, 3}} -> \"s\" float32[1,4,2,4]\n"
        "node \"again\" Transpose (\"c\") {perm=[4]{0, 2, 1, 3}} -> \"t\" float32[1,4,2,4]\n"
        "node \"f\" Reshape (\"s\") {shape=[2]{1, 32}} -> \"f\" float32[1,32]\n"
        "node \"h\" Reshape (\"t\") {shape=[2]{2, 16}} -> \"h\" float32[2,16]\n"
        "node \"i\" Reshape (\"h\") {shape=[2]{1, 32}} -> \"i\" float32[1,32]\n"
        "node \"a\" ElementWiseMultiply (\"f\", \"i\") -> \"y\" float32[1,32]\n"
        "output \"y\"", 1e-6);
    ck_assert_uint_eq(count_ops(g, "Transpose"), 1);
}
END_TEST

START_TEST(a_channel_shuffle_costs_no_transpose)
{
    struct graph *g = check_numbers(
        "graph \"g\" input \"x\" float32[1,6,4,5] const \"w\" float32[3,3,6,6] const \"b\" float32[6]\n"
        TO_LAST("t1", "x", "x.l") "float32[1,4,5,6]\n" CONV("c", "x.l", "w", "b", "c.l") "float32[1,4,5,6]\n"
        TO_FIRST("t2", "c.l", "c") "float32[1,6,4,5]\n"
        "node \"split\" Reshape (\"c\") {shape=[5]{1, 2, 3, 4, 5}} -> \"g\" float32[1,2,3,4,5]\n"
        "node \"swap\" Transpose (\"g\") {perm=[5]{0, 2, 1, 3, 4}} -> \"h\" float32[1,3,2,4,5]\n"
        "node \"merge\" Reshape (\"h\") {shape=[4]{1, 6, 4, 5}} -> \"s\" float32[1,6,4,5]\n"
        TO_LAST("t3", "s", "s.l") "float32[1,4,5,6]\n" CONV("c2", "s.l", "w", "b", "y.l") "float32[1,4,5,6]\n"
        TO_FIRST("t4", "y.l", "y") "float32[1,6,4,5]\n"
        "output \"y\"", 1e-6);
    ck_assert_uint_eq(count_ops(g, "ChannelShuffle"), 1);
    ck_assert_uint_eq(count_ops(g, "Transpose"), 0);
    ck_assert_uint_eq(context.permutes.count, 0);
}
END_TEST

START_TEST(half_of_a_shuffle_joins_a_channels_last_tensor)
{
    struct graph *g = check_numbers(
        "graph \"g\" input \"x\" float32[1,6,4,5] const \"w\" float32[3,3,6,6] const \"b\" float32[6]\n"
        "const \"first\" int32[1] {0}\n"
        TO_LAST("t1", "x", "x.l") "float32[1,4,5,6]\n" CONV("c", "x.l", "w", "b", "c.l") "float32[1,4,5,6]\n"
        TO_FIRST("t2", "c.l", "c") "float32[1,6,4,5]\n"
        "node \"split\" Reshape (\"c\") {shape=[3]{3, 2, 20}} -> \"g\" float32[3,2,20]\n"
        "node \"swap\" Transpose (\"g\") {perm=[3]{1, 0, 2}} -> \"h\" float32[2,3,20]\n"
        "node \"apart\" Reshape (\"h\") {shape=[5]{2, 1, 3, 4, 5}} -> \"p\" float32[2,1,3,4,5]\n"
        "node \"half\" Gather (\"p\", \"first\") {axis=0} -> \"q\" float32[1,1,3,4,5]\n"
        "node \"drop\" Reshape (\"q\") {shape=[4]{1, 3, 4, 5}} -> \"r\" float32[1,3,4,5]\n"
        "node \"cat\" Concat (\"r\", \"c\") {axis=1} -> \"y\" float32[1,9,4,5]\n"
        "output \"y\"", 1e-6);
    ck_assert_uint_eq(count_ops(g, "Transpose"), 1);
    ck_assert_uint_eq(context.permutes.count, 0);
}
END_TEST

/* A model of channels-last tensors: its own Transpose is what the convolution needs undone. */
START_TEST(a_channels_last_input_stays_as_it_is)
{
    struct graph *g = check_numbers(
        "graph \"g\" input \"x\" float32[1,4,5,3] const \"w\" float32[3,3,3,2] const \"b\" float32[2]\n"
        "node \"own\" Transpose (\"x\") {perm=[4]{0, 3, 1, 2}} -> \"f\" float32[1,3,4,5]\n"
        TO_LAST("t1", "f", "x.l") "float32[1,4,5,3]\n" CONV("c", "x.l", "w", "b", "y") "float32[1,4,5,2]\n"
        "output \"y\"", 1e-6);
    struct shape in = SHAPE(1, 4, 5, 3);
    ck_assert(shape_equal(&graph_tensor(g, g->inputs.data[0])->type->shape, &in));
    ck_assert_uint_eq(count_ops(g, "Transpose"), 0);
}
END_TEST

START_TEST(batch_norm_folds_into_the_convolution)
{
    static const char text[] =
        "graph \"g\" input \"x\" float32[1,4,4,3] const \"w\" float32[3,3,3,2] const \"b\" float32[2]\n"
        "const \"bw\" float32[2] {0.5, -3} const \"bb\" float32[2] {1, 0.25}\n"
        CONV("c", "x", "w", "b", "c") "float32[1,4,4,2]\n"
        "node \"bn\" Batchnorm (\"c\", \"bw\", \"bb\") -> \"y\" float32[1,4,4,2]\n"
        "output \"y\"";
    struct graph *g = check_numbers(text, 1e-5);
    ck_assert_uint_eq(count_ops(g, "Batchnorm"), 0);
    ck_assert_uint_eq(count_ops(g, "Conv2d"), 1);
    const struct node *conv = graph_node(g, g->order.data[0]);
    ck_assert_str_eq(node_input(g, conv, 1)->name, "w"); /* folded, but still what the model calls w */
    ck_assert_str_eq(node_input(g, conv, 2)->name, "b");
    stop();
    start();
    options.no_batchnorm_folding = true;
    ck_assert_uint_eq(count_ops(check_numbers(text, 1e-6), "Batchnorm"), 1);
}
END_TEST

START_TEST(batch_norm_stays_when_others_read_the_convolution)
{
    struct graph *g = check_numbers(
        "graph \"g\" input \"x\" float32[1,4,4,3] const \"w\" float32[3,3,3,2] const \"b\" float32[2]\n"
        "const \"bw\" float32[2] {0.5, -3} const \"bb\" float32[2] {1, 0.25}\n"
        CONV("c", "x", "w", "b", "c") "float32[1,4,4,2]\n"
        "node \"bn\" Batchnorm (\"c\", \"bw\", \"bb\") -> \"n\" float32[1,4,4,2]\n"
        "node \"a\" ElementWiseAdd (\"c\", \"n\") -> \"y\" float32[1,4,4,2]\n"
        "output \"y\"", 1e-6);
    ck_assert_uint_eq(count_ops(g, "Batchnorm"), 1);
}
END_TEST

START_TEST(biases_and_factors_fold_into_the_layer)
{
    static const char text[] =
        "graph \"g\" input \"x\" float32[1,4,4,3] const \"w\" float32[3,3,3,2]\n"
        "const \"zeros\" float32[2] {0, 0} const \"factor\" float32[1,1,1,2] {0.5, -3}\n"
        "const \"two\" float32[1] {2} const \"offset\" float32[2] {1, 0.25}\n"
        CONV("c", "x", "w", "zeros", "c") "float32[1,4,4,2]\n"
        "node \"plus\" ElementWiseAdd (\"two\", \"c\") -> \"p\" float32[1,4,4,2]\n"
        "node \"times\" ElementWiseMultiply (\"p\", \"factor\") -> \"t\" float32[1,4,4,2]\n"
        "node \"plus too\" ElementWiseAdd (\"t\", \"offset\") -> \"y\" float32[1,4,4,2]\n"
        "output \"y\"";
    struct graph *g = check_numbers(text, 1e-5);
    ck_assert_uint_eq(g->order.count, 1);
    ck_assert_str_eq(node_input(g, graph_node(g, g->order.data[0]), 1)->name, "w");
    stop();
    start();
    options.no_batchnorm_folding = true;
    ck_assert_uint_eq(count_ops(check_numbers(text, 1e-5), "ElementWiseMultiply"), 1);
}
END_TEST

/* As (z - mean) / deviation · scale + offset; a quotient by 0 stays. */
START_TEST(differences_and_quotients_fold_into_the_layer)
{
    static const char text[] =
        "graph \"g\" input \"x\" float32[1,4,4,3] const \"w\" float32[3,3,3,2] const \"zeros\" float32[2] {0, 0}\n"
        "const \"mean\" float32[2] {0.5, -3} const \"deviation\" float32[1,1,1,2] {0.25, %s}\n"
        "const \"scale\" float32[2] {2, -1} const \"offset\" float32[2] {1, 0.25}\n"
        CONV("c", "x", "w", "zeros", "c") "float32[1,4,4,2]\n"
        "node \"minus\" ElementWiseSubtract (\"c\", \"mean\") -> \"m\" float32[1,4,4,2]\n"
        "node \"over\" ElementWiseDivide (\"m\", \"deviation\") -> \"d\" float32[1,4,4,2]\n"
        "node \"times\" ElementWiseMultiply (\"d\", \"scale\") -> \"t\" float32[1,4,4,2]\n"
        "node \"plus\" ElementWiseAdd (\"t\", \"offset\") -> \"y\" float32[1,4,4,2]\n"
        "output \"y\"";
    ck_assert_uint_eq(check_numbers(arena_printf(arena, text, "8"), 1e-5)->order.count, 1);
    struct graph *g = parsed(arena_printf(arena, text, "0"));
    must(pass_run_all(&context, g));
    ck_assert_uint_eq(count_ops(g, "ElementWiseDivide"), 1);
    g = check_numbers(
        "graph \"g\" input \"x\" float32[1,4,4,3] const \"w\" float32[3,3,3,2] const \"zeros\" float32[2] {0, 0}\n"
        "const \"from\" float32[2] {0.5, -3}\n"
        CONV("c", "x", "w", "zeros", "c") "float32[1,4,4,2]\n"
        "node \"minus\" ElementWiseSubtract (\"from\", \"c\") -> \"y\" float32[1,4,4,2]\n"
        "output \"y\"", 1e-5);
    ck_assert_uint_eq(count_ops(g, "ElementWiseSubtract"), 1);
}
END_TEST

START_TEST(what_is_no_bias_stays)
{
    static const char *const others[] = {"float32[4,1]", "float32[4,4,2]", "float32[1,4,1,2]"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct graph *g = check_numbers(arena_printf(arena,
            "graph \"g\" input \"x\" float32[1,4,4,3] const \"w\" float32[3,3,3,2] const \"b\" float32[2] {0, 0}\n"
            "const \"c\" %s\n"
            CONV("c", "x", "w", "b", "z") "float32[1,4,4,2]\n"
            "node \"plus\" ElementWiseAdd (\"z\", \"c\") -> \"y\" float32[1,4,4,2]\n"
            "output \"y\"", others[i]), 1e-6);
        ck_assert_uint_eq(count_ops(g, "ElementWiseAdd"), 1);
    }
}
END_TEST

/* As many values as channels, and as rows of the image: each belongs to a row. */
START_TEST(a_value_for_each_row_is_no_bias)
{
    struct graph *g = check_numbers(
        "graph \"g\" input \"x\" float32[1,2,2,3] const \"w\" float32[3,3,3,2] const \"b\" float32[2] {0, 0}\n"
        "const \"c\" float32[2,1] {1, 20}\n"
        CONV("c", "x", "w", "b", "z") "float32[1,2,2,2]\n"
        "node \"plus\" ElementWiseAdd (\"z\", \"c\") -> \"y\" float32[1,2,2,2]\n"
        "output \"y\"", 1e-6);
    ck_assert_uint_eq(count_ops(g, "ElementWiseAdd"), 1);
}
END_TEST

/* An image of 6 × 6 in blocks of 2 × 2, a convolution of these, and the image again. */
static const char *in_blocks(const char *pads, const char *crops, const char *result)
{
    return arena_printf(arena,
        "graph \"g\" input \"x\" float32[1,6,6,3] const \"w\" float32[2,2,3,2] const \"b\" float32[2]\n"
        "node \"split\" SpaceToBatch (\"x\") {block_size=[2]{2, 2}, pad_amount=[2,2]{%s}} -> \"s\" float32[4,4,4,3]\n"
        "node \"c\" Conv2d (\"s\", \"w\", \"b\") {stride=[2]{1, 1}, pad_amount=[2,2]{0, 0, 0, 0}, group=1}"
        " -> \"c\" float32[4,3,3,2]\n"
        "node \"join\" BatchToSpace (\"c\") {block_size=[2]{2, 2}, crops=[2,2]{%s}} -> \"y\" %s\n"
        "output \"y\"", pads, crops, result);
}

START_TEST(convolutions_in_blocks_are_dilated_ones)
{
    const char *text = in_blocks("1, 1, 2, 0", "1, 0, 0, 0", "float32[1,5,6,2]");
    struct graph *g = check_numbers(text, 1e-6);
    ck_assert_uint_eq(g->order.count, 1);
    uint32_t count;
    const struct node *conv = graph_node(g, g->order.data[0]);
    const int64_t dilation[] = {2, 2}, pads[] = {0, 1, 2, 0};
    ck_assert_mem_eq(node_ints(conv, PARAM_dilation, &count), dilation, sizeof dilation);
    ck_assert_mem_eq(node_ints(conv, PARAM_pad_amount, &count), pads, sizeof pads);
    /* More is cut off than was added. */
    g = check_numbers(in_blocks("0, 2, 2, 0", "1, 0, 0, 0", "float32[1,5,6,2]"), 1e-6);
    ck_assert_uint_eq(g->order.count, 3);
}
END_TEST

/* A convolution that the table of operators does not have: passes know a layer by its row alone. */
static struct graph *with_own_convolution(const char *text)
{
    struct graph *g = parsed(text);
    struct op *own = arena_new(arena, struct op);
    *own = *op_row(OP_Conv2d);
    own->id = OP_CUSTOM;
    own->own_kernel = kernel_of(op_row(OP_Conv2d));
    own->name = own->dlc_type = "OwnConvolution";
    for (size_t i = 0; i < g->order.count; i++)
        if (node_is(graph_node(g, g->order.data[i]), OP_Conv2d))
            graph_node(g, g->order.data[i])->op = own;
    return g;
}

START_TEST(a_new_convolution_is_folded_into)
{
    const char *const texts[] = {
        "graph \"g\" input \"x\" float32[1,4,4,3] const \"w\" float32[3,3,3,2] const \"b\" float32[2]\n"
        "const \"bw\" float32[2] {0.5, -3} const \"bb\" float32[2] {1, 0.25}\n"
        CONV("c", "x", "w", "b", "c") "float32[1,4,4,2]\n"
        "node \"bn\" Batchnorm (\"c\", \"bw\", \"bb\") -> \"y\" float32[1,4,4,2]\n"
        "output \"y\"",
        "graph \"g\" input \"x\" float32[1,4,4,3] const \"w\" float32[3,3,3,2] const \"b\" float32[2]\n"
        "const \"offset\" float32[2] {1, 0.25}\n"
        CONV("c", "x", "w", "b", "c") "float32[1,4,4,2]\n"
        "node \"plus\" ElementWiseAdd (\"c\", \"offset\") -> \"y\" float32[1,4,4,2]\n"
        "output \"y\"",
        in_blocks("1, 1, 2, 0", "1, 0, 0, 0", "float32[1,5,6,2]")};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct graph *g = check_graph(with_own_convolution(texts[i]), 1e-5);
        ck_assert_uint_eq(g->order.count, 1);
        const struct node *conv = graph_node(g, g->order.data[0]);
        ck_assert_str_eq(conv->op->name, "OwnConvolution");
        ck_assert_int_eq(node_input(g, conv, 1)->axis_format, AXIS_FORMAT_HWIO);
    }
}
END_TEST

/* clang-format on */

/* Once a scalar is one element of rank 1, Reshapes between the two change nothing. */
START_TEST(reshapes_of_scalars_go)
{
    struct graph *g = check_numbers("graph \"g\" input \"x\" float32[2,3]\n"
                                    "node \"sum\" ReduceSum (\"x\") {axes=[2]{0, 1}, keep_dims=0} -> \"s\" float32[]\n"
                                    "node \"to\" Reshape (\"s\") {shape=[1]{1}} -> \"t\" float32[1]\n"
                                    "node \"and back\" Reshape (\"t\") {shape=[0]{}} -> \"b\" float32[]\n"
                                    "node \"root\" Relu (\"b\") -> \"r\" float32[]\n"
                                    "node \"end\" Reshape (\"r\") {shape=[2]{1, 1}} -> \"y\" float32[1,1]\n"
                                    "output \"y\"",
                                    1e-6);
    ck_assert_uint_eq(count_ops(g, "Reshape"), 1);
}
END_TEST

START_TEST(the_validator_finds_wrong_types)
{
    struct graph *g = parsed("graph \"g\" input \"x\" float32[2]\n"
                             "node \"a\" Relu (\"x\") -> \"y\" float32[3]\n"
                             "output \"y\"");
    ck_assert_int_eq(pass_run(&context, g, "remove_dead"), ODLC_ERR_INTERNAL);
    ck_assert_str_eq(diags.list.data[0].message,
                     "the graph is not valid after remove_dead: Relu: output 0 is float32 [3], "
                     "but float32 [2] follows from its inputs");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pass");
    TCase *t = tcase_create("pass");
    tcase_add_checked_fixture(t, start, stop);
    tcase_add_test(t, text_survives_the_round_trip);
    tcase_add_test(t, text_errors_have_a_place);
    tcase_add_test(t, constants_that_do_not_fit_are_named);
    tcase_add_test(t, pending_casts_come_first);
    tcase_add_test(t, layout_transposes_vanish_between_convolutions);
    tcase_add_test(t, reshape_gets_the_own_order_and_axis_params_follow);
    tcase_add_test(t, preserved_layout_puts_transposes_inside);
    tcase_add_test(t, a_transpose_is_shared_by_its_readers);
    tcase_add_test(t, an_order_that_nobody_wants_costs_nothing);
    tcase_add_test(t, a_transpose_of_the_model_is_shared);
    tcase_add_test(t, a_channel_shuffle_costs_no_transpose);
    tcase_add_test(t, half_of_a_shuffle_joins_a_channels_last_tensor);
    tcase_add_test(t, a_channels_last_input_stays_as_it_is);
    tcase_add_test(t, batch_norm_folds_into_the_convolution);
    tcase_add_test(t, batch_norm_stays_when_others_read_the_convolution);
    tcase_add_test(t, biases_and_factors_fold_into_the_layer);
    tcase_add_test(t, differences_and_quotients_fold_into_the_layer);
    tcase_add_test(t, what_is_no_bias_stays);
    tcase_add_test(t, a_value_for_each_row_is_no_bias);
    tcase_add_test(t, convolutions_in_blocks_are_dilated_ones);
    tcase_add_test(t, a_new_convolution_is_folded_into);
    tcase_add_test(t, reshapes_of_scalars_go);
    tcase_add_test(t, the_validator_finds_wrong_types);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
