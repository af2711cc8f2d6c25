/* The run-time row of a definition. */
#ifndef UDO_ROW_H
#define UDO_ROW_H

#include "udo/udo.h"

/* Fills def->supplemental from the other fields and adds the definition's row, def->row, to the registry. The params
 * are in the arena, which must last as long as the registry. */
void udo_add_row(struct op_registry *registry, struct arena *arena, struct udo_def *def);

/* Outputs up to the last that every node has; at least one. */
uint32_t least_outputs(const struct udo_def *def);

extern const char *const udo_core_names[UDO_CORES];

/* A DSP architecture of that name, in letters of either case: "v68"; NULL: none. */
const char *udo_find_arch(const char *word);
extern const char *const udo_archs[];
extern const size_t udo_n_archs;

/* Whether a word that names no core is another name of the NPU, or of a part of it: NPU, HTA, cDSP. */
bool udo_is_npu(const char *word);

#endif
