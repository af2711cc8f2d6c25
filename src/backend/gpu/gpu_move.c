/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements. */
#include "backend/gpu/gpu_walk.h"
#include "ir/quant.h"
#include "kernel/move.h"
#include "op/axes.h"
#include "op/op.h"
#include "op/ranges.h"
#include "op/rearrange.h"

/* ---- what all do ---- */

bool gpu_is_alike(const struct tensor *a, const struct tensor *b)
{
    const bool is_fixed = dtype_is_fixed(a->type->dtype);
    return a->type->dtype == b->type->dtype &&
           (!is_fixed || ((!a->quant || !a->quant->per_axis) && quant_equal(a->quant, b->quant)));
}

bool gpu_is_number(const struct tensor *t)
{
    const enum dtype dtype = t->type->dtype;
    return gpu_is_real(t) || dtype == DT_BOOL ||
           ((dtype_is_int(dtype) || dtype_is_fixed(dtype)) && dtype != DT_UINT64 && dtype_value_bits(dtype) >= 8);
}

/* Whether input i has elements that are moved; others are indices. */
static bool is_moved(const struct node *n, uint32_t i)
{
    const bool scatters = n->op->id == OP_ScatterElements || n->op->id == OP_ScatterNd;
    return i == 0 || n->op->id == OP_Concat || (scatters && i == 2);
}

bool gpu_moves_raw(const struct graph *g, const struct node *n)
{
    const struct tensor *y = NULL;
    for (uint32_t i = 0; i < n->n_outputs && !y; i++)
        y = node_output(g, n, i);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (is_moved(n, i) && (!node_input(g, n, i) || !gpu_is_alike(node_input(g, n, i), y)))
            return false;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (node_output(g, n, i) && !gpu_is_alike(node_output(g, n, i), y))
            return false;
    return y->type->dtype != DT_STRING;
}

const char *gpu_refuse_move(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    return gpu_moves_raw(g, n) ? gpu_refuse_sizes(g, n) : gpu_refuse_types(gpu, g, n);
}

static bool is_real(const struct gpu_operand *x)
{
    return x->dtype == DT_FLOAT32 || x->dtype == DT_FLOAT16;
}

void gpu_move_math(struct gpu_making *m, const struct gpu_operand *x)
{
    if (m->math != GPU_MATH_DOUBLE)
        m->math = is_real(x) ? GPU_MATH_FLOAT : GPU_MATH_INT;
}

void gpu_move_type(struct gpu_making *m, const char *name, const struct gpu_operand *operand)
{
    static const enum dtype by_size[] = {[1] = DT_INT8, [2] = DT_INT16, [4] = DT_INT32, [8] = DT_INT64};
    struct gpu_operand bytes = *operand;
    if (operand->dtype != DT_NONE && !is_real(operand))
        bytes.dtype = by_size[dtype_size(operand->dtype)];
    gpu_option_type(m, name, &bytes);
}

void gpu_move_types(struct gpu_making *m, const struct gpu_operand *x, const struct gpu_operand *out)
{
    gpu_move_math(m, x);
    gpu_move_type(m, "X", x);
    gpu_move_type(m, "O", out);
}

static int64_t walk_count(const struct gpu_walk *w)
{
    int64_t count = 1;
    for (cl_int i = 0; i < w->rank; i++)
        count *= w->dims[i];
    return count;
}

odlc_status gpu_move(struct gpu_making *m, const struct gpu_operand *x, const struct gpu_operand *y,
                     const struct gpu_walk *walk)
{
    const size_t count = (size_t)walk_count(walk);
    struct gpu_call *call;
    gpu_move_types(m, x, y);
    TRY(gpu_call_begin(m, "move", "move", &call));
    gpu_arg(m, call, x);
    gpu_arg(m, call, y);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_bytes(call, walk, sizeof(*walk));
    return gpu_call_end(m, call, 1, &count);
}

/* ---- Transpose, DepthToSpace, SpaceToDepth, ChannelShuffle ---- */

static odlc_status prepare_transpose(struct gpu_making *m)
{
    const struct gpu_operand y = gpu_output(m, 0);
    struct rearrangement r;
    struct gpu_operand x;
    int64_t from[MAX_RANK], strides[2][MAX_RANK];
    TRY(gpu_input(m, 0, 0, &x));
    if (rearrangement_read(&r, gpu_node(m, 0), &x.shape))
        return ODLC_ERR_INVALID;
    const struct shape to = perm_apply(&r.perm, &r.parts);
    shape_strides(&r.parts, from);
    shape_strides(&to, strides[1]);
    for (uint32_t i = 0; i < r.perm.rank; i++)
        strides[0][i] = from[r.perm.axis[i]];
    const struct gpu_walk walk = gpu_walk_over(&to, 2, strides);
    return gpu_move(m, &x, &y, &walk);
}

const struct gpu_op gpu_transpose = {.refuse = gpu_refuse_move, .prepare = prepare_transpose, .is_raw = gpu_moves_raw};

/* ---- Concat and Split: parts and the whole ---- */

/* Between a part and its place in the whole, `at` steps along the axis. */
static odlc_status move_part(struct gpu_making *m, const struct gpu_operand *from, const struct gpu_operand *to,
                             bool to_whole, uint32_t axis, int64_t at)
{
    const struct shape *whole = to_whole ? &to->shape : &from->shape, *part = to_whole ? &from->shape : &to->shape;
    int64_t strides[2][MAX_RANK];
    shape_strides(&from->shape, strides[0]);
    shape_strides(&to->shape, strides[1]);
    struct gpu_walk walk = gpu_walk_over(part, 2, strides);
    walk.base[to_whole] = (cl_int)(at * (int64_t)shape_count_range(whole, axis + 1, whole->rank));
    return gpu_move(m, from, to, &walk);
}

static odlc_status prepare_concat(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct gpu_operand y = gpu_output(m, 0);
    uint32_t axis;
    int64_t at = 0;
    if (!node_axis(n, (int64_t)y.shape.rank - 1, y.shape.rank, &axis))
        return ODLC_ERR_INVALID;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        struct gpu_operand x;
        TRY(gpu_input(m, 0, i, &x));
        TRY(move_part(m, &x, &y, true, axis, at));
        at += x.shape.dims[axis];
    }
    return ODLC_OK;
}

const struct gpu_op gpu_concat = {.refuse = gpu_refuse_move, .prepare = prepare_concat, .is_raw = gpu_moves_raw};

static odlc_status prepare_split(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    struct gpu_operand x;
    uint32_t axis;
    int64_t at = 0;
    TRY(gpu_input(m, 0, 0, &x));
    if (!node_axis(n, 0, x.shape.rank, &axis))
        return ODLC_ERR_INVALID;
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct gpu_operand y = gpu_output(m, i);
        if (y.dtype == DT_NONE)
            return ODLC_ERR_INVALID;
        TRY(move_part(m, &x, &y, false, axis, at));
        at += y.shape.dims[axis];
    }
    return ODLC_OK;
}

static const char *refuse_split(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (!node_output(g, n, i))
            return "a part is absent";
    return gpu_refuse_move(gpu, g, n);
}

const struct gpu_op gpu_split = {.refuse = refuse_split, .prepare = prepare_split, .is_raw = gpu_moves_raw};

/* ---- Tile ---- */

/* The result's axes count repetitions and elements of the input. */
static odlc_status prepare_tile(struct gpu_making *m)
{
    const struct gpu_operand y = gpu_output(m, 0);
    struct gpu_operand x;
    struct shape parts = {.rank = 0};
    int64_t from[MAX_RANK], to[MAX_RANK], strides[2][MAX_RANK];
    TRY(gpu_input(m, 0, 0, &x));
    shape_strides(&x.shape, from);
    shape_strides(&y.shape, to);
    for (uint32_t i = 0; i < x.shape.rank; i++) {
        const int64_t times = y.shape.dims[i] / x.shape.dims[i];
        if (times > 1) {
            strides[0][parts.rank] = 0;
            strides[1][parts.rank] = x.shape.dims[i] * to[i];
            parts.dims[parts.rank++] = times;
        }
        if (x.shape.dims[i] > 1) {
            strides[0][parts.rank] = from[i];
            strides[1][parts.rank] = to[i];
            parts.dims[parts.rank++] = x.shape.dims[i];
        }
    }
    const struct gpu_walk walk = gpu_walk_over(&parts, 2, strides);
    return gpu_move(m, &x, &y, &walk);
}

/* Axes that are both repeated and walked over count twice. */
static const char *refuse_tile(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct shape *x = &node_input(g, n, 0)->type->shape, *y = &node_output(g, n, 0)->type->shape;
    uint32_t axes = 0;
    for (uint32_t i = 0; i < x->rank; i++)
        axes += (x->dims[i] > 1) + (y->dims[i] > x->dims[i]);
    return axes > MAX_RANK ? "too many axes are repeated" : gpu_refuse_move(gpu, g, n);
}

const struct gpu_op gpu_tile = {.refuse = refuse_tile, .prepare = prepare_tile, .is_raw = gpu_moves_raw};

/* ---- StridedSlice ---- */

static odlc_status prepare_slice(struct gpu_making *m)
{
    const struct gpu_operand y = gpu_output(m, 0);
    struct gpu_operand x;
    struct range ranges[2 * MAX_RANK];
    struct shape kept = {.rank = 0};
    int64_t from[MAX_RANK], strides[2][MAX_RANK], base = 0;
    uint32_t count, axis = 0;
    TRY(gpu_input(m, 0, 0, &x));
    if (!ranges_read(gpu_node(m, 0), &x.shape, ranges, &count))
        return ODLC_ERR_INVALID;
    shape_strides(&x.shape, from);
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].added)
            continue;
        base += ranges[i].begin * from[axis];
        strides[0][axis] = ranges[i].stride * from[axis];
        kept.dims[axis++] = ranges[i].count;
    }
    kept.rank = axis;
    shape_strides(&kept, strides[1]);
    struct gpu_walk walk = gpu_walk_over(&kept, 2, strides);
    walk.base[0] = (cl_int)base;
    return gpu_move(m, &x, &y, &walk);
}

const struct gpu_op gpu_slice = {.refuse = gpu_refuse_move, .prepare = prepare_slice, .is_raw = gpu_moves_raw};

/* ---- Pad ---- */

/* As `pads` in kernels/move.cl. */
struct gpu_pads {
    cl_int rank, scheme;
    cl_int out[MAX_RANK], in[MAX_RANK], before[MAX_RANK], strides[MAX_RANK];
};

static struct gpu_pads pads_of(const struct node *n, const struct shape *in, const struct shape *out)
{
    struct gpu_pads p = {.rank = (cl_int)in->rank, .scheme = (cl_int)node_int(n, PARAM_scheme, PAD_CONSTANT)};
    uint32_t count;
    const int64_t *amount = node_ints(n, PARAM_pad_amount, &count);
    int64_t strides[MAX_RANK];
    shape_strides(in, strides);
    for (uint32_t i = 0; i < in->rank; i++) {
        p.out[i] = (cl_int)out->dims[i];
        p.in[i] = (cl_int)in->dims[i];
        p.before[i] = (cl_int)amount[2 * i];
        p.strides[i] = (cl_int)strides[i];
    }
    return p;
}

/* The element that stands for the constant, as the input stores elements. */
static odlc_status pad_constant(struct gpu_making *m, const struct gpu_operand *x, struct gpu_operand *out)
{
    const struct buffer like = {.dtype = x->dtype, .quant = x->quant};
    uint64_t element = 0;
    param_element(&like, node_param(gpu_node(m, 0), PARAM_pad_constant_value), 0, &element);
    *out = (struct gpu_operand){.place = GPU_FIXED, .dtype = x->dtype};
    return gpu_weights(m, &element, dtype_size(x->dtype), &out->buffer);
}

static odlc_status prepare_pad(struct gpu_making *m)
{
    const struct gpu_operand y = gpu_output(m, 0);
    const size_t count = shape_count(&y.shape);
    struct gpu_operand x, constant;
    struct gpu_call *call;
    TRY(gpu_input(m, 0, 0, &x));
    TRY(pad_constant(m, &x, &constant));
    const struct gpu_pads pads = pads_of(gpu_node(m, 0), &x.shape, &y.shape);
    gpu_move_types(m, &x, &y);
    TRY(gpu_call_begin(m, "move", "pad", &call));
    gpu_arg(m, call, &x);
    gpu_arg(m, call, &y);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg(m, call, &constant);
    gpu_arg_bytes(call, &pads, sizeof(pads));
    return gpu_call_end(m, call, 1, &count);
}

const struct gpu_op gpu_pad = {.refuse = gpu_refuse_move, .prepare = prepare_pad, .is_raw = gpu_moves_raw};
