/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "op/families.h"

struct family {
    const struct op *rows;
    const size_t *count;
};

#define FAMILY(name) {op_rows_##name, &op_rows_##name##_count},
static const struct family families[] = {
#include "op/families.def"
};
#undef FAMILY

const struct op *op_at(size_t index)
{
    for (size_t f = 0; f < COUNT_OF(families); f++) {
        if (index < *families[f].count)
            return &families[f].rows[index];
        index -= *families[f].count;
    }
    return NULL;
}

const struct op *op_row(enum op_id id)
{
    return op_at((size_t)id - 1); /* the rows stand in the order of their ids */
}

const struct op *op_find(const char *name)
{
    const struct op *op;
    for (size_t i = 0; (op = op_at(i)); i++)
        if (strcmp(op->name, name) == 0)
            return op;
    return NULL;
}

bool node_is(const struct node *n, enum op_id id)
{
    return n->op && n->op->id == id;
}
