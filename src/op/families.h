/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the operator table, by family (families.def). */
#ifndef OP_FAMILIES_H
#define OP_FAMILIES_H

#include "op/op.h"

#define FAMILY(name)                         \
    extern const struct op op_rows_##name[]; \
    extern const size_t op_rows_##name##_count;
#include "op/families.def"
#undef FAMILY

#endif
