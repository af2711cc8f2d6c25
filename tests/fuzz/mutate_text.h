/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to texts in a nested form that keep the form: subtrees are copied, removed, swapped and replaced, words
 * become others that are worth a try. */
#ifndef FUZZ_MUTATE_TEXT_H
#define FUZZ_MUTATE_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum piece_kind {
    PIECE_MEMBER,  /* a subtree with its key */
    PIECE_ELEMENT, /* a subtree without */
    PIECE_NAME,
    PIECE_VALUE,
    PIECE_KINDS
};

/* A part of the text: [start, end). */
struct piece {
    size_t start, end;
    enum piece_kind kind;
};

struct text_form {
    /* Finds at most `most` pieces of a text; it may be broken anywhere. Returns their number. */
    size_t (*find)(const char *text, size_t size, struct piece *pieces, size_t most);
    const char *separator;                 /* between subtrees: "," */
    const char *const *words[PIECE_KINDS]; /* that a piece of the kind may become; ends in NULL */
};

/* Changes the first `size` bytes of a buffer of max_size bytes. Returns the new size. */
size_t mutate_text(uint8_t *bytes, size_t size, size_t max_size, unsigned seed, const struct text_form *form);

#endif
