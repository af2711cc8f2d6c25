/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of options whose members stand in a table: what programs are told of them, and their defaults. */
#ifndef BASE_STRUCT_MEMBERS_H
#define BASE_STRUCT_MEMBERS_H

#include <stddef.h>
#include <string.h>

#include "opendlc/status.h"

/* The kind of a member by its type. */
#define MEMBER_KIND(type) \
    _Generic((type *)NULL,                                       \
        int *: ODLC_MEMBER_INT,                                  \
        int64_t *: ODLC_MEMBER_INT64,                            \
        size_t *: ODLC_MEMBER_SIZE,                              \
        double *: ODLC_MEMBER_DOUBLE,                            \
        const char **: ODLC_MEMBER_TEXT,                         \
        const char *const **: ODLC_MEMBER_LIST,                  \
        const struct odlc_name_value **: ODLC_MEMBER_PAIRS,      \
        const struct odlc_bytes **: ODLC_MEMBER_BUFFERS,         \
        default: ODLC_MEMBER_POINTER)

/* Fills a structure of a caller, which begins with its size, with what this version knows of the defaults; the rest is
 * 0. */
static inline void struct_set_defaults(void *options, size_t struct_size, const void *defaults, size_t known)
{
    memset(options, 0, struct_size);
    memcpy(options, defaults, struct_size < known ? struct_size : known);
    memcpy(options, &struct_size, sizeof struct_size);
}

#endif
