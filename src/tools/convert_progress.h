/* SPDX-License-Identifier: Apache-2.0 */
/* How far a conversion is, on a terminal. */
#ifndef TOOLS_CONVERT_PROGRESS_H
#define TOOLS_CONVERT_PROGRESS_H

#include "opendlc/convert.h"
#include "tools/progress_line.h"

struct work_progress convert_progress(const struct odlc_progress *progress);
/* An odlc_progress_fn; user is a progress_line. */
int convert_progress_report(void *user, const struct odlc_progress *progress);

#endif
