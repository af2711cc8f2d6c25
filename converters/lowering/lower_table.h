/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a front end's operators: which function lowers which of them. */
#ifndef CONVERTERS_LOWERING_LOWER_TABLE_H
#define CONVERTERS_LOWERING_LOWER_TABLE_H

#include "converters/lowering/lower.h"

enum lower_trait {
    TAKES_VALUES = 1,   /* operands may be other values than tensors; other operators get tensors alone */
    TAKES_DEAD = 2,     /* the same, and values of branches that are not taken */
    HOLDS_BRANCHES = 4, /* its graphs are branches, of which only one may be needed; what these take may be any value */
    TAKES_PARTS = 8,    /* elements move and stay what they are: complex operands are taken part by part */
    TAKES_COMPLEX = 16  /* operands may be tensors and complex numbers */
};

/* A row of a front end's table: which function lowers (domain, op) for versions lo … hi. */
struct lower_row {
    const char *domain, *op;
    int64_t lo, hi; /* inclusive; LATEST: no upper end */
    lower_fn *fn;
    /* What tells the rows of one function apart: the operator that it makes, or a word; what the operands may be. */
    struct lower_kind {
        enum op_id op;       /* OP_CUSTOM: none */
        const char *variant; /* or NULL */
        uint8_t traits;      /* enum lower_trait */
    } kind;
};
#define PLAIN           \
    {                   \
        .op = OP_CUSTOM \
    }
#define MAKES(name)     \
    {                   \
        .op = OP_##name \
    }
#define AS(word)        \
    {                   \
        .variant = word \
    }
#define IS(trait)       \
    {                   \
        .traits = trait \
    }
#define IS_AS(trait, word)               \
    {                                    \
        .variant = word, .traits = trait \
    }

struct lower_table {
    const struct lower_row *rows; /* sorted by domain, operator and first version */
    size_t count;
};

/* The row for an operator of that version; NULL: the table has none. */
const struct lower_row *lower_find_row(const struct lower_table *table, const char *domain, const char *op,
                                       int64_t version);
/* Whether some version of the operator has a row. */
bool lower_has_row(const struct lower_table *table, const char *domain, const char *op);

#endif
