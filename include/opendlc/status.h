/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a call, and what the library has to say about it.
 *
 * Every function of OpenDLC that can fail returns an odlc_status; on anything but ODLC_OK its outputs are untouched.
 * What went wrong, where, and what would help is collected as diagnostics; the library itself never prints. */
#ifndef OPENDLC_STATUS_H
#define OPENDLC_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ODLC_API __attribute__((visibility("default")))
#define ODLC_MUST_USE __attribute__((warn_unused_result))
#else
#define ODLC_API
#define ODLC_MUST_USE
#endif

typedef enum odlc_status {
    ODLC_OK = 0,
    ODLC_ERR_USAGE,       /* an argument or option makes no sense */
    ODLC_ERR_IO,          /* the operating system refused: open, read, write, rename */
    ODLC_ERR_INVALID,     /* bytes or a description that break their own format's rules */
    ODLC_ERR_UNSUPPORTED, /* valid, but not something OpenDLC can do */
    ODLC_ERR_LIMIT,       /* larger than a documented limit */
    ODLC_ERR_NOMEM,       /* memory ran out */
    ODLC_ERR_INTERNAL,    /* a defect of OpenDLC: an invariant did not hold */
    ODLC_ERR_STOPPED      /* the caller's own function asked for it */
} odlc_status;

typedef enum odlc_severity { ODLC_NOTE, ODLC_WARNING, ODLC_ERROR } odlc_severity;

/* One diagnostic. Every pointer may be NULL and every number 0 when that part of the place is unknown.
 * Strings live as long as the object that the diagnostic was taken from. */
struct odlc_diag {
    odlc_severity severity;
    const char *code;      /* stable, kebab-case: "udo-duplicate-type" */
    const char *file;      /* path as the caller gave it */
    uint32_t line, column; /* 1-based; 0: unknown */
    const char *pointer;   /* JSON pointer into `file`, RFC 6901 */
    const char *node;      /* name of the model's node; an unnamed one goes by type and position: Conv_0 */
    const char *attribute; /* attribute, parameter or input of that node */
    uint64_t offset;       /* byte offset in `file`, when has_offset */
    int has_offset;
    const char *message; /* one sentence, no line break, no full stop */
    const char *hint;    /* what would help */
    const char *excerpt; /* the source line, for a caret under `column` */
};

/* A short English name of a status ("invalid input"). Static storage. */
ODLC_API const char *odlc_status_name(odlc_status status);

#ifdef __cplusplus
}
#endif
#endif
