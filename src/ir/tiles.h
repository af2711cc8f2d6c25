/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a view in tiles of bounded size, which are made one by one, in any order and by any thread. */
#ifndef IR_TILES_H
#define IR_TILES_H

#include "ir/permute.h"
#include "ir/view.h"

struct view_tiles {
    const struct view *view;
    enum dtype as;
    uint64_t count; /* of tiles */
    /* For the functions here: */
    uint64_t total, per_tile; /* elements; those of a tile when the source's order is the result's */
    int64_t tile;             /* bytes that one may have */
    bool in_order;
    bool converts;             /* the elements are not just moved */
    bool reads;                /* through a buffer, not the mapping */
    struct box box;            /* of a permuted tile that is not cut off by the end of an axis; strides of the source */
    int64_t dims[MAX_RANK];    /* of the result, with axes that stay together as one */
    int64_t results[MAX_RANK]; /* strides of the result */
    uint32_t by_stride[MAX_RANK]; /* axes, the one with the smallest stride in the source first */
    uint64_t scale_run, channels; /* elements of the result that share a factor, and how many factors there are */
};

/* Where a thread makes tiles; each thread has its own. */
struct tile_space {
    uint8_t *source, *ordered, *converted;
    uint64_t size;           /* bytes of source, and of ordered */
    bool has_large;          /* tiles of a view that was read */
    const struct file *file; /* through whose mapping `resident` bytes were read since pages were dropped */
    uint64_t resident, window;
    const uint8_t *permuted; /* the source of the permuted view at work */
};

/* A permuted view of a file touches pages all over it: one of more than `mapped` bytes is read instead, in tiles of up
 * to a fifth of that. */
void view_tiles_start(const struct view *view, enum dtype as, uint64_t mapped, struct view_tiles *out);
/* Whether the bytes that are handed out are those of the mapping, which only the system may touch: a file that became
 * shorter would be a signal. */
bool view_tiles_as_mapped(const struct view_tiles *tiles);
/* Bytes of permuted views that all threads together may have mapped. */
#define TILES_MAPPED (UINT64_C(20) << 20)
/* Space for the tiles of any view of at most so many elements; or for those of one, which is less. */
struct tile_space tile_space_new(struct arena *arena, uint64_t elements);
struct tile_space tile_space_for(struct arena *arena, const struct view_tiles *tiles);
/* Tells the system that what was read through mappings is not needed any more. */
void tile_space_drop(struct tile_space *space);
/* The same of what is beyond a tile of a view that is mapped: large tiles and that one's pages would take memory
 * together. The space must have come from tile_space_new; one that makes all its tiles shrinks by itself. */
void tile_space_shrink(struct tile_space *space, const struct view_tiles *tiles);

/* Makes a tile and hands it out in one or more pieces. ODLC_ERR_IO, without a diagnostic, when the source cannot be
 * read; or what emit gives. Uses no arena. */
odlc_status view_tile(const struct view_tiles *tiles, uint64_t index, struct tile_space *space, view_emit_fn *emit,
                      void *user) MUST_USE;

/* A tile that is not in order, made, and not yet handed out: */
struct made_tile {
    struct box box;         /* of the source's elements that it has */
    int64_t first;          /* where it begins: an element of the result */
    const uint8_t *ordered; /* its elements in the order of the result; the space's, that it was made in */
};
/* The two halves of view_tile for tiles that are not in order, which different threads can do, each in a space of its
 * own. A tile holds until its space makes the next one; space->ordered may be another of the same size by then. */
odlc_status view_tile_make(const struct view_tiles *tiles, uint64_t index, struct tile_space *space,
                           struct made_tile *out) MUST_USE;
odlc_status view_tile_emit(const struct view_tiles *tiles, const struct made_tile *made, struct tile_space *space,
                           view_emit_fn *emit, void *user) MUST_USE;

#endif
