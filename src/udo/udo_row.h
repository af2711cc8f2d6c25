/* SPDX-License-Identifier: Apache-2.0 */
/* The run-time row of a definition. */
#ifndef UDO_UDO_ROW_H
#define UDO_UDO_ROW_H

#include "udo/udo.h"

/* Fills def->supplemental from the other fields and adds the definition's row, def->row, to the registry. The params
 * are in the arena, which must last as long as the registry. */
void udo_add_row(struct op_registry *registry, struct arena *arena, struct udo_def *def);

/* Outputs up to the last that every node has; at least one. */
uint32_t least_outputs(const struct udo_def *def);

#endif
