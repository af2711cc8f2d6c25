/* SPDX-License-Identifier: Apache-2.0 */
/* What dlc-viewer makes of a container: a page, and Graphviz's text. */
#ifndef TOOLS_VIEWER_VIEWER_H
#define TOOLS_VIEWER_VIEWER_H

#include "base/diag.h"
#include "opendlc/container.h"
#include "text/json.h"
#include "report/diff.h"

/* The page's own files, joined at build time by embed.py; the model goes between the two. Not NUL-terminated. */
extern const char viewer_page_head[], viewer_page_tail[];
extern const size_t viewer_page_head_size, viewer_page_tail_size;

/* Constants whose values are left for later; each says its position in this list as `later`. */
struct viewer_later {
    const struct odlc_tensor **data;
    size_t count, capacity;
};

/* What a page is of. */
struct viewer_subject {
    const odlc_container *container;
    const struct odlc_graph *shown; /* the graph that it shows first */
    const struct json *report;      /* of its quantization; NULL: none */
    const struct diff *diff;        /* from another container to this one; NULL: there is none */
    struct viewer_later *later;     /* gets constants of many values, which are not read then; NULL: all are read */
    /* Told after each constant that was looked at; NULL: nobody. */
    void (*progress)(void *user, uint64_t done, uint64_t total); /* bytes */
    void *user;
};

/* Reads a report of dlc-quantize. ODLC_ERR_INVALID: it is none, or of another container; and as file_map and
 * json_parse.
 */
odlc_status viewer_read_report(struct arena *arena, struct diags *diags, const char *path,
                               const odlc_container *container, struct json **out) MUST_USE;

/* One HTML file that needs nothing else. */
void viewer_add_page(struct arena *arena, const struct viewer_subject *subject, text *page);

/* The model as JSON that can stand inside a <script> element: it has no '<'. */
void viewer_add_model(struct arena *arena, const struct viewer_subject *subject, text *json);

/* The members of a constant that was left for later, as a JSON object; in the arena. */
const char *viewer_values(struct arena *arena, const struct odlc_tensor *tensor, size_t *size);

/* A graph in the DOT language. */
void viewer_add_dot(struct arena *arena, const struct odlc_graph *graph, text *dot);

/* Runs Graphviz's `dot`, found on PATH, on a text in the DOT language; the drawing is appended to `svg`. */
odlc_status viewer_run_graphviz(struct arena *arena, struct diags *diags, const text *dot, text *svg) MUST_USE;

/* Starts the program that opens web pages, `xdg-open` found on PATH, on a file. */
odlc_status viewer_open_page(struct arena *arena, struct diags *diags, const char *path) MUST_USE;

/* Whether the op comes from a package that is not the vendor's. */
bool viewer_is_udo(const struct odlc_op *op);

#endif
