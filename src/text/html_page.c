/* SPDX-License-Identifier: Apache-2.0 */
#include "text/html_page.h"

#include <string.h>

/* In JSON a '<' can only stand in a string, where an escape means the same; the HTML parser, which looks for "</script"
 * and "<!--", never sees one. */
void html_print_json(FILE *stream, const char *json, size_t size)
{
    for (const char *at = json, *end = json + size; at < end;) {
        const char *tag = memchr(at, '<', (size_t)(end - at));
        fwrite(at, 1, (size_t)((tag ? tag : end) - at), stream);
        if (tag)
            fputs("\\u003c", stream);
        at = tag ? tag + 1 : end;
    }
}

void html_page_print(FILE *stream, const struct html_page *page, const char *json, size_t size)
{
    fwrite(page->head, 1, page->head_size, stream);
    html_print_json(stream, json, size);
    fwrite(page->tail, 1, page->tail_size, stream);
}
