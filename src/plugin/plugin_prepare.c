/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/purity.h"

/* Kernels that want operands in fast memory alone get them, here, where a target could not. */
static void warn_of_memory(struct preparation *p)
{
    for (size_t k = 0; k < p->steps.count; k++) {
        const struct plugin_step *step = &p->steps.data[k];
        if (step->kind != PLUGIN_KERNEL || step->fast_bytes <= p->options.fast_memory)
            continue;
        diag_warn(p->diags, AT(.file = step->op->package->library.path, .node = step->op->label), "plugin-memory",
                  "kernel %s of op %s needs %llu bytes of fast memory, more fast memory than there is: %llu",
                  step->choice->kernel->function_name, step->op->name, (unsigned long long)step->fast_bytes,
                  (unsigned long long)p->options.fast_memory);
        return;
    }
}

odlc_status plugin_prepare(struct preparation *p, const struct step_io *io)
{
    p->graph = graph_new(p->arena, p->diags, p->scope->packages);
    TRY(prepare_import(p, io));
    TRY(prepare_rewrite(p, false));
    TRY(prepare_tiles(p));
    TRY(purity_tiles(p));
    TRY(prepare_rewrite(p, true));
    prepare_slices(p);
    TRY(prepare_kernels(p, 0));
    prepare_steps(p);
    prepare_placement(p, 0);
    warn_of_memory(p);
    TRY(prepare_memory(p));
    TRY(purity_kernels(p));
    TRY(prepare_timeline(p));
    return prepare_precomputation(p);
}
