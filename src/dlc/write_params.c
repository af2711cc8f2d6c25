/* Records → the entry `model.params`. The head says where each payload is: it is walked through once to know its size,
 * from which the payloads' places follow, and once to write it. Behind it, each payload is streamed once, from the
 * model into the file. */
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "dlc/read.h"
#include "dlc/write.h"

enum { TOLD_EVERY = 1 << 20 }; /* bytes between two reports of progress */

/* ---- payloads ---- */

static uint64_t payload_size(const struct view *view, enum dtype dtype)
{
    return dtype == DT_STRING ? dlc_strings_size(view) : view_size(view, dtype);
}

struct dlc_payload_walk dlc_payloads(const struct dlc_params *params)
{
    return (struct dlc_payload_walk){.params = params, .end = params->head_size};
}

bool dlc_next_payload(struct dlc_payload_walk *walk, struct dlc_payload *out)
{
    const struct dlc_params *p = walk->params;
    const struct graph *g = p->records->g;
    uint32_t i = walk->next;
    if (i == p->n_payloads)
        return false;
    if (i < p->n_statics) {
        const struct tensor *t = graph_tensor(g, p->statics[i]);
        *out = (struct dlc_payload){.name = t->name, .view = t->view, .dtype = t->type->dtype};
    } else {
        const struct dlc_param_place *place = &p->records->params.data[i - p->n_statics];
        const struct node *n = graph_node(g, place->node);
        const struct packed_param *param = &n->params[place->param];
        walk->param = dlc_param_view(param);
        *out = (struct dlc_payload){.name = n->name, .view = &walk->param, .dtype = param->dtype};
    }
    out->size = payload_size(out->view, out->dtype);
    out->pos = align_up(STREAM_HEADER + walk->end + p->length_size, PAYLOAD_ALIGNMENT) - STREAM_HEADER;
    walk->end = out->pos + out->size;
    walk->next++;
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
}

/* ---- the head ---- */

/* A walk through the head: the payloads' names in NETP, their places in NETP (inline bytes) or in NR64's buffers. */
struct emitting {
    struct dlc_params *params;
    struct fb_build netp;
    struct dlc_payload_walk payloads; /* inline bytes */
    uint32_t index;                   /* of the payload */
};

/* A reference to inline bytes leads to their length. */
static struct fb_made put_data(struct emitting *e, uint32_t ref, const char *name)
{
    const struct dlc_params *p = e->params;
    const struct fb_slot content = p->inline_bytes ? FB_REF(DATA_BYTES) : FB_U64(DATA_INDEX, e->index);
    const struct fb_slot slots[] = {FB_REF(DATA_NAME), content};
    struct fb_made table = fb_put_table(&e->netp, ref, slots, COUNT_OF(slots));
    struct dlc_payload payload;
    fb_put_string(&e->netp, fb_slot_ref(&e->netp, table, DATA_NAME), name);
    if (p->inline_bytes && dlc_next_payload(&e->payloads, &payload))
        fb_link(&e->netp, fb_slot_ref(&e->netp, table, DATA_BYTES), payload.pos - p->length_size);
    e->index++;
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
    const struct fb_slot slots[] = {FB_REF(OP_PARAMS_TENSORS)};
    const struct dlc_params *p = e->params;
    struct fb_made table = fb_put_table(&e->netp, FB_NOWHERE, slots, COUNT_OF(slots));
    const struct dlc_param_place *first = p->records->params.data + (e->index - p->n_statics);
    uint32_t count = 0, left = p->n_payloads - e->index;
    while (count < left && first[count].node == node)
        count++;
    uint32_t at = fb_put_references(&e->netp, fb_slot_ref(&e->netp, table, OP_PARAMS_TENSORS), count);
    for (uint32_t i = 0; i < count; i++)
        put_data(e, at + 4 * i, dlc_param_name(p->records, &first[i]));
    return table.at;
}

static void put_ops(struct emitting *e)
{
    const struct dlc_params *p = e->params;
    const struct graph *g = p->records->g;
    uint32_t op = 0;
    for (size_t i = 0; i < g->order.count; i++) {
        if (!graph_node(g, g->order.data[i])->op)
            continue;
        p->ops[op++] = put_op_params(e, g->order.data[i]);
        fb_settle(&e->netp);
    }
}

static odlc_status emit_netp(struct dlc_params *p, fb_sink_fn *sink, void *user)
{
    const struct fb_slot root[] = {FB_REF(PARAMS_GRAPHS)};
    const struct fb_slot slots[] = {FB_REF(GRAPH_PARAMS_NAME), FB_REF(GRAPH_PARAMS_TENSORS), FB_REF(GRAPH_PARAMS_OPS)};
    struct emitting e = {.params = p, .payloads = dlc_payloads(p)};
    struct fb_build *b = &e.netp;
    uint32_t start = fb_start_stream(b, p->records->w->arena, sink, user, ID_PARAMS);
    struct fb_made table = fb_put_table(b, start, root, COUNT_OF(root));
    uint32_t graphs = fb_put_references(b, fb_slot_ref(b, table, PARAMS_GRAPHS), 1);
    table = fb_put_table(b, graphs, slots, COUNT_OF(slots));
    fb_link(b, fb_slot_ref(b, table, GRAPH_PARAMS_OPS), p->op_list);
    fb_put_string(b, fb_slot_ref(b, table, GRAPH_PARAMS_NAME), p->records->g->name);
    put_static_tensors(&e, fb_slot_ref(b, table, GRAPH_PARAMS_TENSORS));
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
    const struct fb_slot slots[] = {FB_REF(NR64_BUFFERS), FB_REF(NR64_PARAMS)};
    const struct fb_slot buffer[] = {FB_U64(BUFFER_OFFSET, 0)};
    struct dlc_payload_walk payloads = dlc_payloads(p);
    struct dlc_payload payload;
    uint32_t *buffers = p->data + p->n_statics;
    uint32_t start = fb_start_stream(&b, p->records->w->arena, sink, user, ID_BUFFERS);
    struct fb_made table = fb_put_table(&b, start, slots, COUNT_OF(slots));
    fb_link(&b, fb_slot_ref(&b, table, NR64_BUFFERS), p->buffer_list);
    TRY(fb_begin_bytes(&b, fb_slot_ref(&b, table, NR64_PARAMS), p->netp_size));
    TRY(emit_netp(p, sink, user));
    fb_end_bytes(&b, p->netp_size);
    p->buffer_list = fb_put_targets(&b, FB_NOWHERE, buffers, p->n_payloads);
    for (uint32_t i = 0; dlc_next_payload(&payloads, &payload); i++) {
        table = fb_put_table(&b, FB_NOWHERE, buffer, COUNT_OF(buffer));
        uint32_t offset = fb_slot_ref(&b, table, BUFFER_OFFSET);
        fb_set_u64(&b, offset, payload.pos - p->length_size - offset);
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
    struct dlc_payload payload;
    p->size = p->head_size;
    while (dlc_next_payload(&walk, &payload)) {
        if (payload.size > INT64_MAX / 2 || walk.end > INT64_MAX / 2)
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

/* ---- streaming ---- */

struct streaming {
    const struct dlc_writing *w;
    struct zip_writer *zip;
    uint64_t done, told, total; /* bytes of the entry: written, last reported, all */
};

static odlc_status emit(void *user, const void *bytes, size_t size)
{
    struct streaming *s = user;
    TRY(zip_write(s->zip, bytes, size));
    s->done += size;
    if (s->done - s->told < TOLD_EVERY)
        return ODLC_OK;
    s->told = s->done;
    return progress_report(s->w->progress, s->w->diags, s->done, s->total);
}

static odlc_status stream_strings(const struct view *view, struct zip_writer *zip)
{
    uint64_t count = shape_count(&view->shape);
    for (uint64_t i = 0; i < count; i++) {
        const char *string = view->strings[view->splat ? 0 : i];
        TRY(zip_write(zip, string, strlen(string) + 1));
    }
    return ODLC_OK;
}

static odlc_status stream_payload(struct streaming *s, const struct dlc_payload *payload)
{
    const struct dlc_writing *w = s->w;
    const struct view *view = payload->view;
    if (payload->dtype == DT_STRING)
        return stream_strings(view, s->zip);
    size_t errors = w->diags->errors;
    odlc_status status = view_stream(w->arena, view, payload->dtype, emit, s);
    if (status != ODLC_OK && w->diags->errors == errors)
        return diag_error(w->diags, status, AT(.file = view->file ? view->file->path : NULL), "io",
                          "cannot read the data of tensor %s", payload->name);
    return status;
}

odlc_status dlc_stream_params(const struct dlc_writing *w, const struct dlc_params *params, struct zip_writer *zip)
{
    struct streaming s = {.w = w, .zip = zip, .total = params->size};
    struct dlc_payload_walk walk = dlc_payloads(params);
    struct dlc_payload payload;
    for (uint64_t at = walk.end; dlc_next_payload(&walk, &payload); at = walk.end) {
        uint8_t length[8];
        store_le(length, 8, payload.size);
        TRY(zip_zeros(zip, payload.pos - params->length_size - at));
        TRY(zip_write(zip, length, params->length_size));
        s.done = payload.pos;
        TRY(stream_payload(&s, &payload));
    }
    return ODLC_OK;
}
