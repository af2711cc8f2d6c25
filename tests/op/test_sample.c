/* SPDX-License-Identifier: Apache-2.0 */
/* GridSample against interpolation written out over the corners of a cell, and positions known by hand; Col2Im against
 * a loop over all that adds to an element. */
#include "float_fixture.h"

enum { ROUNDS = 80, AXES = 3 };

static tensor_id node_of_size(struct fixture *f, struct shape shape)
{
    struct type type = {DT_FLOAT32, shape};
    tensor_id out;
    ck_assert_int_eq(build_end_typed(&f->build, NULL, &type, 1, &out), ODLC_OK);
    return out;
}

/* ---- GridSample ---- */

enum { LINEAR, NEAREST };
enum { ZEROS, BORDER, REFLECTION };

static void sample_op(struct fixture *f, tensor_id x, tensor_id grid, int mode, int padding, bool align)
{
    build_op(&f->build, OP_GridSample, "sample");
    build_in(&f->build, x);
    build_in(&f->build, grid);
    build_int(&f->build, PARAM_mode, mode);
    build_int(&f->build, PARAM_padding_mode, padding);
    build_int(&f->build, PARAM_align_corners, align);
}

/* Index i mirrored step by step: about the outer elements, or about their outer edges. */
static int64_t mirrored(int64_t i, int64_t n, bool align)
{
    if (n == 1)
        return 0;
    while (i < 0 || i >= n) {
        if (i < 0)
            i = align ? -i : -1 - i;
        else
            i = align ? 2 * (n - 1) - i : 2 * n - 1 - i;
    }
    return i;
}

/* One element of x, whose position may be outside. */
static double element(const struct fixture *f, tensor_id x, int64_t at[MAX_RANK], int padding, bool align)
{
    const struct shape *in = shape_of(f, x);
    int64_t from[MAX_RANK] = {at[0]};
    for (uint32_t i = 1; i + 1 < in->rank; i++) {
        int64_t n = in->dims[i];
        if (padding == ZEROS && (at[i] < 0 || at[i] >= n))
            return 0;
        from[i] = padding == REFLECTION ? mirrored(at[i], n, align) : at[i] < 0 ? 0 : at[i] >= n ? n - 1 : at[i];
    }
    from[in->rank - 1] = at[in->rank - 1];
    return (double)elements_of(f, x)[ravel(from, in)];
}

static double expected_sample(const struct fixture *f, tensor_id x, const double *place, const int64_t at[MAX_RANK],
                              int mode, int padding, bool align)
{
    uint32_t rank = shape_of(f, x)->rank;
    double sum = 0;
    for (uint32_t corner = 0; corner < (mode == NEAREST ? 1 : 1u << (rank - 2)); corner++) {
        int64_t from[MAX_RANK] = {at[0]};
        double weight = 1;
        from[rank - 1] = at[rank - 1];
        for (uint32_t i = 0; i < rank - 2; i++) {
            double low = mode == NEAREST ? nearbyint(place[i]) : floor(place[i]), share = place[i] - low;
            bool second = corner >> i & 1;
            from[i + 1] = (int64_t)low + second;
            if (mode == LINEAR)
                weight *= second ? share : 1 - share;
        }
        sum += weight * element(f, x, from, padding, align);
    }
    return sum;
}

START_TEST(samples)
{
    uint32_t axes = (uint32_t)_i + 2;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        int mode = (int)draw(f, 0, 1), padding = (int)draw(f, 0, 2);
        bool align = draw(f, 0, 1) != 0;
        struct shape in = draw_shape(f, axes + 2, 4), at = draw_shape(f, axes + 2, 3), out;
        at.dims[0] = in.dims[0];
        at.dims[axes + 1] = axes;
        out = at;
        out.dims[axes + 1] = in.dims[axes + 1];
        tensor_id x = floats(f, in);
        float *grid = arena_array(f->arena, float, shape_count(&at));
        for (uint64_t i = 0; i < shape_count(&at); i++)
            grid[i] = (float)draw(f, -250, 250) / 101;
        sample_op(f, x, input_with(f, DT_FLOAT32, at, grid), mode, padding, align);
        tensor_id y = end_node(f);
        check_shape(f, y, out);
        const float *values = values_of(f, y);
        for (uint64_t i = 0; i < shape_count(&out); i++) {
            int64_t position[MAX_RANK];
            double place[AXES];
            unravel(i, &out, position);
            for (uint32_t k = 0; k < axes; k++) {
                double n = (double)in.dims[k + 1];
                double p = (double)grid[i / (uint64_t)in.dims[axes + 1] * axes + axes - 1 - k];
                place[k] = align ? (p + 1) / 2 * (n - 1) : ((p + 1) * n - 1) / 2;
            }
            /* Beyond a border a position is moved before it is interpolated, which gives the same. */
            check_near(values[i], expected_sample(f, x, place, position, mode, padding, align));
        }
        fixture_end(f);
    }
}
END_TEST

/* A row of 1 2 3 4: the middle is between 2 and 3, half an element goes to the even neighbour; infinity is outside. */
START_TEST(special_positions)
{
    static const float x[] = {1, 2, 3, 4};
    const float grid[] = {0, 0, -0.5F, 0, 0.5F, 0, (float)INFINITY, 0, (float)NAN, 0};
    static const float expected[][5] = {{2.5F, 1.5F, 3.5F, 0, 0}, {3, 1, 3, 0, 0}};
    for (int mode = LINEAR; mode <= NEAREST; mode++) {
        struct fixture *f = fixture_start(1);
        tensor_id row = input_with(f, DT_FLOAT32, SHAPE(1, 1, 4, 1), x);
        sample_op(f, row, input_with(f, DT_FLOAT32, SHAPE(1, 1, 5, 2), grid), mode, ZEROS, false);
        const float *y = values_of(f, end_node(f));
        for (int i = 0; i < 5; i++)
            check_near(y[i], (double)expected[mode][i]);
        fixture_end(f);
    }
}
END_TEST

START_TEST(sampled_integers)
{
    const int64_t x[] = {INT64_MAX, -1};
    const float grid[] = {0.5F, 0, -0.5F, 0, 3, 0};
    const int64_t expected[] = {-1, INT64_MAX, 0};
    struct fixture *f = fixture_start(1);
    tensor_id row = input_with(f, DT_INT64, SHAPE(1, 1, 2, 1), x);
    tensor_id positions = input_with(f, DT_FLOAT32, SHAPE(1, 1, 3, 2), grid);
    sample_op(f, row, positions, NEAREST, ZEROS, false);
    ck_assert_mem_eq(run_node(f, producer_of(f, end_node(f)), ODLC_OK)->data, expected, sizeof expected);
    sample_op(f, row, positions, LINEAR, ZEROS, false);
    end_fails(f);
    fixture_end(f);
}
END_TEST

START_TEST(sample_refusals)
{
    static const struct shape grids[] = {
        {3, {1, 2, 2}}, {4, {2, 1, 1, 2}}, {4, {1, 1, 1, 3}}, {4, {1, 1, 1, 2}}, {4, {1, 1, 1, 2}}};
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        struct fixture *f = fixture_start(1);
        tensor_id x = typed(f, DT_FLOAT32, SHAPE(1, 2, 2, 1)), grid = typed(f, DT_FLOAT32, grids[i]);
        sample_op(f, x, grid, i == 3 ? 2 : 0, i == 4 ? 3 : 0, false);
        end_fails(f);
        fixture_end(f);
    }
}
END_TEST

/* ---- Col2Im ---- */

struct patches {
    int64_t image[2], kernel[2], stride[2], pad[2][2], dilation[2], out[2], batch, channels;
};

static struct patches draw_patches(struct fixture *f)
{
    struct patches p = {.batch = draw(f, 1, 2), .channels = draw(f, 1, 3)};
    for (int i = 0; i < 2; i++) {
        p.kernel[i] = draw(f, 1, 3);
        p.dilation[i] = draw(f, 1, 2);
        p.stride[i] = draw(f, 1, 3);
        p.pad[i][0] = draw(f, 0, 2);
        p.pad[i][1] = draw(f, 0, 2);
        int64_t reach = (p.kernel[i] - 1) * p.dilation[i] + 1;
        p.image[i] = reach + draw(f, 0, 3);
        p.out[i] = (p.image[i] + p.pad[i][0] + p.pad[i][1] - reach) / p.stride[i] + 1;
    }
    return p;
}

static void patches_op(struct fixture *f, const struct patches *p, tensor_id x)
{
    struct shape pairs = SHAPE(2, 2);
    build_op(&f->build, OP_Col2Im, "patches");
    build_in(&f->build, x);
    build_ints(&f->build, PARAM_kernel_size, p->kernel, 2);
    build_ints(&f->build, PARAM_stride, p->stride, 2);
    build_tensor_ints(&f->build, PARAM_pad_amount, &pairs, p->pad[0]);
    build_ints(&f->build, PARAM_dilation, p->dilation, 2);
}

/* Whether element k of the window at position o of an axis stands for element `at` of the image. */
static bool covers(const struct patches *p, int axis, int64_t o, int64_t k, int64_t at)
{
    return o * p->stride[axis] + k * p->dilation[axis] - p->pad[axis][0] == at;
}

static double expected_sum(const struct fixture *f, const struct patches *p, tensor_id x, const int64_t at[MAX_RANK])
{
    struct shape all = SHAPE(p->kernel[0], p->kernel[1], p->out[0], p->out[1]);
    double sum = 0;
    for (uint64_t i = 0; i < shape_count(&all); i++) {
        int64_t e[MAX_RANK];
        unravel(i, &all, e);
        if (!covers(p, 0, e[2], e[0], at[1]) || !covers(p, 1, e[3], e[1], at[2]))
            continue;
        int64_t row = (at[3] * p->kernel[0] + e[0]) * p->kernel[1] + e[1];
        const int64_t from[MAX_RANK] = {at[0], row, e[2] * p->out[1] + e[3]};
        sum += (double)elements_of(f, x)[ravel(from, shape_of(f, x))];
    }
    return sum;
}

START_TEST(patches)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct patches p = draw_patches(f);
        int64_t rows = p.channels * p.kernel[0] * p.kernel[1];
        struct shape image = SHAPE(p.batch, p.image[0], p.image[1], p.channels);
        tensor_id x = floats(f, SHAPE(p.batch, rows, p.out[0] * p.out[1]));
        patches_op(f, &p, x);
        const float *values = values_of(f, node_of_size(f, image));
        for (uint64_t i = 0; i < shape_count(&image); i++) {
            int64_t at[MAX_RANK];
            unravel(i, &image, at);
            check_near(values[i], expected_sum(f, &p, x, at));
        }
        fixture_end(f);
    }
}
END_TEST

/* Two patches of two elements that overlap in one: INT64_MAX + 1 wraps. */
START_TEST(patches_of_integers)
{
    const int64_t x[] = {5, 1, INT64_MAX, 7};
    const int64_t expected[] = {5, INT64_MIN, 7};
    struct fixture *f = fixture_start(1);
    struct patches p = {.kernel = {1, 2}, .stride = {1, 1}, .dilation = {1, 1}};
    struct type type = {DT_INT64, SHAPE(1, 1, 3, 1)};
    tensor_id y;
    patches_op(f, &p, input_with(f, DT_INT64, SHAPE(1, 2, 2), x));
    ck_assert_int_eq(build_end_typed(&f->build, NULL, &type, 1, &y), ODLC_OK);
    ck_assert_mem_eq(run_node(f, producer_of(f, y), ODLC_OK)->data, expected, sizeof expected);
    patches_op(f, &p, typed(f, DT_FLOAT32, SHAPE(1, 2, 2)));
    end_fails(f); /* nothing says the size */
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sample");
    TCase *tc = tcase_create("sample");
    tcase_add_loop_test(tc, samples, 0, 2);
    tcase_add_test(tc, special_positions);
    tcase_add_test(tc, sampled_integers);
    tcase_add_test(tc, sample_refusals);
    tcase_add_test(tc, patches);
    tcase_add_test(tc, patches_of_integers);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
