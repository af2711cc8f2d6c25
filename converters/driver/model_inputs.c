#include "converters/driver/model_inputs.h"

#include <string.h>

#include "converters/frontend/unknown_name.h"

name_list model_input_names(const struct context *c, const struct input *in)
{
    name_list names = {0};
    for (size_t i = 0; i < in->model->graph.inputs.count; i++)
        if (!in->model->graph.inputs.data[i].frozen)
            vec_push(c->scratch, &names, in->model->graph.inputs.data[i].name);
    return names;
}

odlc_status report_unknown_name(const struct context *c, const struct input *in, const char *code, const char *message,
                                const char *name, const name_list *known, const char *listed_as)
{
    return unknown_name(c->diags, in->model->path,
                        &(struct unknown_name){.code = code,
                                               .message = message,
                                               .name = name,
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
            diag_note(c->diags, AT(.file = in->model->path, .node = name), "unneeded-input",
                      "%s %s: no output needs it, so the option has no effect", option, name);
            return true;
        }
    return false;
}
