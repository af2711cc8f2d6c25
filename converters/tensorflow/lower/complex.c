/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/lower/complex.h"

odlc_status need_complex(const struct lower *l, uint32_t i, const char *what, struct complex_parts *out)
{
    if (i >= l->n_in || l->values[i].kind != VALUE_COMPLEX)
        return lower_unsupported(l, NULL, NULL, "input %u (%s) is not made of complex numbers", i, what);
    *out = (struct complex_parts){l->values[i].items[0].tensor, l->values[i].items[1].tensor};
    return ODLC_OK;
}

odlc_status give_complex(struct emit *s, struct complex_parts z)
{
    struct lower *l = s->l;
    TRY(s->status);
    struct lower_value *items = arena_array(l->arena, struct lower_value, 2);
    items[0] = (struct lower_value){.kind = VALUE_TENSOR, .tensor = z.real};
    items[1] = (struct lower_value){.kind = VALUE_TENSOR, .tensor = z.imaginary};
    l->results[0] = (struct lower_value){.kind = VALUE_COMPLEX, .items = items, .count = 2};
    return ODLC_OK;
}

odlc_status complex_binary(struct lower *l, enum op_id op)
{
    struct emit s = {.l = l};
    struct complex_parts x, y, z;
    TRY(need_complex(l, 0, "x", &x));
    TRY(need_complex(l, 1, "y", &y));
    if (op != OP_ElementWiseMultiply) {
        z.real = emit_binary(&s, op, x.real, y.real);
        z.imaginary = emit_binary(&s, op, x.imaginary, y.imaginary);
        return give_complex(&s, z);
    }
    tensor_id plus = emit_binary(&s, op, x.real, y.real), minus = emit_binary(&s, op, x.imaginary, y.imaginary);
    z.real = emit_binary(&s, OP_ElementWiseSubtract, plus, minus);
    tensor_id left = emit_binary(&s, op, x.real, y.imaginary), right = emit_binary(&s, op, x.imaginary, y.real);
    z.imaginary = emit_binary(&s, OP_ElementWiseAdd, left, right);
    return give_complex(&s, z);
}
