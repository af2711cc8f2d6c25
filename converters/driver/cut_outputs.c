/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/cut_outputs.h"

#include "converters/driver/model_inputs.h"

static odlc_status unknown_output(const struct context *c, struct input *in, const char *name)
{
    const struct fw_graph *g = &in->model->graph;
    struct arena_mark mark = arena_mark(c->scratch);
    name_list names = {0};
    for (size_t i = g->nodes.count; i-- > 0;) {
        for (size_t k = 0; k < g->nodes.data[i].n_outputs; k++)
            if (*g->nodes.data[i].outputs[k])
                vec_push(c->scratch, &names, g->nodes.data[i].outputs[k]);
        vec_push(c->scratch, &names, g->nodes.data[i].name);
    }
    odlc_status status = report_unknown_name(c, in, "unknown-output", "--out_node: the model has no value or node",
                                             name, &names, "last values and nodes");
    arena_rewind(c->scratch, mark);
    return status;
}

/* The outputs of the options are being collected. */
struct cut {
    struct map nodes, values; /* name → node, name → number of the name */
    bool *taken;              /* per name */
};

static void add_cut_output(const struct context *c, struct input *in, struct cut *cut, const char *name, fw_name id)
{
    if (id == FW_NO_NAME || cut->taken[id])
        return;
    cut->taken[id] = true;
    vec_push(c->model_arena, &in->model->graph.outputs, (struct fw_value){.name = name, .id = id});
}

static odlc_status cut_at(const struct context *c, struct input *in, struct cut *cut, const char *name)
{
    const struct fw_graph *g = &in->model->graph;
    uint32_t node = map_get(&cut->nodes, name), value = map_get(&cut->values, name);
    if (value != MAP_NONE) {
        add_cut_output(c, in, cut, name, value);
        return ODLC_OK;
    }
    if (node == MAP_NONE)
        return unknown_output(c, in, name);
    const struct fw_node *n = &g->nodes.data[node];
    for (size_t k = 0; k < n->n_outputs; k++)
        add_cut_output(c, in, cut, n->outputs[k], fw_out_id(n, k));
    return ODLC_OK;
}

odlc_status cut_at_outputs(const struct context *c, struct input *in)
{
    struct fw_graph *g = &in->model->graph;
    const struct odlc_convert_options *o = c->options;
    struct cut cut = {.taken = arena_array(c->model_arena, bool, in->model->n_names)};
    map_init(&cut.nodes, c->model_arena);
    map_init(&cut.values, c->model_arena);
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct fw_node *n = &g->nodes.data[i];
        map_put(&cut.nodes, n->name, (uint32_t)i);
        for (size_t k = 0; k < n->n_outputs; k++)
            if (fw_out_id(n, k) != FW_NO_NAME)
                map_put(&cut.values, n->outputs[k], fw_out_id(n, k));
    }
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < g->outputs.count; i++) /* what they say stays known */
        vec_push(c->model_arena, &g->values, g->outputs.data[i]);
    g->outputs.count = 0;
    for (size_t i = 0; i < o->n_out_names; i++) {
        odlc_status found = cut_at(c, in, &cut, o->out_names[i]);
        if (found != ODLC_OK)
            status = found;
    }
    return status;
}

static void note_name(void *names, fw_name name)
{
    bool *noted = names;
    noted[name] = true;
}

void drop_unread_inputs(const struct context *c, struct input *in)
{
    struct fw_graph *g = &in->model->graph;
    bool *read = arena_array(c->scratch, bool, in->model->n_names);
    for (size_t i = 0; i < g->nodes.count; i++)
        if (in->live[i])
            fw_each_read(&g->nodes.data[i], note_name, read);
    size_t kept = 0;
    for (size_t i = 0; i < g->inputs.count; i++)
        if (read[g->inputs.data[i].id])
            g->inputs.data[kept++] = g->inputs.data[i];
    g->inputs.count = kept;
}

void find_live_nodes(const struct context *c, struct input *in)
{
    const struct fw_graph *g = &in->model->graph;
    bool *needed = arena_array(c->scratch, bool, in->model->n_names);
    in->live = arena_array(c->model_arena, bool, g->nodes.count);
    for (size_t i = 0; i < g->outputs.count; i++)
        needed[g->outputs.data[i].id] = true;
    for (size_t i = g->nodes.count; i-- > 0;) {
        const struct fw_node *n = &g->nodes.data[i];
        in->live[i] = c->options->keep_disconnected_nodes;
        for (size_t k = 0; k < n->n_outputs; k++)
            in->live[i] |= fw_out_id(n, k) != FW_NO_NAME && needed[fw_out_id(n, k)];
        if (in->live[i])
            fw_each_read(n, note_name, needed);
    }
}
