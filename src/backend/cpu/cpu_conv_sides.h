/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions in the library's terms. */
#ifndef BACKEND_CPU_CPU_CONV_SIDES_H
#define BACKEND_CPU_CPU_CONV_SIDES_H

#include "backend/cpu/cpu_call.h"
#include "op/conv_geometry.h"

/* The axes of input, weights and output. Spatial axes along which nothing moves are left out of them and of the
 * geometry, but for one: the library is fastest along the last. */
struct sides {
    struct dnnl_axes x, w, y;
};

/* How a convolution's operands are read. */
conv_read_fn *conv_reader(const struct node *n);

/* The geometry of the step's node, and its sides with `more` channels of the output for each group, which come last
 * among the group's. */
odlc_status conv_sides(const struct cpu_making *m, int64_t more, struct conv *c, struct sides *sides) MUST_USE;

/* What the library takes as its operation. Both descriptions begin alike, and their users do not tell them apart. */
union operation {
    dnnl_convolution_desc_t conv;
    dnnl_deconvolution_desc_t transposed;
};
/* bias NULL: none. */
odlc_status conv_describe(const struct cpu_making *m, const struct conv *c, const dnnl_memory_desc_t *x,
                          const dnnl_memory_desc_t *w, const dnnl_memory_desc_t *bias, const dnnl_memory_desc_t *y,
                          union operation *out) MUST_USE;

#endif
