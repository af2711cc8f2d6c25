/* SPDX-License-Identifier: Apache-2.0 */
/* Which values are alive: a Switch gives its input to one of its outputs, what reads the other one is not run, and a
 * Merge takes what arrives. A condition is what must hold for a value to be alive. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_CONDITIONS_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_CONDITIONS_H

#include "converters/tensorflow/normalize/frames.h"

enum condition_kind {
    CONDITION_TERMS,
    CONDITION_NEVER,  /* it needs both sides of one conditional */
    CONDITION_UNCLEAR /* a value of a graph that is no composition of conditionals */
};

/* That of a value which is always alive is NULL. Equal ones are one object. */
struct condition {
    enum condition_kind kind;
    uint32_t count;
    struct condition_term {
        fw_name value; /* what a Switch decides by */
        uint32_t side; /* the output that is alive */
    } terms[];         /* all of them hold; sorted by value */
};

bool is_switch(const char *op);
bool is_merge(const char *op);

/* Both hold. */
const struct condition *condition_and(struct normalize *nz, const struct condition *a, const struct condition *b);
/* As well as the condition, output `side` of a Switch that decides by the value is alive. */
const struct condition *condition_with(struct normalize *nz, const struct condition *when, fw_name value,
                                       uint32_t side);

/* Of values that a Merge takes: by which value, and for which of its sides, each is the one that arrives (or
 * NEVER_ALIVE). False when they are not several sides of one conditional. `rest` is when any of them arrives. */
bool condition_split(struct normalize *nz, const struct condition *const *when, uint32_t count, fw_name *value,
                     int64_t *sides, const struct condition **rest);

#endif
