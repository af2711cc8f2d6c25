/* Records → the flatbuffer of the entry `model`. */
#include <string.h>

#include "dlc/schema.h"
#include "dlc/write.h"

static void put_fxp(struct fb_build *b, uint32_t ref, const struct encoding *e)
{
    struct fb_slot slots[6];
    unsigned n = 0;
    slots[n++] = FB_U32(FXP_BITWIDTH, e->bitwidth);
    slots[n++] = FB_U32(FXP_MIN, float_bits((float)e->min));
    slots[n++] = FB_U32(FXP_MAX, float_bits((float)e->max));
    slots[n++] = FB_U32(FXP_SCALE, float_bits((float)e->scale));
    slots[n++] = FB_U32(FXP_OFFSET, e->offset);
    if (e->symmetric)
        slots[n++] = FB_U8(FXP_SYMMETRIC, 1);
    fb_put_table(b, ref, slots, n);
}

static void put_axis_fxp(struct fb_build *b, uint32_t ref, const struct quant *quant)
{
    const struct fb_slot slots[] = {FB_U32(AXIS_FXP_AXIS, quant->axis), FB_REF(AXIS_FXP_ENCODINGS)};
    struct fb_made table = fb_put_table(b, ref, slots, COUNT_OF(slots));
    uint32_t first = fb_put_references(b, fb_slot_ref(b, table, AXIS_FXP_ENCODINGS), quant->count);
    for (uint32_t i = 0; i < quant->count; i++)
        put_fxp(b, first + 4 * i, &quant->encodings[i]);
}

/* The table is always there, because a reader takes an absent encoding for scale and offset. */
static void put_quant(struct fb_build *b, uint32_t ref, const struct dlc_tensor *t)
{
    struct fb_slot slots[3];
    unsigned n = 0, content = 0;
    if (t->encoding)
        slots[n++] = FB_U32(QUANT_ENCODING, t->encoding);
    if (t->quant && t->quant->overridden)
        slots[n++] = FB_U8(QUANT_OVERRIDDEN, 1);
    if (t->quant) {
        content = t->quant->per_axis ? QUANT_AXIS : QUANT_SCALE_OFFSET;
        slots[n++] = FB_REF(content);
    }
    struct fb_made table = fb_put_table(b, ref, slots, n);
    if (content == QUANT_AXIS)
        put_axis_fxp(b, fb_slot_ref(b, table, content), t->quant);
    else if (content)
        put_fxp(b, fb_slot_ref(b, table, content), &t->quant->encodings[0]);
}

static void put_dims(struct fb_build *b, uint32_t ref, const struct shape *shape)
{
    uint32_t dims[MAX_RANK];
    for (uint32_t i = 0; i < shape->rank; i++)
        dims[i] = (uint32_t)shape->dims[i];
    fb_put_words(b, ref, dims, shape->rank);
}

/* Gives the position of its table, as put_op does. */
static uint32_t put_tensor(struct fb_build *b, uint32_t ref, const struct dlc_tensor *t)
{
    struct fb_slot slots[9];
    unsigned n = 0;
    slots[n++] = FB_U32(TENSOR_ID, t->id);
    slots[n++] = FB_REF(TENSOR_NAME);
    if (t->kind)
        slots[n++] = FB_U32(TENSOR_KIND, t->kind);
    slots[n++] = FB_REF(TENSOR_DIMS);
    slots[n++] = FB_U32(TENSOR_AXIS_FORMAT, t->axis_format);
    slots[n++] = FB_REF(TENSOR_QUANT);
    slots[n++] = FB_U32(TENSOR_DTYPE, t->dtype_code);
    slots[n++] = FB_U32(TENSOR_SOURCE_DTYPE, t->source_dtype_code);
    if (t->is_quantizable)
        slots[n++] = FB_U8(TENSOR_QUANTIZABLE, 1);
    struct fb_made table = fb_put_table(b, ref, slots, n);
    fb_put_string(b, fb_slot_ref(b, table, TENSOR_NAME), t->name);
    put_dims(b, fb_slot_ref(b, table, TENSOR_DIMS), t->shape);
    put_quant(b, fb_slot_ref(b, table, TENSOR_QUANT), t);
    return table.at;
}

static struct fb_made put_scalar(struct fb_build *b, uint32_t ref, const struct dlc_attr *a)
{
    struct fb_slot slots[2];
    unsigned n = 0;
    slots[n++] = FB_U32(SCALAR_DTYPE, a->dtype_code);
    if (a->kind == DLC_STRING)
        slots[n++] = FB_REF(SCALAR_STRING);
    else if (a->kind == DLC_FLOAT && double_bits(a->f))
        slots[n++] = FB_U64(SCALAR_FLOAT, double_bits(a->f));
    else if (a->kind != DLC_FLOAT && a->i)
        slots[n++] = FB_U64(SCALAR_INT, a->i);
    struct fb_made table = fb_put_table(b, ref, slots, n);
    if (a->kind == DLC_STRING)
        fb_put_string(b, fb_slot_ref(b, table, SCALAR_STRING), a->s);
    return table;
}

static struct fb_made put_attr_table(struct fb_build *b, uint32_t ref, const struct dlc_attr *a)
{
    struct fb_slot slots[4];
    unsigned n = 0;
    slots[n++] = FB_REF(ATTR_NAME);
    if (a->kind == DLC_TENSOR)
        slots[n++] = FB_U32(ATTR_KIND, 1);
    slots[n++] = FB_U8(ATTR_USAGE, a->usage);
    slots[n++] = a->kind == DLC_TENSOR ? FB_REF(ATTR_TENSOR) : FB_REF(ATTR_SCALAR);
    struct fb_made table = fb_put_table(b, ref, slots, n);
    fb_put_string(b, fb_slot_ref(b, table, ATTR_NAME), a->name);
    return table;
}

/* Most ops say what an op before them said: their package, their selector, the same scalars. Text is compared by its
 * address alone: rows share theirs, and what is not recognized is only put as if it were new. */
struct known_attr {
    struct dlc_attr attr;
    struct fb_kept kept;
};

enum { KNOWN_ATTRS = 64 };

struct putting {
    struct fb_build b;
    struct known_attr known[KNOWN_ATTRS]; /* by hash, the last two of each */
};

static bool is_known(const struct known_attr *known, const struct dlc_attr *a)
{
    const struct dlc_attr *k = &known->attr;
    return known->kept.size && k->name == a->name && k->i == a->i && k->dtype_code == a->dtype_code &&
           k->kind == a->kind && k->usage == a->usage;
}

static void put_scalar_attr(struct putting *p, uint32_t ref, const struct dlc_attr *a)
{
    struct fb_build *b = &p->b;
    uint64_t hash = ((uint64_t)(uintptr_t)a->name ^ (uint64_t)a->i * 31 ^ a->dtype_code) * 0x9E3779B97F4A7C15u;
    struct known_attr *known = &p->known[hash >> 58], *older = &p->known[hash >> 58 ^ 1];
    if (is_known(known, a) || is_known(older, a)) {
        fb_put_kept(b, ref, is_known(known, a) ? &known->kept : &older->kept);
        return;
    }
    *older = *known;
    size_t n_vtables = b->vtables.count;
    struct fb_made tables[2];
    tables[0] = put_attr_table(b, ref, a);
    tables[1] = put_scalar(b, fb_slot_ref(b, tables[0], ATTR_SCALAR), a);
    fb_keep(b, tables, COUNT_OF(tables), n_vtables, &known->kept);
    known->attr = *a;
}

static void put_attr(struct putting *p, uint32_t ref, const struct dlc_attr *a)
{
    if (a->kind != DLC_TENSOR) {
        put_scalar_attr(p, ref, a);
        return;
    }
    struct fb_made table = put_attr_table(&p->b, ref, a);
    put_tensor(&p->b, fb_slot_ref(&p->b, table, ATTR_TENSOR), a->tensor);
}

static uint32_t put_op(struct putting *p, const struct dlc_op *op)
{
    struct fb_build *b = &p->b;
    const struct fb_slot slots[] = {FB_REF(OP_NAME), FB_REF(OP_TYPE), FB_REF(OP_INPUTS), FB_REF(OP_OUTPUTS),
                                    FB_REF(OP_ATTRIBUTES)};
    struct fb_made table = fb_put_table(b, FB_NOWHERE, slots, COUNT_OF(slots));
    fb_put_string(b, fb_slot_ref(b, table, OP_NAME), op->name);
    fb_put_string(b, fb_slot_ref(b, table, OP_TYPE), op->type);
    fb_put_strings(b, fb_slot_ref(b, table, OP_INPUTS), op->inputs, op->n_inputs);
    fb_put_strings(b, fb_slot_ref(b, table, OP_OUTPUTS), op->outputs, op->n_outputs);
    uint32_t first = fb_put_references(b, fb_slot_ref(b, table, OP_ATTRIBUTES), op->n_attrs);
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

static void put_tensors(struct fb_build *b, struct dlc_model *m)
{
    const struct dlc_records *r = m->records;
    for (uint32_t i = 0; i < r->n_tensors; i++) {
        struct dlc_tensor record = dlc_tensor_record(r, r->tensors[i]);
        m->tensors[i] = put_tensor(b, FB_NOWHERE, &record);
        fb_settle(b);
    }
}

/* The graph's table and lists lead far ahead, to places that are known once the graph was put a first time. */
static odlc_status put_graph(struct putting *p, uint32_t ref, struct dlc_model *m)
{
    struct fb_build *b = &p->b;
    const struct fb_slot slots[] = {FB_REF(GRAPH_NAME), FB_REF(GRAPH_OPS), FB_REF(GRAPH_TENSORS), FB_REF(GRAPH_NAME2)};
    struct dlc_records *r = m->records;
    struct fb_made table = fb_put_table(b, ref, slots, COUNT_OF(slots));
    fb_link(b, fb_slot_ref(b, table, GRAPH_TENSORS), m->tensor_list);
    fb_link(b, fb_slot_ref(b, table, GRAPH_NAME2), m->name);
    fb_put_string(b, fb_slot_ref(b, table, GRAPH_NAME), r->g->name);
    fb_put_targets(b, fb_slot_ref(b, table, GRAPH_OPS), m->ops, r->n_ops);
    TRY(put_ops(p, m));
    if (!m->tensors)
        m->tensors = arena_array(r->w->arena, uint32_t, r->n_tensors);
    m->tensor_list = fb_put_targets(b, FB_NOWHERE, m->tensors, r->n_tensors);
    put_tensors(b, m);
    m->name = fb_put_string(b, FB_NOWHERE, r->g->name);
    return ODLC_OK;
}

static odlc_status put_network(struct dlc_model *m, fb_sink_fn *sink, void *user)
{
    struct putting *p = arena_new(m->records->w->arena, struct putting);
    struct fb_build *b = &p->b;
    const struct fb_slot root[] = {FB_REF(NETWORK_GRAPHS)};
    uint32_t start = fb_start_stream(b, m->records->w->arena, sink, user, ID_MODEL);
    struct fb_made network = fb_put_table(b, start, root, COUNT_OF(root));
    TRY(put_graph(p, fb_put_references(b, fb_slot_ref(b, network, NETWORK_GRAPHS), 1), m));
    m->size = fb_size(b);
    return fb_flush(b);
}

odlc_status dlc_lay_out_model(struct dlc_records *records, struct dlc_model *out)
{
    const struct dlc_writing *w = records->w;
    *out = (struct dlc_model){.records = records, .ops = arena_array(w->arena, uint32_t, records->n_ops)};
    TRY(put_network(out, NULL, NULL));
    if (out->size <= INT32_MAX)
        return ODLC_OK;
    return diag_error(w->diags, ODLC_ERR_LIMIT, AT(.file = w->path), "dlc-write",
                      "the graph itself takes more than 2 GiB");
}

odlc_status dlc_emit_model(struct dlc_model *model, fb_sink_fn *sink, void *user)
{
    return put_network(model, sink, user);
}
