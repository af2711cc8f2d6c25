/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operators that rearrange elements: Reshape and its relatives, Transpose, Concat, Split, Tile, Expand; and those
 * that do nothing at inference: Identity, Dropout. */
#include "converters/onnx/lower/onnx_shape.h"

#include <math.h>
#include <string.h>

#include "converters/onnx/schema/onnx_types.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- shared ---- */

odlc_status lower_ints(const struct lower *l, uint32_t i, const char *name, const int64_t **out, uint32_t *count)
{
    if (l->variant && strcmp(l->variant, LISTS_ARE_ATTRIBUTES) == 0)
        return lower_attr_ints(l, name, out, count);
    return lower_const_ints(l, i, name, out, count);
}

odlc_status lower_dtype(const struct lower *l, const char *name, int64_t code, enum dtype *out)
{
    const char *type = NULL;
    odlc_status status = onnx_dtype(code, out, &type);
    if (status == ODLC_ERR_UNSUPPORTED)
        return lower_unsupported(l, name, NULL, "the type %s is not supported", type);
    if (status != ODLC_OK)
        return lower_invalid(l, name, NULL, "%lld is not a type", (long long)code);
    if (dtype_is_small_float(*out) && !dtype_is_float8(*out))
        return lower_unsupported(l, name, NULL, "the type %s is not supported: containers do not have it",
                                 dtype_info(*out)->name);
    return ODLC_OK;
}

odlc_status lower_attr_dtype(const struct lower *l, const char *name, enum dtype absent, enum dtype *out)
{
    int64_t code;
    *out = absent;
    TRY(lower_attr_int(l, name, 0, &code));
    bool given = lower_has_attr(l, name) && (code != 0 || absent == DT_NONE); /* 0 is "undefined" */
    return given || absent == DT_NONE ? lower_dtype(l, name, code, out) : ODLC_OK;
}

odlc_status lower_anew(struct lower *l, lower_fn *fn, int64_t version, tensor_id x, tensor_id *out)
{
    struct fw_node node = *l->node;
    struct lower layer = *l;
    const char *name = step_name(l, "layer");
    tensor_id *in = arena_array(l->arena, tensor_id, l->n_in);
    memcpy(in, l->in, l->n_in * sizeof *in);
    in[0] = x;
    node.outputs = &name;
    layer.node = &node;
    layer.version = version;
    layer.in = in;
    layer.out = out;
    layer.n_out = 1;
    return fn(&layer);
}

/* Ends a node whose result is its first input in another shape. */
static odlc_status reshape_to(struct lower *l, const struct shape *shape)
{
    tensor_id in;
    TRY(lower_need(l, 0, "data", &in));
    return build_reshape(l->b, in, shape, lower_out_name(l, 0), &l->out[0]);
}

static odlc_status data_shape(const struct lower *l, const struct shape **out)
{
    tensor_id in;
    TRY(lower_need(l, 0, "data", &in));
    *out = &build_type(l->b, in)->shape;
    return ODLC_OK;
}

/* ---- Reshape, Flatten, Squeeze, Unsqueeze ---- */

odlc_status lower_reshape(struct lower *l)
{
    const struct shape *in;
    const int64_t *dims;
    uint32_t count, rest = MAX_RANK;
    int64_t allow_zero;
    l->takes_sizes = true;
    TRY(data_shape(l, &in));
    TRY(lower_ints(l, 1, "shape", &dims, &count));
    TRY(lower_attr_int(l, "allowzero", 0, &allow_zero));
    if (!dims && lower_in(l, 1) == NO_TENSOR && !lower_has_attr(l, "shape"))
        return lower_invalid(l, "shape", NULL, "shape is missing");
    if (count > MAX_RANK)
        return lower_unsupported(l, "shape", NULL, "rank %u is beyond %d", count, MAX_RANK);
    struct shape shape = {.rank = count};
    for (uint32_t i = 0; i < count; i++) {
        shape.dims[i] = dims[i];
        if (dims[i] == 0 && !allow_zero) {
            if (i >= in->rank)
                return lower_invalid(l, "shape", NULL, "dim %u is to be copied from %s, which has none there", i,
                                     shape_text(l->diags->arena, in));
            shape.dims[i] = in->dims[i];
        } else if (dims[i] == -1) {
            if (rest != MAX_RANK)
                return lower_invalid(l, "shape", NULL, "the shape has -1 twice");
            rest = i;
        }
    }
    if (rest != MAX_RANK)
        TRY(lower_rest_dim(l, in, rest, &shape));
    TRY(lower_check_shape(l, "shape", &shape));
    return reshape_to(l, &shape);
}

odlc_status lower_flatten(struct lower *l)
{
    const struct shape *in;
    int64_t axis;
    uint32_t at;
    TRY(data_shape(l, &in));
    TRY(lower_attr_int(l, "axis", 1, &axis));
    if (axis == (int64_t)in->rank)
        at = in->rank;
    else
        TRY(lower_axis(l, "axis", axis, in->rank, &at));
    struct shape shape = SHAPE((int64_t)shape_count_range(in, 0, at), (int64_t)shape_count_range(in, at, in->rank));
    return reshape_to(l, &shape);
}

odlc_status lower_squeeze(struct lower *l)
{
    const struct shape *in;
    const int64_t *list;
    uint32_t count, axes[MAX_RANK], drop = 0;
    TRY(data_shape(l, &in));
    TRY(lower_ints(l, 1, "axes", &list, &count));
    TRY(lower_axes(l, "axes", list, count, in->rank, axes));
    for (uint32_t i = 0; i < count; i++) {
        drop |= 1u << axes[i];
        if (in->dims[axes[i]] != 1)
            return lower_invalid(l, "axes", NULL, "axis %u of %s is not 1", axes[i], shape_text(l->diags->arena, in));
    }
    struct shape shape = {.rank = 0};
    for (uint32_t i = 0; i < in->rank; i++)
        if (list ? !(drop >> i & 1) : in->dims[i] != 1)
            shape.dims[shape.rank++] = in->dims[i];
    return reshape_to(l, &shape);
}

odlc_status lower_unsqueeze(struct lower *l)
{
    const struct shape *in;
    const int64_t *list;
    uint32_t count, axes[MAX_RANK], added = 0;
    TRY(data_shape(l, &in));
    TRY(lower_ints(l, 1, "axes", &list, &count));
    if (!list)
        return lower_invalid(l, "axes", NULL, "axes is missing");
    if (count > MAX_RANK - in->rank)
        return lower_unsupported(l, "axes", NULL, "the result has more than %d axes", MAX_RANK);
    struct shape shape = {.rank = in->rank + count};
    TRY(lower_axes(l, "axes", list, count, shape.rank, axes));
    for (uint32_t i = 0; i < count; i++)
        added |= 1u << axes[i];
    for (uint32_t i = 0, from = 0; i < shape.rank; i++)
        shape.dims[i] = added >> i & 1 ? 1 : in->dims[from++];
    return reshape_to(l, &shape);
}

/* ---- Transpose ---- */

odlc_status lower_transpose(struct lower *l)
{
    tensor_id in;
    const int64_t *axes;
    uint32_t count;
    TRY(lower_need(l, 0, "data", &in));
    TRY(lower_attr_ints(l, "perm", &axes, &count));
    uint32_t rank = build_rank(l->b, in), normal[MAX_RANK];
    struct perm perm = {.rank = rank};
    if (axes && count != rank)
        return lower_invalid(l, "perm", NULL, "perm has %u axes for a tensor of rank %u", count, rank);
    TRY(lower_axes(l, "perm", axes, count, rank, normal));
    for (uint32_t i = 0; i < rank; i++)
        perm.axis[i] = (uint8_t)(axes ? normal[i] : rank - 1 - i);
    return build_transpose(l->b, in, &perm, lower_out_name(l, 0), &l->out[0]);
}

/* ---- Concat, Split ---- */

odlc_status lower_concat(struct lower *l)
{
    int64_t axis;
    tensor_id in;
    TRY(lower_need(l, 0, "inputs", &in));
    for (uint32_t i = 1; i < l->n_in; i++)
        TRY(lower_need(l, i, "inputs", &in));
    if (!lower_has_attr(l, "axis") && l->version >= 4)
        return lower_invalid(l, "axis", NULL, "axis is missing");
    TRY(lower_attr_int(l, "axis", 1, &axis));
    return lower_concat_tensors(l, l->in, l->n_in, axis, lower_out_name(l, 0), &l->out[0]);
}

/* Parts of equal size; from opset 18 on the last may be smaller. */
static odlc_status equal_sizes(const struct lower *l, int64_t dim, int64_t *sizes)
{
    int64_t size = dim / l->n_out + (dim % l->n_out != 0), left = dim;
    if (l->version < 18 && dim % l->n_out)
        return lower_invalid(l, NULL, NULL, "%lld elements cannot be split into %u equal parts", (long long)dim,
                             l->n_out);
    for (uint32_t i = 0; i < l->n_out; i++) {
        sizes[i] = min_i64(size, left);
        left -= sizes[i];
    }
    return ODLC_OK;
}

static odlc_status split_sizes(const struct lower *l, int64_t dim, int64_t *sizes)
{
    const int64_t *given;
    uint32_t count;
    int64_t parts, sum = 0;
    if (l->version == 1 && lower_has_attr(l, "split")) /* an attribute or an input, as the model likes */
        TRY(lower_attr_ints(l, "split", &given, &count));
    else
        TRY(lower_ints(l, 1, "split", &given, &count));
    TRY(lower_attr_int(l, "num_outputs", l->n_out, &parts));
    if (parts != l->n_out || (given && count != l->n_out))
        return lower_invalid(l, given ? "split" : "num_outputs", NULL, "%lld parts for %u outputs",
                             (long long)(given ? count : parts), l->n_out);
    if (!given)
        return equal_sizes(l, dim, sizes);
    for (uint32_t i = 0; i < count; i++) {
        sizes[i] = given[i];
        if (given[i] < 0 || ckd_add(&sum, sum, given[i]))
            return lower_invalid(l, "split", NULL, "part %u has the size %lld", i, (long long)given[i]);
    }
    if (sum != dim)
        return lower_invalid(l, "split", NULL, "the parts have %lld elements in all, the axis has %lld", (long long)sum,
                             (long long)dim);
    return ODLC_OK;
}

odlc_status lower_split(struct lower *l)
{
    tensor_id in;
    int64_t axis;
    uint32_t at;
    TRY(lower_need(l, 0, "input", &in));
    if (l->version == 1 && !lower_has_attr(l, "axis"))
        return lower_unsupported(l, "axis", "give the axis", "this version of the operator has no default for it");
    TRY(lower_attr_int(l, "axis", 0, &axis));
    const struct shape *shape = &build_type(l->b, in)->shape;
    TRY(lower_axis(l, "axis", axis, shape->rank, &at));
    int64_t *sizes = arena_array(l->arena, int64_t, l->n_out);
    TRY(split_sizes(l, shape->dims[at], sizes));
    return lower_split_axis(l, in, at, sizes, l->n_out, l->node->outputs, l->out);
}

/* ---- Tile, Expand ---- */

odlc_status lower_tile(struct lower *l)
{
    tensor_id in;
    const int64_t *repeats;
    uint32_t count;
    TRY(lower_need(l, 0, "input", &in));
    TRY(lower_const_ints(l, 1, "repeats", &repeats, &count));
    if (count != build_rank(l->b, in))
        return lower_invalid(l, "repeats", NULL, "%u repeats for a tensor of rank %u", count, build_rank(l->b, in));
    return lower_tile_axes(l, in, repeats, lower_out_name(l, 0), &l->out[0]);
}

/* The operator before opset 6: one axis is repeated. Both numbers have the type of the data. */
odlc_status lower_tile_axis(struct lower *l)
{
    static const char *const names[] = {NULL, "tiles", "axis"};
    tensor_id in;
    double number[3];
    uint32_t axis;
    TRY(lower_need(l, 0, "input", &in));
    for (uint32_t i = 1; i < 3; i++) {
        const double *value;
        uint32_t count;
        tensor_id id;
        TRY(lower_need(l, i, names[i], &id));
        TRY(lower_const_floats(l, i, names[i], &value, &count));
        if (count != 1 || value[0] != trunc(value[0]) || fabs(value[0]) > INT32_MAX)
            return lower_invalid(l, names[i], NULL, "input %u (%s) is not one whole number", i, names[i]);
        number[i] = value[0];
    }
    TRY(lower_axis(l, "axis", (int64_t)number[2], build_rank(l->b, in), &axis));
    if (number[1] < 0)
        return lower_invalid(l, "tiles", NULL, "tiles is %g", number[1]);
    int64_t multiples[MAX_RANK];
    for (uint32_t i = 0; i < MAX_RANK; i++)
        multiples[i] = i == axis ? (int64_t)number[1] : 1;
    return lower_tile_axes(l, in, multiples, lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_expand(struct lower *l)
{
    tensor_id in;
    const int64_t *dims;
    uint32_t count;
    struct shape asked, shape;
    l->takes_sizes = true;
    TRY(lower_need(l, 0, "input", &in));
    TRY(lower_const_ints(l, 1, "shape", &dims, &count));
    TRY(lower_shape_of(l, "shape", dims, count, &asked));
    struct shape from = build_type(l->b, in)->shape;
    if (!shape_broadcast(&from, &asked, &shape))
        return lower_invalid(l, "shape", NULL, "%s cannot be broadcast to %s", shape_text(l->diags->arena, &from),
                             shape_text(l->diags->arena, &asked));
    TRY(lower_check_shape(l, "shape", &shape));
    TRY(lower_broadcast(l, in, &shape, lower_out_name(l, 0), &l->out[0]));
    if (l->out[0] != in)
        lower_note_sizes(l, 0, l->in[1], shape.rank - asked.rank);
    return ODLC_OK;
}

/* ---- Identity, Dropout ---- */

/* Exporters write one of several equal weights and give the others by Identity: each layer's keep their own name. */
static tensor_id named_constant(struct lower *l, tensor_id in)
{
    struct graph *g = l->b->graph;
    const char *name = lower_out_name(l, 0);
    if (!name || !build_is_const(l->b, in))
        return in;
    const struct tensor from = *graph_tensor(g, in);
    tensor_id out = graph_add_constant(g, name, from.type->dtype, from.view);
    graph_tensor(g, out)->quant = from.quant;
    return out;
}

odlc_status lower_identity(struct lower *l)
{
    tensor_id in;
    if (l->n_in && l->values[0].kind != VALUE_TENSOR) {
        l->results[0] = l->values[0];
        return ODLC_OK;
    }
    TRY(lower_need(l, 0, "input", &in));
    l->out[0] = named_constant(l, in);
    return ODLC_OK;
}

/* Whether the node drops anything: opset 6 says so by an attribute, opset 12 and later by an input. */
static odlc_status dropout_trains(const struct lower *l, bool *out)
{
    int64_t is_test;
    const int64_t *training;
    const double *ratio;
    uint32_t count;
    TRY(lower_attr_int(l, "is_test", l->version >= 7, &is_test));
    *out = !is_test;
    if (lower_in(l, 2) == NO_TENSOR)
        return ODLC_OK;
    TRY(lower_const_ints(l, 2, "training_mode", &training, &count));
    if (count == 0 || !training[0])
        return ODLC_OK;
    TRY(lower_const_floats(l, 1, "ratio", &ratio, &count));
    *out = count == 0 || ratio[0] != 0; /* a ratio of 0 drops nothing */
    return ODLC_OK;
}

odlc_status lower_dropout(struct lower *l)
{
    tensor_id in;
    bool trains;
    TRY(lower_need(l, 0, "data", &in));
    TRY(dropout_trains(l, &trains));
    if (trains)
        return lower_unsupported(l, l->version < 7 ? "is_test" : "training_mode", "export the model for inference",
                                 "the node is in training mode: its result is random");
    l->out[0] = in;
    if (lower_out_name(l, 1)) {
        const struct type *type = build_type(l->b, in);
        l->out[1] = lower_splat(l, lower_out_name(l, 1), l->version < 10 ? type->dtype : DT_BOOL, &type->shape, 1);
    }
    return ODLC_OK;
}
