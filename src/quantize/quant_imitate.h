/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-point activations in a network of floats. */
#ifndef QUANTIZE_QUANT_IMITATE_H
#define QUANTIZE_QUANT_IMITATE_H

#include "quantize/quantizer.h"

/* Per tensor: the encoding that it is given, or that what was observed makes, its own or the one that it shares; NULL:
 * it is no activation, or has one for each index of an axis. What was observed is forgotten. */
const struct encoding **quant_imitated(struct quantizer *q);
/* The reals that stand for the values. */
void quant_imitate(const struct encoding *e, float *values, uint64_t count);

#endif
