/* SPDX-License-Identifier: Apache-2.0 */
/* What net-run says of an execution besides its results. */
#ifndef TOOLS_RUN_REPORT_H
#define TOOLS_RUN_REPORT_H

#include "tools/run_crew.h"

/* Whether the form of an explanation is the name of a JSON file. */
bool run_report_is_file(const char *form);
/* The backend of each step, why others do not take nodes, and how backends prepared theirs: on standard output, as
 * words (form NULL) or as JSON ("json"); or in a JSON file. */
odlc_status run_report_explain(struct arena *arena, struct diags *diags, const struct run_worker *w,
                               const char *form) MUST_USE;
/* On standard output: the mean time of each step. */
void run_report_profile(struct arena *arena, const struct run_crew *crew);
/* The same as a JSON file. */
odlc_status run_report_json(struct arena *arena, struct diags *diags, const struct run_crew *crew,
                            const char *path) MUST_USE;
/* When each step of each execution ran, as a file for chrome://tracing and Perfetto. */
odlc_status run_report_trace(struct arena *arena, struct diags *diags, const struct run_crew *crew,
                             const char *path) MUST_USE;

#endif
