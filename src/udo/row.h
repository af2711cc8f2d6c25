/* The run-time row of a definition. */
#ifndef UDO_ROW_H
#define UDO_ROW_H

#include "udo/udo.h"

/* Fills def->row and def->supplemental from the other fields. */
void udo_make_row(struct arena *arena, struct udo_def *def);

/* Outputs up to the last that every node has; at least one. */
uint32_t least_outputs(const struct udo_def *def);

extern const char *const udo_core_names[UDO_CORES];

#endif
