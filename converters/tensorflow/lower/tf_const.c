/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow operators whose result is known at conversion: Shape and what is computed of shapes, Fill, Range,
 * LinSpace; and those whose result's shape depends on values, which must be known: Unique, ListDiff. */
#include <math.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/pads.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/padded.h"
#include "converters/lowering/unique.h"
#include "converters/tensorflow/lower/complex.h"
#include "converters/tensorflow/lower/lists.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"
#include "converters/tensorflow/schema/tf_types.h"

/* ---- Shape, ShapeN, Size, Rank ---- */

/* The shapes of all inputs; also of a variable. */
odlc_status tf_shape(struct lower *l)
{
    enum dtype dtype;
    tensor_id in;
    TRY(lower_tf_dtype(l, "out_type", DT_INT32, &dtype));
    TRY(tf_check_outputs(l, l->n_in));
    for (uint32_t i = 0; i < l->n_out; i++) {
        TRY(lower_need(l, i, "input", &in));
        lower_give_dims(l, i, dtype, in, 0, build_rank(l->b, in));
    }
    return ODLC_OK;
}

odlc_status tf_size(struct lower *l)
{
    enum dtype dtype;
    tensor_id in;
    TRY(lower_need(l, 0, "input", &in));
    TRY(lower_tf_dtype(l, "out_type", DT_INT32, &dtype));
    lower_give_size(l, dtype, in);
    return ODLC_OK;
}

odlc_status tf_rank(struct lower *l)
{
    tensor_id in;
    TRY(lower_need(l, 0, "input", &in));
    struct shape scalar = {.rank = 0};
    lower_give_ints(l, 0, DT_INT32, &scalar, &(int64_t){build_rank(l->b, in)});
    return ODLC_OK;
}

odlc_status tf_broadcast_args(struct lower *l)
{
    tensor_id in;
    const int64_t *dims[2];
    uint32_t count[2];
    struct shape shape[2], both;
    for (uint32_t i = 0; i < 2; i++) {
        TRY(lower_need(l, i, "shape", &in));
        TRY(lower_const_ints(l, i, "shape", &dims[i], &count[i]));
        TRY(lower_shape_of(l, NULL, dims[i], count[i], &shape[i]));
    }
    if (!shape_broadcast(&shape[0], &shape[1], &both))
        return lower_invalid(l, NULL, NULL, "%s and %s cannot be broadcast", shape_text(l->diags->arena, &shape[0]),
                             shape_text(l->diags->arena, &shape[1]));
    struct shape list = SHAPE(both.rank);
    lower_give_ints(l, 0, build_type(l->b, l->in[0])->dtype, &list, both.dims);
    return ODLC_OK;
}

/* The axes along which the gradients of two operands that were broadcast are summed: those of 1, and those that were
 * added, also where the other operand has no more of them. */
odlc_status tf_broadcast_gradient_args(struct lower *l)
{
    static const char *const names[] = {"s0", "s1"};
    tensor_id in;
    const int64_t *dims;
    uint32_t count;
    struct shape shape[2], both;
    for (uint32_t i = 0; i < 2; i++) {
        TRY(lower_need(l, i, names[i], &in));
        TRY(lower_const_ints(l, i, names[i], &dims, &count));
        TRY(lower_shape_of(l, names[i], dims, count, &shape[i]));
    }
    if (!shape_broadcast(&shape[0], &shape[1], &both))
        return lower_invalid(l, NULL, NULL, "%s and %s cannot be broadcast", shape_text(l->diags->arena, &shape[0]),
                             shape_text(l->diags->arena, &shape[1]));
    bool same = shape_equal(&shape[0], &shape[1]);
    for (uint32_t i = 0; i < l->n_out; i++) {
        int64_t axes[MAX_RANK], found = 0;
        uint32_t added = both.rank - shape[i].rank;
        for (uint32_t axis = 0; !same && axis < both.rank; axis++)
            if (axis < added || shape[i].dims[axis - added] == 1)
                axes[found++] = axis;
        lower_give_ints(l, i, build_type(l->b, l->in[0])->dtype, &SHAPE(found), axes);
    }
    return ODLC_OK;
}

/* Where each of the tensors that are joined begins, by their shapes. */
odlc_status tf_concat_offset(struct lower *l)
{
    int64_t axis, begin = 0, *offset;
    const int64_t *first, *dims;
    uint32_t rank, count, at;
    tensor_id in;
    TRY(lower_need(l, 1, "shape", &in));
    TRY(lower_one_int(l, 0, "concat_dim", &axis));
    TRY(lower_const_ints(l, 1, "shape", &first, &rank));
    TRY(lower_axis(l, "concat_dim", axis, rank, &at));
    TRY(tf_check_outputs(l, (int64_t)l->n_in - 1));
    for (uint32_t i = 0; i < l->n_out; i++) {
        TRY(lower_const_ints(l, i + 1, "shape", &dims, &count));
        bool fits = count == rank;
        for (uint32_t k = 0; fits && k < rank; k++)
            fits = k == at || dims[k] == first[k];
        if (!fits)
            return lower_invalid(l, NULL, NULL, "shape %u cannot be joined with the first along axis %u", i, at);
        TRY(lower_table(l, rank, sizeof *offset, &offset));
        offset[at] = begin;
        begin += dims[at];
        lower_give_ints(l, i, build_type(l->b, in)->dtype, &SHAPE(rank), offset);
    }
    return ODLC_OK;
}

/* ---- Fill, ZerosLike, OnesLike, Empty ---- */

static odlc_status read_shape(const struct lower *l, struct shape *out)
{
    tensor_id in;
    const int64_t *dims;
    uint32_t count;
    TRY(lower_need(l, 0, "dims", &in));
    TRY(lower_const_ints(l, 0, "dims", &dims, &count));
    return lower_shape_of(l, "dims", dims, count, out);
}

odlc_status tf_fill(struct lower *l)
{
    tensor_id value;
    struct shape shape;
    l->takes_sizes = true;
    TRY(read_shape(l, &shape));
    TRY(lower_need(l, 1, "value", &value));
    if (shape_count(&build_type(l->b, value)->shape) != 1)
        return lower_invalid(l, "value", NULL, "value is not one element");
    struct shape scalar = {.rank = 0};
    TRY(build_reshape(l->b, value, &scalar, step_name(l, "value"), &value));
    TRY(lower_broadcast(l, value, &shape, lower_out_name(l, 0), &l->out[0]));
    lower_note_sizes(l, 0, l->in[0], 0);
    return ODLC_OK;
}

odlc_status tf_zeros_like(struct lower *l)
{
    tensor_id in;
    TRY(lower_need(l, 0, "x", &in));
    const struct type type = *build_type(l->b, in);
    l->out[0] = lower_splat(l, lower_out_name(l, 0), type.dtype, &type.shape, l->variant != NULL);
    return ODLC_OK;
}

/* What is in it is not said, or zeros. */
odlc_status tf_empty(struct lower *l)
{
    struct shape shape;
    enum dtype dtype;
    TRY(read_shape(l, &shape));
    TRY(lower_tf_dtype(l, "dtype", DT_NONE, &dtype));
    if (dtype == DT_STRING)
        return lower_unsupported(l, "dtype", NULL, "the elements are strings");
    l->out[0] = lower_splat(l, lower_out_name(l, 0), dtype, &shape, 0);
    return ODLC_OK;
}

/* ---- Const ---- */

/* Both parts of complex numbers; the others became data of the graph when it was read. */
odlc_status tf_const(struct lower *l)
{
    const struct fw_attr *value = fw_find_attr(l->node, "value");
    if (value && value->kind == FW_COMPLEX) {
        struct emit s = {.l = l};
        const struct view *view = &value->tensor->view;
        const uint32_t last = view->shape.rank - 1;
        const tensor_id both = graph_add_constant(l->b->graph, step_name(l, "parts"), view->dtype, view);
        const tensor_id real = emit_element(&s, both, last, 0);
        return give_complex(&s, (struct complex_parts){real, emit_element(&s, both, last, 1)});
    }
    return lower_unsupported(l, "value", NULL, "the tensor is of the type %s, which is not supported",
                             tf_dtype_name(value ? value->i : 0));
}

/* ---- Range, LinSpace ---- */

static const char *const range_inputs[] = {"start", "limit", "delta"};

/* How many numbers there are is computed in the numbers' own type, where 0.3 / 0.1 is 3. */
static double float_steps(enum dtype dtype, double start, double limit, double delta)
{
    if (dtype == DT_FLOAT64)
        return ceil((limit - start) / delta);
    return (double)ceilf(((float)limit - (float)start) / (float)delta);
}

static odlc_status range_of_floats(struct lower *l, enum dtype dtype)
{
    double v[3];
    for (uint32_t i = 0; i < 3; i++)
        TRY(lower_one_float(l, i, range_inputs[i], &v[i]));
    bool is_possible = v[2] > 0 ? v[0] <= v[1] : v[2] < 0 && v[0] >= v[1];
    if (!is_possible)
        return lower_invalid(l, "delta", NULL, "there is no range from %g to %g by %g", v[0], v[1], v[2]);
    return lower_give_float_range(l, dtype, v, float_steps(dtype, v[0], v[1], v[2]));
}

odlc_status tf_range(struct lower *l)
{
    tensor_id in;
    int64_t v[3];
    TRY(lower_need(l, 0, "start", &in));
    enum dtype dtype = build_type(l->b, in)->dtype;
    if (dtype_is_float(dtype))
        return range_of_floats(l, dtype);
    for (uint32_t i = 0; i < 3; i++) {
        l->takes_sizes = i == 1;
        TRY(lower_one_int(l, i, range_inputs[i], &v[i]));
    }
    if (v[2] == 0 || (v[2] > 0 ? v[0] > v[1] : v[0] < v[1]))
        return lower_invalid(l, "delta", NULL, "there is no range from %lld to %lld by %lld", (long long)v[0],
                             (long long)v[1], (long long)v[2]);
    TRY(lower_give_range(l, dtype, v[0], v[1], v[2]));
    lower_note_sizes(l, 0, l->in[1], 0);
    return ODLC_OK;
}

odlc_status tf_lin_space(struct lower *l)
{
    tensor_id in;
    double start, stop;
    int64_t count;
    TRY(lower_need(l, 0, "start", &in));
    TRY(lower_one_float(l, 0, "start", &start));
    TRY(lower_one_float(l, 1, "stop", &stop));
    TRY(lower_one_int(l, 2, "num", &count));
    if (count < 1)
        return lower_invalid(l, "num", NULL, "num is %lld", (long long)count);
    double step = count > 1 ? (stop - start) / (double)(count - 1) : 0;
    return lower_give_steps(l, build_type(l->b, in)->dtype, start, step, (size_t)count);
}

/* ---- Diag, DiagPart ---- */

/* A row of n elements and n zeros behind each element, end to end, is a matrix with them on its diagonal. */
odlc_status tf_diag(struct lower *l)
{
    tensor_id in;
    TRY(lower_need(l, 0, "diagonal", &in));
    const struct shape shape = build_type(l->b, in)->shape;
    if (2 * shape.rank > MAX_RANK)
        return lower_unsupported(l, NULL, NULL, "the result has more than %d axes", MAX_RANK);
    struct shape result = {.rank = 2 * shape.rank};
    for (uint32_t i = 0; i < result.rank; i++)
        result.dims[i] = shape.dims[i % shape.rank];
    TRY(lower_check_shape(l, NULL, &result));
    int64_t n = (int64_t)shape_count(&shape);
    struct emit s = {.l = l};
    struct pads p = {.mode = MODE_CONSTANT, .after = {0, n}};
    tensor_id column = emit_reshape(&s, in, &SHAPE(n, 1)), padded;
    TRY(s.status);
    TRY(lower_padded(l, column, &p, step_name(l, "padded"), &padded));
    tensor_id flat = emit_reshape(&s, padded, &SHAPE(n * (n + 1)));
    return emit_give(&s, 0, emit_reshape(&s, emit_slice(&s, flat, 0, 0, n * n), &result));
}

odlc_status tf_diag_part(struct lower *l)
{
    tensor_id in;
    TRY(lower_need(l, 0, "input", &in));
    const struct shape shape = build_type(l->b, in)->shape;
    struct shape half = {.rank = shape.rank / 2};
    bool fits = shape.rank && shape.rank % 2 == 0;
    for (uint32_t i = 0; fits && i < half.rank; i++) {
        half.dims[i] = shape.dims[i];
        fits = shape.dims[i] == shape.dims[half.rank + i];
    }
    if (!fits)
        return lower_invalid(l, NULL, NULL, "%s is not the shape of a square", shape_text(l->diags->arena, &shape));
    struct emit s = {.l = l};
    int64_t n = (int64_t)shape_count(&half);
    tensor_id flat = emit_reshape(&s, in, &SHAPE(n * n)), diagonal;
    TRY(s.status);
    struct slices every = slices_whole(&SHAPE(n * n));
    slices_set(&every, 0, 0, n * n, n + 1, n * n);
    TRY(lower_slices(l, flat, &every, step_name(l, "diagonal"), &diagonal));
    return emit_give(&s, 0, emit_reshape(&s, diagonal, &half));
}

/* ---- UnravelIndex ---- */

/* Coordinates of elements that are counted through. */
odlc_status tf_unravel_index(struct lower *l)
{
    tensor_id in;
    const int64_t *indices, *dims;
    uint32_t count, rank;
    int64_t *coordinates, all = 1;
    TRY(lower_need(l, 0, "indices", &in));
    TRY(lower_const_ints(l, 0, "indices", &indices, &count));
    TRY(lower_const_ints(l, 1, "dims", &dims, &rank));
    const struct type type = *build_type(l->b, in);
    for (uint32_t d = 0; d < rank; d++)
        if (dims[d] < 0 || ckd_mul(&all, all, dims[d]))
            return lower_invalid(l, "dims", NULL, "the dims are not those of a tensor");
    TRY(lower_table(l, (uint64_t)count * rank, sizeof *coordinates, &coordinates));
    for (uint32_t i = 0; i < count; i++) {
        int64_t left = indices[i];
        if (left < 0 || left >= all)
            return lower_invalid(l, "indices", NULL, "index %lld is outside %lld elements", (long long)left,
                                 (long long)all);
        for (uint32_t d = rank; d-- > 0; left /= dims[d])
            coordinates[(uint64_t)d * count + i] = left % dims[d];
    }
    struct shape shape = SHAPE(rank, count);
    shape.rank = type.shape.rank ? 2 : 1;
    lower_give_ints(l, 0, type.dtype, &shape, coordinates);
    return ODLC_OK;
}

/* ---- Unique, ListDiff ---- */

/* Forms with and without the input `axis`, which may be empty, and the output of counts. */
odlc_status tf_unique(struct lower *l)
{
    tensor_id in;
    enum dtype dtype;
    struct unique u;
    const int64_t *list;
    uint32_t count, axis = 0;
    TRY(lower_need(l, 0, "x", &in));
    if (!lower_pads(l, 0))
        TRY(lower_need_values(l, 0, "x"));
    TRY(lower_tf_dtype(l, "out_idx", DT_INT32, &dtype));
    TRY(lower_const_ints(l, 1, "axis", &list, &count));
    if (count > 1 || (count == 0 && build_rank(l->b, in) != 1))
        return lower_invalid(l, "axis", NULL, "%u axes for a tensor of rank %u", count, build_rank(l->b, in));
    if (count)
        TRY(lower_axis(l, "axis", list[0], build_rank(l->b, in), &axis));
    if (lower_pads(l, 0))
        return lower_padded_outputs(l, in, axis, &(struct unique_outputs){false, dtype, 0, 1, 2});
    TRY(lower_unique_slices(l, in, axis, false, &u));
    struct shape of_unique = SHAPE(u.count), of_all = SHAPE(u.all);
    lower_give_ints(l, 1, dtype, &of_all, u.inverse);
    lower_give_ints(l, 2, dtype, &of_unique, u.counts);
    return lower_gather_positions(l, in, axis, u.places, u.count, lower_out_name(l, 0), &l->out[0]);
}

/* What x has and y has not: numbers of the groups of equal elements of both tell. */
odlc_status tf_list_diff(struct lower *l)
{
    tensor_id list[2], both;
    enum dtype dtype;
    struct unique u;
    for (uint32_t i = 0; i < 2; i++) {
        TRY(lower_need(l, i, i ? "y" : "x", &list[i]));
        TRY(lower_need_const(l, i, i ? "y" : "x", "the shapes of the results depend on its values"));
        if (build_rank(l->b, list[i]) != 1)
            return lower_invalid(l, NULL, NULL, "input %u is no list", i);
    }
    TRY(lower_tf_dtype(l, "out_idx", DT_INT32, &dtype));
    TRY(lower_concat_tensors(l, list, 2, 0, step_name(l, "both"), &both));
    if (!build_is_const(l->b, both))
        return lower_unsupported(l, NULL, NULL, "the lists are too long");
    TRY(lower_unique_slices(l, both, 0, false, &u));
    int64_t n = build_type(l->b, list[0])->shape.dims[0], *places, count = 0;
    bool *in_second;
    TRY(lower_table(l, (uint64_t)u.count, sizeof *in_second, &in_second));
    TRY(lower_table(l, (uint64_t)n, sizeof *places, &places));
    for (int64_t i = n; i < u.all; i++)
        in_second[u.inverse[i]] = true;
    for (int64_t i = 0; i < n; i++)
        if (!in_second[u.inverse[i]])
            places[count++] = i;
    struct shape shape = SHAPE(count);
    lower_give_ints(l, 1, dtype, &shape, places);
    return lower_gather_positions(l, list[0], 0, places, count, lower_out_name(l, 0), &l->out[0]);
}
