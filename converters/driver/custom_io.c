/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/custom_io.h"

#include <string.h>

#include "ir/quant.h"
#include "op/layout.h"
#include "pass/alias.h"

/* How the user's elements become the model's, or the other way round. */
enum conversion { KEEP, CAST, SCALE };

struct customizing {
    const struct lowering *all;
    const struct custom_io *io;
    struct build *b;
};

static odlc_status report(const struct customizing *s, const struct custom_entry *e, const char *hint,
                          const char *message)
{
    (void)json_error(s->io->file, e->place, hint, "custom-io", "%s %s", e->name, message);
    return ODLC_ERR_INVALID;
}

/* ---- what an entry asks for ---- */

static bool has_scale(enum dtype dtype)
{
    return dtype == DT_INT8 || dtype == DT_UINT8 || dtype == DT_INT16 || dtype == DT_UINT16;
}

static odlc_status check_encoding(const struct customizing *s, const struct custom_entry *e, const struct tensor *t)
{
    if (!e->encoded)
        return ODLC_OK;
    if (!has_scale(e->dtype))
        return report(s, e, "give it the type int8, uint8, int16 or uint16",
                      "has a scale, but no integers of 8 or 16 bits");
    if (!dtype_is_float(t->type->dtype))
        return report(s, e, NULL,
                      arena_printf(s->all->c->scratch, "has a scale, but is of %s in the model",
                                   dtype_info(t->type->dtype)->name));
    return ODLC_OK;
}

static odlc_status conversion_of(const struct customizing *s, const struct custom_entry *e, const struct tensor *t,
                                 enum conversion *out)
{
    const enum dtype from = t->type->dtype, to = e->dtype;
    const bool reals = dtype_is_float(from) && dtype_is_float(to);
    const bool integers = (dtype_is_int(from) || from == DT_BOOL) && (dtype_is_int(to) || to == DT_BOOL);
    *out = to == DT_NONE || to == from ? KEEP : e->encoded ? SCALE : CAST;
    if (e->source != DT_NONE && e->source != from)
        return report(s, e, NULL,
                      arena_printf(s->all->c->scratch, "is of %s in the model, not of %s", dtype_info(from)->name,
                                   dtype_info(e->source)->name));
    TRY(check_encoding(s, e, t));
    if (*out == CAST && !reals && !integers)
        return report(s, e, has_scale(to) ? "give its scale and offset, by which reals become integers" : NULL,
                      arena_printf(s->all->c->scratch, "is of %s in the model, which does not become %s",
                                   dtype_info(from)->name, dtype_info(to)->name));
    return ODLC_OK;
}

static odlc_status encoding_of(const struct customizing *s, const struct custom_entry *e, const struct quant **quant)
{
    const double zero = -e->offset;
    *quant = quant_create(s->b->graph->arena, quant_dtype(e->dtype), &e->scale, &zero, 1, false, 0);
    return *quant ? ODLC_OK
                  : report(s, e, "a scale is positive; integer -offset, which stands for 0, is one of the type",
                           "has a scale or offset that is none");
}

/* The user's axes in the model's order: axis i of the model is axis perm.axis[i] of the user's tensor. */
static odlc_status order_of(const struct customizing *s, const struct custom_entry *e, const struct tensor *t,
                            struct perm *perm)
{
    const uint32_t rank = t->type->shape.rank;
    *perm = perm_identity(rank);
    if (!e->model)
        return ODLC_OK;
    if (strlen(e->model) != rank)
        return report(s, e, NULL,
                      arena_printf(s->all->c->scratch, "has the shape %s, and not the %zu axes of %s",
                                   shape_text(s->all->c->scratch, &t->type->shape), strlen(e->model), e->model));
    for (uint32_t i = 0; i < MAX_RANK && e->model[i]; i++)
        perm->axis[i] = (uint8_t)(strchr(e->custom, e->model[i]) - e->custom);
    return ODLC_OK;
}

/* A Transpose, of which layouts may take care where it is one between theirs. */
static odlc_status transpose(struct build *b, const struct perm *perm, const char *name, tensor_id *value)
{
    const struct perm first = perm_channels_first(perm->rank), last = perm_channels_last(perm->rank);
    if (perm_is_identity(perm))
        return ODLC_OK;
    if (perm_equal(perm, &first))
        return build_to_channels_first(b, *value, name, value);
    if (perm_equal(perm, &last) && !name)
        return build_to_channels_last(b, *value, value);
    return build_transpose(b, *value, perm, name, value);
}

/* ---- inputs ---- */

static odlc_status customize_input(struct customizing *s, const struct custom_entry *e, tensor_id id, tensor_id *value)
{
    struct graph *g = s->b->graph;
    const struct type model = *graph_tensor(g, id)->type;
    const char *name = arena_printf(g->arena, "%s.model", e->name);
    const struct quant *quant = NULL;
    enum conversion conversion;
    struct perm perm;
    TRY(conversion_of(s, e, graph_tensor(g, id), &conversion));
    TRY(order_of(s, e, graph_tensor(g, id), &perm));
    if (conversion == SCALE)
        TRY(encoding_of(s, e, &quant));
    const struct perm inverse = perm_inverse(&perm);
    const struct shape shape = perm_apply(&inverse, &model.shape);
    graph_set_shape(g, id, &shape);
    if (conversion != KEEP)
        graph_set_dtype(g, id, conversion == SCALE ? quant_dtype(e->dtype) : e->dtype);
    if (conversion != KEEP)
        graph_tensor(g, id)->quant = quant;
    *value = id;
    if (conversion == CAST)
        TRY(build_cast(s->b, id, model.dtype, NULL, value));
    if (conversion == SCALE) {
        const struct type real = {.dtype = model.dtype, .shape = shape};
        const char *none = NULL;
        build_op(s->b, OP_Dequantize, name);
        build_in(s->b, id);
        TRY(build_end_typed(s->b, &none, &real, 1, value));
    }
    return transpose(s->b, &perm, name, value);
}

/* The nodes behind the first `before` go to the front. */
static void move_to_front(struct arena *scratch, struct graph *g, size_t before)
{
    const size_t count = g->order.count, added = count - before;
    const node_id *order = arena_memdup(scratch, g->order.data, count * sizeof *order);
    memcpy(g->order.data, order + before, added * sizeof *order);
    memcpy(g->order.data + added, order, before * sizeof *order);
}

/* ---- outputs ---- */

static odlc_status customize_output(struct customizing *s, const struct custom_entry *e, size_t at)
{
    struct graph *g = s->b->graph;
    const struct quant *quant = NULL;
    tensor_id value = g->outputs.data[at];
    const struct shape model = graph_tensor(g, value)->type->shape;
    enum conversion conversion;
    struct perm perm;
    TRY(conversion_of(s, e, graph_tensor(g, value), &conversion));
    TRY(order_of(s, e, graph_tensor(g, value), &perm));
    if (conversion == SCALE)
        TRY(encoding_of(s, e, &quant));
    if (conversion == KEEP && perm_is_identity(&perm))
        return ODLC_OK;
    graph_rename_tensor(g, value, graph_free_tensor_name(g, arena_printf(g->arena, "%s.model", e->name)));
    const struct perm inverse = perm_inverse(&perm);
    TRY(transpose(s->b, &inverse, NULL, &value));
    if (conversion == CAST)
        TRY(build_cast(s->b, value, e->dtype, NULL, &value));
    if (conversion == SCALE) {
        const struct type fixed = {.dtype = quant_dtype(e->dtype), .shape = perm_apply(&inverse, &model)};
        const char *none = NULL;
        build_op(s->b, OP_Quantize, e->name);
        build_in(s->b, value);
        TRY(build_end_typed(s->b, &none, &fixed, 1, &value));
        graph_tensor(g, value)->quant = quant;
    }
    graph_rename_tensor(g, value, e->name);
    graph_replace_result(g, at, value);
    return ODLC_OK;
}

/* ---- all of them ---- */

static size_t place_of(const struct graph *g, const tensor_id *ids, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(graph_tensor(g, ids[i])->name, name) != 0)
        i++;
    return i;
}

static odlc_status report_unknown(const struct customizing *s, const struct custom_entry *e)
{
    const struct graph *g = s->b->graph;
    VEC(const char *) names = {0};
    for (size_t i = 0; i < g->inputs.count; i++)
        vec_push(s->all->c->scratch, &names, graph_tensor(g, g->inputs.data[i])->name);
    for (size_t i = 0; i < g->outputs.count; i++)
        vec_push(s->all->c->scratch, &names, graph_tensor(g, g->outputs.data[i])->name);
    const char *nearest = nearest_word(e->name, names.data, names.count);
    return report(s, e, nearest ? arena_printf(s->all->c->arena, "did you mean %s?", nearest) : NULL,
                  "is no input or output of the model");
}

/* Names that nothing has are reported here, too. */
static odlc_status customize_inputs(struct customizing *s)
{
    struct graph *g = s->b->graph;
    const size_t before = g->order.count;
    struct aliases values = aliases_start(s->all->c->scratch, g);
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < s->io->entries.count; i++) {
        const struct custom_entry *e = &s->io->entries.data[i];
        const size_t in = place_of(g, g->inputs.data, g->inputs.count, e->name);
        const size_t out = place_of(g, g->outputs.data, g->outputs.count, e->name);
        odlc_status done = ODLC_OK;
        if (in < g->inputs.count && out < g->outputs.count)
            done = report(s, e, NULL, "is an input that is an output, too, and stays what it is");
        else if (in < g->inputs.count)
            done = customize_input(s, e, g->inputs.data[in], &values.to[g->inputs.data[in]]);
        else if (out == g->outputs.count)
            done = report_unknown(s, e);
        status = status == ODLC_OK ? done : status;
    }
    for (size_t i = 0; i < before; i++)
        aliases_apply(&values, g->order.data[i]);
    move_to_front(s->all->c->scratch, g, before);
    return status;
}

static odlc_status customize_outputs(struct customizing *s)
{
    const struct graph *g = s->b->graph;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < s->io->entries.count; i++) {
        const struct custom_entry *e = &s->io->entries.data[i];
        const size_t out = place_of(g, g->outputs.data, g->outputs.count, e->name);
        const odlc_status done = out < g->outputs.count ? customize_output(s, e, out) : ODLC_OK;
        status = status == ODLC_OK ? done : status;
    }
    return status;
}

odlc_status apply_custom_io(const struct lowering *all, const struct custom_io *io)
{
    struct build b;
    if (!io->file)
        return ODLC_OK;
    build_init(&b, all->b.graph, all->c->diags);
    struct customizing s = {.all = all, .io = io, .b = &b};
    const odlc_status inputs = customize_inputs(&s), outputs = customize_outputs(&s);
    return inputs == ODLC_OK ? outputs : inputs;
}
