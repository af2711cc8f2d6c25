/* SPDX-License-Identifier: Apache-2.0 */
/* Pools over channels-last tensors. Padding never takes part in a maximum; averages count it where they are asked to. */

#define POOL_MAXIMUM 0
#define POOL_AVERAGE 1
#define POOL_ROOT 2

/* The elements of an axis that the window covers, padding included. */
static inline int covered(const window *w, int axis, int at)
{
    const int start = at * w->stride[axis] - w->before[axis], end = w->in[axis] + w->after[axis];
    return max(min(w->filter[axis], end - start), 0);
}

kernel void pool(global const X *x, global O *out, int count, int kind, int count_padding, window w FOLLOW_PARAMS)
{
    const int i = get_global_id(0);
    int at[3], first[3], last[3], tap[3];
    if (i >= count)
        return;
    const int channel = i % w.channels, batch = window_at(&w, i / w.channels, at);
    real sum = kind == POOL_MAXIMUM ? -(real)INFINITY : (real)0;
    int elements = 1;
    for (int axis = 0; axis < 3; axis++) {
        window_clip(&w, axis, at[axis], &first[axis], &last[axis]);
        elements *= count_padding ? covered(&w, axis, at[axis]) : last[axis] - first[axis];
    }
    for (tap[0] = first[0]; tap[0] < last[0]; tap[0]++)
        for (tap[1] = first[1]; tap[1] < last[1]; tap[1]++)
            for (tap[2] = first[2]; tap[2] < last[2]; tap[2]++) {
                const real v = LOAD(X, x, window_place(&w, batch, at, tap) * w.channels + channel);
                sum = kind == POOL_MAXIMUM ? (v > sum ? v : sum) : sum + (kind == POOL_ROOT ? v * v : v);
            }
    if (kind == POOL_AVERAGE)
        sum = elements > 0 ? sum / (real)elements : 0;
    if (kind == POOL_ROOT)
        sum = sqrt(sum);
    STORE(O, out, i, FOLLOWED(sum, i));
}
