/* SPDX-License-Identifier: Apache-2.0 */
/* What was decided while a group was prepared, for people and for programs. */
#ifndef PLUGIN_EXPLAIN_H
#define PLUGIN_EXPLAIN_H

#include "plugin/plugin_prepare.h"

/* Kernels that were taken for the same reasons: one op, or all of its tiles. */
struct kernel_use {
    const struct plugin_step *step; /* the first one */
    uint32_t count;
    double cost; /* of all */
};

struct kernel_uses {
    VEC(struct kernel_use) list;
};

struct kernel_uses explain_kernels(const struct preparation *p, struct arena *arena);

/* "kernel", "slice", … */
const char *step_kind_name(enum plugin_step_kind kind);

/* Lines, in the arena. */
const char *explain_text(const struct preparation *p, struct arena *arena);
/* An object of docs/plugin-explain.schema.json, on one line, in the arena. */
const char *explain_json(const struct preparation *p, struct arena *arena);

#endif
