/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "plugin/explain.h"

/* Steps of the simulated schedule that are listed: the rest is in the JSON. */
enum { LISTED_STEPS = 12 };

static void add_lines(struct arena *arena, text *t, const char *label, const char *lines)
{
    for (const char *line = lines; line;) {
        const char *end = strchr(line, '\n');
        text_add(arena, t, "    %-8s%.*s\n", label, end ? (int)(end - line) : (int)strlen(line), line);
        line = end ? end + 1 : NULL;
        label = "";
    }
}

static bool is_alike(const struct rewriting *a, const struct rewriting *b)
{
    return a->callback == b->callback && a->op == b->op && a->node == b->node;
}

/* Tiles are rewritten one after the other: the first one stands for those that follow. */
static void add_rewritings(const struct preparation *p, struct arena *arena, text *t)
{
    for (size_t i = 0, next; i < p->rewritings.count; i = next) {
        const struct rewriting *r = &p->rewritings.data[i];
        for (next = i + 1; next < p->rewritings.count && is_alike(r, &p->rewritings.data[next]);)
            next++;
        text_add(arena, t, "  %s of %s (node %s%s)\n", r->callback, r->op, r->node ? r->node : "-",
                 next - i > 1 ? arena_printf(arena, ", %zu times", next - i) : "");
        add_lines(arena, t, "before", r->before);
        add_lines(arena, t, "after", r->after);
    }
}

static void add_tilings(const struct preparation *p, struct arena *arena, text *t)
{
    for (size_t i = 0; i < p->tilings.count; i++) {
        const struct tiled *tiled = p->tilings.data[i];
        const QHPI_Shape counts = {.rank = tiled->tile.rank};
        QHPI_Shape parts = counts;
        memcpy(parts.dims, tiled->counts, sizeof parts.dims);
        text_add(arena, t, "  tiles of %s (node %s): ", tiled->op->name, tiled->op->label ? tiled->op->label : "-");
        if (tiled->n_tiles > 1)
            text_add(arena, t, "%u = %s of %s, cut from %s: %s\n", tiled->n_tiles, qhpi_shape_text(arena, &parts),
                     qhpi_shape_text(arena, &tiled->tile), qhpi_shape_text(arena, &tiled->op->outputs[0].shape),
                     tiled->reason);
        else
            text_add(arena, t, "whole, %s: %s\n", qhpi_shape_text(arena, &tiled->op->outputs[0].shape), tiled->reason);
    }
}

static void add_kernels(const struct preparation *p, struct arena *arena, text *t)
{
    const struct kernel_uses uses = explain_kernels(p, arena);
    for (size_t i = 0; i < uses.list.count; i++) {
        const struct kernel_use *use = &uses.list.data[i];
        const struct plugin_step *step = use->step;
        text_add(arena, t, "  kernel of %s (node %s, %u time%s)\n", step->op->name,
                 step->op->label ? step->op->label : "-", use->count, use->count == 1 ? "" : "s");
        for (uint32_t k = 0; k < step->choice->n_tried; k++) {
            const struct tried *tried = &step->choice->tried[k];
            text_add(arena, t, "    %-8s%s", tried->reason ? "skipped" : "taken", tried->kernel->function_name);
            if (tried->reason)
                text_add(arena, t, ": %s\n", tried->reason);
            else
                text_add(arena, t, ", %u slice%s%s, cost %g\n", step->slices, step->slices == 1 ? "" : "s",
                         step->block ? ", precomputed" : "", use->cost);
        }
    }
}

static void add_steps(const struct preparation *p, struct arena *arena, text *t)
{
    uint32_t listed = 0;
    text_add(arena, t, "  schedule: begin, end, bytes of fast memory\n");
    for (size_t k = 0; k < p->steps.count && listed < LISTED_STEPS; k++) {
        const struct plugin_step *step = &p->steps.data[k];
        text_add(arena, t, "    %10.6g %10.6g %10llu  %-8s%s\n", step->begin, step->end,
                 (unsigned long long)step->fast_bytes, step_kind_name(step->kind), op_text(arena, step->op));
        listed++;
    }
    if (p->steps.count > LISTED_STEPS)
        text_add(arena, t, "    … %zu more; --explain=json has all\n", p->steps.count - LISTED_STEPS);
}

const char *explain_text(const struct preparation *p, struct arena *arena)
{
    text t = {0};
    text_add(
        arena, &t,
        "plugin: %zu node%s, %zu steps; fast memory %llu bytes, at most %llu of them used; cost %g, schedule ends at "
        "%g\n",
        p->group->nodes.count, p->group->nodes.count == 1 ? "" : "s", p->steps.count,
        (unsigned long long)p->options.fast_memory, (unsigned long long)p->peak, p->cost, p->end);
    add_rewritings(p, arena, &t);
    add_tilings(p, arena, &t);
    add_kernels(p, arena, &t);
    add_steps(p, arena, &t);
    return t.data;
}
