/* SPDX-License-Identifier: Apache-2.0 */
/* The blocked layouts (qhpi_tensor_block_table says what is in a block), and copies of parts of tensors. */
#ifndef PLUGIN_BLOCKED_LAYOUT_H
#define PLUGIN_BLOCKED_LAYOUT_H

#include "plugin/plugin_graph.h"

enum { BLOCK_BYTES = 2048 };

static inline bool layout_is_blocked(uint32_t layout)
{
    return layout == QHPI_LAYOUT_CROUTON_8 || layout == QHPI_LAYOUT_CROUTON_16;
}

/* Of rank 4, in whole blocks of elements of that size. */
QHPI_Shape layout_padded(const QHPI_Shape *shape, uint32_t element);
uint64_t layout_bytes(const QHPI_OutputDef *def, uint32_t layout);

/* Between flat memory and blocks in a row; the padding is set to zeros. */
void layout_to_blocks(const QHPI_Shape *shape, uint32_t element, const void *flat, void *blocks);
void layout_from_blocks(const QHPI_Shape *shape, uint32_t element, const void *blocks, void *flat);

/* Copies a part of `extent` from one flat tensor into another one of the same rank. */
struct flat_part {
    const QHPI_Shape *shape, *start;
    void *data;
};
void layout_copy_part(const struct flat_part *from, const struct flat_part *to, const QHPI_Shape *extent,
                      uint32_t element);

#endif
