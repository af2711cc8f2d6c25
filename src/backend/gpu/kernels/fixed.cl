/* SPDX-License-Identifier: Apache-2.0 */
/* Between fixed point, real = (q + offset) * scale, and reals. Rounded as in the definition: to float32 wherever that has
 * a float. */

#ifdef DOUBLE_MATH

kernel void dequantize(global const X *x, global O *out, int count, double scale, int offset)
{
    const int i = get_global_id(0);
    if (i < count)
        STORE(O, out, i, (LOAD(X, x, i) + offset) * scale);
}

kernel void quantize(global const X *x, global O *out, int count, double scale, int offset)
{
    const int i = get_global_id(0);
    if (i < count)
        STORE(O, out, i, rint(convert_double(convert_float(LOAD(X, x, i) / scale))) - offset);
}

/* What a channel is made by, as struct gpu_channel. */
typedef struct {
    double weight_scale, bias, scale, offset;
} channel;

kernel void product(global const X *sums, global O *out, int count, int channels, double x_scale,
                    global const channel *of)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const channel c = of[i % channels];
    STORE(O, out, i, rint((LOAD(X, sums, i) * x_scale * c.weight_scale + c.bias) / c.scale) - c.offset);
}

#else

/* q + o */
kernel void integers(global const X *x, global O *out, int count, int offset)
{
    const int i = get_global_id(0);
    if (i < count)
        STORE(O, out, i, LOAD(X, x, i) + offset);
}

#endif
