/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two containers: found by diff_*.c, printed as JSON (and by dlc-diff as text and CSV). */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include <stdio.h>

#include "api/stored.h"
#include "base/progress.h"
#include "base/vec.h"
#include "opendlc/diff.h"

struct diff_options {
    bool selected[ODLC_DIFF_CATEGORIES];
    bool by_id;                      /* layers and tensors are paired by their ids */
    bool hits;                       /* list what is the same, too */
    const struct progress *progress; /* counts bytes of constants; NULL: nobody wants to know */
};

struct diff {
    struct arena *arena;
    const struct diff_options *options;
    const odlc_container *containers[2];
    VEC(struct odlc_difference) list;
    VEC(const char *) notes; /* what was not compared, as sentences without full stop */
    uint64_t compared[ODLC_DIFF_CATEGORIES], differing[ODLC_DIFF_CATEGORIES];
    bool versions_differ;      /* one is of version 3, the other of version 4 */
    const char *graph, *layer; /* that are being compared */
    void *rooms[2];            /* for bytes that are read; NULL where a container is in memory */
    uint64_t unreleased;       /* bytes read of each file since their pages were given back */
    uint64_t read, total;      /* bytes of constants: how far the comparison is */
    uint64_t read_at_end;      /* … when the constants at work are compared */
    bool stopped;              /* progress asked for it: what was found is not all */
};

/* Compares what the options select; both containers are open. The result is of no use when it is stopped. */
struct diff diff_containers(struct arena *arena, const struct diff_options *options, const odlc_container *first,
                            const odlc_container *second);
bool diff_found(const struct diff *d);

void diff_print_json(FILE *stream, const struct diff *d);

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
bool diff_count(struct diff *d, enum odlc_diff_category category, bool same);
struct odlc_difference *diff_record(struct diff *d, enum odlc_diff_category category, const char *subject, bool same,
                                    const char *first, const char *second);
/* Both steps for texts; NULL: absent. */
void diff_compare_text(struct diff *d, enum odlc_diff_category category, const char *subject, const char *first,
                       const char *second);

void diff_attributes(struct diff *d, const struct odlc_op *first, const struct odlc_op *second);
/* Dimensions, types, encodings and elements of two tensors. */
void diff_tensors(struct diff *d, const struct odlc_tensor *first, const struct odlc_tensor *second);
void diff_graphs(struct diff *d, const struct odlc_graph *first, const struct odlc_graph *second);

/* True when both have the same elements; otherwise *statistics says how far they are apart. Both are readable, have the
 * same number of elements, and are strings both or not at all. */
bool diff_elements(struct diff *d, const struct odlc_tensor *first, const struct odlc_tensor *second,
                   struct odlc_diff_statistics *statistics);
/* Before anything is compared: parts of the comparison rewind the arena. */
void diff_make_rooms(struct diff *d);
/* Says how many bytes of constants are compared. */
void diff_tell(struct diff *d, uint64_t read);
/* Of as many bytes on both sides. */
bool diff_same_bytes(struct diff *d, const struct stored *first, const struct stored *second);
bool diff_same_encodings(const struct odlc_tensor *first, const struct odlc_tensor *second);

#endif
