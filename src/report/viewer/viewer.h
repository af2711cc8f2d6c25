/* SPDX-License-Identifier: Apache-2.0 */
/* What dlc-viewer makes of a container: a page, and Graphviz's text. */
#ifndef REPORT_VIEWER_VIEWER_H
#define REPORT_VIEWER_VIEWER_H

#include "base/progress.h"
#include "opendlc/container.h"
#include "report/diff.h"
#include "text/html_page.h"
#include "text/json.h"

/* The page's own files, joined at build time; the model goes between the two parts. */
extern const struct html_page viewer_page;

/* Constants whose values are left for later; each says its position in this list as `later`. */
struct viewer_later {
    const struct odlc_tensor **data;
    size_t count, capacity;
};

/* What a page is of. */
struct viewer_subject {
    const odlc_container *container;
    const struct odlc_graph *shown;  /* the graph that it shows first */
    const struct json *report;       /* of its quantization; NULL: none */
    const struct diff *diff;         /* from another container to this one; NULL: there is none */
    struct viewer_later *later;      /* gets constants of many values, which are not read then; NULL: all are read */
    const struct progress *progress; /* counts bytes of constants; NULL: nobody wants to know */
};

/* Reads a report of dlc-quantize. ODLC_ERR_INVALID: it is none, or of another container; and as json_parse. */
odlc_status viewer_read_report(struct arena *arena, struct diags *diags, const struct odlc_bytes *report,
                               const odlc_container *container, struct json **out) MUST_USE;

/* The model as the page's JSON, of the arena. ODLC_ERR_STOPPED: progress asked for it. */
odlc_status viewer_model(struct arena *arena, struct diags *diags, const struct viewer_subject *subject,
                         const char **json, size_t *size) MUST_USE;

/* The members of a constant that was left for later, as a JSON object; in the arena. */
const char *viewer_values(struct arena *arena, const struct odlc_tensor *tensor, size_t *size);

/* A graph in the DOT language. */
void viewer_add_dot(struct arena *arena, const struct odlc_graph *graph, text *dot);

/* Whether the op comes from a package that is not the vendor's. */
bool viewer_is_udo(const struct odlc_op *op);

#endif
