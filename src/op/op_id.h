/* SPDX-License-Identifier: Apache-2.0 */
/* The identities of operators and params: what code asks for instead of names, which stand in rows alone. */
#ifndef OP_OP_ID_H
#define OP_OP_ID_H

#include <stdbool.h>

struct node;

enum op_id {
    OP_CUSTOM, /* no native operator: a user-defined one */
#define OP_ID(name) OP_##name,
#include "op/op_ids.def"
#undef OP_ID
    OP_IDS
};

enum param_id {
    PARAM_CUSTOM, /* of a user-defined operator: known by its name in the row alone */
#define PARAM_ID(name) PARAM_##name,
#include "op/param_ids.def"
#undef PARAM_ID
    PARAM_IDS
};

/* True for a live node of that native operator. */
bool node_is(const struct node *n, enum op_id id);

#endif
