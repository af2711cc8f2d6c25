/* SPDX-License-Identifier: Apache-2.0 */
/* Records → the flatbuffer of the entry `model`. */
#include "dlc/tables.h"
#include "dlc/write_container.h"

static void put_axis_encodings(struct fb_build *b, uint32_t ref, const struct quant *quant)
{
    struct fb_made table = put_v4_axis_encoding(b, ref, quant);
    uint32_t first = fb_put_references(b, fb_slot_ref(b, table, SLOT_v4_axis_encoding_encodings), quant->count);
    for (uint32_t i = 0; i < quant->count; i++)
        put_v4_encoding(b, first + 4 * i, &quant->encodings[i]);
}

struct known_attr {
    struct dlc_attr attr;
    struct fb_kept kept;
};

struct putting {
    struct fb_build b;
    struct known_attr known[KNOWN_SCALARS]; /* by hash, the last two of each */
    struct fb_kept no_encoding;             /* what stands in the place of one: most tensors have none */
};

static void put_no_encoding(struct putting *p, uint32_t ref, const struct dlc_tensor *t)
{
    if (p->no_encoding.size) {
        fb_put_kept(&p->b, ref, &p->no_encoding);
        return;
    }
    const size_t n_vtables = p->b.vtables.count;
    const struct fb_made table = put_v4_quantization(&p->b, ref, t);
    fb_keep(&p->b, &table, 1, n_vtables, &p->no_encoding);
}

static void put_quantization(struct putting *p, uint32_t ref, const struct dlc_tensor *t)
{
    struct fb_build *b = &p->b;
    if (!t->quant) {
        put_no_encoding(p, ref, t);
        return;
    }
    struct fb_made table = put_v4_quantization(b, ref, t);
    if (t->quant->per_axis)
        put_axis_encodings(b, fb_slot_ref(b, table, SLOT_v4_quantization_per_axis), t->quant);
    else
        put_v4_encoding(b, fb_slot_ref(b, table, SLOT_v4_quantization_scale_offset), t->quant->encodings);
}

/* Gives the position of its table, as put_op does. */
static uint32_t put_tensor(struct putting *p, uint32_t ref, const struct dlc_tensor *t)
{
    struct fb_made table = put_v4_tensor(&p->b, ref, t);
    put_quantization(p, fb_slot_ref(&p->b, table, SLOT_v4_tensor_quantization), t);
    return table.at;
}

static bool is_known(const struct known_attr *known, const struct dlc_attr *a)
{
    return known->kept.size && alike_scalars(&known->attr, a);
}

static void put_scalar_attr(struct putting *p, uint32_t ref, const struct dlc_attr *a)
{
    struct fb_build *b = &p->b;
    const unsigned place = place_of_scalar(a);
    struct known_attr *known = &p->known[place], *older = &p->known[place ^ 1];
    if (is_known(known, a) || is_known(older, a)) {
        fb_put_kept(b, ref, is_known(known, a) ? &known->kept : &older->kept);
        return;
    }
    *older = *known;
    size_t n_vtables = b->vtables.count;
    struct fb_made tables[2];
    tables[0] = put_v4_attribute(b, ref, a);
    tables[1] = put_v4_scalar(b, fb_slot_ref(b, tables[0], SLOT_v4_attribute_scalar), a);
    fb_keep(b, tables, COUNT_OF(tables), n_vtables, &known->kept);
    known->attr = *a;
}

static void put_attr(struct putting *p, uint32_t ref, const struct dlc_attr *a)
{
    if (a->kind != DLC_TENSOR) {
        put_scalar_attr(p, ref, a);
        return;
    }
    struct fb_made table = put_v4_attribute(&p->b, ref, a);
    put_tensor(p, fb_slot_ref(&p->b, table, SLOT_v4_attribute_tensor), a->tensor);
}

static uint32_t put_op(struct putting *p, const struct dlc_op *op)
{
    struct fb_build *b = &p->b;
    struct fb_made table = put_v4_op(b, FB_NOWHERE, op);
    uint32_t first = fb_put_references(b, fb_slot_ref(b, table, SLOT_v4_op_attributes), op->n_attrs);
    for (uint32_t i = 0; i < op->n_attrs; i++)
        put_attr(p, first + 4 * i, &op->attrs[i]);
    return table.at;
}

static odlc_status put_ops(struct putting *p, struct dlc_model *m)
{
    const struct dlc_op *op;
    dlc_records_again(m->records);
    TRY(dlc_next_op(m->records, &op));
    while (op) {
        m->ops[op->id] = put_op(p, op);
        fb_settle(&p->b);
        TRY(dlc_next_op(m->records, &op));
    }
    return ODLC_OK;
}

static void put_tensors(struct putting *p, struct dlc_model *m)
{
    const struct dlc_records *r = m->records;
    for (uint32_t i = 0; i < r->n_tensors; i++) {
        struct dlc_tensor record = dlc_tensor_record(r, r->tensors[i]);
        m->tensors[i] = put_tensor(p, FB_NOWHERE, &record);
        fb_settle(&p->b);
    }
}

/* The graph's table and lists lead far ahead: these references are filled in when all has its place. */
static odlc_status put_graph(struct putting *p, uint32_t ref, struct dlc_model *m)
{
    struct fb_build *b = &p->b;
    struct dlc_records *r = m->records;
    struct fb_made table = put_v4_graph(b, ref, r->g);
    const uint32_t to_tensors = fb_slot_ref(b, table, SLOT_v4_graph_tensors);
    const uint32_t to_name = fb_slot_ref(b, table, SLOT_v4_graph_name_again);
    const uint32_t ops = fb_put_open_references(b, fb_slot_ref(b, table, SLOT_v4_graph_ops), r->n_ops);
    TRY(put_ops(p, m));
    if (!m->tensors)
        m->tensors = arena_array(r->w->arena, uint32_t, r->n_tensors);
    const uint32_t tensors = fb_put_open_references(b, FB_NOWHERE, r->n_tensors), list = tensors - 4;
    put_tensors(p, m);
    const uint32_t name = fb_put_string(b, FB_NOWHERE, r->g->name);
    TRY(fb_fill_references(b, to_tensors, &list, 1));
    TRY(fb_fill_references(b, to_name, &name, 1));
    TRY(fb_fill_references(b, ops, m->ops, r->n_ops));
    return fb_fill_references(b, tensors, m->tensors, r->n_tensors);
}

static odlc_status put_network(struct dlc_model *m, fb_sink_fn *sink, fb_fill_fn *fill, void *user)
{
    const struct dlc_writing *w = m->records->w;
    struct putting *p = arena_new(w->arena, struct putting);
    struct fb_build *b = &p->b;
    uint32_t start = fb_start_stream(b, w->arena, sink, user, ID_MODEL);
    b->fill = fill;
    struct fb_made network = put_v4_network(b, start, NULL);
    TRY(put_graph(p, fb_put_references(b, fb_slot_ref(b, network, SLOT_v4_network_graphs), 1), m));
    m->size = fb_size(b);
    if (m->size <= INT32_MAX)
        return ODLC_OK;
    return diag_error(w->diags, ODLC_ERR_LIMIT, AT(.file = w->path), "dlc-write",
                      "the graph itself takes more than 2 GiB");
}

void dlc_model_start(struct dlc_records *records, struct dlc_model *out)
{
    *out = (struct dlc_model){.records = records, .ops = arena_array(records->w->arena, uint32_t, records->n_ops)};
}

odlc_status dlc_measure_model(struct dlc_model *model)
{
    return put_network(model, NULL, NULL, NULL);
}

odlc_status dlc_emit_model(struct dlc_model *model, fb_sink_fn *sink, fb_fill_fn *fill, void *user)
{
    return put_network(model, sink, fill, user);
}
