/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML text as the tree that JSON texts have, whose values know their places. */
#ifndef TEXT_YAML_TEXT_H
#define TEXT_YAML_TEXT_H

#include "text/json.h"

/* Reads a text of one document: mappings with words as keys, sequences, scalars (YAML 1.2's core schema: null, true and
 * false, decimal numbers, and strings). An empty text is null. Aliases and a second document are refused; tags are not
 * looked at. Fails with ODLC_ERR_INVALID, after errors at their places; ODLC_ERR_LIMIT: the text is beyond
 * SOURCE_MAX_BYTES, or has too many values. */
odlc_status yaml_parse(struct arena *arena, struct diags *diags, const char *path, const char *text, size_t size,
                       struct json **out) MUST_USE;

#endif
