/* SPDX-License-Identifier: Apache-2.0 */
/* What all stages of a conversion work with: where memory comes from, where messages go, what the user asked for. */
#ifndef CONVERTERS_DRIVER_CONTEXT_H
#define CONVERTERS_DRIVER_CONTEXT_H

#include "base/progress.h"
#include "converters/frontend/frontend.h"
#include "op/registry.h"
#include "opendlc/convert.h"

/* The conversion owns all that this points to. */
struct context {
    struct arena *arena;       /* lives as long as the conversion */
    struct arena *scratch;     /* each function gives back what it takes */
    struct arena *model_arena; /* the framework graph and what lowering knows of it; NULL when that is lowered */
    struct diags *diags;
    const struct progress *progress; /* of the stage at work */
    struct op_registry *registry;    /* what op types mean: native ones, and those that configs define */
    const struct frontend *frontend;
    const struct odlc_convert_options *options; /* names of values are canonical */
    uint32_t release;                           /* --target_release, by RELEASE (op/release.h) */
    bool packs_blocks;                          /* --block_weights packed */
};

/* Where the model is loaded to. */
static inline struct fw_memory model_memory(const struct context *c)
{
    return (struct fw_memory){.kept = c->arena, .graph = c->model_arena, .scratch = c->scratch};
}

#endif
