/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two containers: found by diff_*.c, printed as text, CSV or JSON. */
#ifndef TOOLS_DIFF_H
#define TOOLS_DIFF_H

#include <stdio.h>

#include "base/vec.h"
#include "opendlc/container.h"

enum diff_category {
    DIFF_METADATA,   /* versions, metadata but the copyright, files that are no part of the model, graph names */
    DIFF_COPYRIGHTS, /* of the model */
    DIFF_LAYERS,     /* graphs and layers that only one has; name, type, package, names of inputs */
    DIFF_PARAMETERS, /* attributes of layers, with values */
    DIFF_OUTPUTS,    /* names of layers' outputs, and of the graph's inputs and outputs */
    DIFF_DIMENSIONS, /* of tensors */
    DIFF_TYPES,      /* data type, kind and axis format of tensors */
    DIFF_ENCODINGS,  /* quantization of tensors */
    DIFF_WEIGHTS,    /* elements of constant tensors */
    DIFF_CATEGORIES
};

/* "metadata", "copyrights", … */
const char *diff_category_name(enum diff_category category);

struct diff_statistics {
    uint64_t elements;
    uint64_t differing; /* elements whose reals differ; of tensors of one type and encoding: whose bytes differ */
    bool has_stored;    /* both have the same fixed-point type: */
    uint64_t stored;    /* elements that differ as stored */
    bool numbers;       /* false: strings, whose members below are not set */
    uint64_t special;   /* differing elements with a NaN or an infinity; they count in nothing below */
    double max_absolute, max_relative; /* |a - b|, |a - b| / max(|a|, |b|) */
    double cosine;                     /* of the angle between both as vectors; NaN when one is zero */
    uint64_t worst;                    /* index of max_absolute, in stored order */
    double worst_values[2];
};

struct difference {
    enum diff_category category;
    const char *graph, *layer; /* NULL: of the container, of the graph */
    const char *subject;       /* what: "stride", a tensor's name, "type" */
    bool same;                 /* a hit */
    const char *values[2];     /* NULL: absent */
    const struct diff_statistics *statistics;
};

struct diff_options {
    bool selected[DIFF_CATEGORIES];
    bool by_id; /* layers and tensors are paired by their ids */
    bool hits;  /* list what is the same, too */
};

struct diff {
    struct arena *arena;
    const struct diff_options *options;
    const odlc_container *containers[2];
    VEC(struct difference) list;
    VEC(const char *) notes; /* what was not compared, as sentences without full stop */
    uint64_t compared[DIFF_CATEGORIES], differing[DIFF_CATEGORIES];
    bool versions_differ;      /* one is of version 3, the other of version 4 */
    const char *graph, *layer; /* that are being compared */
    uint64_t unreleased;       /* bytes read of each file since their pages were given back */
};

/* Compares what the options select; both containers are open. */
struct diff diff_containers(struct arena *arena, const struct diff_options *options, const odlc_container *first,
                            const odlc_container *second);
bool diff_found(const struct diff *d);

void diff_print_text(FILE *stream, const struct diff *d);
void diff_print_json(FILE *stream, const struct diff *d);
void diff_csv(const struct diff *d, text *csv);

/* ---- between the parts of the comparison ---- */

#define DIFF_NONE SIZE_MAX

/* Who belongs to whom: indices of the other side, or DIFF_NONE. */
struct diff_pairs {
    size_t n[2];
    size_t *other[2];
};

struct diff_pairs diff_pairs_create(struct arena *arena, size_t n_first, size_t n_second);
void diff_pair(struct diff_pairs *pairs, size_t first, size_t second);
/* Pairs what has no partner yet and the same key; of several with the same key, the first with the first, and so on.
 * keys[side][index] may be NULL: then it finds nobody. */
void diff_pair_by_key(struct arena *arena, struct diff_pairs *pairs, const char *const *const keys[2]);

/* Counts a comparison; true when it is to be recorded by diff_record. */
bool diff_count(struct diff *d, enum diff_category category, bool same);
struct difference *diff_record(struct diff *d, enum diff_category category, const char *subject, bool same,
                               const char *first, const char *second);
/* Both steps for texts; NULL: absent. */
void diff_compare_text(struct diff *d, enum diff_category category, const char *subject, const char *first,
                       const char *second);

void diff_attributes(struct diff *d, const struct odlc_op *first, const struct odlc_op *second);
/* Dimensions, types, encodings and elements of two tensors. */
void diff_tensors(struct diff *d, const struct odlc_tensor *first, const struct odlc_tensor *second);
void diff_graphs(struct diff *d, const struct odlc_graph *first, const struct odlc_graph *second);

/* True when both have the same elements; otherwise *statistics says how far they are apart. Both are readable, have the
 * same number of elements, and are strings both or not at all. */
bool diff_elements(struct diff *d, const struct odlc_tensor *first, const struct odlc_tensor *second,
                   struct diff_statistics *statistics);
bool diff_same_bytes(struct diff *d, const void *first, const void *second, uint64_t size);
bool diff_same_encodings(const struct odlc_tensor *first, const struct odlc_tensor *second);

#endif
