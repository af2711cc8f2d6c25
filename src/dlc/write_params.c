/* Records → the entry `model.params`. The small head is built in memory; the layout behind it is computed from the
 * payloads' sizes, so that each can be streamed once, from the model into the file. */
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "dlc/read.h"
#include "dlc/write.h"

enum {
    PAYLOAD_ALIGNMENT = 64,
    TOLD_EVERY = 1 << 20
}; /* of each payload in the entry, and of the entry in the file: weights can be mapped */

struct building {
    const struct dlc_writing *w;
    struct dlc_params *params;
    struct fb_build *netp; /* where the list of tensors goes: the head itself, or the buffer inside NR64 */
    bool inline_bytes;
    VEC(uint32_t) references; /* by payload: the offset in the head that has to lead to it */
};

static uint64_t payload_size(const struct dlc_tensor *t)
{
    return t->dtype == DT_STRING ? dlc_strings_size(&t->view) : view_size(&t->view, t->dtype);
}

static void put_data(struct building *b, uint32_t ref, const struct dlc_tensor *t)
{
    uint64_t index = b->params->payloads.count;
    const struct fb_slot content = b->inline_bytes ? FB_REF(DATA_BYTES) : FB_U64(DATA_INDEX, index);
    const struct fb_slot slots[] = {FB_REF(DATA_NAME), content};
    uint32_t table = fb_put_table(b->netp, ref, slots, COUNT_OF(slots));
    fb_put_string(b->netp, fb_slot_ref(b->netp, table, DATA_NAME), t->name);
    if (b->inline_bytes)
        vec_push(b->w->arena, &b->references, fb_slot_ref(b->netp, table, DATA_BYTES));
    vec_push(b->w->arena, &b->params->payloads, (struct dlc_payload){.tensor = t, .size = payload_size(t)});
}

static int by_name(const void *a, const void *b)
{
    const struct dlc_tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static void put_static_tensors(struct building *b, uint32_t ref, const struct dlc_graph *g)
{
    const struct dlc_tensor **sorted = arena_array(b->w->arena, const struct dlc_tensor *, g->n_tensors);
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].has_data)
            sorted[count++] = &g->tensors[i];
    qsort(sorted, count, sizeof *sorted, by_name);
    uint32_t first = fb_put_references(b->netp, ref, count);
    for (uint32_t i = 0; i < count; i++)
        put_data(b, first + 4 * i, sorted[i]);
}

static void put_op_params(struct building *b, uint32_t ref, const struct dlc_op *op)
{
    const struct fb_slot slots[] = {FB_REF(OP_PARAMS_TENSORS)};
    uint32_t table = fb_put_table(b->netp, ref, slots, COUNT_OF(slots)), count = 0;
    for (uint32_t i = 0; i < op->n_attrs; i++)
        count += op->attrs[i].kind == DLC_TENSOR;
    uint32_t at = fb_put_references(b->netp, fb_slot_ref(b->netp, table, OP_PARAMS_TENSORS), count);
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        if (op->attrs[i].kind != DLC_TENSOR)
            continue;
        put_data(b, at, &op->attrs[i].tensor);
        at += 4;
    }
}

static void put_netp(struct building *b, const struct dlc_graph *g)
{
    const struct fb_slot root[] = {FB_REF(PARAMS_GRAPHS)};
    const struct fb_slot slots[] = {FB_REF(GRAPH_PARAMS_NAME), FB_REF(GRAPH_PARAMS_TENSORS), FB_REF(GRAPH_PARAMS_OPS)};
    uint32_t table = fb_put_table(b->netp, fb_start(b->netp, b->w->arena, ID_PARAMS), root, COUNT_OF(root));
    uint32_t graphs = fb_put_references(b->netp, fb_slot_ref(b->netp, table, PARAMS_GRAPHS), 1);
    table = fb_put_table(b->netp, graphs, slots, COUNT_OF(slots));
    fb_put_string(b->netp, fb_slot_ref(b->netp, table, GRAPH_PARAMS_NAME), g->name);
    put_static_tensors(b, fb_slot_ref(b->netp, table, GRAPH_PARAMS_TENSORS), g);
    uint32_t ops = fb_put_references(b->netp, fb_slot_ref(b->netp, table, GRAPH_PARAMS_OPS), g->n_ops);
    for (uint32_t i = 0; i < g->n_ops; i++)
        put_op_params(b, ops + 4 * i, &g->ops[i]);
}

/* NR64: one table with a 64-bit offset per payload, and the NETP buffer as bytes. */
static void put_buffers(struct building *b)
{
    struct fb_build *head = &b->params->head;
    const struct fb_slot slots[] = {FB_REF(NR64_BUFFERS), FB_REF(NR64_PARAMS)};
    const struct fb_slot buffer[] = {FB_U64(BUFFER_OFFSET, 0)};
    uint32_t count = (uint32_t)b->params->payloads.count;
    uint32_t table = fb_put_table(head, fb_start(head, b->w->arena, ID_BUFFERS), slots, COUNT_OF(slots));
    fb_put_bytes(head, fb_slot_ref(head, table, NR64_PARAMS), b->netp->out.data, (uint32_t)b->netp->out.count);
    uint32_t first = fb_put_references(head, fb_slot_ref(head, table, NR64_BUFFERS), count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = fb_put_table(head, first + 4 * i, buffer, COUNT_OF(buffer));
        vec_push(b->w->arena, &b->references, fb_slot_ref(head, at, BUFFER_OFFSET));
    }
}

/* Gives every payload its place and makes its offset lead to its length. */
static bool lay_out(struct building *b)
{
    struct dlc_params *p = b->params;
    uint64_t at = p->head.out.count;
    p->length_size = b->inline_bytes ? 4 : 8;
    for (size_t i = 0; i < p->payloads.count; i++) {
        struct dlc_payload *payload = &p->payloads.data[i];
        uint32_t ref = b->references.data[i];
        payload->pos = align_up(STREAM_HEADER + at + p->length_size, PAYLOAD_ALIGNMENT) - STREAM_HEADER;
        store_le(p->head.out.data + ref, p->length_size, payload->pos - p->length_size - ref);
        if (ckd_add(&at, payload->pos, payload->size) || at > INT64_MAX / 2)
            return false;
    }
    p->size = at;
    return !b->inline_bytes || at <= INT32_MAX;
}

odlc_status dlc_build_params(const struct dlc_writing *w, const struct dlc_graph *g, bool netp, struct dlc_params *out)
{
    struct fb_build nested;
    struct building b = {.w = w, .params = out, .netp = netp ? &out->head : &nested, .inline_bytes = netp};
    *out = (struct dlc_params){.size = 0};
    put_netp(&b, g);
    if (!netp && fb_fits(b.netp))
        put_buffers(&b);
    if (fb_fits(b.netp) && fb_fits(&out->head) && lay_out(&b))
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
    const struct dlc_tensor *t = payload->tensor;
    if (t->dtype == DT_STRING)
        return stream_strings(&t->view, s->zip);
    size_t errors = w->diags->errors;
    odlc_status status = view_stream(w->arena, &t->view, t->dtype, emit, s);
    if (status != ODLC_OK && w->diags->errors == errors)
        return diag_error(w->diags, status, AT(.file = t->view.file ? t->view.file->path : NULL), "io",
                          "cannot read the data of tensor %s", t->name);
    return status;
}

odlc_status dlc_stream_params(const struct dlc_writing *w, const struct dlc_params *params, struct zip_writer *zip)
{
    struct streaming s = {.w = w, .zip = zip, .total = params->size};
    uint64_t at = params->head.out.count;
    TRY(zip_write(zip, params->head.out.data, params->head.out.count));
    for (size_t i = 0; i < params->payloads.count; i++) {
        const struct dlc_payload *payload = &params->payloads.data[i];
        uint8_t length[8];
        store_le(length, 8, payload->size);
        TRY(zip_zeros(zip, payload->pos - params->length_size - at));
        TRY(zip_write(zip, length, params->length_size));
        s.done = payload->pos;
        TRY(stream_payload(&s, payload));
        at = payload->pos + payload->size;
    }
    return ODLC_OK;
}
