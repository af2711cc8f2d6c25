/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON text as a tree whose every value knows its place.
 *
 * One strict scan (RFC 8259) makes the tree: it says what is wrong and where, and carries on after the usual slips, so
 * that one run shows them all. Where such a slip leaves no doubt about what is meant (a comment, a comma, single
 * quotes), the tree has what is meant, so that the values are looked at all the same: reading fails nevertheless. */
#ifndef TEXT_JSON_H
#define TEXT_JSON_H

#include "text/source.h"

#define JSON_MAX_VALUES ((size_t)1 << 20)
#define JSON_MAX_DEPTH 64
#define JSON_NO_KEY UINT32_MAX

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* A value of the text, and the key that it stands under. */
struct json_value {
    enum json_kind kind;
    uint32_t begin, end;       /* the bytes [begin, end) of the text */
    uint32_t key_begin;        /* offset of the opening quote of the key; JSON_NO_KEY in arrays and for the root */
    uint32_t position;         /* among the container's children */
    const char *key;           /* without escapes; NULL in arrays and for the root */
    struct json_value *parent; /* NULL: the root */
    struct json_value *next;   /* child of the same container */
    union {
        bool truth;               /* JSON_BOOL */
        double number;            /* JSON_NUMBER: the nearest double, or infinity; the text has all the digits */
        const char *string;       /* JSON_STRING, without escapes */
        struct json_value *child; /* JSON_ARRAY, JSON_OBJECT: the first one; NULL: it is empty */
    };
};

/* Values are in the source's arena. */
struct json {
    struct source source;
    struct json_value *root;
    bool broken; /* of some slip it is not certain what is meant: the tree says nothing */
};

/* Reads the text. All syntax errors are reported before it fails, with ODLC_ERR_INVALID; those that leave no doubt
 * about what is meant, and duplicate keys, are only counted as errors of the source, so that what the values say can be
 * checked, too. A text beyond SOURCE_MAX_BYTES is ODLC_ERR_LIMIT. */
odlc_status json_parse(struct arena *arena, struct diags *diags, const char *path, const char *text, size_t size,
                       struct json **out) MUST_USE;

/* Reports keys that an object has twice. */
void json_check_keys(struct json *j);

/* The scan alone: fills root, broken and the source's lines; errors are counted in the source. */
void json_scan(struct json *j);

static inline bool json_is(const struct json_value *value, enum json_kind kind)
{
    return value && value->kind == kind;
}

/* A container's first child; NULL for an empty one, and for what is none. */
static inline const struct json_value *json_child(const struct json_value *value)
{
    return json_is(value, JSON_ARRAY) || json_is(value, JSON_OBJECT) ? value->child : NULL;
}

/* The first member of that key; NULL: none. */
const struct json_value *json_member(const struct json_value *object, const char *key);
/* RFC 6901, in the source's arena. */
const char *json_pointer(const struct json *j, const struct json_value *value);
/* The text of a value as written: "9007199254740993". */
const char *json_source(const struct json *j, const struct json_value *value, size_t *length);

/* Reports at a byte of the text; pointer and hint may be NULL. These return ODLC_ERR_INVALID. */
odlc_status json_error_at(struct json *j, size_t offset, const char *pointer, const char *hint, const char *code,
                          const char *format, ...) PRINTF_LIKE(6, 7);
/* Report at a value, or at a member's key. */
odlc_status json_error(struct json *j, const struct json_value *value, const char *hint, const char *code,
                       const char *format, ...) PRINTF_LIKE(5, 6);
odlc_status json_key_error(struct json *j, const struct json_value *value, const char *hint, const char *code,
                           const char *format, ...) PRINTF_LIKE(5, 6);
/* A note at a value, for the error just reported. */
void json_note(struct json *j, const struct json_value *value, const char *code, const char *message);
void json_warn(struct json *j, const struct json_value *value, const char *hint, const char *code, const char *format,
               ...) PRINTF_LIKE(5, 6);
void json_key_warn(struct json *j, const struct json_value *value, const char *hint, const char *code,
                   const char *format, ...) PRINTF_LIKE(5, 6);

#endif
