/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings of quantized tensors: real = (q + offset) * scale. */
#ifndef IR_ENCODING_H
#define IR_ENCODING_H

#include <stdbool.h>
#include <stdint.h>

struct encoding {
    uint32_t bitwidth;
    double min, max, scale;
    int32_t offset;
    bool symmetric;
};

struct quant {
    bool per_axis; /* count encodings along `axis`; otherwise one */
    uint32_t axis, count;
    const struct encoding *encodings;
    bool overridden;   /* given from outside of the quantizer, which keeps to it: by the model, or by a file */
    const char *owner; /* the tensor for which a file gives it; NULL: no file does */
};

#endif
