/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are no model, or a damaged one. */
#include "onnx_model.h"

static struct pb small_model(void)
{
    struct pb g = graph_x_to_y();
    struct pb w = tensor("w", 1, DIMS(2));
    pb_blob(&w, 9, "12345678", 8);
    pb_add(&g, 5, w);
    struct pb v = tensor("v", 7, DIMS(2));
    pb_blob(&v, 7, "\x01\x02", 2);
    pb_add(&g, 5, v);
    struct pb n = node("Op", "x w v", "y"), ints = attribute("ints", 7), branch = attribute("branch", 5);
    pb_blob(&ints, 8, "\x01\x02\x03", 3);
    pb_add(&n, 5, ints);
    struct pb inner = {0};
    pb_add(&inner, 1, node("Neg", "x", "z"));
    pb_add(&inner, 12, value("z", 1, DIMS(2)));
    pb_add(&branch, 6, inner);
    pb_add(&n, 5, branch);
    pb_add(&g, 1, n);
    return model(g);
}

static struct pb bytes_of(const char *bytes, size_t size)
{
    struct pb p = {0};
    text_add_bytes(arena, &p.bytes, bytes, size);
    return p;
}

START_TEST(test_not_a_model)
{
    load_fails(bytes_of("", 0), ODLC_ERR_INVALID, "onnx-empty", "the file is empty");
    const struct odlc_diag *d =
        load_fails(bytes_of("hello, world", 12), ODLC_ERR_INVALID, "model-wire", "not an ONNX model: ");
    ck_assert_int_eq(d->has_offset, 1);
    ck_assert_uint_eq(d->offset, 2); /* "he" could still be a field */
    ck_assert_ptr_nonnull(d->hint);
    load_fails(bytes_of("\x89PNG\r\n\x1a\n", 8), ODLC_ERR_INVALID, "model-wire", "not an ONNX model: ");
    load_fails(bytes_of("\x08\x08", 2), ODLC_ERR_INVALID, "onnx-no-graph", "it holds no graph");
    struct fw_model *out;
    ck_assert_int_eq(onnx_load(&memory, &diags, &(struct fw_load_options){.input = "/nonexistent/model.onnx"}, &out),
                     ODLC_ERR_IO);
    ck_assert_int_eq(onnx_load(&memory, &diags, &(struct fw_load_options){.input = "/"}, &out), ODLC_ERR_IO);
}
END_TEST

START_TEST(test_broken_fields)
{
    load_fails(bytes_of("\x00\x01", 2), ODLC_ERR_INVALID, "model-wire", "no valid tag");
    load_fails(bytes_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), ODLC_ERR_INVALID, "model-wire",
               "no valid tag");
    load_fails(bytes_of("\x0b", 1), ODLC_ERR_INVALID, "model-wire", "unknown wire type");
    load_fails(bytes_of("\x08", 1), ODLC_ERR_INVALID, "model-wire", "past the end");
    load_fails(bytes_of("\x3a\x05\x0a", 3), ODLC_ERR_INVALID, "model-wire", "past the end");
    load_fails(bytes_of("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), ODLC_ERR_INVALID, "model-wire",
               "past the end");
    load_fails(bytes_of("\x38\x01", 2), ODLC_ERR_INVALID, "model-wire", "its meaning does not allow in graph");
    load_fails(bytes_of("\x08\x08\x08\x08", 4), ODLC_ERR_INVALID, "model-wire", "occurs again in ir_version");
    const struct odlc_diag *d = load_fails(bytes_of("\x3a\x04\x0a\x02\x1a\x05", 6), ODLC_ERR_INVALID, "model-wire",
                                           "a field runs past the end of its message in graph.node.");
    ck_assert_uint_eq(d->offset, 4);
}
END_TEST

START_TEST(test_nul_in_names)
{
    struct pb g = graph_x_to_y(), n = node("Relu", "x", "y");
    pb_blob(&n, 3, "a\0b", 3);
    pb_add(&g, 1, n);
    load_fails(model(g), ODLC_ERR_INVALID, "model-wire", "a text holds a NUL byte in graph.node.name");
}
END_TEST

/* Only OpenDLC itself writes payload entries: one in a file must not make it read elsewhere. */
START_TEST(test_forged_payload)
{
    struct pb run = {0}, t = tensor("w", 1, DIMS(2)), g = graph_x_to_y();
    pb_int(&run, 1, 9);
    pb_int(&run, 2, 1 << 30);
    pb_int(&run, 3, 8);
    pb_int(&run, 4, 1);
    pb_add(&t, 20000, run);
    pb_add(&g, 5, t);
    pb_add(&g, 1, node("Relu", "x", "y"));
    load_fails(model(g), ODLC_ERR_INVALID, "onnx-tensor-size", "holds 0");
}
END_TEST

START_TEST(test_depth)
{
    struct pb g = {0};
    for (int i = 0; i < 40; i++) {
        struct pb a = attribute("g", 5), n = node("If", "", "y"), outer = {0};
        pb_add(&a, 6, g);
        pb_add(&n, 5, a);
        pb_add(&outer, 1, n);
        g = outer;
    }
    load_fails(model(g), ODLC_ERR_LIMIT, "model-depth", "deeper than 100 levels");
}
END_TEST

static void load_anything(const char *bytes, size_t size)
{
    struct arena_mark mark = arena_mark(arena);
    struct diags kept = diags;
    struct fw_model *out;
    odlc_status status = load(bytes_of(bytes, size), &out);
    ck_assert(status != ODLC_ERR_INTERNAL);
    ck_assert(status == ODLC_OK || diags.errors > kept.errors);
    diags = kept;
    arena_rewind(arena, mark);
}

START_TEST(test_truncated_anywhere)
{
    struct pb m = small_model();
    load_ok(m);
    for (size_t size = 0; size < m.bytes.count; size++)
        load_anything(m.bytes.data, size);
}
END_TEST

START_TEST(test_any_byte_changed)
{
    struct pb m = small_model();
    char *bytes = arena_memdup(arena, m.bytes.data, m.bytes.count);
    for (size_t at = 0; at < m.bytes.count; at++) {
        for (unsigned change = 1; change < 256; change += 5) {
            bytes[at] = (char)(m.bytes.data[at] ^ change);
            load_anything(bytes, m.bytes.count);
        }
        bytes[at] = m.bytes.data[at];
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx wire");
    ADD_CASE(suite, "refused", test_not_a_model, test_broken_fields, test_nul_in_names, test_forged_payload,
             test_depth);
    ADD_CASE(suite, "damaged", test_truncated_anywhere, test_any_byte_changed);
    return run_suite(suite);
}
