/* SPDX-License-Identifier: Apache-2.0 */
/* Transposed convolutions over channels-last tensors, a work-item for each element of the result. */

/* The gradient of a convolution. Weights are [taps, channels of the input, channels of the result in a group]. */
kernel void convolve_back(global const X *x, global const Y *weights, global const B *bias, global O *out, int count,
                          int in_depth, int out_depth, int channels, int has_bias, window w FOLLOW_PARAMS)
{
    const int i = get_global_id(0);
    int at[3], tap[3], place[3];
    if (i >= count)
        return;
    const int channel = i % channels, batch = window_at(&w, i / channels, at);
    const int from = channel / out_depth * in_depth, to = channel % out_depth;
    real sum = has_bias ? LOAD(B, bias, channel) : 0;
    for (tap[0] = 0; tap[0] < w.filter[0]; tap[0]++)
        for (tap[1] = 0; tap[1] < w.filter[1]; tap[1]++)
            for (tap[2] = 0; tap[2] < w.filter[2]; tap[2]++) {
                bool reaches = true;
                for (int axis = 0; axis < 3; axis++)
                    reaches = window_reaches(&w, axis, at[axis], tap[axis], w.in[axis], &place[axis]) && reaches;
                if (!reaches)
                    continue;
                const int p = (((batch * w.in[0] + place[0]) * w.in[1] + place[1]) * w.in[2] + place[2]) * w.channels;
                const int t = ((tap[0] * w.filter[1] + tap[1]) * w.filter[2] + tap[2]) * w.channels;
                for (int d = 0; d < in_depth; d++)
                    sum += LOAD(X, x, p + from + d) * LOAD(Y, weights, (t + from + d) * out_depth + to);
            }
    STORE(O, out, i, FOLLOWED(sum, i));
}
