/* SPDX-License-Identifier: Apache-2.0 */
/* The report of dlc-info as JSON. */
#ifndef REPORT_INFO_JSON_H
#define REPORT_INFO_JSON_H

#include "opendlc/container.h"
#include "text/json_out.h"
#include "text/text_table.h"

/* Of the JSON forms; a change that can break a reader raises it. */
#define INFO_SCHEMA_VERSION 1

struct info_options {
    const char *nodes;  /* only nodes whose names match this pattern of fnmatch(3); NULL: all */
    bool all_encodings; /* every channel of per-axis encodings */
    bool memory;
    bool compact;          /* the text has a line for each node, and no more than a terminal shows */
    unsigned targets;      /* bits of odlc_processor: whose lists are asked */
    struct text_form form; /* of the text */
};

/* "yes", "no" or "unknown". */
const char *info_listing(const struct odlc_op *op, odlc_processor processor);
bool info_node_selected(const struct odlc_op *op, const struct info_options *options);

void info_print_json(FILE *stream, const odlc_container *container, const struct info_options *options);
/* What can be said of a container whose graphs cannot be read. */
void info_print_outline_json(FILE *stream, const odlc_container *container);

void info_write_element(struct json_out *j, const struct odlc_tensor *tensor, uint64_t index);
/* An encoding as an object on a line. */
void info_write_encoding(struct json_out *j, const struct odlc_encoding *encoding);
/* A tensor as an object; key as in json_out.h. */
void info_write_tensor(struct json_out *j, const char *key, const struct odlc_tensor *tensor);

#endif
