/* SPDX-License-Identifier: Apache-2.0 */
/* A Reshape, a Transpose and a Reshape are ChannelShuffle, DepthToSpace or SpaceToDepth where they do the same. */
#include "op/op.h"
#include "op/rearrange.h"
#include "pass/fusion.h"

pass_fn pass_fuse_rearrangement;

enum { IMAGE_RANK = 4 };

struct steps {
    const struct shape *x, *y;
    struct rearrangement joined; /* what they do */
};

static bool do_the_same(const struct steps *s, const struct rearrangement *r)
{
    const struct rearrangement joined = rearrangement_joined(r);
    return rearrangement_equal(&joined, &s->joined);
}

/* ---- ChannelShuffle ---- */

/* The extent of the first part that changes its place. */
static int64_t groups_of(const struct rearrangement *joined)
{
    uint32_t i = 0;
    while (i < joined->perm.rank && joined->perm.axis[i] == i)
        i++;
    return i < joined->perm.rank ? joined->parts.dims[i] : 1;
}

static bool make_shuffle(struct fusing *f, const struct occurrence *o, const struct steps *s, uint32_t axis)
{
    const tensor_id x = occurrence_tensor(o, 'x');
    const int64_t groups = groups_of(&s->joined);
    if (groups <= 1 || groups >= s->x->dims[axis] || s->x->dims[axis] % groups != 0)
        return false;
    const struct rearrangement shuffle = rearrangement_of_groups(s->x, axis, groups);
    if (!do_the_same(s, &shuffle))
        return false;
    struct node *made = fusion_replace(f, o, OP_ChannelShuffle, &x, 1);
    node_set_int(made, PARAM_num_groups, groups);
    node_set_int(made, PARAM_axis, axis);
    return true;
}

static bool make_shuffles(struct fusing *f, const struct occurrence *o, const struct steps *s)
{
    for (uint32_t axis = 0; axis < s->x->rank; axis++)
        if (make_shuffle(f, o, s, axis))
            return true;
    return false;
}

/* ---- DepthToSpace and SpaceToDepth ---- */

/* The blocks whose places in the wide image are channels of the deep one; false: there are none. */
static bool read_blocks(struct blocks *b, const struct shape *deep, const struct shape *wide, bool channels_last)
{
    const int height = channels_last ? 1 : 2, depth = channels_last ? 3 : 1;
    const int64_t *from = deep->dims, *to = wide->dims;
    if (from[0] != to[0] || to[height] % from[height] != 0 || to[height + 1] % from[height + 1] != 0)
        return false;
    *b = (struct blocks){.batch = from[0],
                         .height = from[height],
                         .width = from[height + 1],
                         .depth = to[depth],
                         .rows = to[height] / from[height],
                         .columns = to[height + 1] / from[height + 1]};
    return b->rows <= INT16_MAX && b->columns <= INT16_MAX && b->rows * b->columns > 1;
}

static bool make_blocks(struct fusing *f, const struct occurrence *o, const struct steps *s, bool to_space,
                        bool channels_last)
{
    const tensor_id x = occurrence_tensor(o, 'x');
    const enum op_id op = to_space ? OP_DepthToSpace : OP_SpaceToDepth;
    struct blocks b;
    if (!read_blocks(&b, to_space ? s->x : s->y, to_space ? s->y : s->x, channels_last))
        return false;
    for (int mode = 0; mode < 2; mode++) {
        b.block_first = mode == 0;
        const struct rearrangement r = rearrangement_of_blocks(&b, to_space, channels_last);
        if (!do_the_same(s, &r))
            continue;
        const int64_t size[] = {b.rows, b.columns};
        const struct shape rank1 = SHAPE(COUNT_OF(size));
        struct node *made =
            channels_last ? fusion_replace(f, o, op, &x, 1) : fusion_replace_channels_last(f, o, op, &x, 1);
        node_set_ints(f->g, made, PARAM_block_size, &rank1, size);
        node_set_int(made, PARAM_mode, mode);
        return true;
    }
    return false;
}

static bool make(struct fusing *f, const struct occurrence *o)
{
    const struct graph *g = f->g;
    const struct node *transpose = graph_node(g, o->nodes['t' - 'a']);
    const struct shape x = graph_tensor(g, occurrence_tensor(o, 'x'))->type->shape;
    const struct shape y = node_output(g, graph_node(g, o->steps[0]), 0)->type->shape;
    const struct rearrangement r = {node_input(g, transpose, 0)->type->shape, node_perm(transpose)};
    if (shape_count(&x) == 0)
        return false;
    const struct steps s = {&x, &y, rearrangement_joined(&r)};
    if (shape_equal(&x, &y))
        return x.rank < MAX_RANK && make_shuffles(f, o, &s);
    if (x.rank != IMAGE_RANK || y.rank != IMAGE_RANK)
        return false;
    return make_blocks(f, o, &s, true, true) || make_blocks(f, o, &s, true, false) ||
           make_blocks(f, o, &s, false, true) || make_blocks(f, o, &s, false, false);
}

odlc_status pass_fuse_rearrangement(struct pass_context *c, struct graph *g)
{
    static const char *const formulas[] = {"Reshape(t:Transpose(Reshape(x)))"};
    const struct fusion f = {.formulas = formulas, .n_formulas = COUNT_OF(formulas), .make = make};
    return fusion_run(c, g, &f);
}
