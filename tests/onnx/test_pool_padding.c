/* SPDX-License-Identifier: Apache-2.0 */
/* Padding at the end that no window reaches is left out of pools: shapes and numbers stay, for all small geometries. */
#include "converters/lowering/spatial.h"
#include "tests/op/float_fixture.h"

enum { IN_MOST = 6, FILTER_MOST = 4, STRIDE_MOST = 4, DILATION_MOST = 3, PAD_MOST = 4 };
enum { FLOOR, CEIL };

/* What the windows along one axis see: how many there are, and how far behind the input the last element is. */
struct seen {
    int64_t windows, behind;
};

/* By trying each start. Rounded up, a window that is there in part counts where whole ones leave a rest, and where its
 * start is before the end of the input. */
static struct seen look(const struct spatial *s, int rounding)
{
    struct seen seen = {0};
    int64_t padded = s->in[0] + s->pad[0][0] + s->pad[0][1], reach = (s->kernel[0] - 1) * s->dilation[0] + 1, start = 0;
    for (; start + reach <= padded; start += s->stride[0])
        seen.windows++;
    bool leaves_rest = start - s->stride[0] + reach < padded;
    if (rounding == CEIL && seen.windows && leaves_rest && start < s->in[0] + s->pad[0][0])
        seen.windows++;
    for (int64_t window = 0; window < seen.windows; window++)
        for (int64_t tap = 0; tap < s->kernel[0]; tap++)
            seen.behind =
                max_i64(seen.behind, window * s->stride[0] + tap * s->dilation[0] - s->pad[0][0] + 1 - s->in[0]);
    return seen;
}

static tensor_id pool_row(struct fixture *f, tensor_id x, const struct spatial *s, enum op_id op, bool count_padding,
                          int rounding)
{
    const int64_t filter[] = {1, s->kernel[0]}, stride[] = {1, s->stride[0]};
    const int64_t pads[] = {0, 0, s->pad[0][0], s->pad[0][1]};
    struct shape pairs = SHAPE(2, 2);
    build_op(&f->build, op, "pool");
    build_in(&f->build, x);
    build_ints(&f->build, PARAM_filter_size, filter, 2);
    build_ints(&f->build, PARAM_stride, stride, 2);
    build_tensor_ints(&f->build, PARAM_pad_amount, &pairs, pads);
    if (rounding == CEIL)
        build_int(&f->build, PARAM_rounding_mode, CEIL);
    if (op == OP_PoolAvg2d)
        build_int(&f->build, PARAM_count_pad_for_edges, count_padding);
    return end_node(f);
}

static void check_same(const struct spatial *model, const struct spatial *fitted, enum op_id op, bool count_padding,
                       int rounding)
{
    struct fixture *f = fixture_start(7);
    tensor_id x = floats(f, SHAPE(1, 1, model->in[0], 1));
    tensor_id wanted = pool_row(f, x, model, op, count_padding, rounding);
    tensor_id found = pool_row(f, x, fitted, op, count_padding, FLOOR);
    check_shape(f, found, *shape_of(f, wanted));
    size_t size = shape_count(shape_of(f, wanted)) * sizeof(float);
    ck_assert_mem_eq(values_of(f, found), values_of(f, wanted), size);
    fixture_end(f);
}

static void check_geometry(const struct spatial *model, int rounding)
{
    struct seen seen = look(model, rounding);
    struct spatial fitted = *model;
    bool is_padding_alone = model->pad[0][1] >= spatial_reach(model, 0); /* of which rounding up drops a window */
    if (seen.windows == 0 || (rounding == CEIL && is_padding_alone))
        return;
    spatial_fit_end(&fitted, &seen.windows);
    ck_assert_int_eq(fitted.pad[0][0], model->pad[0][0]);
    ck_assert_int_eq(fitted.pad[0][1], seen.behind);
    ck_assert_int_eq(look(&fitted, FLOOR).windows, seen.windows);
    if (rounding == FLOOR)
        ck_assert_int_le(fitted.pad[0][1], model->pad[0][1]);
    if (model->dilation[0] != 1)
        return;
    check_same(model, &fitted, OP_PoolMax2d, false, rounding);
    check_same(model, &fitted, OP_PoolAvg2d, false, rounding);
    if (rounding == CEIL)
        return; /* what an average counts behind the padding is a matter of its own */
    check_same(model, &fitted, OP_PoolAvg2d, true, rounding);
    check_same(model, &fitted, OP_L2Pool2d, false, rounding);
}

START_TEST(unseen_padding)
{
    const int64_t extents[] = {FILTER_MOST, STRIDE_MOST, DILATION_MOST, PAD_MOST, PAD_MOST, 2};
    int64_t count = 1;
    for (size_t i = 0; i < COUNT_OF(extents); i++)
        count *= extents[i];
    for (int64_t at = 0; at < count; at++) {
        int64_t digit[COUNT_OF(extents)], rest = at;
        for (size_t i = 0; i < COUNT_OF(extents); rest /= extents[i], i++)
            digit[i] = rest % extents[i];
        const struct spatial model = {.axes = 1,
                                      .in = {_i},
                                      .kernel = {1 + digit[0]},
                                      .stride = {1 + digit[1]},
                                      .dilation = {1 + digit[2]},
                                      .pad = {{digit[3], digit[4]}}};
        check_geometry(&model, (int)digit[5]);
    }
}
END_TEST

/* Numbers of windows that strides fit, and their padding, are those of auto_pad. */
START_TEST(padding_of_auto_pad)
{
    for (int64_t in = 1; in <= IN_MOST; in++)
        for (int64_t kernel = 1; kernel <= FILTER_MOST; kernel++)
            for (int64_t stride = 1; stride <= kernel; stride++) /* wider steps would take less than no padding */
                for (int pad = PAD_SAME_LOWER; pad <= PAD_SAME_UPPER; pad++) {
                    struct spatial s = {.axes = 1,
                                        .auto_pad = (enum auto_pad)pad,
                                        .in = {in},
                                        .kernel = {kernel},
                                        .stride = {stride},
                                        .dilation = {1}};
                    int64_t out = (in + stride - 1) / stride;
                    spatial_auto_pad(&s);
                    const struct spatial before = s;
                    spatial_fit_end(&s, &out);
                    ck_assert_mem_eq(s.pad, before.pad, sizeof s.pad);
                }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool padding");
    TCase *tc = tcase_create("pool padding");
    tcase_add_loop_test(tc, unseen_padding, 1, IN_MOST + 1);
    tcase_add_test(tc, padding_of_auto_pad);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
