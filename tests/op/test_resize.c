/* SPDX-License-Identifier: Apache-2.0 */
/* Resizing: values worked out by hand, and bilinear interpolation written out over positions. Depth and space:
 * positions. */
#include "float_fixture.h"

enum { ROUNDS = 60 };
enum { NEAREST, LINEAR, CUBIC };
enum { HALF_PIXEL, PYTORCH_HALF_PIXEL, ALIGN_CORNERS, ASYMMETRIC };
enum { PREFER_FLOOR, PREFER_CEIL, DOWN, UP };

/* ---- lines: [1, 1, width, 1] ---- */

static void resize_line(struct fixture *f, const float *x, int64_t width, double scale, int interpolation, int position)
{
    build_op(&f->build, OP_Resize, "resize");
    build_in(&f->build, input_with(f, DT_FLOAT32, SHAPE(1, 1, width, 1), x));
    build_int(&f->build, PARAM_interpolation_mode, interpolation);
    build_int(&f->build, PARAM_transformation_mode, position);
    build_float(&f->build, PARAM_scale_height, 1);
    build_float(&f->build, PARAM_scale_width, scale);
}

static void check_line(struct fixture *f, const float *expected, int64_t width)
{
    tensor_id y = end_node(f);
    check_shape(f, y, SHAPE(1, 1, width, 1));
    const float *values = values_of(f, y);
    for (int64_t i = 0; i < width; i++)
        check_near(values[i], (double)expected[i]);
}

START_TEST(linear_lines)
{
    static const float x[] = {1, 2};
    static const struct {
        int position;
        float y[4];
    } cases[] = {
        {HALF_PIXEL, {1, 1.25F, 1.75F, 2}},
        {PYTORCH_HALF_PIXEL, {1, 1.25F, 1.75F, 2}},
        {ALIGN_CORNERS, {1, 4 / 3.0F, 5 / 3.0F, 2}},
        {ASYMMETRIC, {1, 1.5F, 2, 2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *f = fixture_start(1);
        resize_line(f, x, 2, 2, LINEAR, cases[i].position);
        check_line(f, cases[i].y, 4);
        fixture_end(f);
    }
}
END_TEST

/* One element is left: its centre, the first corner, or (for PyTorch) the start. */
START_TEST(one_left)
{
    static const float x[] = {1, 3, 9, 27};
    static const float expected[] = {6, 1, 1, 1};
    for (int position = HALF_PIXEL; position <= ASYMMETRIC; position++) {
        struct fixture *f = fixture_start(1);
        resize_line(f, x, 4, 0.25, LINEAR, position);
        check_line(f, &expected[position], 1);
        fixture_end(f);
    }
}
END_TEST

/* Weights of the cubic at distances 1.75, 0.75, 0.25, 1.25 for the coefficient -0.75. */
static const double far_out = -0.03515625, second = 0.26171875, first = 0.87890625, third = -0.10546875;

START_TEST(cubic_line)
{
    static const float x[] = {1, 2, 3, 4};
    struct fixture *f = fixture_start(1);
    resize_line(f, x, 4, 2, CUBIC, HALF_PIXEL);
    const float *y = values_of(f, end_node(f));
    check_near(y[0], far_out + second + first + third * 2);
    check_near(y[3], third * 1 + first * 2 + second * 3 + far_out * 4);
    check_near(y[3], 2.296875);
    /* What lies outside does not count: the rest is scaled up. */
    resize_line(f, x, 4, 2, CUBIC, HALF_PIXEL);
    build_int(&f->build, PARAM_exclude_outside, 1);
    y = values_of(f, end_node(f));
    check_near(y[0], (first + third * 2) / (first + third));
    /* The coefficient -0.5 at distance 0.25: 1.5 · d³ - 2.5 · d² + 1 */
    static const float impulse[] = {0, 1, 0, 0};
    resize_line(f, impulse, 4, 2, CUBIC, HALF_PIXEL);
    build_float(&f->build, PARAM_cubic_coeff, -0.5);
    y = values_of(f, end_node(f));
    check_near(y[3], 1.5 * 0.015625 - 2.5 * 0.0625 + 1);
    fixture_end(f);
}
END_TEST

START_TEST(nearest_ties)
{
    static const float x[] = {0, 1, 2, 3};
    static const float expected[][8] = {
        [PREFER_FLOOR] = {0, 0, 1, 1, 2, 2, 3, 3},
        [PREFER_CEIL] = {0, 1, 1, 2, 2, 3, 3, 3},
        [DOWN] = {0, 0, 1, 1, 2, 2, 3, 3},
        [UP] = {0, 1, 1, 2, 2, 3, 3, 3},
    };
    for (int mode = PREFER_FLOOR; mode <= UP; mode++) {
        struct fixture *f = fixture_start(1);
        resize_line(f, x, 4, 2, NEAREST, ASYMMETRIC);
        build_int(&f->build, PARAM_nearest_mode, mode);
        check_line(f, expected[mode], 8);
        fixture_end(f);
    }
}
END_TEST

/* The element at the position above / below, by looking at all of them. */
static int64_t naive_nearest(int mode, int64_t above, int64_t below, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 1; i < count; i++) {
        int64_t distance = llabs(i * below - above), least = llabs(found * below - above);
        if (mode == DOWN ? i * below <= above
            : mode == UP ? found * below < above
                         : distance < least || (mode == PREFER_CEIL && distance == least))
            found = i;
    }
    return found;
}

/* All pairs of small extents: positions are fractions, and no rounding of theirs moves a tie. */
START_TEST(exact_ties)
{
    int64_t in = _i + 1;
    float x[18];
    for (int i = 0; i < 18; i++)
        x[i] = (float)i;
    for (int64_t out = 1; out <= 18; out++)
        for (int how = 0; how < 16; how++) {
            int position = how / 4, mode = how % 4;
            struct fixture *f = fixture_start(1);
            float expected[18];
            for (int64_t o = 0; o < out; o++) {
                bool corners = position == ALIGN_CORNERS, centre = position <= PYTORCH_HALF_PIXEL;
                int64_t above = corners ? o * (in - 1) : centre ? (2 * o + 1) * in - out : o * in;
                int64_t below = corners ? out - 1 : centre ? 2 * out : out;
                bool start = out == 1 && (corners || position == PYTORCH_HALF_PIXEL);
                expected[o] = (float)naive_nearest(mode, start ? 0 : above, start ? 1 : below, in);
            }
            resize_line(f, x, in, (double)((float)out / (float)in), NEAREST, position);
            build_int(&f->build, PARAM_nearest_mode, mode);
            check_line(f, expected, out);
            fixture_end(f);
        }
}
END_TEST

START_TEST(nearest_integers)
{
    struct fixture *f = fixture_start(1);
    const int64_t x[] = {INT64_MAX, -1};
    build_op(&f->build, OP_Resize, "resize");
    build_in(&f->build, input_with(f, DT_INT64, SHAPE(1, 1, 2, 1), x));
    build_float(&f->build, PARAM_scale_height, 2);
    build_float(&f->build, PARAM_scale_width, 1);
    build_int(&f->build, PARAM_half_pixel_centers, 1);
    const int64_t *y = run_node(f, producer_of(f, end_node(f)), ODLC_OK)->data;
    const int64_t expected[] = {INT64_MAX, -1, INT64_MAX, -1};
    ck_assert_mem_eq(y, expected, sizeof expected);
    fixture_end(f);
}
END_TEST

/* TensorFlow's flags, and an output size that no param says. */
START_TEST(flagged)
{
    static const struct {
        enum op_id op;
        int align, half;
        float y[5];
    } cases[] = {
        {OP_ResizeBilinear, 0, 0, {0, 1.2F, 2.4F, 3, 3}},    {OP_ResizeBilinear, 1, 0, {0, 0.75F, 1.5F, 2.25F, 3}},
        {OP_ResizeBilinear, 0, 1, {0, 0.3F, 1.5F, 2.7F, 3}}, {OP_ResizeNearestNeighbor, 0, 0, {0, 0, 1, 1, 2}},
        {OP_ResizeNearestNeighbor, 0, 1, {0, 0, 1, 2, 2}},
    };
    static const float three[] = {0, 1, 2}, two[] = {0, 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *f = fixture_start(1);
        bool linear = cases[i].op == OP_ResizeBilinear;
        struct type type = {DT_FLOAT32, SHAPE(1, 1, 5, 1)};
        tensor_id y;
        build_op(&f->build, cases[i].op, "resize");
        build_in(&f->build,
                 input_with(f, DT_FLOAT32, linear ? SHAPE(1, 1, 2, 1) : SHAPE(1, 1, 3, 1), linear ? two : three));
        build_int(&f->build, PARAM_align_corners, cases[i].align);
        build_int(&f->build, PARAM_half_pixel_centers, cases[i].half);
        ck_assert_int_eq(build_end_typed(&f->build, NULL, &type, 1, &y), ODLC_OK);
        const float *values = values_of(f, y);
        for (int k = 0; k < 5; k++)
            check_near(values[k], (double)cases[i].y[k]);
        fixture_end(f);
    }
}
END_TEST

/* Enlarged a whole number of times, an element is taken so often: as models say it (asymmetric, down), and as
 * containers have it that name half pixels instead, and no nearest_mode. */
START_TEST(enlarged_by_half_pixels)
{
    static const float x[] = {0, 1, 2, 3, 4};
    float expected[5 * 16];
    for (int half = 0; half <= 1; half++) {
        struct fixture *f = fixture_start(1);
        for (int i = 0; i < 5 * _i; i++)
            expected[i] = (float)(i / _i);
        resize_line(f, x, 5, _i, NEAREST, half ? HALF_PIXEL : ASYMMETRIC);
        build_int(&f->build, PARAM_half_pixel_centers, half);
        if (!half)
            build_int(&f->build, PARAM_nearest_mode, DOWN);
        check_line(f, expected, 5 * _i);
        fixture_end(f);
    }
}
END_TEST

/* ---- images and volumes ---- */

/* Linear interpolation at a position along one axis: two neighbours and the share of the second. */
static void neighbours(int64_t out, int64_t in_extent, int64_t out_extent, int64_t at[2], double *share)
{
    double x = ((double)out + 0.5) * (double)in_extent / (double)out_extent - 0.5;
    x = fmin(fmax(x, 0), (double)(in_extent - 1));
    at[0] = (int64_t)floor(x);
    at[1] = at[0] + 1 < in_extent ? at[0] + 1 : at[0];
    *share = x - (double)at[0];
}

static double expected_linear(const struct fixture *f, tensor_id x, const struct shape *out, const int64_t at[MAX_RANK])
{
    const struct shape *in = shape_of(f, x);
    uint32_t axes = in->rank - 2;
    double sum = 0;
    for (uint32_t corner = 0; corner < 1u << axes; corner++) {
        int64_t from[MAX_RANK] = {at[0]};
        double weight = 1;
        for (uint32_t d = 0; d < axes; d++) {
            int64_t pair[2];
            double share;
            neighbours(at[d + 1], in->dims[d + 1], out->dims[d + 1], pair, &share);
            from[d + 1] = pair[corner >> d & 1];
            weight *= corner >> d & 1 ? share : 1 - share;
        }
        from[axes + 1] = at[axes + 1];
        sum += weight * (double)elements_of(f, x)[ravel(from, in)];
    }
    return sum;
}

START_TEST(linear_images)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct shape in = draw_shape(f, 3 + (uint32_t)_i, 6);
        struct type type = {DT_FLOAT32, in};
        for (uint32_t d = 1; d + 1 < in.rank; d++)
            type.shape.dims[d] = draw(f, 1, 9);
        tensor_id x = floats(f, in), y;
        build_op(&f->build, OP_Resize, "resize");
        build_in(&f->build, x);
        build_int(&f->build, PARAM_interpolation_mode, LINEAR);
        build_int(&f->build, PARAM_half_pixel_centers, 1);
        ck_assert_int_eq(build_end_typed(&f->build, NULL, &type, 1, &y), ODLC_OK);
        ck_assert_uint_eq(macs_of(f, y), 0);
        const float *values = values_of(f, y);
        for (uint64_t i = 0; i < shape_count(&type.shape); i++) {
            int64_t at[MAX_RANK];
            unravel(i, &type.shape, at);
            check_near(values[i], expected_linear(f, x, &type.shape, at));
        }
        fixture_end(f);
    }
}
END_TEST

START_TEST(sizes)
{
    struct fixture *f = fixture_start(1);
    build_op(&f->build, OP_Resize, "resize");
    build_in(&f->build, typed(f, DT_FLOAT32, SHAPE(1, 65, 65, 2)));
    /* Scales as a real file has them, rounded to single precision: 513 / 65 and 1. */
    build_float(&f->build, PARAM_scale_height, 7.892307758331299);
    build_float(&f->build, PARAM_scale_width, 1);
    check_shape(f, end_node(f), SHAPE(1, 513, 65, 2));
    build_op(&f->build, OP_Resize, "resize");
    build_in(&f->build, typed(f, DT_FLOAT32, SHAPE(1, 5, 5, 2)));
    build_float(&f->build, PARAM_scale_height, 0.5);
    build_float(&f->build, PARAM_scale_width, 1.5);
    check_shape(f, end_node(f), SHAPE(1, 2, 7, 2));
    build_op(&f->build, OP_Resize, "resize");
    build_in(&f->build, typed(f, DT_FLOAT32, SHAPE(1, 5, 5, 2)));
    end_fails(f);
    fixture_end(f);
}
END_TEST

/* ---- depth and space ---- */

/* Where the element (row, column of the block, channel) of a pixel lies in the depth. */
static int64_t depth_of(int mode, const int64_t block[2], int64_t channels, int64_t row, int64_t column, int64_t c)
{
    int64_t in_block = row * block[1] + column, area = block[0] * block[1];
    return mode == 0 ? in_block * channels + c : c * area + in_block;
}

START_TEST(depth_and_space)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        int mode = (int)draw(f, 0, 1);
        int64_t block[2] = {draw(f, 1, 3), draw(f, 1, 3)}, channels = draw(f, 1, 4);
        struct shape deep = SHAPE(draw(f, 1, 2), draw(f, 1, 4), draw(f, 1, 4), channels * block[0] * block[1]);
        struct shape wide = SHAPE(deep.dims[0], deep.dims[1] * block[0], deep.dims[2] * block[1], channels);
        bool to_space = draw(f, 0, 1) != 0;
        tensor_id x = input_of(f, DT_INT16, to_space ? deep : wide);
        build_op(&f->build, to_space ? OP_DepthToSpace : OP_SpaceToDepth, "blocks");
        build_in(&f->build, x);
        build_ints(&f->build, PARAM_block_size, block, 2);
        build_int(&f->build, PARAM_mode, mode);
        tensor_id y = end_node(f);
        check_shape(f, y, to_space ? wide : deep);
        const void *out = run_node(f, producer_of(f, y), ODLC_OK)->data;
        for (uint64_t i = 0; i < shape_count(&wide); i++) {
            int64_t at[MAX_RANK], there[MAX_RANK];
            unravel(i, &wide, at);
            there[0] = at[0];
            there[1] = at[1] / block[0];
            there[2] = at[2] / block[1];
            there[3] = depth_of(mode, block, channels, at[1] % block[0], at[2] % block[1], at[3]);
            uint64_t k = ravel(there, &deep);
            ck_assert(same_element(DT_INT16, f->data[x], to_space ? k : i, out, to_space ? i : k));
        }
        fixture_end(f);
    }
}
END_TEST

START_TEST(blocks_that_do_not_fit)
{
    static const enum op_id ops[] = {OP_DepthToSpace, OP_SpaceToDepth};
    static const int64_t blocks[][2] = {{2, 2}, {0, 1}, {1, 1}};
    for (size_t i = 0; i < 6; i++) {
        struct fixture *f = fixture_start(1);
        build_op(&f->build, ops[i % 2], "blocks");
        build_in(&f->build, typed(f, DT_FLOAT32, SHAPE(1, 3, 4, 6)));
        build_ints(&f->build, PARAM_block_size, blocks[i / 2], 2);
        build_int(&f->build, PARAM_mode, i / 2 == 2 ? 2 : 0);
        end_fails(f);
        fixture_end(f);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resize");
    TCase *tc = tcase_create("resize");
    tcase_add_test(tc, linear_lines);
    tcase_add_test(tc, one_left);
    tcase_add_test(tc, cubic_line);
    tcase_add_test(tc, nearest_ties);
    tcase_add_loop_test(tc, exact_ties, 0, 18);
    tcase_add_test(tc, nearest_integers);
    tcase_add_test(tc, flagged);
    tcase_add_loop_test(tc, enlarged_by_half_pixels, 1, 17);
    tcase_add_loop_test(tc, linear_images, 0, 3);
    tcase_add_test(tc, sizes);
    tcase_add_test(tc, depth_and_space);
    tcase_add_test(tc, blocks_that_do_not_fit);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
