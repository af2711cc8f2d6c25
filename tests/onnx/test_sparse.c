/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse tensors, as initializers and as attributes: all their elements, and what cannot be right. */
#include "onnx_model.h"

/* Values of a type with raw bytes, and indices of the given shape. */
static struct pb sparse(int64_t type, size_t count, const void *bytes, size_t size, size_t index_rank,
                        const int64_t *index_dims, const int64_t *indices)
{
    const int64_t list = (int64_t)count;
    uint64_t n = 1;
    struct pb s = {0}, values = tensor("w", type, 1, &list), places = tensor("", 7, index_rank, index_dims);
    for (size_t i = 0; i < index_rank; i++)
        n *= (uint64_t)index_dims[i];
    pb_blob(&values, 9, bytes, size);
    pb_blob(&places, 9, indices, n * sizeof *indices);
    pb_add(&s, 1, values);
    pb_add(&s, 2, places);
    return s;
}

static void add_dims(struct pb *s, size_t rank, const int64_t *dims)
{
    for (size_t i = 0; i < rank; i++)
        pb_int(s, 3, dims[i]);
}

static struct pb with_sparse(struct pb s)
{
    struct pb g = graph_x_to_y();
    pb_add(&g, 15, s);
    pb_add(&g, 1, node("Relu", "x", "y"));
    return model(g);
}

static const float two[] = {1.5f, -2.5f};

START_TEST(test_linear_indices)
{
    const float expected[] = {0, 1.5f, 0, 0, 0, -2.5f};
    struct pb s = sparse(1, 2, two, sizeof two, DIMS(2), (const int64_t[]){1, 5});
    add_dims(&s, DIMS(2, 3));
    const struct fw_model *m = load_ok(with_sparse(s));
    const struct fw_tensor *t = &m->graph.initializers.data[0];
    const struct shape shape = SHAPE(2, 3);
    ck_assert_str_eq(t->name, "w");
    ck_assert_int_eq(t->view.dtype, DT_FLOAT32);
    ck_assert(shape_equal(&t->view.shape, &shape));
    ck_assert_mem_eq(t->view.bytes, expected, sizeof expected);
}
END_TEST

START_TEST(test_indices_by_axis)
{
    const int8_t values[] = {7, -8, 9}, expected[] = {0, 7, 0, 0, -8, 9};
    struct pb a = attribute("a", 11),
              s = sparse(3, 3, values, sizeof values, DIMS(3, 3), (const int64_t[]){0, 0, 1, 1, 0, 1, 1, 0, 2});
    add_dims(&s, DIMS(2, 1, 3));
    pb_add(&a, 22, s);
    struct pb g = graph_x_to_y(), n = node("Op", "x", "y");
    pb_add(&n, 5, a);
    pb_add(&g, 1, n);
    const struct fw_attr *got = fw_find_attr(&load_ok(model(g))->graph.nodes.data[0], "a");
    ck_assert_int_eq(got->kind, FW_SPARSE);
    ck_assert_int_eq(got->tensor->view.dtype, DT_INT8);
    ck_assert_uint_eq(got->tensor->view.shape.rank, 3);
    ck_assert_mem_eq(got->tensor->view.bytes, expected, sizeof expected);
}
END_TEST

START_TEST(test_strings_and_no_values)
{
    struct pb s = {0}, values = tensor("w", 8, DIMS(1)), places = tensor("", 7, DIMS(1));
    pb_text(&values, 6, "word");
    pb_int(&places, 7, 2);
    pb_add(&s, 1, values);
    pb_add(&s, 2, places);
    add_dims(&s, DIMS(3));
    const struct fw_model *m = load_ok(with_sparse(s));
    const char *const *strings = m->graph.initializers.data[0].view.strings;
    ck_assert_str_eq(strings[0], "");
    ck_assert_str_eq(strings[2], "word");

    const double zeros[] = {0, 0};
    s = sparse(11, 0, "", 0, DIMS(0), (const int64_t[]){0});
    add_dims(&s, DIMS(2));
    m = load_ok(with_sparse(s));
    ck_assert_mem_eq(m->graph.initializers.data[0].view.bytes, zeros, sizeof zeros);
}
END_TEST

static void fails(const int64_t *indices, size_t index_rank, const int64_t *index_dims, const char *part)
{
    struct pb s = sparse(1, 2, two, sizeof two, index_rank, index_dims, indices);
    add_dims(&s, DIMS(2, 3));
    load_fails(with_sparse(s), ODLC_ERR_INVALID, "onnx-sparse", part);
}

START_TEST(test_errors)
{
    fails((const int64_t[]){1, 6}, DIMS(2), "index outside of its shape");
    fails((const int64_t[]){-1, 5}, DIMS(2), "index outside of its shape");
    fails((const int64_t[]){0, 0, 1, 3}, DIMS(2, 2), "index outside of its shape");
    fails((const int64_t[]){0, 0, -1, 2}, DIMS(2, 2), "index outside of its shape");
    fails((const int64_t[]){5, 1}, DIMS(2), "do not ascend");
    fails((const int64_t[]){5, 5}, DIMS(2), "do not ascend");
    fails((const int64_t[]){0, 1, 2}, DIMS(3), "another type or shape");
    fails((const int64_t[]){0, 1}, DIMS(2, 1), "another type or shape");
    struct pb s = sparse(1, 2, two, sizeof two, DIMS(2), (const int64_t[]){1, 5});
    add_dims(&s, DIMS(-2, 3));
    load_fails(with_sparse(s), ODLC_ERR_INVALID, "onnx-sparse", "negative dimension");
    load_fails(with_sparse((struct pb){0}), ODLC_ERR_INVALID, "onnx-sparse", "lacks its values");
}
END_TEST

/* A few bytes must not ask for gigabytes. */
START_TEST(test_limit)
{
    struct pb s = sparse(1, 2, two, sizeof two, DIMS(2), (const int64_t[]){1, 5});
    add_dims(&s, DIMS(1 << 20, 65));
    load_fails(with_sparse(s), ODLC_ERR_LIMIT, "onnx-sparse", "more than 256 MiB");
    s = sparse(1, 2, two, sizeof two, DIMS(2), (const int64_t[]){1, 5});
    add_dims(&s, DIMS(INT64_MAX, INT64_MAX));
    load_fails(with_sparse(s), ODLC_ERR_LIMIT, "onnx-sparse", "more than 256 MiB");
    s = sparse(1, 2, two, sizeof two, DIMS(2), (const int64_t[]){1, 5});
    add_dims(&s, DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
    load_fails(with_sparse(s), ODLC_ERR_UNSUPPORTED, "onnx-rank", "16 dimensions");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx sparse");
    ADD_CASE(suite, "elements", test_linear_indices, test_indices_by_axis, test_strings_and_no_values);
    ADD_CASE(suite, "errors", test_errors, test_limit);
    return run_suite(suite);
}
