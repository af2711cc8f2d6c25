/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

bool progress_tell(void *told, uint64_t done, uint64_t total)
{
    const struct told_work *work = told;
    return !work->fn || work->fn(work->user, done, total) == 0;
}

odlc_status progress_stopped(struct diags *diags)
{
    return diag_error(diags, ODLC_ERR_STOPPED, AT(.file = NULL), "stopped", "the work was stopped");
}

odlc_status progress_report(const struct progress *progress, struct diags *diags, uint64_t done, uint64_t total)
{
    if (!progress || !progress->report || progress->report(progress->user, done, total))
        return ODLC_OK;
    return progress_stopped(diags);
}
