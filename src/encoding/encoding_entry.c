/* SPDX-License-Identifier: Apache-2.0 */
#include "encoding/encoding_entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "encoding/encoding_range.h"

bool encoding_wrong(struct encoding_reader *r, odlc_status status, const struct json_value *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(r->arena, format, args);
    va_end(args);
    (void)json_error(r->file->json, at, NULL, status == ODLC_ERR_UNSUPPORTED ? "encoding-unsupported" : "bad-encoding",
                     "%s", message);
    if (r->status == ODLC_OK)
        r->status = status;
    return false;
}

/* ---- members ---- */

/* A member that is a number; `into` keeps its value where there is none. */
static bool read_number(struct encoding_reader *r, const struct json_value *object, const char *key, double *into)
{
    const struct json_value *member = json_member(object, key);
    if (!member || json_is(member, JSON_NULL))
        return true;
    if (!json_is(member, JSON_NUMBER) || !isfinite(member->number))
        return encoding_wrong(r, ODLC_ERR_INVALID, member, "%s is not a number that a double can have", key);
    *into = member->number;
    return true;
}

/* True, false, and words for them. */
static bool read_truth(struct encoding_reader *r, const struct json_value *object, const char *key, bool *into)
{
    const struct json_value *member = json_member(object, key);
    *into = false;
    if (!member || json_is(member, JSON_NULL))
        return true;
    if (json_is(member, JSON_BOOL))
        *into = member->truth;
    else if (json_is(member, JSON_STRING) && strcasecmp(member->string, "true") == 0)
        *into = true;
    else if (!json_is(member, JSON_STRING) || strcasecmp(member->string, "false") != 0)
        return encoding_wrong(r, ODLC_ERR_INVALID, member, "%s is neither true nor false", key);
    return true;
}

static bool holds_integers(uint32_t bits)
{
    return bits == 4 || bits == 8 || bits == 16 || bits == 32;
}

static bool read_bits(struct encoding_reader *r, const struct json_value *object, const char *key, uint32_t *bits)
{
    const struct json_value *member = json_member(object, key);
    if (!json_is(member, JSON_NUMBER))
        return encoding_wrong(r, ODLC_ERR_INVALID, member ? member : object, "the number %s is missing", key);
    if (member->number != floor(member->number) || member->number < 1 || member->number > 64)
        return encoding_wrong(r, ODLC_ERR_INVALID, member, "%s is no number of bits", key);
    *bits = (uint32_t)member->number;
    return true;
}

static bool check_bits(struct encoding_reader *r, const struct json_value *at, const struct encoding_entry *e)
{
    if (e->kind == ENCODING_FLOAT ? e->bits == 16 || e->bits == 32 : holds_integers(e->bits))
        return true;
    return encoding_wrong(r, ODLC_ERR_UNSUPPORTED, at, "containers have no %s of %u bits",
                          e->kind == ENCODING_FLOAT ? "floats" : "integers", e->bits);
}

/* "int" or "float", in any case; integers where nothing is said. */
static bool read_kind(struct encoding_reader *r, const struct json_value *object, struct encoding_entry *e)
{
    const struct json_value *member = json_member(object, "dtype");
    e->kind = ENCODING_INTEGERS;
    if (!member)
        return true;
    if (json_is(member, JSON_STRING) &&
        (strcasecmp(member->string, "float") == 0 || strcasecmp(member->string, "fp") == 0))
        e->kind = ENCODING_FLOAT;
    else if (!json_is(member, JSON_STRING) || strcasecmp(member->string, "int") != 0)
        return encoding_wrong(r, ODLC_ERR_INVALID, member, "dtype is neither \"int\" nor \"float\"");
    return true;
}

/* ---- ranges ---- */

static bool is_small_offset(double offset)
{
    return offset == floor(offset) && fabs(offset) <= ldexp(1, 31);
}

/* Offsets were printed with either sign, so that a range is what counts. */
static bool read_range(struct encoding_reader *r, const struct json_value *object, const struct encoding_entry *e,
                       double *min, double *max)
{
    double scale = NAN, offset = NAN;
    *min = *max = NAN;
    if (!read_number(r, object, "min", min) || !read_number(r, object, "max", max) ||
        !read_number(r, object, "scale", &scale) || !read_number(r, object, "offset", &offset))
        return false;
    if (isnan(*min) != isnan(*max))
        return encoding_wrong(r, ODLC_ERR_INVALID, object, "%s is missing", isnan(*min) ? "min" : "max");
    if (!isnan(*min))
        return *min <= *max || encoding_wrong(r, ODLC_ERR_INVALID, object, "min is above max");
    if (isnan(scale))
        return true;
    if (!(scale > 0) || isnan(offset) || !is_small_offset(offset) || offset > 0)
        return encoding_wrong(r, ODLC_ERR_INVALID, object,
                              "without min and max there must be a scale above zero, and an offset that is not");
    *min = offset * scale;
    *max = (offset + ldexp(1, (int)e->bits) - 1) * scale;
    return true;
}

static bool read_range_head(struct encoding_reader *r, const struct json_value *object, struct encoding_entry *e,
                            bool *symmetric)
{
    if (!json_is(object, JSON_OBJECT))
        return encoding_wrong(r, ODLC_ERR_INVALID, object, "an encoding is an object with bitwidth, min and max");
    return read_kind(r, object, e) && read_bits(r, object, "bitwidth", &e->bits) && check_bits(r, object, e) &&
           read_truth(r, object, "is_symmetric", symmetric);
}

static struct encoding settle(const struct encoding_entry *e, bool symmetric, double min, double max)
{
    bool around = e->bits == 32 || (symmetric && e->per_channel);
    return around ? encoding_around_zero(e->bits, min, max) : encoding_of_range(e->bits, min, max);
}

/* All encodings of a tensor are of one kind; none of them, or each, has a range. */
static bool read_channel(struct encoding_reader *r, const struct json_value *object, struct encoding_entry *e,
                         struct encoding *to)
{
    struct encoding_entry own = {.per_channel = e->per_channel};
    bool symmetric;
    double min, max;
    if (!read_range_head(r, object, &own, &symmetric))
        return false;
    if (own.kind == ENCODING_INTEGERS && !read_range(r, object, &own, &min, &max))
        return false;
    if (own.kind == ENCODING_INTEGERS && isnan(min))
        own.kind = ENCODING_WIDTH;
    if (e->bits && (own.kind != e->kind || own.bits != e->bits))
        return encoding_wrong(r, ODLC_ERR_INVALID, object, "the encodings of one tensor differ in kind or width");
    e->kind = own.kind;
    e->bits = own.bits;
    if (own.kind == ENCODING_INTEGERS)
        *to = settle(&own, symmetric, min, max);
    e->zero_range |= own.kind == ENCODING_INTEGERS && min == 0 && max == 0;
    return true;
}

static uint32_t count_children(const struct json_value *value)
{
    uint32_t count = 0;
    for (const struct json_value *child = json_child(value); child; child = child->next)
        count++;
    return count;
}

bool encoding_read_ranges(struct encoding_reader *r, const struct json_value *value, struct encoding_entry *out)
{
    const bool is_list = json_is(value, JSON_ARRAY);
    const uint32_t count = is_list ? count_children(value) : 1;
    if (count == 0)
        return encoding_wrong(r, ODLC_ERR_INVALID, value, "tensor %s has no encoding", out->name);
    struct encoding *encodings = arena_array(r->arena, struct encoding, count);
    const struct json_value *child = is_list ? json_child(value) : value;
    out->per_channel = count > 1;
    out->axis = ENCODING_NO_AXIS;
    for (uint32_t i = 0; i < count; i++, child = child->next)
        if (!read_channel(r, child, out, &encodings[i]))
            return false;
    out->count = out->kind == ENCODING_INTEGERS ? count : 0;
    out->encodings = encodings;
    return true;
}

/* ---- lists of numbers ---- */

/* A list of finite numbers, or one; NULL, with an error, for others. */
static const double *read_list(struct encoding_reader *r, const struct json_value *value, const char *what,
                               uint32_t *count)
{
    const bool is_list = json_is(value, JSON_ARRAY);
    *count = is_list ? count_children(value) : 1;
    double *numbers = arena_array(r->arena, double, *count + 1);
    const struct json_value *child = is_list ? json_child(value) : value;
    for (uint32_t i = 0; i < *count; i++, child = child->next) {
        if (!json_is(child, JSON_NUMBER) || !isfinite(child->number)) {
            encoding_wrong(r, json_is(child, JSON_ARRAY) ? ODLC_ERR_UNSUPPORTED : ODLC_ERR_INVALID, child,
                           "%s is not a list of numbers", what);
            return NULL;
        }
        numbers[i] = child->number;
    }
    return numbers;
}

/* As many scales as offsets, and at least one. */
static bool read_pairs(struct encoding_reader *r, const struct json_value *value, const char *const *keys,
                       const double **scales, const double **offsets, struct encoding_entry *out)
{
    const struct json_value *scale = json_member(value, keys[0]), *offset = json_member(value, keys[1]);
    uint32_t n_offsets = 0;
    if (!scale)
        return encoding_wrong(r, ODLC_ERR_INVALID, value, "%s is missing", keys[0]);
    *scales = read_list(r, scale, keys[0], &out->count);
    *offsets = offset ? read_list(r, offset, keys[1], &n_offsets) : NULL;
    if (!*scales || (offset && !*offsets))
        return false;
    if (out->count == 0 || (offset && n_offsets != out->count))
        return encoding_wrong(r, ODLC_ERR_INVALID, value, "there are %u numbers of %s, and %u of %s", out->count,
                              keys[0], n_offsets, keys[1]);
    for (uint32_t i = 0; i < out->count; i++)
        if (!((*scales)[i] > 0) || (offset && !is_small_offset((*offsets)[i])))
            return encoding_wrong(r, ODLC_ERR_INVALID, value,
                                  "number %u is no scale above zero, or no whole offset of 32 bits", i);
    return true;
}

/* ---- version 1.0.0 ---- */

static bool read_type(struct encoding_reader *r, const struct json_value *value, struct encoding_entry *out)
{
    const struct json_value *type = json_member(value, "enc_type");
    const char *word = json_is(type, JSON_STRING) ? type->string : "PER_TENSOR";
    out->per_channel = strcmp(word, "PER_CHANNEL") == 0;
    if (out->per_channel || strcmp(word, "PER_TENSOR") == 0)
        return true;
    return encoding_wrong(r, ODLC_ERR_UNSUPPORTED, type, "encodings of type %s are not supported", word);
}

bool encoding_read_scales(struct encoding_reader *r, const struct json_value *value, struct encoding_entry *out)
{
    static const char *const keys[] = {"scale", "offset"};
    const double *scales, *offsets;
    bool symmetric;
    out->axis = ENCODING_NO_AXIS;
    if (!read_kind(r, value, out) || !read_bits(r, value, "bw", &out->bits) || !check_bits(r, value, out) ||
        !read_type(r, value, out) || !read_truth(r, value, "is_sym", &symmetric))
        return false;
    if (out->kind == ENCODING_FLOAT)
        return true;
    if (!json_member(value, "scale")) {
        out->kind = ENCODING_WIDTH;
        return true;
    }
    if (!read_pairs(r, value, keys, &scales, &offsets, out))
        return false;
    if (!out->per_channel && out->count != 1)
        return encoding_wrong(r, ODLC_ERR_INVALID, value, "a tensor that is encoded as a whole has %u scales",
                              out->count);
    struct encoding *encodings = arena_array(r->arena, struct encoding, out->count);
    const double middle = -ldexp(1, (int)out->bits - 1);
    for (uint32_t i = 0; i < out->count; i++) {
        const double offset = offsets ? offsets[i] : symmetric ? middle : 0;
        if (offset > 0 || offset < 2 * middle || (out->bits == 32 && offset != middle))
            return encoding_wrong(r, ODLC_ERR_INVALID, value, "offset %g is none of %u bits", offset, out->bits);
        bool around = out->bits == 32 || (symmetric && out->per_channel && offset == middle);
        encodings[i] = around ? encoding_around_zero(out->bits, 0, (-middle - 1) * scales[i])
                              : encoding_of_scale(out->bits, scales[i], (int32_t)offset);
    }
    out->encodings = encodings;
    return true;
}

/* ---- version 2.0.0 ---- */

/* "uint8": unsigned integers of 8 bits. */
static bool read_word(struct encoding_reader *r, const struct json_value *value, struct encoding_entry *out,
                      bool *is_signed)
{
    const struct json_value *type = json_member(value, "output_dtype");
    const char *word = json_is(type, JSON_STRING) ? type->string : "";
    const char *digits = word + strcspn(word, "0123456789");
    const size_t length = (size_t)(digits - word);
    *is_signed = length == 3 && strncmp(word, "int", 3) == 0;
    out->kind = length == 5 && strncmp(word, "float", 5) == 0 ? ENCODING_FLOAT : ENCODING_INTEGERS;
    out->bits = (uint32_t)strtoul(digits, NULL, 10);
    if (!*is_signed && out->kind != ENCODING_FLOAT && !(length == 4 && strncmp(word, "uint", 4) == 0))
        return encoding_wrong(r, ODLC_ERR_INVALID, type ? type : value, "output_dtype is none: \"uint8\" is one");
    return check_bits(r, type, out);
}

bool encoding_read_onnx(struct encoding_reader *r, const struct json_value *value, struct encoding_entry *out)
{
    static const char *const keys[] = {"y_scale", "y_zero_point"};
    const double *scales, *zeros;
    bool is_signed;
    double axis = ENCODING_NO_AXIS, block = 0;
    if (!read_word(r, value, out, &is_signed))
        return false;
    if (out->kind == ENCODING_FLOAT)
        return true;
    if (!read_number(r, value, "axis", &axis) || !read_number(r, value, "block_size", &block))
        return false;
    if (block > 0 || json_member(value, "per_block_int_scale"))
        return encoding_wrong(r, ODLC_ERR_UNSUPPORTED, value, "encodings in blocks are not supported");
    if (!json_member(value, "y_scale")) {
        out->kind = ENCODING_WIDTH;
        return true;
    }
    if (!read_pairs(r, value, keys, &scales, &zeros, out))
        return false;
    out->per_channel =
        json_is(json_member(value, "y_scale"), JSON_ARRAY) && (out->count > 1 || axis != ENCODING_NO_AXIS);
    out->axis = (int32_t)axis;
    const double least = is_signed ? -ldexp(1, (int)out->bits - 1) : 0;
    struct encoding *encodings = arena_array(r->arena, struct encoding, out->count);
    for (uint32_t i = 0; i < out->count; i++) {
        const double zero = zeros ? zeros[i] : 0;
        if (zero < least || zero > least + ldexp(1, (int)out->bits) - 1 ||
            (out->bits == 32 && (!is_signed || zero != 0)))
            return encoding_wrong(r, ODLC_ERR_INVALID, value, "zero point %g is none of the type", zero);
        encodings[i] = encoding_of_scale(out->bits, scales[i], (int32_t)(least - zero));
        if (is_signed && zero == 0) {
            encodings[i].offset = 0;
            encodings[i].symmetric = true;
        }
    }
    out->encodings = encodings;
    return true;
}
