/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what attributes are when a node does not give them, as the framework defines its operators. */
#ifndef CONVERTERS_FRONTEND_DEFAULTS_H
#define CONVERTERS_FRONTEND_DEFAULTS_H

#include "ir/graph.h"

/* One attribute of one operator, between two versions; tables are sorted by operator, attribute and version. */
struct default_row {
    const char *op, *attr;
    int64_t lo, hi;
    enum dtype dtype; /* DT_INT64, DT_BOOL, DT_FLOAT32 or DT_STRING */
    bool is_list;
    bool is_flag;   /* an integer that is 0 or 1 */
    uint32_t count; /* of a list */
    int64_t i;      /* of integers and booleans */
    double f;
    const char *s;
    const int64_t *ints;
    const double *floats;
    const char *const *strings;
};

/* The fields of a row that say its value. */
#define VALUE_INT(value) .dtype = DT_INT64, .i = (value)
#define VALUE_FLAG(value) .dtype = DT_INT64, .is_flag = true, .i = (value)
#define VALUE_BOOL(value) .dtype = DT_BOOL, .i = (value)
#define VALUE_FLOAT(value) .dtype = DT_FLOAT32, .f = (double)(value)
#define VALUE_STRING(value) .dtype = DT_STRING, .s = (value)
#define VALUE_LIST(of, member, type, ...)                                                                \
    .dtype = (of), .is_list = true, .count = COUNT_OF(((type[]){__VA_ARGS__})), .member = (type const[]) \
    {                                                                                                    \
        __VA_ARGS__                                                                                      \
    }
#define VALUE_INTS(...) VALUE_LIST(DT_INT64, ints, int64_t, __VA_ARGS__)
#define VALUE_FLOATS(...) VALUE_LIST(DT_FLOAT32, floats, double, __VA_ARGS__)
#define VALUE_STRINGS(...) VALUE_LIST(DT_STRING, strings, const char *, __VA_ARGS__)
#define VALUE_EMPTY(of) .dtype = DT_##of, .is_list = true

/* The attribute's default at a version, in the form of a param; false when the table has none. */
bool default_find(const struct default_row *rows, size_t count, const char *op, int64_t version, const char *attr,
                  struct param *out);

/* Whether the table knows the attribute at that version, as an integer that is 0 or 1. */
bool default_is_flag(const struct default_row *rows, size_t count, const char *op, int64_t version, const char *attr);

#endif
