/* A bad container shall be noticed here, not on the device: what was written is verified and compared with the graph, a
 * table at a time. The pages are given back behind the reader, so that the container's size does not count. Payloads
 * stay unread, but for their lengths: their CRC was computed over the very bytes that were handed to the system. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/reader.h"
#include "dlc/schema.h"
#include "dlc/write.h"

enum { RESIDENT = 1024 * 1024, FAULT_AROUND = 64 * 1024 }; /* pages come in groups of up to the latter */

struct read_back {
    const struct dlc_writing *w;
    struct file *file;
    uint64_t touched; /* bytes since pages were given back */
};

static odlc_status differs(const struct read_back *r, const char *node, const char *what, const char *name)
{
    return diag_error(r->w->diags, ODLC_ERR_INTERNAL, AT(.file = r->w->path, .node = node), "dlc-write",
                      "the container that was written reads back differently: %s %s", what, name);
}

/* ---- checked reading ---- */

/* A flatbuffer in the file. What leads out of it sets `failed`, which stays, and reads as 0; so it is asked for once a
 * table. To verify a table first and read it then would look at everything twice. */
struct region {
    const uint8_t *data;
    uint64_t size;
    bool failed;
    uint64_t place; /* the last one that was read, for touch */
};

struct table {
    uint64_t at;
    const uint8_t *vtable;
    uint32_t vtable_size, size;
};

struct list {
    uint64_t at; /* of the first element */
    uint32_t count;
};

static inline bool inside(struct region *in, uint64_t at, uint64_t size)
{
    bool good = at <= in->size && size <= in->size - at;
    in->failed |= !good;
    return good;
}

/* Where a 32-bit reference leads: all objects are aligned. */
static inline uint64_t follow(struct region *in, uint64_t reference)
{
    uint64_t at = inside(in, reference, 4) ? reference + load_le(in->data + reference, 4) : 0;
    in->failed |= at % 4 != 0;
    return at;
}

static struct table open_table(struct region *in, uint64_t reference)
{
    static const uint8_t none[4] = {4, 0, 4, 0};
    struct table t = {.vtable = none, .vtable_size = 4, .size = 4};
    uint64_t at = follow(in, reference);
    if (!inside(in, at, 4))
        return t;
    uint64_t vtable =
        at - (uint64_t)(int64_t)(int32_t)load_le(in->data + at, 4); /* wraps when it is before the start */
    if (!inside(in, vtable, 4))
        return t;
    uint32_t vtable_size = (uint32_t)load_le(in->data + vtable, 2), size = (uint32_t)load_le(in->data + vtable + 2, 2);
    in->failed |= vtable_size < 4 || vtable_size % 2 != 0 || size < 4 || size % 4 != 0;
    if (!inside(in, vtable, vtable_size) || !inside(in, at, size) || in->failed)
        return t;
    return (struct table){at, in->data + vtable, vtable_size, size};
}

/* The place of a field of so many bytes; 0 when it is absent. */
static inline uint64_t place(struct region *in, const struct table *t, unsigned slot, unsigned bytes)
{
    uint32_t entry = 4 + 2 * slot;
    uint32_t at = entry + 2 <= t->vtable_size ? (uint32_t)load_le(t->vtable + entry, 2) : 0;
    if (at == 0)
        return 0;
    in->failed |= at < 4 || at + bytes > t->size;
    return in->failed ? 0 : t->at + at;
}

static inline uint64_t number(struct region *in, const struct table *t, unsigned slot, unsigned bytes)
{
    uint64_t at = place(in, t, slot, bytes);
    return at ? load_le(in->data + at, bytes) : 0;
}

/* Children are never left out. */
static inline uint64_t reference(struct region *in, const struct table *t, unsigned slot)
{
    uint64_t at = place(in, t, slot, 4);
    in->failed |= at == 0;
    return at;
}

static struct list open_list(struct region *in, const struct table *t, unsigned slot, unsigned element)
{
    uint64_t at = follow(in, reference(in, t, slot));
    if (!inside(in, at, 4))
        return (struct list){0, 0};
    uint32_t count = (uint32_t)load_le(in->data + at, 4);
    return inside(in, at + 4, (uint64_t)count * element) ? (struct list){at + 4, count} : (struct list){0, 0};
}

static bool same_text(struct region *in, uint64_t reference, const char *meant)
{
    uint64_t at = follow(in, reference), size = strlen(meant) + 1;
    return inside(in, at, 4 + size) && load_le(in->data + at, 4) == size - 1 &&
           memcmp(in->data + at + 4, meant, size) == 0;
}

/* The walk has come to this place: the pages behind it are given back now and then. */
static void touch(struct read_back *r, struct region *in, uint64_t at)
{
    uint64_t passed = at > in->place ? at - in->place : in->place - at;
    in->place = at;
    r->touched += min_u64(passed, FAULT_AROUND);
    if (r->touched < RESIDENT)
        return;
    file_drop(r->file, 0, r->file->size);
    r->touched = 0;
}

/* ---- the model ---- */

static bool same_encoding(struct region *in, uint64_t at, const struct encoding *e)
{
    struct table t = open_table(in, at);
    return number(in, &t, FXP_BITWIDTH, 4) == e->bitwidth && number(in, &t, FXP_MIN, 4) == float_bits((float)e->min) &&
           number(in, &t, FXP_MAX, 4) == float_bits((float)e->max) &&
           number(in, &t, FXP_SCALE, 4) == float_bits((float)e->scale) &&
           number(in, &t, FXP_OFFSET, 4) == (uint32_t)e->offset && number(in, &t, FXP_SYMMETRIC, 1) == e->symmetric;
}

static bool same_axis_encodings(struct region *in, uint64_t at, const struct quant *meant)
{
    struct table t = open_table(in, at);
    struct list list = open_list(in, &t, AXIS_FXP_ENCODINGS, 4);
    bool same = number(in, &t, AXIS_FXP_AXIS, 4) == meant->axis && list.count == meant->count;
    for (uint32_t i = 0; same && i < list.count; i++)
        same = same_encoding(in, list.at + 4 * (uint64_t)i, &meant->encodings[i]);
    return same;
}

static bool same_quant(struct region *in, uint64_t at, const struct dlc_tensor *meant)
{
    struct table t = open_table(in, at);
    const struct quant *quant = meant->quant;
    if (number(in, &t, QUANT_ENCODING, 4) != meant->encoding ||
        number(in, &t, QUANT_OVERRIDDEN, 1) != (quant && quant->overridden))
        return false;
    if (!quant)
        return !place(in, &t, QUANT_SCALE_OFFSET, 4) && !place(in, &t, QUANT_AXIS, 4);
    return quant->per_axis ? same_axis_encodings(in, reference(in, &t, QUANT_AXIS), quant)
                           : same_encoding(in, reference(in, &t, QUANT_SCALE_OFFSET), quant->encodings);
}

static bool same_dims(struct region *in, struct list dims, const struct shape *shape)
{
    if (dims.count != shape->rank)
        return false;
    for (uint32_t i = 0; i < dims.count; i++)
        if (load_le(in->data + dims.at + 4 * (uint64_t)i, 4) != (uint64_t)shape->dims[i])
            return false;
    return true;
}

static bool same_tensor(struct region *in, uint64_t at, const struct dlc_tensor *meant)
{
    struct table t = open_table(in, at);
    return number(in, &t, TENSOR_ID, 4) == meant->id && same_text(in, reference(in, &t, TENSOR_NAME), meant->name) &&
           number(in, &t, TENSOR_KIND, 4) == meant->kind &&
           same_dims(in, open_list(in, &t, TENSOR_DIMS, 4), meant->shape) &&
           number(in, &t, TENSOR_AXIS_FORMAT, 4) == meant->axis_format &&
           number(in, &t, TENSOR_DTYPE, 4) == meant->dtype_code &&
           number(in, &t, TENSOR_SOURCE_DTYPE, 4) == meant->source_dtype_code &&
           number(in, &t, TENSOR_QUANTIZABLE, 1) == meant->is_quantizable &&
           same_quant(in, reference(in, &t, TENSOR_QUANT), meant);
}

static bool same_scalar(struct region *in, uint64_t at, const struct dlc_attr *meant)
{
    struct table t = open_table(in, at);
    if (number(in, &t, SCALAR_DTYPE, 4) != meant->dtype_code)
        return false;
    if (meant->kind == DLC_STRING)
        return same_text(in, reference(in, &t, SCALAR_STRING), meant->s);
    return meant->kind == DLC_FLOAT ? number(in, &t, SCALAR_FLOAT, 8) == double_bits(meant->f)
                                    : number(in, &t, SCALAR_INT, 8) == (uint64_t)meant->i;
}

static bool same_attr(struct region *in, uint64_t at, const struct dlc_attr *meant)
{
    struct table t = open_table(in, at);
    bool is_tensor = meant->kind == DLC_TENSOR;
    if (!same_text(in, reference(in, &t, ATTR_NAME), meant->name) || number(in, &t, ATTR_KIND, 4) != is_tensor ||
        number(in, &t, ATTR_USAGE, 1) != meant->usage)
        return false;
    return is_tensor ? same_tensor(in, reference(in, &t, ATTR_TENSOR), meant->tensor)
                     : same_scalar(in, reference(in, &t, ATTR_SCALAR), meant);
}

static bool same_names(struct region *in, struct list names, const char *const *meant, uint32_t count)
{
    if (names.count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!same_text(in, names.at + 4 * (uint64_t)i, meant[i]))
            return false;
    return true;
}

static bool same_op(struct region *in, uint64_t at, const struct dlc_op *meant)
{
    struct table t = open_table(in, at);
    struct list attrs = open_list(in, &t, OP_ATTRIBUTES, 4);
    bool same = same_text(in, reference(in, &t, OP_NAME), meant->name) &&
                same_text(in, reference(in, &t, OP_TYPE), meant->type) &&
                same_names(in, open_list(in, &t, OP_INPUTS, 4), meant->inputs, meant->n_inputs) &&
                same_names(in, open_list(in, &t, OP_OUTPUTS, 4), meant->outputs, meant->n_outputs) &&
                attrs.count == meant->n_attrs;
    for (uint32_t i = 0; same && i < attrs.count; i++)
        same = same_attr(in, attrs.at + 4 * (uint64_t)i, &meant->attrs[i]);
    return same && !in->failed;
}

static odlc_status compare_ops(struct read_back *r, struct region *in, struct list list, struct dlc_records *records)
{
    const struct dlc_op *op;
    dlc_records_again(records);
    TRY(dlc_next_op(records, &op));
    while (op) {
        uint64_t at = list.at + 4 * (uint64_t)op->id;
        if (!same_op(in, at, op))
            return differs(r, op->name, "op", op->name);
        touch(r, in, follow(in, at));
        TRY(dlc_next_op(records, &op));
    }
    return ODLC_OK;
}

/* The only graph of a buffer. */
static struct table open_graph(struct region *in, const char *identifier)
{
    in->failed |= !inside(in, 0, 8) || memcmp(in->data + 4, identifier, 4) != 0;
    struct table root = open_table(in, 0);
    struct list graphs = open_list(in, &root, NETWORK_GRAPHS, 4);
    in->failed |= graphs.count != 1;
    return open_table(in, graphs.at);
}

static odlc_status compare_model(struct read_back *r, struct region *in, const struct dlc_model *model)
{
    struct dlc_records *records = model->records;
    struct table graph = open_graph(in, ID_MODEL);
    struct list ops = open_list(in, &graph, GRAPH_OPS, 4), tensors = open_list(in, &graph, GRAPH_TENSORS, 4);
    const char *name = records->g->name;
    if (!same_text(in, reference(in, &graph, GRAPH_NAME), name) ||
        !same_text(in, reference(in, &graph, GRAPH_NAME2), name) || ops.count != records->n_ops ||
        tensors.count != records->n_tensors || in->failed)
        return differs(r, NULL, "graph", name);
    TRY(compare_ops(r, in, ops, records));
    for (uint32_t i = 0; i < tensors.count; i++) {
        struct dlc_tensor meant = dlc_tensor_record(records, records->tensors[i]);
        uint64_t at = tensors.at + 4 * (uint64_t)i;
        if (!same_tensor(in, at, &meant) || in->failed)
            return differs(r, NULL, "tensor", meant.name);
        touch(r, in, follow(in, at));
    }
    return ODLC_OK;
}

/* ---- the params ---- */

struct comparing {
    struct read_back *r;
    struct dlc_params *params;
    struct region head, netp; /* the entry; NETP in it, or the same */
    struct list buffers;      /* NR64 */
    struct dlc_payload_walk walk;
    uint32_t index;
};

/* The buffer's 64-bit offset leads to the length before the payload. */
static bool buffer_leads_to(struct comparing *c, uint64_t pos, uint64_t size)
{
    struct region *in = &c->head;
    struct table buffer = open_table(in, c->buffers.at + 4 * (uint64_t)c->index);
    uint64_t at = place(in, &buffer, BUFFER_OFFSET, 8), length_at = pos - 8;
    return at && at + load_le(in->data + at, 8) == length_at && inside(in, length_at, 8 + size) &&
           load_le(in->data + length_at, 8) == size;
}

static bool is_inline(struct region *in, const struct table *t, uint64_t pos, uint64_t size)
{
    struct list bytes = open_list(in, t, DATA_BYTES, 1);
    return bytes.at == pos && bytes.count == size;
}

static bool same_data(struct comparing *c, uint64_t at, const char *name)
{
    struct region *in = &c->netp;
    struct table t = open_table(in, at);
    uint64_t size, pos;
    if (!dlc_next_place(&c->walk, &size, &pos) || !same_text(in, reference(in, &t, DATA_NAME), name))
        return false;
    bool same = c->params->inline_bytes ? is_inline(in, &t, pos, size)
                                        : number(in, &t, DATA_INDEX, 8) == c->index && buffer_leads_to(c, pos, size);
    touch(c->r, &c->head, pos);
    c->index++;
    return same && !in->failed && !c->head.failed &&
           (size_t)(c->head.data + pos - c->r->file->data) % PAYLOAD_ALIGNMENT == 0;
}

static odlc_status compare_statics(struct comparing *c, struct list list)
{
    const struct dlc_params *p = c->params;
    if (list.count != p->n_statics)
        return differs(c->r, NULL, "entry", "model.params");
    for (uint32_t i = 0; i < list.count; i++) {
        const char *name = graph_tensor(p->records->g, p->statics[i])->name;
        if (!same_data(c, list.at + 4 * (uint64_t)i, name))
            return differs(c->r, NULL, "the data of tensor", name);
    }
    return ODLC_OK;
}

/* The payloads at hand are those of the op's params, if any. */
static bool same_op_params(struct comparing *c, uint64_t at, node_id node)
{
    struct dlc_records *records = c->params->records;
    struct table t = open_table(&c->netp, at);
    struct list list = open_list(&c->netp, &t, OP_PARAMS_TENSORS, 4);
    for (uint32_t i = 0; i < list.count; i++) {
        if (c->index >= c->params->n_payloads)
            return false;
        const struct dlc_param_place *param = &records->params.data[c->index - c->params->n_statics];
        if (param->node != node || !same_data(c, list.at + 4 * (uint64_t)i, dlc_param_name(records, param)))
            return false;
    }
    touch(c->r, &c->netp, t.at);
    return !c->netp.failed;
}

static odlc_status compare_op_params(struct comparing *c, struct list list)
{
    const struct graph *g = c->params->records->g;
    uint64_t at = list.at;
    if (list.count != c->params->records->n_ops)
        return differs(c->r, NULL, "entry", "model.params");
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (!n->op)
            continue;
        if (!same_op_params(c, at, g->order.data[i]))
            return differs(c->r, n->name, "the params of op", n->name);
        at += 4;
    }
    return c->index == c->params->n_payloads ? ODLC_OK : differs(c->r, NULL, "entry", "model.params");
}

/* NETP is the buffer itself, or bytes inside of NR64. */
static void open_netp(struct comparing *c)
{
    struct region *in = &c->head;
    c->netp = *in;
    if (c->params->inline_bytes)
        return;
    in->failed |= !inside(in, 0, 8) || memcmp(in->data + 4, ID_BUFFERS, 4) != 0;
    struct table root = open_table(in, 0);
    struct list bytes = open_list(in, &root, NR64_PARAMS, 1);
    c->buffers = open_list(in, &root, NR64_BUFFERS, 4);
    in->failed |= c->buffers.count != c->params->n_payloads || bytes.count != c->params->netp_size;
    c->netp = (struct region){.data = in->data + bytes.at, .size = bytes.count, .failed = in->failed};
}

static odlc_status compare_params(struct read_back *r, const struct region *in, struct dlc_params *params)
{
    struct comparing c = {.r = r, .params = params, .head = *in, .walk = dlc_payloads(params)};
    open_netp(&c);
    struct table graph = open_graph(&c.netp, ID_PARAMS);
    struct list statics = open_list(&c.netp, &graph, GRAPH_PARAMS_TENSORS, 4);
    struct list ops = open_list(&c.netp, &graph, GRAPH_PARAMS_OPS, 4);
    if (!same_text(&c.netp, reference(&c.netp, &graph, GRAPH_PARAMS_NAME), params->records->g->name) || c.netp.failed)
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
    *out = (struct region){.data = bytes + STREAM_HEADER, .size = entry->size - STREAM_HEADER};
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
