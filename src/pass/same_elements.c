/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/same_elements.h"

#include <string.h>

#include "base/hash.h"

enum {
    SAMPLES = 12, /* elements */
    TILE = 32     /* elements along each of two axes: lines of both views stay in the cache */
};

/* Where the elements of a view's value lie: by bytes from one index of an axis to the next. */
struct steps {
    int64_t bytes[MAX_RANK];
};

static struct steps steps_of(const struct view *view)
{
    struct steps steps = {{0}};
    int64_t source[MAX_RANK] = {0}, step = dtype_size(view->dtype);
    for (uint32_t axis = view->shape.rank; axis-- > 0; step *= view->shape.dims[axis])
        source[axis] = step;
    for (uint32_t axis = 0; axis < view->shape.rank; axis++)
        steps.bytes[axis] = source[view->perm.axis[axis]];
    return steps;
}

/* What a file holds is read: touching its mapping would make up to 2 MB around each place resident. What cannot be read
 * counts as zeros here, and is an error where all of it is needed. */
static void take_sample(const struct view *view, const uint8_t *at, void *out, uint64_t size)
{
    if (!view->file)
        memcpy(out, at, size);
    else if (file_read_at(view->file, (uint64_t)(at - view->file->data), out, size) != 0)
        memset(out, 0, size);
}

uint64_t sample_elements(const struct view *view)
{
    static const uint64_t key[2] = {0, 0};
    const struct shape shape = view_shape(view);
    const struct steps steps = steps_of(view);
    const uint64_t count = shape_count(&shape), size = dtype_size(view->dtype);
    uint8_t bytes[SAMPLES * sizeof(uint64_t)] = {0};
    for (uint64_t i = 0; i < SAMPLES && i < count; i++) {
        uint64_t rest = count < SAMPLES ? i : i * ((count - 1) / (SAMPLES - 1));
        const uint8_t *at = view->bytes;
        for (uint32_t axis = shape.rank; axis-- > 0; rest /= (uint64_t)shape.dims[axis])
            at += (int64_t)(rest % (uint64_t)shape.dims[axis]) * steps.bytes[axis];
        take_sample(view, at, bytes + i * sizeof(uint64_t), size);
    }
    return hash_bytes(key, bytes, sizeof bytes);
}

/* ---- comparing ---- */

struct comparing {
    struct shape shape;
    struct steps a, b;
    uint32_t p, q; /* the axes along which a, and b, is stored without gaps */
    size_t size;   /* of an element */
};

static inline bool same_element(const uint8_t *a, const uint8_t *b, size_t size)
{
    switch (size) {
    case 1:
        return *a == *b;
    case 2:
        return memcmp(a, b, 2) == 0;
    case 4:
        return memcmp(a, b, 4) == 0;
    default:
        return memcmp(a, b, size) == 0;
    }
}

static bool same_tile(const struct comparing *c, const uint8_t *a, const uint8_t *b, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < columns; k++)
            if (!same_element(a + i * c->a.bytes[c->q] + k * c->a.bytes[c->p],
                              b + i * c->b.bytes[c->q] + k * c->b.bytes[c->p], c->size))
                return false;
    return true;
}

/* All places along the two axes; the others are where they are. */
static bool same_plane(const struct comparing *c, const uint8_t *a, const uint8_t *b)
{
    const int64_t rows = c->shape.dims[c->q], columns = c->shape.dims[c->p];
    if (c->p == c->q)
        return memcmp(a, b, (size_t)columns * c->size) == 0;
    for (int64_t i = 0; i < rows; i += TILE)
        for (int64_t k = 0; k < columns; k += TILE)
            if (!same_tile(c, a + i * c->a.bytes[c->q] + k * c->a.bytes[c->p],
                           b + i * c->b.bytes[c->q] + k * c->b.bytes[c->p], min_i64(TILE, rows - i),
                           min_i64(TILE, columns - k)))
                return false;
    return true;
}

static uint32_t dense_axis(const struct steps *steps, uint32_t rank, size_t size)
{
    uint32_t axis = 0;
    while (axis + 1 < rank && steps->bytes[axis] != (int64_t)size)
        axis++;
    return axis;
}

/* The places of all other axes, one after the other. */
static bool same_planes(const struct comparing *c, const uint8_t *a, const uint8_t *b)
{
    int64_t at[MAX_RANK] = {0};
    for (;;) {
        if (!same_plane(c, a, b))
            return false;
        uint32_t axis = c->shape.rank;
        while (axis-- > 0) {
            if (axis == c->p || axis == c->q)
                continue;
            a += c->a.bytes[axis];
            b += c->b.bytes[axis];
            if (++at[axis] < c->shape.dims[axis])
                break;
            a -= c->a.bytes[axis] * at[axis];
            b -= c->b.bytes[axis] * at[axis];
            at[axis] = 0;
        }
        if (axis == UINT32_MAX)
            return true;
    }
}

bool same_elements(const struct view *a, const struct view *b)
{
    const struct shape shape = view_shape(a), other = view_shape(b);
    const size_t size = dtype_size(a->dtype);
    if (a->dtype != b->dtype || !shape_equal(&shape, &other))
        return false;
    if (shape_equal(&a->shape, &b->shape) && perm_equal(&a->perm, &b->perm))
        return a->bytes == b->bytes || memcmp(a->bytes, b->bytes, shape_count(&shape) * size) == 0;
    struct comparing c = {.shape = shape, .a = steps_of(a), .b = steps_of(b), .size = size};
    c.p = dense_axis(&c.a, shape.rank, size);
    c.q = dense_axis(&c.b, shape.rank, size);
    return same_planes(&c, a->bytes, b->bytes);
}
