/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/view.h"

#include <math.h>
#include <string.h>

#include "ir/nibbles.h"
#include "ir/tiles.h"

enum { WORTH_DROPPING = 64 * 1024 }; /* bytes; a call for each of many small constants would cost more than it saves */

struct view view_of(const void *bytes, enum dtype dtype, const struct shape *shape)
{
    return (struct view){.bytes = bytes, .dtype = dtype, .shape = *shape, .perm = perm_identity(shape->rank)};
}

static struct view splat_of(struct arena *arena, enum dtype dtype, const struct shape *shape, const void *value,
                            enum dtype value_dtype)
{
    uint8_t *element = arena_alloc(arena, 8);
    convert_elements(element, dtype, value, value_dtype, 1);
    struct view view = view_of(element, dtype, shape);
    view.splat = true;
    return view;
}

struct view view_splat_float(struct arena *arena, enum dtype dtype, const struct shape *shape, double value)
{
    return splat_of(arena, dtype, shape, &value, DT_FLOAT64);
}

struct view view_splat_int(struct arena *arena, enum dtype dtype, const struct shape *shape, int64_t value)
{
    return splat_of(arena, dtype, shape, &value, DT_INT64);
}

const uint8_t *view_elements(const struct view *view, uint64_t first, uint64_t count, void *buffer)
{
    const uint64_t size = dtype_size(view->dtype);
    if (!view_is_far(view))
        return view->bytes + first * size;
    const bool by_row = view->packing == PACKED_NIBBLES_BY_ROW, is_signed = view->dtype == DT_SFXP4;
    const int error =
        view->packing == PACKED_NOT
            ? file_read_at(view->file, view->offset + first * size, buffer, count * size)
            : nibbles_read(view->file, view->offset, &view->shape, by_row, is_signed, first, count, buffer);
    if (error)
        memset(buffer, 0, count * size);
    return buffer;
}

/* A far view as one of elements in the arena; any other as it is. */
static struct view brought_near(struct arena *arena, const struct view *view)
{
    struct view near = *view;
    if (!view_is_far(view))
        return near;
    const uint64_t count = shape_count(&view->shape);
    near.bytes = view_elements(view, 0, count, arena_alloc(arena, count * dtype_size(view->dtype)));
    near.file = NULL;
    return near;
}

struct shape view_shape(const struct view *view)
{
    return perm_apply(&view->perm, &view->shape);
}

bool view_is_plain(const struct view *view, enum dtype as)
{
    return !view->splat && !view->scale && view->dtype == as && perm_is_identity(&view->perm) && !view_is_far(view);
}

uint64_t view_size(const struct view *view, enum dtype as)
{
    return shape_count(&view->shape) * dtype_size(as);
}

void view_permute(struct view *view, const struct perm *perm)
{
    view->perm = perm_compose(&view->perm, perm);
}

/* Whether an axis of the source and those before it are in the new shape, too. */
static bool axis_stays(const struct view *view, uint32_t axis, const struct shape *shape)
{
    if (axis >= shape->rank)
        return false;
    for (uint32_t i = 0; i <= axis; i++)
        if (shape->dims[i] != view->shape.dims[i])
            return false;
    return true;
}

/* The axis of the new shape that an axis of the source is: as long, and with as many elements behind each index. The
 * new rank: none is. */
static uint32_t axis_after(const struct view *view, uint32_t axis, const struct shape *shape)
{
    const uint64_t behind = shape_count_range(&view->shape, axis + 1, view->shape.rank);
    uint32_t i = 0;
    while (i < shape->rank &&
           (shape->dims[i] != view->shape.dims[axis] || shape_count_range(shape, i + 1, shape->rank) != behind))
        i++;
    return i;
}

bool view_reshape(struct view *view, const struct shape *shape)
{
    const bool moves = !perm_is_identity(&view->perm), per_axis = view->scale && view->scale_axis != SCALE_WHOLE;
    const uint32_t scale_axis = per_axis ? axis_after(view, view->scale_axis, shape) : view->scale_axis;
    if ((moves || (per_axis && scale_axis == shape->rank)) && !(view->splat && !view->scale))
        return false;
    view->scale_axis = scale_axis;
    if (view->given && view->given->per_axis && !axis_stays(view, view->given->axis, shape))
        view->given = NULL;
    view->shape = *shape;
    view->perm = perm_identity(shape->rank);
    return true;
}

/* Runs of bytes, each `stride` behind the one before it, one after another. */
static odlc_status copy_part(const struct view *view, uint64_t from, uint64_t stride, uint64_t run, uint64_t runs,
                             uint8_t *to)
{
    for (uint64_t i = 0; i < runs; i++, from += stride, to += run) {
        if (!view->file)
            memcpy(to, view->bytes + from, run);
        else if (file_read_at(view->file, (uint64_t)(view->bytes - view->file->data) + from, to, run) != 0)
            return ODLC_ERR_IO;
    }
    return ODLC_OK;
}

odlc_status view_part(struct arena *arena, const struct view *view, uint32_t axis, int64_t first, int64_t count,
                      struct view *out)
{
    const struct view near = brought_near(arena, view);
    view = &near;
    const uint32_t source = view->perm.axis[axis], rank = view->shape.rank;
    struct view part = *view;
    part.shape.dims[source] = count;
    part.given = NULL;
    if (view->scale && view->scale_axis == source) {
        part.scale += first;
        part.zero = view->zero ? view->zero + first : NULL;
    }
    if (!view->splat) {
        uint64_t runs = shape_count_range(&view->shape, 0, source);
        uint64_t index = shape_count_range(&view->shape, source + 1, rank) * dtype_size(view->dtype);
        uint64_t run = (uint64_t)count * index;
        uint8_t *bytes = arena_alloc(arena, runs * run);
        TRY(copy_part(view, (uint64_t)first * index, (uint64_t)view->shape.dims[source] * index, run, runs, bytes));
        part.bytes = bytes;
        part.file = NULL;
    }
    *out = part;
    return ODLC_OK;
}

odlc_status view_stream(struct arena *scratch, const struct view *view, enum dtype as, view_emit_fn *emit, void *user)
{
    struct view_tiles tiles;
    struct arena_mark mark = arena_mark(scratch);
    const struct view near = brought_near(scratch, view);
    view_tiles_start(&near, as, TILES_MAPPED, &tiles);
    struct tile_space space = tile_space_for(scratch, &tiles);
    odlc_status status = ODLC_OK;
    for (uint64_t i = 0; status == ODLC_OK && i < tiles.count; i++)
        status = view_tile(&tiles, i, &space, emit, user);
    if (tiles.total * tiles.box.size >= WORTH_DROPPING)
        tile_space_drop(&space);
    arena_rewind(scratch, mark);
    return status;
}

static odlc_status put(void *user, uint64_t offset, const void *bytes, size_t size)
{
    memcpy((uint8_t *)user + offset, bytes, size);
    return ODLC_OK;
}

const void *view_load(struct arena *arena, const struct view *view, enum dtype as)
{
    if (view_is_plain(view, as) && (uintptr_t)view->bytes % max_i64(dtype_size(as), 1) == 0)
        return view->bytes;
    uint8_t *out = arena_alloc(arena, view_size(view, as));
    if (view_stream(arena, view, as, put, out) != ODLC_OK)
        arena_exhausted(arena); /* a mapped file that cannot be read any more: nothing below can go on */
    return out;
}

/* ---- exactness ---- */

enum { BLOCK = 512 }; /* elements */

struct fit_check {
    enum dtype from, as;
    uint64_t bad; /* the first element found so far that does not fit, UINT64_MAX: none */
};

static bool float_fits(double v, enum dtype as)
{
    if (dtype_is_float(as)) {
        double back;
        uint8_t narrow[8];
        convert_elements(narrow, as, &v, DT_FLOAT64, 1);
        convert_elements(&back, DT_FLOAT64, narrow, as, 1);
        return !isfinite(v) || isfinite(back);
    }
    double back;
    uint8_t whole[8];
    convert_elements(whole, as, &v, DT_FLOAT64, 1);
    convert_elements(&back, DT_FLOAT64, whole, as, 1);
    return back == v && (as == DT_BOOL || fabs(v) < 0x1p63);
}

static bool int_fits(const void *element, enum dtype from, enum dtype as)
{
    uint8_t there[8], back[8];
    convert_elements(there, as, element, from, 1);
    convert_elements(back, from, there, as, 1);
    double real = 0;
    if (dtype_is_float(as)) /* a float of 2^63 would come back as INT64_MAX, saturated */
        convert_elements(&real, DT_FLOAT64, there, as, 1);
    if (real >= (from == DT_UINT64 ? 0x1p64 : 0x1p63))
        return false;
    return memcmp(element, back, dtype_size(from)) == 0;
}

static bool element_fits(const struct fit_check *c, const uint8_t *element)
{
    double v;
    convert_elements(&v, DT_FLOAT64, element, c->from, 1);
    return dtype_is_float(c->from) ? float_fits(v, c->as) : int_fits(element, c->from, c->as);
}

/* Integers that come back from the other integer type as they were fit all together. */
static bool block_fits(const struct fit_check *c, const uint8_t *block, size_t count)
{
    uint8_t there[BLOCK * 8], back[BLOCK * 8];
    if (dtype_is_float(c->from) || dtype_is_float(c->as))
        return false;
    convert_elements(there, c->as, block, c->from, count);
    convert_elements(back, c->from, there, c->as, count);
    return memcmp(block, back, count * dtype_size(c->from)) == 0;
}

static odlc_status check_piece(void *user, uint64_t offset, const void *bytes, size_t size)
{
    struct fit_check *c = user;
    uint32_t step = dtype_size(c->from);
    const uint8_t *elements = bytes;
    for (size_t done = 0, n, count = size / step; done < count; done += n) {
        n = min_u64(BLOCK, count - done);
        if (block_fits(c, elements + done * step, n))
            continue;
        for (size_t i = done; i < done + n; i++)
            if (!element_fits(c, elements + i * step))
                c->bad = min_u64(c->bad, offset / step + i);
    }
    return ODLC_OK;
}

/* One element stands for all where all are the same: a few bytes of a model can ask for any number of them. */
static struct view without_repeats(const struct view *view)
{
    struct view one = *view;
    bool same = view->splat && (!view->scale || view->scale_axis == SCALE_WHOLE);
    for (uint32_t i = 0; same && shape_count(&view->shape) > 0 && i < one.shape.rank; i++)
        one.shape.dims[i] = 1;
    return one;
}

bool view_fits(struct arena *scratch, const struct view *view, enum dtype as, uint64_t *bad)
{
    if (view->dtype == as && !view->scale)
        return true;
    if (dtype_is_float(view->dtype) && dtype_is_float(as) && dtype_size(as) >= dtype_size(view->dtype) &&
        as != DT_FLOAT16)
        return true;
    struct fit_check check = {.from = view->dtype, .as = as, .bad = UINT64_MAX};
    const struct view distinct = without_repeats(view);
    odlc_status status;
    if (!view->file && view_is_plain(view, view->dtype)) /* most are params of a few numbers */
        status = check_piece(&check, 0, view->bytes, shape_count(&view->shape) * dtype_size(view->dtype));
    else
        status = view_stream(scratch, &distinct, view->dtype, check_piece, &check);
    if (check.bad != UINT64_MAX && bad)
        *bad = check.bad;
    return status == ODLC_OK && check.bad == UINT64_MAX;
}
