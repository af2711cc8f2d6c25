/* SPDX-License-Identifier: Apache-2.0 */
/* TensorProto: raw bytes and packed floats are used in place, other lists are decoded. A list may be shorter than the
 * tensor: its last value stands for the rest. */
#include "converters/tensorflow/decode/tf_tensor.h"

#include <inttypes.h>
#include <string.h>

#include "converters/tensorflow/decode/tensor_shape.h"
#include "converters/tensorflow/schema/tf_fields.h"
#include "converters/tensorflow/schema/tf_types.h"

/* A short list can stand for any number of elements; more than this is no model's intent. */
#define MAX_EXPANDED (UINT64_C(1) << 28)

struct tensor_job {
    struct tf_model *m;
    const struct wire_field *message;
    const char *node;
    int64_t code;     /* of the element type */
    enum dtype dtype; /* of the parts of complex numbers */
    struct fw_value shape;
    uint64_t count; /* of elements, which are parts of complex numbers where is_complex says so */
    bool is_complex;
    bool has_content;
    struct wire_field content;
    uint32_t list;  /* the field that elements of the type are listed in */
    unsigned width; /* of an element in that list; 0: a varint */
};

static odlc_status bad_tensor(const struct tensor_job *j, odlc_status status, const char *what)
{
    return diag_error(j->m->diags, status, AT(IN_MODEL(j->m), .node = j->node), "tensorflow-tensor", "the tensor %s",
                      what);
}

static void find_list(struct tensor_job *j)
{
    j->width = 0;
    if (j->is_complex) {
        j->list = j->dtype == DT_FLOAT32 ? TENSOR_SCOMPLEX_VAL : TENSOR_DCOMPLEX_VAL;
        j->width = dtype_size(j->dtype);
        return;
    }
    switch (j->dtype) {
    case DT_FLOAT32:
        j->list = TENSOR_FLOAT_VAL;
        j->width = sizeof(float);
        break;
    case DT_FLOAT64:
        j->list = TENSOR_DOUBLE_VAL;
        j->width = sizeof(double);
        break;
    case DT_FLOAT16:
    case DT_BFLOAT16:
        j->list = TENSOR_HALF_VAL;
        break;
    case DT_INT64:
        j->list = TENSOR_INT64_VAL;
        break;
    case DT_BOOL:
        j->list = TENSOR_BOOL_VAL;
        break;
    case DT_UINT32:
        j->list = TENSOR_UINT32_VAL;
        break;
    case DT_UINT64:
        j->list = TENSOR_UINT64_VAL;
        break;
    default:
        j->list = TENSOR_INT_VAL;
        break;
    }
}

static odlc_status read_message(struct tensor_job *j)
{
    struct wire w = wire_in(j->m->file, j->message);
    struct wire_field f;
    j->shape.has_shape = true; /* a scalar's is not written */
    while (wire_next(&w, &f)) {
        if (f.number == TENSOR_DTYPE) {
            j->code = (int64_t)f.value;
        } else if (f.number == TENSOR_SHAPE) {
            TRY(tf_decode_shape(j->m, &f, j->node, &j->shape));
        } else if (f.number == TENSOR_CONTENT) {
            j->has_content = true;
            j->content = f;
        }
    }
    j->dtype = j->is_complex ? tf_part_dtype(j->code) : tf_stored_dtype(j->code);
    if (j->dtype == DT_NONE)
        return bad_tensor(
            j, ODLC_ERR_UNSUPPORTED,
            arena_printf(j->m->diags->arena, "is of the type %s, which is not supported", tf_dtype_name(j->code)));
    find_list(j);
    return ODLC_OK;
}

enum dtype tf_tensor_dtype(const struct tf_model *m, const struct wire_field *tensor, int64_t *code)
{
    struct wire w = wire_in(m->file, tensor);
    struct wire_field f;
    *code = 0;
    while (wire_next_of(&w, TENSOR_DTYPE, &f))
        *code = (int64_t)f.value;
    return tf_stored_dtype(*code);
}

static odlc_status tensor_shape(struct tensor_job *j, struct shape *out)
{
    *out = (struct shape){.rank = j->shape.rank};
    for (uint32_t i = 0; i < j->shape.rank; i++) {
        out->dims[i] = j->shape.dims[i];
        if (out->dims[i] == DIM_OPEN)
            return bad_tensor(j, ODLC_ERR_INVALID, "has an open dimension");
    }
    if (!j->shape.has_shape)
        return bad_tensor(j, ODLC_ERR_INVALID, "does not say its shape");
    if (j->is_complex && out->rank == MAX_RANK)
        return bad_tensor(j, ODLC_ERR_UNSUPPORTED, "of complex numbers has no room for an axis of their parts");
    if (j->is_complex)
        out->dims[out->rank++] = 2;
    if (shape_too_large(out))
        return bad_tensor(j, ODLC_ERR_LIMIT, "is too large");
    j->count = shape_count(out);
    return ODLC_OK;
}

static odlc_status wrong_count(const struct tensor_job *j, const char *unit, uint64_t expected, uint64_t found)
{
    return bad_tensor(j, ODLC_ERR_INVALID,
                      arena_printf(j->m->diags->arena,
                                   "needs %" PRIu64 " %s by its shape and type %s, but holds %" PRIu64, expected, unit,
                                   dtype_info(j->dtype)->name, found));
}

static odlc_status string_elements(const struct tensor_job *j, struct view *view)
{
    struct wire w = wire_in(j->m->file, j->message);
    struct wire_field f;
    VEC(const char *) strings = {0};
    while (wire_next_of(&w, TENSOR_STRING_VAL, &f)) {
        if (f.size > 0 && memchr(wire_bytes(j->m->file, &f), 0, f.size))
            return bad_tensor(j, ODLC_ERR_UNSUPPORTED, "has a string with a NUL byte");
        vec_push(j->m->memory.kept, &strings, tf_text(j->m, &f));
    }
    if (strings.count == 0 && j->count > 0)
        vec_push(j->m->memory.kept, &strings, "");
    if (strings.count > j->count || (strings.count > 1 && strings.count < j->count))
        return wrong_count(j, "strings", j->count, strings.count);
    view->splat = strings.count == 1;
    view->strings = strings.data;
    return ODLC_OK;
}

/* A run of floats that lie in the file as they are in memory. */
static bool one_run(const struct tensor_job *j, const uint8_t **out)
{
    struct wire w = wire_in(j->m->file, j->message);
    struct wire_field f, more;
    if (!j->width || !wire_next_of(&w, j->list, &f) || f.type != WIRE_BYTES || wire_next_of(&w, j->list, &more))
        return false;
    *out = j->m->file->data + f.content;
    return f.size == j->count * j->width;
}

static odlc_status listed_elements(const struct tensor_job *j, struct view *view)
{
    struct wire_list list = wire_list_of(wire_in(j->m->file, j->message), j->list, j->width);
    uint64_t found = wire_list_count(list), bits = 0;
    const unsigned size = dtype_size(j->dtype), parts = j->is_complex ? 2 : 1;
    if (found == UINT64_MAX || found % parts != 0)
        return bad_tensor(j, ODLC_ERR_INVALID, "has a broken list of values");
    if (found > j->count)
        return wrong_count(j, "values", j->count, found);
    view->splat = found <= (j->is_complex ? 0 : 1) && j->count > 0;
    uint64_t count = view->splat ? 1 : j->count;
    if (count > found && count > MAX_EXPANDED / size)
        return bad_tensor(j, ODLC_ERR_LIMIT,
                          arena_printf(j->m->diags->arena, "lists fewer elements than it has, and has more than %d MiB",
                                       (int)(MAX_EXPANDED >> 20)));
    uint8_t *to = arena_calloc(j->m->memory.kept, count, size);
    for (uint64_t i = 0; i < count; i++) {
        if (i >= found && found > 0) {
            memcpy(to + i * size, to + (i - parts) * size, size);
            continue;
        }
        if (i < found && !wire_list_next(&list, &bits))
            return bad_tensor(j, ODLC_ERR_INVALID, "has a broken list of values");
        store_le(to + i * size, size, j->dtype == DT_BOOL ? bits != 0 : bits);
    }
    view->bytes = to;
    return ODLC_OK;
}

static odlc_status elements(const struct tensor_job *j, struct view *view)
{
    uint64_t size = j->count * dtype_size(j->dtype);
    if (j->dtype == DT_STRING)
        return string_elements(j, view);
    if (j->has_content && j->content.size > 0) {
        if (j->content.size != size)
            return wrong_count(j, "bytes", size, j->content.size);
        view->bytes = j->m->file->data + j->content.content;
    } else if (!one_run(j, &view->bytes)) {
        return listed_elements(j, view);
    }
    view->file = j->m->file;
    return ODLC_OK;
}

static odlc_status decode(struct tensor_job *j, struct view *out)
{
    struct shape shape;
    TRY(read_message(j));
    TRY(tensor_shape(j, &shape));
    *out = view_of(NULL, j->dtype, &shape);
    return elements(j, out);
}

odlc_status tf_decode_tensor(struct tf_model *m, const struct wire_field *tensor, const char *node, struct view *out)
{
    struct tensor_job j = {.m = m, .message = tensor, .node = node};
    return decode(&j, out);
}

odlc_status tf_decode_complex(struct tf_model *m, const struct wire_field *tensor, const char *node, struct view *out)
{
    struct tensor_job j = {.m = m, .message = tensor, .node = node, .is_complex = true};
    return decode(&j, out);
}
