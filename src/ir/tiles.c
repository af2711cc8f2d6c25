/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/tiles.h"

#include <string.h>

#include "base/pages.h"

enum {
    PAGE = 4096,
    LARGE = 128 * 1024,
    TILE = 1024 * 1024,         /* bytes, of the source's and the result's elements alike */
    READ_TILE = 4 * TILE,       /* the same, at most, of a tile whose runs are read, each by a call */
    PIECE = 32 * 1024,          /* elements that are converted at a time; they stay in the second-level cache */
    RESIDENT = 4 * 1024 * 1024, /* bytes read through a mapping before its pages are dropped */
    AROUND = 64 * 1024          /* bytes that the system maps around a page that is touched */
};

/* ---- how a view is cut ---- */

static int64_t tile_elements(const struct view_tiles *t)
{
    return t->tile / max_i64(1, max_i64(t->box.size, dtype_size(t->as)));
}

/* The result's axes with their strides in the source, without those of one element; axes that are neighbours on both
 * sides become one. */
static void simplify(struct view_tiles *t)
{
    const struct view *view = t->view;
    struct shape shape = view_shape(view);
    struct box *box = &t->box;
    int64_t source[MAX_RANK];
    shape_strides(&view->shape, source);
    for (uint32_t i = 0; i < shape.rank; i++) {
        int64_t stride = source[view->perm.axis[i]], dim = shape.dims[i];
        if (dim == 1)
            continue;
        if (box->rank > 0 && box->strides[box->rank - 1] == dim * stride) {
            t->dims[box->rank - 1] *= dim;
            box->strides[box->rank - 1] = stride;
        } else {
            t->dims[box->rank] = dim;
            box->strides[box->rank++] = stride;
        }
    }
}

static void sort_axes(struct view_tiles *t)
{
    const int64_t *strides = t->box.strides;
    for (uint32_t i = 0; i < t->box.rank; i++) {
        uint32_t k = i;
        for (; k > 0 && strides[t->by_stride[k - 1]] > strides[i]; k--)
            t->by_stride[k] = t->by_stride[k - 1];
        t->by_stride[k] = i;
    }
}

/* Elements that stand together when the box is laid out with its axes in this order, fastest first; *next becomes the
 * first axis of it that can grow, or the rank. */
static int64_t run_length(const struct view_tiles *t, const uint32_t *order, uint32_t *next)
{
    int64_t length = 1;
    for (*next = 0; *next < t->box.rank; (*next)++) {
        uint32_t axis = order[*next];
        length *= t->box.extent[axis];
        if (t->box.extent[axis] < t->dims[axis])
            break;
    }
    return length;
}

/* The box of a permuted tile grows on the side whose runs are shorter, source or result, until the tile is full. Short
 * runs cost more in the result, each being a write of its own, than in a mapped source; a source that is read costs a
 * call for each run, too. */
static void choose_box(struct view_tiles *t)
{
    struct box *box = &t->box;
    uint32_t by_result[MAX_RANK], source_axis, result_axis;
    int64_t count = 1, limit = tile_elements(t), weight = t->reads ? 4 : 32;
    for (uint32_t i = 0; i < box->rank; i++) {
        by_result[i] = box->rank - 1 - i;
        box->extent[i] = 1;
    }
    for (;;) {
        int64_t source = run_length(t, t->by_stride, &source_axis), result = run_length(t, by_result, &result_axis);
        if (source_axis == box->rank) /* the whole view */
            return;
        uint32_t axis = source * weight < result ? t->by_stride[source_axis] : by_result[result_axis];
        int64_t others = count / box->extent[axis];
        int64_t extent = min_i64(min_i64(2 * box->extent[axis], t->dims[axis]), limit / others);
        if (extent == box->extent[axis])
            return;
        box->extent[axis] = extent;
        count = others * extent;
    }
}

static void find_factors(struct view_tiles *t)
{
    const struct view *view = t->view;
    if (!view->scale || view->scale_axis == SCALE_WHOLE)
        return;
    struct shape shape = view_shape(view);
    uint32_t axis = perm_find(&view->perm, view->scale_axis);
    t->scale_run = shape_count_range(&shape, axis + 1, shape.rank);
    t->channels = (uint64_t)shape.dims[axis];
}

/* A source in the order of the result is handed out as it is mapped, for the system to copy from there. What the
 * conversion or the writer's buffer touches is read: that a file became shorter is an error then, and no signal. */
static bool reads_in_order(const struct view_tiles *t)
{
    uint64_t size = t->total * t->box.size;
    return size >= PAGE && (t->converts || size < LARGE);
}

void view_tiles_start(const struct view *view, enum dtype as, uint64_t mapped, struct view_tiles *out)
{
    uint32_t size = dtype_size(view->dtype);
    *out = (struct view_tiles){
        .view = view, .as = as, .total = shape_count(&view->shape), .box = {.size = size}, .tile = TILE};
    out->converts = view->dtype != as || view->scale;
    find_factors(out);
    if (out->total == 0)
        return;
    simplify(out);
    out->in_order = view->splat || out->box.rank == 0 || (out->box.rank == 1 && out->box.strides[0] == 1);
    if (out->in_order) {
        out->reads = view->file && !view->splat && reads_in_order(out);
        out->per_tile = (uint64_t)tile_elements(out);
        out->count = (out->total + out->per_tile - 1) / out->per_tile;
        return;
    }
    struct shape result = {.rank = out->box.rank};
    memcpy(result.dims, out->dims, sizeof result.dims);
    shape_strides(&result, out->results);
    out->reads = view->file && out->total * size > mapped;
    if (out->reads)
        out->tile = max_i64(TILE, (int64_t)min_u64(READ_TILE, mapped / 5));
    sort_axes(out);
    choose_box(out);
    out->count = 1;
    for (uint32_t i = 0; i < out->box.rank; i++)
        out->count *= (uint64_t)ceil_div(out->dims[i], out->box.extent[i]);
}

bool view_tiles_as_mapped(const struct view_tiles *t)
{
    return t->in_order && !t->converts && !t->reads && t->view->file && !t->view->splat &&
           t->total * t->box.size >= PAGE;
}

/* ---- where tiles are made ---- */

struct tile_space tile_space_new(struct arena *arena, uint64_t elements)
{
    uint64_t tile = min_u64(sat_mul(elements, sizeof(double)), READ_TILE);
    return (struct tile_space){.source = arena_alloc(arena, tile),
                               .ordered = arena_alloc(arena, tile),
                               .converted = arena_alloc(arena, min_u64(PIECE, elements) * sizeof(double)),
                               .size = tile};
}

struct tile_space tile_space_for(struct arena *arena, const struct view_tiles *t)
{
    struct tile_space space = {0};
    uint64_t tile = min_u64(t->total * t->box.size, t->reads ? READ_TILE : TILE);
    if (!t->in_order)
        space.ordered = arena_alloc(arena, tile);
    if (t->reads)
        space.source = arena_alloc(arena, tile);
    if (t->converts)
        space.converted = arena_alloc(arena, min_u64(PIECE, t->total) * dtype_size(t->as));
    return space;
}

void tile_space_drop(struct tile_space *space)
{
    if (space->file && space->resident)
        file_drop(space->file, 0, space->file->size);
    space->resident = 0;
}

void tile_space_shrink(struct tile_space *space, const struct view_tiles *tiles)
{
    const uint64_t kept = min_u64(space->size, (uint64_t)tiles->tile);
    pages_forget(space->source + kept, space->size - kept);
    pages_forget(space->ordered + kept, space->size - kept);
    space->has_large = false;
}

/* Notes that bytes at `at` are read through the mapping, and that those around them become resident, too. */
static void drop_later(struct tile_space *space, const struct file *file, uint64_t at, uint64_t size)
{
    uint64_t window = at / AROUND;
    bool known = space->file == file && space->window == window;
    if (space->file != file || space->resident + size > RESIDENT)
        tile_space_drop(space);
    space->resident += known ? size : size + AROUND;
    space->file = file;
    space->window = window;
}

/* Bytes that stand together in the file are dropped at once when they are many, else together with others. */
static void drop_behind(struct tile_space *space, const struct view *view, const uint8_t *bytes, uint64_t size)
{
    if (!view->file)
        return;
    uint64_t at = (uint64_t)(bytes - view->file->data);
    if (size >= RESIDENT / 8)
        file_drop(view->file, at, size);
    else
        drop_later(space, view->file, at, size);
}

/* ---- converting ---- */

/* Elements that share a factor (or, when the channel is the last axis, have one each) stand together: runs without a
 * decision inside. Element `from` of the result begins one; *n, at most what is left, becomes its length. */
static struct scaling run_at(const struct view_tiles *t, uint64_t from, uint64_t *n)
{
    const struct view *view = t->view;
    struct scaling scaling = {.factor = view->scale, .zero = view->zero};
    if (view->scale_axis == SCALE_WHOLE)
        return scaling;
    uint64_t channel = from / t->scale_run % t->channels;
    scaling.each = t->scale_run == 1;
    *n = min_u64(scaling.each ? t->channels - channel : t->scale_run - from % t->scale_run, *n);
    scaling.factor += channel;
    if (scaling.zero)
        scaling.zero += channel;
    return scaling;
}

/* Elements of the result from `from` on, scaled and cast. */
static void scale_and_cast(const struct view_tiles *t, uint64_t from, uint64_t count, const uint8_t *raw, uint8_t *cast)
{
    for (uint64_t done = 0, n; done < count; done += n) {
        n = count - done;
        struct scaling scaling = run_at(t, from + done, &n);
        scale_elements(cast + done * dtype_size(t->as), t->as, raw + done * t->box.size, t->view->dtype, n, &scaling);
    }
}

/* ---- making tiles ---- */

struct emission {
    const struct view_tiles *tiles;
    struct tile_space *space;
    view_emit_fn *emit;
    void *user;
};

/* Hands out elements of the source that stand in the order of the result, the first being element `from` of it. */
static odlc_status emit_run(const struct emission *e, uint64_t from, uint64_t count, const uint8_t *raw)
{
    const struct view_tiles *t = e->tiles;
    uint32_t size = dtype_size(t->as);
    if (!t->converts)
        return e->emit(e->user, from * size, raw, count * size);
    for (uint64_t done = 0, n; done < count; done += n) {
        n = min_u64(PIECE, count - done);
        const uint8_t *piece = raw + done * t->box.size;
        if (t->view->scale)
            scale_and_cast(t, from + done, n, piece, e->space->converted);
        else
            convert_elements(e->space->converted, t->as, piece, t->view->dtype, n);
        TRY(e->emit(e->user, (from + done) * size, e->space->converted, n * size));
    }
    return ODLC_OK;
}

/* One element for all. */
static odlc_status emit_splat(const struct emission *e, uint64_t from, uint64_t count)
{
    const struct view_tiles *t = e->tiles;
    enum { BLOCK = 512 };
    uint8_t same[BLOCK * sizeof(double)];
    for (uint64_t i = 0; i < min_u64(BLOCK, count); i++)
        memcpy(same + i * t->box.size, t->view->bytes, t->box.size);
    for (uint64_t done = 0, n; done < count; done += n) {
        n = min_u64(BLOCK, count - done);
        TRY(emit_run(e, from + done, n, same));
    }
    return ODLC_OK;
}

static odlc_status read_run(const struct view *view, uint64_t offset, uint64_t size, uint8_t *out)
{
    uint64_t at = (uint64_t)(view->bytes - view->file->data) + offset;
    return file_read_at(view->file, at, out, size) ? ODLC_ERR_IO : ODLC_OK;
}

static odlc_status emit_in_order(const struct emission *e, uint64_t index)
{
    const struct view_tiles *t = e->tiles;
    uint64_t from = index * t->per_tile, count = min_u64(t->per_tile, t->total - from);
    if (t->view->splat)
        return emit_splat(e, from, count);
    const uint8_t *raw = t->view->bytes + from * t->box.size;
    if (!t->reads) {
        uint64_t size = count * t->box.size;
        if (t->view->file && size >= PAGE && !file_populate(t->view->file, (uint64_t)(raw - t->view->file->data), size))
            return ODLC_ERR_IO;
        TRY(emit_run(e, from, count, raw));
        drop_behind(e->space, t->view, raw, count * t->box.size);
        return ODLC_OK;
    }
    for (uint64_t done = 0, n; done < count; done += n) {
        n = min_u64(PIECE, count - done);
        TRY(read_run(t->view, (from + done) * t->box.size, n * t->box.size, e->space->source));
        TRY(emit_run(e, from + done, n, e->space->source));
    }
    return ODLC_OK;
}

/* Reads a box's source, run by run, into a dense box with the axes in the source's order; its strides become those. */
static odlc_status read_box(const struct view_tiles *t, int64_t first, struct box *box, uint8_t *out)
{
    int64_t strides[MAX_RANK], at[MAX_RANK] = {0}, length = 1, run = 1;
    uint32_t run_axes = 0, rank = box->rank;
    while (run_axes < rank && box->strides[t->by_stride[run_axes]] == run)
        run *= box->extent[t->by_stride[run_axes++]];
    for (uint32_t i = 0; i < rank; i++) {
        strides[t->by_stride[i]] = length;
        length *= box->extent[t->by_stride[i]];
    }
    for (int64_t done = 0; done < length; done += run) {
        TRY(read_run(t->view, (uint64_t)first * box->size, (uint64_t)run * box->size, out + done * box->size));
        for (uint32_t k = run_axes; k < rank; k++) {
            uint32_t axis = t->by_stride[k];
            first += box->strides[axis];
            if (++at[axis] < box->extent[axis])
                break;
            first -= at[axis] * box->strides[axis];
            at[axis] = 0;
        }
    }
    memcpy(box->strides, strides, sizeof strides);
    return ODLC_OK;
}

/* Hands out a tile's elements: the inner axes of its box, where they are whole, stand together in the result, too. */
static odlc_status emit_made(const struct emission *e, const struct made_tile *made)
{
    const struct view_tiles *t = e->tiles;
    const struct box *box = &made->box;
    int64_t at[MAX_RANK] = {0}, run = 1, count = 1, from = made->first;
    uint32_t outer = box->rank;
    while (outer > 0) {
        run *= box->extent[--outer];
        if (box->extent[outer] < t->dims[outer])
            break;
    }
    for (uint32_t i = 0; i < box->rank; i++)
        count *= box->extent[i];
    for (int64_t done = 0; done < count; done += run) {
        TRY(emit_run(e, (uint64_t)from, (uint64_t)run, made->ordered + done * box->size));
        for (uint32_t axis = outer; axis-- > 0;) {
            from += t->results[axis];
            if (++at[axis] < box->extent[axis])
                break;
            from -= at[axis] * t->results[axis];
            at[axis] = 0;
        }
    }
    return ODLC_OK;
}

/* All of a permuted view will be resident. Pages that are mapped together cost less than those that are touched one by
 * one, and what the file does not have any more is an error and no signal. */
static odlc_status map_all(const struct view_tiles *t, struct tile_space *space)
{
    const struct file *file = t->view->file;
    uint64_t at = (uint64_t)(t->view->bytes - file->data), size = t->total * t->box.size;
    if (space->has_large && space->size)
        tile_space_shrink(space, t);
    drop_later(space, file, at, size);
    return size < PAGE || file_populate(file, at, size) ? ODLC_OK : ODLC_ERR_IO;
}

odlc_status view_tile_make(const struct view_tiles *t, uint64_t index, struct tile_space *space, struct made_tile *out)
{
    struct box box = t->box;
    int64_t source = 0, result = 0;
    for (uint32_t i = 0; i < box.rank; i++) { /* the tile's place: the source is walked forwards */
        uint32_t axis = t->by_stride[i];
        int64_t tiles = ceil_div(t->dims[axis], box.extent[axis]);
        int64_t first = (int64_t)(index % (uint64_t)tiles) * box.extent[axis];
        index /= (uint64_t)tiles;
        box.extent[axis] = min_i64(box.extent[axis], t->dims[axis] - first);
        source += first * box.strides[axis];
        result += first * t->results[axis];
    }
    const uint8_t *from = t->view->bytes + source * box.size;
    *out = (struct made_tile){.box = box, .first = result, .ordered = space->ordered};
    if (t->reads) {
        tile_space_drop(space); /* what is mapped and what is read would take memory together */
        space->has_large = true;
        TRY(read_box(t, source, &box, space->source));
        from = space->source;
    } else if (t->view->file && space->permuted != t->view->bytes) {
        TRY(map_all(t, space));
    }
    space->permuted = t->view->bytes;
    permute_box(&box, space->ordered, from);
    return ODLC_OK;
}

odlc_status view_tile_emit(const struct view_tiles *tiles, const struct made_tile *made, struct tile_space *space,
                           view_emit_fn *emit, void *user)
{
    struct emission e = {.tiles = tiles, .space = space, .emit = emit, .user = user};
    return emit_made(&e, made);
}

odlc_status view_tile(const struct view_tiles *tiles, uint64_t index, struct tile_space *space, view_emit_fn *emit,
                      void *user)
{
    struct emission e = {.tiles = tiles, .space = space, .emit = emit, .user = user};
    struct made_tile made;
    if (tiles->in_order)
        return emit_in_order(&e, index);
    TRY(view_tile_make(tiles, index, space, &made));
    return emit_made(&e, &made);
}
