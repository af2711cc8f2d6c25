/* SPDX-License-Identifier: Apache-2.0 */
/* JSON on a stream. Commas and line breaks are put by the writer; strings that are not UTF-8 get U+FFFD for each bad
 * byte, and numbers that JSON does not have (infinities, NaN) become strings. */
#ifndef TEXT_JSON_OUT_H
#define TEXT_JSON_OUT_H

#include <stdio.h>

#include "base/base.h"

/* Enough for the deepest attributes that the container reader lets through: two levels for each of its 64. */
#define JSON_OUT_MAX_DEPTH 192

struct json_out {
    FILE *stream;
    unsigned depth;
    bool compact;                       /* all on one line */
    bool has_items[JSON_OUT_MAX_DEPTH]; /* the container at that depth */
    bool inlined[JSON_OUT_MAX_DEPTH];   /* the container at that depth is written on one line */
};

struct json_out json_out_to(FILE *stream, bool compact);

/* key NULL: an element of an array, or the whole text. */
void json_object(struct json_out *j, const char *key);
void json_array(struct json_out *j, const char *key);
/* The same on one line, whatever is in it. */
void json_object_inline(struct json_out *j, const char *key);
void json_array_inline(struct json_out *j, const char *key);
/* Ends the innermost object or array. */
void json_end_object(struct json_out *j);
void json_end_array(struct json_out *j);

void json_string(struct json_out *j, const char *key, const char *value); /* value NULL: null */
void json_int(struct json_out *j, const char *key, int64_t value);
void json_uint(struct json_out *j, const char *key, uint64_t value);
/* The shortest decimal that reads back as the same double. */
void json_double(struct json_out *j, const char *key, double value);
/* JSON as it stands. */
void json_written(struct json_out *j, const char *key, const char *json, size_t length);
void json_bool(struct json_out *j, const char *key, bool value);
/* A value that is JSON already; as compact as it is. */
void json_raw(struct json_out *j, const char *key, const char *json);

#endif
