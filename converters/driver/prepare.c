/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/prepare.h"

#include "converters/driver/cut_outputs.h"
#include "converters/driver/declared_dims.h"
#include "converters/driver/freeze.h"
#include "converters/driver/input_options.h"
#include "converters/driver/model_inputs.h"

/* An unnamed node goes by its type and position, in the container and in diagnostics alike. */
static void name_nodes(const struct context *c, struct fw_graph *g)
{
    for (size_t i = 0; i < g->nodes.count; i++) {
        struct fw_node *n = &g->nodes.data[i];
        if (!*n->name)
            n->name = arena_printf(c->arena, "%s_%zu", n->op->type, i);
        for (size_t k = 0; k < n->n_attrs; k++)
            if (fw_attr_graph(&n->attrs[k]))
                name_nodes(c, fw_attr_graph(&n->attrs[k]));
    }
}

/* The names that --preserve_io picks out; those of dropped inputs and outputs are wrong, too. */
static odlc_status check_preserved(const struct context *c, struct input *in)
{
    const struct odlc_convert_options *o = c->options;
    const struct fw_graph *g = &in->model->graph;
    const name_list outputs = model_output_names(c, in);
    name_list names = model_input_names(c, in);
    odlc_status status = ODLC_OK;
    struct map known;
    map_init(&known, c->scratch);
    for (size_t i = 0; i < outputs.count; i++)
        vec_push(c->scratch, &names, outputs.data[i]);
    for (size_t i = 0; i < g->inputs.count; i++)
        map_put(&known, g->inputs.data[i].name, 1);
    for (size_t i = 0; i < g->outputs.count; i++)
        map_put(&known, g->outputs.data[i].name, 1);
    for (size_t i = 0; i < o->n_preserve_names; i++)
        if (map_get(&known, o->preserve_names[i]) == MAP_NONE)
            status = report_unknown_name(c, in, "unknown-io", "--preserve_io: the model has no input or output",
                                         o->preserve_names[i], &names, "inputs and outputs");
    return status;
}

static odlc_status prepare(const struct context *c, struct input *in)
{
    name_nodes(c, &in->model->graph);
    TRY(apply_input_options(c, in));
    map_init(&in->symbols.index, c->model_arena);
    for (size_t i = 0; i < in->model->graph.inputs.count; i++)
        note_symbols(c, in, &in->model->graph.inputs.data[i]);
    TRY(freeze_inputs(c, in));
    settle_declared(in, &in->model->graph);
    if (c->options->n_out_names && !c->frontend->ends_at_outputs)
        TRY(cut_at_outputs(c, in));
    find_live_nodes(c, in);
    if (c->options->n_out_names)
        drop_unread_inputs(c, in);
    if (c->options->n_preserve_names)
        TRY(check_preserved(c, in));
    return ODLC_OK;
}

odlc_status prepare_model(const struct context *c, struct input *in)
{
    struct arena_mark mark = arena_mark(c->scratch);
    odlc_status status = prepare(c, in);
    arena_rewind(c->scratch, mark);
    return status;
}
