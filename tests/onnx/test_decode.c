/* SPDX-License-Identifier: Apache-2.0 */
/* Models, graphs, nodes, attributes and declared types. */
#include "base/reader.h"
#include "onnx_model.h"

START_TEST(test_model)
{
    struct pb g = graph_x_to_y();
    struct pb w = tensor("w", 1, DIMS(2));
    pb_fixed(&w, 4, &(float){0.5f}, 4);
    pb_fixed(&w, 4, &(float){-2.0f}, 4);
    pb_add(&g, 5, w);
    pb_add(&g, 11, value("w", 1, DIMS(2))); /* an input with a default: not an input */
    struct pb add = node("Add", "x w", "h");
    pb_text(&add, 3, "first");
    pb_text(&add, 7, "ai.onnx");
    pb_add(&g, 1, add);
    struct pb custom = node("Quant", "h - x", "y");
    pb_text(&custom, 7, "com.example");
    pb_add(&g, 1, custom);
    pb_add(&g, 13, value("h", 1, DIMS(2)));
    struct pb m = model(g);
    import_opset(&m, 8, "com.example", 3);

    struct fw_model *out = load_ok(m);
    ck_assert_uint_eq(diags.list.count, 0);
    ck_assert_int_eq(out->ir_version, 8);
    ck_assert_int_eq(out->opset, 13);
    ck_assert_str_eq(out->path, "model.onnx");
    ck_assert_str_eq(out->graph.name, "g");
    ck_assert_uint_eq(out->graph.inputs.count, 1);
    ck_assert_str_eq(out->graph.inputs.data[0].name, "x");
    ck_assert_uint_eq(out->graph.outputs.count, 1);
    ck_assert_uint_eq(out->graph.values.count, 1);
    ck_assert_uint_eq(out->graph.initializers.count, 1);
    ck_assert_str_eq(out->graph.initializers.data[0].name, "w");
    ck_assert_uint_eq(out->graph.nodes.count, 2);

    const struct fw_node *n = &out->graph.nodes.data[0];
    ck_assert_str_eq(n->name, "first");
    ck_assert_str_eq(n->op->type, "Add");
    ck_assert_str_eq(n->op->domain, "");
    ck_assert_int_eq(n->op->version, 13);
    ck_assert_str_eq(fw_node_label(n), "first");
    n = &out->graph.nodes.data[1];
    ck_assert_str_eq(n->op->domain, "com.example");
    ck_assert_int_eq(n->op->version, 3);
    ck_assert_uint_eq(n->n_inputs, 3);
    ck_assert_str_eq(n->inputs[1], "");
    ck_assert_str_eq(fw_node_label(n), "y");
    ck_assert_str_eq(out->graph.values.data[0].name, "h");
    for (size_t i = 0; i < out->graph.values.count; i++)
        ck_assert_str_ne(out->graph.values.data[i].name, "w");
}
END_TEST

/* ---- attributes ---- */

static struct pb with_attribute(struct pb a)
{
    struct pb g = graph_x_to_y(), n = node("Op", "x", "y");
    pb_add(&n, 5, a);
    pb_add(&g, 1, n);
    return model(g);
}

static const struct fw_attr *load_attribute(struct pb a)
{
    struct fw_model *m = load_ok(with_attribute(a));
    return fw_find_attr(&m->graph.nodes.data[0], "a");
}

START_TEST(test_attribute_kinds)
{
    struct pb a = attribute("a", 1);
    pb_fixed(&a, 2, &(float){0.25f}, 4);
    const struct fw_attr *got = load_attribute(a);
    ck_assert_int_eq(got->kind, FW_FLOAT);
    ck_assert(got->f == 0.25f);

    a = attribute("a", 2);
    pb_int(&a, 3, -7);
    got = load_attribute(a);
    ck_assert_int_eq(got->kind, FW_INT);
    ck_assert_int_eq(got->i, -7);

    a = attribute("a", 3);
    pb_blob(&a, 4, "s\0t", 3);
    got = load_attribute(a);
    ck_assert_int_eq(got->kind, FW_STRING);
    ck_assert_uint_eq(got->count, 3);
    ck_assert_mem_eq(got->s, "s\0t", 4);

    a = attribute("a", 4);
    struct pb t = tensor("", 7, 0, NULL);
    pb_int(&t, 7, 42);
    pb_add(&a, 5, t);
    got = load_attribute(a);
    ck_assert_int_eq(got->kind, FW_TENSOR);
    ck_assert_int_eq(got->tensor->view.dtype, DT_INT64);
    ck_assert_uint_eq(got->tensor->view.shape.rank, 0);
    ck_assert_int_eq((int64_t)load_le(got->tensor->view.bytes, 8), 42);
}
END_TEST

START_TEST(test_attribute_lists)
{
    struct pb a = attribute("a", 7);
    pb_int(&a, 8, 3); /* one by one, as writers of the specification's version do */
    pb_int(&a, 8, -1);
    const struct fw_attr *got = load_attribute(a);
    ck_assert_int_eq(got->kind, FW_INTS);
    ck_assert_uint_eq(got->count, 2);
    ck_assert_int_eq(got->ints[0], 3);
    ck_assert_int_eq(got->ints[1], -1);

    a = attribute("a", 7);
    pb_blob(&a, 8, "\x03\x80\x01", 3); /* packed: 3, 128 */
    got = load_attribute(a);
    ck_assert_uint_eq(got->count, 2);
    ck_assert_int_eq(got->ints[1], 128);

    a = attribute("a", 6);
    pb_fixed(&a, 7, &(float){1.5f}, 4);
    got = load_attribute(a);
    ck_assert_int_eq(got->kind, FW_FLOATS);
    ck_assert_uint_eq(got->count, 1);
    ck_assert(got->floats[0] == 1.5f);

    a = attribute("a", 8);
    pb_text(&a, 9, "one");
    pb_text(&a, 9, "");
    got = load_attribute(a);
    ck_assert_int_eq(got->kind, FW_STRINGS);
    ck_assert_uint_eq(got->count, 2);
    ck_assert_str_eq(got->strings[0], "one");
    ck_assert_str_eq(got->strings[1], "");
}
END_TEST

START_TEST(test_attribute_defaults)
{
    /* zero values and empty lists are not written */
    ck_assert_int_eq(load_attribute(attribute("a", 2))->kind, FW_INT);
    ck_assert_int_eq(load_attribute(attribute("a", 2))->i, 0);
    ck_assert_int_eq(load_attribute(attribute("a", 7))->kind, FW_INTS);
    ck_assert_uint_eq(load_attribute(attribute("a", 7))->count, 0);
    ck_assert_str_eq(load_attribute(attribute("a", 3))->s, "");
    /* old files have no type */
    struct pb a = {0};
    pb_text(&a, 1, "a");
    pb_int(&a, 3, 5);
    ck_assert_int_eq(load_attribute(a)->kind, FW_INT);
    /* kinds without a use here */
    a = attribute("a", 13);
    pb_add(&a, 14, (struct pb){0});
    ck_assert_int_eq(load_attribute(a)->kind, FW_OTHER);
}
END_TEST

START_TEST(test_attribute_errors)
{
    struct pb a = attribute("a", 1);
    pb_int(&a, 3, 5);
    const struct odlc_diag *d =
        load_fails(with_attribute(a), ODLC_ERR_INVALID, "onnx-attribute", "a value of another type than it says");
    ck_assert_str_eq(d->node, "y");
    ck_assert_str_eq(d->attribute, "a");
    a = (struct pb){0};
    pb_text(&a, 1, "a");
    load_fails(with_attribute(a), ODLC_ERR_INVALID, "onnx-attribute", "no value");
    load_fails(with_attribute(attribute("a", 4)), ODLC_ERR_INVALID, "onnx-attribute", "no value");
    load_fails(with_attribute(attribute("a", 15)), ODLC_ERR_INVALID, "onnx-attribute", "the unknown type 15");
    a = attribute("", 2);
    load_fails(with_attribute(a), ODLC_ERR_INVALID, "onnx-attribute", "no name");
    a = attribute("a", 2);
    pb_text(&a, 21, "outer");
    load_fails(with_attribute(a), ODLC_ERR_INVALID, "onnx-attribute", "the node is in none");
    a = attribute("a", 8);
    pb_blob(&a, 9, "\0", 1);
    load_fails(with_attribute(a), ODLC_ERR_UNSUPPORTED, "onnx-nul", "NUL");

    struct pb g = graph_x_to_y(), n = node("Op", "x", "y");
    pb_add(&n, 5, attribute("a", 2));
    pb_add(&n, 5, attribute("a", 2));
    pb_add(&g, 1, n);
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-attribute", "twice");
}
END_TEST

/* ---- declared types ---- */

START_TEST(test_values)
{
    struct pb g = {0}, open = {0}, named = {0}, shape = {0}, type = {0}, any = {0}, v = {0}, sequence = {0};
    pb_text(&named, 2, "batch");
    pb_add(&shape, 1, named);
    pb_add(&shape, 1, open);
    struct pb minus = {0}, zero = {0};
    pb_int(&minus, 1, -1);
    pb_add(&shape, 1, minus);
    pb_int(&zero, 1, 0);
    pb_add(&shape, 1, zero);
    pb_int(&type, 1, 10);
    pb_add(&type, 2, shape);
    pb_add(&any, 1, type);
    pb_text(&v, 1, "x");
    pb_add(&v, 2, any);
    pb_add(&g, 11, v);
    struct pb untyped = {0}, list = {0};
    pb_text(&untyped, 1, "y");
    pb_add(&g, 12, untyped);
    pb_text(&list, 1, "z");
    pb_add(&sequence, 4, (struct pb){0});
    pb_add(&list, 2, sequence);
    pb_add(&g, 12, list);
    pb_add(&g, 1, node("Op", "x", "y z"));

    const struct fw_graph *got = &load_ok(model(g))->graph;
    const struct fw_value *x = &got->inputs.data[0];
    ck_assert_int_eq(x->dtype, DT_FLOAT16);
    ck_assert(x->has_shape);
    ck_assert_uint_eq(x->rank, 4);
    ck_assert_int_eq(x->dims[0], DIM_OPEN);
    ck_assert_str_eq(x->symbols[0], "batch");
    ck_assert_int_eq(x->dims[1], DIM_OPEN);
    ck_assert_ptr_null(x->symbols[1]);
    ck_assert_int_eq(x->dims[2], DIM_OPEN);
    ck_assert_int_eq(x->dims[3], 0);
    ck_assert_int_eq(got->outputs.data[0].dtype, DT_NONE);
    ck_assert(!got->outputs.data[0].has_shape);
    ck_assert(!got->outputs.data[0].not_a_tensor);
    ck_assert(got->outputs.data[1].not_a_tensor);
}
END_TEST

static struct pb with_value(struct pb v)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, node("Op", "x", "y"));
    pb_add(&g, 13, v);
    return model(g);
}

START_TEST(test_value_errors)
{
    load_fails(with_value(value("v", 1, DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1))), ODLC_ERR_UNSUPPORTED, "onnx-rank",
               "value 'v' has 9 dimensions");
    load_fails(with_value(value("v", 1, DIMS(-2))), ODLC_ERR_INVALID, "onnx-shape", "negative dimension -2");
    load_fails(with_value(value("v", 14, DIMS(1))), ODLC_ERR_UNSUPPORTED, "onnx-dtype", "complex64");
    load_fails(with_value(value("v", 99, DIMS(1))), ODLC_ERR_INVALID, "onnx-dtype", "unknown element type 99");
}
END_TEST

/* ---- versions ---- */

static struct pb with_versions(int64_t ir, int64_t opset)
{
    struct pb g = graph_x_to_y(), m = {0};
    pb_add(&g, 1, node("Relu", "x", "y"));
    pb_int(&m, 1, ir);
    pb_add(&m, 7, g);
    if (opset)
        import_opset(&m, 8, "", opset);
    return m;
}

START_TEST(test_versions)
{
    load_ok(with_versions(3, 1));
    ck_assert_int_eq(load_ok(with_versions(1, 0))->opset, 1); /* before IR version 3 there is one opset */
    ck_assert_int_eq(load_ok(with_versions(2, 13))->opset, 13);
    load_ok(with_versions(13, 28));
    ck_assert_uint_eq(diags.list.count, 0);
    load_fails(with_versions(0, 13), ODLC_ERR_UNSUPPORTED, "onnx-ir-version", "IR version 0");
    const struct odlc_diag *d = load_fails(with_versions(3, 0), ODLC_ERR_INVALID, "onnx-opset", "default domain");
    ck_assert_str_eq(d->node, "y");
    ck_assert_ptr_nonnull(d->hint);
    ck_assert_uint_eq(diags.warnings, 0);
    load_ok(with_versions(14, 28));
    ck_assert_uint_eq(diags.warnings, 1);
    load_ok(with_versions(13, 29));
    ck_assert_uint_eq(diags.warnings, 2);
}
END_TEST

START_TEST(test_imports)
{
    struct pb m = with_versions(8, 13);
    import_opset(&m, 8, "ai.onnx", 13); /* the same domain by its other name */
    load_ok(m);
    import_opset(&m, 8, "ai.onnx", 14);
    load_fails(m, ODLC_ERR_INVALID, "onnx-opset", "the versions 13 and 14");
    m = with_versions(8, 13);
    import_opset(&m, 8, "x", 0);
    load_fails(m, ODLC_ERR_INVALID, "onnx-opset", "domain 'x' has version 0");
}
END_TEST

START_TEST(test_annotations)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 1, node("Relu", "x", "y"));
    pb_add(&g, 14, (struct pb){0});
    load_ok(model(g));
    ck_assert_uint_eq(diags.warnings, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx decode");
    ADD_CASE(suite, "model", test_model, test_versions, test_imports, test_annotations);
    ADD_CASE(suite, "attributes", test_attribute_kinds, test_attribute_lists, test_attribute_defaults,
             test_attribute_errors);
    ADD_CASE(suite, "values", test_values, test_value_errors);
    return run_suite(suite);
}
