/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/value_types.h"

enum { CONTRADICTED = TYPE_REAL + 1 }; /* said in two ways */

struct value_types {
    uint8_t *given;                 /* per name: DT_NONE, an element type, or CONTRADICTED */
    uint8_t *taken;                 /* by readers; TYPE_REAL, too */
    const struct fw_node **readers; /* one of those */
    uint8_t *likely;                /* by the attributes of nodes whose operators nothing defines */
};

struct walk {
    const struct context *c;
    const struct input *in;
    struct value_types *types;
    VEC(uint8_t) room; /* for the types of one node's operands */
};

/* The types of a node's operands, none of which is known yet; valid until the next node's. */
struct operand_types {
    uint8_t *in, *out, *likely; /* likely: of the outputs */
};

static struct operand_types operand_types_of(struct walk *w, const struct fw_node *n)
{
    const size_t count = n->n_inputs + 2 * (size_t)n->n_outputs;
    while (w->room.capacity < count)
        w->room.data = vec_grow(w->c->scratch, w->room.data, &w->room.capacity, sizeof *w->room.data);
    for (size_t i = 0; i < count; i++)
        w->room.data[i] = DT_NONE;
    uint8_t *out = w->room.data + n->n_inputs;
    return (struct operand_types){w->room.data, out, out + n->n_outputs};
}

static void note(uint8_t *slot, uint8_t type)
{
    bool vague = *slot == DT_NONE || *slot == TYPE_REAL;
    if (type == DT_NONE || (type == TYPE_REAL && *slot != DT_NONE))
        return;
    *slot = vague || *slot == type ? type : CONTRADICTED;
}

static uint8_t sure(uint8_t type)
{
    return type < DT_COUNT ? type : DT_NONE;
}

static void note_values(struct walk *w, const struct fw_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!values[i].not_a_tensor)
            note(&w->types->given[values[i].id], values[i].dtype);
}

static void note_declared(struct walk *w, const struct fw_graph *g)
{
    note_values(w, g->inputs.data, g->inputs.count);
    note_values(w, g->outputs.data, g->outputs.count);
    note_values(w, g->values.data, g->values.count);
    for (size_t i = 0; i < g->initializers.count; i++)
        note(&w->types->given[g->initializers.data[i].id], (uint8_t)g->initializers.data[i].view.dtype);
}

/* What is known of a node's operands, and what its operator says of the others. */
static void ask(struct walk *w, const struct fw_node *n, bool of_readers, uint8_t *in, uint8_t *out)
{
    const struct value_types *types = w->types;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        in[i] = sure(types->given[fw_in_id(n, i)]);
    for (uint32_t k = 0; k < n->n_outputs; k++) {
        fw_name name = fw_out_id(n, k);
        out[k] = sure(types->given[name]);
        if (of_readers && out[k] == DT_NONE)
            out[k] = sure(types->taken[name]);
    }
    w->c->frontend->operand_types(n, in, out);
}

/* Nodes that no output needs say nothing. */
static bool counts(const struct walk *w, const struct fw_graph *g, size_t i)
{
    return g != &w->in->model->graph || w->in->live[i];
}

/* Values that nodes give, in the order of the nodes. */
static void walk_forward(struct walk *w, const struct fw_graph *g)
{
    note_declared(w, g);
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct fw_node *n = &g->nodes.data[i];
        if (!counts(w, g, i))
            continue;
        for (size_t a = 0; a < n->n_attrs; a++)
            if (fw_attr_graph(&n->attrs[a]))
                walk_forward(w, fw_attr_graph(&n->attrs[a]));
        const struct operand_types t = operand_types_of(w, n);
        if (w->c->frontend->likely_types)
            w->c->frontend->likely_types(n, t.likely);
        ask(w, n, false, t.in, t.out);
        for (uint32_t k = 0; k < n->n_outputs; k++) {
            fw_name name = fw_out_id(n, k);
            if (name == FW_NO_NAME)
                continue;
            note(&w->types->given[name], sure(t.out[k]));
            w->types->likely[name] = t.likely[k];
        }
    }
}

/* What readers take, from the last one on: what one gives on is what the one behind it takes. */
static void walk_backward(struct walk *w, const struct fw_graph *g)
{
    for (size_t i = g->nodes.count; i-- > 0;) {
        const struct fw_node *n = &g->nodes.data[i];
        if (!counts(w, g, i))
            continue;
        for (size_t a = 0; a < n->n_attrs; a++)
            if (fw_attr_graph(&n->attrs[a]))
                walk_backward(w, fw_attr_graph(&n->attrs[a]));
        const struct operand_types t = operand_types_of(w, n);
        ask(w, n, true, t.in, t.out);
        for (uint32_t k = 0; k < n->n_inputs; k++) {
            fw_name name = fw_in_id(n, k);
            if (name == FW_NO_NAME || t.in[k] == DT_NONE)
                continue;
            note(&w->types->taken[name], t.in[k]);
            w->types->readers[name] = n;
        }
    }
}

/* Most conversions never ask. */
static const struct value_types *types_of(const struct context *c, struct input *in)
{
    if (in->types)
        return in->types;
    struct value_types *types = arena_new(c->model_arena, struct value_types);
    types->given = arena_array(c->model_arena, uint8_t, in->model->n_names);
    types->taken = arena_array(c->model_arena, uint8_t, in->model->n_names);
    types->readers = arena_array(c->model_arena, const struct fw_node *, in->model->n_names);
    types->likely = arena_array(c->model_arena, uint8_t, in->model->n_names);
    struct walk w = {.c = c, .in = in, .types = types};
    walk_forward(&w, &in->model->graph);
    walk_backward(&w, &in->model->graph);
    in->types = types;
    return types;
}

enum dtype given_type(const struct context *c, struct input *in, fw_name name)
{
    return (enum dtype)sure(types_of(c, in)->given[name]);
}

struct udo_demand demand_for(const struct context *c, struct input *in, fw_name name)
{
    const struct value_types *types = types_of(c, in);
    struct udo_demand demand = {.dtype = (enum dtype)sure(types->taken[name]),
                                .real = types->taken[name] == TYPE_REAL,
                                .likely = (enum dtype)types->likely[name]};
    if (demand.dtype != DT_NONE || demand.real)
        demand.reader = fw_node_label(types->readers[name]);
    return demand;
}

enum dtype known_type(const struct context *c, struct input *in, fw_name name)
{
    const struct udo_demand demand = demand_for(c, in, name);
    enum dtype given = given_type(c, in, name);
    return given != DT_NONE ? given : demand.dtype != DT_NONE ? demand.dtype : demand.likely;
}
