/* SPDX-License-Identifier: Apache-2.0 */
/* The page of an explanation that net-run wrote. */
#ifndef REPORT_EXPLAIN_EXPLAIN_PAGE_H
#define REPORT_EXPLAIN_EXPLAIN_PAGE_H

#include "base/diag.h"
#include "opendlc/container.h"
#include "text/html_page.h"
#include "text/json.h"

/* The page's own files, joined at build time. */
extern const struct html_page explain_page;

/* Reads an explanation. ODLC_ERR_INVALID: it is none, or of another container; and as json_parse. */
odlc_status explain_page_read(struct arena *arena, struct diags *diags, const struct odlc_bytes *bytes,
                              const odlc_container *container, struct json **out) MUST_USE;
void explain_page_print(FILE *stream, const struct json *explanation);

#endif
