/* SPDX-License-Identifier: Apache-2.0 */
/* The tiles of an op, and what stands in the op's place. */
#include "plugin/calls.h"
#include "plugin/callback.h"
#include "plugin/tile.h"

/* Where a tile stands in the grid, along each dimension. */
static void place_of(const struct tiled *t, uint32_t tile, uint32_t at[ODLC_QHPI_MAX_RANK])
{
    for (uint32_t d = t->tile.rank; d-- > 0;) {
        at[d] = tile % t->counts[d];
        tile /= t->counts[d];
    }
}

void tile_region(const struct tiled *t, uint32_t tile, QHPI_Shape *start, QHPI_Shape *extent)
{
    const QHPI_Shape *whole = &t->op->outputs[0].shape;
    uint32_t at[ODLC_QHPI_MAX_RANK];
    place_of(t, tile, at);
    *start = *extent = t->tile;
    for (uint32_t d = 0; d < whole->rank; d++) {
        start->dims[d] = at[d] * t->tile.dims[d];
        extent->dims[d] = (uint32_t)min_u64(t->tile.dims[d], whole->dims[d] - start->dims[d]);
    }
}

static odlc_status check_tile(struct preparation *p, const struct tiled *t, const QHPI_Op *tile,
                              const QHPI_Shape *start, const QHPI_Shape *extent)
{
    const QHPI_Op *op = t->op;
    const char *where = arena_printf(p->arena, "the tile of %s at %s", qhpi_shape_text(p->arena, extent),
                                     qhpi_shape_text(p->arena, start));
    if (!graph_has(p->graph, tile))
        return callback_error(op, "build_tile", "plugin-tile", "return what qhpi_op_create gave, or the op itself",
                              "returns no op of this graph for %s", where);
    if (tile == op)
        return callback_error(op, "build_tile", "plugin-tile", "cut all of the op, or nothing",
                              "made other tiles, and returns the op itself for %s", where);
    if (tile->n_outputs < op->n_outputs)
        return callback_error(op, "build_tile", "plugin-tile", NULL, "makes an op of %u outputs for %s, and op has %u",
                              tile->n_outputs, where, op->n_outputs);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        QHPI_OutputDef expected = op->outputs[i];
        expected.shape = i == 0 ? *extent : tile->outputs[i].shape;
        if (!def_equal(&expected, &tile->outputs[i]))
            return callback_error(op, "build_tile", "plugin-tile",
                                  "type and quantisation are the op's, and the first output's shape is the extent",
                                  "makes an op whose output %u is %s %s for %s: tiles would leave a gap or overlap", i,
                                  element_type_name(tile->outputs[i].type),
                                  qhpi_shape_text(p->arena, &tile->outputs[i].shape), where);
    }
    if (graph_depends(p->graph, tile, op))
        return callback_error(op, "build_tile", "plugin-tile", "read slices of the op's inputs",
                              "makes an op that depends on the op itself for %s", where);
    return ODLC_OK;
}

/* ---- putting tiles together ---- */

/* Where the parts of an output begin along each dimension of the grid: the sizes of the tiles before. */
static odlc_status place_parts(struct preparation *p, const struct tiled *t, uint32_t output, QHPI_Op *whole)
{
    const QHPI_Shape *shape = &t->op->outputs[output].shape;
    bool fits = true;
    for (uint32_t k = 0; k < t->n_tiles && fits; k++) {
        const QHPI_Shape *part = &t->tiles[k]->outputs[output].shape;
        uint32_t at[ODLC_QHPI_MAX_RANK], stride = 1;
        QHPI_Shape *start = &whole->starts[k];
        place_of(t, k, at);
        *start = (QHPI_Shape){.rank = shape->rank};
        fits = part->rank == shape->rank;
        for (uint32_t d = shape->rank; d-- > 0 && fits;) {
            const uint32_t before = at[d] ? k - stride : k;
            start->dims[d] =
                at[d] ? whole->starts[before].dims[d] + t->tiles[before]->outputs[output].shape.dims[d] : 0;
            stride *= t->counts[d];
            fits = (uint64_t)start->dims[d] + part->dims[d] <= shape->dims[d] &&
                   (at[d] + 1 < t->counts[d] || start->dims[d] + part->dims[d] == shape->dims[d]);
        }
    }
    if (fits)
        return ODLC_OK;
    return callback_error(t->op, "build_tile", "plugin-tile",
                          "outputs behind the first one are cut along the same dimensions",
                          "makes tiles whose outputs %u are not output %u of %s together", output, output,
                          qhpi_shape_text(p->arena, shape));
}

static odlc_status assemble(struct preparation *p, const struct tiled *t)
{
    struct plugin_graph *g = p->graph;
    QHPI_OpRef *refs = arena_array(p->arena, QHPI_OpRef, t->op->n_outputs);
    for (uint32_t i = 0; i < t->op->n_outputs; i++) {
        QHPI_Op *whole = graph_add(g, KIND_CONCAT, NAME_CONCAT, t->n_tiles, 1, &t->op->outputs[i]);
        whole->starts = arena_array(p->arena, QHPI_Shape, t->n_tiles);
        whole->label = t->op->label;
        whole->ancestor = t->op;
        for (uint32_t k = 0; k < t->n_tiles; k++)
            whole->inputs[k] = (QHPI_OpRef){t->tiles[k], i};
        TRY(place_parts(p, t, i, whole));
        refs[i] = (QHPI_OpRef){whole, 0};
    }
    g->ops.data[t->op->id]->replaced = refs;
    return ODLC_OK;
}

odlc_status tile_build(struct preparation *p, struct tiled *t)
{
    const QHPI_Op *op = t->op;
    if (t->n_tiles == 1)
        return ODLC_OK;
    if (t->n_tiles > PLUGIN_MOST_OPS / 4)
        return callback_error(op, NULL, "plugin-tile", "shape_required and shape_legalized say what tiles there are",
                              "would have %u tiles of %s", t->n_tiles, qhpi_shape_text(p->arena, &t->tile));
    t->tiles = arena_array(p->arena, const QHPI_Op *, t->n_tiles);
    for (uint32_t k = 0; k < t->n_tiles; k++) {
        QHPI_Shape start, extent;
        tile_region(t, k, &start, &extent);
        callback_begin(op, "build_tile");
        const QHPI_Op *tile = op->plugin->info.build_tile(op, &start, &extent);
        TRY(callback_end(op));
        if (k == 0 && tile == op) {
            t->tiles = NULL;
            t->n_tiles = 1;
            t->reason = "build_tile returns the op itself";
            return ODLC_OK;
        }
        TRY(check_tile(p, t, tile, &start, &extent));
        p->graph->ops.data[tile->id]->tiled = t;
        t->tiles[k] = tile;
    }
    return assemble(p, t);
}
