/* SPDX-License-Identifier: Apache-2.0 */
/* A bad container shall be noticed here, not on the device: what was written is verified and compared with the graph, a
 * table at a time. The pages are given back behind the reader, so that the container's size does not count. Payloads
 * stay unread, but for their lengths: their CRC was computed over the very bytes that were handed to the system. That
 * of the model is computed anew, of the pages that the comparison has at hand. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dlc/tables.h"
#include "dlc/unpack.h"
#include "dlc/write_container.h"

enum { RESIDENT = 1024 * 1024, FAULT_AROUND = 64 * 1024 }; /* pages come in groups of up to the latter */

/* A scalar attribute that was found to be as meant, and where its bytes are: its table, the text and the table that it
 * leads to, behind it. The same bytes that lead to the same vtables say the same. */
struct found_scalar {
    struct dlc_attr meant;
    uint64_t at;
    uint32_t scalar, size; /* of the second table behind `at`, of all bytes; 0: nothing was found */
};

struct read_back {
    const struct dlc_writing *w;
    struct file *file;
    const struct dlc_entry *unchecked;        /* the entry at work, whose CRC is computed on the way; or NULL */
    uint64_t touched;                         /* bytes since pages were given back */
    struct found_scalar found[KNOWN_SCALARS]; /* by place_of_scalar */
};

static odlc_status differs(const struct read_back *r, const char *node, const char *what, const char *name)
{
    if (r->unchecked) /* bytes that are not those that were written say nothing of the writer */
        TRY(zip_check(r->w->diags, r->file, r->unchecked, NULL));
    return diag_error(r->w->diags, ODLC_ERR_INTERNAL, AT(.file = r->w->path, .node = node), "dlc-write",
                      "the container that was written reads back differently: %s %s", what, name);
}

/* A flatbuffer in the file, and the place in it that the walk has come to. */
struct region {
    struct fb_buffer buffer;
    uint64_t place;
    bool whole; /* all of the bytes are looked at: pages are mapped ahead, and the CRC is computed … */
    uint64_t summed;
    uint32_t crc; /* … which this is of the bytes before that place */
};

/* Of the bytes before that place. */
static void sum_until(struct region *in, uint64_t at)
{
    if (at <= in->summed)
        return;
    in->crc = crc_of_more(in->crc, in->buffer.data + in->summed, at - in->summed);
    in->summed = at;
}

static void map_ahead(const struct read_back *r, const struct region *in, uint64_t at)
{
    const uint64_t from = (uint64_t)(in->buffer.data - r->file->data) + at;
    (void)file_populate(r->file, from, min_u64(in->buffer.size - at, RESIDENT));
}

/* The walk has come to this place: the pages behind it are given back now and then. */
static void touch(struct read_back *r, struct region *in, uint64_t at)
{
    uint64_t passed = at > in->place ? at - in->place : in->place - at;
    in->place = at;
    r->touched += min_u64(passed, FAULT_AROUND);
    if (r->touched < RESIDENT)
        return;
    if (in->whole)
        sum_until(in, at);
    file_drop(r->file, 0, r->file->size);
    if (in->whole)
        map_ahead(r, in, at);
    r->touched = 0;
}

/* ---- the model ---- */

static bool same_axis_encodings(struct fb_table t, const struct quant *meant)
{
    struct fb_vector list = v4_axis_encoding_encodings(t);
    bool same = same_v4_axis_encoding(t, meant) && list.count == meant->count;
    for (uint32_t i = 0; same && i < list.count; i++)
        same = same_v4_encoding(fb_table_at(list, i), &meant->encodings[i]);
    return same;
}

static bool same_quantization(struct fb_table t, const struct dlc_tensor *meant)
{
    if (!same_v4_quantization(t, meant))
        return false;
    if (!meant->quant)
        return true;
    return meant->quant->per_axis ? same_axis_encodings(v4_quantization_per_axis(t), meant->quant)
                                  : same_v4_encoding(v4_quantization_scale_offset(t), meant->quant->encodings);
}

static bool same_tensor(struct fb_table t, const struct dlc_tensor *meant)
{
    return same_v4_tensor(t, meant) && same_quantization(v4_tensor_quantization(t), meant);
}

/* Bytes from `at` to the end of a table and of its text, which stands behind it; more than can be when it does not. */
static uint64_t size_with_text(uint64_t at, struct fb_table t, unsigned slot)
{
    const char *text = fb_string(t, slot);
    const uint64_t end = t.pos + t.size, text_at = text ? (uint64_t)((const uint8_t *)text - t.in->data) : end;
    if (t.pos < at || text_at < end)
        return UINT64_MAX;
    return (text ? text_at + strlen(text) + 1 : end) - at;
}

/* Keeps an attribute whose parts stand together, as those of most do. */
static void keep_found(struct found_scalar *found, struct fb_table t, struct fb_table scalar,
                       const struct dlc_attr *meant)
{
    enum { LONGEST = 256 };
    const uint64_t first = size_with_text(t.pos, t, SLOT_v4_attribute_name);
    const uint64_t all = size_with_text(t.pos, scalar, SLOT_v4_scalar_string_value);
    *found = (struct found_scalar){.meant = *meant, .at = t.pos};
    if (all > LONGEST || scalar.pos < t.pos + t.size || first > all)
        return;
    found->scalar = (uint32_t)(scalar.pos - t.pos);
    found->size = (uint32_t)all;
}

static bool same_scalar_attribute(struct found_scalar *found, struct fb_table t, const struct dlc_attr *meant)
{
    struct fb_table scalar = v4_attribute_scalar(t);
    if (!same_v4_attribute(t, meant) || !same_v4_scalar(scalar, meant) || t.in->failed)
        return false;
    keep_found(found, t, scalar, meant);
    return true;
}

/* A table begins with the distance to its vtable. */
static bool same_vtable(const struct fb_buffer *in, uint64_t a, uint64_t b)
{
    return (uint32_t)(a - load_le(in->data + a, 4)) == (uint32_t)(b - load_le(in->data + b, 4));
}

static bool is_found_again(const struct found_scalar *found, struct fb_buffer *in, uint64_t at,
                           const struct dlc_attr *meant)
{
    enum { DISTANCE = 4 };
    const uint32_t scalar = found->scalar, size = found->size;
    if (!size || !alike_scalars(&found->meant, meant) || !fb_inside(in, at, size))
        return false;
    const uint8_t *here = in->data + at, *there = in->data + found->at;
    return same_vtable(in, at, found->at) && same_vtable(in, at + scalar, found->at + scalar) &&
           memcmp(here + DISTANCE, there + DISTANCE, scalar - DISTANCE) == 0 &&
           memcmp(here + scalar + DISTANCE, there + scalar + DISTANCE, size - scalar - DISTANCE) == 0;
}

/* The attribute that a reference leads to. */
static bool same_attribute(struct read_back *r, struct fb_buffer *in, uint64_t reference, const struct dlc_attr *meant)
{
    if (meant->kind == DLC_TENSOR) {
        struct fb_table t = fb_open(in, reference);
        return same_v4_attribute(t, meant) && same_tensor(v4_attribute_tensor(t), meant->tensor);
    }
    const uint64_t at = fb_follow(in, reference);
    const unsigned place = place_of_scalar(meant);
    struct found_scalar *found = &r->found[place], *older = &r->found[place ^ 1];
    if (is_found_again(found, in, at, meant) || is_found_again(older, in, at, meant))
        return true;
    *older = *found;
    return same_scalar_attribute(found, fb_open(in, reference), meant);
}

static bool same_op(struct read_back *r, struct fb_table t, const struct dlc_op *meant)
{
    struct fb_vector attributes = v4_op_attributes(t);
    bool same = same_v4_op(t, meant) && attributes.count == meant->n_attrs;
    for (uint32_t i = 0; same && i < attributes.count; i++)
        same = same_attribute(r, t.in, attributes.pos + 4 * (uint64_t)i, &meant->attrs[i]);
    return same && !t.in->failed;
}

static odlc_status compare_ops(struct read_back *r, struct region *in, struct fb_vector list,
                               struct dlc_records *records)
{
    const struct dlc_op *op;
    dlc_records_again(records);
    TRY(dlc_next_op(records, &op));
    while (op) {
        struct fb_table t = fb_table_at(list, op->id);
        if (!same_op(r, t, op))
            return differs(r, op->name, "op", op->name);
        touch(r, in, t.pos);
        TRY(dlc_next_op(records, &op));
    }
    return ODLC_OK;
}

static bool is_identified(struct fb_buffer *buffer, const char *identifier)
{
    return fb_inside(buffer, 0, 8) && memcmp(buffer->data + 4, identifier, 4) == 0;
}

/* The only element of a list that a root has. */
static struct fb_table only_graph(struct fb_vector graphs)
{
    return graphs.count == 1 ? fb_table_at(graphs, 0) : (struct fb_table){.in = graphs.in};
}

static odlc_status compare_model(struct read_back *r, struct region *in, const struct dlc_model *model)
{
    struct dlc_records *records = model->records;
    struct fb_buffer *buffer = &in->buffer;
    struct fb_table graph = only_graph(v4_network_graphs(fb_root(buffer)));
    struct fb_vector ops = v4_graph_ops(graph), tensors = v4_graph_tensors(graph);
    const char *name = records->g->name;
    if (!is_identified(buffer, ID_MODEL) || !same_v4_graph(graph, records->g) ||
        !same_text(graph, SLOT_v4_graph_name_again, name) || ops.count != records->n_ops ||
        tensors.count != records->n_tensors || buffer->failed)
        return differs(r, NULL, "graph", name);
    TRY(compare_ops(r, in, ops, records));
    for (uint32_t i = 0; i < tensors.count; i++) {
        struct dlc_tensor meant = dlc_tensor_record(records, records->tensors[i]);
        struct fb_table t = fb_table_at(tensors, i);
        if (!same_tensor(t, &meant) || buffer->failed)
            return differs(r, NULL, "tensor", meant.name);
        touch(r, in, t.pos);
    }
    return ODLC_OK;
}

/* ---- the params ---- */

struct comparing {
    struct read_back *r;
    struct dlc_params *params;
    struct region *head;      /* the entry */
    struct region inner;      /* NETP in NR64 */
    struct region *netp;      /* that, or the head */
    struct fb_vector buffers; /* NR64 */
    struct dlc_payload_walk walk;
    uint32_t index;
};

/* The buffer's 64-bit offset leads to the length before the payload. */
static bool buffer_leads_to(struct comparing *c, uint64_t pos, uint64_t size)
{
    struct fb_buffer *head = &c->head->buffer;
    struct fb_table buffer = fb_table_at(c->buffers, c->index);
    uint64_t length_at = pos - 8;
    return same_v4_buffer(buffer, NULL) && v4_buffer_offset(buffer) == length_at &&
           fb_inside(head, length_at, 8 + size) && load_le(head->data + length_at, 8) == size;
}

static bool is_inline(struct fb_vector bytes, uint64_t pos, uint64_t size)
{
    return bytes.pos == pos && bytes.count == size;
}

static bool same_data(struct comparing *c, struct fb_table t, const char *name)
{
    const struct dlc_data meant = {.name = name, .is_inline = c->params->inline_bytes, .index = c->index};
    const struct fb_buffer *head = &c->head->buffer;
    uint64_t size, pos;
    if (!dlc_next_place(&c->walk, &size, &pos) || !same_v4_data(t, &meant))
        return false;
    bool same = meant.is_inline ? is_inline(v4_data_bytes(t), pos, size) : buffer_leads_to(c, pos, size);
    touch(c->r, c->head, pos);
    c->index++;
    return same && !t.in->failed && !head->failed &&
           (size_t)(head->data + pos - c->r->file->data) % payload_alignment(size) == 0;
}

static odlc_status compare_statics(struct comparing *c, struct fb_vector list)
{
    const struct dlc_params *p = c->params;
    if (list.count != p->n_statics)
        return differs(c->r, NULL, "entry", "model.params");
    for (uint32_t i = 0; i < list.count; i++) {
        const char *name = graph_tensor(p->records->g, p->statics[i])->name;
        if (!same_data(c, fb_table_at(list, i), name))
            return differs(c->r, NULL, "the data of tensor", name);
    }
    return ODLC_OK;
}

/* The payloads at hand are those of the op's params, if any. */
static bool same_op_params(struct comparing *c, struct fb_table t, node_id node)
{
    struct dlc_records *records = c->params->records;
    struct fb_vector list = v4_op_params_tensors(t);
    for (uint32_t i = 0; i < list.count; i++) {
        if (c->index >= c->params->n_payloads)
            return false;
        const struct dlc_param_place *param = &records->params.data[c->index - c->params->n_statics];
        if (param->node != node || !same_data(c, fb_table_at(list, i), dlc_param_name(records, param)))
            return false;
    }
    touch(c->r, c->netp, t.pos);
    return same_v4_op_params(t, NULL) && !t.in->failed;
}

static const char *op_name(const struct graph *g, uint32_t op)
{
    size_t i = 0;
    for (;; i++)
        if (graph_node(g, g->order.data[i])->op && op-- == 0)
            return graph_node(g, g->order.data[i])->name;
}

/* Nodes are looked at as long as there are payloads left: no op behind them has params. */
static odlc_status compare_op_params(struct comparing *c, struct fb_vector list)
{
    const struct graph *g = c->params->records->g;
    uint32_t op = 0;
    if (list.count != c->params->records->n_ops)
        return differs(c->r, NULL, "entry", "model.params");
    for (size_t i = 0; i < g->order.count && c->index < c->params->n_payloads; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (n->op && !same_op_params(c, fb_table_at(list, op++), g->order.data[i]))
            return differs(c->r, n->name, "the params of op", n->name);
    }
    for (; op < list.count; op++)
        if (!same_op_params(c, fb_table_at(list, op), NO_NODE))
            return differs(c->r, NULL, "the params of op", op_name(g, op));
    return c->index == c->params->n_payloads ? ODLC_OK : differs(c->r, NULL, "entry", "model.params");
}

/* NETP is the buffer itself, or bytes inside of NR64. False when it is not there. */
static bool open_netp(struct comparing *c)
{
    struct fb_buffer *head = &c->head->buffer;
    c->netp = c->head;
    if (c->params->inline_bytes)
        return true;
    struct fb_table root = fb_root(head);
    struct fb_vector bytes = v4_buffers_params(root);
    c->buffers = v4_buffers_buffers(root);
    if (!is_identified(head, ID_BUFFERS) || !same_v4_buffers(root, NULL) || c->buffers.count != c->params->n_payloads ||
        bytes.count != c->params->netp_size || head->failed)
        return false;
    c->inner.buffer = (struct fb_buffer){.data = fb_bytes(bytes), .size = bytes.count, .is_aligned = true};
    c->netp = &c->inner;
    return true;
}

static odlc_status compare_params(struct read_back *r, struct region *in, struct dlc_params *params)
{
    struct comparing c = {.r = r, .params = params, .head = in, .walk = dlc_payloads(params)};
    if (!open_netp(&c))
        return differs(r, NULL, "entry", "model.params");
    struct fb_buffer *netp = &c.netp->buffer;
    struct fb_table graph = only_graph(v4_params_graphs(fb_root(netp)));
    struct fb_vector statics = v4_graph_params_tensors(graph), ops = v4_graph_params_ops(graph);
    if (!is_identified(netp, ID_PARAMS) || !same_v4_graph_params(graph, params->records->g) || netp->failed)
        return differs(r, NULL, "entry", "model.params");
    TRY(compare_statics(&c, statics));
    return compare_op_params(&c, ops);
}

/* ---- the zip ---- */

static bool same_entry(const struct dlc_entry *a, const struct dlc_entry *b)
{
    return strcmp(a->name, b->name) == 0 && a->offset == b->offset && a->size == b->size && a->packed == b->packed &&
           a->crc == b->crc && !a->compressed;
}

/* All entries stand as they were written, and those that are small have their bytes. */
static odlc_status compare_entries(const struct read_back *r, const struct zip_writer *zip)
{
    struct diags *diags = r->w->diags;
    struct dlc_entry *entries;
    uint32_t count;
    TRY(zip_list(r->w->arena, diags, r->file, &entries, &count));
    if (count != zip->count)
        return differs(r, NULL, "the list of", "entries");
    for (uint32_t i = 0; i < count; i++) {
        if (!same_entry(&entries[i], &zip->entries[i]))
            return differs(r, NULL, "entry", zip->entries[i].name);
        TRY(zip_check_header(diags, r->file, &entries[i]));
    }
    return ODLC_OK;
}

static odlc_status open_region(const struct read_back *r, const struct dlc_entry *entry, struct region *out)
{
    const uint8_t *bytes = r->file->data + entry->offset;
    if (entry->size < STREAM_HEADER || load_le(bytes, 2) != STREAM_MAGIC || load_le(bytes + 2, 2) != CONTAINER_MAJOR ||
        load_le(bytes + 4, 2) != CONTAINER_MINOR)
        return differs(r, NULL, "entry", entry->name);
    out->buffer =
        (struct fb_buffer){.data = bytes + STREAM_HEADER, .size = entry->size - STREAM_HEADER, .is_aligned = true};
    out->place = out->summed = 0;
    out->crc = crc_of_more(0, bytes, STREAM_HEADER);
    out->whole = false;
    return ODLC_OK;
}

static odlc_status map_written(struct read_back *r, struct out_file *out)
{
    TRY(out_flush(out));
    int fd = dup(out_fd(out));
    if (fd < 0)
        return diag_error(r->w->diags, ODLC_ERR_IO, AT(.file = r->w->path), "io", "cannot read the file back: %s",
                          strerror(errno));
    return file_map_fd(r->w->arena, r->w->diags, r->w->path, fd, &r->file);
}

odlc_status dlc_read_back(const struct dlc_writing *w, const struct zip_writer *zip, struct dlc_model *model,
                          struct dlc_params *params)
{
    struct read_back r = {.w = w};
    struct region in_model, in_params;
    TRY(map_written(&r, zip->out));
    TRY(compare_entries(&r, zip));
    TRY(zip_check(w->diags, r.file, &zip->entries[ENTRY_METADATA], NULL));
    TRY(open_region(&r, &zip->entries[ENTRY_MODEL], &in_model));
    TRY(open_region(&r, &zip->entries[ENTRY_PARAMS], &in_params));
    in_model.whole = true;
    map_ahead(&r, &in_model, 0);
    r.unchecked = &zip->entries[ENTRY_MODEL];
    TRY(compare_model(&r, &in_model, model));
    sum_until(&in_model, in_model.buffer.size);
    TRY(zip_compare_crc(w->diags, r.file, r.unchecked, in_model.crc));
    r.unchecked = NULL;
    TRY(compare_params(&r, &in_params, params));
    file_drop(r.file, 0, r.file->size);
    return ODLC_OK;
}
