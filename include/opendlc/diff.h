/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two containers.
 *
 *     odlc_diff *d;
 *     if (odlc_diff_new(first, second, NULL, &d) == ODLC_OK && !odlc_diff_same(d))
 *         … odlc_diff_list(d, &count) …
 *     odlc_diff_free(d);
 *
 * Everything that is handed out belongs to the object and stays as it is until odlc_diff_free; the containers must last
 * as long. An object, with its containers, may be used by one thread at a time. */
#ifndef OPENDLC_DIFF_H
#define OPENDLC_DIFF_H

#include "opendlc/report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct odlc_diff odlc_diff;

enum odlc_diff_category {
    ODLC_DIFF_METADATA,   /* versions, metadata but the copyright, files that are no part of the model, graph names */
    ODLC_DIFF_COPYRIGHTS, /* of the model */
    ODLC_DIFF_LAYERS,     /* graphs and layers that only one has; name, type, package, names of inputs */
    ODLC_DIFF_PARAMETERS, /* attributes of layers, with values */
    ODLC_DIFF_OUTPUTS,    /* names of layers' outputs, and of the graph's inputs and outputs */
    ODLC_DIFF_DIMENSIONS, /* of tensors */
    ODLC_DIFF_TYPES,      /* data type, kind and axis format of tensors */
    ODLC_DIFF_ENCODINGS,  /* quantization of tensors */
    ODLC_DIFF_WEIGHTS,    /* elements of constant tensors */
    ODLC_DIFF_CATEGORIES  /* how many there are */
};

struct odlc_diff_statistics {
    uint64_t elements;
    uint64_t differing; /* elements whose reals differ; of tensors of one type and encoding: whose bytes differ */
    int has_stored;     /* both have the same fixed-point type: */
    uint64_t stored;    /* elements that differ as stored */
    int numbers;        /* 0: strings, whose members below are not set */
    uint64_t special;   /* differing elements with a NaN or an infinity; they count in nothing below */
    double max_absolute, max_relative; /* |a - b|, |a - b| / max(|a|, |b|) */
    double cosine;                     /* of the angle between both as vectors; NaN when one is zero */
    uint64_t worst;                    /* index of max_absolute, in stored order */
    double worst_values[2];
};

struct odlc_difference {
    enum odlc_diff_category category;
    const char *graph, *layer;                     /* NULL: of the container, of the graph */
    const char *subject;                           /* what: "stride", a tensor's name, "type" */
    int same;                                      /* of options.hits: it does not differ */
    const char *values[2];                         /* NULL: absent */
    const struct odlc_diff_statistics *statistics; /* of elements; NULL: none */
};

/* All zeros but the size: all is compared, and paired by names. */
struct odlc_diff_options {
    size_t struct_size;     /* sizeof(struct odlc_diff_options) of the caller */
    unsigned categories;    /* bits 1 << category: what is compared; 0: all */
    int by_id;              /* layers and tensors are paired by their ids */
    int hits;               /* list what is the same, too */
    odlc_work_fn *progress; /* told how many bytes of the first one's constants are compared; NULL: nobody */
    void *progress_user;
};

/* Compares two open containers; *diff belongs to the caller. options NULL: the defaults. Weights are read of both files
 * and given back as they are passed, so memory does not grow with them. ODLC_ERR_USAGE: a container is not open, or
 * options that this library does not know. ODLC_ERR_STOPPED: the progress function asked for it. ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_diff_new(const odlc_container *first, const odlc_container *second,
                                   const struct odlc_diff_options *options, odlc_diff **diff) ODLC_MUST_USE;
/* NULL is allowed. */
ODLC_API void odlc_diff_free(odlc_diff *diff);

/* Whether nothing that was compared differs. */
ODLC_API int odlc_diff_same(const odlc_diff *diff);
/* The differences, and with options.hits what is the same, in the order of the first container. */
ODLC_API const struct odlc_difference *odlc_diff_list(const odlc_diff *diff, size_t *count);
/* What was not compared, as sentences without a full stop. */
ODLC_API const char *const *odlc_diff_notes(const odlc_diff *diff, size_t *count);
/* How many comparisons of a category there were, and how many of them found a difference. */
ODLC_API void odlc_diff_count(const odlc_diff *diff, enum odlc_diff_category category, uint64_t *compared,
                              uint64_t *differing);
/* The report as JSON (docs/dlc-diff-json.md), `size` bytes with a NUL behind them, which the caller gives to
 * odlc_text_free; so do the two below. ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_diff_json(const odlc_diff *diff, char **text, size_t *size) ODLC_MUST_USE;
/* The report of dlc-diff for people. options NULL: the defaults; their width and colours count. ODLC_ERR_USAGE: options
 * that this library does not know. ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_diff_text(const odlc_diff *diff, const struct odlc_report_options *options, char **text,
                                    size_t *size) ODLC_MUST_USE;
/* The differences as CSV (RFC 4180): graph, layer, category, what, both values, the difference. ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_diff_csv(const odlc_diff *diff, char **text, size_t *size) ODLC_MUST_USE;

/* "metadata", "copyrights", …; NULL for other numbers. Static storage; any thread may call this. */
ODLC_API const char *odlc_diff_category_name(enum odlc_diff_category category);

#ifdef __cplusplus
}
#endif
#endif
