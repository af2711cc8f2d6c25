/* SPDX-License-Identifier: Apache-2.0 */
/* A partitioned variable: an entry that has only the whole's shape, and one for each slice under a key made of name and
 * place. Slices are put together in memory, after they are known to fill the whole. */
#include "converters/tensorflow/source/bundle_slices.h"

#include "converters/tensorflow/source/ordered_code.h"

/* Each slice is compared with all others. Variables are partitioned over machines: a model has far fewer. */
enum { MAX_SLICES = 4096 };

enum { SLICE_EXTENT = 1, EXTENT_START = 1, EXTENT_LENGTH = 2, WHOLE_AXIS = -1 };

struct slice {
    struct bundle_entry entry;
    int64_t start[MAX_RANK]; /* in the whole; entry.shape says how far */
};

struct slices_job {
    struct bundle *b;
    const struct bundle_entry *whole;
    struct slice *slices;
};

static odlc_status bad_slices(const struct slices_job *j, const char *what)
{
    return diag_error(j->b->diags, ODLC_ERR_INVALID, AT(.file = j->b->index->path, .hint = BUNDLE_DAMAGED),
                      "checkpoint-slices", "tensor '%s' is saved in slices, %s", j->whole->key, what);
}

/* Reads where a slice is, and its key; a whole axis is said by no length. */
static odlc_status read_place(struct slices_job *j, const struct wire_field *message, int64_t *start,
                              struct shape *extent, text *key)
{
    const struct shape *whole = &j->whole->shape;
    struct wire w = wire_in(&j->whole->message, message);
    struct wire_field axis, f;
    ordered_add_count(j->b->arena, key, 0);
    ordered_add_string(j->b->arena, key, j->whole->key);
    ordered_add_count(j->b->arena, key, whole->rank);
    while (wire_next_of(&w, SLICE_EXTENT, &axis)) {
        int64_t from = 0, length = WHOLE_AXIS, end;
        for (struct wire e = wire_in(&j->whole->message, &axis); wire_next(&e, &f);) {
            if (f.number == EXTENT_START)
                from = (int64_t)f.value;
            else if (f.number == EXTENT_LENGTH)
                length = (int64_t)f.value;
        }
        if (extent->rank == whole->rank)
            return bad_slices(j, "one of which has too many axes");
        ordered_add_int(j->b->arena, key, from);
        ordered_add_int(j->b->arena, key, length);
        int64_t size = whole->dims[extent->rank];
        if (length == WHOLE_AXIS)
            length = size;
        if (from < 0 || length < 0 || ckd_add(&end, from, length) || end > size)
            return bad_slices(j, "one of which reaches over its edge");
        start[extent->rank] = from;
        extent->dims[extent->rank++] = length;
    }
    return extent->rank == whole->rank ? ODLC_OK : bad_slices(j, "one of which has too few axes");
}

static odlc_status read_slice(struct slices_job *j, const struct wire_field *message, struct slice *out)
{
    struct shape extent = {0};
    text key = {0};
    TRY(read_place(j, message, out->start, &extent, &key));
    const struct table_entry *from = table_find(&j->b->table, key.data, key.count);
    if (!from)
        return bad_slices(j, "one of which is missing");
    TRY(bundle_read_entry(j->b, from, j->whole->key, &out->entry));
    if (out->entry.n_slices > 0 || out->entry.dtype != j->whole->dtype || !shape_equal(&out->entry.shape, &extent))
        return bad_slices(j, "one of which has another type or shape than it should");
    return ODLC_OK;
}

static bool overlap(const struct slice *a, const struct slice *b)
{
    for (uint32_t i = 0; i < a->entry.shape.rank; i++) {
        int64_t a_end = a->start[i] + a->entry.shape.dims[i], b_end = b->start[i] + b->entry.shape.dims[i];
        if (a_end <= b->start[i] || b_end <= a->start[i])
            return false;
    }
    return true;
}

/* As many elements as the whole has, none of them twice: then none is missing. */
static odlc_status check_cover(const struct slices_job *j)
{
    uint64_t count = 0, whole = shape_count(&j->whole->shape);
    for (size_t i = 0; i < j->whole->n_slices; i++) {
        uint64_t n = shape_count(&j->slices[i].entry.shape);
        count += n;
        if (count > whole)
            break;
        for (size_t k = 0; n > 0 && k < i; k++)
            if (shape_count(&j->slices[k].entry.shape) > 0 && overlap(&j->slices[k], &j->slices[i]))
                return bad_slices(j, "two of which overlap");
    }
    return count == whole ? ODLC_OK : bad_slices(j, "which do not fill it");
}

/* Slices that name the same bytes could ask for more memory than the files have. */
static odlc_status check_memory(const struct slices_job *j, uint64_t size)
{
    for (size_t i = 0; i < j->whole->n_slices; i++) {
        const struct file *shard;
        TRY(bundle_locate(j->b, &j->slices[i].entry, &shard));
    }
    return size <= j->b->shard_bytes ? ODLC_OK : bad_slices(j, "which are larger than the files that hold them");
}

/* Copies a slice into the whole, a run of elements that lie side by side in both at a time. */
static void place_slice(const struct slice *slice, const uint8_t *bytes, const struct shape *whole, size_t element,
                        uint8_t *to)
{
    const struct shape *shape = &slice->entry.shape;
    int64_t strides[MAX_RANK];
    uint32_t outer = shape->rank;
    shape_strides(whole, strides);
    while (outer > 0 && (outer == shape->rank || shape->dims[outer] == whole->dims[outer]))
        outer--;
    size_t run = shape_count_range(shape, outer, shape->rank) * element;
    uint64_t runs = run > 0 ? shape_count_range(shape, 0, outer) : 0;
    for (uint64_t i = 0; i < runs; i++) {
        uint64_t rest = i;
        int64_t at = 0;
        for (uint32_t axis = shape->rank; axis-- > 0;) {
            at += slice->start[axis] * strides[axis];
            if (axis < outer) {
                at += (int64_t)(rest % (uint64_t)shape->dims[axis]) * strides[axis];
                rest /= (uint64_t)shape->dims[axis];
            }
        }
        memcpy(to + (size_t)at * element, bytes + i * run, run);
    }
}

static odlc_status read_slices(struct slices_job *j)
{
    struct wire w = wire_of(&j->whole->message, 0, j->whole->message.size);
    struct wire_field f;
    for (size_t i = 0; wire_next_of(&w, BUNDLE_SLICE, &f); i++)
        TRY(read_slice(j, &f, &j->slices[i]));
    return check_cover(j);
}

odlc_status bundle_load_slices(struct bundle *b, const struct bundle_entry *e, struct view *out)
{
    struct slices_job j = {.b = b, .whole = e};
    if (e->dtype == DT_STRING)
        return diag_error(b->diags, ODLC_ERR_UNSUPPORTED, AT(.file = b->index->path), "checkpoint-slices",
                          "tensor '%s' is of strings and saved in slices, which is not supported", e->key);
    if (e->n_slices > MAX_SLICES)
        return diag_error(b->diags, ODLC_ERR_UNSUPPORTED, AT(.file = b->index->path), "checkpoint-slices",
                          "tensor '%s' is saved in %zu slices, more than %d", e->key, e->n_slices, MAX_SLICES);
    j.slices = arena_array(b->arena, struct slice, e->n_slices);
    TRY(read_slices(&j));
    uint64_t size = shape_count(&e->shape) * dtype_size(e->dtype);
    TRY(check_memory(&j, size));
    uint8_t *bytes = arena_alloc(b->arena, (size_t)size);
    for (size_t i = 0; i < e->n_slices; i++) {
        const struct bundle_entry *part = &j.slices[i].entry;
        struct view view;
        TRY(bundle_load(b, part, &view));
        place_slice(&j.slices[i], view.bytes, &e->shape, dtype_size(e->dtype), bytes);
        file_drop(view.file, (uint64_t)part->offset, (uint64_t)part->size);
    }
    *out = view_of(bytes, e->dtype, &e->shape);
    return ODLC_OK;
}
