/* SPDX-License-Identifier: Apache-2.0 */
/* From a container back to the graph: nothing is lost, ops find their rows, and what makes no sense is refused. */
#include "dlc_fixture.h"
#include "kernel/kernel.h"
#include "op/params.h"
#include "tests/support/named_param.h"

static struct graph *load_with(struct op_registry *registry, const char *path)
{
    struct dlc_file *dlc;
    struct graph *g;
    ck_status_ok(dlc_read(arena, &diags, path, &dlc));
    ck_status_ok(dlc_to_ir(arena, &diags, registry, dlc, 0, &g));
    return g;
}

static struct graph *load(const char *path)
{
    return load_with(op_registry_new(arena), path);
}

static const char *save(const struct graph *g, const char *name)
{
    const char *path = in_folder(name);
    struct dlc_write_options options = {.converter_command = "onnx-to-dlc a=1", .converter_version = "0.1"};
    ck_status_ok(dlc_write(arena, &diags, g, path, &options));
    return path;
}

static void check_bytes(const struct graph *a, const struct graph *b, const char *name)
{
    const struct tensor *x = graph_tensor(a, graph_find_tensor(a, name)),
                        *y = graph_tensor(b, graph_find_tensor(b, name));
    ck_assert_int_eq(x->type->dtype, y->type->dtype);
    ck_assert(shape_equal(&x->type->shape, &y->type->shape));
    ck_assert_mem_eq(view_load(arena, x->view, x->type->dtype), view_load(arena, y->view, y->type->dtype),
                     view_size(x->view, x->type->dtype));
}

START_TEST(graph_survives)
{
    const struct graph *from = sample_graph(arena), *g = load(save(sample_graph(arena), "a.dlc"));
    ck_assert_str_eq(g->name, "sample");
    ck_assert_uint_eq(g->order.count, 2);
    ck_assert_uint_eq(g->inputs.count, 2);
    ck_assert_str_eq(graph_tensor(g, g->inputs.data[1])->name, "unread");
    ck_assert_uint_eq(g->outputs.count, 1);
    ck_assert_int_eq(graph_tensor(g, g->outputs.data[0])->kind, TENSOR_OUTPUT);
    check_bytes(from, g, "table");
    check_bytes(from, g, "ones");
    const struct tensor *words = graph_tensor(g, graph_find_tensor(g, "words"));
    ck_assert_str_eq(words->view->strings[2], "zwei Wörter");
    const struct node *n = graph_node(g, g->order.data[0]);
    ck_assert_str_eq(n->name, "blend");
    ck_assert_str_eq(n->op->package, "MyPack");
    ck_assert(kernel_of(n->op) == NULL);
    ck_assert_uint_eq(n->n_inputs, 6);
    ck_assert_uint_eq(n->inputs[2], NO_TENSOR);
    ck_assert_double_eq(named_float(n, "alpha", 0), 0.2);
    ck_assert_int_eq(named_int(n, "count", 0), -5000000000);
    ck_assert_str_eq(named_string(n, "label", NULL), "a \"label\"");
    ck_assert_uint_eq(named_param(n, "label")->usage, 2);
    ck_assert_double_eq(named_param(n, "weights")->floats[1], -1.25);
    ck_assert_str_eq(named_param(n, "modes")->strings[0], "edge");
    ck_assert_ptr_null(named_param(n, "packageName"));
    uint32_t count;
    const int64_t *offsets = named_ints(n, "offsets", &count);
    ck_assert_uint_eq(count, 4);
    ck_assert_int_eq(offsets[3], 2147483647);
    ck_assert_uint_eq(named_param(n, "offsets")->shape->rank, 2);
    ck_assert_ptr_eq(graph_node(g, g->order.data[1])->op, op_find("Transpose"));
    ck_assert_double_eq(graph_tensor(g, graph_find_tensor(g, "y"))->quant->encodings[0].scale, 0.25);
}
END_TEST

START_TEST(writing_again_gives_the_same_bytes)
{
    size_t a, b;
    const char *first = save(sample_graph(arena), "a.dlc"), *second = save(load(first), "b.dlc");
    const uint8_t *x = read_all(first, &a), *y = read_all(second, &b);
    ck_assert_uint_eq(a, b);
    ck_assert_mem_eq(x, y, a);
}
END_TEST

/* ---- graphs of one made-up op: x [4] → op → y [4] ---- */

static struct graph *single(const struct op *row, const struct param *params, uint32_t n_params)
{
    struct graph *g = graph_create(arena, "single");
    struct type type = {DT_FLOAT32, SHAPE(4)};
    tensor_id x = graph_add_tensor(g, "x", TENSOR_INPUT, &type), y = graph_add_tensor(g, "y", TENSOR_OUTPUT, &type);
    node_id id = graph_add_node(g, row, row->n_params, "node", &x, 1, &y, 1);
    for (uint32_t i = 0; i < n_params; i++)
        node_set_param(g, graph_node(g, id), i, &params[i]);
    vec_push(arena, &g->order, id);
    vec_push(arena, &g->inputs, x);
    vec_push(arena, &g->outputs, y);
    return g;
}

static struct op *made_up(const char *type, const char *package, const struct param *params, uint32_t n_params)
{
    struct op *row = arena_new(arena, struct op);
    struct param_def *defs = arena_array(arena, struct param_def, n_params);
    for (uint32_t i = 0; i < n_params; i++)
        defs[i] = (struct param_def){.name = params[i].name, .dtype = params[i].dtype, .presence = PARAM_OPTIONAL};
    *row = (struct op){.name = type, .dlc_type = type, .package = package, .params = defs, .n_params = n_params};
    row->max_inputs = row->max_outputs = VARIADIC;
    return row;
}

static const char *write_made_up(const char *type, const char *package, const struct param *params, uint32_t n_params)
{
    return save(single(made_up(type, package, params, n_params), params, n_params), "single.dlc");
}

static const struct node *only_node(const char *path)
{
    const struct graph *g = load(path);
    return graph_node(g, g->order.data[0]);
}

/* a → b → c → d, each by one op. */
static struct graph *chain(void)
{
    static const struct op step = {
        .name = "Step", .dlc_type = "Step", .package = "P", .max_inputs = 2, .max_outputs = 1};
    struct graph *g = graph_create(arena, "chain");
    struct type type = {DT_FLOAT32, SHAPE(4)};
    tensor_id t[] = {graph_add_tensor(g, "a", TENSOR_INPUT, &type), graph_add_tensor(g, "b", TENSOR_NATIVE, &type),
                     graph_add_tensor(g, "c", TENSOR_NATIVE, &type), graph_add_tensor(g, "d", TENSOR_OUTPUT, &type)};
    for (int i = 0; i < 3; i++)
        graph_add_node(g, &step, 0, arena_printf(arena, "step%d", i), &t[i], 1, &t[i + 1], 1);
    vec_push(arena, &g->inputs, t[0]);
    vec_push(arena, &g->outputs, t[3]);
    return g;
}

static void expect_refusal_with(struct op_registry *registry, const char *path, odlc_status status, const char *message)
{
    struct dlc_file *dlc;
    struct graph *g;
    ck_status_ok(dlc_read(arena, &diags, path, &dlc));
    ck_assert_int_eq(dlc_to_ir(arena, &diags, registry, dlc, 0, &g), status);
    ck_assert_str_eq(last_diag()->message, message);
}

static void expect_refusal(const char *path, odlc_status status, const char *message)
{
    expect_refusal_with(op_registry_new(arena), path, status, message);
}

/* Files of later releases carry the kind of op as a number. */
START_TEST(numbered_operations)
{
    const struct param relu[] = {{.set = true, .name = "operation", .usage = 1, .dtype = DT_UINT32, .i = 4}};
    const struct node *n = only_node(write_made_up("ElementWiseNeuron", NULL, relu, 1));
    ck_assert_ptr_eq(n->op, op_find("Relu"));
    ck_assert_uint_eq(diags.warnings, 0);
}
END_TEST

START_TEST(names_of_the_operator_list_are_types_too)
{
    ck_assert_ptr_eq(only_node(write_made_up("Relu", NULL, NULL, 0))->op, op_find("Relu"));
}
END_TEST

START_TEST(foreign_op_with_a_native_name)
{
    const struct node *n = only_node(write_made_up("Relu", "MyPack", NULL, 0));
    ck_assert_str_eq(n->op->name, "Relu");
    ck_assert_str_eq(n->op->package, "MyPack");
    ck_assert(kernel_of(n->op) == NULL);
}
END_TEST

/* A row that was added says what the op of its package is: which params it has, and how many tensors it takes. */
START_TEST(foreign_op_with_a_row)
{
    const struct param written[] = {{.set = true, .name = "depth", .usage = 1, .dtype = DT_INT32, .i = 3},
                                    {.set = true, .name = "oddity", .usage = 1, .dtype = DT_INT32, .i = 4}};
    const char *path = write_made_up("Warp", "MyPack", written, 2);
    struct op_registry *registry = op_registry_new(arena);
    struct op *row = made_up("Warp", "MyPack", written, 1);
    row->min_inputs = row->max_inputs = 1;
    const struct op *added = op_registry_add(registry, row);
    op_registry_add(registry, made_up("Warp", "OtherPack", written, 0));
    const struct graph *g = load_with(registry, path);
    const struct node *n = graph_node(g, g->order.data[0]);
    ck_assert_ptr_eq(n->op, added);
    ck_assert_int_eq(named_int(n, "depth", 0), 3);
    ck_assert_uint_eq(diags.warnings, 1);
    ck_assert_str_eq(last_diag()->message, "param oddity of Warp is not known and has no effect");
    row->min_inputs = row->max_inputs = 2;
    registry = op_registry_new(arena);
    op_registry_add(registry, row);
    expect_refusal_with(registry, path, ODLC_ERR_INVALID, "Warp does not take 1 inputs");
}
END_TEST

START_TEST(foreign_ops_with_the_same_params_share_a_row)
{
    struct graph *written = chain();
    for (node_id i = 0; i < 3; i++)
        vec_push(arena, &written->order, i);
    const struct graph *g = load(save(written, "chain.dlc"));
    ck_assert_uint_eq(g->order.count, 3);
    for (size_t i = 1; i < g->order.count; i++)
        ck_assert_ptr_eq(graph_node(g, g->order.data[i])->op, graph_node(g, g->order.data[0])->op);
}
END_TEST

START_TEST(native_type_without_a_row)
{
    const struct param depth[] = {{.set = true, .name = "depth", .usage = 1, .dtype = DT_INT32, .i = 3}};
    const struct node *n = only_node(write_made_up("Mystery", NULL, depth, 1));
    ck_assert_str_eq(n->op->dlc_type, "Mystery");
    ck_assert_ptr_null(n->op->package);
    ck_assert(kernel_of(n->op) == NULL);
    ck_assert_int_eq(named_int(n, "depth", 0), 3);
}
END_TEST

START_TEST(unknown_params_are_told_once)
{
    const struct param odd[] = {{.set = true, .name = "oddity", .usage = 1, .dtype = DT_INT32, .i = 3},
                                {.set = true, .name = "remark", .usage = 2, .dtype = DT_INT32, .i = 3}};
    only_node(write_made_up("Relu", NULL, odd, 2));
    ck_assert_uint_eq(diags.warnings, 1);
    ck_assert_str_eq(last_diag()->message, "param oddity of Relu is not known and has no effect");
    ck_assert_str_eq(last_diag()->node, "node");
}
END_TEST

START_TEST(required_params)
{
    const struct param scalar[] = {{.set = true, .name = "perm", .usage = 1, .dtype = DT_UINT32, .i = 0}};
    expect_refusal(write_made_up("Transpose", NULL, NULL, 0), ODLC_ERR_INVALID, "Transpose lacks its param perm");
    expect_refusal(write_made_up("Transpose", NULL, scalar, 1), ODLC_ERR_INVALID,
                   "param perm of Transpose must be a tensor of type uint32");
}
END_TEST

START_TEST(arity)
{
    const struct param add[] = {
        {.set = true, .name = "eltwise_type", .usage = 2, .dtype = DT_STRING, .s = "ElementWiseAdd"}};
    expect_refusal(write_made_up("Eltwise_Binary", NULL, add, 1), ODLC_ERR_INVALID,
                   "Eltwise_Binary does not take 1 inputs");
}
END_TEST

/* ---- order ---- */

START_TEST(ops_out_of_order_are_sorted)
{
    struct graph *g = chain();
    for (node_id i = 3; i-- > 0;)
        vec_push(arena, &g->order, i);
    const struct graph *back = load(save(g, "reversed.dlc"));
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_str_eq(graph_node(back, back->order.data[i])->name, arena_printf(arena, "step%u", i));
}
END_TEST

START_TEST(cycles_are_refused)
{
    struct graph *g = chain();
    for (node_id i = 0; i < 3; i++)
        vec_push(arena, &g->order, i);
    graph_node(g, 0)->inputs[0] = graph_find_tensor(g, "c");
    expect_refusal(save(g, "cycle.dlc"), ODLC_ERR_INVALID, "the op depends on its own result");
}
END_TEST

START_TEST(tensors_nobody_writes)
{
    struct graph *g = chain();
    vec_push(arena, &g->order, 0);
    vec_push(arena, &g->order, 2);
    expect_refusal(save(g, "hole.dlc"), ODLC_ERR_INVALID, "no op writes tensor c");
}
END_TEST

START_TEST(graph_index)
{
    struct dlc_file *dlc;
    struct graph *g;
    ck_status_ok(dlc_read(arena, &diags, save(sample_graph(arena), "a.dlc"), &dlc));
    ck_assert_int_eq(dlc_to_ir(arena, &diags, op_registry_new(arena), dlc, 1, &g), ODLC_ERR_USAGE);
    ck_assert_str_eq(last_diag()->message, "there is no graph 1, the container has 1");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {graph_survives,
                                  writing_again_gives_the_same_bytes,
                                  numbered_operations,
                                  names_of_the_operator_list_are_types_too,
                                  foreign_op_with_a_native_name,
                                  foreign_op_with_a_row,
                                  foreign_ops_with_the_same_params_share_a_row,
                                  native_type_without_a_row,
                                  unknown_params_are_told_once,
                                  required_params,
                                  arity,
                                  ops_out_of_order_are_sorted,
                                  cycles_are_refused,
                                  tensors_nobody_writes,
                                  graph_index};
    return run_tests("to_ir", tests, COUNT_OF(tests));
}
