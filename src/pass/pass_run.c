/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "op/graph_text.h"
#include "pass/pass.h"

#define PASS(name, function) pass_fn pass_##function;
#define HOOK(name)                                                          \
    static odlc_status hook_##name(struct pass_context *c, struct graph *g) \
    {                                                                       \
        return c->name.run ? c->name.run(c->name.owner, g) : ODLC_OK;       \
    }
#include "pass/pass_list.def"
#undef PASS
#undef HOOK

static const struct {
    const char *name;
    pass_fn *fn;
} passes[] = {
#define PASS(name, function) {#name, pass_##function},
#define HOOK(name) {#name, hook_##name},
#include "pass/pass_list.def"
#undef PASS
#undef HOOK
};

const char *pass_name(size_t index)
{
    return index < COUNT_OF(passes) ? passes[index].name : NULL;
}

#define FUSION "fuse_"

bool pass_is_fusion(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(passes); i++)
        if (strncmp(passes[i].name, FUSION, strlen(FUSION)) == 0 && strcmp(passes[i].name + strlen(FUSION), name) == 0)
            return true;
    return strcmp(name, "all") == 0;
}

static bool is_left_out(const struct pass_options *o, const char *pass)
{
    if (strncmp(pass, FUSION, strlen(FUSION)) != 0)
        return false;
    for (size_t i = 0; i < o->n_no_fusions; i++)
        if (strcmp(o->no_fusions[i], "all") == 0 || strcmp(o->no_fusions[i], pass + strlen(FUSION)) == 0)
            return true;
    return false;
}

static odlc_status run_one(struct pass_context *c, struct graph *g, size_t index, bool validate)
{
    struct arena_mark mark = arena_mark(c->scratch);
    odlc_status status = is_left_out(c->options, passes[index].name) ? ODLC_OK : passes[index].fn(c, g);
    if (status == ODLC_OK)
        graph_compact(g);
    if (status == ODLC_OK && validate)
        status = graph_validate(g, c->scratch, c->diags, passes[index].name);
    arena_rewind(c->scratch, mark);
    TRY(status);
    if (c->options->dump_after && strcmp(c->options->dump_after, passes[index].name) == 0)
        c->dumped = graph_print(g->arena, g);
    return ODLC_OK;
}

/* What was found out of another graph. */
static void forget(struct pass_context *c)
{
    c->census = (struct op_census){.graph = NULL};
    c->swept = 0;
}

odlc_status pass_run_all(struct pass_context *c, struct graph *g)
{
    forget(c);
    if (VALIDATE_PASSES)
        TRY(graph_validate(g, c->scratch, c->diags, "lowering"));
    for (size_t i = 0; i < COUNT_OF(passes); i++) {
        bool last = i + 1 == COUNT_OF(passes);
        TRY(progress_report(c->progress, c->diags, i, COUNT_OF(passes)));
        TRY(run_one(c, g, i, VALIDATE_PASSES || last));
    }
    return ODLC_OK;
}

odlc_status pass_run(struct pass_context *c, struct graph *g, const char *name)
{
    forget(c);
    for (size_t i = 0; i < COUNT_OF(passes); i++)
        if (strcmp(passes[i].name, name) == 0)
            return run_one(c, g, i, true);
    return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = NULL), "unknown-pass", "there is no pass %s", name);
}
