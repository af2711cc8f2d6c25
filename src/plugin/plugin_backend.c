/* SPDX-License-Identifier: Apache-2.0 */
/* The backend that executes ops of plugin packages. A group is as many of them as hand tensors to each other and can be
 * executed together, so that they are tiled together. */
#include "plugin/plugin_backend.h"

#include "op/op.h"
#include "package/package.h"
#include "plugin/explain.h"
#include "plugin/plugin_run.h"
#include "plugin/slice_pool.h"
#include "plugin/timeline.h"

/* Of the host's simulated target, where nobody says another size. */
#define DEFAULT_FAST_MEMORY ((uint64_t)8 << 20)

/* Of one execution. */
struct plugins {
    const struct package_set *packages;
    struct slice_pool *pool; /* NULL: nobody needs it yet, or there is none */
    bool has_pool;
};

struct step {
    struct preparation preparation;
    struct plugins *plugins;
    struct step_io io;
};

static odlc_status open_plugins(const struct backend_scope *scope, void **state)
{
    static const struct package_set none;
    struct plugins *plugins = arena_new(scope->arena, struct plugins);
    *plugins = (struct plugins){.packages = scope->packages ? scope->packages : &none};
    *state = plugins;
    return ODLC_OK;
}

static void close_plugins(void *state)
{
    struct plugins *plugins = state;
    if (plugins->pool)
        slice_pool_end(plugins->pool);
}

/* ---- claiming ---- */

static const char *why_not(struct arena *arena, const struct package_set *set, const struct op *op)
{
    if (!op->package)
        return "the op is native, and plugins implement user-defined ops";
    for (size_t i = 0; i < set->packages.count; i++)
        if (package_is_named(set->packages.data[i], op->package))
            return arena_printf(arena,
                                package_has_op(set->packages.data[i], op->name)
                                    ? "package %s, which has op %s, is no plugin"
                                    : "package %s is loaded, and has no op %s",
                                op->package, op->name);
    return arena_printf(arena, "package %s, which implements op %s, is not loaded", op->package, op->name);
}

static bool reads_of(const struct graph *g, const struct node *n, const struct group *group)
{
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(g, n, i);
        for (size_t k = 0; t && t->producer != NO_NODE && k < group->nodes.count; k++)
            if (group->nodes.data[k] == t->producer)
                return true;
    }
    return false;
}

/* Nodes behind the first one that read what the group computes, up to one that others have to execute. */
static void grow(const struct plugins *plugins, const struct claiming *c, struct group *group)
{
    const struct graph *g = c->scope->graph;
    size_t at = 0;
    while (g->order.data[at] != group->nodes.data[0])
        at++;
    for (at++; at < g->order.count; at++) {
        const node_id id = g->order.data[at];
        const struct node *n = graph_node(g, id);
        if (!reads_of(g, n, group))
            continue;
        if (!c->is_free[id] || !plugin_package_of(plugins->packages, n->op))
            return;
        vec_push(c->scope->arena, &group->nodes, id);
    }
}

static bool claim(void *state, const struct claiming *c, node_id id, struct group *group)
{
    const struct plugins *plugins = state;
    const struct op *op = graph_node(c->scope->graph, id)->op;
    if (!plugin_package_of(plugins->packages, op)) {
        group->reason = why_not(c->scope->arena, plugins->packages, op);
        return false;
    }
    vec_push(c->scope->arena, &group->nodes, id);
    grow(plugins, c, group);
    return true;
}

/* ---- steps ---- */

static bool is_sliced(const struct preparation *p)
{
    for (size_t k = 0; k < p->steps.count; k++)
        if (p->steps.data[k].slices > 1)
            return true;
    return false;
}

static odlc_status prepare(void *state, const struct backend_scope *scope, const struct group *group,
                           const struct step_io *io, void **out)
{
    struct plugins *plugins = state;
    struct step *s = arena_new(scope->arena, struct step);
    *s = (struct step){.plugins = plugins, .io = *io};
    s->preparation =
        (struct preparation){.arena = scope->arena,
                             .diags = scope->diags,
                             .scope = scope,
                             .group = group,
                             .options = {.fast_memory = scope->fast_memory ? scope->fast_memory : DEFAULT_FAST_MEMORY,
                                         .slices = scope->slices ? scope->slices : TIMELINE_HVX,
                                         .threads = scope->threads}};
    TRY(plugin_prepare(&s->preparation, io));
    const uint32_t slices = s->preparation.options.slices, threads = scope->threads < slices ? scope->threads : slices;
    if (!plugins->has_pool && threads > 1 && is_sliced(&s->preparation)) {
        plugins->has_pool = true;
        plugins->pool = slice_pool_begin(scope->arena, threads - 1);
    }
    *out = s;
    return ODLC_OK;
}

static odlc_status run(void *prepared, const struct backend_scope *scope, const struct buffer *in, struct buffer *out)
{
    struct step *s = prepared;
    return plugin_run(&s->preparation, &s->io, s->plugins->pool, scope, in, out);
}

static const char *explain(void *prepared, const struct backend_scope *scope, enum explanation form)
{
    const struct step *s = prepared;
    return form == EXPLAIN_JSON ? explain_json(&s->preparation, scope->arena)
                                : explain_text(&s->preparation, scope->arena);
}

const struct backend plugin_backend = {.name = "plugin",
                                       .open = open_plugins,
                                       .close = close_plugins,
                                       .claim = claim,
                                       .prepare = prepare,
                                       .run = run,
                                       .explain = explain};
