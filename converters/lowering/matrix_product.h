/* SPDX-License-Identifier: Apache-2.0 */
/* A product of two matrices. */
#ifndef CONVERTERS_LOWERING_MATRIX_PRODUCT_H
#define CONVERTERS_LOWERING_MATRIX_PRODUCT_H

#include "converters/lowering/lower.h"

/* alpha · A' · B' + beta · C, where ' transposes or does nothing; C broadcasts to the product. */
struct matrix_product {
    tensor_id a, b, c; /* inputs 0 and 1 of the node; c: NO_TENSOR when there is none */
    bool transpose_a, transpose_b;
    double alpha, beta; /* of integers: integers */
};

/* ODLC_ERR_INVALID unless A and B are matrices that can be multiplied. */
odlc_status lower_check_product(const struct lower *l, const struct matrix_product *g) MUST_USE;
/* Output 0: FullyConnected where B is known, MatMul where B is computed. A constant C that is a bias becomes that of
 * the FullyConnected. ODLC_ERR_UNSUPPORTED: alpha or beta of integers is none. */
odlc_status lower_product(struct lower *l, struct matrix_product *g) MUST_USE;

#endif
