/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a model's values, each kept once and numbered. */
#ifndef CONVERTERS_FRONTEND_NAMES_H
#define CONVERTERS_FRONTEND_NAMES_H

#include "base/map.h"
#include "converters/frontend/fw_graph.h"

/* A name that may well come again. */
struct recent_name {
    const char *text;
    size_t length; /* 0: none */
    fw_name id;
};

struct fw_names {
    struct arena *kept, *scratch;
    struct map index;             /* text → number */
    VEC(const char *) texts;      /* by number */
    struct recent_name newest;    /* the one that was numbered last */
    struct recent_name again[64]; /* by length and ends: some that came more than once, as names of operators do */
    struct {
        const char *bytes; /* by names_expect; NULL: none */
        size_t length;
        uint32_t hash;
    } expected;
};

/* Texts are kept in one arena; the table is in another, and usable while that is. */
void names_init(struct fw_names *names, struct arena *kept, struct arena *scratch);
/* Makes room for about so many more names, which are `bytes` of the file at most. */
void names_reserve(struct fw_names *names, size_t more, uint64_t bytes);
/* Says that the name of these very bytes is numbered soon: its place in the table is fetched meanwhile. */
void names_expect(struct fw_names *names, const char *bytes, size_t length);
/* The number of a name that is given as bytes, without a NUL. */
fw_name names_number(struct fw_names *names, const char *bytes, size_t length);

static inline const char *names_text(const struct fw_names *names, fw_name id)
{
    return names->texts.data[id];
}

#endif
