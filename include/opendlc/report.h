/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a container, as reports.
 *
 *     char *json;
 *     size_t size;
 *     if (odlc_container_json(container, NULL, &json, &size) == ODLC_OK)
 *         … fwrite(json, 1, size, stdout) …
 *     odlc_text_free(json);
 *
 * Texts belong to the caller; `size` does not count the NUL behind them. A container may be used by one thread at a
 * time. */
#ifndef OPENDLC_REPORT_H
#define OPENDLC_REPORT_H

#include "opendlc/container.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL is allowed. */
ODLC_API void odlc_text_free(char *text);

/* All zeros but the size: all nodes, lines as long as they are. */
struct odlc_report_options {
    size_t struct_size; /* sizeof(struct odlc_report_options) of the caller */
    const char *nodes;  /* only nodes whose names match this pattern of fnmatch(3); NULL: all */
    unsigned targets;   /* bits 1 << odlc_processor: whose published lists are asked */
    int all_encodings;  /* text and CSV: every channel of encodings along an axis, not what they are between */
    int memory;         /* text: an estimate of the memory that an inference needs */
    int compact;        /* text: a line for each node, what it gives and costs */
    size_t width;       /* text: characters of a line that tables are fitted to; 0: as wide as they are */
    int colours;        /* text: with escapes of terminals (ECMA-48), for bold headers */
};

/* The reports of dlc-info of an open container, or without graphs of one that could not be opened because of its
 * version: as JSON (docs/dlc-info-json.md), as text, and its table of nodes as CSV (RFC 4180). options NULL: the
 * defaults. ODLC_ERR_USAGE: the container is not open, or options that this library does not know. ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_container_json(const odlc_container *container, const struct odlc_report_options *options,
                                         char **text, size_t *size) ODLC_MUST_USE;
ODLC_API odlc_status odlc_container_text(const odlc_container *container, const struct odlc_report_options *options,
                                         char **text, size_t *size) ODLC_MUST_USE;
ODLC_API odlc_status odlc_container_csv(const odlc_container *container, const struct odlc_report_options *options,
                                        char **text, size_t *size) ODLC_MUST_USE;

/* One tensor in detail, as dlc-info --tensor has it: its type, dims and encodings, who writes and reads it, statistics
 * of its values (all of them are read) and the first of these. `name` is that of a tensor of any graph, of an
 * attribute's tensor, or "layer:name" for weights of version 3. JSON as docs/dlc-info-json.md says; of the options the
 * text regards width and colours, NULL: the defaults. Diagnostics are the container's. ODLC_ERR_INVALID: there is no
 * such tensor. ODLC_ERR_USAGE: the container is not open, or options that this library does not know. ODLC_ERR_NOMEM.
 */
ODLC_API odlc_status odlc_container_tensor_json(odlc_container *container, const char *name, char **text,
                                                size_t *size) ODLC_MUST_USE;
ODLC_API odlc_status odlc_container_tensor_text(odlc_container *container, const char *name,
                                                const struct odlc_report_options *options, char **text,
                                                size_t *size) ODLC_MUST_USE;

/* What odlc_container_open and odlc_container_verify found, as dlc-info --verify has it: their diagnostics, and whether
 * there is an error among them; of several verifications the last counts. To be called behind both of them, or behind
 * the first where that failed. JSON as docs/dlc-info-json.md says; of the options the text regards colours, NULL: the
 * defaults. ODLC_ERR_USAGE: nothing was ever opened, or options that this library does not know. ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_container_findings_json(const odlc_container *container, char **text,
                                                  size_t *size) ODLC_MUST_USE;
ODLC_API odlc_status odlc_container_findings_text(const odlc_container *container,
                                                  const struct odlc_report_options *options, char **text,
                                                  size_t *size) ODLC_MUST_USE;

/* All zeros but the size: a page of the container alone. One of `before`, `report` and `explanation` at most. */
struct odlc_page_options {
    size_t struct_size;                   /* sizeof(struct odlc_page_options) of the caller */
    const char *graph;                    /* that is shown first; NULL: the first one */
    const odlc_container *before;         /* an open container: the page shows what differs from it; NULL: none */
    const struct odlc_bytes *report;      /* of dlc-quantize, JSON: the page shows errors; NULL: none */
    const struct odlc_bytes *explanation; /* of net-run, JSON: the page shows that, in place of the graph; NULL: none */
};

/* The page of dlc-viewer: one HTML file that needs no network. It has statistics of constants, which are read for it:
 * the function of odlc_container_set_progress is told how far that is, after a comparison with `before` has told it how
 * far that is. options NULL: the defaults. Diagnostics are the container's. ODLC_ERR_USAGE: a container is not open, it
 * has no graph of the name, or options that this library does not know or that exclude each other.
 * ODLC_ERR_UNSUPPORTED: there is no graph. ODLC_ERR_INVALID: the report or explanation is none, or is of another
 * container. ODLC_ERR_STOPPED: the progress function asked for it. ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_container_page(odlc_container *container, const struct odlc_page_options *options,
                                         char **text, size_t *size) ODLC_MUST_USE;
/* A graph in Graphviz's DOT language; NULL: the first. Fails as odlc_container_page. */
ODLC_API odlc_status odlc_container_dot(odlc_container *container, const char *graph, char **text,
                                        size_t *size) ODLC_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
