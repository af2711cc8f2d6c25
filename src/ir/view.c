#include "ir/view.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum {
    TILE = 128 * 1024,                /* elements worked on at a time */
    REORDER_LIMIT = 16 * 1024 * 1024, /* bytes; a permuted view up to this size is reordered as a whole */
    LINE = 64                         /* bytes of a cache line */
};

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

struct shape view_shape(const struct view *view)
{
    return perm_apply(&view->perm, &view->shape);
}

bool view_is_plain(const struct view *view, enum dtype as)
{
    return !view->splat && !view->scale && view->dtype == as && perm_is_identity(&view->perm);
}

uint64_t view_size(const struct view *view, enum dtype as)
{
    return shape_count(&view->shape) * dtype_size(as);
}

void view_permute(struct view *view, const struct perm *perm)
{
    view->perm = perm_compose(&view->perm, perm);
}

/* Whether the scaled axis and those before it are in the new shape, too. */
static bool axis_stays(const struct view *view, const struct shape *shape)
{
    if (view->scale_axis >= shape->rank)
        return false;
    for (uint32_t i = 0; i <= view->scale_axis; i++)
        if (shape->dims[i] != view->shape.dims[i])
            return false;
    return true;
}

bool view_reshape(struct view *view, const struct shape *shape)
{
    bool moves = !perm_is_identity(&view->perm), per_axis = view->scale && view->scale_axis != SCALE_WHOLE;
    if ((moves || (per_axis && !axis_stays(view, shape))) && !(view->splat && !view->scale))
        return false;
    view->shape = *shape;
    view->perm = perm_identity(shape->rank);
    return true;
}

/* ---- reading source elements in result order ---- */

struct gather {
    const struct view *view;
    struct shape shape;        /* of the result */
    int64_t strides[MAX_RANK]; /* of the result's axes in the source, in elements */
    bool in_order;             /* source order is result order */
    const uint8_t *reordered;  /* the whole source in result order, when it was worth it */
    uint32_t size;             /* of a source element */
};

static struct gather gather_start(const struct view *view)
{
    struct gather g = {.view = view, .shape = view_shape(view), .size = dtype_size(view->dtype)};
    int64_t source[MAX_RANK];
    shape_strides(&view->shape, source);
    for (uint32_t i = 0; i < g.shape.rank; i++)
        g.strides[i] = source[view->perm.axis[i]];
    g.in_order = perm_is_identity(&view->perm);
    return g;
}

/* n elements at source + k * stride. Mapped bytes need not be aligned, so elements move by memcpy. */
static void gather_run(uint8_t *out, const uint8_t *source, uint64_t n, int64_t stride, uint32_t size)
{
    int64_t step = stride * size;
    switch (size) {
    case 1:
        for (uint64_t k = 0; k < n; k++)
            out[k] = source[(int64_t)k * step];
        break;
    case 2:
        for (uint64_t k = 0; k < n; k++)
            memcpy(out + 2 * k, source + (int64_t)k * step, 2);
        break;
    case 4:
        for (uint64_t k = 0; k < n; k++)
            memcpy(out + 4 * k, source + (int64_t)k * step, 4);
        break;
    default:
        for (uint64_t k = 0; k < n; k++)
            memcpy(out + 8 * k, source + (int64_t)k * step, 8);
        break;
    }
}

static void gather_permuted(const struct gather *g, uint64_t from, uint64_t count, uint8_t *out)
{
    uint32_t last = g->shape.rank - 1;
    uint64_t row = (uint64_t)g->shape.dims[last];
    while (count) {
        uint64_t rest = from / row, within = from % row, n = min_u64(row - within, count);
        int64_t offset = (int64_t)within * g->strides[last];
        for (uint32_t i = last; i-- > 0; rest /= (uint64_t)g->shape.dims[i])
            offset += (int64_t)(rest % (uint64_t)g->shape.dims[i]) * g->strides[i];
        gather_run(out, g->view->bytes + offset * g->size, n, g->strides[last], g->size);
        out += n * g->size;
        from += n;
        count -= n;
    }
}

/* Copies `lanes` elements that are `step` bytes apart into a row. */
static inline void gather_lanes(uint8_t *out, const uint8_t *source, uint32_t lanes, int64_t step, uint32_t size)
{
    for (uint32_t k = 0; k < lanes; k++)
        memcpy(out + k * size, source + k * step, size);
}

/* Axes other than the result's last, by descending stride in the source: walked in this order, the source is read
 * forwards. */
static uint32_t outer_axes(const struct gather *g, uint32_t axes[MAX_RANK])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < g->shape.rank; i++) {
        uint32_t k = count++;
        for (; k > 0 && g->strides[axes[k - 1]] < g->strides[i]; k--)
            axes[k] = axes[k - 1];
        axes[k] = i;
    }
    return count;
}

/* The whole permuted view. Reading along the result's last axis would touch a cache line for each element, over and
 * over; so as many elements of that axis as fill a line are taken together, and the source is walked forwards for each
 * such group. */
static inline void reorder_lines(const struct gather *g, uint8_t *out, uint32_t size)
{
    uint32_t axes[MAX_RANK], n_axes = outer_axes(g, axes), last = g->shape.rank - 1, lanes = LINE / size;
    int64_t result_strides[MAX_RANK], step = g->strides[last] * size;
    uint64_t rows = shape_count_range(&g->shape, 0, last);
    shape_strides(&g->shape, result_strides);
    for (int64_t from = 0; from < g->shape.dims[last]; from += lanes) {
        uint32_t n = (uint32_t)min_i64(lanes, g->shape.dims[last] - from);
        int64_t at[MAX_RANK] = {0}, to = from, source = from * g->strides[last];
        for (uint64_t row = 0; row < rows; row++) {
            if (n == lanes)
                gather_lanes(out + to * size, g->view->bytes + source * size, LINE / size, step, size);
            else
                gather_lanes(out + to * size, g->view->bytes + source * size, n, step, size);
            for (uint32_t k = n_axes; k-- > 0;) {
                uint32_t axis = axes[k];
                to += result_strides[axis];
                source += g->strides[axis];
                if (++at[axis] < g->shape.dims[axis])
                    break;
                to -= at[axis] * result_strides[axis];
                source -= at[axis] * g->strides[axis];
                at[axis] = 0;
            }
        }
    }
}

/* One specialization per element size, so that the copies above become single moves. */
static void reorder(const struct gather *g, uint8_t *out)
{
    switch (g->size) {
    case 1:
        reorder_lines(g, out, 1);
        break;
    case 2:
        reorder_lines(g, out, 2);
        break;
    case 4:
        reorder_lines(g, out, 4);
        break;
    default:
        reorder_lines(g, out, 8);
        break;
    }
}

/* pread, not the mapping: the pages then never count as resident */
static odlc_status read_range(const struct view *view, uint64_t offset, uint64_t size, uint8_t *out)
{
    const struct file *file = view->file;
    if (!file || size < 4096) {
        memcpy(out, view->bytes + offset, size);
        return ODLC_OK;
    }
    uint64_t at = (uint64_t)(view->bytes - file->data) + offset;
    while (size) {
        ssize_t n = pread(file->fd, out, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) /* the file shrank or cannot be read any more */
            return ODLC_ERR_IO;
        out += n;
        at += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return ODLC_OK;
}

/* Source elements [from, from + count) of the result, unconverted; *out points at them, in `buffer` or elsewhere. */
static odlc_status gather(const struct gather *g, uint64_t from, uint64_t count, uint8_t *buffer, const uint8_t **out)
{
    *out = buffer;
    if (g->reordered)
        *out = g->reordered + from * g->size;
    else if (g->view->splat)
        gather_run(buffer, g->view->bytes, count, 0, g->size);
    else if (g->in_order)
        return read_range(g->view, from * g->size, count * g->size, buffer);
    else
        gather_permuted(g, from, count, buffer);
    return ODLC_OK;
}

/* values[i] - zero[i] times factor[i], or a single zero (none: NULL) and factor for all. */
static void scale_run(double *values, uint64_t n, const double *factor, const double *zero, bool each)
{
    double one = zero ? *zero : 0;
    if (each)
        for (uint64_t i = 0; i < n; i++)
            values[i] = (values[i] - (zero ? zero[i] : 0)) * factor[i];
    else
        for (uint64_t i = 0; i < n; i++)
            values[i] = (values[i] - one) * *factor;
}

/* Scales values[i], element from + i of the result, by its channel. Elements of one channel stand together, or, when
 * the channel is the last axis, all channels do: either way there are runs without a decision inside. */
static void apply_scale(const struct gather *g, uint64_t from, uint64_t count, double *values)
{
    const struct view *view = g->view;
    if (view->scale_axis == SCALE_WHOLE) {
        scale_run(values, count, view->scale, view->zero, false);
        return;
    }
    uint32_t axis = perm_find(&view->perm, view->scale_axis);
    uint64_t inner = shape_count_range(&g->shape, axis + 1, g->shape.rank), dim = (uint64_t)g->shape.dims[axis];
    for (uint64_t done = 0, n; done < count; done += n) {
        uint64_t at = from + done, channel = at / inner % dim;
        n = min_u64(inner == 1 ? dim - channel : inner - at % inner, count - done);
        scale_run(values + done, n, view->scale + channel, view->zero ? view->zero + channel : NULL, inner == 1);
    }
}

/* Raw elements scaled and cast, in blocks that stay in the nearest cache. */
static void scale_and_cast(const struct gather *g, uint64_t from, uint64_t count, const uint8_t *raw, uint8_t *cast,
                           enum dtype as)
{
    enum { BLOCK = 1024 };
    double values[BLOCK];
    for (uint64_t done = 0, n; done < count; done += n) {
        n = min_u64(BLOCK, count - done);
        convert_elements(values, DT_FLOAT64, raw + done * g->size, g->view->dtype, n);
        apply_scale(g, from + done, n, values);
        convert_elements(cast + done * dtype_size(as), as, values, DT_FLOAT64, n);
    }
}

odlc_status view_stream(struct arena *scratch, const struct view *view, enum dtype as, view_emit_fn *emit, void *user)
{
    struct gather g = gather_start(view);
    uint64_t total = shape_count(&view->shape), tile = min_u64(TILE, total);
    struct arena_mark mark = arena_mark(scratch);
    if (!g.in_order && !view->splat && total > LINE && total * g.size <= REORDER_LIMIT) {
        uint8_t *reordered = arena_alloc(scratch, total * g.size);
        reorder(&g, reordered);
        g.reordered = reordered;
    }
    uint8_t *buffer = arena_calloc(scratch, g.reordered ? 0 : tile, g.size);
    bool as_it_is = view->dtype == as && !view->scale;
    uint8_t *cast = as_it_is ? NULL : arena_calloc(scratch, tile, dtype_size(as));
    odlc_status status = ODLC_OK;
    for (uint64_t from = 0, n; status == ODLC_OK && from < total; from += n) {
        const uint8_t *raw;
        n = min_u64(tile, total - from);
        status = gather(&g, from, n, buffer, &raw);
        if (status != ODLC_OK)
            break;
        if (view->scale)
            scale_and_cast(&g, from, n, raw, cast, as);
        else if (!as_it_is)
            convert_elements(cast, as, raw, view->dtype, n);
        status = emit(user, as_it_is ? raw : cast, n * dtype_size(as));
    }
    arena_rewind(scratch, mark);
    if (view->file && !g.in_order && !view->splat)
        file_drop(view->file, (uint64_t)(view->bytes - view->file->data), total * g.size);
    return status;
}

static odlc_status append(void *user, const void *bytes, size_t size)
{
    uint8_t **cursor = user;
    memcpy(*cursor, bytes, size);
    *cursor += size;
    return ODLC_OK;
}

const void *view_load(struct arena *arena, const struct view *view, enum dtype as)
{
    if (view_is_plain(view, as) && (uintptr_t)view->bytes % max_i64(dtype_size(as), 1) == 0)
        return view->bytes;
    uint8_t *out = arena_alloc(arena, view_size(view, as)), *cursor = out;
    if (view_stream(arena, view, as, append, &cursor) != ODLC_OK)
        arena_exhausted(arena); /* a mapped file that cannot be read any more: nothing below can go on */
    return out;
}

/* ---- exactness ---- */

struct fit_check {
    enum dtype from, as;
    uint64_t index;
    bool failed;
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

static odlc_status check_piece(void *user, const void *bytes, size_t size)
{
    struct fit_check *c = user;
    uint32_t step = dtype_size(c->from);
    for (size_t i = 0; i < size / step; i++, c->index++) {
        const uint8_t *element = (const uint8_t *)bytes + i * step;
        double v;
        convert_elements(&v, DT_FLOAT64, element, c->from, 1);
        if (dtype_is_float(c->from) ? !float_fits(v, c->as) : !int_fits(element, c->from, c->as)) {
            c->failed = true;
            return ODLC_ERR_INVALID;
        }
    }
    return ODLC_OK;
}

bool view_fits(struct arena *scratch, const struct view *view, enum dtype as, uint64_t *bad)
{
    if (view->dtype == as && !view->scale)
        return true;
    if (dtype_is_float(view->dtype) && dtype_is_float(as) && dtype_size(as) >= dtype_size(view->dtype) &&
        as != DT_FLOAT16)
        return true;
    struct fit_check check = {.from = view->dtype, .as = as};
    odlc_status status = view_stream(scratch, view, view->dtype, check_piece, &check);
    if (check.failed && bad)
        *bad = check.index;
    return status == ODLC_OK;
}
