/* SPDX-License-Identifier: Apache-2.0 */
/* Encodings from outside: those that the container carries, and those of a file, which come first. */
#include <math.h>

#include "encoding/encoding_file.h"
#include "ir/tensor_name.h"
#include "op/channels.h"
#include "op/op.h"
#include "quantize/quantizer.h"

/* ---- the container's ---- */

static bool is_sound(const struct quant *quant)
{
    for (uint32_t i = 0; i < quant->count; i++) {
        const struct encoding *e = &quant->encodings[i];
        if (!(e->scale > 0) || !isfinite(e->scale) || e->bitwidth != quant->encodings[0].bitwidth)
            return false;
    }
    return quant->count > 0 && quant_type(quant) != DT_NONE;
}

static void give(struct quant_item *item, const struct quant *quant)
{
    item->quant = quant;
    item->given = true;
    item->bits = (uint8_t)quant->encodings[0].bitwidth;
    item->axis = quant->per_axis ? quant->axis : NO_AXIS;
}

static odlc_status take_carried(struct quantizer *q, tensor_id id)
{
    struct tensor *t = graph_tensor(q->g, id);
    const struct quant *quant = t->quant;
    if (dtype_is_fixed(t->type->dtype))
        return ODLC_OK;
    t->quant = NULL;
    if (!quant || q->options->ignore_encodings || q->items[id].role == ROLE_NONE)
        return ODLC_OK;
    if (!is_sound(quant))
        return diag_error(q->diags, ODLC_ERR_UNSUPPORTED,
                          AT(.file = q->path, .hint = "--ignore_encodings leaves out what the container carries"),
                          "quantize-encoding", "the encoding that tensor %s carries is not one of fixed-point integers",
                          t->name);
    if (quant->per_axis && t->kind != TENSOR_STATIC)
        return diag_error(q->diags, ODLC_ERR_UNSUPPORTED, AT(.file = q->path), "quantize-encoding",
                          "tensor %s carries an encoding per channel, and is computed: it can have one", t->name);
    give(&q->items[id], quant);
    return ODLC_OK;
}

/* ---- the file's ---- */

struct file_reading {
    struct quantizer *q;
    struct encoding_file *file;
};

static odlc_status wrong(const struct file_reading *r, const struct encoding_entry *e, odlc_status status,
                         const char *hint, const char *message)
{
    (void)json_error(r->file->json, e->place, hint, "override", "tensor %s %s", e->name, message);
    return status;
}

static const char *nearest_tensor(const struct quantizer *q, const char *name)
{
    const char **names = arena_array(q->arena, const char *, q->g->tensors.count);
    for (tensor_id id = 0; id < q->g->tensors.count; id++)
        names[id] = graph_tensor(q->g, id)->name;
    const char *nearest = nearest_word(name, names, q->g->tensors.count);
    return nearest ? arena_printf(q->arena, "did you mean %s?", nearest) : NULL;
}

/* Of channels: the axis of the layer's channels, else the file's, else the only one of that size. */
static bool find_axis(const struct quantizer *q, const struct encoding_entry *e, tensor_id id, uint32_t *axis)
{
    const struct shape *shape = &graph_tensor(q->g, id)->type->shape;
    if (find_channel_axis(q->g, &q->uses, id, e->count, axis))
        return true;
    const int64_t said = e->axis == ENCODING_NO_AXIS ? -1 : e->axis < 0 ? e->axis + (int64_t)shape->rank : e->axis;
    *axis = (uint32_t)said;
    return said >= 0 && said < shape->rank && shape->dims[said] == e->count;
}

static odlc_status give_entry(const struct file_reading *r, const struct encoding_entry *e, tensor_id id)
{
    struct quantizer *q = r->q;
    struct quant_item *item = &q->items[id];
    uint32_t axis = 0;
    if (e->per_channel && graph_tensor(q->g, id)->kind != TENSOR_STATIC)
        return wrong(r, e, ODLC_ERR_UNSUPPORTED, NULL, "is computed: it can have one encoding, not several");
    if (e->zero_range && graph_tensor(q->g, id)->kind != TENSOR_STATIC)
        return wrong(r, e, ODLC_ERR_INVALID, "leave the entry out, or min and max: the range is observed then",
                     "has the range of zero alone: all that is computed would become zero");
    if (e->per_channel && !find_axis(q, e, id, &axis))
        return wrong(r, e, ODLC_ERR_INVALID, NULL, "has no axis, or more than one, that these encodings may be of");
    struct quant *quant = arena_new(q->arena, struct quant);
    *quant = (struct quant){
        .per_axis = e->per_channel, .axis = axis, .count = e->count, .encodings = e->encodings, .overridden = true};
    if (!is_sound(quant))
        return wrong(r, e, ODLC_ERR_UNSUPPORTED, NULL, "has an encoding that fixed-point tensors do not have");
    give(item, quant);
    return ODLC_OK;
}

/* A parameter of a layer is to be of integers, and another one of the same layer a float: that one's name. */
static const char *float_beside(const struct quantizer *q, tensor_id id)
{
    for (uint32_t r = q->uses.first[id]; r < q->uses.first[id + 1]; r++) {
        const struct node *n = graph_node(q->g, q->uses.nodes[r]);
        for (uint32_t i = 0; n->op->weights && i < n->n_inputs; i++)
            if (n->inputs[i] != NO_TENSOR && q->items[n->inputs[i]].float_bits &&
                graph_tensor(q->g, n->inputs[i])->kind == TENSOR_STATIC)
                return graph_tensor(q->g, n->inputs[i])->name;
    }
    return NULL;
}

static odlc_status take_entry(const struct file_reading *r, const struct encoding_entry *e)
{
    struct quantizer *q = r->q;
    const tensor_id id = graph_find_named(q->scratch, q->g, e->name);
    if (id == NO_TENSOR)
        return wrong(r, e, ODLC_ERR_INVALID, nearest_tensor(q, e->name), "is not in the container");
    if (q->items[id].role == ROLE_NONE)
        return wrong(r, e, ODLC_ERR_INVALID, NULL, "is none of floats that an op reads or gives");
    if (e->kind == ENCODING_FLOAT)
        return ODLC_OK; /* quant_floats.c */
    const char *other = graph_tensor(q->g, id)->kind == TENSOR_STATIC ? float_beside(q, id) : NULL;
    if (other)
        return wrong(r, e, ODLC_ERR_INVALID, "the parameters of a layer are all floats, or all integers",
                     arena_printf(q->arena, "is to be of integers, and %s, of the same layer, a float", other));
    if (e->kind == ENCODING_INTEGERS)
        return give_entry(r, e, id);
    if (e->bits == 32)
        q->items[id].whole = true;
    if (e->bits == 32 && graph_tensor(q->g, id)->kind != TENSOR_STATIC)
        return ODLC_OK; /* quant_widths.c */
    q->items[id].bits = (uint8_t)e->bits;
    q->items[id].sized = true;
    return ODLC_OK;
}

odlc_status quant_read_file(struct quantizer *q)
{
    return q->options->overrides ? encoding_file_read(q->arena, q->diags, q->options->overrides, &q->file) : ODLC_OK;
}

/* What is computed has no 32 bits but in ops of Int_32. */
static odlc_status check_whole(const struct file_reading *r)
{
    const struct quantizer *q = r->q;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < r->file->entries.count; i++) {
        const struct encoding_entry *e = &r->file->entries.data[i];
        const tensor_id id = graph_find_named(q->scratch, q->g, e->name);
        if (id == NO_TENSOR || !q->items[id].whole || graph_tensor(q->g, id)->kind == TENSOR_STATIC ||
            quant_meets_whole(q, id))
            continue;
        status = wrong(r, e, ODLC_ERR_UNSUPPORTED,
                       "an op computes in Int_32 if all that it reads and gives has an entry of 32 bits; none with "
                       "weights does",
                       "is to be of 32 bits without a range, and no op that reads or gives it computes in Int_32");
    }
    return status;
}

static odlc_status take_file(struct quantizer *q)
{
    struct file_reading r = {.q = q, .file = q->file};
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < r.file->entries.count; i++) {
        const odlc_status taken = take_entry(&r, &r.file->entries.data[i]);
        if (status == ODLC_OK)
            status = taken;
    }
    if (status != ODLC_OK)
        return status;
    quant_choose_whole(q);
    return check_whole(&r);
}

odlc_status quant_take_given(struct quantizer *q)
{
    for (tensor_id id = 0; id < q->g->tensors.count; id++)
        TRY(take_carried(q, id));
    return q->file ? take_file(q) : ODLC_OK;
}
