/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering and scattering, as shape rules and kernels read them (op_index.c). */
#ifndef OP_SLICES_H
#define OP_SLICES_H

#include "op/params.h"

/* Values of the param `reduction`. */
enum scatter_reduction { SCATTER_NONE, SCATTER_ADD, SCATTER_MUL, SCATTER_MAX };

/* The slices that coordinates of `depth` values name, after the batch axes. */
struct slices {
    uint32_t batch_dims, depth;
    uint64_t per_batch;                        /* coordinates in one batch */
    uint64_t slice;                            /* elements in one */
    uint64_t batch_stride;                     /* elements of data in one batch */
    int64_t dims[MAX_RANK], strides[MAX_RANK]; /* of the axes that coordinates run over */
};

/* False when the indices do not fit the data. */
bool slices_of(const struct shape *data, const struct shape *indices, int64_t batch_dims, struct slices *out);

#endif
