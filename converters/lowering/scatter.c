/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/scatter.h"

#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"

static odlc_status emit_scatter_elements(const struct lower *l, const struct scatter *s, const char *out_name,
                                         tensor_id *out)
{
    build_op(l->b, OP_ScatterElements, fw_node_label(l->node));
    build_in(l->b, s->data);
    build_in(l->b, s->indices);
    build_in(l->b, s->updates);
    build_int(l->b, PARAM_axis, s->axis);
    build_int(l->b, PARAM_reduction, s->reduction);
    return build_end(l->b, out_name, out);
}

/* The value at the other end of its type's range: what was smallest is then largest. */
static odlc_status mirror(const struct lower *l, tensor_id x, const char *out_name, tensor_id *out)
{
    enum dtype dtype = build_type(l->b, x)->dtype;
    struct shape scalar = {.rank = 0};
    int64_t low, high;
    if (dtype_is_float(dtype))
        return build_unary(l->b, OP_ElementWiseNeg, x, out_name, out);
    integer_range(dtype, &low, &high);
    if (!dtype_is_int(dtype) || dtype == DT_UINT64)
        return lower_unsupported(l, "reduction", NULL, "the reduction min is not supported for %s",
                                 dtype_info(dtype)->name);
    tensor_id sum = lower_splat(l, step_name(l, "ends"), dtype, &scalar, low + high);
    return build_binary(l->b, OP_ElementWiseSubtract, sum, x, out_name, out);
}

/* The op knows no minimum: it is the maximum seen in a mirror. */
odlc_status lower_scatter_axis(const struct lower *l, struct scatter s, const char *out_name, tensor_id *out)
{
    tensor_id most;
    if (s.reduction != REDUCE_MIN)
        return emit_scatter_elements(l, &s, out_name, out);
    s.reduction = REDUCE_MAX;
    TRY(mirror(l, s.data, step_name(l, "mirrored_data"), &s.data));
    TRY(mirror(l, s.updates, step_name(l, "mirrored_updates"), &s.updates));
    TRY(emit_scatter_elements(l, &s, step_name(l, "mirrored"), &most));
    return mirror(l, most, out_name, out);
}

/* The rows that coordinates [.., depth] name, when the axes that they count are one: [rows, 1]. */
static odlc_status row_numbers(struct lower *l, tensor_id coordinates, const struct shape *shape, tensor_id *out)
{
    struct emit s = {.l = l};
    const struct shape given = build_type(l->b, coordinates)->shape;
    int64_t depth = given.dims[given.rank - 1], stride = 1;
    const int64_t last = given.rank - 1;
    double *dims = arena_array(l->arena, double, (size_t)depth),
           *strides = arena_array(l->arena, double, (size_t)depth);
    for (int64_t i = depth; i-- > 0; stride *= shape->dims[i]) {
        dims[i] = (double)shape->dims[i];
        strides[i] = (double)stride;
    }
    enum dtype dtype = build_type(l->b, coordinates)->dtype;
    tensor_id is_back = emit_binary(&s, OP_ElementWiseLess, coordinates, emit_scalar(&s, coordinates, 0));
    tensor_id all = emit_constant(&s, dtype, &SHAPE(depth), dims);
    tensor_id front = emit_select(&s, is_back, emit_binary(&s, OP_ElementWiseAdd, coordinates, all), coordinates);
    tensor_id steps = emit_constant(&s, dtype, &SHAPE(depth), strides);
    tensor_id numbers =
        emit_reduce(&s, OP_ReduceSum, emit_binary(&s, OP_ElementWiseMultiply, front, steps), &last, 1, 0);
    *out = emit_reshape(&s, numbers, &SHAPE((int64_t)shape_count_range(&given, 0, given.rank - 1), 1));
    return s.status;
}

/* Maximum and minimum are known to ScatterElements alone: the slices become rows of a matrix. */
static odlc_status scatter_rows(struct lower *l, struct scatter s, const char *out_name, tensor_id *out)
{
    const struct shape shape = build_type(l->b, s.data)->shape, coordinates = build_type(l->b, s.indices)->shape;
    uint32_t depth = (uint32_t)coordinates.dims[coordinates.rank - 1];
    int64_t row = (int64_t)shape_count_range(&shape, depth, shape.rank);
    int64_t rows = (int64_t)shape_count_range(&coordinates, 0, coordinates.rank - 1);
    struct shape matrix = SHAPE((int64_t)shape_count_range(&shape, 0, depth), row), picked = SHAPE(rows, row);
    TRY(lower_check_shape(l, "indices", &picked));
    TRY(row_numbers(l, s.indices, &shape, &s.indices));
    TRY(lower_broadcast(l, s.indices, &picked, step_name(l, "rows"), &s.indices));
    TRY(build_reshape(l->b, s.data, &matrix, step_name(l, "matrix"), &s.data));
    TRY(build_reshape(l->b, s.updates, &picked, step_name(l, "updates"), &s.updates));
    TRY(lower_scatter_axis(l, s, step_name(l, "scattered"), out));
    return build_reshape(l->b, *out, &shape, out_name, out);
}

odlc_status lower_scatter_slices(struct lower *l, struct scatter s, const char *out_name, tensor_id *out)
{
    if (s.reduction == REDUCE_MAX || s.reduction == REDUCE_MIN)
        return scatter_rows(l, s, out_name, out);
    build_op(l->b, OP_ScatterNd, fw_node_label(l->node));
    build_in(l->b, s.data);
    build_in(l->b, s.indices);
    build_in(l->b, s.updates);
    build_int(l->b, PARAM_reduction, s.reduction);
    return build_end(l->b, out_name, out);
}
