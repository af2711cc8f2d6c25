/* SPDX-License-Identifier: Apache-2.0 */
/* RoiAlign and RoiPooling against loops over samples and elements; positions and sizes by hand. */
#include "float_fixture.h"

enum { ROUNDS = 80 };

struct setup {
    struct shape in, out;
    float ratio, boxes[4][4];
    int32_t batch[4];
    int64_t samples; /* 0: adaptive */
    bool aligned;
};

static struct setup draw_setup(struct fixture *f)
{
    struct setup s = {.in = SHAPE(draw(f, 1, 2), draw(f, 1, 7), draw(f, 1, 7), draw(f, 1, 3)),
                      .out = SHAPE(draw(f, 1, 4), draw(f, 1, 3), draw(f, 1, 3), 1),
                      .ratio = (float)(1 << draw(f, 0, 2)),
                      .samples = draw(f, 0, 2),
                      .aligned = draw(f, 0, 1) != 0};
    s.out.dims[3] = s.in.dims[3];
    for (int64_t r = 0; r < s.out.dims[0]; r++) {
        s.batch[r] = (int32_t)draw(f, 0, s.in.dims[0] - 1);
        for (int axis = 0; axis < 2; axis++) {
            s.boxes[r][axis] = (float)draw(f, -30, 150) / 7 * s.ratio / 4;
            s.boxes[r][axis + 2] = s.boxes[r][axis] + (float)draw(f, 0, 150) / 7 * s.ratio / 4;
        }
    }
    return s;
}

static tensor_id region_op(struct fixture *f, const struct setup *s, enum op_id op, tensor_id x)
{
    struct type type = {DT_FLOAT32, s->out};
    double *ratio = arena_array(f->arena, double, 2);
    ratio[0] = ratio[1] = (double)s->ratio;
    struct param param = {.usage = 1,
                          .is_tensor = true,
                          .name = "img_size_ratio",
                          .dtype = DT_FLOAT32,
                          .shape = SHAPE(2),
                          .floats = ratio};
    tensor_id y;
    build_op(&f->build, op, "regions");
    build_in(&f->build, x);
    build_in(&f->build, input_with(f, DT_FLOAT32, SHAPE(s->out.dims[0], 4), s->boxes));
    build_in(&f->build, input_with(f, DT_INT32, SHAPE(s->out.dims[0]), s->batch));
    build_param(&f->build, &param);
    if (op == OP_RoiAlign) {
        build_int(&f->build, PARAM_num_samples_y, s->samples ? s->samples : -1);
        build_int(&f->build, PARAM_num_samples_x, s->samples ? s->samples : -1);
        build_int(&f->build, PARAM_aligned, s->aligned);
    }
    ck_assert_int_eq(build_end_typed(&f->build, NULL, &type, 1, &y), ODLC_OK);
    return y;
}

/* What element `at` of an axis weighs in the value at a place. */
static double share(double place, int64_t at, int64_t count)
{
    if (place < -1 || place > (double)count)
        return 0;
    place = fmin(fmax(place, 0), (double)(count - 1));
    return fmax(1 - fabs(place - (double)at), 0);
}

/* The mean weight of element `at` over the samples of one axis of an output element. */
static double mean_share(const struct setup *s, int64_t region, int axis, int64_t out, int64_t at)
{
    double shift = s->aligned ? 0.5 : 0, start = (double)(s->boxes[region][1 - axis] / s->ratio) - shift;
    double size = (double)(s->boxes[region][3 - axis] / s->ratio) - shift - start;
    size = s->aligned ? size : fmax(size, 1);
    double bin = size / (double)s->out.dims[axis + 1], sum = 0;
    int64_t samples = s->samples ? s->samples : (int64_t)ceil(bin - 1e-6);
    for (int64_t i = 0; i < samples; i++)
        sum += share(start + ((double)out + ((double)i + 0.5) / (double)samples) * bin, at, s->in.dims[axis + 1]);
    return samples ? sum / (double)samples : 0;
}

START_TEST(aligned_regions)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct setup s = draw_setup(f);
        tensor_id x = floats(f, s.in);
        const float *values = values_of(f, region_op(f, &s, OP_RoiAlign, x));
        for (uint64_t i = 0; i < shape_count(&s.out); i++) {
            int64_t at[MAX_RANK];
            double sum = 0;
            unravel(i, &s.out, at);
            for (int64_t h = 0; h < s.in.dims[1]; h++)
                for (int64_t w = 0; w < s.in.dims[2]; w++) {
                    const int64_t from[MAX_RANK] = {s.batch[at[0]], h, w, at[3]};
                    sum += mean_share(&s, at[0], 0, at[1], h) * mean_share(&s, at[0], 1, at[2], w) *
                           (double)elements_of(f, x)[ravel(from, &s.in)];
                }
            ck_assert_double_eq_tol((double)values[i], sum, 1e-4);
        }
        fixture_end(f);
    }
}
END_TEST

/* Whether element `at` of the input's axis belongs to an output element. */
static bool pooled(const struct setup *s, int64_t region, int axis, int64_t out, int64_t at)
{
    double start = round((double)(s->boxes[region][1 - axis] / s->ratio));
    double size = fmax(round((double)(s->boxes[region][3 - axis] / s->ratio)) - start + 1, 1);
    double bin = size / (double)s->out.dims[axis + 1], place = (double)at - start;
    return place >= floor((double)out * bin + 1e-6) && place < ceil((double)(out + 1) * bin - 1e-6);
}

START_TEST(pooled_regions)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct setup s = draw_setup(f);
        tensor_id x = floats(f, s.in);
        const float *values = values_of(f, region_op(f, &s, OP_RoiPooling, x));
        for (uint64_t i = 0; i < shape_count(&s.out); i++) {
            int64_t at[MAX_RANK];
            double most = -INFINITY;
            unravel(i, &s.out, at);
            for (int64_t h = 0; h < s.in.dims[1]; h++)
                for (int64_t w = 0; w < s.in.dims[2]; w++) {
                    const int64_t from[MAX_RANK] = {s.batch[at[0]], h, w, at[3]};
                    if (pooled(&s, at[0], 0, at[1], h) && pooled(&s, at[0], 1, at[2], w))
                        most = fmax(most, (double)elements_of(f, x)[ravel(from, &s.in)]);
                }
            check_near(values[i], isinf(most) ? 0 : most);
        }
        fixture_end(f);
    }
}
END_TEST

/* A region on an image that the batch does not have, and an original of no size. */
START_TEST(refusals)
{
    struct fixture *f = fixture_start(1);
    struct setup s = {.in = SHAPE(1, 2, 2, 1), .out = SHAPE(1, 1, 1, 1), .ratio = 1, .batch = {1}};
    tensor_id x = floats(f, s.in);
    run_node(f, producer_of(f, region_op(f, &s, OP_RoiAlign, x)), ODLC_ERR_INVALID);
    run_node(f, producer_of(f, region_op(f, &s, OP_RoiPooling, x)), ODLC_ERR_INVALID);
    s.batch[0] = 0;
    s.ratio = 0;
    run_node(f, producer_of(f, region_op(f, &s, OP_RoiPooling, x)), ODLC_ERR_INVALID);
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("roi");
    TCase *tc = tcase_create("roi");
    tcase_add_test(tc, aligned_regions);
    tcase_add_test(tc, pooled_regions);
    tcase_add_test(tc, refusals);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
