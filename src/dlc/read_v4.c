/* SPDX-License-Identifier: Apache-2.0 */
/* Version 4 containers: model (NETD) and params (NR64, or NETP with inline bytes or positions in model.params.bin) to
 * records. */
#include "dlc/read.h"

#include <string.h>

#include "dlc/tables.h"
#include "dlc/zip.h"

enum { ENCODING_SCALE_OFFSET, ENCODING_AXIS };

/* ---- model ---- */

static odlc_status read_axis_quant(const struct dlc_reading *r, const struct dlc_tensor *tensor, struct fb_table t,
                                   struct quant *quant)
{
    struct fb_vector list = v4_axis_encoding_encodings(t);
    int32_t axis = v4_axis_encoding_axis(t);
    if (axis < 0 || (uint32_t)axis >= tensor->shape->rank || tensor->shape->dims[axis] != list.count)
        return dlc_invalid(r, NULL, "tensor %s has per-axis encodings that do not match its dimensions", tensor->name);
    struct encoding *encodings = arena_array(r->arena, struct encoding, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        take_v4_encoding(fb_table_at(list, i), &encodings[i]);
    quant->per_axis = true;
    quant->axis = (uint32_t)axis;
    quant->count = list.count;
    quant->encodings = encodings;
    return ODLC_OK;
}

/* Encodings other than scale and offset, alone or per axis, stay unread: their code is kept for whoever needs the
 * values. */
static odlc_status read_quant(const struct dlc_reading *r, struct fb_table t, struct dlc_tensor *tensor)
{
    struct fb_table scale_offset = v4_quantization_scale_offset(t);
    tensor->encoding = t.pos ? v4_quantization_encoding(t) : NO_ENCODING;
    bool single = tensor->encoding == ENCODING_SCALE_OFFSET && scale_offset.pos;
    if (!single && tensor->encoding != ENCODING_AXIS)
        return ODLC_OK;
    struct quant *quant = arena_new(r->arena, struct quant);
    quant->overridden = v4_quantization_is_overridden(t);
    if (single) {
        struct encoding *encoding = arena_new(r->arena, struct encoding);
        take_v4_encoding(scale_offset, encoding);
        quant->count = 1;
        quant->encodings = encoding;
    } else {
        TRY(read_axis_quant(r, tensor, v4_quantization_per_axis(t), quant));
    }
    tensor->quant = quant;
    return ODLC_OK;
}

static odlc_status read_tensor(const struct dlc_reading *r, struct fb_table t, struct dlc_tensor *out)
{
    uint32_t kind = v4_tensor_kind(t);
    struct dlc_tensor tensor = {.name = NULL};
    take_v4_tensor(t, &tensor);
    if (!tensor.name || !*tensor.name)
        return dlc_invalid(r, NULL, "a tensor has no name");
    if (kind > KIND_NULL)
        return dlc_invalid(r, NULL, "tensor %s is of the unknown kind %u", tensor.name, kind);
    tensor.kind = (uint8_t)kind;
    tensor.dtype = (uint8_t)dtype_from_dlc(tensor.dtype_code);
    tensor.source_dtype = (uint8_t)dtype_from_dlc(tensor.source_dtype_code);
    TRY(dlc_read_shape(r, tensor.name, v4_tensor_dims(t), &tensor.shape));
    TRY(read_quant(r, v4_tensor_quantization(t), &tensor));
    *out = tensor;
    return ODLC_OK;
}

static enum dlc_value_kind scalar_kind(enum dtype dtype)
{
    switch (dtype_info(dtype)->cls) {
    case CLASS_BOOL:
        return DLC_BOOL;
    case CLASS_UINT:
    case CLASS_UFXP:
        return DLC_UINT;
    case CLASS_FLOAT:
        return DLC_FLOAT;
    case CLASS_STRING:
        return DLC_STRING;
    default:
        return DLC_INT;
    }
}

static void read_scalar(struct fb_table t, struct dlc_attr *attr)
{
    take_v4_scalar(t, attr);
    enum dtype dtype = attr->dtype_code == STRING_DTYPE ? DT_STRING : dtype_from_dlc(attr->dtype_code);
    attr->dtype = (uint8_t)dtype;
    attr->kind = (uint8_t)scalar_kind(dtype);
    if (attr->kind == DLC_STRING)
        attr->s = dlc_text(v4_scalar_string_value(t));
    else if (attr->kind == DLC_FLOAT)
        attr->f = v4_scalar_float_value(t);
    else if (attr->kind == DLC_BOOL)
        attr->i = v4_scalar_int_value(t) != 0;
    else
        attr->i = v4_scalar_int_value(t);
}

static odlc_status read_attr(const struct dlc_reading *r, const char *op, struct fb_table t, struct dlc_attr *attr)
{
    uint32_t kind = v4_attribute_kind(t);
    struct fb_table scalar = v4_attribute_scalar(t), of_tensor = v4_attribute_tensor(t);
    take_v4_attribute(t, attr);
    if (!attr->name || !*attr->name)
        return dlc_invalid(r, op, "an attribute has no name");
    if (kind == 0 && scalar.pos) {
        read_scalar(scalar, attr);
        return ODLC_OK;
    }
    if (kind != 1 || !of_tensor.pos)
        return dlc_invalid(r, op, "attribute %s is neither a scalar nor a tensor", attr->name);
    struct dlc_tensor *tensor = arena_new(r->arena, struct dlc_tensor);
    TRY(read_tensor(r, of_tensor, tensor));
    attr->kind = DLC_TENSOR;
    attr->tensor = tensor;
    attr->dtype = tensor->dtype;
    attr->dtype_code = tensor->dtype_code;
    return ODLC_OK;
}

enum { FEW_NAMES = 16 }; /* are compared with each other; more are put into a map */

/* The index of a name that stands before it, too; count when there is none. */
static uint32_t repeated_name(struct arena *arena, const char *const *names, uint32_t count)
{
    uint32_t i = 0;
    if (count <= FEW_NAMES) {
        for (; i < count; i++)
            for (uint32_t k = 0; k < i; k++)
                if (strcmp(names[k], names[i]) == 0)
                    return i;
        return i;
    }
    struct map found;
    map_init(&found, arena);
    while (i < count && map_add(&found, names[i], i) == MAP_NONE)
        i++;
    return i;
}

/* Attributes are found by their names, and the data of those that are tensors by the tensors' names. */
static odlc_status check_names(const struct dlc_reading *r, const struct dlc_op *op)
{
    struct arena_mark mark = arena_mark(r->arena);
    const char **names = arena_array(r->arena, const char *, op->n_attrs);
    const char **tensors = arena_array(r->arena, const char *, op->n_attrs);
    uint32_t n_tensors = 0;
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        names[i] = op->attrs[i].name;
        if (op->attrs[i].kind == DLC_TENSOR)
            tensors[n_tensors++] = op->attrs[i].tensor->name;
    }
    uint32_t repeated = repeated_name(r->arena, names, op->n_attrs);
    uint32_t repeated_tensor = repeated_name(r->arena, tensors, n_tensors);
    const char *tensor = repeated_tensor < n_tensors ? tensors[repeated_tensor] : NULL;
    arena_rewind(r->arena, mark);
    if (repeated < op->n_attrs)
        return dlc_invalid(r, op->name, "two attributes are named %s", op->attrs[repeated].name);
    return tensor ? dlc_invalid(r, op->name, "the tensors of two attributes are named %s", tensor) : ODLC_OK;
}

static odlc_status read_op(const struct dlc_reading *r, struct fb_table t, struct dlc_op *op)
{
    struct fb_vector list = v4_op_attributes(t), in = v4_op_inputs(t), out = v4_op_outputs(t);
    op->name = dlc_text(v4_op_name(t));
    op->type = dlc_text(v4_op_type(t));
    if (!*op->type)
        return dlc_invalid(r, op->name, "an op has no type");
    op->inputs = dlc_read_strings(r->arena, in);
    op->outputs = dlc_read_strings(r->arena, out);
    op->n_inputs = in.count;
    op->n_outputs = out.count;
    struct dlc_attr *attrs = arena_array(r->arena, struct dlc_attr, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        TRY(read_attr(r, op->name, fb_table_at(list, i), &attrs[i]));
    op->attrs = attrs;
    op->n_attrs = list.count;
    return check_names(r, op);
}

/* A graph under construction: the arrays behind the const ones of its record. */
struct reading_graph {
    struct dlc_graph *graph;
    struct dlc_tensor *tensors;
};

static odlc_status read_graph(const struct dlc_reading *r, struct fb_table t, struct reading_graph *out)
{
    struct dlc_graph *g = out->graph;
    struct fb_vector ops = v4_graph_ops(t), tensors = v4_graph_tensors(t);
    g->name = dlc_text(v4_graph_name(t));
    struct dlc_op *op_list = arena_array(r->arena, struct dlc_op, ops.count);
    out->tensors = arena_array(r->arena, struct dlc_tensor, tensors.count);
    map_init(&g->tensor_index, r->arena);
    for (uint32_t i = 0; i < tensors.count; i++) {
        TRY(read_tensor(r, fb_table_at(tensors, i), &out->tensors[i]));
        if (map_add(&g->tensor_index, out->tensors[i].name, i) != MAP_NONE)
            return dlc_invalid(r, NULL, "two tensors are named %s", out->tensors[i].name);
    }
    for (uint32_t i = 0; i < ops.count; i++) {
        op_list[i].id = i;
        TRY(read_op(r, fb_table_at(ops, i), &op_list[i]));
    }
    g->ops = op_list;
    g->n_ops = ops.count;
    g->tensors = out->tensors;
    g->n_tensors = tensors.count;
    return ODLC_OK;
}

/* ---- params ---- */

/* A part of the file that was read last. */
struct window {
    uint64_t start, size; /* in the file */
    uint8_t bytes[1024];
};

struct params {
    struct dlc_reading *r;
    struct dlc_stream netp;   /* the params stream, or what NR64 carries */
    struct fb_vector buffers; /* NR64 */
    struct window *window;
    bool has_bin;
    struct dlc_bytes bin; /* model.params.bin */
    uint64_t taken_in;    /* bytes of payloads whose elements come into memory: of strings and of attributes */
    uint32_t strays;      /* data that no tensor asks for */
};

enum { FREE_TAKEN_IN = 1 << 20 };

/* Data can be shared. Weights stay where they are, but what is taken in stays in proportion to the file. */
static odlc_status count_taken_in(struct params *p, const struct dlc_tensor *tensor, uint64_t size)
{
    p->taken_in = sat_add(p->taken_in, size);
    if (p->taken_in <= p->r->model.buffer.size + p->r->payload.size + FREE_TAKEN_IN)
        return ODLC_OK;
    return diag_error(p->r->diags, ODLC_ERR_LIMIT, AT(.file = p->r->file->path, .attribute = tensor->name),
                      "dlc-shared-data",
                      "strings and attributes share data so often that they would take far more memory than the file");
}

/* The length that stands before a payload, at `pos` of the stream. The payloads' pages are not touched for it. */
static odlc_status payload_length(const struct params *p, uint64_t pos, uint64_t *length)
{
    const struct dlc_stream *stream = &p->r->params;
    const struct file *file = p->r->payload.file;
    struct window *w = p->window;
    uint64_t at = stream->offset + pos;
    if (!file) {
        *length = load_le(stream->buffer.data + pos, 8);
        return ODLC_OK;
    }
    if (at < w->start || at + 8 > w->start + w->size) {
        w->start = at;
        w->size = 0;
        uint64_t size = min_u64(sizeof w->bytes, stream->buffer.size - pos);
        TRY(file_read(file, p->r->diags, at, w->bytes, size));
        w->size = size;
    }
    *length = load_le(w->bytes + (at - w->start), 8);
    return ODLC_OK;
}

static odlc_status buffer_bytes(const struct params *p, const char *name, uint64_t index, struct dlc_bytes *bytes)
{
    const struct dlc_stream *stream = &p->r->params;
    if (index >= p->buffers.count)
        return dlc_invalid(p->r, NULL, "tensor %s refers to buffer %llu of %u", name, (unsigned long long)index,
                           p->buffers.count);
    uint64_t start = v4_buffer_offset(fb_table_at(p->buffers, (uint32_t)index)), length;
    if (!start || stream->buffer.size - start < 8)
        return dlc_invalid(p->r, NULL, "the data of tensor %s lie outside model.params", name);
    TRY(payload_length(p, start, &length));
    if (length > stream->buffer.size - start - 8)
        return dlc_invalid(p->r, NULL, "the data of tensor %s lie outside model.params", name);
    *bytes = dlc_part(&stream->whole, start + 8, length);
    return ODLC_OK;
}

static odlc_status bin_bytes(const struct params *p, const char *name, struct fb_table position,
                             struct dlc_bytes *bytes)
{
    uint64_t offset = v4_position_offset(position), length = v4_position_size(position);
    if (!p->has_bin || offset > p->bin.size || length > p->bin.size - offset)
        return dlc_invalid(p->r, NULL, "the data of tensor %s lie outside model.params.bin", name);
    *bytes = dlc_part(&p->bin, offset, length);
    return ODLC_OK;
}

/* Exactly one storage is used: a position (whose index field has no meaning), inline bytes, or a buffer's index. */
static odlc_status attach_data(struct params *p, struct fb_table t, struct dlc_tensor *tensor, bool of_attribute)
{
    struct dlc_bytes bytes;
    struct fb_table position = v4_data_position(t);
    struct fb_vector inline_bytes = v4_data_bytes(t);
    if (position.pos) {
        TRY(bin_bytes(p, tensor->name, position, &bytes));
    } else if (inline_bytes.pos) {
        bytes = dlc_payload(p->r, inline_bytes, inline_bytes.count);
    } else {
        TRY(buffer_bytes(p, tensor->name, v4_data_buffer_index(t), &bytes));
    }
    if (of_attribute || tensor->dtype == DT_STRING)
        TRY(count_taken_in(p, tensor, bytes.size));
    if (of_attribute)
        TRY(dlc_take_in(p->r, &bytes));
    return dlc_attach(p->r, tensor, &bytes);
}

/* Data that no tensor asks for do no harm, but someone meant something by them. */
static void warn_stray(struct params *p, const char *op, const char *name)
{
    enum { MOST = 20 }; /* files have thousands of ops */
    p->strays++;
    if (p->strays < MOST)
        diag_warn(p->r->diags, AT(.file = p->r->file->path, .node = op), "dlc-stray-data",
                  "model.params has data for the unknown tensor %s, which are not used", name);
    else if (p->strays == MOST)
        diag_warn(p->r->diags, AT(.file = p->r->file->path), "dlc-stray-data",
                  "model.params has data for more unknown tensors, which are not used");
}

/* The tensors of attributes are const for whoever reads the records; here they are still being made. NULL: the op has
 * none of that name. `index` leads from the names to the attributes where there are more than a few. */
static struct dlc_tensor *attr_tensor(const struct dlc_op *op, const struct map *index, const char *name)
{
    uint32_t i = 0;
    if (op->n_attrs > FEW_NAMES)
        i = map_get(index, name);
    else
        while (i < op->n_attrs && (op->attrs[i].kind != DLC_TENSOR || strcmp(op->attrs[i].tensor->name, name) != 0))
            i++;
    return i < op->n_attrs ? (struct dlc_tensor *)op->attrs[i].tensor : NULL;
}

/* Converters write an op's data in the order of its attributes, the vendor's quantizer sorted by the tensors' names:
 * the name alone says whose data they are. What is left without data is seen by dlc_verify_graphs. */
static odlc_status attach_op_params(struct params *p, struct fb_table t, const struct dlc_op *op)
{
    struct fb_vector list = v4_op_params_tensors(t);
    struct map index;
    map_init(&index, p->r->arena);
    for (uint32_t i = 0; i < op->n_attrs && op->n_attrs > FEW_NAMES; i++)
        if (op->attrs[i].kind == DLC_TENSOR)
            map_put(&index, op->attrs[i].tensor->name, i);
    for (uint32_t i = 0; i < list.count; i++) {
        struct fb_table entry = fb_table_at(list, i);
        const char *name = dlc_text(v4_data_name(entry));
        struct dlc_tensor *tensor = attr_tensor(op, &index, name);
        if (tensor)
            TRY(attach_data(p, entry, tensor, true));
        else
            warn_stray(p, op->name, name);
    }
    return ODLC_OK;
}

static odlc_status attach_graph(struct params *p, struct fb_table t, const struct reading_graph *to)
{
    const struct dlc_graph *g = to->graph;
    const char *name = dlc_text(v4_graph_params_name(t));
    struct fb_vector tensors = v4_graph_params_tensors(t), ops = v4_graph_params_ops(t);
    if (strcmp(name, g->name) != 0)
        return dlc_invalid(p->r, NULL, "model has graph %s where model.params has %s", g->name, name);
    for (uint32_t i = 0; i < tensors.count; i++) {
        struct fb_table entry = fb_table_at(tensors, i);
        const char *tensor = dlc_text(v4_data_name(entry));
        uint32_t index = map_get(&g->tensor_index, tensor);
        if (index == MAP_NONE)
            warn_stray(p, NULL, tensor);
        else
            TRY(attach_data(p, entry, &to->tensors[index], false));
    }
    if (ops.count != g->n_ops)
        return dlc_invalid(p->r, NULL, "model has %u ops where model.params has %u", g->n_ops, ops.count);
    for (uint32_t i = 0; i < ops.count; i++)
        TRY(attach_op_params(p, fb_table_at(ops, i), &g->ops[i]));
    return ODLC_OK;
}

static odlc_status open_bin(struct dlc_reading *r, struct params *p)
{
    const struct dlc_entry *entry = zip_find(r->dlc->entries, r->dlc->n_entries, "model.params.bin");
    if (!entry)
        return ODLC_OK;
    TRY(dlc_entry_bytes(r, entry, &p->bin));
    p->has_bin = true;
    r->payload = p->bin;
    r->dlc->params_format = "bin";
    return ODLC_OK;
}

/* The root of the NETP buffer, which NR64 carries as a byte vector behind its own. */
static odlc_status open_params(struct dlc_reading *r, struct params *p, struct fb_table *root)
{
    struct dlc_stream *netp = &p->netp;
    *netp = r->params;
    if (strcmp(r->params.identifier, ID_BUFFERS) == 0) {
        TRY(dlc_verify_buffer(r, &r->params, &v4_buffers));
        struct fb_table outer = fb_root(&r->params.buffer);
        struct fb_vector inner = v4_buffers_params(outer);
        p->buffers = v4_buffers_buffers(outer);
        if (inner.count < 8)
            return dlc_invalid(r, NULL, "model.params has buffers but no list of tensors");
        netp->buffer = (struct fb_buffer){.data = fb_bytes(inner), .size = inner.count};
        netp->start += inner.pos;
        netp->offset += inner.pos;
        TRY(dlc_read_identifier(r, netp));
        r->dlc->params_format = ID_BUFFERS;
    } else {
        r->dlc->params_format = ID_PARAMS;
        TRY(open_bin(r, p));
    }
    if (strcmp(netp->identifier, ID_PARAMS) != 0)
        return dlc_invalid(r, NULL, "entry model.params is identified neither as " ID_BUFFERS " nor as " ID_PARAMS);
    TRY(dlc_verify_buffer(r, netp, &v4_params));
    *root = fb_root(&netp->buffer);
    return ODLC_OK;
}

static odlc_status read_params(struct dlc_reading *r, const struct reading_graph *graphs, uint32_t count)
{
    struct params p = {.r = r, .window = arena_new(r->arena, struct window)};
    struct fb_table root;
    TRY(open_params(r, &p, &root));
    struct fb_vector list = v4_params_graphs(root);
    if (list.count != count)
        return dlc_invalid(r, NULL, "model has %u graphs where model.params has %u", count, list.count);
    for (uint32_t i = 0; i < count; i++)
        TRY(attach_graph(&p, fb_table_at(list, i), &graphs[i]));
    return ODLC_OK;
}

odlc_status dlc_read_v4(struct dlc_reading *r)
{
    TRY(dlc_verify_buffer(r, &r->model, &v4_network));
    struct fb_vector list = v4_network_graphs(fb_root(&r->model.buffer));
    struct dlc_graph *graphs = arena_array(r->arena, struct dlc_graph, list.count);
    struct reading_graph *reading = arena_array(r->arena, struct reading_graph, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        reading[i].graph = &graphs[i];
        TRY(read_graph(r, fb_table_at(list, i), &reading[i]));
    }
    if (r->params.name)
        TRY(read_params(r, reading, list.count));
    r->dlc->graphs = graphs;
    r->dlc->n_graphs = list.count;
    return ODLC_OK;
}
