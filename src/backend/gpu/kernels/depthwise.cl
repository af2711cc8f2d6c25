/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of each channel by itself. An item computes RUN channels (1 or 4) of PIXELS results that are neighbours along
 * the width. Options: types X, Y, B and O; RUN; PIXELS; FILTER_Y, FILTER_X; BIAS. Weights are [filter, channels]; with
 * RUN 1 a channel of the image has `multiplier` of them. */
#if RUN == 4
typedef real4 channels;
#define LOAD_RUN LOAD4
#else
typedef real channels;
#define LOAD_RUN LOAD
#endif

kernel void depthwise(global const X *restrict x, global const Y *restrict weights, global const B *restrict bias,
                      global O *restrict out, const window w, const int images, const int all,
                      const int multiplier FOLLOW_PARAMS)
{
    const int channel = get_global_id(0) * RUN, strips = (w.out[2] + PIXELS - 1) / PIXELS;
    const int strip = get_global_id(1) % strips, row = get_global_id(1) / strips; /* of all images and planes */
    int corner[3];
    if (channel >= all || row >= images * w.out[0] * w.out[1])
        return;
    const int origin = window_corner(&w, row * w.out[2] + strip * PIXELS, images, corner) + channel / multiplier;
    channels sums[PIXELS];
    UNROLL for (int i = 0; i < PIXELS; i++)
        sums[i] = 0;
    for (int z = 0; z < w.filter[0]; z++) {
        const int at_z = corner[0] + z * w.dilation[0];
        if ((uint)at_z >= (uint)w.in[0])
            continue;
        UNROLL for (int y = 0; y < FILTER_Y; y++)
        {
            const int at_y = corner[1] + y * w.dilation[1];
            if ((uint)at_y >= (uint)w.in[1])
                continue;
            UNROLL for (int tap = 0; tap < FILTER_X; tap++)
            {
                const taps t = {{z, y, tap}, 0};
                const int from = origin + taps_offset(&w, &t);
                const channels weight =
                    LOAD_RUN(Y, weights, ((z * FILTER_Y + y) * FILTER_X + tap) * all + channel);
                UNROLL for (int i = 0; i < PIXELS; i++)
                {
                    const int at_x = corner[2] + i * w.stride[2] + tap * w.dilation[2];
                    if ((uint)at_x < (uint)w.in[2])
                        sums[i] = MULTIPLY_ADD(LOAD_RUN(X, x, from + i * w.stride[2] * w.channels), weight, sums[i]);
                }
            }
        }
    }
    UNROLL for (int i = 0; i < PIXELS; i++)
    {
        const int column = strip * PIXELS + i, place = (row * w.out[2] + column) * all + channel;
        if (column >= w.out[2])
            continue;
#ifdef BIAS
        sums[i] += LOAD_RUN(B, bias, channel);
#endif
#if RUN == 4
        STORE4(O, out, place,
               ((real4)(FOLLOWED(sums[i].x, place), FOLLOWED(sums[i].y, place + 1), FOLLOWED(sums[i].z, place + 2),
                        FOLLOWED(sums[i].w, place + 3))));
#else
        STORE(O, out, place, FOLLOWED(sums[i], place));
#endif
    }
}
