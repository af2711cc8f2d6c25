#include "converters/frontend.h"

#include <string.h>

const struct fw_value *fw_find_value(const struct fw_graph *g, const char *name)
{
    for (size_t i = 0; i < g->inputs.count; i++)
        if (strcmp(g->inputs.data[i].name, name) == 0)
            return &g->inputs.data[i];
    for (size_t i = 0; i < g->outputs.count; i++)
        if (strcmp(g->outputs.data[i].name, name) == 0)
            return &g->outputs.data[i];
    for (size_t i = 0; i < g->values.count; i++)
        if (strcmp(g->values.data[i].name, name) == 0)
            return &g->values.data[i];
    return NULL;
}

const struct fw_attr *fw_find_attr(const struct fw_node *n, const char *name)
{
    for (size_t i = 0; i < n->n_attrs; i++)
        if (strcmp(n->attrs[i].name, name) == 0)
            return &n->attrs[i];
    return NULL;
}

const char *fw_node_label(const struct fw_node *n)
{
    if (n->name[0])
        return n->name;
    for (size_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i][0])
            return n->outputs[i];
    return "";
}
