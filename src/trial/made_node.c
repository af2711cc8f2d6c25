/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/made_node.h"

#include "encoding/encoding_range.h"
#include "kernel/buffer.h"
#include "op/op.h"
#include "udo/site.h"

double made_value(uint64_t seed, uint64_t i, bool real)
{
    uint64_t h = (i + 1) * 0x9E3779B97F4A7C15u + seed * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9u;
    h ^= h >> 32;
    return real ? (double)(h % 4001) / 1000 - 2 : (double)(h % 2);
}

void made_fill(struct arena *arena, struct buffer *b, uint64_t seed)
{
    const uint64_t count = shape_count(&b->shape);
    const bool real = dtype_is_float(b->dtype) || dtype_is_fixed(b->dtype);
    struct buffer wide = {.dtype = real ? DT_FLOAT64 : DT_INT64, .shape = b->shape};
    double *reals = arena_array(arena, double, count);
    int64_t *ints = arena_array(arena, int64_t, count);
    for (uint64_t i = 0; i < count; i++) {
        reals[i] = made_value(seed, i, true);
        ints[i] = (int64_t)made_value(seed, i, false);
    }
    wide.data = real ? (void *)reals : (void *)ints;
    buffer_narrow(&wide, b);
}

/* ---- shapes ---- */

static struct shape made_shape(const struct udo_tensor *t, uint32_t which)
{
    static const struct shape images[MADE_SHAPES] = {
        {.rank = 4, .dims = {1, 4, 5, 3}},  {.rank = 4, .dims = {2, 3, 7, 2}}, {.rank = 4, .dims = {1, 1, 1, 1}},
        {.rank = 4, .dims = {1, 8, 8, 32}}, {.rank = 3, .dims = {1, 6, 3}},    {.rank = 5, .dims = {1, 2, 3, 4, 2}}};
    static const struct shape plain[MADE_SHAPES] = {
        {.rank = 2, .dims = {1, 5}},    {.rank = 3, .dims = {2, 3, 4}},    {.rank = 1, .dims = {1}},
        {.rank = 2, .dims = {16, 128}}, {.rank = 4, .dims = {1, 4, 5, 3}}, {.rank = 5, .dims = {1, 2, 3, 4, 2}}};
    static const int64_t sizes[MADE_SHAPES][5] = {{5, 3, 2, 4, 3},   {2, 7, 3, 2, 5}, {1, 1, 1, 1, 1},
                                                  {64, 32, 1, 1, 1}, {3, 1, 6, 2, 1}, {4, 4, 4, 4, 4}};
    const int rank = declared_rank(t);
    const struct shape *made = t->layout == UDO_LAYOUT_NONE ? &plain[which] : &images[which];
    if (rank < 0 || made->rank == (uint32_t)rank)
        return *made;
    struct shape out = {.rank = rank > 5 ? 5 : (uint32_t)rank};
    for (uint32_t i = 0; i < out.rank; i++)
        out.dims[i] = sizes[which][i];
    return out;
}

/* ---- operands and params ---- */

static enum dtype made_dtype(const struct udo_tensor *t)
{
    return t->dtype == DT_NONE || dtype_is_fixed(t->dtype) ? DT_FLOAT32 : t->dtype;
}

static tensor_id made_constant(struct build *b, const char *name, enum dtype dtype, const struct shape *shape)
{
    const uint64_t count = shape_count(shape);
    if (dtype_is_float(dtype)) {
        float *values = arena_array(b->graph->arena, float, count);
        for (uint64_t i = 0; i < count; i++)
            values[i] = (float)(1.25 + made_value(7, i, true) / 4);
        return build_const_floats(b, name, shape, values);
    }
    int64_t *values = arena_array(b->graph->arena, int64_t, count);
    for (uint64_t i = 0; i < count; i++)
        values[i] = (int64_t)made_value(7, i, false);
    return build_const_ints(b, name, dtype, shape, values);
}

static tensor_id made_input(struct build *b, const struct udo_tensor *t, uint32_t i, uint32_t which)
{
    const struct type type = {made_dtype(t), made_shape(t, which)};
    const char *name = arena_printf(b->graph->arena, "in%u", i);
    if (t->is_static)
        return made_constant(b, name, type.dtype, &type.shape);
    const tensor_id id = graph_add_tensor(b->graph, name, TENSOR_INPUT, &type);
    vec_push(b->graph->arena, &b->graph->inputs, id);
    return id;
}

static struct param made_param(const char *name, enum dtype dtype, const struct udo_words *words)
{
    struct param p = {.set = true, .name = name, .usage = 1, .dtype = DT_INT64, .i = 1};
    if (words->count || dtype == DT_STRING) {
        p.dtype = DT_STRING;
        p.s = words->count ? words->words[0] : "made";
    } else if (dtype_is_float(dtype) || dtype_is_fixed(dtype) || dtype == DT_NONE) {
        p.dtype = DT_FLOAT32;
        p.f = 0.5;
    }
    return p;
}

static struct param made_tensor_param(struct arena *arena, const struct udo_tensor *t)
{
    struct param p = made_param(t->name, t->dtype, &t->enumeration);
    const uint64_t count = 2;
    p.is_tensor = true;
    p.shape = SHAPE(2);
    double *floats = arena_array(arena, double, count);
    int64_t *ints = arena_array(arena, int64_t, count);
    const char **strings = arena_array(arena, const char *, count);
    for (uint64_t i = 0; i < count; i++) {
        floats[i] = p.f * (double)(i + 1); /* limits that are the same would hide what is computed */
        ints[i] = p.i;
        strings[i] = p.s;
    }
    p.floats = dtype_is_float(p.dtype) ? floats : NULL;
    p.ints = p.dtype == DT_INT64 ? ints : NULL;
    p.strings = p.dtype == DT_STRING ? strings : NULL;
    return p;
}

static uint32_t made_params(struct arena *arena, const struct udo_def *def, struct param *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < def->n_scalar_params; i++) {
        const struct udo_scalar *s = &def->scalar_params[i];
        if (!s->default_value && !s->optional)
            out[count++] = made_param(s->name, s->dtype, &s->enumeration);
    }
    for (uint32_t i = 0; i < def->n_tensor_params; i++)
        if (!def->tensor_params[i].default_value && !def->tensor_params[i].optional)
            out[count++] = made_tensor_param(arena, &def->tensor_params[i]);
    return count;
}

/* ---- the node ---- */

static struct buffer *load_constants(struct arena *arena, const struct graph *g)
{
    struct buffer *all = arena_array(arena, struct buffer, g->tensors.count);
    for (size_t i = 0; i < g->tensors.count; i++) {
        const struct tensor *t = graph_tensor(g, (tensor_id)i);
        all[i] = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
        if (t->kind == TENSOR_STATIC)
            all[i].data = (void *)view_load(arena, t->view, t->type->dtype);
    }
    return all;
}

static bool find_node(struct arena *arena, struct graph *g, const struct udo_def *def, struct made_node *out)
{
    for (size_t i = 0; i < g->nodes.count; i++)
        if (g->nodes.data[i].op == def->row) {
            *out = (struct made_node){.graph = g, .node = &g->nodes.data[i], .constants = load_constants(arena, g)};
            return true;
        }
    return false;
}

static odlc_status build(struct arena *arena, struct udo_set *set, const struct udo_def *def, struct build *b,
                         const tensor_id *in)
{
    const uint32_t n_out = def->n_outputs;
    struct param *attrs = arena_array(arena, struct param, def->row->n_params + 1);
    const char **names = arena_array(arena, const char *, n_out);
    for (uint32_t i = 0; i < n_out; i++)
        names[i] = arena_printf(arena, "out%u", i);
    const struct udo_site site = {
        .scratch = arena,
        .path = def->place.file,
        .label = "trial",
        .op_type = def->type,
        .domain = def->domain ? def->domain : "",
        .in = in,
        .n_in = def->n_inputs,
        .attrs = attrs,
        .n_attrs = made_params(arena, def, attrs),
        .out_names = names,
        .declared = arena_array(arena, struct type, n_out),
        .declared_shape = arena_array(arena, bool, n_out),
        .demands = arena_array(arena, struct udo_demand, n_out),
        .n_out = n_out,
    };
    return udo_build(set, def, b, &site, arena_array(arena, tensor_id, n_out));
}

bool made_node(struct arena *arena, struct udo_set *set, const struct udo_def *def, uint32_t which, bool least,
               struct made_node *out)
{
    struct build b;
    struct diags unheard, *heard = set->diags;
    tensor_id *in = arena_array(arena, tensor_id, def->n_inputs);
    uint32_t absent = 0;
    for (uint32_t i = 0; i < def->n_inputs; i++)
        if (def->inputs[i].dtype == DT_STRING)
            return false; /* nothing says what strings the op knows */
    diags_init(&unheard, arena);
    build_init(&b, graph_create(arena, "trial"), &unheard);
    for (uint32_t i = 0; i < def->n_inputs; i++) {
        const bool leave = least && def->inputs[i].optional;
        absent += leave;
        in[i] = leave ? NO_TENSOR : made_input(&b, &def->inputs[i], i, which);
    }
    if (least && !absent)
        return false;
    set->diags = &unheard;
    odlc_status status = build(arena, set, def, &b, in);
    set->diags = heard;
    if (status != ODLC_OK || !find_node(arena, b.graph, def, out))
        return false;
    const struct shape first = def->n_inputs ? made_shape(&def->inputs[0], which) : (struct shape){0};
    out->label = arena_printf(arena, "input %s%s", shape_text(arena, &first), least ? ", optional inputs absent" : "");
    return true;
}

/* ---- other types ---- */

/* As quantizers have them: signed ones around zero, and of the same number on both sides. */
static const struct quant *made_quant(struct arena *arena, enum dtype dtype, struct made_range range)
{
    enum { MOST_BITS = 24 }; /* of integers of 32 bits, which have room for sums */
    const uint32_t bits = (uint32_t)(8 * dtype_size(dtype));
    struct encoding *e = arena_new(arena, struct encoding);
    struct quant *q = arena_new(arena, struct quant);
    if (dtype_info(dtype)->cls == CLASS_SFXP)
        *e = encoding_around_zero(bits < MOST_BITS ? bits : MOST_BITS, range.low, range.high);
    else
        *e = encoding_of_range(bits < MOST_BITS ? bits : MOST_BITS, range.low, range.high);
    e->bitwidth = bits;
    *q = (struct quant){.count = 1, .encodings = e};
    return q;
}

static bool retype(struct arena *arena, struct made_node *made, tensor_id id, enum dtype dtype, struct made_range range)
{
    struct tensor *t = id == NO_TENSOR || dtype == DT_NONE ? NULL : graph_tensor(made->graph, id);
    if (!t || t->type->dtype == dtype)
        return false;
    struct type *type = arena_new(arena, struct type);
    *type = (struct type){dtype, t->type->shape};
    t->type = type;
    t->quant = dtype_is_fixed(dtype) ? made_quant(arena, dtype, range) : NULL;
    struct buffer *b = arena_new(arena, struct buffer);
    *b = (struct buffer){.dtype = dtype, .shape = type->shape, .quant = t->quant};
    if (t->kind == TENSOR_STATIC) {
        const struct buffer wide = buffer_widen(&made->constants[id], DT_FLOAT64, arena);
        b->data = arena_calloc(arena, shape_count(&b->shape), dtype_size(dtype));
        buffer_narrow(&wide, b);
    }
    made->constants[id] = *b;
    return true;
}

bool made_node_retype(struct arena *arena, struct made_node *made, const enum dtype *dtypes,
                      const struct made_range *outputs)
{
    const struct node *n = made->node;
    bool changed = false;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        changed |= retype(arena, made, n->inputs[i], dtypes[i], (struct made_range){-2, 2 + 0.25 * i});
    for (uint32_t i = 0; i < n->n_outputs; i++)
        changed |= retype(arena, made, n->outputs[i], dtypes[n->n_inputs + i], outputs[i]);
    const tensor_id first = n->n_inputs ? n->inputs[0] : n->outputs[0];
    if (changed && first != NO_TENSOR)
        made->label = arena_printf(arena, "%s of %s", made->label,
                                   dtype_info(graph_tensor(made->graph, first)->type->dtype)->name);
    return changed;
}
