/* SPDX-License-Identifier: Apache-2.0 */
/* SpaceToBatch, BatchToSpace, ExtractPatches and CropAndResize against their definitions, element by element. */
#include "float_fixture.h"

enum { ROUNDS = 60 };

static int64_t random_pairs[2][2];

/* Pads (or crops) so that an extent divides into blocks. */
static void draw_border(struct fixture *f, const int64_t extent[2], const int64_t block[2])
{
    for (int i = 0; i < 2; i++) {
        random_pairs[i][0] = draw(f, 0, 3);
        random_pairs[i][1] = (block[i] - (extent[i] + random_pairs[i][0]) % block[i]) % block[i];
    }
}

static tensor_id blocks_op(struct fixture *f, enum op_id op, tensor_id x, const int64_t block[2])
{
    struct shape pairs = SHAPE(2, 2);
    build_op(&f->build, op, "blocks");
    build_in(&f->build, x);
    build_ints(&f->build, PARAM_block_size, block, 2);
    build_tensor_ints(&f->build, op == OP_SpaceToBatch ? PARAM_pad_amount : PARAM_crops, &pairs, random_pairs[0]);
    return end_node(f);
}

/* The element of x at a place of the padded image, 0 outside of the image. */
static float padded(const float *x, const struct shape *shape, int64_t batch, int64_t row, int64_t column, int64_t c)
{
    const int64_t at[MAX_RANK] = {batch, row, column, c};
    bool inside = row >= 0 && row < shape->dims[1] && column >= 0 && column < shape->dims[2];
    return inside ? x[ravel(at, shape)] : 0;
}

START_TEST(blocks_go_to_the_batch_and_back)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct shape in = draw_shape(f, 4, 6);
        const int64_t block[2] = {draw(f, 1, 3), draw(f, 1, 3)};
        draw_border(f, in.dims + 1, block);
        tensor_id x = floats(f, in), y = blocks_op(f, OP_SpaceToBatch, x, block);
        const struct shape out = *shape_of(f, y);
        ck_assert_int_eq(out.dims[0], in.dims[0] * block[0] * block[1]);
        const float *values = values_of(f, y);
        for (uint64_t i = 0; i < shape_count(&out); i++) {
            int64_t at[MAX_RANK], place = 0;
            unravel(i, &out, at);
            place = at[0] / in.dims[0];
            int64_t row = at[1] * block[0] + place / block[1] - random_pairs[0][0];
            int64_t column = at[2] * block[1] + place % block[1] - random_pairs[1][0];
            ck_assert(values[i] == padded(elements_of(f, x), &in, at[0] % in.dims[0], row, column, at[3]));
        }
        /* The same amounts cut off give the image back. */
        tensor_id back = blocks_op(f, OP_BatchToSpace, input_with(f, DT_FLOAT32, out, values), block);
        check_shape(f, back, in);
        ck_assert_mem_eq(values_of(f, back), elements_of(f, x), shape_count(&in) * sizeof(float));
        fixture_end(f);
    }
}
END_TEST

START_TEST(patches)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct shape in = draw_shape(f, 4, 7);
        const int64_t size[2] = {draw(f, 1, 3), draw(f, 1, 3)}, stride[2] = {draw(f, 1, 3), draw(f, 1, 3)};
        const int64_t rate[2] = {draw(f, 1, 2), draw(f, 1, 2)};
        tensor_id x = floats(f, in);
        build_op(&f->build, OP_ExtractPatches, "patches");
        build_in(&f->build, x);
        build_ints(&f->build, PARAM_size, size, 2);
        build_ints(&f->build, PARAM_stride, stride, 2);
        build_ints(&f->build, PARAM_rate, rate, 2);
        build_int(&f->build, PARAM_padding, 1);
        tensor_id y = end_node(f);
        const struct shape out = *shape_of(f, y);
        const float *values = values_of(f, y);
        int64_t before[2];
        for (int i = 0; i < 2; i++) {
            int64_t count = (in.dims[i + 1] + stride[i] - 1) / stride[i];
            int64_t more = (count - 1) * stride[i] + (size[i] - 1) * rate[i] + 1 - in.dims[i + 1];
            ck_assert_int_eq(out.dims[i + 1], count);
            before[i] = more > 0 ? more / 2 : 0;
        }
        ck_assert_int_eq(out.dims[3], size[0] * size[1] * in.dims[3]);
        for (uint64_t i = 0; i < shape_count(&out); i++) {
            int64_t at[MAX_RANK];
            unravel(i, &out, at);
            int64_t tap = at[3] / in.dims[3];
            int64_t row = at[1] * stride[0] + tap / size[1] * rate[0] - before[0];
            int64_t column = at[2] * stride[1] + tap % size[1] * rate[1] - before[1];
            ck_assert(values[i] == padded(elements_of(f, x), &in, at[0], row, column, at[3] % in.dims[3]));
        }
        fixture_end(f);
    }
}
END_TEST

static tensor_id crops_op(struct fixture *f, tensor_id x, const float *boxes, const int32_t *batch, int64_t count,
                          const int64_t size[2], int64_t mode)
{
    build_op(&f->build, OP_CropAndResize, "crops");
    build_in(&f->build, x);
    build_in(&f->build, input_with(f, DT_FLOAT32, SHAPE(count, 4), boxes));
    build_in(&f->build, input_with(f, DT_INT32, SHAPE(count), batch));
    build_ints(&f->build, PARAM_resize_dims, size, 2);
    build_int(&f->build, PARAM_interpolation_mode, mode);
    build_float(&f->build, PARAM_extrapolation_value, -7);
    return end_node(f);
}

/* Where an output element lies along an axis. */
static double crop_place(const float *box, int axis, int64_t in, int64_t out, int64_t at)
{
    double start = (double)box[axis] * (double)(in - 1), end = (double)box[axis + 2] * (double)(in - 1);
    return out == 1 ? (start + end) / 2 : start + (end - start) * (double)at / (double)(out - 1);
}

START_TEST(crops)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct shape in = draw_shape(f, 4, 6);
        const int64_t size[2] = {draw(f, 1, 4), draw(f, 1, 4)};
        float boxes[3][4];
        int32_t batch[3];
        for (int r = 0; r < 3; r++) {
            batch[r] = (int32_t)draw(f, 0, in.dims[0] - 1);
            for (int i = 0; i < 4; i++)
                boxes[r][i] = (float)draw(f, -13, 77) / 64; /* no position is near the border by rounding alone */
        }
        tensor_id x = floats(f, in), y = crops_op(f, x, boxes[0], batch, 3, size, 0);
        const struct shape out = *shape_of(f, y);
        const float *values = values_of(f, y);
        check_shape(f, y, SHAPE(3, size[0], size[1], in.dims[3]));
        for (uint64_t i = 0; i < shape_count(&out); i++) {
            int64_t at[MAX_RANK];
            double sum = 0;
            unravel(i, &out, at);
            double row = crop_place(boxes[at[0]], 0, in.dims[1], size[0], at[1]);
            double column = crop_place(boxes[at[0]], 1, in.dims[2], size[1], at[2]);
            bool inside =
                row >= 0 && row <= (double)(in.dims[1] - 1) && column >= 0 && column <= (double)(in.dims[2] - 1);
            for (int64_t h = 0; h < in.dims[1]; h++)
                for (int64_t w = 0; w < in.dims[2]; w++) {
                    const int64_t from[MAX_RANK] = {batch[at[0]], h, w, at[3]};
                    sum += fmax(1 - fabs(row - (double)h), 0) * fmax(1 - fabs(column - (double)w), 0) *
                           (double)elements_of(f, x)[ravel(from, &in)];
                }
            ck_assert_double_eq_tol((double)values[i], inside ? sum : -7, 1e-4);
        }
        fixture_end(f);
    }
}
END_TEST

START_TEST(nearest_crops)
{
    struct fixture *f = fixture_start(1);
    const float image[] = {1, 2, 3, 4}, box[] = {0, 0, 0, 1};
    const int32_t batch[] = {0};
    const int64_t size[] = {1, 6};
    tensor_id x = input_with(f, DT_FLOAT32, SHAPE(1, 1, 4, 1), image);
    const float *values = values_of(f, crops_op(f, x, box, batch, 1, size, 1));
    const float expected[] = {1, 2, 2, 3, 3, 4}; /* at 0, 0.6, 1.2, 1.8, 2.4, 3 */
    ck_assert_mem_eq(values, expected, sizeof expected);
    fixture_end(f);
}
END_TEST

START_TEST(refusals)
{
    struct fixture *f = fixture_start(1);
    const int64_t block[] = {2, 2}, nothing[] = {0, 2};
    const float box[4] = {0};
    const int32_t batch[] = {1};
    tensor_id x = floats(f, SHAPE(1, 3, 4, 1)), y;
    memset(random_pairs, 0, sizeof random_pairs);
    const struct {
        enum op_id op;
        const int64_t *block;
    } cases[] = {{OP_SpaceToBatch, block}, {OP_SpaceToBatch, nothing}, {OP_BatchToSpace, block}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        build_op(&f->build, cases[i].op, "blocks");
        build_in(&f->build, x);
        build_ints(&f->build, PARAM_block_size, cases[i].block, 2);
        end_fails(f);
    }
    build_op(&f->build, OP_ExtractPatches, "patches");
    build_in(&f->build, x);
    build_ints(&f->build, PARAM_size, (const int64_t[]){4, 4}, 2);
    build_ints(&f->build, PARAM_stride, block, 2);
    build_ints(&f->build, PARAM_rate, block, 2);
    build_int(&f->build, PARAM_padding, 0);
    end_fails(f);
    y = crops_op(f, x, box, batch, 1, block, 0);
    run_node(f, producer_of(f, y), ODLC_ERR_INVALID); /* the batch has no image 1 */
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blocks");
    TCase *tc = tcase_create("blocks");
    tcase_add_test(tc, blocks_go_to_the_batch_and_back);
    tcase_add_test(tc, patches);
    tcase_add_test(tc, crops);
    tcase_add_test(tc, nearest_crops);
    tcase_add_test(tc, refusals);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
