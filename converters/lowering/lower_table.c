/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/lower_table.h"

#include <string.h>

/* The first row that is not of a lesser operator, or of a lesser version of the same one. */
static size_t lower_bound(const struct lower_table *table, const char *domain, const char *op, int64_t version)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct lower_row *row = &table->rows[mid];
        int order = strcmp(row->domain, domain);
        order = order ? order : strcmp(row->op, op);
        if (order < 0 || (order == 0 && row->hi < version))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool is_of(const struct lower_row *row, const char *domain, const char *op)
{
    return strcmp(row->domain, domain) == 0 && strcmp(row->op, op) == 0;
}

const struct lower_row *lower_find_row(const struct lower_table *table, const char *domain, const char *op,
                                       int64_t version)
{
    size_t at = lower_bound(table, domain, op, version);
    const struct lower_row *row = at < table->count ? &table->rows[at] : NULL;
    return row && is_of(row, domain, op) && row->lo <= version ? row : NULL;
}

bool lower_has_row(const struct lower_table *table, const char *domain, const char *op)
{
    size_t at = lower_bound(table, domain, op, INT64_MIN);
    return at < table->count && is_of(&table->rows[at], domain, op);
}
