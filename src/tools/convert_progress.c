/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/convert_progress.h"

struct work_progress convert_progress(const struct odlc_progress *progress)
{
    const char *unit = progress->stage == ODLC_STAGE_WRITE ? NULL : progress->stage == ODLC_STAGE_LOWER ? " nodes" : "";
    return (struct work_progress){
        .stage = odlc_stage_name(progress->stage), .unit = unit, .done = progress->done, .total = progress->total};
}

int convert_progress_report(void *user, const struct odlc_progress *progress)
{
    const struct work_progress p = convert_progress(progress);
    progress_line_report(user, &p);
    return 0;
}
