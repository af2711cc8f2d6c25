/* SPDX-License-Identifier: Apache-2.0 */
/* How ops are spelled in containers of one release and of another, and that both are read as the same ops. */
#include "dlc_fixture.h"
#include "op/params.h"
#include "op/release.h"

/* Numbers of `operation`, by the target's master list. */
static const char *const neurons[] = {"Elu",        "Gelu",    "HardSigmoid",         "HardSwish", "Relu",
                                      "ReluMinMax", "Sigmoid", "ElementWiseSoftplus", "Tanh"};
static const char *const unaries[] = {"Abs", "Asin", "Atan",       "Ceil",  "Cos",   "Exp",  "Floor", "Log",
                                      "Neg", "Not",  "Reciprocal", "Round", "Rsqrt", "Sign", "Sin",   "SquareRoot"};
static const char *const binaries[] = {
    "Add",       "And",     "Divide",  "Equal", "FloorDiv", "Fmod",     "Greater", "GreaterEqual", "Less",
    "LessEqual", "Maximum", "Minimum", "Mod",   "Multiply", "NotEqual", "Or",      "Power",        "SquaredDifference",
    "Subtract",  "Xor"};

static struct graph *graph_of(const struct op *op)
{
    struct graph *g = graph_create(arena, "g");
    const struct type type = {DT_FLOAT32, SHAPE(2)};
    tensor_id in[2], out = graph_add_tensor(g, "y", TENSOR_OUTPUT, &type);
    for (uint32_t i = 0; i < op->min_inputs; i++) {
        in[i] = graph_add_tensor(g, NULL, TENSOR_INPUT, &type);
        vec_push(arena, &g->inputs, in[i]);
    }
    vec_push(arena, &g->outputs, out);
    node_id id = graph_add_node(g, op, op->n_params, "node", in, op->min_inputs, &out, 1);
    for (uint32_t i = 0; i < op->n_params; i++)
        if (op->params[i].presence == PARAM_REQUIRED)
            node_set_float(graph_node(g, id), op->params[i].id, i + 1);
    vec_push(arena, &g->order, id);
    return g;
}

static const struct dlc_op *written(const struct op *op, uint32_t release, struct dlc_file **dlc)
{
    const char *path = in_folder("op.dlc");
    const struct dlc_write_options options = {.release = release};
    ck_status_ok(dlc_write(arena, &diags, graph_of(op), path, &options));
    ck_status_ok(dlc_read(arena, &diags, path, dlc));
    return &(*dlc)->graphs[0].ops[0];
}

static void is_read_as(const struct op *op, const struct dlc_file *dlc)
{
    struct graph *g;
    ck_status_ok(dlc_to_ir(arena, &diags, op_registry_new(arena), dlc, 0, &g));
    ck_assert_msg(graph_node(g, 0)->op == op, "%s is read as %s", op->name, graph_node(g, 0)->op->name);
    ck_assert_uint_eq(diags.list.count, 0);
}

static void check_older(const struct op *op, uint32_t release, const char *type, const char *selector)
{
    struct dlc_file *dlc;
    const struct dlc_op *record = written(op, release, &dlc);
    const struct dlc_attr *selected = dlc_attr_find(record, selector);
    ck_assert_str_eq(record->type, type);
    ck_assert_ptr_nonnull(selected);
    ck_assert_str_eq(selected->s, op->name);
    ck_assert_uint_eq(selected->usage, 2);
    ck_assert_ptr_null(dlc_attr_find(record, "operation"));
    is_read_as(op, dlc);
}

static void check_newer(const struct op *op, uint32_t release, const char *type, uint32_t number)
{
    struct dlc_file *dlc;
    const struct dlc_op *record = written(op, release, &dlc);
    const struct dlc_attr *operation = dlc_attr_find(record, "operation");
    ck_assert_str_eq(record->type, type);
    ck_assert_ptr_nonnull(operation);
    ck_assert_int_eq(operation->i, number);
    ck_assert_uint_eq(operation->dtype_code, 0x132); /* UINT_32 */
    ck_assert_uint_eq(operation->usage, 1);
    ck_assert_ptr_null(dlc_attr_find(record, "eltwise_type"));
    ck_assert_ptr_null(dlc_attr_find(record, "neuron_type"));
    for (uint32_t i = 1; i < record->n_attrs; i++)
        ck_assert_str_lt(record->attrs[i - 1].name, record->attrs[i].name);
    is_read_as(op, dlc);
}

static void check_family(const char *const *names, size_t count, const char *prefix, const char *older,
                         const char *newer, const char *selector)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct op *op = op_find(arena_printf(arena, "%s%s", prefix, names[i]));
        ck_assert_msg(op != NULL, "there is no %s%s", prefix, names[i]);
        check_older(op, 0, older, selector);
        check_older(op, RELEASE(2, 18), older, selector);
        check_older(op, RELEASE(2, 20), older, selector);
        check_newer(op, RELEASE(2, 21), newer, i);
        check_newer(op, RELEASE(2, 47), newer, i);
    }
}

START_TEST(each_operation_has_its_number)
{
    check_family(neurons, COUNT_OF(neurons), "", "Neuron", "ElementWiseNeuron", "neuron_type");
    check_family(unaries, COUNT_OF(unaries), "ElementWise", "Eltwise_Unary", "Eltwise_Unary", "eltwise_type");
    check_family(binaries, COUNT_OF(binaries), "ElementWise", "Eltwise_Binary", "Eltwise_Binary", "eltwise_type");
    size_t with_operation = 0;
    for (size_t i = 0; op_at(i); i++)
        with_operation += op_at(i)->has_operation;
    ck_assert_uint_eq(with_operation, COUNT_OF(neurons) + COUNT_OF(unaries) + COUNT_OF(binaries));
}
END_TEST

/* Newer files name these as older ones do, and neurons for which there is no number stay what they were. */
START_TEST(others_are_spelled_alike)
{
    static const struct {
        const char *name, *type, *selector;
    } same[] = {{"ElementWiseSelect", "Eltwise_Ternary", "eltwise_type"},
                {"PoolAvg2d", "Pool", "pool_type"},
                {"PoolMax2d", "Pool", "pool_type"},
                {"ReduceMean", "Reduce", "reduce_type"},
                {"Argmax", "Arg", "arg_type"},
                {"Conv2d", "Conv2d", NULL},
                {"Relu6", "Neuron", "neuron_type"}};
    const uint32_t releases[] = {RELEASE(2, 20), RELEASE(2, 47)};
    for (size_t i = 0; i < COUNT_OF(same); i++)
        for (size_t k = 0; k < COUNT_OF(releases); k++) {
            const struct op_spelling spelling = op_spelling(op_find(same[i].name), releases[k]);
            ck_assert_str_eq(spelling.type, same[i].type);
            ck_assert_pstr_eq(spelling.selector, same[i].selector);
            ck_assert(!spelling.has_operation);
        }
}
END_TEST

/* A type that no row has would never be asked for. */
START_TEST(known_types_are_those_of_rows)
{
    static const char *const types[] = {
#define KNOWN(type, major, minor) #type,
#include "op/known_types.def"
#undef KNOWN
    };
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        size_t row = 0;
        while (op_at(row) && strcmp(op_at(row)->dlc_type, types[i]) != 0)
            row++;
        ck_assert_msg(op_at(row) != NULL, "no row has the type %s", types[i]);
    }
    ck_assert_uint_eq(op_type_known_since("Conv2d"), RELEASE(2, 5));
    ck_assert_uint_eq(op_type_known_since("Transpose"), RELEASE(2, 20));
    ck_assert_uint_eq(op_type_known_since("RmsNorm"), RELEASE(2, 47));
    ck_assert_uint_eq(op_type_known_since("Lrn"), 0);
}
END_TEST

/* The params that a folded normalization leaves go by their own names in any op; others by the op's, too. */
START_TEST(notes_of_a_normalization_are_named_alone)
{
    struct graph *g = graph_create(arena, "g");
    const struct type image = {DT_FLOAT32, SHAPE(1, 2, 2, 1)}, weights = {DT_FLOAT32, SHAPE(1, 1, 1, 1)};
    const float two = 2;
    const struct view view = view_of(&two, DT_FLOAT32, &weights.shape);
    const double beta = -0.5, gamma = 1.5;
    tensor_id in[] = {graph_add_tensor(g, "x", TENSOR_INPUT, &image), graph_add_constant(g, "w", DT_FLOAT32, &view)};
    tensor_id out = graph_add_tensor(g, "y", TENSOR_OUTPUT, &image);
    vec_push(arena, &g->inputs, in[0]);
    vec_push(arena, &g->outputs, out);
    const struct op *op = op_row(OP_Conv2d);
    node_id id = graph_add_node(g, op, op->n_params, "conv", in, 2, &out, 1);
    vec_push(arena, &g->order, id);
    struct node *n = graph_node(g, id);
    node_set_ints(g, n, PARAM_stride, &SHAPE(2), (const int64_t[]){1, 1});
    node_set_ints(g, n, PARAM_pad_amount, &SHAPE(2, 2), (const int64_t[]){0, 0, 0, 0});
    node_set_floats(g, n, PARAM_beta, 1, &beta);
    node_set_floats(g, n, PARAM_gamma, 1, &gamma);
    struct dlc_file *dlc;
    const char *path = in_folder("conv.dlc");
    ck_status_ok(dlc_write(arena, &diags, g, path, &(struct dlc_write_options){0}));
    ck_status_ok(dlc_read(arena, &diags, path, &dlc));
    static const char *const names[] = {"beta", "gamma", "conv_pad_amount", "conv_stride"};
    const struct dlc_op *record = &dlc->graphs[0].ops[0];
    size_t found = 0;
    for (uint32_t i = 0; i < record->n_attrs; i++)
        if (record->attrs[i].kind == DLC_TENSOR)
            ck_assert_str_eq(record->attrs[i].tensor->name, names[found++]);
    ck_assert_uint_eq(found, COUNT_OF(names));
    ck_assert_uint_eq(dlc_attr_find(record, "gamma")->usage, 2);
    ck_status_ok(dlc_to_ir(arena, &diags, op_registry_new(arena), dlc, 0, &g));
    n = graph_node(g, 0);
    ck_assert_double_eq(node_param(n, PARAM_beta)->floats[0], -0.5);
    ck_assert_double_eq(node_param(n, PARAM_gamma)->floats[0], 1.5);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {each_operation_has_its_number, others_are_spelled_alike,
                                  known_types_are_those_of_rows, notes_of_a_normalization_are_named_alone};
    return run_tests("releases", tests, COUNT_OF(tests));
}
