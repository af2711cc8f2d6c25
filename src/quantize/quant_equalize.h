/* SPDX-License-Identifier: Apache-2.0 */
/* Scaled constants of layers in a row. */
#ifndef QUANTIZE_QUANT_EQUALIZE_H
#define QUANTIZE_QUANT_EQUALIZE_H

#include "op/params.h"
#include "quantize/quant_channels.h"
#include "quantize/quant_scalable.h"

struct quant_equalizing {
    struct quantizer *q;
    struct quant_channels **channels; /* per tensor that layers in a row read: what was observed; else NULL */
    float **scaled;                   /* per tensor: the floats that a constant is to be of; NULL: it stays */
};

/* Makes room for what is to be observed; NULL: no layers can be scaled. */
struct quant_equalizing *quant_equalizing_new(struct quantizer *q);
/* Scales, and encodes the constants anew. Fails as quant_encode_constant. */
odlc_status quant_equalize(struct quant_equalizing *e) MUST_USE;

/* A copy of the constant's floats, which it is to be of from now on, and which may be changed. */
float *quant_equalizing_copy(struct quant_equalizing *e, tensor_id id);
/* An element for each channel of what a folded batch normalization says of the result; NULL: nothing. */
double *quant_equalizing_note(struct quant_equalizing *e, const struct scalable *s, enum param_id id);
void quant_equalizing_set_note(struct quant_equalizing *e, const struct scalable *s, enum param_id id,
                               const double *values);
/* What nearly all values of a channel have goes from one bias to the next (quant_absorb.c). */
void quant_absorb_bias(struct quant_equalizing *e, node_id id);

#endif
