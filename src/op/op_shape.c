/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that keep every element and change where it stands: Reshape, Transpose, ChannelShuffle, Concat, Split,
 * Tile. */
#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"
#include "op/rearrange.h"

/* ---- Reshape ---- */

static odlc_status infer_reshape(const struct infer *c)
{
    const struct type *in = infer_in(c, 0);
    const struct packed_param *p = node_param(c->node, PARAM_shape);
    if (!p)
        return infer_error(c, "the new shape is not given");
    uint64_t rank = shape_count(p->shape);
    if (rank > MAX_RANK)
        return infer_error(c, "rank %llu is beyond %d", (unsigned long long)rank, MAX_RANK);
    struct shape out = {.rank = (uint32_t)rank};
    for (uint32_t i = 0; i < out.rank; i++)
        out.dims[i] = p->ints[i];
    if (shape_too_large(&out) || shape_count(&out) != shape_count(&in->shape))
        return infer_error(c, "%s cannot be given the shape %s", shape_text(c->diags->arena, &in->shape),
                           shape_text(c->diags->arena, &out));
    c->out[0] = (struct type){.dtype = in->dtype, .shape = out};
    return ODLC_OK;
}

/* ---- Transpose ---- */

static odlc_status infer_transpose(const struct infer *c)
{
    const struct type *in = infer_in(c, 0);
    struct perm perm;
    if (!node_valid_perm(c->node, in->shape.rank, &perm))
        return infer_error(c, "perm is not a permutation of the axes of %s", shape_text(c->diags->arena, &in->shape));
    c->out[0] = (struct type){.dtype = in->dtype, .shape = perm_apply(&perm, &in->shape)};
    return ODLC_OK;
}

/* The permutation of the input is swallowed: the node then reads its axes where they are stored. */
static bool permute_transpose(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    struct perm own;
    if (!node_valid_perm(n, perm->rank, &own))
        return false;
    int64_t axes[MAX_RANK];
    for (uint32_t i = 0; i < own.rank; i++)
        axes[i] = perm_find(perm, own.axis[i]);
    struct shape shape = SHAPE(own.rank);
    node_set_ints(g, n, PARAM_perm, &shape, axes);
    *out = perm_identity(perm->rank);
    return true;
}

/* ---- ChannelShuffle ---- */

static odlc_status infer_shuffle(const struct infer *c)
{
    struct rearrangement r;
    const char *wrong = rearrangement_read(&r, c->node, &infer_in(c, 0)->shape);
    if (wrong)
        return infer_error(c, "%s (input %s)", wrong, shape_text(c->diags->arena, &infer_in(c, 0)->shape));
    c->out[0] = *infer_in(c, 0);
    return ODLC_OK;
}

/* ---- Concat and Split ---- */

static odlc_status infer_concat(const struct infer *c)
{
    const struct type *first = infer_in(c, 0);
    struct shape out = first->shape;
    uint32_t axis;
    if (!node_axis(c->node, (int64_t)out.rank - 1, out.rank, &axis))
        return infer_error(c, "the axis is outside %s", shape_text(c->diags->arena, &out));
    for (uint32_t i = 1; i < c->node->n_inputs; i++) {
        const struct type *in = infer_in(c, i);
        struct shape expected = first->shape;
        expected.dims[axis] = in->shape.dims[axis];
        if (!can_stand_together(in->dtype, first->dtype))
            return infer_error(c, "input %u is %s, input 0 is %s", i, dtype_info(in->dtype)->name,
                               dtype_info(first->dtype)->name);
        if (!shape_equal(&in->shape, &expected) || ckd_add(&out.dims[axis], out.dims[axis], in->shape.dims[axis]))
            return infer_error(c, "input %u of shape %s cannot be joined to %s along axis %u", i,
                               shape_text(c->diags->arena, &in->shape), shape_text(c->diags->arena, &first->shape),
                               axis);
    }
    c->out[0] = (struct type){.dtype = first->dtype, .shape = out};
    return ODLC_OK;
}

/* Output i holds [split_index[i - 1], split_index[i]) of the axis. */
static odlc_status infer_split(const struct infer *c)
{
    const struct type *in = infer_in(c, 0);
    uint32_t axis, cuts;
    if (!node_axis(c->node, 0, in->shape.rank, &axis))
        return infer_error(c, "the axis is outside %s", shape_text(c->diags->arena, &in->shape));
    const int64_t *cut = node_ints(c->node, PARAM_split_index, &cuts);
    if (cuts + 1 != c->node->n_outputs)
        return infer_error(c, "%u cuts for %u outputs", cuts, c->node->n_outputs);
    int64_t from = 0;
    for (uint32_t i = 0; i <= cuts; i++) {
        int64_t to = i < cuts ? cut[i] : in->shape.dims[axis];
        if (to < from || to > in->shape.dims[axis])
            return infer_error(c, "split_index does not ascend within axis %u of %s", axis,
                               shape_text(c->diags->arena, &in->shape));
        c->out[i] = *in;
        c->out[i].shape.dims[axis] = to - from;
        from = to;
    }
    return ODLC_OK;
}

/* ---- Tile ---- */

static odlc_status infer_tile(const struct infer *c)
{
    const struct type *in = infer_in(c, 0);
    uint32_t count;
    const int64_t *multiples = node_ints(c->node, PARAM_multiples, &count);
    if (count != in->shape.rank)
        return infer_error(c, "%u multiples for %s", count, shape_text(c->diags->arena, &in->shape));
    c->out[0] = *in;
    for (uint32_t i = 0; i < count; i++)
        if (multiples[i] < 0 || ckd_mul(&c->out[0].shape.dims[i], in->shape.dims[i], multiples[i]))
            return infer_error(c, "axis %u cannot be repeated %lld times", i, (long long)multiples[i]);
    return ODLC_OK;
}

static bool permute_tile(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    uint32_t count;
    const int64_t *multiples = node_ints(n, PARAM_multiples, &count);
    if (count != perm->rank)
        return false;
    int64_t stored[MAX_RANK];
    for (uint32_t i = 0; i < count; i++)
        stored[i] = multiples[perm->axis[i]];
    struct shape shape = SHAPE(count);
    node_set_ints(g, n, PARAM_multiples, &shape, stored);
    *out = *perm;
    return true;
}

static bool tile_along(struct graph *g, struct node *n, uint32_t axes)
{
    uint32_t count;
    const int64_t *multiples = node_ints(n, PARAM_multiples, &count);
    int64_t kept[MAX_RANK];
    if (count > COUNT_OF(kept))
        return false;
    for (uint32_t i = 0; i < count; i++)
        kept[i] = axes >> i & 1 ? multiples[i] : 1;
    const struct shape shape = SHAPE(count);
    node_set_ints(g, n, PARAM_multiples, &shape, kept);
    return true;
}

/* ---- rows ---- */

static const struct param_def shuffle_params[] = {{PARAM_NAMED(num_groups), DT_UINT32, PARAM_REQUIRED, false, false, 0},
                                                  {PARAM_NAMED(axis), DT_UINT32, PARAM_OPTIONAL, false, false, 0}};
static const struct param_def concat_params[] = {{PARAM_NAMED(axis), DT_UINT32, PARAM_OPTIONAL, false, false, 0}};
/* Supplemental in the container, where the output's dims say it too. */
static const struct param_def reshape_params[] = {{PARAM_NAMED(shape), DT_INT32, PARAM_OPTIONAL, true, true, 0}};
static const struct param_def split_params[] = {{PARAM_NAMED(axis), DT_UINT32, PARAM_REQUIRED, false, false, 0},
                                                {PARAM_NAMED(split_index), DT_UINT32, PARAM_REQUIRED, true, false, 0}};
static const struct param_def tile_params[] = {{PARAM_NAMED(multiples), DT_UINT32, PARAM_REQUIRED, true, false, 0}};
static const struct param_def transpose_params[] = {{PARAM_NAMED(perm), DT_UINT32, PARAM_REQUIRED, true, false, 0}};

#define ROW(type, n_in, n_out, copies, param_list, infer_rule, axis_rule, cut_rule, along_rule)                   \
    {                                                                                                             \
        .id = OP_##type, .name = #type, .dlc_type = #type, .min_inputs = 1, .max_inputs = n_in, .min_outputs = 1, \
        .max_outputs = n_out, .params = param_list, .n_params = COUNT_OF(param_list), .infer = infer_rule,        \
        .permute = axis_rule, .cut = cut_rule, .along = along_rule, .may_copy = copies                            \
    }

const struct op op_rows_shape[] = {
    ROW(ChannelShuffle, 1, 1, false, shuffle_params, infer_shuffle, permute_axis, NULL, NULL),
    ROW(Concat, VARIADIC, 1, true, concat_params, infer_concat, permute_axis, cut_but_axis, NULL),
    ROW(Reshape, 1, 1, true, reshape_params, infer_reshape, NULL, NULL, NULL),
    ROW(Split, 1, VARIADIC, false, split_params, infer_split, permute_axis, cut_but_axis, NULL),
    ROW(Tile, 1, 1, false, tile_params, infer_tile, permute_tile, cut_same, tile_along),
    ROW(Transpose, 1, 1, true, transpose_params, infer_transpose, permute_transpose, NULL, NULL),
};
const size_t op_rows_shape_count = COUNT_OF(op_rows_shape);
