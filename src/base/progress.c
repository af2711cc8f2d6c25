/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

odlc_status progress_report(const struct progress *progress, struct diags *diags, uint64_t done, uint64_t total)
{
    if (!progress || !progress->report || progress->report(progress->user, done, total))
        return ODLC_OK;
    return diag_error(diags, ODLC_ERR_STOPPED, AT(.file = NULL), "stopped", "the work was stopped");
}
