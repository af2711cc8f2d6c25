/* A JSON text whose every value knows its place.
 *
 * cJSON builds the tree, but it is lenient, keeps no places and only says where it gave up. So a scan of our own goes
 * first: it checks the text strictly (RFC 8259), says what is wrong and where, carries on after the usual slips so that
 * one run shows them all, and notes the place of each value in document order. The tree is then tied to those notes.
 * Slips that are plain to mend (a comment, a comma, single quotes) are, in a copy, so that what the text means is
 * looked at all the same: it fails nevertheless. */
#ifndef UDO_JSON_H
#define UDO_JSON_H

#include <cjson/cJSON.h>

#include "udo/source.h"

#define JSON_MAX_VALUES ((size_t)1 << 20)
#define JSON_MAX_DEPTH 64
#define JSON_NO_KEY UINT32_MAX

/* Where a value stands: offsets into the text. */
struct json_spot {
    uint32_t key;        /* of the opening quote of its key; JSON_NO_KEY in arrays and for the root */
    uint32_t value, end; /* [value, end) */
    uint32_t parent;     /* index of the container's spot; the root is its own parent */
    uint32_t position;   /* among the container's children */
    const cJSON *item;
};

struct json {
    struct source source;
    char *mended; /* the text that makes the tree, of the size of the source's; NULL: that itself */
    bool broken;  /* there are slips that cannot be mended */
    cJSON *root;
    VEC(struct json_spot) spots; /* in document order; item->valueint is an item's index */
};

/* Reads the text. All syntax errors are reported before it fails; those that can be mended, and duplicate keys, are
 * only counted as errors, so that what the values say can be checked, too. */
odlc_status json_parse(struct arena *arena, struct diags *diags, const char *path, const char *text, size_t size,
                       struct json **out) MUST_USE;

/* The strict scan alone: fills spots, lines, mended and broken; errors are counted in the source. */
void json_scan(struct json *j);

const struct json_spot *json_spot(const struct json *j, const cJSON *item);
/* RFC 6901, in the arena. */
const char *json_pointer(const struct json *j, const cJSON *item);
/* The text of a value as written: "9007199254740993". */
const char *json_source(const struct json *j, const cJSON *item, size_t *length);

/* Reports at a byte of the text; pointer and hint may be NULL. */
odlc_status json_error_at(struct json *j, size_t offset, const char *pointer, const char *hint, const char *code,
                          const char *format, ...) PRINTF_LIKE(6, 7);
/* Report at a value, or at a member's key. */
odlc_status json_error(struct json *j, const cJSON *item, const char *hint, const char *code, const char *format, ...)
    PRINTF_LIKE(5, 6);
odlc_status json_key_error(struct json *j, const cJSON *item, const char *hint, const char *code, const char *format,
                           ...) PRINTF_LIKE(5, 6);
/* A note at a value, for the error just reported. */
void json_note(struct json *j, const cJSON *item, const char *code, const char *message);
void json_warn(struct json *j, const cJSON *item, const char *hint, const char *code, const char *format, ...)
    PRINTF_LIKE(5, 6);
void json_key_warn(struct json *j, const cJSON *item, const char *hint, const char *code, const char *format, ...)
    PRINTF_LIKE(5, 6);

#endif
