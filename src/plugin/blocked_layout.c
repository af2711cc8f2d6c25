/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/blocked_layout.h"

#include <string.h>

/* Rows, columns and depths of a block. */
static void block_of(uint32_t element, uint32_t out[3])
{
    out[0] = 8;
    out[1] = element == 1 ? 8 : 4;
    out[2] = 32;
}

QHPI_Shape layout_padded(const QHPI_Shape *shape, uint32_t element)
{
    QHPI_Shape out = *shape;
    uint32_t block[3];
    block_of(element, block);
    for (uint32_t d = 1; d < 4; d++)
        out.dims[d] = (uint32_t)align_up(shape->dims[d], block[d - 1]);
    return out;
}

uint64_t layout_bytes(const QHPI_OutputDef *def, uint32_t layout)
{
    if (!layout_is_blocked(layout))
        return def_bytes(def);
    const QHPI_Shape padded = layout_padded(&def->shape, element_bytes(def->type));
    return sat_mul(qhpi_count(&padded), element_bytes(def->type));
}

/* Where a run of depths stands among the blocks, in elements. */
static uint64_t place_in_blocks(const QHPI_Shape *padded, const uint32_t block[3], const uint32_t at[4])
{
    const uint32_t n_w = padded->dims[2] / block[1], n_d = padded->dims[3] / block[2];
    const uint64_t rows = (uint64_t)at[0] * (padded->dims[1] / block[0]) + at[1] / block[0];
    const uint64_t number = (rows * n_w + at[2] / block[1]) * n_d + at[3] / block[2];
    const uint64_t inside = ((uint64_t)(at[1] % block[0]) * block[1] + at[2] % block[1]) * block[2] + at[3] % block[2];
    return number * block[0] * block[1] * block[2] + inside;
}

static void convert(const QHPI_Shape *shape, uint32_t element, uint8_t *flat, uint8_t *blocks, bool to_blocks)
{
    const QHPI_Shape padded = layout_padded(shape, element);
    uint32_t block[3], at[4];
    uint8_t *run = flat;
    block_of(element, block);
    for (at[0] = 0; at[0] < shape->dims[0]; at[0]++)
        for (at[1] = 0; at[1] < shape->dims[1]; at[1]++)
            for (at[2] = 0; at[2] < shape->dims[2]; at[2]++)
                for (at[3] = 0; at[3] < shape->dims[3]; at[3] += block[2]) {
                    const size_t size = (size_t)min_u64(block[2], shape->dims[3] - at[3]) * element;
                    uint8_t *place = blocks + place_in_blocks(&padded, block, at) * element;
                    memcpy(to_blocks ? place : run, to_blocks ? run : place, size);
                    run += size;
                }
}

void layout_to_blocks(const QHPI_Shape *shape, uint32_t element, const void *flat, void *blocks)
{
    const QHPI_Shape padded = layout_padded(shape, element);
    memset(blocks, 0, qhpi_count(&padded) * element);
    convert(shape, element, (uint8_t *)flat, blocks, true);
}

void layout_from_blocks(const QHPI_Shape *shape, uint32_t element, const void *blocks, void *flat)
{
    convert(shape, element, flat, (uint8_t *)blocks, false);
}

/* ---- parts ---- */

static uint64_t place_of(const struct flat_part *part, const uint32_t at[ODLC_QHPI_MAX_RANK])
{
    uint64_t place = 0;
    for (uint32_t d = 0; d < part->shape->rank; d++)
        place = place * part->shape->dims[d] + part->start->dims[d] + at[d];
    return place;
}

/* The dimensions at the end that are whole in both, and the one before them, are one run of memory. */
static uint32_t run_dimension(const struct flat_part *from, const struct flat_part *to, const QHPI_Shape *extent)
{
    uint32_t d = extent->rank - 1;
    while (d > 0 && extent->dims[d] == from->shape->dims[d] && extent->dims[d] == to->shape->dims[d])
        d--;
    return d;
}

void layout_copy_part(const struct flat_part *from, const struct flat_part *to, const QHPI_Shape *extent,
                      uint32_t element)
{
    uint32_t at[ODLC_QHPI_MAX_RANK] = {0}, outer = run_dimension(from, to, extent);
    uint64_t run = element, runs = 1;
    for (uint32_t d = outer; d < extent->rank; d++)
        run *= extent->dims[d];
    for (uint32_t d = 0; d < outer; d++)
        runs *= extent->dims[d];
    for (uint64_t i = 0; i < runs; i++) {
        memcpy((uint8_t *)to->data + place_of(to, at) * element,
               (const uint8_t *)from->data + place_of(from, at) * element, run);
        for (uint32_t d = outer; d-- > 0 && ++at[d] == extent->dims[d];)
            at[d] = 0;
    }
}
