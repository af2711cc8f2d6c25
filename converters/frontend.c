#include "converters/frontend.h"

#include <string.h>

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
