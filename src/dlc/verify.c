/* What can only be said of a container as a whole: bytes match their CRCs, names lead somewhere, nothing lacks its
 * data. */
#include "dlc/read.h"

#include <string.h>

#include "dlc/zip.h"

static odlc_status wrong(struct diags *diags, const struct dlc_file *dlc, const char *node, const char *what,
                         const char *name)
{
    return diag_error(diags, ODLC_ERR_INVALID, AT(.file = dlc->file->path, .node = node), "dlc-invalid", "%s %s", what,
                      name);
}

static odlc_status verify_op(struct diags *diags, const struct dlc_file *dlc, const struct dlc_graph *g,
                             const struct dlc_op *op, bool *produced)
{
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (*op->inputs[i] && map_get(&g->tensor_index, op->inputs[i]) == MAP_NONE)
            return wrong(diags, dlc, op->name, "the op reads the unknown tensor", op->inputs[i]);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (!*op->outputs[i])
            continue;
        uint32_t index = map_get(&g->tensor_index, op->outputs[i]);
        if (index == MAP_NONE)
            return wrong(diags, dlc, op->name, "the op writes the unknown tensor", op->outputs[i]);
        if (produced[index] && dlc->major >= 4) /* layers of version 3 may work in place */
            return wrong(diags, dlc, op->name, "two ops write tensor", op->outputs[i]);
        produced[index] = true;
    }
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        const struct dlc_attr *a = &op->attrs[i];
        if (a->kind == DLC_TENSOR && a->dtype != DT_NONE && !a->tensor->view)
            return wrong(diags, dlc, op->name, "there is no data for attribute", a->name);
    }
    return ODLC_OK;
}

static odlc_status verify_graph(struct diags *diags, const struct dlc_file *dlc, const struct dlc_graph *g)
{
    bool *produced = arena_array(diags->arena, bool, g->n_tensors);
    for (uint32_t i = 0; i < g->n_ops; i++)
        TRY(verify_op(diags, dlc, g, &g->ops[i], produced));
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const struct dlc_tensor *t = &g->tensors[i];
        if (t->kind == KIND_STATIC && t->dtype != DT_NONE && !t->view)
            return wrong(diags, dlc, NULL, "there is no data for static tensor", t->name);
    }
    return ODLC_OK;
}

static bool is_taken_in(const struct dlc_entry *entry)
{
    return strcmp(entry->name, "model") == 0 || strncmp(entry->name, "dlc.metadata", strlen("dlc.metadata")) == 0;
}

/* Every damaged entry is named. */
static odlc_status verify_crcs(struct diags *diags, const struct dlc_file *dlc, bool all)
{
    odlc_status status = ODLC_OK;
    for (uint32_t i = 0; i < dlc->n_entries; i++) {
        const struct dlc_entry *entry = &dlc->entries[i];
        if (!entry->crc || entry->compressed || !(all || is_taken_in(entry))) /* files of 4.1 carry none */
            continue;
        odlc_status checked = zip_check(diags, dlc->file, entry);
        status = status == ODLC_OK ? checked : status;
    }
    return status;
}

static odlc_status verify_names(struct diags *diags, const struct dlc_file *dlc)
{
    for (uint32_t i = 0; i < dlc->n_graphs; i++)
        TRY(verify_graph(diags, dlc, &dlc->graphs[i]));
    return ODLC_OK;
}

odlc_status dlc_verify_graphs(struct diags *diags, const struct dlc_file *dlc)
{
    TRY(verify_crcs(diags, dlc, false));
    return verify_names(diags, dlc);
}

odlc_status dlc_verify_crcs(struct diags *diags, const struct dlc_file *dlc)
{
    return verify_crcs(diags, dlc, true);
}

odlc_status dlc_verify(struct diags *diags, const struct dlc_file *dlc)
{
    TRY(verify_crcs(diags, dlc, true));
    return verify_names(diags, dlc);
}
