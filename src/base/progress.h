/* SPDX-License-Identifier: Apache-2.0 */
/* How far long work is, for whoever wants to know. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include "base/diag.h"

struct progress {
    /* Called by the thread that was asked to do the work, and by no other. False: the work is to stop. total is 0 while
     * the total is not known; the unit is the work's own. */
    bool (*report)(void *user, uint64_t done, uint64_t total);
    void *user;
};

/* Who is told by a program: a struct progress has progress_tell and a pointer to this. */
struct told_work {
    odlc_work_fn *fn; /* NULL: nobody is told */
    void *user;
};
bool progress_tell(void *told, uint64_t done, uint64_t total);

/* Reports to the receiver, if there is one: progress may be NULL, and so may its function. ODLC_ERR_STOPPED, as an
 * error among the diagnostics too, when the work is to stop. */
odlc_status progress_report(const struct progress *progress, struct diags *diags, uint64_t done,
                            uint64_t total) MUST_USE;
/* The same of work that asked by itself, and stopped. */
odlc_status progress_stopped(struct diags *diags) MUST_USE;

#endif
