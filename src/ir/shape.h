/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes and permutations. */
#ifndef IR_SHAPE_H
#define IR_SHAPE_H

#include "base/diag.h"

#define MAX_RANK 8

struct shape {
    uint32_t rank;
    int64_t dims[MAX_RANK]; /* >= 0; entries past rank are 0 */
};

#define SHAPE(...) ((struct shape){.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .dims = {__VA_ARGS__}})

/* The number of elements; 1 for rank 0. Shapes in a graph are checked when they enter it, so the product fits. */
uint64_t shape_count(const struct shape *shape);
/* The product of dims [from, to). */
uint64_t shape_count_range(const struct shape *shape, uint32_t from, uint32_t to);
/* The product of the dims that are not 0, or UINT64_MAX: what loops over all axes may take. */
uint64_t shape_steps(const struct shape *shape);
/* The largest product of the other dims where one is 0: without elements there is nothing to do, and loops over an axis
 * do it that often. */
#define SHAPE_MOST_EMPTY (1 << 28)
/* True when the product of the dims that are not 0 times 16 bytes does not fit in an int64, a dim is negative, or there
 * are no elements in dims beyond SHAPE_MOST_EMPTY. */
bool shape_too_large(const struct shape *shape);
bool shape_equal(const struct shape *a, const struct shape *b);
/* Row-major strides in elements. */
void shape_strides(const struct shape *shape, int64_t strides[MAX_RANK]);
/* "[1,3,240,320]", in the arena. */
const char *shape_text(struct arena *arena, const struct shape *shape);
/* numpy-style broadcast of both; false when they do not match. */
bool shape_broadcast(const struct shape *a, const struct shape *b, struct shape *out);
/* axis in [-rank, rank) → [0, rank); false for an axis outside of that. */
bool axis_normalize(int64_t axis, uint32_t rank, uint32_t *out);

/* A permutation as Transpose has it: axis i of the result is axis perm.axis[i] of the source. */
struct perm {
    uint32_t rank;
    uint8_t axis[MAX_RANK];
};

#define PERM(...) ((struct perm){.rank = sizeof((uint8_t[]){__VA_ARGS__}), .axis = {__VA_ARGS__}})

struct perm perm_identity(uint32_t rank);
/* [0, 2, …, rank-1, 1]: channels-first → channels-last. Identity below rank 3. */
struct perm perm_channels_last(uint32_t rank);
struct perm perm_channels_first(uint32_t rank);
bool perm_is_identity(const struct perm *p);
bool perm_equal(const struct perm *a, const struct perm *b);
struct perm perm_inverse(const struct perm *p);
/* First `first`, then `second`, as one permutation: result.axis[i] = first.axis[second.axis[i]]. */
struct perm perm_compose(const struct perm *first, const struct perm *second);
bool perm_is_valid(const struct perm *p);
/* The position i with p.axis[i] == axis: where a source axis is found in the result. */
uint32_t perm_find(const struct perm *p, uint32_t axis);
struct shape perm_apply(const struct perm *p, const struct shape *shape);

#endif
