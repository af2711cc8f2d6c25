/* SPDX-License-Identifier: Apache-2.0 */
/* The central tiler: which tiles the host would like to have.
 *
 * Ops that hand tensors to each other and can all be cut are a cluster, and are cut alike: a dimension has as many
 * parts in all of them, so that a tile of one op is what the next one reads. Cuts are tried from none on, each one
 * twice as fine as the one before; the first is taken with which all operands of the cluster's kernels are in fast
 * memory, and which gives each vector unit something to do. To try a cut is to prepare the graph with it, up to what is
 * in fast memory when: kernels ask for layouts, whose padding needs room, and late_rewrite adds scratch memory. */
#include <string.h>

#include "plugin/tile.h"
#include "plugin/timeline.h"

/* Below these sizes of a dimension the others are cut first: blocks of the blocked layouts. */
static const uint32_t small[4] = {1, 8, 8, 32};
/* Which dimension is cut first: height, width, depth, batch. */
static const uint32_t first_cut[4] = {1, 2, 3, 0};

/* Outputs that are smaller are not cut to give all units something to do. */
#define WORTH_SHARING ((uint64_t)64 << 10)

/* Tiles of all ops of a cluster: cuts that give more are not tried. */
enum { MOST_TILES = 1 << 17 };

struct cluster {
    struct preparation *p;
    VEC(struct tiled *) ops;
    uint32_t number;
    QHPI_Shape largest; /* of the outputs, dimension by dimension */
    bool forbidden[4];  /* an op keeps that dimension whole */
};

/* What a choice of cuts gives. */
struct outcome {
    bool has_kernels;    /* the tiles can be executed */
    bool fits;           /* all operands in fast memory */
    bool holds;          /* at least, no more of it is in use than there is */
    bool is_limited;     /* finer cuts were not tried */
    uint64_t needed;     /* bytes of it for all operands */
    uint32_t n_tiles;    /* of the op that has most */
    const char *problem; /* without kernels: why */
};

/* ---- clusters ---- */

static struct tiled *describe(struct preparation *p, const QHPI_Op *op)
{
    struct tiled *t = arena_new(p->arena, struct tiled);
    t->op = op;
    t->tile = op->outputs[0].shape;
    t->n_tiles = 1;
    const bool is_empty = def_bytes(&op->outputs[0]) == 0;
    t->may_be_cut = op->plugin->info.build_tile && t->tile.rank == 4 && !is_empty && !p->options.whole;
    t->reason = !op->plugin->info.build_tile ? "the op has no build_tile"
                : t->tile.rank != 4          ? "the output is not of rank 4"
                : is_empty                   ? "the output has no elements"
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

/* The shapes of tiles, and how many there are of all ops. */
static odlc_status shape_tiles(struct cluster *c, const struct cuts *cuts, uint64_t *n_tiles)
{
    *n_tiles = 0;
    for (size_t i = 0; i < c->ops.count; i++) {
        c->ops.data[i]->tiles = NULL;
        TRY(tile_shape(c->p, c->ops.data[i], cuts));
        *n_tiles += c->ops.data[i]->n_tiles;
    }
    return ODLC_OK;
}

static odlc_status build_tiles(struct cluster *c)
{
    for (size_t i = 0; i < c->ops.count; i++)
        TRY(tile_build(c->p, c->ops.data[i]));
    return ODLC_OK;
}

static struct operand_bytes larger(struct operand_bytes a, struct operand_bytes b)
{
    return (struct operand_bytes){a.now > b.now ? a.now : b.now, a.least > b.least ? a.least : b.least};
}

/* What each op's kernels need for themselves. */
static void note_operands(struct cluster *c)
{
    static const struct operand_bytes none;
    const struct preparation *p = c->p;
    for (size_t i = 0; i < c->ops.count; i++)
        c->ops.data[i]->operands = c->ops.data[i]->forced = none;
    for (size_t k = 0; k < p->steps.count; k++) {
        const struct plugin_step *step = &p->steps.data[k];
        struct tiled *t = step->kind == PLUGIN_KERNEL ? graph_tiled(step->op) : NULL;
        if (!t || t->cluster != c->number)
            continue;
        t->operands = larger(t->operands, step_operand_bytes(p, step, &t->finest, false));
        t->forced = larger(t->forced, step_operand_bytes(p, step, &t->finest, true));
    }
}

/* Whether an op has too large operands, and cannot be cut further, or to no avail. */
static bool is_hopeless(const struct cluster *c, bool forced)
{
    const uint64_t room = c->p->options.fast_memory;
    for (size_t i = 0; i < c->ops.count; i++) {
        const struct tiled *t = c->ops.data[i];
        const struct operand_bytes *bytes = forced ? &t->forced : &t->operands;
        if (bytes->least > room || (bytes->now > room && qhpi_shape_equal(&t->tile, &t->finest)))
            return true;
    }
    return false;
}

/* The preparation behind tiling, as far as it says what is in fast memory. */
static struct outcome measure(struct cluster *c)
{
    struct preparation *p = c->p;
    struct outcome out = {.needed = UINT64_MAX};
    for (size_t i = 0; i < c->ops.count; i++)
        if (c->ops.data[i]->n_tiles > out.n_tiles)
            out.n_tiles = c->ops.data[i]->n_tiles;
    prepare_slices(p);
    if (prepare_rewrite(p, true) != ODLC_OK)
        return out;
    prepare_slices(p);
    if (prepare_kernels(p, c->number) != ODLC_OK)
        return out;
    prepare_steps(p);
    note_operands(c);
    out.has_kernels = true;
    out.fits = prepare_placement(p, c->number);
    out.holds = p->peak <= p->options.fast_memory;
    out.needed = p->needed;
    return out;
}

/* Leaves the graph as it is. What goes wrong behind tiling goes wrong again when the cut is taken, and is said then. */
static odlc_status try_cuts(struct cluster *c, struct outcome *out)
{
    struct preparation *p = c->p;
    const struct preparation before = *p;
    struct arena *arena = p->scope->scratch;
    const struct arena_mark mark = arena_mark(arena);
    const struct graph_state graph = graph_keep(p->graph, arena);
    struct diags unheard;
    diags_init(&unheard, arena);
    *p = (struct preparation){.arena = arena,
                              .diags = p->diags,
                              .scope = p->scope,
                              .group = p->group,
                              .options = p->options,
                              .graph = p->graph};
    p->options.asks_again = false;
    const odlc_status status = build_tiles(c);
    p->diags = p->graph->diags = &unheard;
    if (status == ODLC_OK)
        *out = measure(c);
    if (status == ODLC_OK && !out->has_kernels && unheard.list.count)
        out->problem = arena_strdup(before.arena, unheard.list.data[unheard.list.count - 1].message);
    *p = before;
    graph_restore(p->graph, &graph);
    arena_rewind(arena, mark);
    return status;
}

/* Whether more tiles would be had for the sake of the units alone. */
static bool wants_more(const struct cluster *c, uint32_t n_tiles)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < c->ops.count; i++)
        if (def_bytes(&c->ops.data[i]->op->outputs[0]) > largest)
            largest = def_bytes(&c->ops.data[i]->op->outputs[0]);
    return n_tiles < c->p->options.least_tiles || (largest >= WORTH_SHARING && n_tiles < TIMELINE_HVX);
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

static bool is_better(const struct outcome *now, const struct outcome *found)
{
    if (!now->has_kernels || !found->has_kernels)
        return now->has_kernels;
    if (now->fits && found->fits)
        return now->n_tiles > found->n_tiles;
    if (now->fits != found->fits || now->holds != found->holds)
        return now->fits || (now->holds && !found->holds);
    return now->needed < found->needed;
}

/* Cutting on is of no use. */
static bool is_enough(const struct cluster *c, const struct outcome *now, const struct outcome *found)
{
    if (found->fits)
        return !now->fits || !wants_more(c, found->n_tiles);
    return is_hopeless(c, false) && (found->holds || is_hopeless(c, true));
}

/* The best cuts of those that are tried. */
static odlc_status search(struct cluster *c, struct cuts *best, struct outcome *found, const char **problem)
{
    struct cuts cuts = {{c->largest.dims[0], c->largest.dims[1], c->largest.dims[2], c->largest.dims[3]}};
    struct outcome now;
    for (size_t i = 0; i < c->ops.count; i++) {
        TRY(tile_shape(c->p, c->ops.data[i], &cuts));
        c->ops.data[i]->finest = c->ops.data[i]->tile;
    }
    cuts = *best;
    do {
        uint64_t n_tiles;
        TRY(shape_tiles(c, &cuts, &n_tiles));
        if (n_tiles > MOST_TILES) {
            found->is_limited = true;
            break;
        }
        TRY(try_cuts(c, &now));
        *problem = *problem ? *problem : now.problem;
        if (is_better(&now, found)) {
            *found = now;
            *best = cuts;
        }
    } while (!is_enough(c, &now, found) && finer(c, &cuts));
    return ODLC_OK;
}

static void warn_of_memory(const struct cluster *c, const struct outcome *found)
{
    struct preparation *p = c->p;
    const QHPI_Op *op = c->ops.data[0]->op;
    text names = {0};
    for (size_t i = 0; i < c->ops.count; i++)
        text_add(p->arena, &names, "%s%s", i ? ", " : "", c->ops.data[i]->op->name);
    diag_warn(p->diags,
              AT(.file = op->package->library.path, .node = op->label,
                 .hint = "operands that do not fit are used in DDR; --tcm_size says how much fast memory there is"),
              "plugin-memory",
              "no tiling of op%s %s%s makes all operands fit in %llu bytes of fast memory: the best one needs %llu",
              c->ops.count > 1 ? "s" : "", names.data, found->is_limited ? " that was tried" : "",
              (unsigned long long)p->options.fast_memory, (unsigned long long)found->needed);
}

/* A cut that would be of use is not taken because its tiles cannot be executed. */
static void warn_of_problem(const struct cluster *c, const char *problem)
{
    const QHPI_Op *op = c->ops.data[0]->op;
    diag_warn(c->p->diags,
              AT(.file = op->package->library.path, .node = op->label,
                 .hint = "build_tile makes ops that kernels of the package take"),
              "plugin-tile-kernel", "tiles cannot be executed, and others are taken in their place: %s", problem);
}

static odlc_status tile_cluster(struct cluster *c)
{
    struct cuts best = {{1, 1, 1, 1}};
    struct outcome found = {.needed = UINT64_MAX};
    const char *problem = NULL;
    uint64_t n_tiles;
    TRY(search(c, &best, &found, &problem));
    TRY(shape_tiles(c, &best, &n_tiles));
    for (size_t i = 0; i < c->ops.count; i++) {
        struct tiled *t = c->ops.data[i];
        t->reason = !found.fits      ? found.is_limited ? "no cut that was tried makes all operands fit in fast memory"
                                                        : "no cut makes all operands fit in fast memory"
                    : t->n_tiles > 1 ? "tiles of all ops that are cut together fit in fast memory"
                                     : "all of it fits";
    }
    TRY(build_tiles(c));
    if (found.has_kernels && problem && (!found.fits || wants_more(c, found.n_tiles)))
        warn_of_problem(c, problem);
    if (found.has_kernels && !found.fits)
        warn_of_memory(c, &found);
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
