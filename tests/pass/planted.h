/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in which an operator is spelled out, in one of the many ways in which exporters write it, or nearly so. */
#ifndef TESTS_PASS_PLANTED_H
#define TESTS_PASS_PLANTED_H

#include "build/build.h"

enum { NO_FAULT = -1 };

struct planted {
    const char *pass; /* finds the operator … */
    enum op_id op;    /* … which is this one */
    bool is_read;     /* a node outside reads a step */
    struct graph *g;  /* x → the operator → Abs → y */
    /* Places where the graph can be made to compute something else, or to show a step to others: a number that is
       another one, axes of two steps that differ, a step that is a graph output, too, or has a reader outside. */
    int places;
};

size_t plant_kinds(void);
/* In the arena. fault: the place, NO_FAULT for none. */
struct planted plant(struct arena *arena, struct diags *diags, size_t kind, uint64_t seed, int fault);

#endif
