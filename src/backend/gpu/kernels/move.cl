/* SPDX-License-Identifier: Apache-2.0 */
/* Elements are brought from one place to another, or several to one. */

#ifdef KERNEL_move
kernel void move(global const X *x, global O *out, int count, walk w)
{
    const int i = get_global_id(0);
    int at[2];
    if (i >= count)
        return;
    walk_to(&w, i, 2, at);
    STORE(O, out, at[1], LOAD(X, x, at[0]));
}
#endif

/* As struct gpu_pads: the result is x inside of a border. */
typedef struct {
    int rank, scheme;
    int out[8], in[8], before[8], strides[8];
} pads;

/* The index of an axis of x that index `at` of the result less the border shows; -1: the constant. */
static inline int pad_source(int scheme, int at, int dim)
{
    if (at >= 0 && at < dim)
        return at;
    switch (scheme) {
    case 1: /* symmetric */
        return at < 0 ? -at - 1 : 2 * dim - 1 - at;
    case 2: /* reflect */
        return at < 0 ? -at : 2 * dim - 2 - at;
    case 3: /* edge */
        return at < 0 ? 0 : dim - 1;
    default:
        return -1;
    }
}

#ifdef KERNEL_pad
kernel void pad(global const X *x, global O *out, int count, global const X *constant_value, pads p)
{
    const int i = get_global_id(0);
    int place = 0, rest = i;
    if (i >= count)
        return;
    for (int axis = p.rank - 1; axis >= 0 && place >= 0; axis--) {
        const int before = rest / p.out[axis];
        const int at = pad_source(p.scheme, rest - before * p.out[axis] - p.before[axis], p.in[axis]);
        place = at < 0 ? -1 : place + at * p.strides[axis];
        rest = before;
    }
    STORE(O, out, i, place < 0 ? LOAD(X, constant_value, 0) : LOAD(X, x, place));
}
#endif

/* As struct gpu_batches: images of `in` in a border of `before`, and the images that their blocks become. */
typedef struct {
    int batch, depth, block[2], in[2], before[2], along[2];
} batches;

/* Blocks of images as elements of the batch; the border has the constant. */
#ifdef KERNEL_to_batch
kernel void to_batch(global const X *x, global O *out, int count, global const X *constant_value, batches b)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int pixel = i / b.depth, row = pixel / b.along[1], image = row / b.along[0], block = image / b.batch;
    const int at_y = (row - image * b.along[0]) * b.block[0] + block / b.block[1] - b.before[0];
    const int at_x = (pixel - row * b.along[1]) * b.block[1] + block % b.block[1] - b.before[1];
    const bool inside = (uint)at_y < (uint)b.in[0] && (uint)at_x < (uint)b.in[1];
    const int from = ((image % b.batch * b.in[0] + at_y) * b.in[1] + at_x) * b.depth + i - pixel * b.depth;
    STORE(O, out, i, inside ? LOAD(X, x, from) : LOAD(X, constant_value, 0));
}
#endif

#ifdef KERNEL_from_batch
kernel void from_batch(global const X *x, global O *out, int count, batches b)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int pixel = i / b.depth, row = pixel / b.in[1], image = row / b.in[0];
    const int at_y = row - image * b.in[0] + b.before[0], at_x = pixel - row * b.in[1] + b.before[1];
    const int block = at_y % b.block[0] * b.block[1] + at_x % b.block[1];
    const int to = ((block * b.batch + image) * b.along[0] + at_y / b.block[0]) * b.along[1] + at_x / b.block[1];
    STORE(O, out, i, LOAD(X, x, to * b.depth + i - pixel * b.depth));
}
#endif

/* Elements under the taps of windows, one window after another; outside of the image is the constant. */
#ifdef KERNEL_patches
kernel void patches(global const X *x, global O *out, int count, global const X *constant_value, window w)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int of_patch = w.filter[1] * w.filter[2] * w.channels, place = i / of_patch, rest = i - place * of_patch;
    const int tap = rest / w.channels, row = place / w.out[2], image = row / w.out[1];
    const int at_y = (row - image * w.out[1]) * w.stride[1] + tap / w.filter[2] * w.dilation[1] - w.before[1];
    const int at_x = (place - row * w.out[2]) * w.stride[2] + tap % w.filter[2] * w.dilation[2] - w.before[2];
    const bool inside = (uint)at_y < (uint)w.in[1] && (uint)at_x < (uint)w.in[2];
    const int from = ((image * w.in[1] + at_y) * w.in[2] + at_x) * w.channels + rest - tap * w.channels;
    STORE(O, out, i, inside ? LOAD(X, x, from) : LOAD(X, constant_value, 0));
}
#endif

/* The way back: what windows have of a pixel is added. x has the windows' elements in turn, a tap of a channel after another. */
#ifdef KERNEL_image
kernel void image(global const X *x, global O *out, int count, window w)
{
    const int i = get_global_id(0);
    int place_y, place_x;
    if (i >= count)
        return;
    const int pixel = i / w.channels, channel = i - pixel * w.channels, row = pixel / w.in[2], batch = row / w.in[1];
    const int at_y = row - batch * w.in[1], at_x = pixel - row * w.in[2], taps = w.filter[1] * w.filter[2];
    real sum = 0;
    for (int tap = 0; tap < taps; tap++) {
        const int tap_y = tap / w.filter[2], tap_x = tap - tap_y * w.filter[2];
        if (window_reaches(&w, 1, at_y, tap_y, w.out[1], &place_y) && window_reaches(&w, 2, at_x, tap_x, w.out[2], &place_x))
            sum += LOAD(X, x, (((batch * w.channels + channel) * taps + tap) * w.out[1] + place_y) * w.out[2] + place_x);
    }
    STORE(O, out, i, sum);
}
#endif
