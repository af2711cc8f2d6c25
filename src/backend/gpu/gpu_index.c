/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that read or write at positions which a tensor gives: Gather, GatherElements, GatherNd, ScatterElements,
 * ScatterNd; OneHot; TopK. */
#include "backend/gpu/gpu_index.h"

#include "kernel/move.h"
#include "op/axes.h"
#include "op/op.h"
#include "op/slices.h"

/* ---- where indices lead ---- */

/* As `targets` in kernels/index.cl. */
struct gpu_targets {
    cl_int depth;
    cl_int dims[MAX_RANK], strides[MAX_RANK];
};

struct targets {
    struct gpu_walk walk;
    struct gpu_targets t;
    size_t count; /* of elements that the indices lead to, each time one of them counts */
};

/* Each index replaces the coordinate of its own place along an axis. */
static bool along_axis(const struct node *n, const struct shape *data, const struct shape *indices, struct targets *out)
{
    uint32_t axis;
    int64_t strides[2][MAX_RANK];
    if (!node_axis(n, 0, data->rank, &axis))
        return false;
    shape_strides(data, strides[0]);
    shape_strides(indices, strides[1]);
    out->t =
        (struct gpu_targets){.depth = 1, .dims = {(cl_int)data->dims[axis]}, .strides = {(cl_int)strides[0][axis]}};
    strides[0][axis] = 0;
    out->walk = gpu_walk_over(indices, 2, strides);
    out->count = shape_count(indices);
    return true;
}

/* Each index stands for all that has that coordinate along an axis. */
static bool of_axis(const struct node *n, const struct shape *data, const struct shape *indices, struct targets *out)
{
    uint32_t axis;
    if (!node_axis(n, 0, data->rank, &axis))
        return false;
    const int64_t dim = data->dims[axis], behind = (int64_t)shape_count_range(data, axis + 1, data->rank);
    const struct shape space = SHAPE((int64_t)shape_count_range(data, 0, axis), (int64_t)shape_count(indices), behind);
    int64_t strides[2][MAX_RANK] = {{dim * behind, 0, 1}, {0, 1, 0}};
    out->t = (struct gpu_targets){.depth = 1, .dims = {(cl_int)dim}, .strides = {(cl_int)behind}};
    out->walk = gpu_walk_over(&space, 2, strides);
    out->count = shape_count(&space);
    return true;
}

/* The last axis of the indices holds coordinates of slices. */
static bool to_slices(const struct node *n, const struct shape *data, const struct shape *indices, struct targets *out)
{
    struct slices s;
    if (!slices_of(data, indices, n->op->id == OP_GatherNd ? node_int(n, PARAM_batch_dims, 0) : 0, &s))
        return false;
    const uint64_t rows = shape_count(indices) / s.depth;
    const struct shape space = SHAPE((int64_t)(rows / s.per_batch), (int64_t)s.per_batch, (int64_t)s.slice);
    int64_t strides[2][MAX_RANK] = {{(int64_t)s.batch_stride, 0, 1},
                                    {(int64_t)(s.per_batch * s.depth), (int64_t)s.depth, 0}};
    out->t = (struct gpu_targets){.depth = (cl_int)s.depth};
    for (uint32_t i = 0; i < s.depth; i++) {
        out->t.dims[i] = (cl_int)s.dims[i];
        out->t.strides[i] = (cl_int)s.strides[i];
    }
    out->walk = gpu_walk_over(&space, 2, strides);
    out->count = shape_count(&space);
    return true;
}

static bool read_targets(const struct node *n, const struct shape *data, const struct shape *indices,
                         struct targets *out)
{
    switch (n->op->id) {
    case OP_Gather:
        return of_axis(n, data, indices, out);
    case OP_GatherElements:
    case OP_ScatterElements:
        return along_axis(n, data, indices, out);
    default:
        return to_slices(n, data, indices, out);
    }
}

static void add_targets(struct gpu_making *m, struct gpu_call *call, const struct targets *t,
                        const struct gpu_operand *fault, int number)
{
    gpu_arg_int(call, (int64_t)t->count);
    gpu_arg_bytes(call, &t->walk, sizeof(t->walk));
    gpu_arg_bytes(call, &t->t, sizeof(t->t));
    gpu_arg(m, call, fault);
    gpu_arg_int(call, number);
}

const char *gpu_refuse_indices(const struct tensor *indices)
{
    const enum dtype dtype = indices->type->dtype;
    return dtype_is_int(dtype) && dtype != DT_UINT64 && dtype_value_bits(dtype) >= 8
               ? NULL
               : "its indices are no integers of 8 to 63 bits";
}

static const char *refuse_targets(const struct graph *g, const struct node *n)
{
    struct targets t;
    const char *reason = gpu_refuse_indices(node_input(g, n, 1));
    if (reason)
        return reason;
    if (!read_targets(n, &node_input(g, n, 0)->type->shape, &node_input(g, n, 1)->type->shape, &t))
        return "its params do not fit the input";
    return gpu_moves_raw(g, n) ? gpu_refuse_sizes(g, n) : "its operands differ in type or encoding";
}

/* ---- Gather, GatherElements, GatherNd ---- */

static const char *refuse_pick(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    (void)gpu;
    return refuse_targets(g, n);
}

/* Constant indices are looked at once, here. */
static odlc_status check_indices(const struct gpu_making *m, const struct gpu_targets *t)
{
    const struct node *n = gpu_node(m, 0);
    const struct buffer *b = &m->scope->constants[n->inputs[1]];
    const uint64_t count = shape_count(&b->shape);
    int64_t *wide = arena_array(m->scope->scratch, int64_t, count);
    convert_elements(wide, DT_INT64, b->data, b->dtype, count);
    for (uint64_t i = 0; i < count; i++) {
        const int64_t dim = t->dims[i % (uint64_t)t->depth];
        if (wide[i] < -dim || wide[i] >= dim)
            return diag_error(m->scope->diags, ODLC_ERR_INVALID, AT(.node = n->name), "run-index",
                              "an index lies outside of the tensor that it points into");
    }
    return ODLC_OK;
}

static odlc_status prepare_pick(struct gpu_making *m)
{
    const struct gpu_operand out = gpu_output(m, 0);
    struct gpu_operand x, indices, fault;
    struct gpu_call *call;
    struct targets t;
    int number;
    TRY(gpu_input(m, 0, 0, &x));
    TRY(gpu_input(m, 0, 1, &indices));
    if (!read_targets(gpu_node(m, 0), &x.shape, &indices.shape, &t))
        return ODLC_ERR_INVALID;
    if (gpu_is_constant(m, 0, 1))
        TRY(check_indices(m, &t.t));
    TRY(gpu_watch(m, &fault, &number));
    gpu_move_types(m, &x, &out);
    gpu_option_type(m, "Y", &indices);
    TRY(gpu_call_begin(m, "index", "pick", &call));
    gpu_arg(m, call, &x);
    gpu_arg(m, call, &indices);
    gpu_arg(m, call, &out);
    add_targets(m, call, &t, &fault, number);
    return gpu_call_end(m, call, 1, &t.count);
}

const struct gpu_op gpu_pick = {.refuse = refuse_pick, .prepare = prepare_pick, .is_raw = gpu_moves_raw};

/* ---- ScatterElements, ScatterNd ---- */

static bool reduces(const struct node *n)
{
    return node_int(n, PARAM_reduction, SCATTER_NONE) != SCATTER_NONE;
}

static const char *refuse_scatter(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0);
    (void)gpu;
    if (reduces(n) && (dtype_is_fixed(x->type->dtype) || !gpu_is_number(x)))
        return "it reduces no fixed-point elements, and no integers of less than 8 or more than 63 bits";
    return refuse_targets(g, n);
}

/* What all kernels of a scatter read; lists of updates: the first of each element, and the next of each update. */
struct scatter {
    struct gpu_operand x, indices, updates, out, first, next;
    size_t count; /* of elements */
};

static odlc_status enlist(struct gpu_making *m, const struct scatter *s, const struct targets *t)
{
    struct gpu_operand fault;
    struct gpu_call *call;
    int number;
    TRY(gpu_watch(m, &fault, &number));
    TRY(gpu_call_begin(m, "index", "begin", &call));
    gpu_arg(m, call, &s->first);
    gpu_arg_int(call, (int64_t)s->count);
    TRY(gpu_call_end(m, call, 1, &s->count));
    gpu_option_type(m, "Y", &s->indices);
    TRY(gpu_call_begin(m, "index", "enlist", &call));
    gpu_arg(m, call, &s->indices);
    gpu_arg(m, call, &s->first);
    gpu_arg(m, call, &s->next);
    add_targets(m, call, t, &fault, number);
    return gpu_call_end(m, call, 1, &t->count);
}

static odlc_status prepare_scatter(struct gpu_making *m)
{
    struct scatter s = {.out = gpu_output(m, 0)};
    struct gpu_call *call;
    struct targets t;
    TRY(gpu_input(m, 0, 0, &s.x));
    TRY(gpu_input(m, 0, 1, &s.indices));
    TRY(gpu_input(m, 0, 2, &s.updates));
    if (!read_targets(gpu_node(m, 0), &s.x.shape, &s.indices.shape, &t))
        return ODLC_ERR_INVALID;
    s.count = shape_count(&s.out.shape);
    s.first = gpu_room(m, DT_INT32, &s.out.shape);
    s.next = gpu_room(m, DT_INT32, &s.updates.shape);
    gpu_move_math(m, &s.x);
    TRY(enlist(m, &s, &t));
    void (*const add_type)(struct gpu_making * m, const char *name, const struct gpu_operand *operand) =
        reduces(gpu_node(m, 0)) ? gpu_option_type : gpu_move_type;
    add_type(m, "X", &s.x);
    add_type(m, "Z", &s.updates);
    add_type(m, "O", &s.out);
    if (reduces(gpu_node(m, 0)) && node_output(m->scope->graph, gpu_node(m, 0), 0)->type->dtype == DT_FLOAT16)
        gpu_option(m, "-DROUNDS");
    TRY(gpu_call_begin(m, "index", "scatter", &call));
    gpu_arg(m, call, &s.x);
    gpu_arg(m, call, &s.updates);
    gpu_arg(m, call, &s.out);
    gpu_arg(m, call, &s.first);
    gpu_arg(m, call, &s.next);
    gpu_arg_int(call, (int64_t)s.count);
    gpu_arg_int(call, node_int(gpu_node(m, 0), PARAM_reduction, SCATTER_NONE));
    return gpu_call_end(m, call, 1, &s.count);
}

const struct gpu_op gpu_scatter = {.refuse = refuse_scatter, .prepare = prepare_scatter, .is_raw = gpu_moves_raw};

/* ---- OneHot ---- */

static bool always(const struct graph *g, const struct node *n)
{
    (void)g, (void)n;
    return true;
}

static const char *refuse_one_hot(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *y = node_output(g, n, 0);
    const char *reason = gpu_refuse_indices(node_input(g, n, 0));
    (void)gpu;
    if (reason)
        return reason;
    return y->type->dtype == DT_STRING ? "its result has strings" : gpu_refuse_sizes(g, n);
}

static odlc_status prepare_one_hot(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct gpu_operand out = gpu_output(m, 0);
    const struct buffer like = {.dtype = out.dtype, .quant = out.quant};
    const size_t count = shape_count(&out.shape), size = dtype_size(out.dtype);
    struct gpu_operand indices, values = {.place = GPU_FIXED, .dtype = out.dtype};
    uint8_t elements[2 * sizeof(uint64_t)];
    struct gpu_call *call;
    TRY(gpu_input(m, 0, 0, &indices));
    param_element(&like, node_param(n, PARAM_off_value), 0, elements);
    param_element(&like, node_param(n, PARAM_on_value), 1, elements + size);
    TRY(gpu_weights(m, elements, 2 * size, &values.buffer));
    gpu_move_types(m, &values, &out);
    gpu_option_type(m, "Y", &indices);
    const uint32_t axis = (uint32_t)node_int(n, PARAM_axis, indices.shape.rank);
    TRY(gpu_call_begin(m, "index", "one_hot", &call));
    gpu_arg(m, call, &indices);
    gpu_arg(m, call, &values);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, node_int(n, PARAM_depth, 0));
    gpu_arg_int(call, (int64_t)shape_count_range(&indices.shape, axis, indices.shape.rank));
    return gpu_call_end(m, call, 1, &count);
}

const struct gpu_op gpu_one_hot = {.refuse = refuse_one_hot, .prepare = prepare_one_hot, .is_raw = always};

/* ---- TopK ---- */

/* Every element is compared with all others of its line: more of them take too long. */
enum { LONGEST_LINE = 1 << 16 };

static const char *refuse_top_k(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *values = node_output(g, n, 0);
    (void)gpu;
    if (!gpu_is_number(x) || (values && !gpu_is_alike(x, values)))
        return "its operands differ in type or encoding, or have elements of a type without kernels";
    if (x->type->shape.dims[x->type->shape.rank - 1] > LONGEST_LINE)
        return "its lines have more than 65536 elements";
    return gpu_refuse_sizes(g, n);
}

static odlc_status prepare_top_k(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct gpu_operand values = gpu_output(m, 0), places = gpu_output(m, 1);
    struct gpu_operand x;
    struct gpu_call *call;
    TRY(gpu_input(m, 0, 0, &x));
    const size_t count = shape_count(&x.shape);
    gpu_move_math(m, &x);
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "O", values.dtype == DT_NONE ? &x : &values);
    TRY(gpu_call_begin(m, "index", "top_k", &call));
    gpu_arg(m, call, &x);
    gpu_arg(m, call, &values);
    gpu_arg(m, call, &places);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, x.shape.dims[x.shape.rank - 1]);
    gpu_arg_int(call, node_int(n, PARAM_k, 0));
    gpu_arg_int(call, node_int(n, PARAM_largest, 1) != 0);
    return gpu_call_end(m, call, 1, &count);
}

const struct gpu_op gpu_top_k = {.refuse = refuse_top_k, .prepare = prepare_top_k, .is_raw = always};
