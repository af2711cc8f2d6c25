/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of the public API. */
#ifndef TOOLS_GIVEN_TEXT_H
#define TOOLS_GIVEN_TEXT_H

#include "base/arena.h"

/* A text for the out-parameters of a function of opendlc/report.h; freed with the arena. */
struct given_text {
    char *text; /* NULL: none yet */
    size_t size;
};
struct given_text *given_text_new(struct arena *arena);

#endif
