/* SPDX-License-Identifier: Apache-2.0 */
/* What integers do to the results of a layer, as a model says: rounded weights and a rounded bias add their own errors,
 * and noise of the inputs comes through the weights. All noise is of values that are spread as calibration inputs show,
 * channels and taps apart from each other, and encodings are those of whole ranges. */
#ifndef QUANTIZE_QUANT_NOISE_H
#define QUANTIZE_QUANT_NOISE_H

#include "quantize/quant_channels.h"
#include "quantize/quant_scalable.h"

struct quant_noise {
    const struct scalable *layer;
    const float *weights, *biases; /* biases NULL: there are none */
    const double *out;             /* per channel of the result: what weights and bias are divided by */
    const double *in;              /* per channel of the input: what weights are multiplied by */
    const double *variance;        /* per channel of the input, as it is read … */
    const double *noise;           /* … and the variance of its errors */
};

/* Adds to result[c] the variance of errors of the result's channel c. */
void quant_noise_add(struct quantizer *q, const struct quant_noise *n, double *result);

#endif
