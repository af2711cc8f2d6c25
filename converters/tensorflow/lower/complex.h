/* SPDX-License-Identifier: Apache-2.0 */
/* Complex numbers, which containers do not have: two tensors while the graph is lowered. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_COMPLEX_H
#define CONVERTERS_TENSORFLOW_LOWER_COMPLEX_H

#include "converters/lowering/emit.h"

struct complex_parts {
    tensor_id real, imaginary;
};

/* Input i, made of them. ODLC_ERR_UNSUPPORTED: the input is of another kind. */
odlc_status need_complex(const struct lower *l, uint32_t i, const char *what, struct complex_parts *out) MUST_USE;
/* They become output 0 of the operator. */
odlc_status give_complex(struct emit *s, struct complex_parts z) MUST_USE;
/* Input 0 (op) input 1, both complex: Add, Subtract, Multiply. */
odlc_status complex_binary(struct lower *l, enum op_id op) MUST_USE;

#endif
