/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics are collected here and printed by the commands alone. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include "base/arena.h"
#include "base/vec.h"

struct diags {
    struct arena *arena; /* owns the strings */
    const char *model;   /* file of places that name a node and no file; NULL: none */
    const char *subject; /* the model's operator at work: messages call its ops by this name; NULL: none */
    /* What a program calls the option that messages call --NAME: written `so`; NULL: there is none. NULL: as they are.
     */
    const char *(*option_name)(const char *name);
    const struct odlc_bytes *buffers; /* files that the work has in memory (base/file.h) */
    size_t n_buffers;
    VEC(struct odlc_diag) list;
    size_t errors, warnings;
};

void diags_init(struct diags *diags, struct arena *arena);
/* One more file that the work has in memory; the name is copied, the bytes stay the caller's. */
void diags_take_buffer(struct diags *diags, const struct odlc_bytes *bytes);

/* A place, for the functions below:  AT(.file = path, .offset = at, .has_offset = 1) */
#define AT(...) (&(struct odlc_diag){__VA_ARGS__})

/* Records an error and returns status, so that `return diag_error(…)` reads well. `place` gives file, line, …, hint;
 * its strings are copied. Code and message must not be empty; the message is one sentence without a full stop. */
odlc_status diag_error(struct diags *diags, odlc_status status, const struct odlc_diag *place, const char *code,
                       const char *format, ...) PRINTF_LIKE(5, 6);
void diag_warn(struct diags *diags, const struct odlc_diag *place, const char *code, const char *format, ...)
    PRINTF_LIKE(4, 5);
void diag_note(struct diags *diags, const struct odlc_diag *place, const char *code, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* The candidate with the smallest edit distance to word when it is near enough to be a typing error, else NULL. Upper
 * and lower case count as the same. */
const char *nearest_word(const char *word, const char *const *candidates, size_t count);

/* 1-based line and column (in bytes) of an offset in text, and a copy of that line for `excerpt`. */
void text_place(struct arena *arena, const char *text, size_t size, size_t offset, struct odlc_diag *place);

#endif
