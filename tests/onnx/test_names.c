/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions, uses and order of values. */
#include "onnx_model.h"

static const char *node_order(const struct fw_graph *g)
{
    text names = {0};
    text_add(arena, &names, "%s", "");
    for (size_t i = 0; i < g->nodes.count; i++)
        text_add(arena, &names, "%s%s", i ? " " : "", g->nodes.data[i].op->type);
    return names.data;
}

START_TEST(test_undefined)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, node("A", "x gone", "h"));
    pb_add(&g, 1, node("B", "h lost -", "y"));
    pb_add(&g, 12, value("nowhere", 1, DIMS(2)));
    struct fw_model *out;
    ck_assert_int_eq(load(model(g), &out), ODLC_ERR_INVALID);
    ck_assert_uint_eq(diags.errors, 3);
    ck_assert_str_eq(diags.list.data[0].node, "h");
    ck_assert_str_eq(diags.list.data[0].message, "the node reads 'gone', which nothing defines");
    ck_assert_str_eq(diags.list.data[1].message, "the node reads 'lost', which nothing defines");
    ck_assert_str_eq(diags.list.data[2].message, "nothing defines the graph output 'nowhere'");
}
END_TEST

START_TEST(test_duplicates)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, node("A", "x", "h"));
    pb_add(&g, 1, node("B", "x", "h"));
    pb_add(&g, 1, node("C", "h", "y"));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-duplicate-value",
               "value 'h' is defined twice: it is an output of node 'h' already");
    g = graph_x_to_y();
    pb_add(&g, 1, node("A", "x", "y x"));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-duplicate-value", "it is a graph input already");
    g = graph_x_to_y();
    pb_add(&g, 11, value("x", 1, DIMS(2)));
    pb_add(&g, 1, node("A", "x", "y"));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-duplicate-value", "it is a graph input already");
    g = graph_x_to_y();
    pb_add(&g, 5, tensor("y", 1, DIMS(0)));
    pb_add(&g, 1, node("A", "x", "y"));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-duplicate-value", "it is an initializer already");
    g = graph_x_to_y();
    pb_add(&g, 5, tensor("", 1, DIMS(0)));
    pb_add(&g, 1, node("A", "x", "y"));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-name", "a graph initializer has no name");
}
END_TEST

START_TEST(test_overridden_constant)
{
    struct pb g = graph_x_to_y(), first = node("Constant", "", "c"), last = node("Constant", "", "c");
    pb_text(&first, 3, "first");
    pb_text(&last, 3, "last");
    pb_add(&g, 1, first);
    pb_add(&g, 1, last);
    pb_add(&g, 1, node("Add", "x c", "y"));
    struct fw_model *out = load_ok(model(g));
    ck_assert_uint_eq(out->graph.nodes.count, 2);
    ck_assert_str_eq(out->graph.nodes.data[0].name, "last");
    ck_assert_uint_eq(diags.warnings, 1);
    ck_assert_str_eq(diags.list.data[0].code, "onnx-duplicate-constant");
}
END_TEST

START_TEST(test_order)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, node("A", "x", "a"));
    pb_add(&g, 1, node("D", "c b", "y"));
    pb_add(&g, 1, node("B", "a", "b"));
    pb_add(&g, 1, node("E", "x", "e"));
    pb_add(&g, 1, node("C", "b", "c"));
    struct fw_model *out = load_ok(model(g));
    ck_assert_str_eq(node_order(&out->graph), "A B C D E");
    ck_assert_uint_eq(diags.warnings, 1);
    ck_assert_str_eq(diags.list.data[0].code, "onnx-order");

    g = graph_x_to_y();
    pb_add(&g, 1, node("B", "x", "b"));
    pb_add(&g, 1, node("A", "x", "a"));
    pb_add(&g, 1, node("C", "a b", "y"));
    out = load_ok(model(g));
    ck_assert_str_eq(node_order(&out->graph), "B A C");
    ck_assert_uint_eq(diags.warnings, 1);
}
END_TEST

START_TEST(test_cycle)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, node("A", "x c", "a"));
    pb_add(&g, 1, node("B", "a", "b"));
    pb_add(&g, 1, node("C", "b", "c"));
    pb_add(&g, 1, node("D", "x", "y"));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-cycle", "'a' needs 'c' needs 'b' needs 'a'");
    g = graph_x_to_y();
    pb_add(&g, 1, node("A", "y", "y"));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-cycle", "'y' needs 'y'");
}
END_TEST

/* A node with a graph of one node, op inner: reads → z. */
static struct pb branch(const char *inner, const char *reads, const char *output)
{
    struct pb n = node("Branch", "", output), a = attribute("then_branch", 5), g = {0};
    pb_add(&g, 1, node(inner, reads, "z"));
    pb_add(&g, 12, value("z", 1, DIMS(2)));
    pb_add(&a, 6, g);
    pb_add(&n, 5, a);
    return n;
}

START_TEST(test_inner_graphs)
{
    /* two inner graphs may use one name, and read what is around them, defined later in the file */
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, branch("Neg", "late", "p"));
    pb_add(&g, 1, branch("Abs", "x", "q"));
    pb_add(&g, 1, node("Late", "x", "late"));
    pb_add(&g, 1, node("Add", "p q", "y"));
    struct fw_model *out = load_ok(model(g));
    ck_assert_str_eq(node_order(&out->graph), "Late Branch Branch Add");
    const struct fw_attr *a = fw_find_attr(&out->graph.nodes.data[1], "then_branch");
    ck_assert_int_eq(a->kind, FW_GRAPH);
    ck_assert_str_eq(a->graph->nodes.data[0].op->type, "Neg");

    /* inner values hide those around them, which the node does not need then */
    g = graph_x_to_y();
    pb_add(&g, 1, node("Add", "p z", "y"));
    pb_add(&g, 1, branch("Neg", "x", "p"));
    pb_add(&g, 1, node("Abs", "p", "z"));
    ck_assert_str_eq(node_order(&load_ok(model(g))->graph), "Branch Abs Add");

    g = graph_x_to_y();
    pb_add(&g, 1, branch("Neg", "gone", "y"));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-undefined-value", "reads 'gone'");
    g = graph_x_to_y();
    pb_add(&g, 1, branch("Neg", "y", "y"));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-cycle", "'y' needs 'y'");
    g = graph_x_to_y();
    pb_add(&g, 1, branch("Neg", "x", "y"));
    pb_add(&g, 1, node("Abs", "z", "w")); /* inner values are not seen outside */
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-undefined-value", "reads 'z'");
}
END_TEST

START_TEST(test_no_output)
{
    struct pb g = {0};
    pb_add(&g, 11, value("x", 1, DIMS(2)));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-no-output", "no outputs");
}
END_TEST

START_TEST(test_many_errors)
{
    struct pb g = graph_x_to_y();
    for (int i = 0; i < 1000; i++)
        pb_add(&g, 1, node("A", "gone", "-"));
    pb_add(&g, 1, node("A", "x", "y"));
    struct fw_model *out;
    ck_assert_int_eq(load(model(g), &out), ODLC_ERR_INVALID);
    ck_assert_uint_eq(diags.errors, 100);
    ck_assert_str_eq(diags.list.data[100].message, "900 more errors are not listed");
}
END_TEST

/* The file's order is the worst for the sort, and names are many: linear work does it in a moment. */
START_TEST(test_long_chain)
{
    enum { COUNT = 100000 };
    struct pb g = graph_x_to_y();
    for (int i = COUNT; i > 0; i--) {
        const char *from = i == 1 ? "x" : arena_printf(arena, "v%d", i - 1);
        pb_add(&g, 1, node("Relu", from, i == COUNT ? "y" : arena_printf(arena, "v%d", i)));
    }
    struct fw_model *out = load_ok(model(g));
    ck_assert_uint_eq(out->graph.nodes.count, COUNT);
    ck_assert_str_eq(out->graph.nodes.data[0].outputs[0], "v1");
    ck_assert_str_eq(out->graph.nodes.data[COUNT - 1].outputs[0], "y");
}
END_TEST

/* Names of one length, with the same first and last letter, come again in turns. */
START_TEST(test_likeness)
{
    enum { VALUES = 200 };
    struct pb g = graph_x_to_y();
    for (int i = 0; i < VALUES; i++)
        pb_add(&g, 1, node("Relu", "x", arena_printf(arena, "v%03dv", i)));
    for (int i = 0; i < VALUES; i++)
        for (int k = 0; k < 3; k++) {
            const char *reads = arena_printf(arena, "v%03dv v%03dv v%03dv", i, (i + k * 7) % VALUES, i);
            pb_add(&g, 1, node(k ? "Sum" : "Sim", reads, arena_printf(arena, "%s%d_%d", k ? "s" : "y", i, k)));
        }
    pb_add(&g, 1, node("Add", "y0_0 s0_1", "y"));
    const struct fw_graph *read = &load_ok(model(g))->graph;
    ck_assert_uint_eq(read->nodes.count, 4 * VALUES + 1);
    for (int i = 0; i < VALUES; i++)
        for (int k = 0; k < 3; k++) {
            const struct fw_node *n = &read->nodes.data[VALUES + 3 * i + k];
            ck_assert_str_eq(n->op->type, k ? "Sum" : "Sim");
            for (int j = 0; j < 3; j++) {
                const int from = j == 1 ? (i + k * 7) % VALUES : i;
                ck_assert_str_eq(n->inputs[j], arena_printf(arena, "v%03dv", from));
                ck_assert_uint_eq(fw_in_id(n, (size_t)j), fw_out_id(&read->nodes.data[from], 0));
            }
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx names");
    ADD_CASE(suite, "definitions", test_undefined, test_duplicates, test_overridden_constant, test_no_output,
             test_many_errors, test_likeness);
    ADD_CASE(suite, "order", test_order, test_cycle, test_inner_graphs, test_long_chain);
    return run_suite(suite);
}
