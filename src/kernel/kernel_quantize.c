/* SPDX-License-Identifier: Apache-2.0 */
/* Quantize, Dequantize and Convert: between floats and fixed-point tensors, whose encodings say what their integers
 * mean, and between such tensors. */
#include <math.h>

#include "kernel/kernels.h"

/* Reals are divided in float32, as the framework that the encoding comes from does, but for those of more bits: the
 * double's quotient rounded to float is float's. */
odlc_status kernel_quantize(const struct kernel *k)
{
    const struct buffer *in = &k->in[0], *out = &k->out[0];
    bool single = in->dtype != DT_FLOAT64;
    if (!out->quant)
        return ODLC_ERR_UNSUPPORTED;
    struct buffer wide = buffer_widen(in, DT_FLOAT64, k->scratch);
    const double *real = wide.data;
    uint64_t count = shape_count(&out->shape);
    double *q = arena_array(k->scratch, double, count);
    for (uint64_t i = 0; i < count; i++) {
        const struct encoding *e = buffer_encoding(out, i);
        double quotient = real[i] / e->scale;
        q[i] = rint(single ? (double)(float)quotient : quotient) - e->offset;
    }
    convert_elements(out->data, out->dtype, q, DT_FLOAT64, count);
    return ODLC_OK;
}

odlc_status kernel_dequantize(const struct kernel *k)
{
    if (!k->in[0].quant)
        return ODLC_ERR_UNSUPPORTED;
    buffer_read(&k->in[0], k->out[0].dtype, k->out[0].data);
    return ODLC_OK;
}

/* What Dequantize and Quantize give one after the other, to float32 and from it. */
odlc_status kernel_convert(const struct kernel *k)
{
    struct buffer reals = buffer_widen(&k->in[0], DT_FLOAT32, k->scratch);
    if ((dtype_is_fixed(k->in[0].dtype) && !k->in[0].quant) || (dtype_is_fixed(k->out[0].dtype) && !k->out[0].quant))
        return ODLC_ERR_UNSUPPORTED;
    buffer_narrow(&reals, &k->out[0]);
    return ODLC_OK;
}
