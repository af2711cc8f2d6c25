/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of an op's tiles: what the op needs, what the host would like, what the op makes of that. */
#include "plugin/callback.h"
#include "plugin/tile.h"

static bool is_free(const QHPI_Shape *required)
{
    for (uint32_t d = 0; d < required->rank; d++)
        if (required->dims[d])
            return false;
    return true;
}

odlc_status tile_required(struct preparation *p, struct tiled *t)
{
    const QHPI_Op *op = t->op;
    const QHPI_Shape *whole = &op->outputs[0].shape;
    if (!op->plugin->info.shape_required)
        return ODLC_OK;
    callback_begin(op, "shape_required");
    const QHPI_Shape required = op->plugin->info.shape_required(op);
    TRY(callback_end(op));
    if (required.rank == 0)
        return ODLC_OK;
    if (required.rank != whole->rank)
        return callback_error(op, "shape_required", "plugin-tile-shape", "an empty shape requires nothing",
                              "gives a shape of rank %u for an output of rank %u", required.rank, whole->rank);
    if (is_free(&required))
        return ODLC_OK;
    for (uint32_t d = 0; d < whole->rank; d++)
        if (required.dims[d] != QHPI_NO_TILING && required.dims[d] > whole->dims[d])
            return callback_error(op, "shape_required", "plugin-tile-shape", "QHPI_NO_TILING keeps a dimension whole",
                                  "asks for %u in dimension %u of an output of %s", required.dims[d], d,
                                  qhpi_shape_text(p->arena, whole));
    t->required = required;
    return ODLC_OK;
}

/* Whole blocks of the blocked layouts, where there is more than one. */
static uint32_t aligned(uint32_t size, uint32_t dimension)
{
    static const uint32_t blocks[] = {1, 8, 8, 32};
    return size > blocks[dimension] ? (uint32_t)align_up(size, blocks[dimension]) : size;
}

static QHPI_Shape candidate_of(const struct tiled *t, const struct cuts *cuts)
{
    QHPI_Shape tile = t->op->outputs[0].shape;
    for (uint32_t d = 0; d < 4; d++) {
        const uint32_t whole = tile.dims[d], required = t->required.rank ? t->required.dims[d] : 0,
                       part = aligned((whole + cuts->parts[d] - 1) / cuts->parts[d], d);
        tile.dims[d] = required == QHPI_NO_TILING ? whole : required ? required : part < whole ? part : whole;
    }
    return tile;
}

static odlc_status check_legal(struct preparation *p, const struct tiled *t, const QHPI_Shape *legal)
{
    const QHPI_Shape *whole = &t->op->outputs[0].shape;
    bool fits = legal->rank == whole->rank;
    for (uint32_t d = 0; d < whole->rank && fits; d++)
        fits = legal->dims[d] > 0 && legal->dims[d] <= whole->dims[d];
    if (!fits)
        return callback_error(
            t->op, "shape_legalized", "plugin-tile-shape", "each dimension is between 1 and that of the first output",
            "gives %s for an output of %s", qhpi_shape_text(p->arena, legal), qhpi_shape_text(p->arena, whole));
    for (uint32_t d = 0; d < whole->rank && t->required.rank; d++) {
        const uint32_t required = t->required.dims[d] == QHPI_NO_TILING ? whole->dims[d]
                                  : t->required.dims[d]                 ? t->required.dims[d]
                                                                        : 0;
        if (required && legal->dims[d] != required)
            return callback_error(t->op, "shape_legalized", "plugin-tile-shape", "let both callbacks say the same",
                                  "gives %u for dimension %u, where shape_required asks for %u", legal->dims[d], d,
                                  required);
    }
    return ODLC_OK;
}

odlc_status tile_shape(struct preparation *p, struct tiled *t, const struct cuts *cuts)
{
    const QHPI_Op *op = t->op;
    QHPI_Shape tile = candidate_of(t, cuts);
    if (op->plugin->info.shape_legalized) {
        const QHPI_Shape candidate = tile;
        callback_begin(op, "shape_legalized");
        tile = op->plugin->info.shape_legalized(op, &candidate);
        TRY(callback_end(op));
        TRY(check_legal(p, t, &tile));
    }
    t->tile = tile;
    t->n_tiles = 1;
    for (uint32_t d = 0; d < tile.rank; d++) {
        t->counts[d] = (op->outputs[0].shape.dims[d] + tile.dims[d] - 1) / tile.dims[d];
        t->n_tiles = (uint32_t)min_u64(UINT32_MAX, (uint64_t)t->n_tiles * t->counts[d]);
    }
    return ODLC_OK;
}
