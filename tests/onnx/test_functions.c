/* SPDX-License-Identifier: Apache-2.0 */
/* Local functions and their inlining. */
#include "onnx_model.h"

/* A function of domain "f"; nodes, attributes and imports other than opset 13 are still to be added. */
static struct pb function(const char *name, const char *inputs, const char *outputs)
{
    struct pb f = {0};
    pb_text(&f, 1, name);
    pb_words(&f, 4, inputs);
    pb_words(&f, 5, outputs);
    pb_text(&f, 10, "f");
    import_opset(&f, 9, "", 13);
    import_opset(&f, 9, "f", 1);
    return f;
}

static struct pb call(const char *name, const char *inputs, const char *outputs)
{
    struct pb n = node(name, inputs, outputs);
    pb_text(&n, 7, "f");
    return n;
}

static struct pb int_attribute(const char *name, int64_t i)
{
    struct pb a = attribute(name, 2);
    pb_int(&a, 3, i);
    return a;
}

static struct pb referring_attribute(const char *name, const char *to)
{
    struct pb a = attribute(name, 2);
    pb_text(&a, 21, to);
    return a;
}

static struct pb model_with(struct pb graph, size_t count, const struct pb *functions)
{
    struct pb m = model(graph);
    import_opset(&m, 8, "f", 1);
    for (size_t i = 0; i < count; i++)
        pb_add(&m, 25, functions[i]);
    return m;
}

/* "op(in,…)->out,…; …" for all nodes. */
static const char *graph_text(const struct fw_graph *g)
{
    text t = {0};
    for (size_t n = 0; n < g->nodes.count; n++) {
        const struct fw_node *node = &g->nodes.data[n];
        text_add(arena, &t, "%s%s(", n ? "; " : "", node->op->type);
        for (size_t i = 0; i < node->n_inputs; i++)
            text_add(arena, &t, "%s%s", i ? "," : "", node->inputs[i]);
        text_add(arena, &t, ")->");
        for (size_t i = 0; i < node->n_outputs; i++)
            text_add(arena, &t, "%s%s", i ? "," : "", node->outputs[i]);
    }
    return t.data;
}

START_TEST(test_inlined)
{
    struct pb f = function("Twice", "a b", "c unused");
    pb_add(&f, 7, node("Mul", "a b", "t"));
    pb_add(&f, 7, node("Add", "t a", "c"));
    pb_add(&f, 7, node("Neg", "t", "unused"));
    struct pb g = graph_x_to_y(), first = call("Twice", "x x", "h");
    pb_text(&first, 3, "one");
    pb_add(&g, 1, first);
    pb_add(&g, 1, call("Twice", "h x", "y"));
    struct fw_model *out = load_ok(model_with(g, 1, &f));
    ck_assert_str_eq(graph_text(&out->graph), "Mul(x,x)->one/t; Add(one/t,x)->h; Neg(one/t)->one/unused; "
                                              "Mul(h,x)->y/t; Add(y/t,h)->y; Neg(y/t)->y/unused");
    ck_assert_int_eq(out->graph.nodes.data[0].op->version, 13);
}
END_TEST

/* The body's version is the function's, its inner names give way to those of the model, an absent input stays absent.
 */
START_TEST(test_names_and_versions)
{
    struct pb f = {0};
    pb_text(&f, 1, "F");
    pb_words(&f, 4, "a b");
    pb_words(&f, 5, "c");
    pb_text(&f, 10, "f");
    import_opset(&f, 9, "", 9);
    struct pb inner = node("Clip", "a b", "t");
    pb_text(&inner, 3, "clip");
    pb_add(&f, 7, inner);
    pb_add(&f, 7, node("Neg", "t", "c"));
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, node("Relu", "x", "y/t"));
    pb_add(&g, 1, call("F", "y/t", "y"));
    struct fw_model *out = load_ok(model_with(g, 1, &f));
    ck_assert_str_eq(graph_text(&out->graph), "Relu(x)->y/t; Clip(y/t,)->y/t.1; Neg(y/t.1)->y");
    ck_assert_int_eq(out->graph.nodes.data[0].op->version, 13);
    ck_assert_int_eq(out->graph.nodes.data[1].op->version, 9);
    ck_assert_str_eq(out->graph.nodes.data[1].name, "y/clip");
}
END_TEST

START_TEST(test_attributes)
{
    struct pb f = function("F", "a", "c"), inner = node("Op", "a", "c");
    pb_text(&f, 6, "given");
    pb_text(&f, 6, "absent");
    pb_add(&f, 11, int_attribute("defaulted", 7));
    pb_add(&f, 11, int_attribute("overridden", 8));
    pb_add(&inner, 5, referring_attribute("p", "given"));
    pb_add(&inner, 5, referring_attribute("q", "absent"));
    pb_add(&inner, 5, referring_attribute("r", "defaulted"));
    pb_add(&inner, 5, referring_attribute("s", "overridden"));
    pb_add(&inner, 5, int_attribute("t", 1));
    pb_add(&f, 7, inner);
    struct pb g = graph_x_to_y(), n = call("F", "x", "y");
    pb_add(&n, 5, int_attribute("given", 3));
    pb_add(&n, 5, int_attribute("overridden", 4));
    pb_add(&g, 1, n);
    struct fw_model *out = load_ok(model_with(g, 1, &f));
    const struct fw_node *op = &out->graph.nodes.data[0];
    ck_assert_uint_eq(op->n_attrs, 4);
    ck_assert_int_eq(fw_find_attr(op, "p")->i, 3);
    ck_assert_ptr_null(fw_find_attr(op, "q"));
    ck_assert_int_eq(fw_find_attr(op, "r")->i, 7);
    ck_assert_int_eq(fw_find_attr(op, "s")->i, 4);
    ck_assert_int_eq(fw_find_attr(op, "t")->i, 1);
    for (size_t i = 0; i < op->n_attrs; i++)
        ck_assert_ptr_null(op->attrs[i].ref);
}
END_TEST

START_TEST(test_nested)
{
    struct pb functions[2] = {function("Outer", "a", "b"), function("Inner", "a", "b")};
    struct pb passing = call("Inner", "a", "t");
    pb_text(&functions[0], 6, "k");
    pb_text(&functions[1], 6, "n");
    pb_add(&passing, 5, referring_attribute("n", "k"));
    pb_add(&functions[0], 7, passing);
    pb_add(&functions[0], 7, call("Inner", "t", "b"));
    struct pb op = node("Op", "a", "b");
    pb_add(&op, 5, referring_attribute("axis", "n"));
    pb_add(&functions[1], 7, op);
    struct pb g = graph_x_to_y(), n = call("Outer", "x", "y");
    pb_add(&n, 5, int_attribute("k", 5));
    pb_add(&g, 1, n);
    struct fw_model *out = load_ok(model_with(g, 2, functions));
    ck_assert_str_eq(graph_text(&out->graph), "Op(x)->y/t; Op(y/t)->y");
    ck_assert_int_eq(fw_find_attr(&out->graph.nodes.data[0], "axis")->i, 5);
    ck_assert_uint_eq(out->graph.nodes.data[1].n_attrs, 0);
}
END_TEST

/* A graph inside a body reads the function's inputs and inner values, and refers to its attributes. */
START_TEST(test_inner_graph)
{
    struct pb f = function("F", "a", "c"), branch = attribute("then_branch", 5), inner = {0};
    pb_text(&f, 6, "k");
    struct pb op = node("Op", "a t", "z"), n = node("If", "t", "c");
    pb_add(&op, 5, referring_attribute("axis", "k"));
    pb_add(&inner, 1, op);
    pb_add(&inner, 1, call("G", "z", "w"));
    pb_add(&inner, 12, value("w", 1, DIMS(2)));
    pb_add(&branch, 6, inner);
    pb_add(&n, 5, branch);
    pb_add(&f, 7, node("Neg", "a", "t"));
    pb_add(&f, 7, n);
    struct pb functions[2] = {f, function("G", "p", "q")};
    pb_add(&functions[1], 7, node("Abs", "p", "q"));
    struct pb g = graph_x_to_y(), called = call("F", "x", "y");
    pb_add(&called, 5, int_attribute("k", 2));
    pb_add(&g, 1, called);
    struct fw_model *out = load_ok(model_with(g, 2, functions));
    ck_assert_str_eq(graph_text(&out->graph), "Neg(x)->y/t; If(y/t)->y");
    const struct fw_graph *then = out->graph.nodes.data[1].attrs[0].graph;
    ck_assert_str_eq(graph_text(then), "Op(x,y/t)->y/z; Abs(y/z)->y/w");
    ck_assert_str_eq(then->outputs.data[0].name, "y/w");
    ck_assert_int_eq(fw_find_attr(&then->nodes.data[0], "axis")->i, 2);
}
END_TEST

START_TEST(test_overloads)
{
    struct pb functions[2] = {function("F", "a", "b"), function("F", "a", "b")};
    pb_add(&functions[0], 7, node("One", "a", "b"));
    pb_text(&functions[1], 13, "second");
    pb_add(&functions[1], 7, node("Two", "a", "b"));
    struct pb g = graph_x_to_y(), n = call("F", "h", "y");
    pb_text(&n, 8, "second");
    pb_add(&g, 1, call("F", "x", "h"));
    pb_add(&g, 1, n);
    ck_assert_str_eq(graph_text(&load_ok(model_with(g, 2, functions))->graph), "One(x)->h; Two(h)->y");
    functions[1] = functions[0];
    load_fails(model_with(g, 2, functions), ODLC_ERR_INVALID, "onnx-function", "function 'F' is defined twice");
}
END_TEST

static bool claims_kept(void *user, const char *op_type, const char *domain)
{
    ck_assert_str_eq(domain[0] ? domain : "f", "f");
    return strcmp(op_type, user) == 0;
}

START_TEST(test_kept_calls)
{
    struct pb functions[2] = {function("Kept", "a", "b"), function("Gone", "a", "b")};
    pb_add(&functions[0], 7, node("Neg", "a", "b"));
    pb_add(&functions[1], 7, call("Kept", "a", "b"));
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, call("Gone", "x", "y"));
    struct pb m = model_with(g, 2, functions);
    const struct fw_load_options options = {.claims = claims_kept, .claims_user = "Kept"};
    struct fw_model *out;
    ck_assert_int_eq(onnx_load_file(&memory, &diags, file_of(m.bytes.data, m.bytes.count), &options, &out), ODLC_OK);
    ck_assert_str_eq(graph_text(&out->graph), "Kept(x)->y");
}
END_TEST

static struct pb calling_once(struct pb f, struct pb n)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, n);
    return model_with(g, 1, &f);
}

START_TEST(test_errors)
{
    struct pb f = function("F", "a", "b");
    pb_add(&f, 7, call("F", "a", "b"));
    load_fails(calling_once(f, call("F", "x", "y")), ODLC_ERR_INVALID, "onnx-function", "calls itself");

    f = function("F", "a", "b");
    pb_add(&f, 7, node("Neg", "x", "b")); /* a value of the caller is not seen */
    load_fails(calling_once(f, call("F", "x", "y")), ODLC_ERR_INVALID, "onnx-undefined-value", "reads 'y/x'");
    load_fails(calling_once(f, call("F", "x x", "y")), ODLC_ERR_INVALID, "onnx-function", "more inputs or outputs");
    struct pb n = call("F", "x", "y");
    pb_add(&n, 5, int_attribute("k", 1));
    const struct odlc_diag *d =
        load_fails(calling_once(f, n), ODLC_ERR_INVALID, "onnx-function", "the function has no such attribute");
    ck_assert_str_eq(d->attribute, "k");
    ck_assert_str_eq(d->node, "y");

    f = function("F", "a", "a");
    load_fails(calling_once(f, call("F", "x", "y")), ODLC_ERR_UNSUPPORTED, "onnx-function", "also an input");
    f = function("F", "a a", "b");
    load_fails(calling_once(f, call("F", "x", "y")), ODLC_ERR_INVALID, "onnx-function", "one name");

    f = function("F", "a", "b");
    struct pb inner = node("Op", "a", "b"), k = attribute("k", 1);
    pb_fixed(&k, 2, &(float){1.0f}, 4);
    pb_add(&f, 11, k);
    pb_add(&inner, 5, referring_attribute("axis", "k"));
    pb_add(&f, 7, inner);
    load_fails(calling_once(f, call("F", "x", "y")), ODLC_ERR_INVALID, "onnx-function", "another type");
}
END_TEST

/* Thirty functions, each calling the next twice: a billion nodes unless something stops it. */
START_TEST(test_explosion)
{
    enum { COUNT = 30 };
    struct pb functions[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const char *next = arena_printf(arena, "F%d", i + 1);
        functions[i] = function(arena_printf(arena, "F%d", i), "a", "b");
        pb_add(&functions[i], 7, i + 1 < COUNT ? call(next, "a", "t") : node("Neg", "a", "t"));
        pb_add(&functions[i], 7, i + 1 < COUNT ? call(next, "t", "b") : node("Neg", "t", "b"));
    }
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, call("F0", "x", "y"));
    load_fails(model_with(g, COUNT, functions), ODLC_ERR_LIMIT, "onnx-function-size", "64 MiB");
}
END_TEST

START_TEST(test_call_depth)
{
    enum { COUNT = 70 };
    struct pb functions[COUNT];
    for (int i = 0; i < COUNT; i++) {
        functions[i] = function(arena_printf(arena, "F%d", i), "a", "b");
        pb_add(&functions[i], 7, call(arena_printf(arena, "F%d", i + 1), "a", "b"));
    }
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, call("F0", "x", "y"));
    load_fails(model_with(g, COUNT, functions), ODLC_ERR_LIMIT, "onnx-function", "calls nest deeper than 64 levels");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx functions");
    ADD_CASE(suite, "inlined", test_inlined, test_names_and_versions, test_attributes, test_nested, test_inner_graph,
             test_overloads, test_kept_calls);
    ADD_CASE(suite, "refused", test_errors, test_explosion, test_call_depth);
    return run_suite(suite);
}
