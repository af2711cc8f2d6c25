/* SPDX-License-Identifier: Apache-2.0 */
/* What the framework's definition of an operator allows its nodes to have. */
#ifndef CONVERTERS_FRONTEND_SIGNATURE_H
#define CONVERTERS_FRONTEND_SIGNATURE_H

#include <stdint.h>

#define SIGNATURE_MANY UINT32_MAX /* any number of operands */

struct signature {
    const char *domain, *op;
    int64_t lo, hi;             /* versions, inclusive */
    uint32_t most_in, most_out; /* operands, or SIGNATURE_MANY */
    /* " NAME:KIND NAME:KIND ", where a kind is one letter: i(nteger), f(loat), s(tring), t(ensor), g(raph), x: a sparse
     * tensor, o: another thing; I, F, S: lists. TensorFlow's also b(ool), y: an element type, p: a shape, fu(n)ction,
     * T: a tensor of any type; B, Y, P, N: lists. "": none. */
    const char *attributes;
};

#endif
