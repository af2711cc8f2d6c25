/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that move elements between tensors of different encodings and types. Expected integers are worked out by hand
 * from real = (q - zero) * scale. */
#include "build/fold.h"
#include "ir/quant.h"
#include "node_fixture.h"

/* a: 10 is 0, a step is 1/2.  b: 3 is 0, a step is 1/4.  c: 0 is 0, a step is 1. */
static const struct quant *a, *b, *c;
static struct fixture *f;

static const struct quant *encoding(enum dtype dtype, double scale, double zero)
{
    const struct quant *quant = quant_create(f->arena, dtype, &scale, &zero, 1, false, 0);
    ck_assert_ptr_nonnull(quant);
    return quant;
}

/* Two scales along an axis, zero is 0. */
static const struct quant *two_scales(uint32_t axis, double first, double second)
{
    const double scales[] = {first, second};
    return quant_create(f->arena, DT_UFXP8, scales, NULL, 2, true, axis);
}

static void setup(void)
{
    f = fixture_start(1);
    a = encoding(DT_UFXP8, 0.5, 10);
    b = encoding(DT_UFXP8, 0.25, 3);
    c = encoding(DT_UFXP8, 1, 0);
}

static void teardown(void)
{
    fixture_end(f);
}

#define ELEMENTS(type, ...) ((type[]){__VA_ARGS__})
#define BYTES(...) ELEMENTS(uint8_t, __VA_ARGS__)

static struct buffer buffer(enum dtype dtype, struct shape shape, const struct quant *quant, const void *data)
{
    return (struct buffer){.dtype = dtype, .shape = shape, .quant = quant, .data = (void *)(uintptr_t)data};
}

static struct buffer u8(struct shape shape, const struct quant *quant, const void *data)
{
    return buffer(DT_UFXP8, shape, quant, data);
}

static struct buffer i64(struct shape shape, const int64_t *data)
{
    return buffer(DT_INT64, shape, NULL, data);
}

/* Puts an op with graph inputs like these under construction. The graph has floats where a tensor is of fixed point:
 * the row's kernel is what is tried here. */
static void start(enum op_id op, const struct buffer *in, uint32_t n_in)
{
    build_op(&f->build, op, op_row(op)->name);
    for (uint32_t i = 0; i < n_in; i++) {
        bool is_real = dtype_is_fixed(in[i].dtype) || dtype_is_float(in[i].dtype);
        struct type type = {is_real ? DT_FLOAT32 : in[i].dtype, in[i].shape};
        build_in(&f->build, graph_add_tensor(f->graph, "in", TENSOR_INPUT, &type));
    }
}

/* Ends it, runs it, and compares the one result with these elements of the result's type. */
static void expect(const struct buffer *in, struct buffer out)
{
    tensor_id id;
    ck_assert_int_eq(build_end(&f->build, "out", &id), ODLC_OK);
    ck_assert(shape_equal(&graph_tensor(f->graph, id)->type->shape, &out.shape));
    size_t size = shape_count(&out.shape) * dtype_size(out.dtype);
    struct buffer result = out;
    result.data = arena_calloc(f->arena, size, 1);
    ck_assert_int_eq(eval_node(producer_of(f, id), in, &result, f->arena, &f->diags), ODLC_OK);
    for (size_t i = 0; i < size; i++)
        ck_assert_msg(((uint8_t *)result.data)[i] == ((uint8_t *)out.data)[i], "byte %zu is %u, not %u", i,
                      ((uint8_t *)result.data)[i], ((uint8_t *)out.data)[i]);
}

#define START(op, in) start(op, in, COUNT_OF(in))

START_TEST(concat)
{
    const struct buffer in[] = {u8(SHAPE(2), a, BYTES(12, 20)), u8(SHAPE(3), c, BYTES(7, 1, 100)),
                                u8(SHAPE(2), b, BYTES(200, 3))};
    START(OP_Concat, in);
    build_int(&f->build, PARAM_axis, 0);
    expect(in, u8(SHAPE(7), b, BYTES(7, 23, 31, 7, 255, 200, 3))); /* 1, 5, 7, 1, 100 saturates, as it was */
}
END_TEST

START_TEST(concat_of_equal_ones)
{
    const struct buffer in[] = {u8(SHAPE(2), a, BYTES(12, 20)), u8(SHAPE(1), encoding(DT_UFXP8, 0.5, 10), BYTES(255))};
    START(OP_Concat, in);
    build_int(&f->build, PARAM_axis, 0);
    expect(in, u8(SHAPE(3), a, BYTES(12, 20, 255)));
}
END_TEST

START_TEST(concat_of_all_kinds)
{
    const struct quant *wide = encoding(DT_UFXP16, 0.001, 0), *narrow = encoding(DT_SFXP8, 0.5, 0);
    const struct buffer in[] = {buffer(DT_UFXP16, SHAPE(1), wide, ELEMENTS(uint16_t, 2500)),
                                buffer(DT_FLOAT32, SHAPE(2), NULL, ELEMENTS(float, -3, 1000)),
                                buffer(DT_FLOAT16, SHAPE(1), NULL, ELEMENTS(uint16_t, 0x3C00)),
                                u8(SHAPE(1), a, BYTES(11))};
    START(OP_Concat, in);
    expect(in, buffer(DT_SFXP8, SHAPE(5), narrow, ELEMENTS(int8_t, 5, -6, 127, 2, 1)));
    START(OP_Concat, in);
    expect(in, buffer(DT_FLOAT32, SHAPE(5), NULL, ELEMENTS(float, 2.5F, -3, 1000, 1, 0.5F)));
}
END_TEST

START_TEST(split)
{
    const struct buffer in = u8(SHAPE(3), a, BYTES(12, 20, 30));
    const char *names[] = {"y", "z"};
    tensor_id ids[2];
    uint8_t first[1], second[2];
    start(OP_Split, &in, 1);
    build_int(&f->build, PARAM_axis, 0);
    build_ints(&f->build, PARAM_split_index, ELEMENTS(int64_t, 1), 1);
    ck_assert_int_eq(build_end_n(&f->build, names, 2, ids), ODLC_OK);
    struct buffer out[] = {u8(SHAPE(1), b, first), u8(SHAPE(2), a, second)};
    ck_assert_int_eq(eval_node(producer_of(f, ids[0]), &in, out, f->arena, &f->diags), ODLC_OK);
    ck_assert_uint_eq(first[0], 7);
    ck_assert_uint_eq(second[0], 20);
    ck_assert_uint_eq(second[1], 30);
}
END_TEST

/* Rows of scales 1/2 and 2: 1 2 / 12 16. */
START_TEST(transpose_of_an_encoding_per_axis)
{
    const struct buffer in = u8(SHAPE(2, 2), two_scales(0, 0.5, 2), BYTES(2, 4, 6, 8));
    const struct perm perm = PERM(1, 0);
    struct {
        const struct quant *quant;
        uint8_t expected[4];
    } outs[] = {{two_scales(1, 0.5, 2), {2, 6, 4, 8}}, /* of 1 12 / 2 16 */
                {two_scales(0, 0.5, 2), {2, 24, 1, 8}},
                {c, {1, 12, 2, 16}}};
    for (size_t i = 0; i < COUNT_OF(outs); i++) {
        start(OP_Transpose, &in, 1);
        build_ints(&f->build, PARAM_perm, ELEMENTS(int64_t, perm.axis[0], perm.axis[1]), 2);
        expect(&in, u8(SHAPE(2, 2), outs[i].quant, outs[i].expected));
    }
}
END_TEST

START_TEST(reshape)
{
    const struct buffer per_axis = u8(SHAPE(2, 2), two_scales(0, 0.5, 2), BYTES(2, 4, 6, 8));
    start(OP_Reshape, &per_axis, 1);
    build_ints(&f->build, PARAM_shape, ELEMENTS(int64_t, 4), 1);
    expect(&per_axis, u8(SHAPE(4), c, BYTES(1, 2, 12, 16)));
    const struct buffer half = buffer(DT_FLOAT16, SHAPE(2), NULL, ELEMENTS(uint16_t, 0x3C00, 0xC000)); /* 1, -2 */
    start(OP_Reshape, &half, 1);
    build_ints(&f->build, PARAM_shape, ELEMENTS(int64_t, 2, 1), 2);
    expect(&half, buffer(DT_FLOAT32, SHAPE(2, 1), NULL, ELEMENTS(float, 1, -2)));
    const struct buffer real = buffer(DT_FLOAT32, SHAPE(4), NULL, ELEMENTS(float, 5, -5, 0.25F, 0.75F));
    start(OP_Reshape, &real, 1);
    build_ints(&f->build, PARAM_shape, ELEMENTS(int64_t, 2, 2), 2);
    expect(&real, u8(SHAPE(2, 2), a, BYTES(20, 0, 10, 12))); /* 0.5 and 1.5 steps: to the even one */
}
END_TEST

START_TEST(tile)
{
    const struct buffer in = u8(SHAPE(2), a, BYTES(12, 20));
    start(OP_Tile, &in, 1);
    build_ints(&f->build, PARAM_multiples, ELEMENTS(int64_t, 2), 1);
    expect(&in, u8(SHAPE(4), c, BYTES(1, 5, 1, 5)));
}
END_TEST

START_TEST(strided_slice)
{
    const struct buffer in = u8(SHAPE(4), a, BYTES(12, 20, 30, 40));
    const struct shape rows = SHAPE(1, 3);
    start(OP_StridedSlice, &in, 1);
    build_tensor_ints(&f->build, PARAM_ranges, &rows, ELEMENTS(int64_t, 3, -1, -2));
    expect(&in, u8(SHAPE(2), c, BYTES(15, 5)));
}
END_TEST

static void pad(struct buffer in, const int64_t *amounts, bool with_value, struct buffer out)
{
    const struct shape pairs = SHAPE(in.shape.rank, 2);
    start(OP_Pad, &in, 1);
    build_int(&f->build, PARAM_scheme, 0);
    build_tensor_ints(&f->build, PARAM_pad_amount, &pairs, amounts);
    if (with_value)
        build_float(&f->build, PARAM_pad_constant_value, 2);
    expect(&in, out);
}

START_TEST(pads)
{
    const struct buffer in = u8(SHAPE(2), a, BYTES(12, 20));
    const int64_t around[] = {1, 1}, beside[] = {0, 0, 1, 0};
    pad(in, around, true, u8(SHAPE(4), c, BYTES(2, 1, 5, 2)));
    pad(in, around, true, u8(SHAPE(4), a, BYTES(14, 12, 20, 14)));
    pad(in, around, false, u8(SHAPE(4), a, BYTES(10, 12, 20, 10)));
    pad(in, around, false, u8(SHAPE(4), b, BYTES(3, 7, 23, 3)));
    const struct quant *rows = two_scales(0, 0.5, 2);
    pad(u8(SHAPE(2, 1), rows, BYTES(6, 8)), beside, true, u8(SHAPE(2, 2), rows, BYTES(4, 6, 1, 8)));
}
END_TEST

START_TEST(gathers)
{
    const struct buffer gather[] = {u8(SHAPE(3), a, BYTES(12, 20, 30)), i64(SHAPE(2), ELEMENTS(int64_t, -1, 0))};
    START(OP_Gather, gather);
    build_int(&f->build, PARAM_axis, 0);
    expect(gather, u8(SHAPE(2), c, BYTES(10, 1)));
    START(OP_Gather, gather);
    build_int(&f->build, PARAM_axis, 0);
    expect(gather, buffer(DT_FLOAT32, SHAPE(2), NULL, ELEMENTS(float, 10, 1)));
    START(OP_GatherElements, gather);
    build_int(&f->build, PARAM_axis, 0);
    expect(gather, u8(SHAPE(2), b, BYTES(43, 7)));
    const struct buffer nd[] = {u8(SHAPE(2, 1), a, BYTES(12, 20)), i64(SHAPE(1, 1), ELEMENTS(int64_t, 1))};
    START(OP_GatherNd, nd);
    expect(nd, u8(SHAPE(1, 1), c, BYTES(5)));
}
END_TEST

/* Data 1, 5 and update 2. */
START_TEST(scatters)
{
    const struct buffer elements[] = {u8(SHAPE(2), a, BYTES(12, 20)), i64(SHAPE(1), ELEMENTS(int64_t, 1)),
                                      u8(SHAPE(1), c, BYTES(2))};
    START(OP_ScatterElements, elements);
    expect(elements, u8(SHAPE(2), b, BYTES(7, 11)));
    const struct buffer alike[] = {elements[0], elements[1], u8(SHAPE(1), a, BYTES(14))};
    START(OP_ScatterElements, alike);
    expect(alike, u8(SHAPE(2), a, BYTES(12, 14)));
    START(OP_ScatterElements, alike);
    build_int(&f->build, PARAM_reduction, 1);
    expect(alike, u8(SHAPE(2), a, BYTES(12, 24))); /* 5 + 2 = 7 */
    const struct buffer nd[] = {elements[0], i64(SHAPE(1, 1), ELEMENTS(int64_t, 0)), elements[2]};
    START(OP_ScatterNd, nd);
    build_int(&f->build, PARAM_reduction, 2);
    expect(nd, u8(SHAPE(2), b, BYTES(11, 23))); /* 1 * 2 = 2 */
    const struct buffer nd_alike[] = {nd[0], nd[1], alike[2]};
    START(OP_ScatterNd, nd_alike);
    build_int(&f->build, PARAM_reduction, 2);
    expect(nd_alike, u8(SHAPE(2), a, BYTES(14, 20)));
}
END_TEST

START_TEST(one_hot)
{
    const struct buffer in = i64(SHAPE(1), ELEMENTS(int64_t, 1));
    start(OP_OneHot, &in, 1);
    build_int(&f->build, PARAM_depth, 3);
    expect(&in, u8(SHAPE(1, 3), a, BYTES(10, 12, 10)));
    start(OP_OneHot, &in, 1);
    build_int(&f->build, PARAM_depth, 2);
    build_float(&f->build, PARAM_on_value, 5);
    build_float(&f->build, PARAM_off_value, -0.5);
    expect(&in, u8(SHAPE(1, 2), b, BYTES(1, 23)));
}
END_TEST

START_TEST(depth_and_space)
{
    const struct buffer deep = u8(SHAPE(1, 1, 1, 4), a, BYTES(12, 14, 16, 18));
    const struct buffer wide = u8(SHAPE(1, 2, 2, 1), a, BYTES(12, 14, 16, 18));
    start(OP_DepthToSpace, &deep, 1);
    build_ints(&f->build, PARAM_block_size, ELEMENTS(int64_t, 2, 2), 2);
    expect(&deep, u8(SHAPE(1, 2, 2, 1), c, BYTES(1, 2, 3, 4)));
    start(OP_SpaceToDepth, &wide, 1);
    build_ints(&f->build, PARAM_block_size, ELEMENTS(int64_t, 2, 2), 2);
    expect(&wide, u8(SHAPE(1, 1, 1, 4), b, BYTES(7, 11, 15, 19)));
}
END_TEST

/* What no float could hold: integers beyond 2^53, and those of 32 bits where the encodings are equal. */
START_TEST(integers_stay)
{
    const int64_t large = ((int64_t)1 << 53) + 1;
    const struct buffer longs[] = {i64(SHAPE(2), ELEMENTS(int64_t, large, -large)),
                                   i64(SHAPE(1), ELEMENTS(int64_t, 1))};
    START(OP_Gather, longs);
    build_int(&f->build, PARAM_axis, 0);
    expect(longs, i64(SHAPE(1), ELEMENTS(int64_t, -large)));
    const struct buffer ints[] = {buffer(DT_INT32, SHAPE(1), NULL, ELEMENTS(int32_t, INT32_MIN)),
                                  buffer(DT_INT32, SHAPE(1), NULL, ELEMENTS(int32_t, 16777217))};
    START(OP_Concat, ints);
    expect(ints, buffer(DT_INT32, SHAPE(2), NULL, ELEMENTS(int32_t, INT32_MIN, 16777217)));
    const struct quant *fine = encoding(DT_SFXP32, 1e-9, 0);
    const struct buffer bias[] = {buffer(DT_SFXP32, SHAPE(1), fine, ELEMENTS(int32_t, 2147483647)),
                                  buffer(DT_SFXP32, SHAPE(1), fine, ELEMENTS(int32_t, 16777217))};
    START(OP_Concat, bias);
    expect(bias, buffer(DT_SFXP32, SHAPE(2), fine, ELEMENTS(int32_t, 2147483647, 16777217)));
}
END_TEST

/* Encodings of floats are only wishes for a quantizer. */
START_TEST(floats_stay)
{
    const struct buffer in[] = {buffer(DT_FLOAT32, SHAPE(1), a, ELEMENTS(float, 0.123F)),
                                buffer(DT_FLOAT32, SHAPE(1), NULL, ELEMENTS(float, 1e30F))};
    START(OP_Concat, in);
    expect(in, buffer(DT_FLOAT32, SHAPE(2), b, ELEMENTS(float, 0.123F, 1e30F)));
}
END_TEST

START_TEST(constants_are_folded_by_value)
{
    struct type type = {DT_UFXP8, SHAPE(2, 2)};
    struct view view = view_of(BYTES(2, 4, 6, 8), DT_UFXP8, &type.shape);
    tensor_id in = graph_add_tensor(f->graph, "w", TENSOR_STATIC, &type);
    graph_set_view(f->graph, in, &view);
    graph_tensor(f->graph, in)->quant = two_scales(0, 0.5, 2);
    tensor_id out = graph_add_tensor(f->graph, "y", TENSOR_NATIVE, &type);
    graph_tensor(f->graph, out)->quant = c;
    const struct op *row = op_row(OP_Transpose);
    node_id id = graph_add_node(f->graph, row, row->n_params, "t", &in, 1, &out, 1);
    const struct perm perm = PERM(1, 0);
    node_set_perm(f->graph, graph_node(f->graph, id), &perm);
    bool folded;
    ck_assert_int_eq(fold_node(f->graph, id, &f->diags, &folded), ODLC_OK);
    ck_assert(folded);
    const uint8_t *found = view_load(f->arena, graph_tensor(f->graph, out)->view, DT_UFXP8);
    ck_assert_mem_eq(found, BYTES(1, 12, 2, 16), 4);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {concat,
                                  concat_of_equal_ones,
                                  concat_of_all_kinds,
                                  split,
                                  transpose_of_an_encoding_per_axis,
                                  reshape,
                                  tile,
                                  strided_slice,
                                  pads,
                                  gathers,
                                  scatters,
                                  one_hot,
                                  depth_and_space,
                                  integers_stay,
                                  floats_stay,
                                  constants_are_folded_by_value};
    Suite *suite = suite_create("requantize");
    TCase *tc = tcase_create("requantize");
    tcase_add_checked_fixture(tc, setup, teardown);
    for (size_t i = 0; i < COUNT_OF(tests); i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
