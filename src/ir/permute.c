/* SPDX-License-Identifier: Apache-2.0 */
/* Along the result's last axis neighbours are far apart in the source, and what is contiguous in the source (a run) is
 * far apart in the result. So a run is transposed with as many of its parallels (lanes) as fill a cache line of the
 * result, in squares that fit vector registers: both sides are touched a line at a time. */
#include "ir/permute.h"

#include <string.h>

#include "ir/lanes.h"

enum {
    LINE = 64,      /* bytes of a cache line */
    VECTOR = 16,    /* bytes of a vector register that every machine has */
    LONGEST = 1024, /* elements of a run that are worked on at a time */
};

static inline void move_plain(const struct lanes *l, int64_t from_k, int64_t from_lane, int64_t lanes, uint32_t size)
{
    for (int64_t k = from_k; k < l->n; k++)
        for (int64_t lane = from_lane; lane < from_lane + lanes; lane++)
            memcpy(l->out + l->places[k] + lane * size, l->source + lane * l->step + k * size, size);
}

#define SCALAR_LANES(size)                                 \
    static void lanes_scalar_##size(const struct lanes *l) \
    {                                                      \
        move_plain(l, 0, 0, l->count, size);               \
    }

SCALAR_LANES(1)
SCALAR_LANES(2)
SCALAR_LANES(4)
SCALAR_LANES(8)

static lanes_fn *const scalar_kernels[] = {
    [1] = lanes_scalar_1, [2] = lanes_scalar_2, [4] = lanes_scalar_4, [8] = lanes_scalar_8};

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAVE_SHUFFLES
#endif
#endif

#ifdef HAVE_SHUFFLES

typedef uint8_t vector_1 __attribute__((vector_size(VECTOR)));
typedef uint16_t vector_2 __attribute__((vector_size(VECTOR)));
typedef uint32_t vector_4 __attribute__((vector_size(VECTOR)));
typedef uint64_t vector_8 __attribute__((vector_size(VECTOR)));

/* The lower (upper) halves of two vectors, element by element in turn. */
#define LOWER_1(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define UPPER_1(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOWER_2(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define UPPER_2(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOWER_4(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define UPPER_4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOWER_8(a, b) __builtin_shufflevector(a, b, 0, 2)
#define UPPER_8(a, b) __builtin_shufflevector(a, b, 1, 3)

/* Interleaving each row with the one half the rows further down transposes a square after log2(rows) rounds. A square
 * has as many lanes as a vector has elements; `squares` of them lie side by side. */
#define VECTOR_LANES(size)                                                              \
    static inline void square_##size(const struct lanes *l, int64_t k, int64_t lane)    \
    {                                                                                   \
        enum { ROWS = VECTOR / (size) };                                                \
        vector_##size rows[ROWS], next[ROWS];                                           \
        for (int i = 0; i < ROWS; i++)                                                  \
            memcpy(&rows[i], l->source + (lane + i) * l->step + k * (size), VECTOR);    \
        for (int round = 1; round < ROWS; round *= 2) {                                 \
            for (int i = 0; i < ROWS / 2; i++) {                                        \
                next[2 * i] = LOWER_##size(rows[i], rows[i + ROWS / 2]);                \
                next[2 * i + 1] = UPPER_##size(rows[i], rows[i + ROWS / 2]);            \
            }                                                                           \
            memcpy(rows, next, sizeof rows);                                            \
        }                                                                               \
        for (int i = 0; i < ROWS; i++)                                                  \
            memcpy(l->out + l->places[k + i] + lane * (size), &rows[i], VECTOR);        \
    }                                                                                   \
    static inline void squares_##size(const struct lanes *l, int64_t lane, int squares) \
    {                                                                                   \
        enum { ROWS = VECTOR / (size) };                                                \
        int64_t k = 0;                                                                  \
        for (; k + ROWS <= l->n; k += ROWS)                                             \
            for (int i = 0; i < squares; i++)                                           \
                square_##size(l, k, lane + i * ROWS);                                   \
        move_plain(l, k, lane, squares *ROWS, size);                                    \
    }                                                                                   \
    static void lanes_vector_##size(const struct lanes *l)                              \
    {                                                                                   \
        enum { ROWS = VECTOR / (size), PER_LINE = LINE / (size) };                      \
        int64_t lane = 0;                                                               \
        for (; lane + PER_LINE <= l->count; lane += PER_LINE)                           \
            squares_##size(l, lane, PER_LINE / ROWS);                                   \
        for (; lane + ROWS <= l->count; lane += ROWS)                                   \
            squares_##size(l, lane, 1);                                                 \
        move_plain(l, 0, lane, l->count - lane, size);                                  \
    }

VECTOR_LANES(1)
VECTOR_LANES(2)
VECTOR_LANES(4)
VECTOR_LANES(8)

static lanes_fn *const kernels[] = {
    [1] = lanes_vector_1, [2] = lanes_vector_2, [4] = lanes_vector_4, [8] = lanes_vector_8};
#else
#define kernels scalar_kernels
#endif

/* ---- walking a box ---- */

/* Axes of a box that are walked one position at a time, the last fastest, and where that leads. */
struct walk {
    uint32_t count;
    int64_t extent[MAX_RANK], at[MAX_RANK];
    int64_t out_step[MAX_RANK], source_step[MAX_RANK]; /* bytes */
    int64_t out, source;
};

static void walk_axis(struct walk *w, const struct box *box, const int64_t *result_strides, uint32_t axis)
{
    w->extent[w->count] = box->extent[axis];
    w->out_step[w->count] = result_strides[axis] * box->size;
    w->source_step[w->count++] = box->strides[axis] * box->size;
}

/* False, and back at the beginning, after the last position. */
static bool walk_on(struct walk *w)
{
    for (uint32_t k = w->count; k-- > 0;) {
        w->out += w->out_step[k];
        w->source += w->source_step[k];
        if (++w->at[k] < w->extent[k])
            return true;
        w->out -= w->extent[k] * w->out_step[k];
        w->source -= w->extent[k] * w->source_step[k];
        w->at[k] = 0;
    }
    return false;
}

/* The axes but the last, those with large strides in the source first: so it is read forwards. */
static uint32_t outer_axes(const struct box *box, uint32_t axes[MAX_RANK])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < box->rank; i++) {
        uint32_t k = count++;
        for (; k > 0 && box->strides[axes[k - 1]] < box->strides[i]; k--)
            axes[k] = axes[k - 1];
        axes[k] = i;
    }
    return count;
}

/* The last axis is contiguous on both sides. */
static void move_rows(const struct box *box, struct walk *rows, uint8_t *out, const uint8_t *source)
{
    size_t size = (size_t)box->extent[box->rank - 1] * box->size;
    do
        memcpy(out + rows->out, source + rows->source, size);
    while (walk_on(rows));
}

static void lanes_wide_512(const struct lanes *l)
{
    lanes_avx512_4(l, kernels[4]);
}

static void lanes_wide_256(const struct lanes *l)
{
    lanes_avx2_4(l, kernels[4]);
}

static lanes_fn *kernel_for(uint32_t size, enum permute_kernel widest)
{
    if (widest == PERMUTE_SCALAR)
        return scalar_kernels[size];
    if (size == 4 && widest >= PERMUTE_AVX512 && lanes_have_avx512())
        return lanes_wide_512;
    if (size == 4 && widest >= PERMUTE_AVX2 && lanes_have_avx2())
        return lanes_wide_256;
    return kernels[size];
}

void permute_box_by(const struct box *box, uint8_t *out, const uint8_t *source, enum permute_kernel widest)
{
    lanes_fn *move = kernel_for(box->size, widest);
    uint32_t axes[MAX_RANK], n_axes = outer_axes(box, axes), last = box->rank - 1;
    struct shape shape = {.rank = box->rank};
    int64_t result_strides[MAX_RANK], places[LONGEST], length = 1;
    for (uint32_t i = 0; i < box->rank; i++)
        shape.dims[i] = box->extent[i];
    shape_strides(&shape, result_strides);
    struct walk outer = {0}, run = {0};
    uint32_t in_run = n_axes; /* the axes from here on make up the run */
    for (; in_run > 0 && box->strides[axes[in_run - 1]] == length && box->strides[last] != 1; in_run--)
        length *= box->extent[axes[in_run - 1]];
    for (uint32_t i = 0; i < n_axes; i++)
        walk_axis(i < in_run ? &outer : &run, box, result_strides, axes[i]);
    if (box->strides[last] == 1) {
        move_rows(box, &outer, out, source);
        return;
    }
    for (int64_t from = 0, n; from < length; from += n) {
        n = min_i64(LONGEST, length - from);
        for (int64_t k = 0; k < n; k++) {
            places[k] = run.out;
            walk_on(&run);
        }
        struct lanes l = {.places = places, .n = n, .count = box->extent[last], .step = box->strides[last] * box->size};
        do {
            l.out = out + outer.out;
            l.source = source + outer.source + from * box->size;
            move(&l);
        } while (walk_on(&outer));
    }
}

void permute_box(const struct box *box, uint8_t *out, const uint8_t *source)
{
    permute_box_by(box, out, source, PERMUTE_WIDEST);
}
