/* A bad container shall be noticed here, not on the device: what was written is verified and compared with the graph, a
 * table at a time. The pages are given back behind the reader, so that the container's size does not count. Payloads
 * stay unread, but for their lengths: their CRC was computed over the very bytes that were handed to the system. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/reader.h"
#include "dlc/schema.h"
#include "dlc/write.h"

enum { RESIDENT = 4 * 1024 * 1024, FAULT_AROUND = 64 * 1024 }; /* pages come in groups of up to the latter */

/* A flatbuffer in the file. */
struct region {
    const uint8_t *data;
    uint64_t size;
};

struct read_back {
    const struct dlc_writing *w;
    struct file *file;
    uint64_t touched; /* bytes since pages were given back */
};

static void touch(struct read_back *r, uint64_t bytes)
{
    r->touched += bytes;
    if (r->touched < RESIDENT)
        return;
    file_drop(r->file, 0, r->file->size);
    r->touched = 0;
}

static odlc_status differs(const struct read_back *r, const char *node, const char *what, const char *name)
{
    return diag_error(r->w->diags, ODLC_ERR_INTERNAL, AT(.file = r->w->path, .node = node), "dlc-write",
                      "the container that was written reads back differently: %s %s", what, name);
}

static bool same_text(const char *read, const char *meant)
{
    return read && strcmp(read, meant) == 0;
}

/* Once verified, a table can be read. */
static bool open_table(const struct region *in, struct fb_vector list, uint32_t i, const struct fb_type *type,
                       struct fb_table *table)
{
    struct fb_fault fault;
    if (!fb_verify_at(in->data, in->size, list.pos + 4 * (uint64_t)i, type, &fault))
        return false;
    *table = fb_table_at(list, i);
    return true;
}

/* The only table of a root's list. */
static bool open_graph(const struct region *in, const char *identifier, const struct fb_type *outline,
                       struct fb_table *graph)
{
    struct fb_fault fault;
    if (in->size < 8 || memcmp(in->data + 4, identifier, 4) != 0 || !fb_verify(in->data, in->size, outline, &fault))
        return false;
    struct fb_vector graphs = fb_vector(fb_root(in->data), NETWORK_GRAPHS);
    if (graphs.count != 1)
        return false;
    *graph = fb_table_at(graphs, 0);
    return true;
}

/* ---- the model ---- */

static bool same_encoding(struct fb_table t, const struct encoding *e)
{
    return fb_u32(t, FXP_BITWIDTH) == e->bitwidth && fb_u32(t, FXP_MIN) == float_bits((float)e->min) &&
           fb_u32(t, FXP_MAX) == float_bits((float)e->max) && fb_u32(t, FXP_SCALE) == float_bits((float)e->scale) &&
           fb_i32(t, FXP_OFFSET) == e->offset && fb_u8(t, FXP_SYMMETRIC) == e->symmetric;
}

static bool same_quant(struct fb_table t, const struct dlc_tensor *meant)
{
    const struct quant *quant = meant->quant;
    if (!t.data || fb_u32(t, QUANT_ENCODING) != meant->encoding ||
        fb_u8(t, QUANT_OVERRIDDEN) != (quant && quant->overridden))
        return false;
    if (!quant)
        return !fb_has(t, QUANT_SCALE_OFFSET) && !fb_has(t, QUANT_AXIS);
    if (!quant->per_axis)
        return fb_has(t, QUANT_SCALE_OFFSET) && same_encoding(fb_child(t, QUANT_SCALE_OFFSET), quant->encodings);
    struct fb_table axis = fb_child(t, QUANT_AXIS);
    struct fb_vector list = fb_vector(axis, AXIS_FXP_ENCODINGS);
    bool same = fb_u32(axis, AXIS_FXP_AXIS) == quant->axis && list.count == quant->count;
    for (uint32_t i = 0; same && i < list.count; i++)
        same = same_encoding(fb_table_at(list, i), &quant->encodings[i]);
    return same;
}

static bool same_dims(struct fb_vector dims, const struct shape *shape)
{
    if (dims.count != shape->rank)
        return false;
    for (uint32_t i = 0; i < dims.count; i++)
        if (fb_word_at(dims, i) != shape->dims[i])
            return false;
    return true;
}

static bool same_tensor(struct fb_table t, const struct dlc_tensor *meant)
{
    return fb_u32(t, TENSOR_ID) == meant->id && same_text(fb_string(t, TENSOR_NAME), meant->name) &&
           fb_u32(t, TENSOR_KIND) == meant->kind && same_dims(fb_vector(t, TENSOR_DIMS), meant->shape) &&
           fb_u32(t, TENSOR_AXIS_FORMAT) == meant->axis_format && fb_u32(t, TENSOR_DTYPE) == meant->dtype_code &&
           fb_u32(t, TENSOR_SOURCE_DTYPE) == meant->source_dtype_code &&
           fb_u8(t, TENSOR_QUANTIZABLE) == meant->is_quantizable && same_quant(fb_child(t, TENSOR_QUANT), meant);
}

static bool same_scalar(struct fb_table t, const struct dlc_attr *meant)
{
    if (fb_u32(t, SCALAR_DTYPE) != meant->dtype_code)
        return false;
    if (meant->kind == DLC_STRING)
        return same_text(fb_string(t, SCALAR_STRING), meant->s);
    return meant->kind == DLC_FLOAT ? fb_u64(t, SCALAR_FLOAT) == double_bits(meant->f)
                                    : (int64_t)fb_u64(t, SCALAR_INT) == meant->i;
}

static bool same_attr(struct fb_table t, const struct dlc_attr *meant)
{
    bool is_tensor = meant->kind == DLC_TENSOR;
    if (!same_text(fb_string(t, ATTR_NAME), meant->name) || fb_u32(t, ATTR_KIND) != is_tensor ||
        fb_u8(t, ATTR_USAGE) != meant->usage)
        return false;
    return is_tensor ? same_tensor(fb_child(t, ATTR_TENSOR), meant->tensor)
                     : same_scalar(fb_child(t, ATTR_SCALAR), meant);
}

static bool same_names(struct fb_vector names, const char *const *meant, uint32_t count)
{
    if (names.count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(fb_string_at(names, i), meant[i]) != 0)
            return false;
    return true;
}

static bool same_op(struct fb_table t, const struct dlc_op *meant)
{
    struct fb_vector attrs = fb_vector(t, OP_ATTRIBUTES);
    bool same = same_text(fb_string(t, OP_NAME), meant->name) && same_text(fb_string(t, OP_TYPE), meant->type) &&
                same_names(fb_vector(t, OP_INPUTS), meant->inputs, meant->n_inputs) &&
                same_names(fb_vector(t, OP_OUTPUTS), meant->outputs, meant->n_outputs) && attrs.count == meant->n_attrs;
    for (uint32_t i = 0; same && i < attrs.count; i++)
        same = same_attr(fb_table_at(attrs, i), &meant->attrs[i]);
    return same;
}

static odlc_status compare_ops(struct read_back *r, const struct region *in, struct fb_vector list,
                               struct dlc_records *records)
{
    const struct dlc_op *op;
    struct fb_table table = {in->data, list.pos};
    dlc_records_again(records);
    TRY(dlc_next_op(records, &op));
    while (op) {
        uint64_t before = table.pos;
        if (!open_table(in, list, op->id, &v4_op, &table) || !same_op(table, op))
            return differs(r, op->name, "op", op->name);
        touch(r, table.pos - before);
        TRY(dlc_next_op(records, &op));
    }
    return ODLC_OK;
}

static odlc_status compare_model(struct read_back *r, const struct region *in, const struct dlc_model *model)
{
    struct dlc_records *records = model->records;
    struct fb_table graph, table;
    if (!open_graph(in, ID_MODEL, &v4_network_outline, &graph))
        return differs(r, NULL, "entry", "model");
    struct fb_vector ops = fb_vector(graph, GRAPH_OPS), tensors = fb_vector(graph, GRAPH_TENSORS);
    const char *name = records->g->name;
    if (!same_text(fb_string(graph, GRAPH_NAME), name) || !same_text(fb_string(graph, GRAPH_NAME2), name) ||
        ops.count != records->n_ops || tensors.count != records->tensors.count)
        return differs(r, NULL, "graph", name);
    TRY(compare_ops(r, in, ops, records));
    table.pos = tensors.pos;
    for (uint32_t i = 0; i < tensors.count; i++) {
        struct dlc_tensor meant = dlc_tensor_record(records, records->tensors.data[i]);
        uint64_t before = table.pos;
        if (!open_table(in, tensors, i, &v4_tensor, &table) || !same_tensor(table, &meant))
            return differs(r, NULL, "tensor", meant.name);
        touch(r, table.pos - before);
    }
    return ODLC_OK;
}

/* ---- the params ---- */

struct comparing {
    struct read_back *r;
    struct dlc_params *params;
    struct region head, netp; /* the entry; NETP in it, or the same */
    struct fb_vector buffers; /* NR64 */
    struct dlc_payload_walk walk;
    uint32_t index;
};

/* The length before the payload, by way of the buffer's 64-bit offset. */
static bool buffer_leads_to(const struct comparing *c, uint64_t index, const struct dlc_payload *payload)
{
    struct fb_table buffer;
    if (index != c->index || !open_table(&c->head, c->buffers, c->index, &v4_buffer, &buffer))
        return false;
    uint64_t at = fb_field_pos(buffer, BUFFER_OFFSET), end = payload->pos + payload->size;
    return at && at + load_le(c->head.data + at, 8) + 8 == payload->pos && end <= c->head.size &&
           load_le(c->head.data + payload->pos - 8, 8) == payload->size;
}

static bool same_data(struct comparing *c, struct fb_table t, const char *name)
{
    struct dlc_payload payload;
    if (!dlc_next_payload(&c->walk, &payload) || !same_text(fb_string(t, DATA_NAME), name))
        return false;
    bool same;
    if (c->params->inline_bytes) {
        struct fb_vector bytes = fb_vector(t, DATA_BYTES);
        same = fb_has(t, DATA_BYTES) && bytes.pos == payload.pos && bytes.count == payload.size;
    } else {
        same = buffer_leads_to(c, fb_u64(t, DATA_INDEX), &payload);
    }
    touch(c->r, min_u64(payload.size, FAULT_AROUND));
    c->index++;
    return same && (c->head.data + payload.pos - c->r->file->data) % PAYLOAD_ALIGNMENT == 0;
}

static odlc_status compare_statics(struct comparing *c, struct fb_vector list)
{
    const struct dlc_params *p = c->params;
    struct fb_table table = {NULL, list.pos};
    if (list.count != p->n_statics)
        return differs(c->r, NULL, "entry", "model.params");
    for (uint32_t i = 0; i < list.count; i++) {
        const char *name = graph_tensor(p->records->g, p->statics[i])->name;
        uint64_t before = table.pos;
        if (!open_table(&c->netp, list, i, &v4_data, &table) || !same_data(c, table, name))
            return differs(c->r, NULL, "the data of tensor", name);
        touch(c->r, table.pos - before);
    }
    return ODLC_OK;
}

/* The payloads at hand are those of the op's params, if any. */
static bool same_op_params(struct comparing *c, struct fb_table t, node_id node)
{
    struct dlc_records *records = c->params->records;
    struct fb_vector list = fb_vector(t, OP_PARAMS_TENSORS);
    for (uint32_t i = 0; i < list.count; i++) {
        if (c->index >= c->params->n_payloads)
            return false;
        const struct dlc_param_place *place = &records->params.data[c->index - c->params->n_statics];
        if (place->node != node || !same_data(c, fb_table_at(list, i), dlc_param_name(records, place)))
            return false;
    }
    return true;
}

static odlc_status compare_op_params(struct comparing *c, struct fb_vector list)
{
    const struct graph *g = c->params->records->g;
    struct fb_table table = {NULL, list.pos};
    uint32_t op = 0;
    if (list.count != c->params->records->n_ops)
        return differs(c->r, NULL, "entry", "model.params");
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        uint64_t before = table.pos;
        if (!n->op)
            continue;
        if (!open_table(&c->netp, list, op++, &v4_op_params, &table) || !same_op_params(c, table, g->order.data[i]))
            return differs(c->r, n->name, "the params of op", n->name);
        touch(c->r, table.pos - before);
    }
    return c->index == c->params->n_payloads ? ODLC_OK : differs(c->r, NULL, "entry", "model.params");
}

/* NETP is the buffer itself, or bytes inside of NR64. */
static bool open_netp(struct comparing *c, struct fb_table *graph)
{
    struct fb_fault fault;
    c->netp = c->head;
    if (!c->params->inline_bytes) {
        if (c->head.size < 8 || memcmp(c->head.data + 4, ID_BUFFERS, 4) != 0 ||
            !fb_verify(c->head.data, c->head.size, &v4_buffers_outline, &fault))
            return false;
        struct fb_vector bytes = fb_vector(fb_root(c->head.data), NR64_PARAMS);
        c->buffers = fb_vector(fb_root(c->head.data), NR64_BUFFERS);
        c->netp = (struct region){bytes.data + bytes.pos, bytes.count};
        if (c->buffers.count != c->params->n_payloads)
            return false;
    }
    return open_graph(&c->netp, ID_PARAMS, &v4_params_outline, graph);
}

static odlc_status compare_params(struct read_back *r, const struct region *in, struct dlc_params *params)
{
    struct comparing c = {.r = r, .params = params, .head = *in, .walk = dlc_payloads(params)};
    struct fb_table graph;
    if (!open_netp(&c, &graph))
        return differs(r, NULL, "entry", "model.params");
    if (!same_text(fb_string(graph, GRAPH_PARAMS_NAME), params->records->g->name))
        return differs(r, NULL, "graph", params->records->g->name);
    TRY(compare_statics(&c, fb_vector(graph, GRAPH_PARAMS_TENSORS)));
    return compare_op_params(&c, fb_vector(graph, GRAPH_PARAMS_OPS));
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
    *out = (struct region){bytes + STREAM_HEADER, entry->size - STREAM_HEADER};
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
    for (uint32_t i = 0; i < ENTRY_PARAMS; i++)
        TRY(zip_check(w->diags, r.file, &zip->entries[i]));
    TRY(open_region(&r, &zip->entries[ENTRY_MODEL], &in_model));
    TRY(open_region(&r, &zip->entries[ENTRY_PARAMS], &in_params));
    TRY(compare_model(&r, &in_model, model));
    TRY(compare_params(&r, &in_params, params));
    file_drop(r.file, 0, r.file->size);
    return ODLC_OK;
}
