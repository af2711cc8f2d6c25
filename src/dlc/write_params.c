/* SPDX-License-Identifier: Apache-2.0 */
/* Records → the entry `model.params`. The head says where each payload is: it is walked through once to know its size,
 * from which the payloads' places follow, and once to write it. Behind it, each payload is streamed once, from the
 * model into the file. */
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "dlc/read.h"
#include "dlc/tables.h"
#include "dlc/write_container.h"

/* ---- payloads ---- */

struct dlc_payload_walk dlc_payloads(const struct dlc_params *params)
{
    return (struct dlc_payload_walk){.params = params, .end = params->head_size};
}

bool dlc_next_place(struct dlc_payload_walk *walk, uint64_t *size, uint64_t *pos)
{
    const struct dlc_params *p = walk->params;
    if (walk->next == p->n_payloads)
        return false;
    *size = p->sizes[walk->next++];
    *pos = align_up(STREAM_HEADER + walk->end + p->length_size, payload_alignment(*size)) - STREAM_HEADER;
    walk->end = *pos + *size;
    return true;
}

static void open_payload(const struct dlc_params *p, uint32_t index, struct dlc_payload *out)
{
    const struct graph *g = p->records->g;
    if (index < p->n_statics) {
        const tensor_id id = p->statics[index];
        const struct tensor *t = graph_tensor(g, id);
        const struct view *const *packed = p->records->w->packed;
        const struct view *instead = packed ? packed[id] : NULL;
        out->name = t->name;
        out->view = instead ? instead : t->view;
        out->dtype = instead ? instead->dtype : t->type->dtype;
    } else {
        const struct dlc_param_place *place = &p->records->params.data[index - p->n_statics];
        const struct node *n = graph_node(g, place->node);
        const struct packed_param *param = &n->params[place->param];
        out->param = dlc_param_view(param);
        out->name = n->name;
        out->view = &out->param;
        out->dtype = param->dtype;
    }
}

bool dlc_next_payload(struct dlc_payload_walk *walk, struct dlc_payload *out)
{
    if (!dlc_next_place(walk, &out->size, &out->pos))
        return false;
    open_payload(walk->params, walk->next - 1, out);
    return true;
}

static int by_name(const void *a, const void *b, void *graph)
{
    const tensor_id *x = a, *y = b;
    return strcmp(graph_tensor(graph, *x)->name, graph_tensor(graph, *y)->name);
}

static void list_payloads(struct dlc_params *p)
{
    struct dlc_records *r = p->records;
    for (uint32_t i = 0; i < r->n_tensors; i++)
        p->n_statics += graph_tensor(r->g, r->tensors[i])->kind == TENSOR_STATIC;
    p->statics = arena_array(r->w->arena, tensor_id, p->n_statics);
    for (size_t i = 0, at = 0; i < r->n_tensors; i++)
        if (graph_tensor(r->g, r->tensors[i])->kind == TENSOR_STATIC)
            p->statics[at++] = r->tensors[i];
    if (p->n_statics)
        qsort_r(p->statics, p->n_statics, sizeof *p->statics, by_name, (void *)(uintptr_t)r->g);
    p->n_payloads = p->n_statics + (uint32_t)r->params.count;
    p->sizes = arena_array(r->w->arena, uint64_t, p->n_payloads);
    for (uint32_t i = 0; i < p->n_payloads; i++) {
        struct dlc_payload payload;
        open_payload(p, i, &payload);
        p->sizes[i] =
            payload.dtype == DT_STRING ? dlc_strings_size(payload.view) : view_size(payload.view, payload.dtype);
    }
}

/* ---- the head ---- */

/* A walk through the head: the payloads' names in NETP, their places in NETP (inline bytes) or in NR64's buffers. */
struct emitting {
    struct dlc_params *params;
    struct fb_build netp;
    struct dlc_payload_walk payloads; /* inline bytes */
    struct fb_kept without_params;    /* the table of such an op: most are */
    uint32_t index;                   /* of the payload */
};

/* A reference to inline bytes leads to their length. */
static struct fb_made put_data(struct emitting *e, uint32_t ref, const char *name)
{
    const struct dlc_params *p = e->params;
    const struct dlc_data data = {.name = name, .is_inline = p->inline_bytes, .index = e->index++};
    struct fb_made table = put_v4_data(&e->netp, ref, &data);
    uint64_t size, pos;
    if (p->inline_bytes && dlc_next_place(&e->payloads, &size, &pos))
        fb_link(&e->netp, fb_slot_ref(&e->netp, table, SLOT_v4_data_bytes), pos - p->length_size);
    return table;
}

static void put_static_tensors(struct emitting *e, uint32_t ref)
{
    const struct dlc_params *p = e->params;
    fb_put_targets(&e->netp, ref, p->data, p->n_statics);
    for (uint32_t i = 0; i < p->n_statics; i++) {
        p->data[i] = put_data(e, FB_NOWHERE, graph_tensor(p->records->g, p->statics[i])->name).at;
        fb_settle(&e->netp);
    }
}

/* Gives the position of the op's table. The op's payloads are the next ones. */
static uint32_t put_op_params(struct emitting *e, node_id node)
{
    const struct dlc_params *p = e->params;
    uint32_t count = 0, left = p->n_payloads - e->index;
    const struct dlc_param_place *first = left ? p->records->params.data + (e->index - p->n_statics) : NULL;
    while (count < left && first[count].node == node)
        count++;
    if (count == 0 && e->without_params.size)
        return fb_put_kept(&e->netp, FB_NOWHERE, &e->without_params);
    size_t n_vtables = e->netp.vtables.count;
    struct fb_made table = put_v4_op_params(&e->netp, FB_NOWHERE, NULL);
    uint32_t at = fb_put_references(&e->netp, fb_slot_ref(&e->netp, table, SLOT_v4_op_params_tensors), count);
    for (uint32_t i = 0; i < count; i++)
        put_data(e, at + 4 * i, dlc_param_name(p->records, &first[i]));
    if (count == 0)
        fb_keep(&e->netp, &table, 1, n_vtables, &e->without_params);
    return table.at;
}

/* Nodes are looked at as long as there are payloads left. */
static void put_ops(struct emitting *e)
{
    const struct dlc_params *p = e->params;
    const struct graph *g = p->records->g;
    uint32_t op = 0;
    for (size_t i = 0; i < g->order.count && e->index < p->n_payloads; i++) {
        if (!graph_node(g, g->order.data[i])->op)
            continue;
        p->ops[op++] = put_op_params(e, g->order.data[i]);
        fb_settle(&e->netp);
    }
    for (; op < p->records->n_ops; op++) {
        p->ops[op] = put_op_params(e, NO_NODE);
        fb_settle(&e->netp);
    }
}

static odlc_status emit_netp(struct dlc_params *p, fb_sink_fn *sink, void *user)
{
    struct emitting e = {.params = p, .payloads = dlc_payloads(p)};
    struct fb_build *b = &e.netp;
    uint32_t start = fb_start_stream(b, p->records->w->arena, sink, user, ID_PARAMS);
    struct fb_made table = put_v4_params(b, start, NULL);
    uint32_t graphs = fb_put_references(b, fb_slot_ref(b, table, SLOT_v4_params_graphs), 1);
    table = put_v4_graph_params(b, graphs, p->records->g);
    fb_link(b, fb_slot_ref(b, table, SLOT_v4_graph_params_ops), p->op_list);
    put_static_tensors(&e, fb_slot_ref(b, table, SLOT_v4_graph_params_tensors));
    p->op_list = fb_put_targets(b, FB_NOWHERE, p->ops, p->records->n_ops);
    put_ops(&e);
    p->netp_size = fb_size(b);
    return fb_flush(b);
}

/* NR64: one table with a 64-bit offset per payload, and the NETP buffer as bytes. The offset leads from itself to the
 * payload's length. */
static odlc_status emit_nr64(struct dlc_params *p, fb_sink_fn *sink, void *user)
{
    struct fb_build b;
    struct dlc_payload_walk payloads = dlc_payloads(p);
    uint64_t size, pos;
    uint32_t *buffers = p->data + p->n_statics;
    uint32_t start = fb_start_stream(&b, p->records->w->arena, sink, user, ID_BUFFERS);
    struct fb_made table = put_v4_buffers(&b, start, NULL);
    fb_link(&b, fb_slot_ref(&b, table, SLOT_v4_buffers_buffers), p->buffer_list);
    TRY(fb_begin_bytes(&b, fb_slot_ref(&b, table, SLOT_v4_buffers_params), p->netp_size));
    TRY(emit_netp(p, sink, user));
    fb_end_bytes(&b, p->netp_size);
    p->buffer_list = fb_put_targets(&b, FB_NOWHERE, buffers, p->n_payloads);
    for (uint32_t i = 0; dlc_next_place(&payloads, &size, &pos); i++) {
        table = put_v4_buffer(&b, FB_NOWHERE, NULL);
        uint32_t offset = fb_slot_ref(&b, table, SLOT_v4_buffer_offset);
        fb_set_u64(&b, offset, pos - p->length_size - offset);
        buffers[i] = table.at;
        fb_settle(&b);
    }
    p->head_size = fb_size(&b);
    return fb_flush(&b);
}

odlc_status dlc_emit_params_head(struct dlc_params *params, fb_sink_fn *sink, void *user)
{
    if (!params->inline_bytes)
        return emit_nr64(params, sink, user);
    TRY(emit_netp(params, sink, user));
    params->head_size = params->netp_size;
    return ODLC_OK;
}

/* Where the last payload ends; false when that cannot be. */
static bool find_end(struct dlc_params *p)
{
    struct dlc_payload_walk walk = dlc_payloads(p);
    uint64_t size, pos;
    p->size = p->head_size;
    while (dlc_next_place(&walk, &size, &pos)) {
        if (size > INT64_MAX / 2 || walk.end > INT64_MAX / 2)
            return false;
        p->size = walk.end;
    }
    return !p->inline_bytes || p->size <= INT32_MAX;
}

odlc_status dlc_lay_out_params(struct dlc_records *records, bool netp, struct dlc_params *out)
{
    const struct dlc_writing *w = records->w;
    *out = (struct dlc_params){.records = records, .inline_bytes = netp, .length_size = netp ? 4 : 8};
    list_payloads(out);
    out->ops = arena_array(w->arena, uint32_t, records->n_ops);
    out->data = arena_array(w->arena, uint32_t, (size_t)out->n_statics + out->n_payloads);
    TRY(dlc_emit_params_head(out, NULL, NULL));
    if (out->head_size <= INT32_MAX && find_end(out))
        return ODLC_OK;
    return diag_error(w->diags, ODLC_ERR_LIMIT,
                      AT(.file = w->path, .hint = netp ? "leave --params_format at its default, NR64" : NULL),
                      "dlc-write", "the weights do not fit the %s format, which ends at 2 GiB",
                      netp ? ID_PARAMS : ID_BUFFERS);
}
