/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/frontend/defaults.h"

#include <stdlib.h>
#include <string.h>

static int by_attribute(const void *a, const void *b)
{
    const struct default_row *x = a, *y = b;
    int order = strcmp(x->op, y->op);
    return order ? order : strcmp(x->attr, y->attr);
}

static struct param param_of(const struct default_row *row)
{
    struct param p = {.set = true, .name = row->attr, .dtype = row->dtype, .i = row->i, .f = row->f, .s = row->s};
    if (row->is_list) {
        p.is_tensor = true;
        p.shape = SHAPE(row->count);
        p.ints = row->ints;
        p.floats = row->floats;
        p.strings = row->strings;
    }
    return p;
}

static const struct default_row *find_row(const struct default_row *rows, size_t count, const char *op, int64_t version,
                                          const char *attr)
{
    struct default_row key = {.op = op, .attr = attr};
    const struct default_row *row = bsearch(&key, rows, count, sizeof rows[0], by_attribute);
    if (!row)
        return NULL;
    while (row > rows && by_attribute(row - 1, &key) == 0)
        row--;
    for (; row < rows + count && by_attribute(row, &key) == 0; row++) {
        if (row->lo <= version && version <= row->hi)
            return row;
    }
    return NULL;
}

bool default_find(const struct default_row *rows, size_t count, const char *op, int64_t version, const char *attr,
                  struct param *out)
{
    const struct default_row *row = find_row(rows, count, op, version, attr);
    if (row)
        *out = param_of(row);
    return row != NULL;
}

bool default_is_flag(const struct default_row *rows, size_t count, const char *op, int64_t version, const char *attr)
{
    const struct default_row *row = find_row(rows, count, op, version, attr);
    return row && row->is_flag;
}
