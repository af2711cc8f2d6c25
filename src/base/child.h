/* SPDX-License-Identifier: Apache-2.0 */
/* Work in a process of its own: a crash, an exit or an endless loop there is a result here. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include "base/arena.h"

enum child_end {
    CHILD_RETURNED,  /* the work is done */
    CHILD_EXITED,    /* something ended the process, with that status */
    CHILD_SIGNALLED, /* … by that signal */
    CHILD_TIMED_OUT, /* it did not end in time, and was killed */
    CHILD_UNMADE     /* the system gives no process, by that errno */
};

struct child_fate {
    enum child_end end;
    int number; /* status, signal or errno */
};

/* Zeroed memory that this process and its children see; it is given back with the arena. */
void *child_share(struct arena *arena, size_t size);

/* Runs work(user) in a copy of this process, for so many seconds at most, and waits for its end. What the work changes
 * stays in the copy, but for shared memory; what it prints is lost. If the arena's memory runs out there, it does here.
 */
struct child_fate child_run(struct arena *arena, double seconds, void (*work)(void *user), void *user);

/* "ends the process with status 3", "is ended by signal 11 (Segmentation fault)", "does not end in 10 seconds", …: of
 * any fate but CHILD_RETURNED. */
const char *child_fate_text(struct arena *arena, const struct child_fate *fate, double seconds);

#endif
