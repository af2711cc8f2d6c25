/* dlc-info: what is in a container. */
#include "base/file.h"
#include "tools/info.h"
#include "tools/options.h"
#include "tools/print_diags.h"

enum { OPT_INPUT, OPT_SAVE, OPT_MEMORY, OPT_ENCODINGS, OPT_JSON, OPT_NODES };

static const struct option rows[] = {
    {.id = OPT_INPUT,
     .name = "input_dlc",
     .shorts = {"i"},
     .min = 1,
     .max = 1,
     .required = true,
     .values = "FILE",
     .complete = ".dlc",
     .help = "the DLC container (version 3, 4.0 or 4.1)"},
    {.id = OPT_SAVE,
     .name = "save",
     .shorts = {"s"},
     .min = 1,
     .max = 1,
     .values = "FILE.csv",
     .help = "also write the table of nodes as CSV"},
    {.id = OPT_MEMORY,
     .name = "display_memory",
     .shorts = {"m"},
     .help = "estimate the memory that an inference needs"},
    {.id = OPT_ENCODINGS,
     .name = "display_all_encodings",
     .shorts = {"d"},
     .help = "print the encodings of every channel"},
    {.id = OPT_JSON, .name = "json", .help = "print JSON instead of text; diagnostics on stderr are JSON lines then"},
    {.id = OPT_NODES,
     .name = "nodes",
     .min = 1,
     .max = 1,
     .values = "PATTERN",
     .help = "list only nodes whose names match this shell pattern; totals are still those of the whole graph"},
    OPTIONS_COMMON,
};

static const struct command self = {
    .name = "dlc-info",
    .summary = "Prints what is in a DLC container",
    .usage = "-i FILE [options]",
    OPTION_ROWS(rows),
};

struct session {
    struct arena *arena;
    struct diags diags;
    struct options options;
    odlc_container *container;
};

static odlc_status save_csv(struct session *s, const struct info_options *shown, const char *path)
{
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(s->container, &n_graphs);
    struct out_file *out;
    text csv = {0};
    for (size_t i = 0; i < n_graphs; i++) {
        struct table nodes = info_node_table(s->arena, &graphs[i], shown);
        table_add_csv(s->arena, &nodes, &csv);
    }
    TRY(out_create(s->arena, &s->diags, path, &out));
    TRY(out_write(out, csv.data, csv.count));
    return out_commit(out);
}

static odlc_status report(struct session *s)
{
    struct info_options shown = {.nodes = options_value(&s->options, OPT_NODES, NULL),
                                 .all_encodings = options_given(&s->options, OPT_ENCODINGS),
                                 .memory = options_given(&s->options, OPT_MEMORY)};
    const char *csv = options_value(&s->options, OPT_SAVE, NULL);
    TRY(odlc_container_open(s->container, options_value(&s->options, OPT_INPUT, "")));
    if (csv)
        TRY(save_csv(s, &shown, csv));
    if (options_given(&s->options, OPT_JSON))
        info_print_json(stdout, s->container, &shown);
    else
        info_print_text(stdout, s->arena, s->container, &shown);
    if (fflush(stdout) != 0 || ferror(stdout))
        return diag_error(&s->diags, ODLC_ERR_IO, AT(.file = NULL), "io", "the report could not be written");
    return ODLC_OK;
}

static odlc_status run_command(struct session *s, int argc, char **argv)
{
    TRY(options_parse(s->arena, &s->diags, &self, argc, argv, &s->options));
    return options_answered(&s->options) ? ODLC_OK : report(s);
}

static odlc_status out_of_memory(void)
{
    fprintf(stderr, "%s: error: memory ran out\n", self.name);
    return ODLC_ERR_NOMEM;
}

static odlc_status guarded_run(struct session *s, int argc, char **argv)
{
    if (setjmp(*arena_catch(s->arena)))
        return out_of_memory();
    odlc_status status = run_command(s, argc, argv);
    enum diag_format format = options_given(&s->options, OPT_JSON) ? DIAG_JSON : DIAG_TEXT;
    size_t count;
    const struct odlc_diag *list = odlc_container_diags(s->container, &count);
    print_diags(stderr, self.name, list, count, format);
    print_diags(stderr, self.name, s->diags.list.data, s->diags.list.count, format);
    return status == ODLC_ERR_NOMEM ? out_of_memory() : status;
}

int main(int argc, char **argv)
{
    struct session s = {.arena = arena_create(), .container = odlc_container_new()};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena && s.container) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = out_of_memory();
    }
    odlc_container_free(s.container);
    arena_destroy(s.arena);
    return exit_status(status);
}
