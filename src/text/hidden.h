/* SPDX-License-Identifier: Apache-2.0 */
/* Characters that must not reach a terminal as they are. Names come from files that anybody may have written: controls
 * would steer the terminal, and characters that nobody sees, or that turn the direction of writing, would show another
 * name than there is. */
#ifndef TEXT_HIDDEN_H
#define TEXT_HIDDEN_H

#include <stdbool.h>
#include <stddef.h>

enum { HIDDEN_ESCAPE = 12 }; /* bytes of an escape, with its NUL */

/* Length of the character at the start of text, of which `left` (at least 1) bytes are there; a byte that is no UTF-8
 * is one. Fills escape with "" where it can be shown, else with what
 * stands for it: \xNN for a byte, \uNNNN or \UNNNNNNNN for others. */
size_t hidden_escape(const char *text, size_t left, char escape[HIDDEN_ESCAPE]);
/* Whether the bytes have such a character. */
bool hidden_anywhere(const char *text, size_t length);

#endif
