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

struct odlc_name_value {
    const char *name, *value;
};

/* Bytes in memory that stand for a file. */
struct odlc_bytes {
    const char *name; /* of the file: what options and diagnostics call the bytes, and what its ending says */
    const void *data; /* at any address */
    size_t size;
};

/* Called by the thread that called a long function, in short intervals: how much of the work is done, of how much (0:
 * not known). A result other than 0 ends the work with ODLC_ERR_STOPPED. It must not use the object that is at work. */
typedef int odlc_work_fn(void *user, uint64_t done, uint64_t total);

/* A member of a struct of options that a program sets by its name: of a language that does not compile the headers. */
enum odlc_member_kind {
    ODLC_MEMBER_INT,     /* int */
    ODLC_MEMBER_INT64,   /* int64_t */
    ODLC_MEMBER_SIZE,    /* size_t: the number of what the pointer before it leads to */
    ODLC_MEMBER_DOUBLE,  /* double */
    ODLC_MEMBER_TEXT,    /* const char * */
    ODLC_MEMBER_LIST,    /* const char *const * */
    ODLC_MEMBER_PAIRS,   /* const struct odlc_name_value * */
    ODLC_MEMBER_BUFFERS, /* const struct odlc_bytes * */
    ODLC_MEMBER_POINTER  /* to a function, or to what such a one is given */
};
struct odlc_member {
    const char *name;
    enum odlc_member_kind kind;
    size_t offset; /* in the struct */
};

/* The forms of a diagnostic. Text is "file:line:column: error: message", the line of the file with a caret under the
 * column, and the hint, with escapes for what must not reach a terminal. JSON is an object on a line: severity, code,
 * message, and of file, line, column, pointer, node, attribute, offset, hint those that are known. Both end in a line
 * break. */
enum odlc_diag_form { ODLC_DIAG_TEXT, ODLC_DIAG_JSON };

/* Writes a diagnostic into `text`, cut to `size` bytes with their NUL. `nowhere` stands where text has no file. Gives
 * the bytes that the whole has, without the NUL (as snprintf does: text may be NULL where size is 0); 0: memory ran
 * out. Any thread may call this. */
ODLC_API size_t odlc_diag_format(const struct odlc_diag *diag, enum odlc_diag_form form, const char *nowhere,
                                 char *text, size_t size);

/* A short English name of a status ("invalid input"). Static storage. */
ODLC_API const char *odlc_status_name(odlc_status status);

#ifdef __cplusplus
}
#endif
#endif
