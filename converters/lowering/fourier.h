/* SPDX-License-Identifier: Apache-2.0 */
/* Fourier transforms as products with matrices of sines and cosines. */
#ifndef CONVERTERS_LOWERING_FOURIER_H
#define CONVERTERS_LOWERING_FOURIER_H

#include "converters/lowering/lower.h"

/* A transform of `length` elements as a matrix: rows are (element, part of it), columns (frequency, part of it) for the
 * forward direction and the other way round for the inverse one. Parts are real and imaginary, or real alone. */
struct transform {
    int64_t length;
    int64_t in, out; /* elements that are read and given; others that the transform takes are 0 */
    int64_t in_parts, out_parts;
    bool inverse;
    bool mirrored;        /* inverse: element k > 0 stands for its conjugate at length - k, too */
    const double *window; /* factors of the elements that are read, or NULL */
};

/* The matrix [in · in_parts, out · out_parts]. ODLC_ERR_UNSUPPORTED and ODLC_ERR_LIMIT: the transform is too large. */
odlc_status transform_matrix(struct lower *l, const struct transform *t, const float **out) MUST_USE;

#endif
