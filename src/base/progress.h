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

/* Reports to the receiver, if there is one: progress may be NULL, and so may its function. ODLC_ERR_STOPPED, as an
 * error among the diagnostics too, when the work is to stop. */
odlc_status progress_report(const struct progress *progress, struct diags *diags, uint64_t done,
                            uint64_t total) MUST_USE;

#endif
