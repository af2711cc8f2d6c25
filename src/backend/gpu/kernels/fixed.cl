/* SPDX-License-Identifier: Apache-2.0 */
/* Between fixed point, real = (q + offset) * scale, and reals. Rounded as in the definition: to float32 wherever that has
 * a float. */

/* Types of fixed-point elements: arguments, since conversions take less time than builds. */
#define SIGNED_8 0
#define UNSIGNED_8 1
#define SIGNED_16 2
#define UNSIGNED_16 3

static inline int load_fixed(int type, global const void *p, int i)
{
    switch (type) {
    case SIGNED_8:
        return ((global const char *)p)[i];
    case UNSIGNED_8:
        return ((global const uchar *)p)[i];
    case SIGNED_16:
        return ((global const short *)p)[i];
    default:
        return ((global const ushort *)p)[i];
    }
}

/* q + o */
#ifdef KERNEL_integers
kernel void integers(global const void *x, int type, global O *out, int count, int offset)
{
    const int i = get_global_id(0);
    if (i < count)
        STORE(O, out, i, load_fixed(type, x, i) + offset);
}
#endif

#ifdef DOUBLE_MATH

static inline void store_fixed(int type, global void *p, int i, double v)
{
    switch (type) {
    case SIGNED_8:
        ((global char *)p)[i] = TO_INTEGER(char, v);
        break;
    case UNSIGNED_8:
        ((global uchar *)p)[i] = TO_INTEGER(uchar, v);
        break;
    case SIGNED_16:
        ((global short *)p)[i] = TO_INTEGER(short, v);
        break;
    default:
        ((global ushort *)p)[i] = TO_INTEGER(ushort, v);
    }
}

#ifdef KERNEL_dequantize
kernel void dequantize(global const void *x, int type, global O *out, int count, double scale, int offset)
{
    const int i = get_global_id(0);
    if (i < count)
        STORE(O, out, i, (load_fixed(type, x, i) + offset) * scale);
}
#endif

#ifdef KERNEL_quantize
kernel void quantize(global const X *x, global void *out, int type, int count, double scale, int offset)
{
    const int i = get_global_id(0);
    if (i < count)
        store_fixed(type, out, i, rint(convert_double(convert_float(LOAD(X, x, i) / scale))) - offset);
}
#endif

/* What a channel is made by, as struct gpu_channel. */
typedef struct {
    double weight_scale, bias, scale, offset;
} channel;

#ifdef KERNEL_product
kernel void product(global const X *sums, global void *out, int type, int count, int channels, double x_scale,
                    global const channel *of)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const channel c = of[i % channels];
    store_fixed(type, out, i, rint((LOAD(X, sums, i) * x_scale * c.weight_scale + c.bias) / c.scale) - c.offset);
}
#endif

#endif
