/* SPDX-License-Identifier: Apache-2.0 */
/* The page of an explanation that net-run wrote. */
#ifndef TOOLS_EXPLAIN_EXPLAIN_PAGE_H
#define TOOLS_EXPLAIN_EXPLAIN_PAGE_H

#include "base/diag.h"
#include "opendlc/container.h"

/* The page's own files, joined at build time by embed.py; the explanation goes between the two. Not NUL-terminated. */
extern const char explain_page_head[], explain_page_tail[];
extern const size_t explain_page_head_size, explain_page_tail_size;

/* Appends one HTML file that needs nothing else. ODLC_ERR_INVALID: the file is no explanation, or of another container;
 * and as file_map and json_parse. */
odlc_status explain_page_add(struct arena *arena, struct diags *diags, const char *path,
                             const odlc_container *container, text *page) MUST_USE;

#endif
