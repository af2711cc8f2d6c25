/* The findings of --verify. */
#include <inttypes.h>

#include "tools/info.h"
#include "tools/print_diags.h"
#include "tools/terminal.h"

static size_t count_errors(const struct odlc_diag *list, size_t count)
{
    size_t errors = 0;
    for (size_t i = 0; i < count; i++)
        errors += list[i].severity == ODLC_ERROR;
    return errors;
}

static void add_sizes(const odlc_container *container, uint64_t *ops, uint64_t *tensors, uint64_t *bytes)
{
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &n_graphs);
    for (size_t i = 0; i < n_graphs; i++) {
        *ops += graphs[i].n_ops;
        *tensors += graphs[i].n_tensors;
        for (size_t k = 0; k < graphs[i].n_tensors; k++)
            *bytes += graphs[i].tensors[k].data_size;
    }
}

void info_print_findings(FILE *stream, const char *command, struct arena *arena, const char *path,
                         const odlc_container *container)
{
    size_t count;
    uint64_t ops = 0, tensors = 0, bytes = 0;
    const struct odlc_diag *list = odlc_container_diags(container, &count);
    size_t errors = count_errors(list, count);
    bool colours = terminal_colours(stream);
    const char *reset = colours ? "\x1b[0m" : "";
    print_diags(stream, command, list, count, DIAG_TEXT);
    add_sizes(container, &ops, &tensors, &bytes);
    if (errors)
        fprintf(stream, "%s: %s%zu finding%s%s\n", printable(arena, path), colours ? "\x1b[1;31m" : "", errors,
                errors == 1 ? "" : "s", reset);
    else
        fprintf(stream,
                "%s: %snothing found%s (%zu entries, %" PRIu64 " ops, %" PRIu64 " tensors, %" PRIu64
                " bytes of constants)\n",
                printable(arena, path), colours ? "\x1b[1;32m" : "", reset,
                odlc_container_summary(container)->n_entries, ops, tensors, bytes);
}

void info_print_findings_json(FILE *stream, const char *path, const odlc_container *container)
{
    struct json_out j = json_out_to(stream, false);
    size_t count;
    const struct odlc_diag *list = odlc_container_diags(container, &count);
    json_object(&j, NULL);
    json_string(&j, "schema", "opendlc.dlc-verify");
    json_int(&j, "schema_version", INFO_SCHEMA_VERSION);
    json_string(&j, "file", path);
    json_bool(&j, "intact", count_errors(list, count) == 0);
    json_array(&j, "findings");
    for (size_t i = 0; i < count; i++)
        json_diag(&j, &list[i]);
    json_end_array(&j);
    json_end_object(&j);
}
