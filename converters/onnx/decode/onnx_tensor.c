/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors: element type, shape, and a view of the elements wherever the model keeps them. Raw and packed floats are
 * used in place; variable-length integers and packed values are decoded into the arena. */
#include "converters/onnx/decode/onnx_tensor.h"

#include <inttypes.h>

#include "converters/onnx/decode/external_data.h"
#include "converters/onnx/schema/onnx_types.h"

/* One tensor at work. */
struct tensor_job {
    struct decode *d;
    const struct wire_field *message;
    const struct odlc_diag *place;
    fw_name id;
    const char *name;
    int32_t code; /* of the element type */
    const struct onnx_type *type;
    bool external, segment;
    uint64_t count; /* elements that the shape asks for */
    int64_t dims[MAX_RANK];
    size_t n_dims; /* those beyond MAX_RANK are counted only */
    uint64_t n_strings;
    struct wire_field data; /* the first field with elements; number 0: there is none */
    size_t n_data;          /* fields with elements */
    bool mixed;             /* these are of several lists */
};

/* How messages call the tensor. */
static const char *label(const struct tensor_job *j)
{
    return j->name[0] ? arena_printf(j->d->diags->arena, "tensor '%s'", j->name) : "the tensor";
}

/* Elements of fewer than 8 bits share a byte, in files as well as in lists: this many. Others have one of their own. */
static unsigned elements_per_byte(const struct onnx_type *type)
{
    unsigned bits = dtype_value_bits(type->dtype);
    return bits && bits < 8 ? 8 / bits : 1;
}

/* float_data and double_data hold elements as they are, the other lists hold variable-length integers. */
static bool in_float_list(const struct onnx_type *type)
{
    return type->field == TENSOR_FLOAT_DATA || type->field == TENSOR_DOUBLE_DATA;
}

static void read_dims(struct tensor_job *j)
{
    struct wire_list list = wire_list_of(wire_in(j->d->file, j->message), TENSOR_DIMS, 0);
    uint64_t dim;
    for (; wire_list_next(&list, &dim); j->n_dims++)
        if (j->n_dims < MAX_RANK)
            j->dims[j->n_dims] = (int64_t)dim;
}

static void note_data(struct tensor_job *j, const struct wire_field *f)
{
    if (f->size == 0) /* of no elements */
        return;
    if (j->n_data++ == 0)
        j->data = *f;
    j->mixed |= f->number != j->data.number;
}

static void read_message(struct tensor_job *j)
{
    struct wire w = wire_in(j->d->file, j->message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        switch (f.number) {
        case TENSOR_DATA_TYPE:
            j->code = (int32_t)f.value;
            break;
        case TENSOR_SEGMENT:
            j->segment = true;
            break;
        case TENSOR_NAME:
            j->id = decode_name(j->d, &f);
            break;
        case TENSOR_STRING_DATA:
            j->n_strings++;
            break;
        case TENSOR_DATA_LOCATION:
            j->external = (int32_t)f.value == LOCATION_EXTERNAL;
            break;
        case TENSOR_FLOAT_DATA:
        case TENSOR_INT32_DATA:
        case TENSOR_INT64_DATA:
        case TENSOR_RAW_DATA:
        case TENSOR_DOUBLE_DATA:
        case TENSOR_UINT64_DATA:
            note_data(j, &f);
            break;
        default:
            break;
        }
    }
    j->name = names_text(&j->d->names, j->id);
    read_dims(j);
}

static odlc_status tensor_shape(const struct tensor_job *j, struct shape *out)
{
    if (j->n_dims > MAX_RANK)
        return decode_error(j->d, ODLC_ERR_UNSUPPORTED, j->place, "onnx-rank", "%s has %zu dimensions, more than %d",
                            label(j), j->n_dims, MAX_RANK);
    struct shape shape = {.rank = (uint32_t)j->n_dims};
    for (size_t i = 0; i < j->n_dims; i++)
        shape.dims[i] = j->dims[i];
    for (size_t i = 0; i < j->n_dims; i++)
        if (shape.dims[i] < 0)
            return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-shape",
                                "%s has the negative dimension %" PRId64, label(j), shape.dims[i]);
    if (shape_too_large(&shape))
        return decode_error(j->d, ODLC_ERR_LIMIT, j->place, "onnx-shape", "%s is too large", label(j));
    *out = shape;
    return ODLC_OK;
}

static odlc_status wrong_size(const struct tensor_job *j, const char *unit, uint64_t expected, uint64_t found)
{
    return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-tensor-size",
                        "%s needs %" PRIu64 " %s by its shape and type %s, but holds %" PRIu64, label(j), expected,
                        unit, j->type->name, found);
}

/* ---- elements in lists ---- */

/* Decodes the list into an array of elements of `width` bytes. Writers sign-extend negative 32-bit integers to 64 bits
 * or not, so of those the low half counts. */
static odlc_status gather(const struct tensor_job *j, uint64_t entries, unsigned width, uint8_t **out)
{
    bool is_float = in_float_list(j->type);
    struct wire_list e = wire_list_of(wire_in(j->d->file, j->message), j->type->field, is_float ? width : 0);
    uint64_t found = wire_list_count(e), bits;
    if (found == UINT64_MAX)
        return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-tensor-data", "%s has a broken list of values",
                            label(j));
    if (found != entries)
        return wrong_size(j, "values", entries, found);
    uint8_t *to = arena_calloc(j->d->memory.kept, entries, width);
    for (uint64_t i = 0; i < entries && wire_list_next(&e, &bits); i++) {
        int64_t value = j->type->field == TENSOR_INT32_DATA ? (int32_t)(uint32_t)bits : (int64_t)bits;
        if (!is_float && (value < j->type->min || value > j->type->max))
            return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-tensor-data",
                                "%s has at index %" PRIu64 " the value %" PRId64 ", which is no %s", label(j), i, value,
                                j->type->name);
        store_le(to + i * width, width, is_float ? bits : (uint64_t)value);
    }
    *out = to;
    return ODLC_OK;
}

/* ---- where the elements are ---- */

static odlc_status raw_elements(const struct tensor_job *j, uint64_t expected, const uint8_t **out)
{
    if (j->data.size != expected)
        return wrong_size(j, "bytes", expected, j->data.size);
    *out = j->d->file->data + j->data.content;
    return ODLC_OK;
}

/* The elements of a list that the type's own field holds: in place when they are one packed run of floats. */
static odlc_status listed_elements(const struct tensor_job *j, uint64_t entries, const uint8_t **out, bool *mapped)
{
    unsigned width = dtype_size(j->type->dtype);
    bool one_run = j->n_data == 1 && j->data.type == WIRE_BYTES;
    if (in_float_list(j->type) && one_run && j->data.size == entries * width) {
        *out = j->d->file->data + j->data.content;
        *mapped = true;
        return ODLC_OK;
    }
    uint8_t *gathered = NULL;
    TRY(gather(j, entries, width, &gathered));
    *out = gathered;
    return ODLC_OK;
}

/* All elements must be in the one field that suits the type. */
static odlc_status check_fields(const struct tensor_job *j, bool *raw)
{
    if (j->mixed)
        return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-tensor-data", "%s gives its values twice",
                            label(j));
    *raw = j->data.number == TENSOR_RAW_DATA;
    if (!*raw && j->n_data > 0 && j->data.number != j->type->field)
        return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-tensor-data",
                            "%s has its values in a field that its type %s does not use", label(j), j->type->name);
    return ODLC_OK;
}

/* One element per byte, the sign of signed integers extended to it. */
static const uint8_t *unpack(const struct tensor_job *j, unsigned per_byte, const uint8_t *bytes)
{
    uint8_t *out = arena_alloc(j->d->memory.kept, j->count);
    unsigned bits = 8 / per_byte, mask = (1u << bits) - 1, sign = 1u << (bits - 1);
    bool is_signed = dtype_info(j->type->dtype)->cls == CLASS_INT;
    for (uint64_t i = 0; i < j->count; i++) {
        unsigned element = bytes[i / per_byte] >> (i % per_byte * bits) & mask;
        out[i] = (uint8_t)(is_signed && element & sign ? element | ~mask : element);
    }
    return out;
}

static odlc_status string_elements(const struct tensor_job *j, struct view *view)
{
    if (j->n_data > 0 || j->external)
        return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-tensor-data", "%s has strings outside string_data",
                            label(j));
    if (j->n_strings != j->count)
        return wrong_size(j, "strings", j->count, j->n_strings);
    struct arena *arena = j->d->memory.kept;
    const char **strings = arena_array(arena, const char *, j->n_strings);
    struct wire w = wire_in(j->d->file, j->message);
    struct wire_field f;
    for (uint64_t i = 0; i < j->n_strings; i++) {
        bool found = wire_next_of(&w, TENSOR_STRING_DATA, &f);
        const char *bytes = found ? wire_bytes(j->d->file, &f) : "";
        size_t size = found ? f.size : 0;
        if (size > 0 && memchr(bytes, 0, size))
            return decode_error(j->d, ODLC_ERR_UNSUPPORTED, j->place, "onnx-nul", "%s has a string with a NUL byte",
                                label(j));
        strings[i] = arena_strndup(arena, bytes, size);
    }
    view->strings = strings;
    return ODLC_OK;
}

static odlc_status numeric_elements(const struct tensor_job *j, struct view *view)
{
    unsigned per_byte = elements_per_byte(j->type);
    bool packed = per_byte > 1, mapped = false, raw = false;
    uint64_t entries = j->count / per_byte + (j->count % per_byte > 0);
    uint64_t size = entries * dtype_size(j->type->dtype);
    const struct file *file = j->d->file;
    if (j->external) {
        mapped = true;
        TRY(external_bytes(j->d, j->message, size, j->place, &view->bytes, &file));
    } else {
        TRY(check_fields(j, &raw));
        mapped = raw;
        TRY(raw ? raw_elements(j, size, &view->bytes) : listed_elements(j, entries, &view->bytes, &mapped));
    }
    if (packed)
        view->bytes = unpack(j, per_byte, view->bytes);
    view->file = mapped && !packed ? file : NULL;
    return ODLC_OK;
}

static odlc_status find_element_type(struct tensor_job *j)
{
    j->type = onnx_find_type(j->code);
    if (!j->type)
        return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-dtype", "%s has the unknown element type %" PRId32,
                            label(j), j->code);
    if (j->type->dtype == DT_NONE)
        return decode_error(j->d, ODLC_ERR_UNSUPPORTED, j->place, "onnx-dtype",
                            "%s has the element type %s, which is not supported", label(j), j->type->name);
    if (j->segment)
        return decode_error(j->d, ODLC_ERR_UNSUPPORTED, j->place, "onnx-segment",
                            "%s is stored in segments, which is not supported", label(j));
    return ODLC_OK;
}

odlc_status decode_tensor(struct decode *d, const struct wire_field *tensor, const struct odlc_diag *place,
                          struct fw_tensor *out)
{
    struct tensor_job j = {.d = d, .message = tensor, .place = place};
    struct shape shape;
    read_message(&j);
    *out = (struct fw_tensor){.name = j.name, .id = j.id};
    TRY(find_element_type(&j));
    TRY(tensor_shape(&j, &shape));
    j.count = shape_count(&shape);
    struct view view = view_of(NULL, j.type->dtype, &shape);
    TRY(j.type->dtype == DT_STRING ? string_elements(&j, &view) : numeric_elements(&j, &view));
    out->view = view;
    return ODLC_OK;
}
