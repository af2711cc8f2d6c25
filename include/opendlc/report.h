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

/* All zeros but the size: all nodes. */
struct odlc_report_options {
    size_t struct_size; /* sizeof(struct odlc_report_options) of the caller */
    const char *nodes;  /* only nodes whose names match this pattern of fnmatch(3); NULL: all */
    unsigned targets;   /* bits 1 << odlc_processor: whose published lists are asked */
};

/* The report of dlc-info as JSON (docs/dlc-info-json.md) of an open container, or without graphs of one that could not
 * be opened because of its version. options NULL: the defaults. ODLC_ERR_USAGE: the container is not open, or options
 * that this library does not know. ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_container_json(const odlc_container *container, const struct odlc_report_options *options,
                                         char **text, size_t *size) ODLC_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
