/* SPDX-License-Identifier: Apache-2.0 */
/* A text that a user gives: its lines, and diagnostics that show them. The readers of JSON and XML share this. */
#ifndef TEXT_SOURCE_H
#define TEXT_SOURCE_H

#include "base/diag.h"

#define SOURCE_MAX_BYTES ((size_t)16 << 20)
#define SOURCE_MAX_REPORTS 100 /* errors, and warnings, that are shown; more are only counted */

struct source {
    struct arena *arena;
    struct diags *diags;
    const char *path, *text;
    size_t size;
    size_t errors, warnings;
    VEC(uint32_t) lines; /* offset of each line's first byte */
};

/* The text is borrowed. ODLC_ERR_LIMIT: it is larger than SOURCE_MAX_BYTES; ODLC_ERR_INVALID: it is UTF-16. Leaves
 * lines empty: who scans the text finds them, or source_find_lines does. */
odlc_status source_init(struct source *s, struct arena *arena, struct diags *diags, const char *path, const char *text,
                        size_t size) MUST_USE;
void source_find_lines(struct source *s);

/* The offset of the text's first character, behind a byte order mark. */
size_t source_text_start(const struct source *s);
/* Whether the word stands at an offset. */
bool source_has(const struct source *s, size_t at, const char *word);
/* The offset after the next `word` from at on; the end of the text when there is none. */
size_t source_skip_past(const struct source *s, size_t at, const char *word);
/* Bytes of the valid UTF-8 sequence at an offset of the text, or 0. */
size_t source_utf8_length(const struct source *s, size_t at);

/* The place of an offset: 1-based, columns in bytes. */
void source_line_column(const struct source *s, size_t offset, uint32_t *line, uint32_t *column);

/* A line for a diagnostic's excerpt, in the arena; NULL: it is too long to help. */
const char *source_line(const struct source *s, uint32_t line);

/* Report at a byte of the text; pointer and hint may be NULL. source_error gives ODLC_ERR_INVALID. */
odlc_status source_error(struct source *s, size_t offset, const char *pointer, const char *hint, const char *code,
                         const char *message);
void source_warn(struct source *s, size_t offset, const char *pointer, const char *hint, const char *code,
                 const char *message);
/* Whether one more warning would be shown: others need no look for a near word. */
bool source_shows_warnings(const struct source *s);
/* A note that goes with the error just reported. */
void source_note(struct source *s, size_t offset, const char *code, const char *message);

#endif
