/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowering of ONNX normalisations shares. */
#ifndef CONVERTERS_ONNX_LOWER_NORM_H
#define CONVERTERS_ONNX_LOWER_NORM_H

#include "converters/lowering/emit.h"

/* Input i in the dtype of x; newer versions of the operators let weights and statistics have their own. */
odlc_status norm_need_like(struct lower *l, uint32_t i, const char *what, tensor_id x, tensor_id *out) MUST_USE;

/* ---- over the last axes ---- */

struct over_axes {
    tensor_id x, scale, shift; /* NO_TENSOR where the node has none */
    enum dtype result;
    double epsilon;
    int64_t axes[MAX_RANK];
    uint32_t n_axes;
    struct shape weights; /* what the op's weights must look like */
};

/* The axes of n->x from `first` on. */
void norm_over_last(const struct lower *l, uint32_t first, struct over_axes *n);
/* (x - mean) / √(variance + epsilon) · scale + shift, in the dtype of x. */
odlc_status norm_by_layer(struct emit *s, const struct over_axes *n, tensor_id *out) MUST_USE;
/* x / √(mean of x² + epsilon) · scale, statistics in the type `stash`; the optional output `statistic` (0: none) is the
 * inverse root. */
odlc_status norm_by_root(struct emit *s, const struct over_axes *n, enum dtype stash, uint32_t statistic,
                         tensor_id *out) MUST_USE;
/* Mean and inverse deviation, in the type `stash`: the optional outputs 1 and 2. */
odlc_status norm_give_statistics(struct emit *s, const struct over_axes *n, enum dtype stash) MUST_USE;

#endif
