/* SPDX-License-Identifier: Apache-2.0 */
/* Memory between pages that nobody may touch: an access beside it ends in a signal, whose handler tells what was meant.
 * The process is one for trials alone (trial/contained.h). */
#ifndef TRIAL_GUARDED_H
#define TRIAL_GUARDED_H

#include "base/arena.h"

struct guarded {
    struct guarded *next;
    const char *name; /* "input 0", in findings */
    uint8_t *map, *data;
    size_t mapped, size;
    bool constant; /* its pages are read-only */
};

/* Zeroed memory; at_end: its last byte is the last of a page, else its first byte is
 * the first of one. */
struct guarded *guarded_take(struct arena *arena, const char *name, size_t size, bool at_end);
/* Allows only reading, or writing again. */
void guarded_seal(struct guarded *g, bool constant);
/* Gives all of it back to the system. */
void guarded_give_all(void);
/* The memory that an address lies in or beside; NULL: none. Callable in signal handlers. */
const struct guarded *guarded_find(const void *address);

#endif
