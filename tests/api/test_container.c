/* SPDX-License-Identifier: Apache-2.0 */
/* The public API on containers written here: costs counted by hand, elements, execution. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/cost.h"
#include "dlc/record.h"
#include "build/build.h"
#include "opendlc/container.h"
#include "opendlc/run.h"

static struct arena *arena;
static struct diags diags;
static struct graph *g;
static struct build b;
static odlc_container *container;
static odlc_run *run;
static char path[64];

static const int64_t ones[] = {1, 1, 1, 1}, zeros[] = {0, 0, 0, 0};
static const struct shape pads_shape = {2, {2, 2}};

static void setup(void)
{
    arena = arena_create();
    diags_init(&diags, arena);
    g = graph_create(arena, "test");
    build_init(&b, g, &diags);
    container = odlc_container_new();
    run = odlc_run_new();
    strcpy(path, "/tmp/odlc-api-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void teardown(void)
{
    unlink(path);
    odlc_run_free(run);
    odlc_container_free(container);
    arena_destroy(arena);
}

static tensor_id input(const char *name, struct shape shape)
{
    struct type type = {DT_FLOAT32, shape};
    tensor_id id = graph_add_tensor(g, name, TENSOR_INPUT, &type);
    vec_push(arena, &g->inputs, id);
    return id;
}

static tensor_id constant(const char *name, struct shape shape)
{
    struct view view = view_splat_float(arena, DT_FLOAT32, &shape, 0.5);
    return graph_add_constant(g, name, DT_FLOAT32, &view);
}

/* Ends the pending node, whose output becomes one of the graph's. */
static tensor_id finish(const char *name)
{
    tensor_id out;
    ck_assert_int_eq(build_end(&b, name, &out), ODLC_OK);
    graph_tensor(g, out)->kind = TENSOR_OUTPUT;
    vec_push(arena, &g->outputs, out);
    return out;
}

static void write_container(void)
{
    struct arena *scratch = arena_create();
    odlc_status status = dlc_write(scratch, &diags, g, path, &(struct dlc_write_options){.netp = false});
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "");
    arena_destroy(scratch);
}

static const struct odlc_graph *open_graph(void)
{
    size_t count;
    write_container();
    ck_assert_int_eq(odlc_container_open(container, path), ODLC_OK);
    const struct odlc_graph *graphs = odlc_container_graphs(container, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(graphs[0].counted, 1);
    return &graphs[0];
}

static void expect_costs(uint64_t parameters, uint64_t macs)
{
    const struct odlc_graph *graph = open_graph();
    ck_assert_uint_eq(graph->n_ops, 1);
    ck_assert_uint_eq(graph->ops[0].parameters, parameters);
    ck_assert_uint_eq(graph->ops[0].macs, macs);
    ck_assert_uint_eq(graph->parameters, parameters);
    ck_assert_uint_eq(graph->macs, macs);
}

static void window(const int64_t *stride, const int64_t *pads)
{
    build_ints(&b, PARAM_stride, stride, 2);
    build_tensor_ints(&b, PARAM_pad_amount, &pads_shape, pads);
}

/* A layer of version 3, whose weights stand beside it; the output's first dimension is the batch. */
START_TEST(layers_of_version_3)
{
    struct diags d;
    struct arena *own = arena_create();
    diags_init(&d, own);
    const struct shape weights_shape = SHAPE(3, 3, 4, 8), bias_shape = SHAPE(8), out_shape = SHAPE(2, 5, 7, 8);
    const struct dlc_tensor params[] = {{.name = "weights", .shape = &weights_shape},
                                        {.name = "bias", .shape = &bias_shape}};
    const struct dlc_tensor out = {.name = "y", .shape = &out_shape};
    const char *outputs[] = {"y"};
    struct dlc_op layer = {
        .name = "conv", .type = "Convolutional", .outputs = outputs, .n_outputs = 1, .params = params, .n_params = 2};
    struct dlc_graph layers = {.ops = &layer, .n_ops = 1, .tensors = &out, .n_tensors = 1};
    map_init(&layers.tensor_index, own);
    map_put(&layers.tensor_index, "y", 0);
    const struct dlc_file dlc = {.major = 3, .graphs = &layers, .n_graphs = 1};
    struct odlc_op op = {0};
    struct odlc_graph graph = {.ops = &op, .n_ops = 1};
    count_graph(own, &d, &dlc, 0, &graph, &op);
    ck_assert_int_eq(graph.counted, 1);
    ck_assert_uint_eq(op.parameters, 3 * 3 * 4 * 8 + 8);
    ck_assert_uint_eq(op.macs, (2 * 5 * 7) * (3 * 3 * 4 * 8));
    ck_assert_uint_eq(graph.macs, op.macs);
    arena_destroy(own);
}
END_TEST

START_TEST(conv2d)
{
    build_op(&b, OP_Conv2d, "conv");
    build_in(&b, input("x", SHAPE(1, 5, 7, 4)));
    build_in(&b, constant("w", SHAPE(3, 3, 2, 6)));
    build_in(&b, constant("bias", SHAPE(6)));
    window((int64_t[]){2, 1}, ones);
    build_ints(&b, PARAM_dilation, ones, 2);
    build_int(&b, PARAM_group, 2);
    const struct shape *out = &graph_tensor(g, finish("y"))->type->shape;
    ck_assert(shape_equal(out, &SHAPE(1, 3, 7, 6)));
    expect_costs(3 * 3 * 2 * 6 + 6, (3 * 7 * 6) * (3 * 3 * 2));
}
END_TEST

START_TEST(depthwise_conv2d)
{
    build_op(&b, OP_DepthWiseConv2d, "conv");
    build_in(&b, input("x", SHAPE(2, 6, 6, 4)));
    build_in(&b, constant("w", SHAPE(3, 3, 1, 8)));
    build_in(&b, constant("bias", SHAPE(8)));
    window(ones, zeros);
    build_ints(&b, PARAM_dilation, ones, 2);
    finish("y");
    expect_costs(72 + 8, (2 * 4 * 4 * 8) * 9);
}
END_TEST

START_TEST(fully_connected)
{
    build_op(&b, OP_FullyConnected, "fc");
    build_in(&b, input("x", SHAPE(2, 6)));
    build_in(&b, constant("w", SHAPE(4, 6)));
    build_in(&b, constant("bias", SHAPE(4)));
    finish("y");
    expect_costs(24 + 4, 2 * 4 * 6);
}
END_TEST

START_TEST(matmul_of_activations)
{
    build_op(&b, OP_MatMul, "mm");
    build_in(&b, input("x", SHAPE(2, 3, 4)));
    build_in(&b, input("y", SHAPE(2, 4, 5)));
    finish("z");
    expect_costs(0, 2 * 3 * 5 * 4);
}
END_TEST

START_TEST(matmul_by_a_transposed_constant)
{
    build_op(&b, OP_MatMul, "mm");
    build_in(&b, input("x", SHAPE(2, 3, 4)));
    build_in(&b, constant("w", SHAPE(5, 4)));
    build_int(&b, PARAM_transpose_in1, 1);
    finish("z");
    expect_costs(5 * 4, 2 * 3 * 5 * 4);
}
END_TEST

START_TEST(pooling)
{
    build_op(&b, OP_PoolMax2d, "pool");
    build_in(&b, input("x", SHAPE(1, 8, 8, 3)));
    build_ints(&b, PARAM_filter_size, (int64_t[]){2, 2}, 2);
    window((int64_t[]){2, 2}, zeros);
    finish("y");
    expect_costs(0, 0);
}
END_TEST

START_TEST(softmax)
{
    build_op(&b, OP_Softmax, "softmax");
    build_in(&b, input("x", SHAPE(2, 5)));
    build_int(&b, PARAM_axis, 1);
    finish("y");
    expect_costs(0, 0);
}
END_TEST

START_TEST(operands_that_are_no_weights)
{
    build_op(&b, OP_ElementWiseMultiply, "mul");
    build_in(&b, input("x", SHAPE(2, 3)));
    build_in(&b, constant("factor", SHAPE(2, 3)));
    finish("y");
    expect_costs(0, 0);
}
END_TEST

START_TEST(memory_is_constants_inputs_and_live_tensors)
{
    tensor_id x = input("x", SHAPE(1, 1024)), t = x;
    for (int i = 0; i < 5; i++) {
        build_op(&b, OP_ElementWiseAdd, "add");
        build_in(&b, t);
        build_in(&b, constant("c", SHAPE(1, 1024)));
        if (i < 4)
            ck_assert_int_eq(build_end(&b, NULL, &t), ODLC_OK);
        else
            finish("y");
    }
    /* the input, five constants, and two of the chain's tensors at a time: 4 KiB each */
    const struct odlc_graph *graph = open_graph();
    ck_assert_uint_eq(graph->memory, (1 + 5 + 2) * 4096);
    ck_assert_uint_eq(graph->memory_constants, 5 * 4096);
    ck_assert_uint_eq(graph->peak, 1);
}
END_TEST

START_TEST(tensors_and_elements)
{
    build_op(&b, OP_ElementWiseAdd, "add");
    build_in(&b, input("x", SHAPE(2, 2)));
    build_in(&b, build_const_floats(&b, "c", &SHAPE(2, 2), (float[]){1.5F, -2, 0, 1e30F}));
    finish("y");
    const struct odlc_graph *graph = open_graph();
    ck_assert_uint_eq(graph->n_tensors, 3);
    ck_assert_uint_eq(graph->n_inputs, 1);
    ck_assert_str_eq(graph->inputs[0]->name, "x");
    ck_assert_int_eq(odlc_tensor_readable(graph->inputs[0]), 0);
    const struct odlc_tensor *c = graph->ops[0].inputs[1].tensor;
    ck_assert_str_eq(c->kind, "STATIC");
    ck_assert_str_eq(c->dtype, "Float_32");
    ck_assert_int_eq(c->element, ODLC_CLASS_FLOAT);
    ck_assert_uint_eq(c->data_size, 16);
    ck_assert_int_eq(odlc_tensor_readable(c), 1);
    ck_assert_double_eq(odlc_tensor_double(c, 0), 1.5);
    ck_assert_double_eq(odlc_tensor_double(c, 3), (double)1e30F);
    ck_assert_int_eq(odlc_tensor_int(c, 1), -2);
    double values[2];
    odlc_tensor_doubles(c, 1, 2, values);
    ck_assert_double_eq(values[0], -2);
    ck_assert_double_eq(values[1], 0);
    ck_assert_str_eq(graph->ops[0].package, "qti.aisw");
    ck_assert_int_eq(graph->ops[0].executable, 1);
}
END_TEST

START_TEST(verification)
{
    size_t count;
    ck_assert_int_eq(odlc_container_verify(container), ODLC_ERR_USAGE);
    build_op(&b, OP_ElementWiseAdd, "add");
    build_in(&b, input("x", SHAPE(2, 2)));
    build_in(&b, constant("c", SHAPE(2, 2)));
    finish("y");
    open_graph();
    ck_assert_int_eq(odlc_container_verify(container), ODLC_OK);
    odlc_container_diags(container, &count);
    ck_assert_uint_eq(count, 1); /* of the first call */
}
END_TEST

/* y = (x + 1) * 2 */
static void build_example(void)
{
    tensor_id t;
    build_op(&b, OP_ElementWiseAdd, "add");
    build_in(&b, input("x", SHAPE(3)));
    build_in(&b, build_const_floats(&b, "one", &SHAPE(1), (float[]){1}));
    ck_assert_int_eq(build_end(&b, "sum", &t), ODLC_OK);
    build_op(&b, OP_ElementWiseMultiply, "mul");
    build_in(&b, t);
    build_in(&b, build_const_floats(&b, "two", &SHAPE(1), (float[]){2}));
    finish("y");
    write_container();
}

START_TEST(execution)
{
    static const float x[] = {1, -2, 0.5F};
    float y[3];
    size_t count;
    static const char *const reference[] = {"reference"};
    build_example();
    ck_assert_int_eq(odlc_run_set_backends(run, reference, 1), ODLC_OK);
    ck_assert_int_eq(odlc_run_open(run, path), ODLC_OK);
    ck_assert_int_eq(odlc_run_want_outputs(run), ODLC_OK);
    const struct odlc_io *inputs = odlc_run_inputs(run, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(inputs[0].name, "x");
    ck_assert_str_eq(inputs[0].dtype, "Float_32");
    ck_assert_uint_eq(inputs[0].native_size, 12);
    ck_assert_int_eq(inputs[0].needed, 1);
    ck_assert_int_eq(odlc_run_execute(run), ODLC_ERR_USAGE); /* x is not set */
    ck_assert_ptr_null(odlc_run_native(run, 0));
    ck_assert_int_eq(odlc_run_set_floats(run, 0, x, 3), ODLC_OK);
    ck_assert_int_eq(odlc_run_execute(run), ODLC_OK);
    ck_assert_int_eq(odlc_run_get_floats(run, 0, y, 3), ODLC_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_float_eq(y[i], (x[i] + 1) * 2);
    ck_assert_int_eq(memcmp(odlc_run_native(run, 0), y, sizeof y), 0);
    ck_assert_str_eq(odlc_run_results(run, &count)[0].name, "y");
    const struct odlc_step *steps = odlc_run_steps(run, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(steps[1].node, "mul");
    ck_assert_str_eq(steps[1].op, "ElementWiseMultiply");
    ck_assert_str_eq(steps[1].backend, "reference");
    ck_assert_uint_eq(steps[1].n_nodes, 1);
    odlc_run_refusals(run, &count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

/* In a process of its own: the same results and descriptions. */
START_TEST(isolated_execution)
{
    static const float x[] = {1, -2, 0.5F};
    float y[3];
    size_t count;
    build_example();
    ck_assert_int_eq(odlc_run_isolate(run, 60), ODLC_OK);
    ck_assert_int_eq(odlc_run_open(run, path), ODLC_OK);
    ck_assert_int_eq(odlc_run_want_outputs(run), ODLC_OK);
    ck_assert_int_eq(odlc_run_isolate(run, 60), ODLC_ERR_USAGE); /* it is too late */
    ck_assert_int_eq(odlc_run_inputs(run, &count)[0].needed, 1);
    for (int round = 0; round < 3; round++) {
        const float given[] = {x[0] + (float)round, x[1], x[2]};
        ck_assert_int_eq(odlc_run_set_floats(run, 0, given, 3), ODLC_OK);
        ck_assert_int_eq(odlc_run_execute(run), ODLC_OK);
        ck_assert_int_eq(odlc_run_get_floats(run, 0, y, 3), ODLC_OK);
        for (int i = 0; i < 3; i++)
            ck_assert_float_eq(y[i], (given[i] + 1) * 2);
    }
    const struct odlc_step *steps = odlc_run_steps(run, &count);
    ck_assert_str_eq(steps[count - 1].node, "mul");
    ck_assert_int_eq(odlc_run_want_outputs(run), ODLC_OK); /* the process of the first choice ends */
    ck_assert_int_eq(odlc_run_set_floats(run, 0, x, 3), ODLC_OK);
    ck_assert_int_eq(odlc_run_execute(run), ODLC_OK);
    ck_assert_int_eq(odlc_run_get_floats(run, 0, y, 3), ODLC_OK);
    ck_assert_float_eq(y[1], -2);
}
END_TEST

START_TEST(choosing_backends)
{
    static const char *const names[] = {"reference"}, *const twice[] = {"reference", "reference"};
    static const char *const other[] = {"cup"};
    size_t count;
    build_example();
    ck_assert_str_eq(odlc_backend_names()[0], "reference");
    ck_assert_int_eq(odlc_run_set_backends(run, other, 1), ODLC_ERR_USAGE);
    ck_assert_str_eq(odlc_run_diags(run, &count)[0].message, "backend 'cup' is not in this build");
    ck_assert_int_eq(odlc_run_set_backends(run, twice, 2), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_set_backends(run, NULL, 0), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_set_threads(run, 0), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_set_threads(run, 2), ODLC_OK);
    ck_assert_int_eq(odlc_run_set_backends(run, names, 1), ODLC_OK);
    ck_assert_int_eq(odlc_run_open(run, path), ODLC_OK);
    for (int i = 0; i < 3; i++) /* each choice replaces the one before */
        ck_assert_int_eq(odlc_run_want_outputs(run), ODLC_OK);
    ck_assert_uint_eq((odlc_run_steps(run, &count), count), 2);
}
END_TEST

START_TEST(choosing_results)
{
    static const float x[] = {1, 2, 3};
    static const char *const names[] = {"sum", "x", "two"}, *const unknown[] = {"sun"}, *const nodes[] = {"mul"};
    float values[3];
    size_t count;
    build_example();
    ck_assert_int_eq(odlc_run_open(run, path), ODLC_OK);
    ck_assert_int_eq(odlc_run_want(run, unknown, 1), ODLC_ERR_USAGE);
    ck_assert_str_eq(odlc_run_diags(run, &count)[0].hint, "did you mean 'sum'?");
    ck_assert_int_eq(odlc_run_want(run, names, 3), ODLC_OK);
    odlc_run_steps(run, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(odlc_run_set_native(run, 0, x, sizeof x), ODLC_OK);
    ck_assert_int_eq(odlc_run_execute(run), ODLC_OK);
    ck_assert_int_eq(odlc_run_get_floats(run, 0, values, 3), ODLC_OK);
    ck_assert_float_eq(values[2], 4);
    ck_assert_int_eq(odlc_run_get_floats(run, 1, values, 3), ODLC_OK);
    ck_assert_float_eq(values[2], 3);
    ck_assert_int_eq(odlc_run_get_floats(run, 2, values, 1), ODLC_OK);
    ck_assert_float_eq(values[0], 2);
    ck_assert_int_eq(odlc_run_want_nodes(run, nodes, 1), ODLC_OK);
    ck_assert_str_eq(odlc_run_results(run, &count)[0].name, "y");
    ck_assert_int_eq(odlc_run_want_all(run), ODLC_OK);
    odlc_run_results(run, &count);
    ck_assert_uint_eq(count, 2);
}
END_TEST

/* What is shown of an execution, and the status that showing it gives. */
struct shown {
    size_t count;
    const char *names[4];
    double sums[4];
    odlc_status status;
};

static odlc_status see_floats(void *user, const struct odlc_io *tensor, const void *values)
{
    struct shown *shown = user;
    const float *elements = values;
    shown->names[shown->count] = tensor->name;
    for (uint64_t i = 0; i < tensor->count; i++)
        shown->sums[shown->count] += (double)elements[i];
    shown->count++;
    return shown->status;
}

/* sum = x + 1, y = 2 sum (build_example) */
START_TEST(tensors_shown_while_they_are_computed)
{
    static const float x[] = {1, 2, 3};
    struct shown shown = {0};
    float values[3];
    size_t count;
    build_example();
    ck_assert_int_eq(odlc_run_open(run, path), ODLC_OK);
    ck_assert_int_eq(odlc_run_want_each(run, ODLC_FLOATS, see_floats, &shown), ODLC_OK);
    ck_assert_str_eq(odlc_run_results(run, &count)[0].name, "sum");
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(odlc_run_set_native(run, 0, x, sizeof x), ODLC_OK);
    ck_assert_int_eq(odlc_run_execute(run), ODLC_OK);
    ck_assert_uint_eq(shown.count, 2);
    ck_assert_str_eq(shown.names[0], "sum");
    ck_assert_str_eq(shown.names[1], "y");
    ck_assert(shown.sums[0] == 9 && shown.sums[1] == 18);
    ck_assert_ptr_null(odlc_run_native(run, 0));
    ck_assert_int_eq(odlc_run_get_floats(run, 1, values, 3), ODLC_ERR_USAGE);
    shown = (struct shown){.status = ODLC_ERR_IO};
    ck_assert_int_eq(odlc_run_execute(run), ODLC_ERR_IO);
    ck_assert_uint_eq(shown.count, 1);
}
END_TEST

/* A container's constant of strings reaches the op that reads it: Gather gives the third of them, and the first. */
START_TEST(strings_of_a_container)
{
    const char *words[] = {"one", "zwei", "tr\xc3\xa8s"};
    static const char *const wanted[] = {"chosen"};
    static const int32_t places[] = {2, 0};
    const struct shape shape = SHAPE(3);
    struct type type = {DT_INT32, SHAPE(2)};
    struct view view = view_of(NULL, DT_STRING, &shape);
    view.strings = words;
    tensor_id places_id = graph_add_tensor(g, "places", TENSOR_INPUT, &type);
    vec_push(arena, &g->inputs, places_id);
    build_op(&b, OP_Gather, "gather");
    build_in(&b, graph_add_constant(g, "words", DT_STRING, &view));
    build_in(&b, places_id);
    build_int(&b, PARAM_axis, 0);
    finish("chosen");
    write_container();
    ck_assert_int_eq(odlc_run_open(run, path), ODLC_OK);
    ck_assert_int_eq(odlc_run_want(run, wanted, 1), ODLC_OK);
    ck_assert_int_eq(odlc_run_set_native(run, 0, places, sizeof places), ODLC_OK);
    ck_assert_int_eq(odlc_run_execute(run), ODLC_OK);
    const char *const *found = odlc_run_native(run, 0);
    ck_assert_str_eq(found[0], "tr\xc3\xa8s");
    ck_assert_str_eq(found[1], "one");
    float floats[2];
    ck_assert_int_eq(odlc_run_get_floats(run, 0, floats, 2), ODLC_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(calls_out_of_order)
{
    float x[3] = {0};
    size_t index, count;
    ck_assert_int_eq(odlc_run_want_outputs(run), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_find_input(run, "x", &index), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_set_floats(run, 0, x, 3), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_execute(run), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_get_floats(run, 0, x, 3), ODLC_ERR_USAGE);
    odlc_run_inputs(run, &count);
    ck_assert_uint_eq(count, 0);
    build_example();
    ck_assert_int_eq(odlc_run_open(run, path), ODLC_OK);
    ck_assert_int_eq(odlc_run_open(run, path), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_want_outputs(run), ODLC_OK);
    ck_assert_int_eq(odlc_run_set_floats(run, 1, x, 3), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_set_floats(run, 0, x, 2), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_get_floats(run, 0, x, 3), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_container_open(container, path), ODLC_OK);
    ck_assert_int_eq(odlc_container_open(container, path), ODLC_ERR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("container");
    TCase *tcase = tcase_create("container");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, layers_of_version_3);
    tcase_add_test(tcase, conv2d);
    tcase_add_test(tcase, depthwise_conv2d);
    tcase_add_test(tcase, fully_connected);
    tcase_add_test(tcase, matmul_of_activations);
    tcase_add_test(tcase, matmul_by_a_transposed_constant);
    tcase_add_test(tcase, pooling);
    tcase_add_test(tcase, softmax);
    tcase_add_test(tcase, operands_that_are_no_weights);
    tcase_add_test(tcase, memory_is_constants_inputs_and_live_tensors);
    tcase_add_test(tcase, tensors_and_elements);
    tcase_add_test(tcase, verification);
    tcase_add_test(tcase, execution);
    tcase_add_test(tcase, isolated_execution);
    tcase_add_test(tcase, choosing_backends);
    tcase_add_test(tcase, choosing_results);
    tcase_add_test(tcase, tensors_shown_while_they_are_computed);
    tcase_add_test(tcase, strings_of_a_container);
    tcase_add_test(tcase, calls_out_of_order);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
