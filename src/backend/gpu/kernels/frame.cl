/* SPDX-License-Identifier: Apache-2.0 */
/* Images with their padding: zeros around, so that every window lies in the image. w is the window over the image as it
 * was; `framed` has the extents with padding, then the images. All channels of a pixel go along. Option: type X. */
kernel void frame(global const X *restrict x, global X *restrict out, const window w, const int4 framed)
{
    const int element = get_global_id(0), column = get_global_id(1), row = get_global_id(2);
    if (element >= w.channels || column >= framed.z || row >= framed.w * framed.x * framed.y)
        return;
    const int at[3] = {row / framed.y % framed.x - w.before[0], row % framed.y - w.before[1], column - w.before[2]};
    const int image = row / (framed.y * framed.x);
    const bool inside = (uint)at[0] < (uint)w.in[0] && (uint)at[1] < (uint)w.in[1] && (uint)at[2] < (uint)w.in[2];
    const int from = (((image * w.in[0] + at[0]) * w.in[1] + at[1]) * w.in[2] + at[2]) * w.channels + element;
    STORE(X, out, (row * framed.z + column) * w.channels + element, inside ? LOAD(X, x, from) : (real)0);
}
