/* SPDX-License-Identifier: Apache-2.0 */
/* What calibration inputs say of a layer, and the integers and biases that follow. Sums are over rows of the layer's
 * inputs, which are known twice: as the float network gives them, and as layers before this one do that have their
 * integers already. */
#ifndef QUANTIZE_QUANT_ROUND_H
#define QUANTIZE_QUANT_ROUND_H

#include "quantize/quant_layer.h"

/* Inputs [first, first + count) of a group. */
struct quant_products {
    uint64_t group, first, count;
    double *products; /* H: of fixed inputs among themselves, count × count */
    double *drifts;   /* of fixed inputs and what the others' change does to the result, count × width */
};

struct quant_gathering {
    const struct linear_layer *layer;
    const float *floats; /* the weights */
    struct quant_products *squares;
    size_t n_squares;                    /* 0: weights stay as they are */
    double *fixed_inputs, *float_inputs; /* of all rows, groups × depth; NULL: no bias is to be corrected */
    double n_inputs;                     /* rows in these */
};

/* The elements that the squares of a layer have. */
uint64_t quant_products_size(const struct linear_layer *l);
/* Makes room for them in the quantizer's arena (quant_round.c). */
void quant_products_new(struct quantizer *q, struct quant_gathering *g);
/* Adds some rows of the values of the layer's input. */
void quant_products_add(struct quantizer *q, struct quant_gathering *g, const float *fixed, const float *floats);
/* Chooses the integers of the weights, from those that are nearest. */
void quant_round(struct quantizer *q, struct quant_gathering *g);

/* Adds the inputs of all rows (quant_correct.c). */
void quant_inputs_add(struct quantizer *q, struct quant_gathering *g, const float *fixed, const float *floats);
/* The bias becomes what brings the mean of each channel back to that of the float network. Fails as
 * quant_encode_constant. */
odlc_status quant_correct(struct quantizer *q, const struct quant_gathering *g) MUST_USE;

#endif
