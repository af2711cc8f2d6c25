/* SPDX-License-Identifier: Apache-2.0 */
/* The words, strings and numbers of protobuf's text form. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_PBTXT_SCAN_H
#define CONVERTERS_TENSORFLOW_SOURCE_PBTXT_SCAN_H

#include "base/file.h"

struct scan {
    struct diags *diags;
    const struct file *file;
    const char *text;
    size_t size, pos;
};

/* A number as it is written; which values it may have depends on what it is for. */
struct number {
    size_t at;           /* of its sign or first character */
    size_t from, length; /* of its characters without the sign */
    bool negative;
    bool integer;       /* no point, no exponent, not inf, not nan */
    bool decimal;       /* not octal, not hexadecimal */
    bool fits;          /* an integer: in magnitude */
    uint64_t magnitude; /* of an integer that fits */
};

/* The scan of a whole file. */
void scan_begin(struct scan *s, struct diags *diags, const struct file *file);

/* Reports at a byte of the text: code "pbtxt-syntax" for what is no text form, "pbtxt-value" for what does not fit its
 * field. The hint may be NULL. */
odlc_status scan_error(struct scan *s, size_t at, const char *code, const char *hint, const char *format, ...)
    PRINTF_LIKE(5, 6);
/* The error for a byte at s->pos that cannot stand there. */
odlc_status scan_expected(struct scan *s, const char *expected);

/* Steps over blanks and comments; the byte that follows, or '\0' at the end of the text (a NUL byte in it is refused
 * wherever it stands). */
char scan_peek(struct scan *s);
bool scan_accept(struct scan *s, char c);
bool scan_at_end(const struct scan *s);

/* Letters, digits and underscores, not a digit first; *word points into the text. */
odlc_status scan_word(struct scan *s, const char **word, size_t *length);
/* One literal, or several that follow each other and are one string. Its bytes are added to *out; out may be NULL. */
odlc_status scan_string(struct scan *s, struct arena *arena, text *out);
odlc_status scan_number(struct scan *s, struct number *out);
/* The value as protobuf has it for floating-point fields. */
double number_real(const struct scan *s, const struct number *n);

static inline bool starts_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

#endif
