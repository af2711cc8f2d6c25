/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors in all the forms in which ONNX stores elements. */
#include <sys/stat.h>

#include "base/reader.h"
#include "onnx_model.h"

static struct pb with_initializer(struct pb t)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 5, t);
    pb_add(&g, 1, node("Relu", "x", "y"));
    return model(g);
}

/* The view of the one initializer, and the model's file. */
static const struct view *load_tensor(struct pb t, const struct file **file)
{
    struct pb m = with_initializer(t);
    *file = file_of(m.bytes.data, m.bytes.count);
    struct fw_model *out;
    odlc_status status = onnx_load_file(&memory, &diags, *file, NULL, &out);
    ck_assert_msg(status == ODLC_OK, "%s", diags.errors ? diags.list.data[diags.list.count - 1].message : "");
    return &out->graph.initializers.data[0].view;
}

static void check_bytes(struct pb t, enum dtype dtype, const void *bytes, size_t size)
{
    const struct file *file;
    const struct view *v = load_tensor(t, &file);
    ck_assert_int_eq(v->dtype, dtype);
    ck_assert_mem_eq(v->bytes, bytes, size);
}

/* The elements must be used where they are in the file. */
static void check_in_place(struct pb t, enum dtype dtype, const void *bytes, size_t size)
{
    const struct file *file;
    const struct view *v = load_tensor(t, &file);
    ck_assert_int_eq(v->dtype, dtype);
    ck_assert_ptr_eq(v->file, file);
    ck_assert(v->bytes >= file->data && v->bytes + size <= file->data + file->size);
    ck_assert_mem_eq(v->bytes, bytes, size);
}

START_TEST(test_in_place)
{
    const float floats[] = {1.0f, -2.5f, 1e30f, 0.0f, 7.0f, 8.0f};
    struct pb t = tensor("w", 1, DIMS(2, 3));
    pb_blob(&t, 9, floats, sizeof floats);
    check_in_place(t, DT_FLOAT32, floats, sizeof floats);
    t = tensor("w", 1, DIMS(2, 3));
    pb_blob(&t, 4, floats, sizeof floats);
    check_in_place(t, DT_FLOAT32, floats, sizeof floats);

    const double doubles[] = {1.0, -3.25};
    t = tensor("w", 11, DIMS(2));
    pb_blob(&t, 10, doubles, sizeof doubles);
    check_in_place(t, DT_FLOAT64, doubles, sizeof doubles);

    const uint8_t bytes[] = {1, 0, 255, 128};
    t = tensor("w", 2, DIMS(4));
    pb_blob(&t, 9, bytes, sizeof bytes);
    check_in_place(t, DT_UINT8, bytes, sizeof bytes);
    t = tensor("w", 10, DIMS(2));
    pb_blob(&t, 9, bytes, sizeof bytes);
    check_in_place(t, DT_FLOAT16, bytes, sizeof bytes);
    t = tensor("w", 16, DIMS(2));
    pb_blob(&t, 9, bytes, sizeof bytes);
    check_in_place(t, DT_BFLOAT16, bytes, sizeof bytes);
}
END_TEST

START_TEST(test_shape)
{
    const struct file *file;
    struct pb t = tensor("w", 1, DIMS(3, 0, 2));
    const struct view *v = load_tensor(t, &file);
    ck_assert_uint_eq(v->shape.rank, 3);
    ck_assert_int_eq(v->shape.dims[0], 3);
    ck_assert_int_eq(v->shape.dims[1], 0);
    ck_assert_int_eq(v->shape.dims[2], 2);
    t = (struct pb){0};
    pb_blob(&t, 1, "\x02\x80\x01", 3); /* packed dims: 2, 128 */
    pb_int(&t, 2, 2);
    pb_text(&t, 8, "w");
    pb_blob(&t, 9, (uint8_t[256]){7}, 256);
    v = load_tensor(t, &file);
    ck_assert_uint_eq(v->shape.rank, 2);
    ck_assert_int_eq(v->shape.dims[1], 128);
}
END_TEST

START_TEST(test_unpacked_floats)
{
    const float floats[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f};
    struct pb t = tensor("w", 1, DIMS(5));
    pb_fixed(&t, 4, &floats[0], 4);
    pb_fixed(&t, 4, &floats[1], 4);
    pb_text(&t, 12, "a text between the two runs");
    pb_fixed(&t, 4, &floats[2], 4);
    pb_blob(&t, 4, &floats[3], 8); /* and a packed rest */
    check_bytes(t, DT_FLOAT32, floats, sizeof floats);
}
END_TEST

START_TEST(test_integer_lists)
{
    struct pb t = tensor("w", 3, DIMS(3));
    pb_int(&t, 5, -128);
    pb_int(&t, 5, 127);
    pb_int(&t, 5, -1);
    check_bytes(t, DT_INT8, (int8_t[]){-128, 127, -1}, 3);

    t = tensor("w", 6, DIMS(2));
    pb_blob(&t, 5, "\xff\xff\xff\xff\x0f\x80\x01", 7); /* -1 in 32 bits, not sign-extended; 128 */
    check_bytes(t, DT_INT32, (int32_t[]){-1, 128}, 8);

    t = tensor("w", 7, DIMS(2));
    pb_int(&t, 7, INT64_MIN);
    pb_int(&t, 7, INT64_MAX);
    check_bytes(t, DT_INT64, (int64_t[]){INT64_MIN, INT64_MAX}, 16);

    t = tensor("w", 13, DIMS(1));
    pb_int(&t, 11, -1);
    check_bytes(t, DT_UINT64, (uint64_t[]){UINT64_MAX}, 8);
    t = tensor("w", 12, DIMS(1));
    pb_int(&t, 11, UINT32_MAX);
    check_bytes(t, DT_UINT32, (uint32_t[]){UINT32_MAX}, 4);
    t = tensor("w", 9, DIMS(2));
    pb_int(&t, 5, 1);
    pb_int(&t, 5, 0);
    check_bytes(t, DT_BOOL, "\1\0", 2);
    t = tensor("w", 10, DIMS(1));
    pb_int(&t, 5, 0xBC00); /* -1.0 as half */
    check_bytes(t, DT_FLOAT16, (uint16_t[]){0xBC00}, 2);
    t = tensor("w", 5, DIMS(1));
    pb_int(&t, 5, -300);
    check_bytes(t, DT_INT16, (int16_t[]){-300}, 2);
}
END_TEST

START_TEST(test_packed)
{
    /* low half first: 1, -8, 7 */
    struct pb t = tensor("w", 22, DIMS(3));
    pb_blob(&t, 9, "\x81\x07", 2);
    check_bytes(t, DT_INT4, (int8_t[]){1, -8, 7}, 3);
    t = tensor("w", 21, DIMS(4));
    pb_int(&t, 5, 0xF0);
    pb_int(&t, 5, 0x21);
    check_bytes(t, DT_UINT4, (uint8_t[]){0, 15, 1, 2}, 4);
    /* four in a byte: 0b10'01'11'00, then 0b01 */
    t = tensor("w", 26, DIMS(5));
    pb_blob(&t, 9, "\x9c\x01", 2);
    check_bytes(t, DT_INT2, (int8_t[]){0, -1, 1, -2, 1}, 5);
    t = tensor("w", 25, DIMS(5));
    pb_int(&t, 5, 0x9c);
    pb_int(&t, 5, 0x01);
    check_bytes(t, DT_UINT2, (uint8_t[]){0, 3, 1, 2, 1}, 5);
    t = tensor("w", 23, DIMS(3));
    pb_blob(&t, 9, "\x7f\x02", 2);
    check_bytes(t, DT_FLOAT4E2M1, (uint8_t[]){15, 7, 2}, 3);
    t = tensor("w", 17, DIMS(2));
    pb_blob(&t, 9, "\xfe\x38", 2);
    check_bytes(t, DT_FLOAT8E4M3FN, (uint8_t[]){0xfe, 0x38}, 2);
}
END_TEST

START_TEST(test_strings)
{
    const struct file *file;
    struct pb t = tensor("w", 8, DIMS(2));
    pb_text(&t, 6, "first");
    pb_text(&t, 6, "");
    const struct view *v = load_tensor(t, &file);
    ck_assert_int_eq(v->dtype, DT_STRING);
    ck_assert_str_eq(v->strings[0], "first");
    ck_assert_str_eq(v->strings[1], "");
    t = tensor("w", 8, DIMS(2));
    pb_text(&t, 6, "one");
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-size", "needs 2 strings");
    t = tensor("w", 8, DIMS(1));
    pb_blob(&t, 6, "a\0b", 3);
    load_fails(with_initializer(t), ODLC_ERR_UNSUPPORTED, "onnx-nul", "NUL");
    t = tensor("w", 8, DIMS(1));
    pb_blob(&t, 9, "abc", 3);
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-data", "outside string_data");
}
END_TEST

START_TEST(test_sizes)
{
    struct pb t = tensor("w", 1, DIMS(2, 2));
    pb_blob(&t, 9, "123456789012345", 15);
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-size",
               "tensor 'w' needs 16 bytes by its shape and type float, but holds 15");
    t = tensor("w", 1, DIMS(2, 2));
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-size", "needs 4 values by its shape");
    t = tensor("w", 7, DIMS(2));
    for (int i = 0; i < 3; i++)
        pb_int(&t, 7, i);
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-size",
               "tensor 'w' needs 2 values by its shape and type int64, but holds 3");
    t = tensor("w", 1, DIMS(2));
    pb_blob(&t, 4, "12345678901", 11);
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-data", "broken list");
    t = tensor("w", 7, DIMS(2));
    pb_blob(&t, 7, "\x01\x80", 2);
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-data", "broken list");
    t = tensor("w", 22, DIMS(3));
    pb_blob(&t, 9, "1", 1);
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-size", "needs 2 bytes");
    /* nothing is allocated for what a shape promises */
    t = tensor("w", 7, DIMS(1 << 30, 1 << 20));
    pb_int(&t, 7, 1);
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-size", "but holds 1");
}
END_TEST

START_TEST(test_tensor_errors)
{
    struct pb t = tensor("w", 3, DIMS(1));
    pb_int(&t, 5, 128);
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-data", "at index 0 the value 128, which is no int8");
    t = tensor("w", 1, DIMS(1));
    pb_int(&t, 7, 1);
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-data", "a field that its type float does not use");
    t = tensor("w", 1, DIMS(1));
    pb_blob(&t, 9, "1234", 4);
    pb_blob(&t, 4, "1234", 4);
    load_fails(with_initializer(t), ODLC_ERR_INVALID, "onnx-tensor-data", "twice");
    load_fails(with_initializer(tensor("w", 14, DIMS(1))), ODLC_ERR_UNSUPPORTED, "onnx-dtype", "complex64");
    load_fails(with_initializer(tensor("w", 0, DIMS(1))), ODLC_ERR_INVALID, "onnx-dtype", "unknown element type 0");
    load_fails(with_initializer(tensor("w", 1, DIMS(-1))), ODLC_ERR_INVALID, "onnx-shape", "negative dimension -1");
    load_fails(with_initializer(tensor("w", 1, DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1))), ODLC_ERR_UNSUPPORTED, "onnx-rank",
               "9 dimensions");
    load_fails(with_initializer(tensor("w", 1, DIMS(INT64_MAX, 2))), ODLC_ERR_LIMIT, "onnx-shape", "too large");
    t = tensor("w", 1, DIMS(0));
    pb_add(&t, 3, (struct pb){0});
    load_fails(with_initializer(t), ODLC_ERR_UNSUPPORTED, "onnx-segment", "segments");
}
END_TEST

START_TEST(test_all_errors_in_one_run)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 5, tensor("a", 1, DIMS(1)));
    pb_add(&g, 5, tensor("b", 17, DIMS(1)));
    pb_add(&g, 5, tensor("c", 1, DIMS(-1)));
    pb_add(&g, 1, node("Relu", "x", "y"));
    struct fw_model *out;
    ck_assert_int_eq(load(model(g), &out), ODLC_ERR_INVALID); /* the status of the first */
    ck_assert_uint_eq(diags.errors, 3);
}
END_TEST

/* A model larger than 4 GiB is read without touching its weights. */
START_TEST(test_large)
{
    const uint64_t elements = UINT64_C(5) << 28, bytes = elements * 4; /* 5 GiB, a hole in the file */
    struct pb head = tensor("w", 1, DIMS((int64_t)elements));
    pb_varint(&head, 9 << 3 | 2);
    pb_varint(&head, bytes);
    struct pb rest = {0}, m = {0};
    pb_add(&rest, 1, node("Relu", "x", "y"));
    pb_add(&rest, 11, value("x", 1, DIMS(2)));
    pb_add(&rest, 12, value("y", 1, DIMS(2)));
    pb_int(&m, 1, 8);
    import_opset(&m, 8, "", 13);
    pb_varint(&m, 7 << 3 | 2);
    struct pb tensor_head = {0};
    pb_varint(&tensor_head, 5 << 3 | 2);
    pb_varint(&tensor_head, head.bytes.count + bytes);
    pb_varint(&m, tensor_head.bytes.count + head.bytes.count + bytes + rest.bytes.count);
    text_add_bytes(arena, &m.bytes, tensor_head.bytes.data, tensor_head.bytes.count);
    text_add_bytes(arena, &m.bytes, head.bytes.data, head.bytes.count);

    int fd = memfd_create("large", MFD_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, m.bytes.data, m.bytes.count, 0), (ssize_t)m.bytes.count);
    ck_assert_int_eq(pwrite(fd, rest.bytes.data, rest.bytes.count, (off_t)(m.bytes.count + bytes)),
                     (ssize_t)rest.bytes.count);
    struct file *file;
    struct fw_model *out;
    ck_assert_int_eq(file_map_fd(arena, &diags, "large.onnx", fd, &file), ODLC_OK);
    ck_assert_int_eq(onnx_load_file(&memory, &diags, file, NULL, &out), ODLC_OK);
    const struct view *v = &out->graph.initializers.data[0].view;
    ck_assert_int_eq(v->shape.dims[0], (int64_t)elements);
    ck_assert_ptr_eq(v->bytes, file->data + m.bytes.count);
    struct stat st;
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_lt(st.st_blocks, 64); /* a page of a hole that is read is filled */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx tensors");
    ADD_CASE(suite, "forms", test_in_place, test_shape, test_unpacked_floats, test_integer_lists, test_packed,
             test_strings);
    ADD_CASE(suite, "errors", test_sizes, test_tensor_errors, test_all_errors_in_one_run);
    ADD_CASE(suite, "large", test_large);
    return run_suite(suite);
}
