/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow Cast and Bitcast. */
#include "converters/lowering/casts.h"
#include "converters/lowering/bitwise.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/complex.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"
#include "converters/tensorflow/schema/tf_types.h"

/* Between complex numbers, and of and to real ones: the imaginary parts are lost, or 0. */
static odlc_status cast_complex(struct lower *l, bool to_complex)
{
    struct emit s = {.l = l};
    struct complex_parts z;
    enum dtype to;
    if (lower_takes_complex(l)) {
        TRY(need_complex(l, 0, "x", &z));
        if (to_complex)
            return give_complex(&s, z);
        TRY(lower_tf_dtype(l, "DstT", DT_NONE, &to));
        return lower_cast_to(l, z.real, "DstT", to, false);
    }
    TRY(lower_need(l, 0, "x", &z.real));
    z.real = emit_cast(&s, z.real, DT_FLOAT32);
    TRY(s.status);
    z.imaginary = lower_splat(l, step_name(l, "zero"), DT_FLOAT32, &build_type(l->b, z.real)->shape, 0);
    return give_complex(&s, z);
}

odlc_status tf_cast(struct lower *l)
{
    tensor_id x;
    enum dtype to;
    bool truncate;
    int64_t code;
    TRY(lower_attr_int(l, "DstT", 0, &code));
    if (lower_takes_complex(l) || code == TF_COMPLEX64)
        return cast_complex(l, code == TF_COMPLEX64);
    TRY(lower_need(l, 0, "x", &x));
    TRY(lower_tf_dtype(l, "DstT", DT_NONE, &to));
    TRY(lower_attr_bool(l, "Truncate", false, &truncate));
    enum dtype from = build_type(l->b, x)->dtype;
    if (truncate && dtype_is_float(from) && dtype_is_float(to) && dtype_size(to) < dtype_size(from))
        return lower_unsupported(l, "Truncate", NULL, "%s is cast to %s by cutting digits off, not by rounding",
                                 dtype_info(from)->name, dtype_info(to)->name);
    return lower_cast_to(l, x, "DstT", to, false);
}

/* The bytes of a constant as elements of another size: smaller ones are a new last axis, larger ones take it up. */
static odlc_status resized_bits(struct lower *l, tensor_id x, enum dtype to)
{
    const struct tensor *t = graph_tensor(l->b->graph, x);
    struct shape shape = t->type->shape;
    uint64_t from_size = dtype_size(t->type->dtype), to_size = dtype_size(to);
    TRY(lower_need_const(l, 0, "input", "no op of the container cuts elements or joins them"));
    if (to_size < from_size && shape.rank < MAX_RANK) {
        shape.dims[shape.rank++] = (int64_t)(from_size / to_size);
    } else {
        if (shape.rank == 0 || (uint64_t)shape.dims[shape.rank - 1] * from_size != to_size)
            return lower_invalid(l, "type", NULL, "the elements of %s do not make up %s",
                                 shape_text(l->diags->arena, &shape), dtype_info(to)->name);
        shape.rank--;
    }
    struct view view = view_of(view_load(l->arena, t->view, t->type->dtype), to, &shape);
    l->out[0] = graph_add_constant(l->b->graph, lower_out_name(l, 0), to, &view);
    return ODLC_OK;
}

odlc_status tf_bitcast(struct lower *l)
{
    tensor_id x;
    enum dtype to;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_tf_dtype(l, "type", DT_NONE, &to));
    enum dtype from = build_type(l->b, x)->dtype;
    if (from == DT_STRING || to == DT_STRING || from == DT_BOOL || to == DT_BOOL)
        return lower_invalid(l, "type", NULL, "the bits of %s are none of %s", dtype_info(from)->name,
                             dtype_info(to)->name);
    if (dtype_size(from) != dtype_size(to))
        return resized_bits(l, x, to);
    return lower_bit_cast_to(l, x, "type", to);
}

/* A count that is negative shifts by 0, one beyond the bits by all but one of them. The row gives the direction. */
odlc_status tf_shift(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, y;
    TRY(lower_need(l, 0, "x", &x));
    TRY(lower_need(l, 1, "y", &y));
    enum dtype dtype = build_type(l->b, y)->dtype;
    if (!dtype_is_int(dtype))
        return lower_invalid(l, NULL, NULL, "a shift by %s", dtype_info(dtype)->name);
    if (dtype_info(dtype)->cls == CLASS_INT)
        y = emit_binary(&s, OP_ElementWiseMaximum, y, emit_scalar(&s, y, 0));
    y = emit_binary(&s, OP_ElementWiseMinimum, y, emit_scalar(&s, y, dtype_info(dtype)->bits - 1));
    TRY(s.status);
    return lower_shift(l, x, y, *l->variant == 'l');
}
