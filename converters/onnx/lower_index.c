/* ONNX operators that work by position: Gather and Scatter families, OneHot, TopK, Compress, ReverseSequence. */
#include <string.h>

#include "converters/onnx/lower_shape.h"
#include "converters/onnx/rows.h"
#include "converters/lowering/steps.h"

/* ---- indices ---- */

/* Input i as indices: those of a constant are checked and counted from the front. The elements run through the axes of
 * dims in turn (coordinates); one dim for plain indices. */
static odlc_status need_indices(const struct lower *l, uint32_t i, const int64_t *dims, uint64_t n_dims, tensor_id *out)
{
    tensor_id id;
    TRY(lower_need(l, i, "indices", &id));
    const struct type type = *build_type(l->b, id);
    uint64_t count = shape_count(&type.shape);
    if (!dtype_is_int(type.dtype))
        return lower_invalid(l, "indices", NULL, "the indices are %s", dtype_info(type.dtype)->name);
    *out = id;
    if (!build_is_const(l->b, id))
        return ODLC_OK;
    int64_t *normal;
    TRY(lower_table(l, count, sizeof *normal, &normal));
    bool changed = false;
    const int64_t *given = build_const_as_ints(l->b, id, &count);
    for (uint64_t k = 0; k < count; k++) {
        int64_t dim = dims[k % n_dims];
        if (given[k] < -dim || given[k] >= dim)
            return lower_invalid(l, "indices", NULL, "index %lld is outside an axis of %lld elements",
                                 (long long)given[k], (long long)dim);
        normal[k] = given[k] < 0 ? given[k] + dim : given[k];
        changed |= given[k] < 0;
    }
    if (changed)
        *out = build_const_ints(l->b, step_name(l, "indices"), type.dtype, &type.shape, normal);
    return ODLC_OK;
}

/* Data and the axis that the attribute names. */
static odlc_status need_data(const struct lower *l, tensor_id *data, struct shape *shape, uint32_t *axis)
{
    int64_t given;
    TRY(lower_need(l, 0, "data", data));
    *shape = build_type(l->b, *data)->shape;
    TRY(lower_attr_int(l, "axis", 0, &given));
    return lower_axis(l, "axis", given, shape->rank, axis);
}

/* ---- Gather, GatherElements, GatherND ---- */

/* A scalar index drops the axis: gathered with one index, which leaves an axis of 1 to drop. */
odlc_status lower_gather(struct lower *l)
{
    tensor_id data, indices;
    struct shape shape;
    uint32_t axis;
    TRY(need_data(l, &data, &shape, &axis));
    TRY(need_indices(l, 1, &shape.dims[axis], 1, &indices));
    bool scalar = build_rank(l->b, indices) == 0;
    const char *out_name = scalar ? step_name(l, "gathered") : lower_out_name(l, 0);
    struct shape one = SHAPE(1);
    TRY(scalar ? build_reshape(l->b, indices, &one, step_name(l, "index"), &indices) : ODLC_OK);
    build_op(l->b, "Gather", fw_node_label(l->node));
    build_in(l->b, data);
    build_in(l->b, indices);
    build_int(l->b, "axis", axis);
    TRY(build_end(l->b, out_name, &l->out[0]));
    if (!scalar)
        return ODLC_OK;
    struct shape dropped = {.rank = 0};
    for (uint32_t i = 0; i < shape.rank; i++)
        if (i != axis)
            dropped.dims[dropped.rank++] = shape.dims[i];
    return build_reshape(l->b, l->out[0], &dropped, lower_out_name(l, 0), &l->out[0]);
}

/* Along the last axis; a vector counts as a matrix of one row, and indices of any shape as a list. */
odlc_status lower_array_feature_extractor(struct lower *l)
{
    tensor_id data, indices;
    TRY(lower_need(l, 0, "X", &data));
    struct shape shape = build_type(l->b, data)->shape;
    if (shape.rank == 0)
        return lower_invalid(l, NULL, NULL, "the input has no axis");
    if (shape.rank == 1) {
        shape = SHAPE(1, shape.dims[0]);
        TRY(build_reshape(l->b, data, &shape, step_name(l, "row"), &data));
    }
    TRY(need_indices(l, 1, &shape.dims[shape.rank - 1], 1, &indices));
    struct shape list = SHAPE((int64_t)shape_count(&build_type(l->b, indices)->shape));
    TRY(build_reshape(l->b, indices, &list, step_name(l, "list"), &indices));
    build_op(l->b, "Gather", fw_node_label(l->node));
    build_in(l->b, data);
    build_in(l->b, indices);
    build_int(l->b, "axis", shape.rank - 1);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_gather_elements(struct lower *l)
{
    tensor_id data, indices;
    struct shape shape;
    uint32_t axis;
    TRY(need_data(l, &data, &shape, &axis));
    TRY(need_indices(l, 1, &shape.dims[axis], 1, &indices));
    build_op(l->b, "GatherElements", fw_node_label(l->node));
    build_in(l->b, data);
    build_in(l->b, indices);
    build_int(l->b, "axis", axis);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* Coordinates in the last axis of indices, for the axes of data after the batch ones. */
static odlc_status need_coordinates(const struct lower *l, int64_t batch_dims, tensor_id *data, tensor_id *indices)
{
    tensor_id raw;
    TRY(lower_need(l, 0, "data", data));
    TRY(lower_need(l, 1, "indices", &raw));
    const struct shape shape = build_type(l->b, *data)->shape, given = build_type(l->b, raw)->shape;
    if (given.rank == 0 || batch_dims < 0 || batch_dims >= min_i64(given.rank, shape.rank))
        return lower_invalid(l, "batch_dims", NULL, "batch_dims %lld does not fit indices of rank %u",
                             (long long)batch_dims, given.rank);
    int64_t depth = given.dims[given.rank - 1];
    if (depth < 1 || depth > (int64_t)shape.rank - batch_dims)
        return lower_invalid(l, "indices", NULL, "coordinates of %lld values do not fit %s", (long long)depth,
                             shape_text(l->diags->arena, &shape));
    return need_indices(l, 1, shape.dims + batch_dims, (uint64_t)depth, indices);
}

odlc_status lower_gather_nd(struct lower *l)
{
    tensor_id data, indices;
    int64_t batch_dims;
    TRY(lower_attr_int(l, "batch_dims", 0, &batch_dims));
    TRY(need_coordinates(l, batch_dims, &data, &indices));
    build_op(l->b, "GatherNd", fw_node_label(l->node));
    build_in(l->b, data);
    build_in(l->b, indices);
    build_int(l->b, "batch_dims", batch_dims);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* ---- ScatterElements, ScatterND ---- */

enum reduction { REDUCE_NONE, REDUCE_ADD, REDUCE_MUL, REDUCE_MAX, REDUCE_MIN };

static odlc_status reduction_of(const struct lower *l, enum reduction *out)
{
    static const char *const names[] = {
        [REDUCE_NONE] = "none", [REDUCE_ADD] = "add", [REDUCE_MUL] = "mul", [REDUCE_MAX] = "max", [REDUCE_MIN] = "min"};
    const char *given;
    TRY(lower_attr_string(l, "reduction", "none", &given));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(given, names[i]) == 0) {
            *out = (enum reduction)i;
            return ODLC_OK;
        }
    return lower_invalid(l, "reduction", NULL, "unknown reduction %s", given);
}

struct scatter {
    tensor_id data, indices, updates;
    uint32_t axis;
    enum reduction reduction;
};

static odlc_status emit_scatter_elements(const struct lower *l, const struct scatter *s, const char *out_name,
                                         tensor_id *out)
{
    build_op(l->b, "ScatterElements", fw_node_label(l->node));
    build_in(l->b, s->data);
    build_in(l->b, s->indices);
    build_in(l->b, s->updates);
    build_int(l->b, "axis", s->axis);
    build_int(l->b, "reduction", s->reduction);
    return build_end(l->b, out_name, out);
}

/* The value at the other end of its type's range: what was smallest is then largest. */
static odlc_status mirror(const struct lower *l, tensor_id x, const char *out_name, tensor_id *out)
{
    enum dtype dtype = build_type(l->b, x)->dtype;
    struct shape scalar = {.rank = 0};
    int64_t low, high;
    if (dtype_is_float(dtype))
        return build_unary(l->b, "ElementWiseNeg", x, out_name, out);
    integer_range(dtype, &low, &high);
    if (!dtype_is_int(dtype) || dtype == DT_UINT64)
        return lower_unsupported(l, "reduction", NULL, "the reduction min is not supported for %s",
                                 dtype_info(dtype)->name);
    tensor_id sum = lower_splat(l, step_name(l, "ends"), dtype, &scalar, low + high);
    return build_binary(l->b, "ElementWiseSubtract", sum, x, out_name, out);
}

/* The op knows no minimum: it is the maximum seen in a mirror. */
static odlc_status scatter_elements(const struct lower *l, struct scatter s, const char *out_name, tensor_id *out)
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

odlc_status lower_scatter_elements(struct lower *l)
{
    struct scatter s;
    struct shape shape;
    TRY(need_data(l, &s.data, &shape, &s.axis));
    TRY(need_indices(l, 1, &shape.dims[s.axis], 1, &s.indices));
    TRY(lower_need(l, 2, "updates", &s.updates));
    TRY(reduction_of(l, &s.reduction));
    return scatter_elements(l, s, lower_out_name(l, 0), &l->out[0]);
}

/* The rows that coordinates [.., depth] name, when the axes that they count are one: [rows, 1]. */
static odlc_status row_numbers(struct lower *l, tensor_id coordinates, const struct shape *shape, tensor_id *out)
{
    struct steps s = {.l = l};
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
    tensor_id is_back = step_binary(&s, "ElementWiseLess", coordinates, step_scalar(&s, coordinates, 0));
    tensor_id all = step_constant(&s, dtype, &SHAPE(depth), dims);
    tensor_id front = step_select(&s, is_back, step_binary(&s, "ElementWiseAdd", coordinates, all), coordinates);
    tensor_id steps = step_constant(&s, dtype, &SHAPE(depth), strides);
    tensor_id numbers = step_reduce(&s, "ReduceSum", step_binary(&s, "ElementWiseMultiply", front, steps), &last, 1, 0);
    *out = step_reshape(&s, numbers, &SHAPE((int64_t)shape_count_range(&given, 0, given.rank - 1), 1));
    return s.status;
}

/* Maximum and minimum are known to ScatterElements alone: the slices become rows of a matrix. */
static odlc_status scatter_rows(struct lower *l, struct scatter s)
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
    TRY(scatter_elements(l, s, step_name(l, "scattered"), &l->out[0]));
    return build_reshape(l->b, l->out[0], &shape, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_scatter_nd(struct lower *l)
{
    struct scatter s = {.axis = 0};
    TRY(need_coordinates(l, 0, &s.data, &s.indices));
    TRY(lower_need(l, 2, "updates", &s.updates));
    TRY(reduction_of(l, &s.reduction));
    if (s.reduction == REDUCE_MAX || s.reduction == REDUCE_MIN)
        return scatter_rows(l, s);
    build_op(l->b, "ScatterNd", fw_node_label(l->node));
    build_in(l->b, s.data);
    build_in(l->b, s.indices);
    build_in(l->b, s.updates);
    build_int(l->b, "reduction", s.reduction);
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}

/* ---- OneHot ---- */

/* values = [off, on]. The params are float32; the result is cast to the type of the values afterwards. */
static odlc_status hot_values(const struct lower *l, double values[2], enum dtype *dtype)
{
    tensor_id id;
    const double *given;
    uint32_t count;
    TRY(lower_need(l, 2, "values", &id));
    *dtype = build_type(l->b, id)->dtype;
    if (*dtype == DT_STRING)
        return lower_unsupported(l, "values", NULL, "the values are strings");
    TRY(lower_const_floats(l, 2, "values", &given, &count));
    if (count != 2)
        return lower_invalid(l, "values", NULL, "values has %u elements, not 2", count);
    for (uint32_t i = 0; i < 2; i++) {
        values[i] = given[i];
        if (!dtype_is_float(*dtype) && (double)(float)given[i] != given[i])
            return lower_unsupported(l, "values", NULL, "the value %.0f is beyond float32", given[i]);
    }
    return ODLC_OK;
}

/* Indices of rank 1 or more and of an integer type, as the op takes them. */
static odlc_status hot_indices(const struct lower *l, tensor_id *indices, bool *scalar)
{
    TRY(lower_need(l, 0, "indices", indices));
    if (build_type(l->b, *indices)->dtype == DT_STRING)
        return lower_invalid(l, "indices", NULL, "the indices are strings");
    *scalar = build_rank(l->b, *indices) == 0;
    struct shape one = SHAPE(1);
    if (*scalar)
        TRY(build_reshape(l->b, *indices, &one, step_name(l, "index"), indices));
    if (!dtype_is_int(build_type(l->b, *indices)->dtype))
        TRY(build_cast(l->b, *indices, DT_INT32, step_name(l, "indices"), indices));
    return ODLC_OK;
}

odlc_status lower_one_hot(struct lower *l)
{
    tensor_id indices, hot;
    double values[2];
    enum dtype dtype;
    const int64_t *depth;
    uint32_t count, at;
    int64_t axis;
    bool scalar;
    TRY(hot_indices(l, &indices, &scalar));
    TRY(lower_const_ints(l, 1, "depth", &depth, &count));
    if (count != 1 || depth[0] < 1)
        return lower_invalid(l, "depth", NULL, "depth is not one positive number");
    TRY(hot_values(l, values, &dtype));
    TRY(lower_attr_int(l, "axis", -1, &axis));
    TRY(lower_axis(l, "axis", axis, build_rank(l->b, indices) + !scalar, &at));
    build_op(l->b, "OneHot", fw_node_label(l->node));
    build_in(l->b, indices);
    build_int(l->b, "depth", depth[0]);
    build_int(l->b, "axis", scalar ? 1 : at);
    build_float(l->b, "on_value", values[1]);
    build_float(l->b, "off_value", values[0]);
    bool last = dtype == DT_FLOAT32;
    TRY(build_end(l->b, last && !scalar ? lower_out_name(l, 0) : step_name(l, "hot"), &hot));
    struct shape vector = SHAPE(depth[0]);
    if (scalar)
        TRY(build_reshape(l->b, hot, &vector, last ? lower_out_name(l, 0) : step_name(l, "vector"), &hot));
    return build_cast(l->b, hot, dtype, lower_out_name(l, 0), &l->out[0]);
}

/* ---- TopK ---- */

/* k elements along the last axis; the model's indices are int64. */
static odlc_status emit_top_k(const struct lower *l, tensor_id in, int64_t k, bool largest, const char *const *names,
                              tensor_id *outs)
{
    const char *const own[] = {names[0], step_name(l, "indices")};
    build_op(l->b, "TopK", fw_node_label(l->node));
    build_in(l->b, in);
    build_int(l->b, "k", k);
    build_int(l->b, "largest", largest);
    TRY(build_end_n(l->b, own, 2, outs));
    return build_cast(l->b, outs[1], DT_INT64, names[1], &outs[1]);
}

odlc_status lower_top_k(struct lower *l)
{
    tensor_id in, outs[2];
    int64_t axis, largest, k = 0;
    const int64_t *list = &k;
    uint32_t at, count = 1;
    TRY(lower_need(l, 0, "X", &in));
    TRY(lower_attr_int(l, "axis", -1, &axis));
    TRY(lower_attr_int(l, "largest", 1, &largest));
    if (l->version < 10)
        TRY(lower_attr_int(l, "k", 0, &k));
    else
        TRY(lower_const_ints(l, 1, "K", &list, &count));
    uint32_t rank = build_rank(l->b, in);
    TRY(lower_axis(l, "axis", axis, rank, &at));
    if (rank == 0 || count != 1 || list[0] < 1 || list[0] > build_type(l->b, in)->shape.dims[at])
        return lower_invalid(l, "K", NULL, "K is not a number from 1 to the %lld elements of axis %u",
                             (long long)build_type(l->b, in)->shape.dims[at], at);
    struct perm swap = perm_identity(rank);
    swap.axis[at] = (uint8_t)(rank - 1);
    swap.axis[rank - 1] = (uint8_t)at;
    bool last = perm_is_identity(&swap);
    const char *const inner[] = {step_name(l, "values"), step_name(l, "positions")};
    const char *const own[] = {lower_out_name(l, 0), lower_out_name(l, 1)};
    TRY(build_transpose(l->b, in, &swap, step_name(l, "last"), &in));
    TRY(emit_top_k(l, in, list[0], largest != 0, last ? own : inner, outs));
    for (uint32_t i = 0; i < l->n_out && i < 2; i++)
        TRY(build_transpose(l->b, outs[i], &swap, own[i], &l->out[i]));
    return ODLC_OK;
}

/* ---- Compress, ReverseSequence: the positions are known at conversion ---- */

odlc_status lower_compress(struct lower *l)
{
    tensor_id data;
    const int64_t *condition;
    uint32_t count, axis = 0;
    int64_t given, kept = 0;
    TRY(lower_need(l, 0, "input", &data));
    TRY(lower_const_ints(l, 1, "condition", &condition, &count));
    if (!lower_has_attr(l, "axis")) {
        struct shape flat = SHAPE((int64_t)shape_count(&build_type(l->b, data)->shape));
        TRY(build_reshape(l->b, data, &flat, step_name(l, "flat"), &data));
    }
    TRY(lower_attr_int(l, "axis", 0, &given));
    TRY(lower_axis(l, "axis", given, build_rank(l->b, data), &axis));
    if ((int64_t)count > build_type(l->b, data)->shape.dims[axis])
        return lower_invalid(l, "condition", NULL, "the condition has %u elements, the axis %lld", count,
                             (long long)build_type(l->b, data)->shape.dims[axis]);
    int64_t *positions = arena_array(l->arena, int64_t, count);
    for (uint32_t i = 0; i < count; i++)
        if (condition[i])
            positions[kept++] = i;
    return lower_pick(l, data, axis, positions, kept, lower_out_name(l, 0), &l->out[0]);
}

/* Time and batch are the first two axes, in either order: their pairs are picked from one joined axis. */
odlc_status lower_reverse_sequence(struct lower *l)
{
    tensor_id in;
    const int64_t *lengths;
    uint32_t count;
    int64_t time_axis, batch_axis;
    TRY(lower_need(l, 0, "input", &in));
    TRY(lower_const_ints(l, 1, "sequence_lens", &lengths, &count));
    TRY(lower_attr_int(l, "time_axis", 0, &time_axis));
    TRY(lower_attr_int(l, "batch_axis", 1, &batch_axis));
    const struct shape shape = build_type(l->b, in)->shape;
    bool first_two = (time_axis == 0 && batch_axis == 1) || (time_axis == 1 && batch_axis == 0);
    if (!first_two || shape.rank < 2)
        return lower_invalid(l, "time_axis", NULL, "time and batch are not the first two axes");
    if ((int64_t)count != shape.dims[batch_axis])
        return lower_invalid(l, "sequence_lens", NULL, "%u lengths for a batch of %lld", count,
                             (long long)shape.dims[batch_axis]);
    int64_t times = shape.dims[time_axis], total = times * (int64_t)count;
    int64_t time_step = time_axis ? 1 : (int64_t)count, batch_step = time_axis ? times : 1;
    int64_t *positions;
    TRY(lower_table(l, (uint64_t)total, sizeof *positions, &positions));
    for (int64_t b = 0; b < (int64_t)count; b++) {
        if (lengths[b] < 0 || lengths[b] > times)
            return lower_invalid(l, "sequence_lens", NULL, "the length %lld is outside 0 to %lld",
                                 (long long)lengths[b], (long long)times);
        for (int64_t t = 0; t < times; t++)
            positions[t * time_step + b * batch_step] =
                (t < lengths[b] ? lengths[b] - 1 - t : t) * time_step + b * batch_step;
    }
    struct shape joined = {.rank = shape.rank - 1, .dims = {total}};
    memcpy(joined.dims + 1, shape.dims + 2, (joined.rank - 1) * sizeof *joined.dims);
    TRY(build_reshape(l->b, in, &joined, step_name(l, "joined"), &in));
    TRY(lower_pick(l, in, 0, positions, total, step_name(l, "reversed"), &in));
    return build_reshape(l->b, in, &shape, lower_out_name(l, 0), &l->out[0]);
}
