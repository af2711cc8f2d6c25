/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as texts of the caller's. */
#ifndef REPORT_REPORT_TEXT_H
#define REPORT_REPORT_TEXT_H

#include <stdio.h>

#include "base/diag.h"
#include "opendlc/report.h"

typedef void report_print_fn(FILE *stream, struct arena *arena, const void *subject);
/* What `print` writes, with memory of an arena of its own, as a text that odlc_text_free takes. ODLC_ERR_NOMEM. */
odlc_status report_text(report_print_fn *print, const void *subject, char **text, size_t *size) MUST_USE;
/* The same with an arena that the caller has, whose exhaustion the caller catches. */
odlc_status report_text_in(struct arena *arena, report_print_fn *print, const void *subject, char **text,
                           size_t *size) MUST_USE;

/* Work on a container with an arena of its own. */
struct report_work {
    struct arena *arena;
    struct diags *diags; /* the container's */
    odlc_container *container;
    char **text;
    size_t *size;
};
typedef odlc_status report_make_fn(const struct report_work *work, const void *options);
/* What `make` gives; ODLC_ERR_NOMEM. */
odlc_status report_work_for(odlc_container *container, report_make_fn *make, const void *options, char **text,
                            size_t *size) MUST_USE;

/* Whether the container is open, or at least described; ODLC_ERR_USAGE with a diagnostic. */
odlc_status report_check_open(struct diags *diags, const odlc_container *container) MUST_USE;
/* The graph of that name; NULL: the first. ODLC_ERR_USAGE: there is none of the name, or the container is not open.
 * ODLC_ERR_UNSUPPORTED: it has no graph. Both are errors among the diagnostics. */
odlc_status report_find_graph(struct arena *arena, struct diags *diags, const odlc_container *container,
                              const char *name, const struct odlc_graph **out) MUST_USE;

#endif
