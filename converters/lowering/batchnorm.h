/* SPDX-License-Identifier: Apache-2.0 */
/* Normalization by statistics that the model has. */
#ifndef CONVERTERS_LOWERING_BATCHNORM_H
#define CONVERTERS_LOWERING_BATCHNORM_H

#include "converters/lowering/lower.h"

enum { BN_SCALE, BN_SHIFT, BN_MEAN, BN_VARIANCE, BN_STATISTICS };

struct batchnorm {
    tensor_id x;
    tensor_id given[BN_STATISTICS];  /* of one shape, as the model has them */
    tensor_id like_x[BN_STATISTICS]; /* the same in the dtype of x */
    double epsilon;
};

/* *weight and *bias, for which the result is weight · x + bias. Constant statistics are computed with in double, others
 * by nodes. */
odlc_status batchnorm_weights(struct lower *l, const struct batchnorm *n, tensor_id *weight, tensor_id *bias) MUST_USE;

/* Starts a Batchnorm of the image, which is n->x in the container's order of axes. */
odlc_status batchnorm_start(struct lower *l, const struct batchnorm *n, tensor_id image, const char *name) MUST_USE;

#endif
