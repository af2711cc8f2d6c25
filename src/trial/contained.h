/* SPDX-License-Identifier: Apache-2.0 */
/* Work in a process of its own, which may crash, hang or end: what it found until then is kept. */
#ifndef TRIAL_CONTAINED_H
#define TRIAL_CONTAINED_H

#include "base/arena.h"

enum { FOUND_MOST = 32, STAGE_LENGTH = 256 };

struct found {
    char code[32], message[1536], hint[256];
};

/* Shared by the two processes; the child writes. */
struct contained {
    char stage[STAGE_LENGTH]; /* what the child is at: "execute, input [1,5]" */
    uint32_t count;
    struct found found[FOUND_MOST];
    uint32_t cases, refused; /* made inputs that were tried, and those that the kernel refused */
    uint64_t allocations;
    uint32_t programs;         /* for GPUs: different texts and options of kernels */
    double microseconds;       /* of a call on the largest made inputs; 0: not measured */
    bool counted, compared;    /* allocations; with a native operator */
    double largest_difference; /* from the native operator */
    char nan[24], infinity[24], denormal[24];
    char untried[256]; /* why nothing could be executed here; "": it could */
    /* of a signal: */
    int signal;
    char accessed[64]; /* name of the memory */
    int access;        /* enum access */
};

enum access { ACCESS_NONE, ACCESS_BEFORE, ACCESS_BEHIND, ACCESS_CONSTANT };

struct contained *contained_new(struct arena *arena);
/* Runs work in a child. What ends it early is a finding ("kernel-crash", "kernel-hangs", …). */
void contained_run(struct arena *arena, struct contained *c, double seconds,
                   void (*work)(struct contained *c, void *user), void *user);
/* Notes a finding; a second one of a code is left out. */
void contained_found(struct contained *c, const char *code, const char *hint, const char *format, ...)
    PRINTF_LIKE(4, 5);
void contained_stage(struct contained *c, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
