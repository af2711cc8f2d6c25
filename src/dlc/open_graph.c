/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "dlc/record.h"
#include "op/op.h"
#include "op/release.h"

odlc_status dlc_open_graph(struct arena *arena, struct diags *diags, struct op_registry *registry, const char *path,
                           const char *done, const struct progress *progress, const struct dlc_file **dlc,
                           struct graph **out)
{
    struct dlc_file *file;
    TRY(dlc_read(arena, diags, path, &file));
    TRY(dlc_verify(diags, file, progress));
    if (file->major != 4)
        return diag_error(
            diags, ODLC_ERR_UNSUPPORTED,
            AT(.file = path, .hint = "convert the model again: containers that are written are of version 4"),
            "run-version",
            "a container of version %u.%u cannot be %s, only version 4: what its layers compute is said by "
            "numbers whose meaning is published nowhere",
            file->major, file->minor, done);
    if (file->n_graphs != 1)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.file = path), "run-graphs",
                          "the container holds %u graphs, and only one can be %s", file->n_graphs, done);
    TRY(dlc_to_ir(arena, diags, registry, file, 0, out));
    *dlc = file;
    return ODLC_OK;
}

/* Node i of the graph is op i of the record: whether one has a type that only newer releases write. */
static bool has_newer_types(const struct dlc_graph *records, const struct graph *g)
{
    for (uint32_t i = 0; i < records->n_ops && i < g->nodes.count; i++) {
        const struct op *op = graph_node(g, i)->op;
        if (op && strcmp(records->ops[i].type, op_spelling(op, RELEASE_DEFAULT).type) != 0 &&
            strcmp(records->ops[i].type, op_spelling(op, RELEASE_NEWER).type) == 0)
            return true;
    }
    return false;
}

static const char *value_of(const struct dlc_file *dlc, const char *key)
{
    const char *value = dlc_metadata(dlc, key);
    return value && *value ? value : NULL;
}

struct dlc_write_options dlc_options_like(const struct dlc_file *dlc, const struct graph *g)
{
    return (struct dlc_write_options){
        .netp = strcmp(dlc->params_format, "NETP") == 0,
        .release = has_newer_types(&dlc->graphs[0], g) ? RELEASE_NEWER : RELEASE_DEFAULT,
        .converter_command = value_of(dlc, "converter-command"),
        .converter_version = value_of(dlc, "converter-version"),
        .model_copyright = value_of(dlc, "model-copyright"),
        .model_version = value_of(dlc, "model-version"),
        .quantizer_command = value_of(dlc, "quantizer-command"),
    };
}
