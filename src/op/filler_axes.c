/* SPDX-License-Identifier: Apache-2.0 */
#include "op/filler_axes.h"

#include <string.h>

#include "op/axes.h"
#include "op/op.h"
#include "op/ranges.h"

/* One node, whose operands are there unless the row allows otherwise. */
struct follow {
    const struct graph *g;
    const struct node *n;
    const uint8_t *in;
    uint8_t *out;
};

/* As filler_axes; out is zeroed. */
typedef bool follow_fn(const struct follow *f);

static const struct shape *shape_in(const struct follow *f, uint32_t i)
{
    return &node_input(f->g, f->n, i)->type->shape;
}

static const struct shape *shape_out(const struct follow *f)
{
    return &node_output(f->g, f->n, 0)->type->shape;
}

static bool all_outputs(const struct follow *f, unsigned axes)
{
    memset(f->out, (int)axes, f->n->n_outputs);
    return true;
}

static uint8_t below(uint32_t axis)
{
    return (uint8_t)((1u << axis) - 1);
}

/* The axes of a mask when `count` axes come in at `at`. */
static uint8_t with_axes(uint8_t axes, uint32_t at, uint32_t count)
{
    return (uint8_t)((axes & below(at)) | (axes >> at) << (at + count));
}

static uint8_t without_axes(uint8_t axes, unsigned dropped)
{
    uint8_t kept = 0;
    for (uint32_t i = 0, to = 0; i < MAX_RANK; i++)
        if (!(dropped >> i & 1))
            kept |= (uint8_t)((axes >> i & 1) << to++);
    return kept;
}

/* ---- each element by itself ---- */

/* Operands are broadcast: their last axes are those of the output. */
static bool by_element(const struct follow *f)
{
    unsigned axes = 0;
    for (uint32_t i = 0; i < f->n->n_inputs; i++)
        if (f->in[i])
            axes |= (unsigned)f->in[i] << (shape_out(f)->rank - shape_in(f, i)->rank);
    return all_outputs(f, axes);
}

/* ---- along axes of the op ---- */

/* Reductions: the axes that stay are counted anew. */
static bool reduced(const struct follow *f, unsigned axes)
{
    bool keep = node_int(f->n, PARAM_keep_dims, 0) != 0;
    return !(f->in[0] & axes) && all_outputs(f, keep ? f->in[0] : without_axes(f->in[0], axes));
}

static bool by_reduction(const struct follow *f)
{
    uint32_t axes;
    return node_axes(f->n, shape_in(f, 0)->rank, &axes) && reduced(f, axes);
}

static bool by_extreme(const struct follow *f)
{
    uint32_t axis;
    return node_axis(f->n, -1, shape_in(f, 0)->rank, &axis) && reduced(f, 1u << axis);
}

/* One axis, the last one unless a param says otherwise; others side by side. */
static bool by_axis(const struct follow *f)
{
    uint32_t axis, rank = shape_in(f, 0)->rank;
    unsigned axes = 0;
    for (uint32_t i = 0; i < f->n->n_inputs; i++)
        axes |= f->in[i];
    return node_axis(f->n, (int64_t)rank - 1, rank, &axis) && !(axes >> axis & 1) && all_outputs(f, axes);
}

/* Inputs from `first` on: weights, which all count. */
static bool all_known(const struct follow *f, uint32_t first)
{
    for (uint32_t i = first; i < f->n->n_inputs; i++)
        if (f->in[i])
            return false;
    return true;
}

static bool by_norm(const struct follow *f)
{
    uint32_t axes;
    return node_axes_or_axis(f->n, shape_in(f, 0)->rank, &axes) && !(f->in[0] & axes) && all_known(f, 1) &&
           all_outputs(f, f->in[0]);
}

/* Images: those of a batch side by side. */
static bool by_image(const struct follow *f)
{
    return !(f->in[0] & ~1u) && all_known(f, 1) && all_outputs(f, f->in[0]);
}

/* Images and where they are sampled. */
static bool by_sample(const struct follow *f)
{
    unsigned axes = f->in[0] | f->in[1];
    return !(axes & ~1u) && all_outputs(f, axes);
}

/* Regions side by side, all of the image. */
static bool by_region(const struct follow *f)
{
    unsigned axes = f->in[1] | f->in[2];
    return f->in[0] == 0 && !(axes & ~1u) && all_outputs(f, axes);
}

/* Operands that are not transposed: rows side by side, columns side by side. */
static bool by_product(const struct follow *f)
{
    uint32_t rank = shape_out(f)->rank, a = shape_in(f, 0)->rank, b = shape_in(f, 1)->rank;
    if (a < 2 || b < 2)
        return false;
    uint8_t left = (uint8_t)(f->in[0] << (rank - a)), right = (uint8_t)(f->in[1] << (rank - b));
    uint8_t row = (uint8_t)(1u << (rank - 2)), column = (uint8_t)(1u << (rank - 1)), last = row | column;
    uint8_t left_inner = node_int(f->n, PARAM_transpose_in0, 0) ? row : column;
    uint8_t right_inner = node_int(f->n, PARAM_transpose_in1, 0) ? column : row;
    uint8_t axes = (left | right) & (uint8_t)~last;
    axes |= left & last ? row : 0;
    axes |= right & last ? column : 0;
    return !(left & left_inner) && !(right & right_inner) && all_outputs(f, axes);
}

static bool by_dense_layer(const struct follow *f)
{
    uint32_t rank = shape_in(f, 0)->rank;
    bool rows_stay = shape_out(f)->rank == rank && all_known(f, 1);
    return rows_stay && !(f->in[0] >> (rank - 1) & 1) && all_outputs(f, f->in[0]);
}

/* ---- shapes ---- */

static bool by_transpose(const struct follow *f)
{
    struct perm perm = node_perm(f->n);
    unsigned axes = 0;
    for (uint32_t i = 0; i < perm.rank; i++)
        axes |= (f->in[0] >> perm.axis[i] & 1u) << i;
    return all_outputs(f, axes);
}

static int64_t dim_or_1(const struct shape *s, uint32_t axis)
{
    return axis < s->rank ? s->dims[axis] : 1;
}

/* The first axis from `from` up to `to` that has more than one element; `from` when none has. */
static uint32_t leading_axis(const struct shape *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (s->dims[i] != 1)
            return i;
    return from;
}

/* Axes come in groups that have as many elements before as after. Filler at the end of the leading axis of a group is
 * at the end of the group; behind another axis it lies scattered in the group. */
static bool by_reshape(const struct follow *f)
{
    const struct shape *from = shape_in(f, 0), *to = shape_out(f);
    unsigned axes = 0;
    for (uint32_t i = 0, k = 0; i < from->rank || k < to->rank;) {
        uint32_t i_end = i + (i < from->rank), k_end = k + (k < to->rank);
        int64_t a = dim_or_1(from, i), b = dim_or_1(to, k);
        while (a != b && (a < b ? i_end < from->rank : k_end < to->rank))
            if (a < b)
                a *= from->dims[i_end++];
            else
                b *= to->dims[k_end++];
        unsigned filler = f->in[0] & below(i_end) & ~(unsigned)below(i);
        if (filler & ~(1u << leading_axis(from, i, i_end)))
            return false;
        if (filler && k_end > k) /* else an axis of one element is dropped */
            axes |= 1u << leading_axis(to, k, k_end);
        i = i_end;
        k = k_end;
    }
    return all_outputs(f, axes);
}

static bool by_tile(const struct follow *f)
{
    uint32_t count;
    const int64_t *multiples = node_ints(f->n, PARAM_multiples, &count);
    for (uint32_t i = 0; i < count; i++)
        if ((f->in[0] >> i & 1) && multiples[i] != 1)
            return false;
    return all_outputs(f, f->in[0]);
}

static bool by_pad(const struct follow *f)
{
    uint32_t count;
    const int64_t *amount = node_ints(f->n, PARAM_pad_amount, &count);
    for (uint32_t i = 0; i < count; i++)
        if ((f->in[0] >> (i / 2) & 1) && amount[i] != 0)
            return false;
    return all_outputs(f, f->in[0]);
}

/* A part from the first row on. What begins elsewhere may have been counted from the end, where the filler is. */
static bool by_slice(const struct follow *f)
{
    struct range ranges[2 * MAX_RANK];
    uint32_t count, axis = 0, to = 0;
    unsigned axes = 0;
    if (!ranges_read(f->n, shape_in(f, 0), ranges, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        bool filler = !ranges[i].added && (f->in[0] >> axis & 1);
        bool whole = ranges[i].begin == 0 && ranges[i].stride >= 0;
        bool is_last = ranges[i].begin == dim_or_1(shape_in(f, 0), axis) - 1;
        if (filler && (ranges[i].shrink ? is_last : !whole))
            return false;
        axes |= filler && !ranges[i].shrink ? 1u << to : 0;
        axis += !ranges[i].added;
        to += !ranges[i].shrink;
    }
    return all_outputs(f, axes);
}

/* ---- positions ---- */

/* Rows that are picked are those of the positions. The last one may have been counted from the end. */
static bool by_gather(const struct follow *f)
{
    const struct shape *data = shape_in(f, 0);
    const struct tensor *positions = node_input(f->g, f->n, 1);
    uint32_t axis;
    if (!node_axis(f->n, 0, data->rank, &axis) || ((f->in[0] >> axis & 1) && positions->kind == TENSOR_STATIC))
        return false;
    uint8_t picked = (uint8_t)(f->in[0] & ~(1u << axis));
    uint32_t rank = positions->type->shape.rank;
    uint8_t around = rank ? with_axes(picked, axis + 1, rank - 1) : without_axes(picked, 1u << axis);
    return all_outputs(f, around | (unsigned)f->in[1] << axis);
}

static bool by_gather_elements(const struct follow *f)
{
    uint32_t axis;
    return node_axis(f->n, 0, shape_in(f, 0)->rank, &axis) && all_outputs(f, (f->in[0] & ~(1u << axis)) | f->in[1]);
}

static bool by_gather_nd(const struct follow *f)
{
    const struct shape *positions = shape_in(f, 1);
    uint32_t batch = (uint32_t)node_int(f->n, PARAM_batch_dims, 0), last = positions->rank - 1;
    uint32_t behind = batch + (uint32_t)positions->dims[last];
    if (f->in[1] >> last & 1)
        return false;
    return all_outputs(f, (f->in[0] & below(batch)) | f->in[1] | (unsigned)(f->in[0] >> behind) << last);
}

/* Written to by positions and values that all count. */
static bool by_scatter(const struct follow *f)
{
    return all_known(f, 1) && all_outputs(f, f->in[0]);
}

static bool by_one_hot(const struct follow *f)
{
    uint32_t axis = (uint32_t)node_int(f->n, PARAM_axis, shape_in(f, 0)->rank);
    return all_outputs(f, with_axes(f->in[0], axis, 1));
}

/* ---- the table ---- */

/* Where filler comes from; two of them in a row combine. */
static bool by_finding(const struct follow *f)
{
    unsigned axes = 0;
    for (uint32_t i = 0; i < f->n->n_inputs; i++)
        axes |= f->in[i];
    f->out[0] = 1;
    return axes == 0;
}

/* Operators that are not here combine. */
static follow_fn *rule_of(enum op_id id)
{
#define BY(rule, name) [OP_##name] = by_##rule,
    static follow_fn *const rules[OP_IDS] = {
#include "op/filler_axes.def"
    };
#undef BY
    return rules[id];
}

bool filler_axes(const struct graph *g, const struct node *n, const uint8_t *in, uint8_t *out)
{
    const struct follow f = {g, n, in, out};
    follow_fn *rule = rule_of(n->op->id);
    memset(out, 0, n->n_outputs);
    bool apart = rule && rule(&f);
    if (!apart && rule != by_finding)
        memset(out, 0, n->n_outputs);
    return apart;
}
