/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/model_inputs.h"

#include <string.h>

#include "converters/frontend/unknown_name.h"

static const char *short_name(const struct context *c, const char *name)
{
    return c->frontend->short_name ? c->frontend->short_name(c->arena, name) : name;
}

/* Keys of the model where there are some. */
static name_list shown_names(const struct context *c, const fw_aliases *aliases, const struct fw_value *values,
                             size_t count)
{
    struct map keys; /* name of a value → alias */
    name_list names = {0};
    map_init(&keys, c->scratch);
    for (size_t i = 0; i < aliases->count; i++)
        if (aliases->data[i].key)
            map_add(&keys, aliases->data[i].value, (uint32_t)i);
    for (size_t i = 0; i < count; i++) {
        const uint32_t alias = map_get(&keys, values[i].name);
        if (!values[i].frozen)
            vec_push(c->scratch, &names, alias == MAP_NONE ? short_name(c, values[i].name) : aliases->data[alias].key);
    }
    return names;
}

name_list model_input_names(const struct context *c, const struct input *in)
{
    const struct fw_model *m = in->model;
    return shown_names(c, &m->input_aliases, m->graph.inputs.data, m->graph.inputs.count);
}

name_list model_output_names(const struct context *c, const struct input *in)
{
    const struct fw_model *m = in->model;
    return shown_names(c, &m->output_aliases, m->graph.outputs.data, m->graph.outputs.count);
}

odlc_status report_unknown_name(const struct context *c, const struct input *in, const char *code, const char *message,
                                const char *name, const name_list *known, const char *listed_as)
{
    return unknown_name(c->diags, in->model->path,
                        &(struct unknown_name){.code = code,
                                               .message = message,
                                               .name = short_name(c, name),
                                               .known = known->data,
                                               .n_known = known->count,
                                               .listed_as = listed_as});
}

static void index_inputs(const struct context *c, struct input *in)
{
    const struct fw_graph *g = &in->model->graph;
    in->names.known = true;
    map_init(&in->names.index, c->model_arena);
    for (size_t i = 0; i < g->inputs.count; i++)
        map_add(&in->names.index, g->inputs.data[i].name, (uint32_t)i);
}

/* NULL: the model has none of that name. */
static struct fw_value *input_of_name(const struct context *c, struct input *in, const char *name)
{
    struct fw_graph *g = &in->model->graph;
    if (!in->names.known)
        index_inputs(c, in);
    uint32_t at = map_get(&in->names.index, name);
    return at == MAP_NONE || g->inputs.data[at].frozen ? NULL : &g->inputs.data[at];
}

struct fw_value *find_model_input(const struct context *c, struct input *in, const char *name, const char *option)
{
    struct fw_value *input = input_of_name(c, in, name);
    if (input)
        return input;
    struct arena_mark mark = arena_mark(c->scratch);
    const name_list names = model_input_names(c, in);
    const char *message = arena_printf(c->scratch, "%s: the model has no input", option);
    (void)report_unknown_name(c, in, "unknown-input", message, name, &names, "graph inputs");
    arena_rewind(c->scratch, mark);
    return NULL;
}

bool is_unneeded_input(const struct context *c, struct input *in, const char *name, const char *option)
{
    size_t length = strcspn(name, ":"); /* of the node's name */
    for (size_t i = 0; !input_of_name(c, in, name) && i < in->n_unconsumed; i++)
        if (strncmp(in->unconsumed[i], name, length) == 0 && !in->unconsumed[i][length]) {
            const char *node = short_name(c, name);
            diag_note(c->diags, AT(.file = in->model->path, .node = node), "unneeded-input",
                      "%s %s: no output needs it, so the option has no effect", option, node);
            return true;
        }
    return false;
}
