/* SPDX-License-Identifier: Apache-2.0 */
/* The central tiler: which tiles the host would like to have.
 *
 * Ops that hand tensors to each other and can all be cut are a cluster, and are cut alike: a dimension has as many
 * parts in all of them, so that a tile of one op is what the next one reads. Cuts are tried from none on, each one
 * twice as fine as the one before; the first is taken with which all operands of the cluster's kernels are in fast
 * memory, and which gives each vector unit something to do. */
#include <string.h>

#include "plugin/tile.h"
#include "plugin/timeline.h"

/* Below these sizes of a dimension the others are cut first: blocks of the blocked layouts. */
static const uint32_t small[4] = {1, 8, 8, 32};
/* Which dimension is cut first: height, width, depth, batch. */
static const uint32_t first_cut[4] = {1, 2, 3, 0};

/* Outputs that are smaller are not cut to give all units something to do. */
#define WORTH_SHARING ((uint64_t)64 << 10)

/* Cuts that give more tiles of an op are not made finer. */
enum { MOST_TILES = 4096 };

struct cluster {
    struct preparation *p;
    VEC(struct tiled *) ops;
    uint32_t number;
    QHPI_Shape largest; /* of the outputs, dimension by dimension */
    bool forbidden[4];  /* an op keeps that dimension whole */
};

/* What a choice of cuts gives. */
struct outcome {
    bool fits;
    uint64_t needed; /* bytes of fast memory */
    uint32_t n_tiles;
};

/* ---- clusters ---- */

static struct tiled *describe(struct preparation *p, const QHPI_Op *op)
{
    struct tiled *t = arena_new(p->arena, struct tiled);
    t->op = op;
    t->tile = op->outputs[0].shape;
    t->n_tiles = 1;
    t->may_be_cut = op->plugin->info.build_tile && t->tile.rank == 4 && !p->options.whole;
    t->reason = !op->plugin->info.build_tile ? "the op has no build_tile"
                : t->tile.rank != 4          ? "the output is not of rank 4"
                                             : "all of it fits";
    p->graph->ops.data[op->id]->tiled = t;
    vec_push(p->arena, &p->tilings, t);
    return t;
}

/* Ops come behind those that they read from: the numbers of clusters that meet become the smallest one. */
static void number_clusters(struct preparation *p)
{
    uint32_t next = 1;
    for (size_t i = 0; i < p->tilings.count; i++) {
        struct tiled *t = p->tilings.data[i];
        if (!t->may_be_cut)
            continue;
        t->cluster = next++;
        for (uint32_t k = 0; k < t->op->n_inputs; k++) {
            const struct tiled *from = op_operand(t->op, k).op->tiled;
            const uint32_t mine = t->cluster;
            for (size_t j = 0; from && from->may_be_cut && from->cluster != mine && j <= i; j++)
                if (p->tilings.data[j]->cluster == mine)
                    p->tilings.data[j]->cluster = from->cluster;
        }
    }
}

/* ---- one choice of cuts ---- */

static void forget_tiles(struct cluster *c)
{
    for (size_t i = 0; i < c->ops.count; i++) {
        c->p->graph->ops.data[c->ops.data[i]->op->id]->replaced = NULL;
        c->ops.data[i]->tiles = NULL;
    }
    for (size_t i = 0; i < c->p->shortened.count; i++)
        c->p->shortened.data[i]->replaced = NULL;
    c->p->shortened.count = 0;
}

static odlc_status cut(struct cluster *c, const struct cuts *cuts, uint32_t *n_tiles)
{
    *n_tiles = 0;
    forget_tiles(c);
    for (size_t i = 0; i < c->ops.count; i++) {
        TRY(tile_shape(c->p, c->ops.data[i], cuts));
        TRY(tile_build(c->p, c->ops.data[i]));
        if (c->ops.data[i]->n_tiles > *n_tiles)
            *n_tiles = c->ops.data[i]->n_tiles;
    }
    return ODLC_OK;
}

static odlc_status try_cuts(struct cluster *c, const struct cuts *cuts, struct outcome *out)
{
    struct preparation *p = c->p;
    TRY(cut(c, cuts, &out->n_tiles));
    prepare_slices(p);
    TRY(prepare_steps(p));
    out->fits = prepare_placement(p, c->number);
    out->needed = p->needed;
    return ODLC_OK;
}

/* Whether more tiles would be had for the sake of the units alone. */
static bool wants_more(const struct cluster *c, uint32_t n_tiles)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < c->ops.count; i++)
        if (def_bytes(&c->ops.data[i]->op->outputs[0]) > largest)
            largest = def_bytes(&c->ops.data[i]->op->outputs[0]);
    return largest >= WORTH_SHARING && n_tiles < TIMELINE_HVX;
}

/* One dimension twice as often; false: nothing is left to cut. */
static bool finer(const struct cluster *c, struct cuts *cuts)
{
    for (int pass = 0; pass < 4; pass++) /* dimensions that all ops let be cut first, and large ones first */
        for (size_t i = 0; i < COUNT_OF(first_cut); i++) {
            const uint32_t d = first_cut[i], size = c->largest.dims[d], least = pass % 2 ? 1 : small[d];
            if ((pass < 2 && c->forbidden[d]) || (size + cuts->parts[d] - 1) / cuts->parts[d] <= least)
                continue;
            cuts->parts[d] *= 2;
            return true;
        }
    return false;
}

static odlc_status tile_cluster(struct cluster *c)
{
    struct cuts cuts = {{1, 1, 1, 1}}, best = cuts;
    struct outcome now, found = {false, UINT64_MAX, 0};
    bool done = false;
    while (!done) {
        TRY(try_cuts(c, &cuts, &now));
        const bool better =
            now.fits ? !found.fits || now.n_tiles > found.n_tiles : !found.fits && now.needed < found.needed;
        if (better) {
            found = now;
            best = cuts;
        }
        done = (found.fits && (!wants_more(c, found.n_tiles) || !now.fits)) || now.n_tiles >= MOST_TILES ||
               !finer(c, &cuts);
    }
    TRY(cut(c, &best, &now.n_tiles));
    for (size_t i = 0; i < c->ops.count; i++) {
        struct tiled *t = c->ops.data[i];
        if (t->n_tiles > 1)
            t->reason = found.fits ? "tiles of all ops that are cut together fit in fast memory"
                                   : "no cut makes all operands fit in fast memory";
    }
    return ODLC_OK;
}

static void add_to_cluster(struct cluster *c, struct tiled *t)
{
    const QHPI_Shape *shape = &t->op->outputs[0].shape;
    vec_push(c->p->arena, &c->ops, t);
    c->largest.rank = 4;
    for (uint32_t d = 0; d < 4; d++) {
        if (shape->dims[d] > c->largest.dims[d])
            c->largest.dims[d] = shape->dims[d];
        c->forbidden[d] |= t->required.rank && t->required.dims[d] == QHPI_NO_TILING;
    }
}

odlc_status prepare_tiles(struct preparation *p)
{
    graph_settle(p->graph);
    for (size_t i = 0; i < p->graph->order.count; i++)
        if (p->graph->order.data[i]->kind == KIND_PLUGIN) {
            struct tiled *t = describe(p, p->graph->order.data[i]);
            TRY(t->may_be_cut ? tile_required(p, t) : ODLC_OK);
        }
    number_clusters(p);
    for (uint32_t number = 1; number <= p->tilings.count; number++) {
        struct cluster c = {.p = p, .number = number};
        for (size_t i = 0; i < p->tilings.count; i++)
            if (p->tilings.data[i]->cluster == number)
                add_to_cluster(&c, p->tilings.data[i]);
        if (c.ops.count)
            TRY(tile_cluster(&c));
    }
    prepare_slices(p);
    return ODLC_OK;
}
