#include <string.h>

#include "op/graph_text.h"
#include "pass/pass.h"

#define PASS(name) pass_fn pass_##name;
#include "pass/pass_list.def"
#undef PASS

static const struct {
    const char *name;
    pass_fn *fn;
} passes[] = {
#define PASS(name) {#name, pass_##name},
#include "pass/pass_list.def"
#undef PASS
};

const char *pass_name(size_t index)
{
    return index < COUNT_OF(passes) ? passes[index].name : NULL;
}

static odlc_status run_one(struct pass_context *c, struct graph *g, size_t index, bool validate, bool *progress)
{
    struct arena_mark mark = arena_mark(c->scratch);
    odlc_status status = passes[index].fn(c, g, progress);
    arena_rewind(c->scratch, mark);
    TRY(status);
    graph_compact(g);
    if (validate)
        TRY(graph_validate(g, c->scratch, c->diags, passes[index].name));
    if (c->options->dump_after && strcmp(c->options->dump_after, passes[index].name) == 0)
        c->dumped = graph_print(g->arena, g);
    return ODLC_OK;
}

odlc_status pass_run_all(struct pass_context *c, struct graph *g)
{
    if (VALIDATE_PASSES)
        TRY(graph_validate(g, c->scratch, c->diags, "lowering"));
    for (size_t i = 0; i < COUNT_OF(passes); i++) {
        bool progress = false;
        bool last = i + 1 == COUNT_OF(passes);
        TRY(progress_report(c->progress, c->diags, i, COUNT_OF(passes)));
        TRY(run_one(c, g, i, VALIDATE_PASSES || last, &progress));
    }
    return ODLC_OK;
}

odlc_status pass_run(struct pass_context *c, struct graph *g, const char *name, bool *progress)
{
    for (size_t i = 0; i < COUNT_OF(passes); i++)
        if (strcmp(passes[i].name, name) == 0)
            return run_one(c, g, i, true, progress);
    return diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = NULL), "unknown-pass", "there is no pass %s", name);
}
