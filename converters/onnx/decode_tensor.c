/* Tensors: element type, shape, and a view of the elements wherever the model keeps them. Raw and packed floats are
 * used in place; variable-length integers and packed values are decoded into the arena. */
#include "converters/onnx/decode.h"

#include <inttypes.h>

#define FIELD(name) ONNX__TENSOR_PROTO__PAYLOAD_FIELD__##name

/* How ONNX stores the elements of a type. */
struct element_type {
    int32_t code;
    const char *name;
    enum dtype dtype; /* DT_NONE: not supported */
    uint32_t field;   /* TensorProto's list for elements that are not raw; 0: string_data */
    int64_t min, max; /* what an element of an integer list may be */
};

static const struct element_type element_types[] = {
    {1, "float", DT_FLOAT32, FIELD(FLOAT_DATA), 0, 0},
    {2, "uint8", DT_UINT8, FIELD(INT32_DATA), 0, UINT8_MAX},
    {3, "int8", DT_INT8, FIELD(INT32_DATA), INT8_MIN, INT8_MAX},
    {4, "uint16", DT_UINT16, FIELD(INT32_DATA), 0, UINT16_MAX},
    {5, "int16", DT_INT16, FIELD(INT32_DATA), INT16_MIN, INT16_MAX},
    {6, "int32", DT_INT32, FIELD(INT32_DATA), INT32_MIN, INT32_MAX},
    {7, "int64", DT_INT64, FIELD(INT64_DATA), INT64_MIN, INT64_MAX},
    {8, "string", DT_STRING, 0, 0, 0},
    {9, "bool", DT_BOOL, FIELD(INT32_DATA), 0, 1},
    {10, "float16", DT_FLOAT16, FIELD(INT32_DATA), 0, UINT16_MAX},
    {11, "double", DT_FLOAT64, FIELD(DOUBLE_DATA), 0, 0},
    {12, "uint32", DT_UINT32, FIELD(UINT64_DATA), 0, UINT32_MAX},
    {13, "uint64", DT_UINT64, FIELD(UINT64_DATA), INT64_MIN, INT64_MAX}, /* as bits */
    {14, "complex64", DT_NONE, 0, 0, 0},
    {15, "complex128", DT_NONE, 0, 0, 0},
    {16, "bfloat16", DT_BFLOAT16, FIELD(INT32_DATA), 0, UINT16_MAX},
    {17, "float8e4m3fn", DT_FLOAT8E4M3FN, FIELD(INT32_DATA), 0, UINT8_MAX},
    {18, "float8e4m3fnuz", DT_FLOAT8E4M3FNUZ, FIELD(INT32_DATA), 0, UINT8_MAX},
    {19, "float8e5m2", DT_FLOAT8E5M2, FIELD(INT32_DATA), 0, UINT8_MAX},
    {20, "float8e5m2fnuz", DT_FLOAT8E5M2FNUZ, FIELD(INT32_DATA), 0, UINT8_MAX},
    {21, "uint4", DT_UINT4, FIELD(INT32_DATA), 0, UINT8_MAX}, /* of fewer than 8 bits: packed */
    {22, "int4", DT_INT4, FIELD(INT32_DATA), 0, UINT8_MAX},
    {23, "float4e2m1", DT_FLOAT4E2M1, FIELD(INT32_DATA), 0, UINT8_MAX},
    {24, "float8e8m0", DT_FLOAT8E8M0, FIELD(INT32_DATA), 0, UINT8_MAX},
    {25, "uint2", DT_UINT2, FIELD(INT32_DATA), 0, UINT8_MAX},
    {26, "int2", DT_INT2, FIELD(INT32_DATA), 0, UINT8_MAX},
};

/* One tensor at work. */
struct tensor_job {
    struct decode *d;
    const Onnx__TensorProto *proto;
    const struct odlc_diag *place;
    const char *name;
    const struct element_type *type;
    uint64_t count; /* elements that the shape asks for */
};

/* How messages call the tensor. */
static const char *label(const struct tensor_job *j)
{
    return j->name[0] ? arena_printf(j->d->diags->arena, "tensor '%s'", j->name) : "the tensor";
}

static const struct element_type *find_type(int32_t code)
{
    for (size_t i = 0; i < COUNT_OF(element_types); i++)
        if (element_types[i].code == code)
            return &element_types[i];
    return NULL;
}

odlc_status decode_dtype(int32_t code, enum dtype *out, const char **name)
{
    const struct element_type *type = find_type(code);
    *name = type ? type->name : NULL;
    if (!type)
        return ODLC_ERR_INVALID;
    if (type->dtype == DT_NONE)
        return ODLC_ERR_UNSUPPORTED;
    *out = type->dtype;
    return ODLC_OK;
}

/* Elements of fewer than 8 bits share a byte, in files as well as in lists: this many. Others have one of their own. */
static unsigned elements_per_byte(const struct element_type *type)
{
    unsigned bits = dtype_value_bits(type->dtype);
    return bits && bits < 8 ? 8 / bits : 1;
}

/* float_data and double_data hold elements as they are, the other lists hold variable-length integers. */
static bool in_float_list(const struct element_type *type)
{
    return type->field == FIELD(FLOAT_DATA) || type->field == FIELD(DOUBLE_DATA);
}

static odlc_status tensor_shape(const struct tensor_job *j, struct shape *out)
{
    const Onnx__TensorProto *p = j->proto;
    if (p->n_dims > MAX_RANK)
        return decode_error(j->d, ODLC_ERR_UNSUPPORTED, j->place, "onnx-rank", "%s has %zu dimensions, more than %d",
                            label(j), p->n_dims, MAX_RANK);
    struct shape shape = {.rank = (uint32_t)p->n_dims};
    for (size_t i = 0; i < p->n_dims; i++)
        shape.dims[i] = p->dims[i];
    for (size_t i = 0; i < p->n_dims; i++)
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

/* Walks the elements of a tensor over all its runs. */
struct elements {
    const uint8_t *file;
    const Onnx__TensorProto *proto;
    size_t next_run;
    struct reader r; /* the rest of the run at work */
    bool packed;
    unsigned width; /* of an element in bytes; 0: a varint */
};

/* The next element's bits; false after the last one, or with r.failed set where the bytes end within an element. */
static bool next_element(struct elements *e, uint64_t *bits)
{
    while (e->r.pos == e->r.size) {
        if (e->next_run == e->proto->n_payload)
            return false;
        const Onnx__Payload *run = e->proto->payload[e->next_run++];
        e->r = reader_of(e->file + run->offset, run->size);
        e->packed = run->packed;
    }
    if (!e->packed)
        read_varint(&e->r); /* the tag */
    *bits = e->width ? read_le(&e->r, e->width) : read_varint(&e->r);
    return !e->r.failed;
}

/* The number of list entries, all well-formed; UINT64_MAX when they are not. */
static uint64_t count_elements(struct elements e)
{
    uint64_t count = 0, bits;
    while (next_element(&e, &bits))
        count++;
    return e.r.failed ? UINT64_MAX : count;
}

/* Decodes the list into an array of elements of `width` bytes. Writers sign-extend negative 32-bit integers to 64 bits
 * or not, so of those the low half counts. */
static odlc_status gather(const struct tensor_job *j, uint64_t entries, unsigned width, uint8_t **out)
{
    bool is_float = in_float_list(j->type);
    struct elements e = {.file = j->d->file->data, .proto = j->proto, .width = is_float ? width : 0};
    uint64_t found = count_elements(e), bits;
    if (found == UINT64_MAX)
        return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-tensor-data", "%s has a broken list of values",
                            label(j));
    if (found != entries)
        return wrong_size(j, "values", entries, found);
    uint8_t *to = arena_calloc(j->d->arena, entries, width);
    for (uint64_t i = 0; i < entries && next_element(&e, &bits); i++) {
        int64_t value = j->type->field == FIELD(INT32_DATA) ? (int32_t)(uint32_t)bits : (int64_t)bits;
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

static const Onnx__Payload *single_run(const struct tensor_job *j)
{
    return j->proto->n_payload == 1 ? j->proto->payload[0] : NULL;
}

static odlc_status raw_elements(const struct tensor_job *j, uint64_t expected, const uint8_t **out)
{
    const Onnx__Payload *run = single_run(j);
    if (run->size != expected)
        return wrong_size(j, "bytes", expected, run->size);
    *out = j->d->file->data + run->offset;
    return ODLC_OK;
}

/* The elements of a list that the type's own field holds: in place when they are one packed run of floats. */
static odlc_status listed_elements(const struct tensor_job *j, uint64_t entries, const uint8_t **out, bool *mapped)
{
    unsigned width = dtype_size(j->type->dtype);
    const Onnx__Payload *run = single_run(j);
    if (in_float_list(j->type) && run && run->packed && run->size == entries * width) {
        *out = j->d->file->data + run->offset;
        *mapped = true;
        return ODLC_OK;
    }
    uint8_t *gathered = NULL;
    TRY(gather(j, entries, width, &gathered));
    *out = gathered;
    return ODLC_OK;
}

/* All runs must be in the one field that suits the type. */
static odlc_status check_fields(const struct tensor_job *j, bool *raw)
{
    const Onnx__TensorProto *p = j->proto;
    uint32_t field = p->n_payload > 0 ? p->payload[0]->field : j->type->field;
    for (size_t i = 1; i < p->n_payload; i++)
        if (p->payload[i]->field != field)
            return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-tensor-data", "%s gives its values twice",
                                label(j));
    *raw = field == FIELD(RAW_DATA);
    if (!*raw && field != j->type->field)
        return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-tensor-data",
                            "%s has its values in a field that its type %s does not use", label(j), j->type->name);
    return ODLC_OK;
}

/* One element per byte, the sign of signed integers extended to it. */
static const uint8_t *unpack(const struct tensor_job *j, unsigned per_byte, const uint8_t *bytes)
{
    uint8_t *out = arena_alloc(j->d->arena, j->count);
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
    const Onnx__TensorProto *p = j->proto;
    if (p->n_payload > 0 || p->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-tensor-data", "%s has strings outside string_data",
                            label(j));
    if (p->n_string_data != j->count)
        return wrong_size(j, "strings", j->count, p->n_string_data);
    const char **strings = arena_array(j->d->arena, const char *, p->n_string_data);
    for (size_t i = 0; i < p->n_string_data; i++) {
        const ProtobufCBinaryData *s = &p->string_data[i];
        if (s->len > 0 && memchr(s->data, 0, s->len))
            return decode_error(j->d, ODLC_ERR_UNSUPPORTED, j->place, "onnx-nul", "%s has a string with a NUL byte",
                                label(j));
        strings[i] = arena_strndup(j->d->arena, (const char *)s->data, s->len);
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
    if (j->proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL) {
        mapped = true;
        TRY(external_bytes(j->d, j->proto, size, j->place, &view->bytes, &file));
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
    int32_t code = j->proto->data_type;
    j->type = find_type(code);
    if (!j->type)
        return decode_error(j->d, ODLC_ERR_INVALID, j->place, "onnx-dtype", "%s has the unknown element type %" PRId32,
                            label(j), code);
    if (j->type->dtype == DT_NONE)
        return decode_error(j->d, ODLC_ERR_UNSUPPORTED, j->place, "onnx-dtype",
                            "%s has the element type %s, which is not supported", label(j), j->type->name);
    if (j->proto->segment)
        return decode_error(j->d, ODLC_ERR_UNSUPPORTED, j->place, "onnx-segment",
                            "%s is stored in segments, which is not supported", label(j));
    return ODLC_OK;
}

odlc_status decode_tensor(struct decode *d, const Onnx__TensorProto *tensor, const struct odlc_diag *place,
                          struct fw_tensor *out)
{
    struct tensor_job j = {.d = d, .proto = tensor, .place = place, .name = tensor->name ? tensor->name : ""};
    struct shape shape;
    TRY(find_element_type(&j));
    TRY(tensor_shape(&j, &shape));
    j.count = shape_count(&shape);
    struct view view = view_of(NULL, j.type->dtype, &shape);
    TRY(j.type->dtype == DT_STRING ? string_elements(&j, &view) : numeric_elements(&j, &view));
    *out = (struct fw_tensor){.name = j.name, .view = view};
    return ODLC_OK;
}
