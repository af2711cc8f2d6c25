/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting ops into tiles. */
#ifndef PLUGIN_TILE_H
#define PLUGIN_TILE_H

#include "plugin/plugin_prepare.h"

/* How many parts each dimension of a cluster's outputs has. */
struct cuts {
    uint32_t parts[4];
};

/* What the op asks of its tiles: shape_required, checked. */
odlc_status tile_required(struct preparation *p, struct tiled *t) MUST_USE;
/* The op's tile for those cuts: the host's candidate, made legal by the op. */
odlc_status tile_shape(struct preparation *p, struct tiled *t, const struct cuts *cuts) MUST_USE;
/* Makes the tiles, by build_tile, and lets them stand in the op's place; of one tile, nothing. */
odlc_status tile_build(struct preparation *p, struct tiled *t) MUST_USE;

#endif
