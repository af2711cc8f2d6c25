/* SPDX-License-Identifier: Apache-2.0 */
/* Elements over a power of the sum of squares of the channels around them. */
kernel void lrn(global const X *x, global O *out, int count, int channels, int radius, number alpha, number beta,
                number bias)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int channel = i % channels, begin = i - min(channel, radius), end = i + min(channels - 1 - channel, radius);
    real squares = 0;
    for (int at = begin; at <= end; at++)
        squares += LOAD(X, x, at) * LOAD(X, x, at);
    STORE(O, out, i, LOAD(X, x, i) / pow(TO_REAL(bias) + TO_REAL(alpha) * squares, TO_REAL(beta)));
}
