/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse tensors: values and where they stand. The container has none, so all elements are written out. */
#include "converters/onnx/decode/onnx_sparse.h"

#include <inttypes.h>

#include "converters/onnx/decode/onnx_tensor.h"

/* A few bytes of a file can ask for any amount of memory. */
enum { MAX_DENSE_BYTES = 256 * 1024 * 1024 };

/* One sparse tensor at work. */
struct sparse_job {
    struct decode *d;
    const struct odlc_diag *place;
    struct wire_field values_at, indices_at; /* number 0: there is none */
    struct fw_tensor values;
    int64_t dims[MAX_RANK];
    size_t n_dims;      /* those beyond MAX_RANK are counted only */
    struct shape shape; /* of all elements */
    const int64_t *indices;
    bool by_axis; /* an index is a number per axis, instead of one that counts elements */
};

static odlc_status bad_sparse(const struct sparse_job *j, const char *what)
{
    return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-sparse", "the sparse tensor '%s' %s", j->values.name,
                        what);
}

static void read_message(struct sparse_job *j, const struct wire_field *sparse)
{
    struct wire w = wire_in(j->d->file, sparse);
    struct wire_list dims = wire_list_of(w, SPARSE_DIMS, 0);
    struct wire_field f;
    uint64_t dim;
    while (wire_next(&w, &f)) {
        if (f.number == SPARSE_VALUES)
            j->values_at = f;
        else if (f.number == SPARSE_INDICES)
            j->indices_at = f;
    }
    for (; wire_list_next(&dims, &dim); j->n_dims++)
        if (j->n_dims < MAX_RANK)
            j->dims[j->n_dims] = (int64_t)dim;
}

static odlc_status read_shape(struct sparse_job *j)
{
    if (j->n_dims > MAX_RANK)
        return decode_error(j->d, ODLC_ERR_UNSUPPORTED, j->place, "onnx-rank",
                            "the sparse tensor '%s' has %zu dimensions, more than %d", j->values.name, j->n_dims,
                            MAX_RANK);
    j->shape.rank = (uint32_t)j->n_dims;
    for (uint32_t i = 0; i < j->shape.rank; i++) {
        if (j->dims[i] < 0)
            return bad_sparse(j, "has a negative dimension");
        j->shape.dims[i] = j->dims[i];
    }
    const struct view *values = &j->values.view;
    size_t size = values->dtype == DT_STRING ? sizeof(char *) : dtype_size(values->dtype);
    if (shape_too_large(&j->shape) || shape_count(&j->shape) > MAX_DENSE_BYTES / size)
        return decode_error(j->d, ODLC_ERR_LIMIT, j->place, "onnx-sparse",
                            "the sparse tensor '%s' would take more than %d MiB with its zeros", j->values.name,
                            MAX_DENSE_BYTES >> 20);
    return values->shape.rank == 1 ? ODLC_OK : bad_sparse(j, "has values that are no list");
}

static odlc_status read_indices(struct sparse_job *j)
{
    struct fw_tensor indices;
    int64_t count = j->values.view.shape.dims[0];
    TRY(decode_tensor(j->d, &j->indices_at, j->place, &indices));
    const struct shape list = SHAPE(count), table = SHAPE(count, j->shape.rank);
    j->by_axis = shape_equal(&indices.view.shape, &table);
    if (indices.view.dtype != DT_INT64 || !(j->by_axis || shape_equal(&indices.view.shape, &list)))
        return bad_sparse(j, "has indices of another type or shape than its values ask for");
    j->indices = view_load(j->d->memory.kept, &indices.view, DT_INT64);
    return ODLC_OK;
}

/* The element that value k is; -1 when the index is outside of the tensor. */
static int64_t place_of(const struct sparse_job *j, int64_t k)
{
    if (!j->by_axis)
        return j->indices[k] < 0 || (uint64_t)j->indices[k] >= shape_count(&j->shape) ? -1 : j->indices[k];
    const int64_t *index = j->indices + k * j->shape.rank;
    int64_t at = 0;
    for (uint32_t i = 0; i < j->shape.rank; i++) {
        if (index[i] < 0 || index[i] >= j->shape.dims[i])
            return -1;
        at = at * j->shape.dims[i] + index[i];
    }
    return at;
}

static void fill_blanks(const char **strings, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        strings[i] = "";
}

static odlc_status write_out(const struct sparse_job *j, struct view *out)
{
    const struct view *values = &j->values.view;
    bool text = values->dtype == DT_STRING;
    size_t size = text ? sizeof(char *) : dtype_size(values->dtype);
    uint64_t count = shape_count(&j->shape);
    uint8_t *dense = arena_calloc(j->d->memory.kept, count, size);
    const uint8_t *from = text ? (const uint8_t *)values->strings : values->bytes;
    if (text)
        fill_blanks((const char **)dense, count);
    int64_t last = -1;
    for (int64_t k = 0; k < values->shape.dims[0]; k++) {
        int64_t at = place_of(j, k);
        if (at < 0)
            return bad_sparse(j, "has an index outside of its shape");
        if (at <= last)
            return bad_sparse(j, "has indices that do not ascend");
        memcpy(dense + (uint64_t)at * size, from + (uint64_t)k * size, size);
        last = at;
    }
    *out = view_of(text ? NULL : dense, values->dtype, &j->shape);
    if (text)
        out->strings = (const char *const *)dense;
    return ODLC_OK;
}

odlc_status decode_sparse(struct decode *d, const struct wire_field *sparse, const struct odlc_diag *place,
                          struct fw_tensor *out)
{
    struct sparse_job j = {.d = d, .place = place, .values.name = ""};
    read_message(&j, sparse);
    if (j.values_at.number == 0 || j.indices_at.number == 0)
        return bad_sparse(&j, "lacks its values or its indices");
    TRY(decode_tensor(d, &j.values_at, place, &j.values));
    TRY(read_shape(&j));
    TRY(read_indices(&j));
    *out = j.values;
    return write_out(&j, &out->view);
}
