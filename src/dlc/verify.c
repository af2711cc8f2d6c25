/* SPDX-License-Identifier: Apache-2.0 */
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
    return ODLC_OK;
}

/* A file that lacks its data lacks them everywhere: so many errors tell it. */
#define MOST_MISSING 100

static bool lacks_data(const struct dlc_tensor *t)
{
    return t->dtype != DT_NONE && !t->view;
}

/* Supplemental attributes are remarks, which are passed over where they say nothing. */
static odlc_status find_missing(struct diags *diags, const struct dlc_file *dlc, const struct dlc_graph *g)
{
    size_t before = diags->errors, warned = 0;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct dlc_op *op = &g->ops[i];
        for (uint32_t k = 0; k < op->n_attrs && diags->errors - before < MOST_MISSING; k++) {
            const struct dlc_attr *a = &op->attrs[k];
            if (a->kind != DLC_TENSOR || !lacks_data(a->tensor))
                continue;
            if (a->usage != USAGE_SUPPLEMENTAL)
                (void)wrong(diags, dlc, op->name, "there is no data for attribute", a->name);
            else if (warned++ < MOST_MISSING)
                diag_warn(diags, AT(.file = dlc->file->path, .node = op->name, .attribute = a->name), "dlc-no-data",
                          "there is no data for the supplemental attribute %s, which is left out", a->name);
        }
    }
    for (uint32_t i = 0; i < g->n_tensors && diags->errors - before < MOST_MISSING; i++)
        if (g->tensors[i].kind == KIND_STATIC && lacks_data(&g->tensors[i]))
            (void)wrong(diags, dlc, NULL, "there is no data for static tensor", g->tensors[i].name);
    return diags->errors == before ? ODLC_OK : ODLC_ERR_INVALID;
}

static odlc_status verify_graph(struct diags *diags, const struct dlc_file *dlc, const struct dlc_graph *g)
{
    bool *produced = arena_array(diags->arena, bool, g->n_tensors);
    for (uint32_t i = 0; i < g->n_ops; i++)
        TRY(verify_op(diags, dlc, g, &g->ops[i], produced));
    return find_missing(diags, dlc, g);
}

static bool is_taken_in(const struct dlc_entry *entry)
{
    return strcmp(entry->name, "model") == 0 || strncmp(entry->name, "dlc.metadata", strlen("dlc.metadata")) == 0;
}

static bool is_compared(const struct dlc_entry *entry, bool all)
{
    return entry->crc && !entry->compressed && (all || is_taken_in(entry)); /* files of 4.1 carry no CRC */
}

/* Every damaged entry is named. */
static odlc_status verify_crcs(struct diags *diags, const struct dlc_file *dlc, bool all,
                               const struct progress *progress)
{
    struct zip_reading reading = {.progress = progress};
    odlc_status status = ODLC_OK;
    for (uint32_t i = 0; i < dlc->n_entries; i++)
        reading.total += is_compared(&dlc->entries[i], all) ? dlc->entries[i].size : 0;
    TRY(progress_report(progress, diags, 0, reading.total));
    for (uint32_t i = 0; i < dlc->n_entries && status != ODLC_ERR_STOPPED; i++) {
        if (!is_compared(&dlc->entries[i], all))
            continue;
        const odlc_status checked = zip_check(diags, dlc->file, &dlc->entries[i], &reading);
        status = status == ODLC_OK || checked == ODLC_ERR_STOPPED ? checked : status;
    }
    TRY(status);
    return progress_report(progress, diags, reading.total, reading.total);
}

static odlc_status verify_names(struct diags *diags, const struct dlc_file *dlc)
{
    for (uint32_t i = 0; i < dlc->n_graphs; i++)
        TRY(verify_graph(diags, dlc, &dlc->graphs[i]));
    return ODLC_OK;
}

odlc_status dlc_verify_graphs(struct diags *diags, const struct dlc_file *dlc)
{
    TRY(verify_crcs(diags, dlc, false, NULL));
    return verify_names(diags, dlc);
}

odlc_status dlc_verify_crcs(struct diags *diags, const struct dlc_file *dlc, const struct progress *progress)
{
    return verify_crcs(diags, dlc, true, progress);
}

odlc_status dlc_verify(struct diags *diags, const struct dlc_file *dlc, const struct progress *progress)
{
    TRY(verify_crcs(diags, dlc, true, progress));
    return verify_names(diags, dlc);
}
