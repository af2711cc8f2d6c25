/* SPDX-License-Identifier: Apache-2.0 */
/* dlc_check: oddities of a container that can be read. Of dlc-info --verify, these are the findings that need no
 * knowledge of operators. */
#include "dlc/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dlc/zip.h"

/* A damaged file may break one rule everywhere: enough is said at this point. */
#define MAX_FINDINGS 1000

enum { LAST_ENCODING = 16 /* codes of encodings that this reader does not decode are below */ };

struct check {
    struct diags *diags;
    const struct dlc_file *dlc;
    const struct dlc_graph *g; /* at work */
    struct arena *arena;
};

static void found(const struct check *c, const char *node, const char *attribute, const char *format, ...)
    PRINTF_LIKE(4, 5);
static void found(const struct check *c, const char *node, const char *attribute, const char *format, ...)
{
    va_list args;
    if (c->diags->errors >= MAX_FINDINGS)
        return;
    va_start(args, format);
    const char *message = arena_vprintf(c->arena, format, args);
    va_end(args);
    diag_error(c->diags, ODLC_ERR_INVALID, AT(.file = c->dlc->file->path, .node = node, .attribute = attribute),
               "dlc-check", "%s", message);
}

/* ---- the zip and its streams ---- */

static int by_header(const void *a, const void *b)
{
    const struct dlc_entry *x = *(const struct dlc_entry *const *)a, *y = *(const struct dlc_entry *const *)b;
    return (x->header > y->header) - (x->header < y->header);
}

static void check_overlap(const struct check *c)
{
    uint32_t count = c->dlc->n_entries;
    const struct dlc_entry **sorted = arena_array(c->arena, const struct dlc_entry *, count);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &c->dlc->entries[i];
    qsort(sorted, count, sizeof *sorted, by_header);
    for (uint32_t i = 1; i < count; i++)
        if (sorted[i - 1]->offset + sorted[i - 1]->packed > sorted[i]->header)
            found(c, NULL, NULL, "entries %s and %s overlap", sorted[i - 1]->name, sorted[i]->name);
}

static odlc_status check_zip(const struct check *c)
{
    const struct dlc_file *dlc = c->dlc;
    bool without_crcs = dlc->major > 4 || (dlc->major == 4 && dlc->minor >= 1);
    odlc_status status;
    for (uint32_t i = 0; i < dlc->n_entries; i++) {
        const struct dlc_entry *entry = &dlc->entries[i];
        status = zip_check_header(c->diags, dlc->file, entry);
        if (status == ODLC_OK && !entry->crc && !entry->compressed && !without_crcs)
            status = zip_check(c->diags, dlc->file, entry, NULL);
        if (status != ODLC_OK && status != ODLC_ERR_INVALID)
            return status;
    }
    check_overlap(c);
    return ODLC_OK;
}

static void check_streams(const struct check *c)
{
    const struct dlc_file *dlc = c->dlc;
    static const char *const keys[] = {"converter-command", "converter-version", "model-copyright", "model-version",
                                       "quantizer-command"};
    uint32_t version = dlc->major << 16 | dlc->minor;
    if (dlc->params_version && dlc->params_version != version)
        found(c, NULL, NULL, "entry model is of version %u.%u, but model.params of %u.%u", dlc->major, dlc->minor,
              dlc->params_version >> 16, dlc->params_version & 0xFFFF);
    if (!dlc->n_metadata)
        found(c, NULL, NULL, "there is no metadata");
    for (size_t i = 0; i < COUNT_OF(keys) && dlc->n_metadata; i++)
        if (version < (4 << 16 | 1) && !dlc_metadata(dlc, keys[i]))
            found(c, NULL, NULL, "the metadata have no line %s", keys[i]);
    for (size_t i = 0; i < dlc->n_stray_params; i++)
        found(c, dlc->stray_params[i], NULL, "model.params has data for a layer that the model does not have");
}

/* ---- tensors ---- */

/* The stored range of unsigned fixed point is min = offset * scale … max = (2^bits - 1 + offset) * scale. Encodings of
 * signed types are written in more than one way, so only their scale is looked at. */
static const char *encoding_fault(const struct encoding *e, enum dtype dtype)
{
    double scale = e->scale, top = exp2(e->bitwidth) - 1;
    if (!isfinite(scale) || !isfinite(e->min) || !isfinite(e->max))
        return "is not finite";
    if (!(scale > 0))
        return "has a scale that is not positive";
    if (e->min > e->max)
        return "has a minimum above its maximum";
    if (e->bitwidth < 2 || e->bitwidth > 32)
        return "has an impossible bit width";
    if (dtype_is_fixed(dtype) && e->bitwidth > dtype_info(dtype)->bits)
        return "has more bits than the data type";
    if (dtype_info(dtype)->cls == CLASS_UFXP && e->bitwidth <= 16 &&
        (fabs(e->offset * scale - e->min) > 2 * scale || fabs((top + e->offset) * scale - e->max) > 2 * scale))
        return "has a range that does not follow from its scale and offset";
    return NULL;
}

static void check_encodings(const struct check *c, const char *node, const struct dlc_tensor *t)
{
    if (t->encoding > LAST_ENCODING && t->encoding != NO_ENCODING)
        found(c, node, NULL, "tensor %s has an encoding of the unknown kind %u", t->name, t->encoding);
    if (!t->quant && dtype_is_fixed(t->dtype) && (t->encoding <= 1 || t->encoding == NO_ENCODING))
        found(c, node, NULL, "tensor %s is of type %s but has no encoding", t->name, dtype_info(t->dtype)->display);
    for (uint32_t i = 0; t->quant && i < t->quant->count; i++) {
        const char *fault = encoding_fault(&t->quant->encodings[i], t->dtype);
        if (fault && t->quant->per_axis)
            found(c, node, NULL, "encoding %u of tensor %s %s", i, t->name, fault);
        else if (fault)
            found(c, node, NULL, "the encoding of tensor %s %s", t->name, fault);
    }
}

static void check_data(const struct check *c, const char *node, const struct dlc_tensor *t)
{
    const struct view *view = t->view;
    if (!view || view->dtype != DT_BOOL || view->splat)
        return;
    for (uint64_t i = 0; i < shape_count(t->shape); i++)
        if (view->bytes[i] > 1) {
            found(c, node, NULL, "element %llu of tensor %s is neither false nor true", (unsigned long long)i, t->name);
            return;
        }
}

static void check_tensor(const struct check *c, const char *node, const struct dlc_tensor *t, struct map *ids)
{
    if (t->kind == KIND_NULL)
        return;
    if (t->dtype == DT_NONE)
        found(c, node, NULL, "tensor %s is of the unknown type 0x%04x", t->name, t->dtype_code);
    if (t->view && t->kind != KIND_STATIC)
        found(c, node, NULL, "model.params has data for tensor %s, which is not a constant", t->name);
    if (c->dlc->major >= 4) {
        const char *id = arena_printf(c->arena, "%u", t->id);
        if (map_add(ids, id, 1) != MAP_NONE)
            found(c, node, NULL, "tensor %s has id %u as another tensor has", t->name, t->id);
    }
    check_encodings(c, node, t);
    check_data(c, node, t);
}

static void check_tensors(const struct check *c)
{
    struct map ids;
    map_init(&ids, c->arena);
    for (uint32_t i = 0; i < c->g->n_tensors; i++)
        check_tensor(c, NULL, &c->g->tensors[i], &ids);
    for (uint32_t i = 0; i < c->g->n_ops; i++) {
        const struct dlc_op *op = &c->g->ops[i];
        for (uint32_t k = 0; k < op->n_attrs; k++)
            if (op->attrs[k].kind == DLC_TENSOR && c->dlc->major >= 4)
                check_tensor(c, op->name, op->attrs[k].tensor, &ids);
        for (uint32_t k = 0; k < op->n_params; k++)
            check_tensor(c, op->name, &op->params[k], &ids);
    }
}

/* ---- shared data ---- */

struct extent {
    const uint8_t *start;
    uint64_t size;
    const char *name;
};

static int by_start(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

typedef VEC(struct extent) extents;

static void add_extents(const struct check *c, const struct dlc_tensor *tensors, uint32_t count, extents *to)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct dlc_tensor *t = &tensors[i];
        if (t->view && t->dtype != DT_STRING && shape_count(t->shape))
            vec_push(c->arena, to, (struct extent){t->view->bytes, view_size(t->view, t->view->dtype), t->name});
    }
}

/* Constants, of version 3 also the layers' parameters, may share their bytes, but only as a whole. */
static void check_extents(const struct check *c)
{
    extents list = {0};
    add_extents(c, c->g->tensors, c->g->n_tensors, &list);
    for (uint32_t i = 0; i < c->g->n_ops; i++)
        add_extents(c, c->g->ops[i].params, c->g->ops[i].n_params, &list);
    if (list.count)
        qsort(list.data, list.count, sizeof *list.data, by_start);
    for (size_t i = 1; i < list.count; i++) {
        const struct extent *a = &list.data[i - 1], *b = &list.data[i];
        bool same = a->start == b->start && a->size == b->size;
        if (!same && b->start < a->start + a->size)
            found(c, NULL, NULL, "the data of tensors %s and %s overlap", a->name, b->name);
    }
}

/* ---- ops ---- */

static void check_attributes(const struct check *c, const struct dlc_op *op)
{
    const struct dlc_attr *package = dlc_attr_find(op, PACKAGE_ATTRIBUTE);
    if (!package || package->kind != DLC_STRING || !*package->s)
        found(c, op->name, PACKAGE_ATTRIBUTE, "the op does not say its package");
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        const struct dlc_attr *a = &op->attrs[i];
        if (a->usage != USAGE_PARAM && a->usage != USAGE_SUPPLEMENTAL)
            found(c, op->name, a->name, "the attribute is neither a param nor supplemental");
        if (a->kind != DLC_TENSOR && a->dtype == DT_NONE)
            found(c, op->name, a->name, "the attribute is of the unknown type 0x%04x", a->dtype_code);
    }
}

/* What an op reads must be there when it runs: ops stand in the order of execution. */
static void check_operands(const struct check *c, const struct dlc_op *op, bool *ready)
{
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        uint32_t index = *op->inputs[i] ? map_get(&c->g->tensor_index, op->inputs[i]) : MAP_NONE;
        if (index != MAP_NONE && !ready[index])
            found(c, op->name, NULL, "the op reads tensor %s before an op has written it", op->inputs[i]);
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        uint32_t index = *op->outputs[i] ? map_get(&c->g->tensor_index, op->outputs[i]) : MAP_NONE;
        if (index == MAP_NONE)
            continue;
        uint32_t kind = c->g->tensors[index].kind;
        if (c->dlc->major >= 4 && (kind == KIND_APP_WRITE || kind == KIND_STATIC))
            found(c, op->name, NULL, "the op writes tensor %s, which is %s", op->outputs[i],
                  kind == KIND_STATIC ? "a constant" : "an input of the graph");
        ready[index] = true;
    }
}

static void check_ops(const struct check *c)
{
    const struct dlc_graph *g = c->g;
    bool *ready = arena_array(c->arena, bool, g->n_tensors);
    bool has_output = false;
    struct map names;
    map_init(&names, c->arena);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        uint32_t kind = g->tensors[i].kind;
        ready[i] = c->dlc->major >= 4 && (kind == KIND_APP_WRITE || kind == KIND_STATIC || kind == KIND_NULL);
        has_output |= kind == KIND_APP_READ || kind == KIND_APP_READWRITE;
    }
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct dlc_op *op = &g->ops[i];
        if (map_add(&names, op->name, i) != MAP_NONE)
            found(c, op->name, NULL, "two ops have this name");
        check_operands(c, op, ready);
        if (c->dlc->major >= 4)
            check_attributes(c, op);
    }
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (!ready[i])
            found(c, NULL, NULL, "no op writes tensor %s", g->tensors[i].name);
    if (!has_output)
        found(c, NULL, NULL, "graph %s has no output", g->name);
}

odlc_status dlc_check(struct diags *diags, const struct dlc_file *dlc)
{
    struct check c = {.diags = diags, .dlc = dlc, .arena = diags->arena};
    struct map names;
    size_t before = diags->errors;
    map_init(&names, c.arena);
    TRY(check_zip(&c));
    check_streams(&c);
    for (uint32_t i = 0; i < dlc->n_graphs; i++) {
        c.g = &dlc->graphs[i];
        if (map_add(&names, c.g->name, i) != MAP_NONE)
            found(&c, NULL, NULL, "two graphs are named %s", c.g->name);
        check_tensors(&c);
        check_extents(&c);
        check_ops(&c);
    }
    return diags->errors == before ? ODLC_OK : ODLC_ERR_INVALID;
}
