/* SPDX-License-Identifier: Apache-2.0 */
/* Reshape, Transpose, Concat, Split, Tile, StridedSlice, Pad: kernels against loops over positions on random shapes of
 * rank 1 to 6, axis rules by execution, and the errors of the shape rules. */
#include "node_fixture.h"

static const enum dtype dtypes[] = {DT_INT8, DT_FLOAT16, DT_FLOAT32, DT_INT64, DT_STRING, DT_BOOL};

enum { ROUNDS = 60 };

static enum dtype draw_dtype(struct fixture *f)
{
    return dtypes[draw(f, 0, COUNT_OF(dtypes) - 1)];
}

static tensor_id end_node(struct fixture *f)
{
    tensor_id out;
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    return out;
}

/* The node cannot be built: its shape rule says so. */
static void refused(struct fixture *f)
{
    tensor_id out;
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_ERR_INVALID);
    ck_assert_str_eq(f->diags.list.data[f->diags.list.count - 1].code, "shape");
}

/* ---- Reshape ---- */

static tensor_id reshape(struct fixture *f, tensor_id in, const struct shape *shape)
{
    struct shape rank1 = SHAPE(shape->rank);
    build_op(&f->build, OP_Reshape, "n");
    build_in(&f->build, in);
    build_tensor_ints(&f->build, PARAM_shape, &rank1, shape->dims);
    return end_node(f);
}

START_TEST(reshape_keeps_the_bytes)
{
    struct fixture *f = fixture_start(1);
    tensor_id in = input_of(f, DT_FLOAT32, SHAPE(2, 3, 4));
    struct shape to = SHAPE(6, 1, 4);
    tensor_id out = reshape(f, in, &to);
    ck_assert(shape_equal(&build_type(&f->build, out)->shape, &to));
    ck_assert_int_eq(build_type(&f->build, out)->dtype, DT_FLOAT32);
    ck_assert_mem_eq(run_node(f, producer_of(f, out), ODLC_OK)->data, f->data[in], 24 * 4);
    fixture_end(f);
}
END_TEST

START_TEST(reshape_to_and_from_a_scalar)
{
    struct fixture *f = fixture_start(2);
    struct shape scalar = {.rank = 0}, one = SHAPE(1, 1);
    tensor_id in = input_of(f, DT_INT32, scalar);
    tensor_id out = reshape(f, reshape(f, in, &one), &scalar);
    ck_assert_uint_eq(build_rank(&f->build, out), 0);
    fixture_end(f);
}
END_TEST

START_TEST(reshape_refuses_another_count)
{
    struct fixture *f = fixture_start(3);
    int64_t dims[] = {5, 5};
    build_op(&f->build, OP_Reshape, "n");
    build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(2, 3, 4)));
    build_ints(&f->build, PARAM_shape, dims, 2);
    refused(f);
    fixture_end(f);
}
END_TEST

/* ---- Transpose ---- */

static tensor_id transpose(struct fixture *f, tensor_id in, const struct perm *perm)
{
    int64_t axes[MAX_RANK];
    for (uint32_t i = 0; i < perm->rank; i++)
        axes[i] = perm->axis[i];
    build_op(&f->build, OP_Transpose, "n");
    build_in(&f->build, in);
    build_ints(&f->build, PARAM_perm, axes, perm->rank);
    return end_node(f);
}

static void transpose_by_positions(uint32_t seed)
{
    struct fixture *f = fixture_start(seed);
    enum dtype dtype = draw_dtype(f);
    /* Some axes are longer than a tile of the kernel. */
    uint32_t rank = (uint32_t)draw(f, 1, 6);
    struct shape shape = draw_shape(f, rank, rank < 4 ? 45 : 5);
    tensor_id in = input_of(f, dtype, shape);
    struct perm perm = draw_perm(f, rank);
    tensor_id out = transpose(f, in, &perm);
    struct shape expected = perm_apply(&perm, &shape);
    ck_assert(shape_equal(&build_type(&f->build, out)->shape, &expected));
    ck_assert_mem_eq(run_node(f, producer_of(f, out), ODLC_OK)->data,
                     permuted_copy(f, dtype, f->data[in], &shape, &perm), shape_count(&shape) * size_of(dtype));
    struct perm stored = draw_perm(f, rank);
    check_axis_rule(f, producer_of(f, out), &stored);
    fixture_end(f);
}

START_TEST(transpose_swallows_its_input_permutation)
{
    struct fixture *f = fixture_start(5);
    struct perm to_nhwc = PERM(0, 2, 3, 1), stored = PERM(0, 2, 3, 1), out_perm;
    tensor_id out = transpose(f, input_of(f, DT_FLOAT32, SHAPE(1, 3, 4, 5)), &to_nhwc);
    struct node *n = producer_of(f, out);
    ck_assert(n->op->permute(f->graph, n, &stored, &out_perm));
    ck_assert(perm_is_identity(&out_perm));
    uint32_t count;
    const int64_t *axes = node_ints(n, PARAM_perm, &count);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_eq(axes[i], i);
    fixture_end(f);
}
END_TEST

START_TEST(transpose_refuses_what_is_no_permutation)
{
    static const int64_t wrong[][3] = {{0, 1, 1}, {0, 1, 3}, {0, 1, -1}};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct fixture *f = fixture_start(6);
        build_op(&f->build, OP_Transpose, "n");
        build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(2, 3, 4)));
        build_ints(&f->build, PARAM_perm, wrong[i], 3);
        refused(f);
        fixture_end(f);
    }
}
END_TEST

/* ---- Concat, Split ---- */

static void concat_by_positions(uint32_t seed)
{
    struct fixture *f = fixture_start(seed);
    uint64_t wrong = 0;
    enum dtype dtype = draw_dtype(f);
    uint32_t rank = (uint32_t)draw(f, 1, 6), axis = (uint32_t)draw(f, 0, rank - 1), n = (uint32_t)draw(f, 1, 4);
    struct shape shape = draw_shape(f, rank, 4), parts[4];
    tensor_id in[4];
    for (uint32_t i = 0; i < n; i++) {
        parts[i] = shape;
        parts[i].dims[axis] = draw(f, 0, 5);
        in[i] = input_of(f, dtype, parts[i]);
    }
    build_op(&f->build, OP_Concat, "n");
    for (uint32_t i = 0; i < n; i++)
        build_in(&f->build, in[i]);
    build_int(&f->build, PARAM_axis, axis);
    tensor_id out = end_node(f);
    struct buffer *result = run_node(f, producer_of(f, out), ODLC_OK);
    for (uint64_t i = 0; i < shape_count(&result->shape); i++) {
        int64_t index[MAX_RANK];
        uint32_t part = 0;
        unravel(i, &result->shape, index);
        for (; index[axis] >= parts[part].dims[axis]; part++)
            index[axis] -= parts[part].dims[axis];
        wrong += !same_element(dtype, result->data, i, f->data[in[part]], ravel(index, &parts[part]));
    }
    ck_assert_uint_eq(wrong, 0);
    struct perm stored = draw_perm(f, rank);
    check_axis_rule(f, producer_of(f, out), &stored);
    fixture_end(f);
}

START_TEST(concat_refuses_parts_that_differ)
{
    struct fixture *f = fixture_start(7);
    build_op(&f->build, OP_Concat, "n");
    build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(2, 3)));
    build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(2, 4)));
    build_int(&f->build, PARAM_axis, 0);
    refused(f);
    build_op(&f->build, OP_Concat, "n");
    build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(2, 3)));
    build_in(&f->build, input_of(f, DT_FLOAT16, SHAPE(2, 3)));
    build_int(&f->build, PARAM_axis, 0);
    refused(f);
    build_op(&f->build, OP_Concat, "n");
    build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(2, 3)));
    build_int(&f->build, PARAM_axis, 2);
    refused(f);
    fixture_end(f);
}
END_TEST

static void split_by_positions(uint32_t seed)
{
    struct fixture *f = fixture_start(seed);
    uint64_t wrong = 0;
    enum dtype dtype = draw_dtype(f);
    uint32_t rank = (uint32_t)draw(f, 1, 6), axis = (uint32_t)draw(f, 0, rank - 1);
    struct shape shape = draw_shape(f, rank, 4);
    shape.dims[axis] = 9;
    int64_t first = draw(f, 0, 9), cuts[] = {first, draw(f, first, 9)}, from[] = {0, cuts[0], cuts[1]};
    tensor_id in = input_of(f, dtype, shape), outs[3];
    build_op(&f->build, OP_Split, "n");
    build_in(&f->build, in);
    build_int(&f->build, PARAM_axis, axis);
    build_ints(&f->build, PARAM_split_index, cuts, 2);
    ck_assert_int_eq(build_end_n(&f->build, NULL, 3, outs), ODLC_OK);
    struct buffer *parts = run_node(f, producer_of(f, outs[0]), ODLC_OK);
    for (uint32_t p = 0; p < 3; p++)
        for (uint64_t i = 0; i < shape_count(&parts[p].shape); i++) {
            int64_t index[MAX_RANK];
            unravel(i, &parts[p].shape, index);
            index[axis] += from[p];
            wrong += !same_element(dtype, parts[p].data, i, f->data[in], ravel(index, &shape));
        }
    ck_assert_int_eq(parts[0].shape.dims[axis] + parts[1].shape.dims[axis] + parts[2].shape.dims[axis], 9);
    ck_assert_uint_eq(wrong, 0);
    struct perm stored = draw_perm(f, rank);
    check_axis_rule(f, producer_of(f, outs[0]), &stored);
    fixture_end(f);
}

START_TEST(split_refuses_cuts_out_of_order)
{
    static const int64_t wrong[][2] = {{3, 2}, {2, 7}, {-1, 2}};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct fixture *f = fixture_start(8);
        tensor_id outs[3];
        build_op(&f->build, OP_Split, "n");
        build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(6, 2)));
        build_int(&f->build, PARAM_axis, 0);
        build_ints(&f->build, PARAM_split_index, wrong[i], 2);
        ck_assert_int_eq(build_end_n(&f->build, NULL, 3, outs), ODLC_ERR_INVALID);
        fixture_end(f);
    }
}
END_TEST

/* ---- Tile ---- */

static void tile_by_positions(uint32_t seed)
{
    struct fixture *f = fixture_start(seed);
    uint64_t wrong = 0;
    enum dtype dtype = draw_dtype(f);
    uint32_t rank = (uint32_t)draw(f, 1, 6);
    struct shape shape = draw_shape(f, rank, 4);
    int64_t multiples[MAX_RANK];
    for (uint32_t i = 0; i < rank; i++)
        multiples[i] = draw(f, 1, 3);
    tensor_id in = input_of(f, dtype, shape);
    build_op(&f->build, OP_Tile, "n");
    build_in(&f->build, in);
    build_ints(&f->build, PARAM_multiples, multiples, rank);
    tensor_id out = end_node(f);
    struct buffer *result = run_node(f, producer_of(f, out), ODLC_OK);
    for (uint32_t d = 0; d < rank; d++)
        ck_assert_int_eq(result->shape.dims[d], shape.dims[d] * multiples[d]);
    for (uint64_t i = 0; i < shape_count(&result->shape); i++) {
        int64_t index[MAX_RANK];
        unravel(i, &result->shape, index);
        for (uint32_t d = 0; d < rank; d++)
            index[d] %= shape.dims[d];
        wrong += !same_element(dtype, result->data, i, f->data[in], ravel(index, &shape));
    }
    ck_assert_uint_eq(wrong, 0);
    struct perm stored = draw_perm(f, rank);
    check_axis_rule(f, producer_of(f, out), &stored);
    fixture_end(f);
}

/* ---- StridedSlice ---- */

static tensor_id slice(struct fixture *f, tensor_id in, uint32_t rows, int64_t ranges[][3], int64_t begin_mask,
                       int64_t end_mask)
{
    struct shape shape = SHAPE(rows, 3);
    build_op(&f->build, OP_StridedSlice, "n");
    build_in(&f->build, in);
    build_tensor_ints(&f->build, PARAM_ranges, &shape, ranges[0]);
    build_int(&f->build, PARAM_begin_mask, begin_mask);
    build_int(&f->build, PARAM_end_mask, end_mask);
    return end_node(f);
}

static void strided_slice_by_positions(uint32_t seed)
{
    struct fixture *f = fixture_start(seed);
    uint64_t wrong = 0;
    enum dtype dtype = draw_dtype(f);
    uint32_t rank = (uint32_t)draw(f, 1, 6);
    struct shape shape = draw_shape(f, rank, 7);
    int64_t ranges[MAX_RANK][3];
    for (uint32_t i = 0; i < rank; i++) {
        int64_t low = draw(f, 0, shape.dims[i] - 1), high = draw(f, low, shape.dims[i] - 1), step = draw(f, 1, 3);
        bool down = draw(f, 0, 1);
        ranges[i][0] = down ? high : low;
        ranges[i][1] = down ? low - 1 : high + 1;
        ranges[i][2] = down ? -step : step;
    }
    tensor_id in = input_of(f, dtype, shape), out = slice(f, in, rank, ranges, 0, 0);
    struct buffer *result = run_node(f, producer_of(f, out), ODLC_OK);
    for (uint32_t d = 0; d < rank; d++) {
        int64_t count = 0;
        for (int64_t at = ranges[d][0]; ranges[d][2] > 0 ? at < ranges[d][1] : at > ranges[d][1]; at += ranges[d][2])
            count++;
        ck_assert_int_eq(result->shape.dims[d], count);
    }
    for (uint64_t i = 0; i < shape_count(&result->shape); i++) {
        int64_t index[MAX_RANK];
        unravel(i, &result->shape, index);
        for (uint32_t d = 0; d < rank; d++)
            index[d] = ranges[d][0] + index[d] * ranges[d][2];
        wrong += !same_element(dtype, result->data, i, f->data[in], ravel(index, &shape));
    }
    ck_assert_uint_eq(wrong, 0);
    struct perm stored = draw_perm(f, rank);
    check_axis_rule(f, producer_of(f, out), &stored);
    fixture_end(f);
}

START_TEST(strided_slice_masks)
{
    struct fixture *f = fixture_start(9);
    const int32_t values[] = {0, 1, 2, 3, 4, 5};
    tensor_id in = input_with(f, DT_INT32, SHAPE(2, 3), values);
    /* Row 0: from the first, though 1 is given; row 1: descending to the very first. */
    int64_t masked[][3] = {{1, 2, 1}, {2, 1, -1}}, counted_back[][3] = {{-1, 2, 1}, {-3, -1, 1}};
    const int32_t all_reversed[] = {2, 1, 0, 5, 4, 3}, corner[] = {3, 4};
    tensor_id out = slice(f, in, 2, masked, 1, 2);
    ck_assert_mem_eq(run_node(f, producer_of(f, out), ODLC_OK)->data, all_reversed, sizeof all_reversed);
    struct perm swap = PERM(1, 0);
    check_axis_rule(f, producer_of(f, out), &swap);
    out = slice(f, input_with(f, DT_INT32, SHAPE(2, 3), values), 2, counted_back, 0, 0);
    ck_assert_mem_eq(run_node(f, producer_of(f, out), ODLC_OK)->data, corner, sizeof corner);
    fixture_end(f);
}
END_TEST

START_TEST(strided_slice_drops_and_adds_axes)
{
    struct fixture *f = fixture_start(10);
    const int32_t values[] = {0, 1, 2, 3, 4, 5}, second_row[] = {3, 4, 5};
    int64_t ranges[][3] = {{0, 0, 1}, {1, 2, 1}, {0, 3, 1}};
    struct shape rows = SHAPE(3, 3), expected = SHAPE(1, 3);
    build_op(&f->build, OP_StridedSlice, "n");
    build_in(&f->build, input_with(f, DT_INT32, SHAPE(2, 3), values));
    build_tensor_ints(&f->build, PARAM_ranges, &rows, ranges[0]);
    build_int(&f->build, PARAM_new_axes_mask, 1);
    build_int(&f->build, PARAM_shrink_axes, 2);
    tensor_id out = end_node(f);
    ck_assert(shape_equal(&build_type(&f->build, out)->shape, &expected));
    struct node *n = producer_of(f, out);
    ck_assert_mem_eq(run_node(f, n, ODLC_OK)->data, second_row, sizeof second_row);
    struct perm swap = PERM(1, 0), out_perm;
    ck_assert(!n->op->permute(f->graph, n, &swap, &out_perm));
    fixture_end(f);
}
END_TEST

START_TEST(strided_slice_refuses_what_leaves_the_axis)
{
    static const int64_t wrong[][3] = {{0, 7, 1}, {7, 0, -1}, {0, 6, 0}, {-7, 6, 1}, {0, 6, INT64_MIN}};
    struct shape rows = SHAPE(1, 3);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct fixture *f = fixture_start(11);
        build_op(&f->build, OP_StridedSlice, "n");
        build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(6)));
        build_tensor_ints(&f->build, PARAM_ranges, &rows, wrong[i]);
        refused(f);
        fixture_end(f);
    }
}
END_TEST

/* ---- Pad ---- */

enum { CONSTANT, SYMMETRIC, REFLECT, EDGE };

static tensor_id pad(struct fixture *f, tensor_id in, int64_t scheme, int64_t amounts[][2], uint32_t rank, float value)
{
    struct shape shape = SHAPE(rank, 2);
    build_op(&f->build, OP_Pad, "n");
    build_in(&f->build, in);
    build_int(&f->build, PARAM_scheme, scheme);
    build_tensor_ints(&f->build, PARAM_pad_amount, &shape, amounts[0]);
    build_float(&f->build, PARAM_pad_constant_value, (double)value);
    return end_node(f);
}

static void pad_constant_and_edge_by_positions(uint32_t seed)
{
    struct fixture *f = fixture_start(seed);
    uint64_t wrong = 0;
    const float value = -2.5f;
    uint32_t rank = (uint32_t)draw(f, 1, 6);
    int64_t scheme = draw(f, 0, 1) ? EDGE : CONSTANT, amounts[MAX_RANK][2];
    struct shape shape = draw_shape(f, rank, 4);
    for (uint32_t i = 0; i < rank; i++) {
        amounts[i][0] = draw(f, 0, 3);
        amounts[i][1] = draw(f, 0, 3);
    }
    tensor_id in = input_of(f, DT_FLOAT32, shape), out = pad(f, in, scheme, amounts, rank, value);
    struct buffer *result = run_node(f, producer_of(f, out), ODLC_OK);
    for (uint32_t d = 0; d < rank; d++)
        ck_assert_int_eq(result->shape.dims[d], shape.dims[d] + amounts[d][0] + amounts[d][1]);
    for (uint64_t i = 0; i < shape_count(&result->shape); i++) {
        int64_t index[MAX_RANK];
        bool outside = false;
        unravel(i, &result->shape, index);
        for (uint32_t d = 0; d < rank; d++) {
            int64_t at = index[d] - amounts[d][0];
            index[d] = at < 0 ? 0 : at >= shape.dims[d] ? shape.dims[d] - 1 : at;
            outside |= index[d] != at;
        }
        if (outside && scheme == CONSTANT)
            wrong += !same_element(DT_FLOAT32, result->data, i, &value, 0);
        else
            wrong += !same_element(DT_FLOAT32, result->data, i, f->data[in], ravel(index, &shape));
    }
    ck_assert_uint_eq(wrong, 0);
    struct perm stored = draw_perm(f, rank);
    check_axis_rule(f, producer_of(f, out), &stored);
    fixture_end(f);
}

START_TEST(pad_mirrors)
{
    struct fixture *f = fixture_start(12);
    const int8_t values[] = {1, 2, 3, 4}, reflected[] = {3, 2, 1, 2, 3, 4, 3}, symmetric[] = {2, 1, 1, 2, 3, 4, 4};
    int64_t amounts[][2] = {{2, 1}};
    tensor_id out = pad(f, input_with(f, DT_INT8, SHAPE(4), values), REFLECT, amounts, 1, 0);
    ck_assert_mem_eq(run_node(f, producer_of(f, out), ODLC_OK)->data, reflected, sizeof reflected);
    out = pad(f, input_with(f, DT_INT8, SHAPE(4), values), SYMMETRIC, amounts, 1, 0);
    ck_assert_mem_eq(run_node(f, producer_of(f, out), ODLC_OK)->data, symmetric, sizeof symmetric);
    fixture_end(f);
}
END_TEST

START_TEST(pad_constant_of_the_tensors_own_type)
{
    struct fixture *f = fixture_start(13);
    const int64_t values[] = {5}, padded[] = {-7, 5};
    int64_t amounts[][2] = {{1, 0}};
    struct shape shape = SHAPE(1, 2);
    struct param value = {.usage = 1, .name = "pad_constant_value", .dtype = DT_INT32, .i = -7};
    build_op(&f->build, OP_Pad, "n");
    build_in(&f->build, input_with(f, DT_INT64, SHAPE(1), values));
    build_int(&f->build, PARAM_scheme, CONSTANT);
    build_tensor_ints(&f->build, PARAM_pad_amount, &shape, amounts[0]);
    build_param(&f->build, &value);
    tensor_id out = end_node(f);
    ck_assert_mem_eq(run_node(f, producer_of(f, out), ODLC_OK)->data, padded, sizeof padded);
    fixture_end(f);
}
END_TEST

/* real = (q + offset) * scale: 1.5 = (q - 2) * 0.5 is q = 5. */
START_TEST(pad_constant_of_a_quantized_tensor)
{
    struct fixture *f = fixture_start(14);
    const struct encoding encoding = {.bitwidth = 8, .scale = 0.5, .offset = -2};
    const struct quant quant = {.count = 1, .encodings = &encoding};
    const uint8_t values[] = {9}, padded[] = {9, 5};
    int64_t amounts[][2] = {{0, 1}};
    tensor_id out = pad(f, input_with(f, DT_UFXP8, SHAPE(1), values), CONSTANT, amounts, 1, 1.5f);
    uint8_t result[2];
    struct buffer in = {.dtype = DT_UFXP8, .shape = SHAPE(1), .data = f->data[0], .quant = &quant};
    struct buffer to = {.dtype = DT_UFXP8, .shape = SHAPE(2), .data = result, .quant = &quant};
    ck_assert_int_eq(eval_node(producer_of(f, out), &in, &to, f->arena, &f->diags), ODLC_OK);
    ck_assert_mem_eq(result, padded, sizeof padded);
    fixture_end(f);
}
END_TEST

START_TEST(pad_refuses_a_reflection_wider_than_the_axis)
{
    static const int64_t wrong[][3] = {
        {REFLECT, 4, 0}, {SYMMETRIC, 0, 5}, {CONSTANT, -1, 0}, {4, 0, 0}, {CONSTANT, INT64_MAX, 1}};
    struct shape shape = SHAPE(1, 2);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct fixture *f = fixture_start(15);
        build_op(&f->build, OP_Pad, "n");
        build_in(&f->build, input_of(f, DT_FLOAT32, SHAPE(4)));
        build_int(&f->build, PARAM_scheme, wrong[i][0]);
        build_tensor_ints(&f->build, PARAM_pad_amount, &shape, &wrong[i][1]);
        refused(f);
        fixture_end(f);
    }
}
END_TEST

static void (*const rounds[])(uint32_t seed) = {
    transpose_by_positions, concat_by_positions,        split_by_positions,
    tile_by_positions,      strided_slice_by_positions, pad_constant_and_edge_by_positions,
};

/* All random rounds of one op in one test: a process for each would take longer than the rounds. */
START_TEST(by_positions)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++)
        rounds[_i](seed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shape");
    TCase *tcase = tcase_create("shape");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, by_positions, 0, COUNT_OF(rounds));
    tcase_add_test(tcase, reshape_keeps_the_bytes);
    tcase_add_test(tcase, reshape_to_and_from_a_scalar);
    tcase_add_test(tcase, reshape_refuses_another_count);
    tcase_add_test(tcase, transpose_swallows_its_input_permutation);
    tcase_add_test(tcase, transpose_refuses_what_is_no_permutation);
    tcase_add_test(tcase, concat_refuses_parts_that_differ);
    tcase_add_test(tcase, split_refuses_cuts_out_of_order);
    tcase_add_test(tcase, strided_slice_masks);
    tcase_add_test(tcase, strided_slice_drops_and_adds_axes);
    tcase_add_test(tcase, strided_slice_refuses_what_leaves_the_axis);
    tcase_add_test(tcase, pad_mirrors);
    tcase_add_test(tcase, pad_constant_of_the_tensors_own_type);
    tcase_add_test(tcase, pad_constant_of_a_quantized_tensor);
    tcase_add_test(tcase, pad_refuses_a_reflection_wider_than_the_axis);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
