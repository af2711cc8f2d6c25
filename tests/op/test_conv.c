/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions against their sums written out over positions, shapes and multiply-accumulates against values computed
 * by hand (and two that a report of the vendor's tool states). */
#include "float_fixture.h"

enum { ROUNDS = 60, AXES = 3 };

/* A convolution over [batch, axes…, channels]. */
struct setup {
    uint32_t axes;
    int64_t in[AXES], filter[AXES], stride[AXES], dilation[AXES], pad[AXES][2], more[AXES];
    int64_t batch, group, in_depth, out_depth; /* depths per group */
    bool bias;
};

static struct setup draw_setup(struct fixture *f, uint32_t axes)
{
    struct setup s = {.axes = axes,
                      .batch = draw(f, 1, 2),
                      .group = draw(f, 1, 3),
                      .in_depth = draw(f, 1, 5),
                      .out_depth = draw(f, 1, 6),
                      .bias = draw(f, 0, 1) != 0};
    for (uint32_t i = 0; i < axes; i++) {
        s.in[i] = draw(f, 5, 9);
        s.filter[i] = draw(f, 1, 3);
        s.stride[i] = draw(f, 1, 3);
        s.dilation[i] = draw(f, 1, 2);
        s.pad[i][0] = draw(f, 0, 2);
        s.pad[i][1] = draw(f, 0, 2);
        s.more[i] = draw(f, 0, 1);
    }
    return s;
}

static struct shape with_axes(int64_t first, const int64_t *axes, uint32_t count, int64_t last)
{
    struct shape shape = {.rank = count + 2};
    shape.dims[0] = first;
    memcpy(&shape.dims[1], axes, count * sizeof *axes);
    shape.dims[count + 1] = last;
    return shape;
}

static struct shape weights_shape(const struct setup *s, int64_t in, int64_t out)
{
    struct shape shape = {.rank = s->axes + 2};
    memcpy(shape.dims, s->filter, s->axes * sizeof *s->filter);
    shape.dims[s->axes] = in;
    shape.dims[s->axes + 1] = out;
    return shape;
}

static void window_params(struct build *b, const struct setup *s)
{
    struct shape pairs = SHAPE(s->axes, 2);
    build_ints(b, PARAM_stride, s->stride, s->axes);
    build_tensor_ints(b, PARAM_pad_amount, &pairs, s->pad[0]);
}

struct operands {
    tensor_id x, w, bias, y;
};

static struct operands run_setup(struct fixture *f, const struct setup *s, enum op_id op, int64_t w_in, int64_t w_out)
{
    struct operands o = {.x = floats(f, with_axes(s->batch, s->in, s->axes, s->group * s->in_depth)),
                         .w = floats(f, weights_shape(s, w_in, w_out)),
                         .bias = s->bias ? floats(f, SHAPE(s->group * s->out_depth)) : NO_TENSOR};
    build_op(&f->build, op, op_row(op)->name);
    build_in(&f->build, o.x);
    build_in(&f->build, o.w);
    if (s->bias)
        build_in(&f->build, o.bias);
    window_params(&f->build, s);
    if (op_param_index(op_row(op), "dilation") >= 0)
        build_ints(&f->build, PARAM_dilation, s->dilation, s->axes);
    if (op_param_index(op_row(op), "group") >= 0)
        build_int(&f->build, PARAM_group, s->group);
    if (op_param_index(op_row(op), "output_padding") >= 0)
        build_ints(&f->build, PARAM_output_padding, s->more, s->axes);
    o.y = end_node(f);
    return o;
}

static double bias_at(const struct fixture *f, const struct operands *o, int64_t channel)
{
    return o->bias == NO_TENSOR ? 0 : (double)elements_of(f, o->bias)[channel];
}

/* Σ over filter positions and the group's input channels; `depthwise` weights have no input axis. */
static double expected_conv(const struct fixture *f, const struct setup *s, const struct operands *o,
                            const int64_t at[MAX_RANK])
{
    const struct shape *x_shape = shape_of(f, o->x), *w_shape = shape_of(f, o->w);
    const float *x = elements_of(f, o->x), *w = elements_of(f, o->w);
    int64_t channel = at[s->axes + 1], group = channel / s->out_depth;
    double sum = bias_at(f, o, channel);
    for (uint64_t i = 0; i < shape_count(w_shape); i++) {
        int64_t tap[MAX_RANK], from[MAX_RANK] = {at[0]};
        unravel(i, w_shape, tap);
        bool inside = tap[s->axes + 1] == channel;
        for (uint32_t d = 0; d < s->axes; d++) {
            from[d + 1] = at[d + 1] * s->stride[d] + tap[d] * s->dilation[d] - s->pad[d][0];
            inside = inside && from[d + 1] >= 0 && from[d + 1] < s->in[d];
        }
        from[s->axes + 1] = group * s->in_depth + tap[s->axes];
        if (inside)
            sum += (double)x[ravel(from, x_shape)] * (double)w[i];
    }
    return sum;
}

/* Every input element adds itself times the filter to the positions that it spreads to. */
static double *expected_transpose(struct fixture *f, const struct setup *s, const struct operands *o)
{
    const struct shape *x_shape = shape_of(f, o->x), *w_shape = shape_of(f, o->w), *y_shape = shape_of(f, o->y);
    const float *x = elements_of(f, o->x), *w = elements_of(f, o->w);
    double *y = arena_array(f->arena, double, shape_count(y_shape));
    for (uint64_t i = 0; i < shape_count(y_shape); i++)
        y[i] = bias_at(f, o, (int64_t)i % (s->group * s->out_depth));
    for (uint64_t i = 0; i < shape_count(x_shape); i++) {
        int64_t at[MAX_RANK];
        unravel(i, x_shape, at);
        for (uint64_t k = 0; k < shape_count(w_shape); k++) {
            int64_t tap[MAX_RANK], to[MAX_RANK];
            unravel(k, w_shape, tap);
            to[0] = at[0];
            bool inside = tap[s->axes] == at[s->axes + 1];
            for (uint32_t d = 0; d < s->axes; d++) {
                to[d + 1] = at[d + 1] * s->stride[d] + tap[d] * s->dilation[d] - s->pad[d][0];
                inside = inside && to[d + 1] >= 0 && to[d + 1] < y_shape->dims[d + 1];
            }
            to[s->axes + 1] = at[s->axes + 1] / s->in_depth * s->out_depth + tap[s->axes + 1];
            if (inside)
                y[ravel(to, y_shape)] += (double)x[i] * (double)w[k];
        }
    }
    return y;
}

static void check_conv(struct fixture *f, const struct setup *s, const struct operands *o)
{
    const struct shape *shape = shape_of(f, o->y);
    const float *y = values_of(f, o->y);
    for (uint32_t d = 0; d < s->axes; d++) {
        int64_t reach = (s->filter[d] - 1) * s->dilation[d] + 1;
        ck_assert_int_eq(shape->dims[d + 1], (s->in[d] + s->pad[d][0] + s->pad[d][1] - reach) / s->stride[d] + 1);
    }
    for (uint64_t i = 0; i < shape_count(shape); i++) {
        int64_t at[MAX_RANK];
        unravel(i, shape, at);
        check_near(y[i], expected_conv(f, s, o, at));
    }
}

START_TEST(conv)
{
    static const enum op_id ops[] = {OP_Conv2d, OP_Conv3d};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct setup s = draw_setup(f, 2 + (uint32_t)_i);
        struct operands o = run_setup(f, &s, ops[_i], s.in_depth, s.group * s.out_depth);
        check_conv(f, &s, &o);
        fixture_end(f);
    }
}
END_TEST

/* Integers of that many, also as floats: the sums written out above take those. */
static tensor_id integers(struct fixture *f, tensor_id floats_id)
{
    const struct shape shape = *shape_of(f, floats_id);
    float *values = f->data[floats_id];
    int32_t *whole = arena_array(f->arena, int32_t, shape_count(&shape));
    for (uint64_t i = 0; i < shape_count(&shape); i++) {
        whole[i] = (int32_t)draw(f, -40000, 40000); /* sums that float32 would round */
        values[i] = (float)whole[i];
    }
    return input_with(f, DT_INT32, shape, whole);
}

START_TEST(conv_of_integers)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 500);
        struct setup s = draw_setup(f, 2 + (uint32_t)_i);
        s.in_depth = 1; /* so that the sums are within int32 */
        s.filter[0] = s.filter[1] = s.filter[s.axes - 1] = 1;
        enum op_id op = s.axes == 2 ? OP_Conv2d : OP_Conv3d;
        struct operands o = run_setup(f, &s, op, s.in_depth, s.group * s.out_depth);
        build_op(&f->build, op, op_row(op)->name);
        build_in(&f->build, integers(f, o.x));
        build_in(&f->build, integers(f, o.w));
        if (s.bias)
            build_in(&f->build, integers(f, o.bias));
        window_params(&f->build, &s);
        build_ints(&f->build, PARAM_dilation, s.dilation, s.axes);
        build_int(&f->build, PARAM_group, s.group);
        tensor_id y = end_node(f);
        const int32_t *found = run_node(f, producer_of(f, y), ODLC_OK)->data;
        for (uint64_t i = 0; i < shape_count(shape_of(f, y)); i++) {
            int64_t at[MAX_RANK];
            unravel(i, shape_of(f, y), at);
            ck_assert_double_eq((double)found[i], expected_conv(f, &s, &o, at));
        }
        fixture_end(f);
    }
}
END_TEST

START_TEST(conv_of_many_positions)
{
    struct fixture *f = fixture_start(3);
    struct setup s = {.axes = 2,
                      .in = {40, 41},
                      .filter = {3, 3},
                      .stride = {1, 1},
                      .dilation = {1, 1},
                      .pad = {{1, 1}, {1, 1}},
                      .batch = 1,
                      .group = 1,
                      .in_depth = 9,
                      .out_depth = 5};
    struct operands o = run_setup(f, &s, OP_Conv2d, s.in_depth, s.out_depth);
    check_conv(f, &s, &o);
    fixture_end(f);
}
END_TEST

START_TEST(conv_depthwise)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct setup s = draw_setup(f, 2);
        s.in_depth = 1;
        s.out_depth = draw(f, 1, 3);
        struct operands o = run_setup(f, &s, OP_DepthWiseConv2d, 1, s.group * s.out_depth);
        check_conv(f, &s, &o);
        fixture_end(f);
    }
}
END_TEST

START_TEST(conv_transpose)
{
    static const enum op_id ops[] = {OP_TransposeConv2d, OP_TransposeConv3d};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round + 1);
        struct setup s = draw_setup(f, 2 + (uint32_t)_i);
        for (uint32_t d = 0; d < s.axes; d++)
            s.dilation[d] = _i == 0 ? 1 : s.dilation[d];
        struct operands o = run_setup(f, &s, ops[_i], s.group * s.in_depth, s.out_depth);
        const struct shape *shape = shape_of(f, o.y);
        for (uint32_t d = 0; d < s.axes; d++)
            ck_assert_int_eq(shape->dims[d + 1], (s.in[d] - 1) * s.stride[d] + (s.filter[d] - 1) * s.dilation[d] + 1 -
                                                     s.pad[d][0] - s.pad[d][1] + s.more[d]);
        const float *y = values_of(f, o.y);
        const double *expected = expected_transpose(f, &s, &o);
        for (uint64_t i = 0; i < shape_count(shape); i++)
            check_near(y[i], expected[i]);
        fixture_end(f);
    }
}
END_TEST

/* ---- counts ---- */

static tensor_id count_case(struct fixture *f, enum op_id op, struct shape x, struct shape w, int64_t stride,
                            int64_t pad, int64_t group)
{
    int64_t strides[] = {stride, stride}, pads[] = {pad, pad, pad, pad};
    build_op(&f->build, op, op_row(op)->name);
    build_in(&f->build, typed(f, DT_FLOAT32, x));
    build_in(&f->build, typed(f, DT_FLOAT32, w));
    build_ints(&f->build, PARAM_stride, strides, 2);
    build_tensor_ints(&f->build, PARAM_pad_amount, &SHAPE(2, 2), pads);
    if (group)
        build_int(&f->build, PARAM_group, group);
    return end_node(f);
}

START_TEST(macs)
{
    struct fixture *f = fixture_start(1);
    /* The first two layers of yolov5s, as its report has them: 353M and 471M. */
    tensor_id y = count_case(f, OP_Conv2d, SHAPE(1, 640, 640, 3), SHAPE(6, 6, 3, 32), 2, 2, 1);
    check_shape(f, y, SHAPE(1, 320, 320, 32));
    ck_assert_uint_eq(macs_of(f, y), 353894400);
    y = count_case(f, OP_Conv2d, SHAPE(1, 320, 320, 32), SHAPE(3, 3, 32, 64), 2, 1, 1);
    ck_assert_uint_eq(macs_of(f, y), 471859200);
    /* 8 · 8 · 8 positions and channels out, 2 channels in per group */
    y = count_case(f, OP_Conv2d, SHAPE(1, 8, 8, 4), SHAPE(1, 1, 2, 8), 1, 0, 2);
    ck_assert_uint_eq(macs_of(f, y), 1024);
    y = count_case(f, OP_DepthWiseConv2d, SHAPE(1, 8, 8, 6), SHAPE(3, 3, 1, 6), 1, 1, 0);
    ck_assert_uint_eq(macs_of(f, y), 8 * 8 * 6 * 9);
    y = count_case(f, OP_TransposeConv2d, SHAPE(1, 4, 4, 3), SHAPE(2, 2, 3, 5), 2, 0, 1);
    check_shape(f, y, SHAPE(1, 8, 8, 5));
    ck_assert_uint_eq(macs_of(f, y), 4 * 4 * 3 * 2 * 2 * 5);
    fixture_end(f);
}
END_TEST

/* ---- refusals ---- */

static void refused(enum op_id op, struct shape x, struct shape w, int64_t bias, int64_t stride, int64_t pad,
                    int64_t group)
{
    struct fixture *f = fixture_start(1);
    int64_t strides[] = {stride, 1}, pads[] = {pad, 0, 0, 0};
    build_op(&f->build, op, op_row(op)->name);
    build_in(&f->build, typed(f, DT_FLOAT32, x));
    build_in(&f->build, typed(f, DT_FLOAT32, w));
    build_in(&f->build, typed(f, DT_FLOAT32, SHAPE(bias)));
    build_ints(&f->build, PARAM_stride, strides, 2);
    build_tensor_ints(&f->build, PARAM_pad_amount, &SHAPE(2, 2), pads);
    if (group)
        build_int(&f->build, PARAM_group, group);
    end_fails(f);
    fixture_end(f);
}

START_TEST(refusals)
{
    refused(OP_Conv2d, SHAPE(1, 5, 4), SHAPE(3, 3, 4, 2), 2, 1, 0, 1);               /* rank */
    refused(OP_Conv2d, SHAPE(1, 5, 5, 4), SHAPE(3, 3, 3, 2), 2, 1, 0, 1);            /* channels */
    refused(OP_Conv2d, SHAPE(1, 5, 5, 4), SHAPE(3, 3, 2, 3), 3, 1, 0, 2);            /* 3 outputs in 2 groups */
    refused(OP_Conv2d, SHAPE(1, 5, 5, 4), SHAPE(3, 3, 4, 2), 3, 1, 0, 1);            /* bias */
    refused(OP_Conv2d, SHAPE(1, 5, 5, 4), SHAPE(3, 3, 4, 2), 2, 0, 0, 1);            /* stride 0 */
    refused(OP_Conv2d, SHAPE(1, 5, 5, 4), SHAPE(7, 3, 4, 2), 2, 1, 0, 1);            /* filter too large */
    refused(OP_Conv2d, SHAPE(1, 5, 5, 4), SHAPE(3, 3, 4, 2), 2, 1, UINT32_MAX, 1);   /* padding out of range */
    refused(OP_DepthWiseConv2d, SHAPE(1, 5, 5, 4), SHAPE(3, 3, 1, 6), 6, 1, 0, 0);   /* 6 outputs of 4 channels */
    refused(OP_TransposeConv2d, SHAPE(1, 5, 5, 4), SHAPE(3, 3, 3, 2), 2, 1, 0, 1);   /* channels */
    refused(OP_TransposeConv2d, SHAPE(1, 5, 5, 4), SHAPE(3, 3, 4, 2), 2, 1, 100, 1); /* nothing left */
}
END_TEST

static void types_refused(enum dtype x, enum dtype w, enum dtype bias)
{
    struct fixture *f = fixture_start(1);
    int64_t ones[] = {1, 1}, none[4] = {0};
    build_op(&f->build, OP_Conv2d, "conv");
    build_in(&f->build, typed(f, x, SHAPE(1, 5, 5, 4)));
    build_in(&f->build, typed(f, w, SHAPE(3, 3, 4, 2)));
    build_in(&f->build, typed(f, bias, SHAPE(2)));
    build_ints(&f->build, PARAM_stride, ones, 2);
    build_tensor_ints(&f->build, PARAM_pad_amount, &SHAPE(2, 2), none);
    end_fails(f);
    fixture_end(f);
}

START_TEST(types_are_not_mixed)
{
    types_refused(DT_FLOAT32, DT_INT8, DT_FLOAT32);
    types_refused(DT_FLOAT32, DT_FLOAT32, DT_INT32);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conv");
    TCase *tc = tcase_create("conv");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, conv, 0, 2);
    tcase_add_test(tc, conv_of_many_positions);
    tcase_add_test(tc, conv_depthwise);
    tcase_add_loop_test(tc, conv_transpose, 0, 2);
    tcase_add_test(tc, macs);
    tcase_add_test(tc, refusals);
    tcase_add_test(tc, types_are_not_mixed);
    tcase_add_loop_test(tc, conv_of_integers, 0, 2);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
