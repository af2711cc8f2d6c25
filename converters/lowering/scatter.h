/* SPDX-License-Identifier: Apache-2.0 */
/* Elements written at positions that a tensor holds. */
#ifndef CONVERTERS_LOWERING_SCATTER_H
#define CONVERTERS_LOWERING_SCATTER_H

#include "converters/lowering/lower.h"

enum reduction { REDUCE_NONE, REDUCE_ADD, REDUCE_MUL, REDUCE_MAX, REDUCE_MIN };

struct scatter {
    tensor_id data, indices, updates;
    uint32_t axis; /* of lower_scatter_elements alone */
    enum reduction reduction;
};

/* `indices` has as many elements as `updates`, each a position along s.axis. ODLC_ERR_UNSUPPORTED: the container has no
 * such reduction for the type. */
odlc_status lower_scatter_axis(const struct lower *l, struct scatter s, const char *out_name, tensor_id *out) MUST_USE;
/* `indices` are coordinates of slices. Statuses as above. */
odlc_status lower_scatter_slices(struct lower *l, struct scatter s, const char *out_name, tensor_id *out) MUST_USE;

#endif
