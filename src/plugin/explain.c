/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/explain.h"

static bool is_alike(const struct plugin_step *a, const struct plugin_step *b)
{
    const struct tiled *of_a = graph_tiled(a->op), *of_b = graph_tiled(b->op);
    return a->op->plugin == b->op->plugin && of_a == of_b && (of_a || a->op == b->op) &&
           a->choice->kernel == b->choice->kernel && a->choice->n_tried == b->choice->n_tried;
}

struct kernel_uses explain_kernels(const struct preparation *p, struct arena *arena)
{
    struct kernel_uses uses = {0};
    for (size_t k = 0; k < p->steps.count; k++) {
        const struct plugin_step *step = &p->steps.data[k];
        size_t at = uses.list.count;
        if (step->kind != PLUGIN_KERNEL)
            continue;
        while (at > 0 && !is_alike(uses.list.data[at - 1].step, step))
            at--;
        if (at == 0) {
            vec_push(arena, &uses.list, (struct kernel_use){.step = step});
            at = uses.list.count;
        }
        uses.list.data[at - 1].count++;
        uses.list.data[at - 1].cost += (double)step->cost;
    }
    return uses;
}

const char *step_kind_name(enum plugin_step_kind kind)
{
    static const char *const names[] = {
        [PLUGIN_KERNEL] = "kernel", [PLUGIN_NATIVE] = "native",   [PLUGIN_SLICE] = "slice",
        [PLUGIN_PART] = "concat",   [PLUGIN_CONVERT] = "convert", [PLUGIN_COPY] = "copy"};
    return names[kind];
}
