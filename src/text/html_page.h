/* SPDX-License-Identifier: Apache-2.0 */
/* HTML pages that show JSON which stands in them, in a <script> element. */
#ifndef TEXT_HTML_PAGE_H
#define TEXT_HTML_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* What stands before the JSON, and what after it; not NUL-terminated. Made by src/report/viewer/embed.py. */
struct html_page {
    const char *head;
    size_t head_size;
    const char *tail;
    size_t tail_size;
};

/* One HTML file that needs nothing else. */
void html_page_print(FILE *stream, const struct html_page *page, const char *json, size_t size);
/* The JSON as it can stand inside a <script> element: it has no '<'. */
void html_print_json(FILE *stream, const char *json, size_t size);

#endif
