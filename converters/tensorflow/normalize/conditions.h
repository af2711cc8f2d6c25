/* Which values are alive: a Switch gives its input to one of its outputs, what reads the other one is not run, and a
 * Merge takes what arrives. A condition is what must hold for a value to be alive. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_CONDITIONS_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_CONDITIONS_H

#include "converters/tensorflow/normalize/flatten.h"

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
const struct condition *condition_and(struct flatten *f, const struct condition *a, const struct condition *b);
/* As well as the condition, output `side` of a Switch that decides by the value is alive. */
const struct condition *condition_with(struct flatten *f, const struct condition *when, fw_name value, uint32_t side);

/* The side of values that never arrive. */
#define NEVER_ALIVE (-1)
/* Of values that a Merge takes: by which value, and for which of its sides, each is the one that arrives. False when
 * they are not two sides of one conditional. `rest` is when any of them arrives. */
bool condition_split(struct flatten *f, const struct condition *const *when, uint32_t count, fw_name *value,
                     int64_t *sides, const struct condition **rest);

/* The value that a Switch decides by, whatever names it goes by. */
odlc_status switch_value(struct flatten *f, struct frame *frame, uint32_t node, fw_name *out) MUST_USE;
/* Whether a control input of a node in a branch stands for the branch. */
bool is_branch_pivot(const struct flatten *f, const struct frame *frame, const char *control);

#endif
