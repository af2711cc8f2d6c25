/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/spatial.h"

#include "op/op.h"

void spatial_prepend(struct spatial *s)
{
    struct spatial tail = *s;
    s->axes++;
    s->in[0] = s->kernel[0] = s->stride[0] = s->dilation[0] = 1;
    s->pad[0][0] = s->pad[0][1] = s->output_padding[0] = 0;
    for (uint32_t i = 1; i < s->axes; i++) {
        s->in[i] = tail.in[i - 1];
        s->kernel[i] = tail.kernel[i - 1];
        s->stride[i] = tail.stride[i - 1];
        s->dilation[i] = tail.dilation[i - 1];
        s->pad[i][0] = tail.pad[i - 1][0];
        s->pad[i][1] = tail.pad[i - 1][1];
        s->output_padding[i] = tail.output_padding[i - 1];
    }
}

int64_t spatial_reach(const struct spatial *s, uint32_t axis)
{
    return (s->kernel[axis] - 1) * s->dilation[axis] + 1;
}

void spatial_auto_pad(struct spatial *s)
{
    if (s->auto_pad != PAD_SAME_LOWER && s->auto_pad != PAD_SAME_UPPER)
        return;
    for (uint32_t i = 0; i < s->axes; i++) {
        int64_t out = ceil_div(s->in[i], s->stride[i]);
        int64_t total = max_i64((out - 1) * s->stride[i] + spatial_reach(s, i) - s->in[i], 0);
        int64_t less = total / 2, more = total - less;
        s->pad[i][0] = s->auto_pad == PAD_SAME_UPPER ? less : more;
        s->pad[i][1] = total - s->pad[i][0];
    }
}

void spatial_fit_end(struct spatial *s, const int64_t *out)
{
    for (uint32_t i = 0; i < s->axes; i++) {
        int64_t end = (out[i] - 1) * s->stride[i] + spatial_reach(s, i) - s->pad[i][0];
        s->pad[i][1] = max_i64(end - s->in[i], 0);
    }
}

int64_t spatial_strategy(const struct spatial *s)
{
    static const int64_t strategies[] = {
        [PAD_NOTSET] = 5, /* explicit amounts, sizes rounded down */
        [PAD_VALID] = 0,
        [PAD_SAME_LOWER] = 1,
        [PAD_SAME_UPPER] = 2,
    };
    return strategies[s->auto_pad];
}

void spatial_stride_params(struct build *b, const struct spatial *s)
{
    struct shape pairs = SHAPE(s->axes, 2);
    build_ints(b, PARAM_stride, s->stride, s->axes);
    build_tensor_ints(b, PARAM_pad_amount, &pairs, s->pad[0]);
}

void spatial_dilation_param(struct build *b, const struct spatial *s)
{
    build_ints(b, PARAM_dilation, s->dilation, s->axes);
}

void spatial_pool_params(struct build *b, const struct spatial *s, bool count_padding)
{
    spatial_stride_params(b, s);
    build_ints(b, PARAM_filter_size, s->kernel, s->axes);
    build_int(b, PARAM_padding_size_strategy, spatial_strategy(s));
    if (op_param_index(b->pending.op, "count_pad_for_edges") >= 0)
        build_int(b, PARAM_count_pad_for_edges, count_padding);
}
