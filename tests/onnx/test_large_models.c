/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of many nodes: what they take, and what is left when they go. */
#include "onnx_model.h"

/* Deep enough for any recursion along the graph to run out of stack. */
#define DEEP 100000

static void add_unary(struct pb *g, int from, int to)
{
    char in[16], out[16];
    snprintf(in, sizeof in, "v%d", from);
    snprintf(out, sizeof out, "v%d", to);
    pb_add(g, 1, node("Relu", in, out));
}

static struct pb chain_ends(int last)
{
    struct pb g = {0};
    char out[16];
    snprintf(out, sizeof out, "v%d", last);
    pb_add(&g, 11, value("v0", 1, DIMS(2)));
    pb_add(&g, 12, value(out, 1, DIMS(2)));
    return g;
}

START_TEST(test_chain)
{
    struct pb g = chain_ends(DEEP);
    for (int i = 0; i < DEEP; i++)
        add_unary(&g, i, i + 1);
    const struct fw_model *m = load_ok(model(g));
    ck_assert_uint_eq(diags.list.count, 0);
    ck_assert_uint_eq(m->graph.nodes.count, DEEP);
    ck_assert_uint_eq(m->ops.count, 1);
    for (size_t i = 1; i < DEEP; i++) { /* one text, one number, one operator */
        const struct fw_node *before = &m->graph.nodes.data[i - 1], *n = &m->graph.nodes.data[i];
        ck_assert_ptr_eq(n->inputs[0], before->outputs[0]);
        ck_assert_uint_eq(fw_in_id(n, 0), fw_out_id(before, 0));
        ck_assert_uint_lt(fw_out_id(n, 0), m->n_names);
        ck_assert_ptr_eq(n->op, before->op);
    }
    ck_assert_str_eq(m->graph.nodes.data[DEEP - 1].outputs[0], "v100000");
}
END_TEST

START_TEST(test_reverse_order)
{
    struct pb g = chain_ends(DEEP);
    for (int i = DEEP; i-- > 0;)
        add_unary(&g, i, i + 1);
    const struct fw_model *m = load_ok(model(g));
    ck_assert_uint_eq(diags.list.count, 1);
    ck_assert_str_eq(diags.list.data[0].code, "onnx-order");
    ck_assert_str_eq(m->graph.nodes.data[0].inputs[0], "v0");
    for (size_t i = 1; i < DEEP; i++)
        ck_assert_uint_eq(fw_in_id(&m->graph.nodes.data[i], 0), fw_out_id(&m->graph.nodes.data[i - 1], 0));
}
END_TEST

/* Nothing that there is one of for each node, value or attribute may grow unnoticed. */
START_TEST(test_sizes)
{
    ck_assert_uint_le(sizeof(struct fw_node), 64);
    ck_assert_uint_le(sizeof(struct fw_attr), 40);
    ck_assert_uint_le(sizeof(struct fw_value), 32);
}
END_TEST

/* Fields of one kind most often lie side by side, but need not. */
START_TEST(test_scattered_fields)
{
    struct pb g = {0}, w = tensor("w", 1, DIMS(1)), u = tensor("u", 1, DIMS(1));
    pb_fixed(&w, 4, &(float){1}, 4);
    pb_fixed(&u, 4, &(float){2}, 4);
    pb_add(&g, 5, w);
    pb_add(&g, 12, value("y", 1, DIMS(1)));
    pb_add(&g, 1, node("Add", "x w", "h"));
    pb_add(&g, 11, value("x", 1, DIMS(1)));
    pb_add(&g, 13, value("h", 1, DIMS(1)));
    pb_add(&g, 5, u);
    pb_add(&g, 1, node("Mul", "h u", "y"));
    pb_text(&g, 2, "late");
    pb_add(&g, 13, value("k", 1, DIMS(1)));
    const struct fw_graph *got = &load_ok(model(g))->graph;
    ck_assert_str_eq(got->name, "late");
    ck_assert_uint_eq(got->nodes.count, 2);
    ck_assert_str_eq(got->nodes.data[1].op->type, "Mul");
    ck_assert_uint_eq(got->initializers.count, 2);
    ck_assert_str_eq(got->initializers.data[1].name, "u");
    ck_assert_uint_eq(got->values.count, 2);
    ck_assert_str_eq(got->values.data[1].name, "k");
    ck_assert_uint_eq(got->inputs.count, 1);
    ck_assert_uint_eq(got->outputs.count, 1);
}
END_TEST

/* Names, texts and elements are used after the graph that they came in. */
START_TEST(test_what_is_kept)
{
    struct pb g = graph_x_to_y(), n = node("Op", "x", "y"), s = attribute("s", 3), many = attribute("many", 8);
    struct pb t = attribute("t", 4), w = tensor("", 7, DIMS(2)), f = attribute("f", 6), i = attribute("i", 7);
    pb_text(&n, 3, "the node");
    pb_text(&s, 4, "text");
    pb_text(&many, 9, "one");
    pb_text(&many, 9, "two");
    pb_int(&w, 7, 5);
    pb_int(&w, 7, -6);
    pb_add(&t, 5, w);
    pb_fixed(&f, 7, &(float){1.5f}, 4);
    pb_int(&i, 8, 9);
    pb_add(&n, 5, s);
    pb_add(&n, 5, many);
    pb_add(&n, 5, t);
    pb_add(&n, 5, f);
    pb_add(&n, 5, i);
    pb_add(&g, 1, n);
    const struct fw_node *got = &load_ok(model(g))->graph.nodes.data[0];
    const char *name = got->name, *in = got->inputs[0], *type = got->op->type, *attr = got->attrs[0].name;
    const char *text = got->attrs[0].s, *const *strings = got->attrs[1].strings;
    const int64_t *elements = (const int64_t *)(const void *)got->attrs[2].tensor->view.bytes;
    const float *floats = got->attrs[3].floats;
    const int64_t *ints = got->attrs[4].ints;
    arena_destroy(memory.graph);
    memory.graph = arena_create();
    ck_assert_str_eq(name, "the node");
    ck_assert_str_eq(in, "x");
    ck_assert_str_eq(type, "Op");
    ck_assert_str_eq(attr, "s");
    ck_assert_str_eq(text, "text");
    ck_assert_str_eq(strings[1], "two");
    ck_assert_int_eq(elements[0], 5);
    ck_assert_int_eq(elements[1], -6);
    ck_assert(floats[0] == 1.5f);
    ck_assert_int_eq(ints[0], 9);
}
END_TEST

/* An empty packed list is no value. */
START_TEST(test_empty_lists)
{
    struct pb g = graph_x_to_y(), n = node("Op", "x", "y"), a = attribute("a", 2);
    pb_int(&a, 3, 4);
    pb_blob(&a, 8, "", 0);
    pb_blob(&a, 7, "", 0);
    pb_add(&n, 5, a);
    pb_add(&g, 1, n);
    const struct fw_attr *got = &load_ok(model(g))->graph.nodes.data[0].attrs[0];
    ck_assert_int_eq(got->kind, FW_INT);
    ck_assert_int_eq(got->i, 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx large models");
    ADD_CASE(suite, "nodes", test_chain, test_reverse_order, test_sizes);
    ADD_CASE(suite, "memory", test_what_is_kept);
    ADD_CASE(suite, "fields", test_scattered_fields, test_empty_lists);
    return run_suite(suite);
}
