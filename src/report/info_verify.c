/* SPDX-License-Identifier: Apache-2.0 */
/* What a verification found. */
#include <inttypes.h>
#include <string.h>

#include "api/container_work.h"
#include "report/info_details.h"
#include "text/diag_text.h"

static size_t count_errors(const odlc_container *container)
{
    const struct odlc_diag *found;
    size_t errors = 0;
    for (size_t i = 0; (found = container_finding(container, i)); i++)
        errors += found->severity == ODLC_ERROR;
    return errors;
}

struct sizes {
    uint64_t ops, tensors;
    uint64_t bytes; /* of constants */
};

static uint64_t data_size(const struct odlc_tensor *tensors, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += tensors[i].data_size;
    return bytes;
}

/* The constants of version 3 are parameters of layers; the tensors that Const layers give are the same data again. */
static struct sizes sizes_of(const odlc_container *container)
{
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &n_graphs);
    bool of_layers = odlc_container_summary(container)->major == 3;
    struct sizes sizes = {0};
    for (size_t i = 0; i < n_graphs; i++) {
        sizes.ops += graphs[i].n_ops;
        sizes.tensors += graphs[i].n_tensors;
        if (!of_layers)
            sizes.bytes += data_size(graphs[i].tensors, graphs[i].n_tensors);
        for (size_t k = 0; of_layers && k < graphs[i].n_ops; k++)
            sizes.bytes += data_size(graphs[i].ops[k].params, graphs[i].ops[k].n_params);
    }
    return sizes;
}

/* A CRC of 0 is none in files of 4.1; before that it is compared as any other. */
static bool is_unchecked(const struct odlc_summary *summary, const struct odlc_entry *entry)
{
    bool may_lack = summary->major > 4 || (summary->major == 4 && summary->minor >= 1);
    return !entry->crc && entry->size && (may_lack || entry->compressed);
}

struct unchecked {
    size_t entries;   /* that have no checksum */
    bool all;         /* no entry has one */
    uint64_t weights; /* bytes of weights in such entries */
};

static struct unchecked unchecked_of(const struct odlc_summary *summary, uint64_t constants)
{
    struct unchecked u = {.all = true};
    bool has_bin = strcmp(summary->params_format, "bin") == 0;
    const char *weights = has_bin ? "model.params.bin" : "model.params";
    for (size_t i = 0; i < summary->n_entries; i++) {
        const struct odlc_entry *entry = &summary->entries[i];
        bool unchecked = is_unchecked(summary, entry);
        u.entries += unchecked;
        u.all &= unchecked || !entry->size;
        if (unchecked && strcmp(entry->name, weights) == 0)
            u.weights = has_bin ? entry->size : constants;
    }
    return u;
}

/* What a verification could not look into. */
static void print_unchecked(FILE *stream, struct arena *arena, const char *path, const struct odlc_summary *summary,
                            const struct unchecked *u)
{
    if (u->entries && u->all) {
        fprintf(stream, "%s: no checksums in this file: %" PRIu64 " bytes of weights were not checked\n",
                printable(arena, path), u->weights);
        return;
    }
    for (size_t i = 0; i < summary->n_entries && u->entries; i++)
        if (is_unchecked(summary, &summary->entries[i]))
            fprintf(stream, "%s: no checksum of entry %s: its %" PRIu64 " bytes were not checked\n",
                    printable(arena, path), printable(arena, summary->entries[i].name), summary->entries[i].size);
}

void info_print_findings(FILE *stream, struct arena *arena, const odlc_container *container, bool colours)
{
    const char *path = container_given_path(container);
    const struct odlc_diag *found;
    const struct odlc_summary *summary = odlc_container_summary(container);
    struct sizes sizes = sizes_of(container);
    size_t errors = count_errors(container);
    const char *reset = colours ? "\x1b[0m" : "";
    for (size_t i = 0; (found = container_finding(container, i)); i++)
        diag_print_text(stream, path, found, diag_style_of(found->severity, colours));
    if (errors) {
        fprintf(stream, "%s: %s%zu finding%s%s\n", printable(arena, path), colours ? "\x1b[1;31m" : "", errors,
                errors == 1 ? "" : "s", reset);
        return;
    }
    struct unchecked unchecked = unchecked_of(summary, sizes.bytes);
    print_unchecked(stream, arena, path, summary, &unchecked);
    fprintf(stream,
            "%s: %snothing found%s (%zu entries, %" PRIu64 " ops, %" PRIu64 " tensors, %" PRIu64
            " bytes of constants)\n",
            printable(arena, path), colours ? "\x1b[1;32m" : "", reset, summary->n_entries, sizes.ops, sizes.tensors,
            sizes.bytes);
}

void info_print_findings_json(FILE *stream, const odlc_container *container)
{
    struct json_out j = json_out_to(stream, false);
    const struct odlc_diag *found;
    bool intact = count_errors(container) == 0;
    json_object(&j, NULL);
    json_string(&j, "schema", "opendlc.dlc-verify");
    json_int(&j, "schema_version", INFO_SCHEMA_VERSION);
    json_string(&j, "file", container_given_path(container));
    json_bool(&j, "intact", intact);
    if (intact) {
        uint64_t constants = sizes_of(container).bytes;
        json_uint(&j, "constants", constants);
        json_uint(&j, "unchecked", unchecked_of(odlc_container_summary(container), constants).weights);
    }
    json_array(&j, "findings");
    for (size_t i = 0; (found = container_finding(container, i)); i++)
        json_diag(&j, found);
    json_end_array(&j);
    json_end_object(&j);
}
