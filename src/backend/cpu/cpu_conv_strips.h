/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-point convolutions in strips: so many rows of the result at once that their sums are still near the processor
 * when they are rounded. */
#ifndef BACKEND_CPU_CPU_CONV_STRIPS_H
#define BACKEND_CPU_CPU_CONV_STRIPS_H

#include "backend/cpu/cpu_conv_sides.h"
#include "backend/cpu/cpu_fixed_product.h"

/* Whether the sums of the whole are too many to stay near, and the convolution can be taken apart: it has one image,
 * and no transposed filter. */
bool strips_are_worth(const struct cpu_making *m, const struct conv *c, const struct sides *axes,
                      const struct fixed_making *f);

/* Makes the step. Weights are in the order of axes->w. */
odlc_status strips_prepare(struct cpu_making *m, const struct conv *c, const struct sides *axes,
                           const struct fixed_making *f, const int8_t *weights) MUST_USE;

#endif
