/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "udo/expr.h"
#include "udo/param_value.h"

/* ---- default values ---- */

/* The exact integer of a number written without fraction and exponent; its value as a JSON_NUMBER is a double. */
static bool exact_integer(const struct config *c, const struct json_value *item, int64_t *out)
{
    size_t length;
    const char *digits = json_source(c->json, item, &length);
    if (!json_is(item, JSON_NUMBER) || memchr(digits, '.', length) || memchr(digits, 'e', length) ||
        memchr(digits, 'E', length))
        return false;
    errno = 0;
    *out = strtoll(arena_strndup(c->arena, digits, length), NULL, 10);
    return errno == 0;
}

static const char *nesting_form(const struct config *c, const struct shape *shape)
{
    return arena_printf(c->arena, "the first of each level give the shape %s", shape_text(c->arena, shape));
}

/* The shape that the first element of each level gives. */
static bool read_value_shape(const struct config *c, const struct json_value *item, struct shape *shape)
{
    *shape = (struct shape){0};
    for (const struct json_value *level = item; json_is(level, JSON_ARRAY); level = json_child(level)) {
        if (shape->rank == MAX_RANK) {
            (void)json_error(c->json, item, NULL, "udo-bad-value", "value of more than %d dimensions", MAX_RANK);
            return false;
        }
        for (const struct json_value *child = json_child(level); child; child = child->next)
            shape->dims[shape->rank]++;
        shape->rank++;
        if (!json_child(level))
            break;
    }
    return true;
}

struct leaves {
    const struct shape *shape;
    VEC(const struct json_value *) items;
};

/* Collects the scalars in order; false, with an error, where the nesting is not that of the shape. */
static bool collect(const struct config *c, const struct json_value *item, uint32_t level, struct leaves *leaves)
{
    if (level == leaves->shape->rank) {
        if (json_is(item, JSON_NUMBER) || json_is(item, JSON_STRING) || json_is(item, JSON_BOOL)) {
            vec_push(c->arena, &leaves->items, item);
            return true;
        }
        (void)json_error(
            c->json, item, json_is(item, JSON_ARRAY) ? nesting_form(c, leaves->shape) : NULL, "udo-bad-value",
            json_is(item, JSON_ARRAY) ? "lists of different depths"
                                      : "a value must be a number, true, false, a string, or lists of these");
        return false;
    }
    int64_t count = 0;
    for (const struct json_value *child = json_is(item, JSON_ARRAY) ? json_child(item) : NULL; child;
         child = child->next)
        count++;
    if (!json_is(item, JSON_ARRAY) || count != leaves->shape->dims[level]) {
        (void)json_error(c->json, item, nesting_form(c, leaves->shape), "udo-bad-value",
                         json_is(item, JSON_ARRAY) ? "lists of different lengths" : "lists of different depths");
        return false;
    }
    for (const struct json_value *child = json_child(item); child; child = child->next)
        if (!collect(c, child, level + 1, leaves))
            return false;
    return true;
}

/* The type that all leaves have in common, widest form; DT_NONE with an error when there is none. */
static enum dtype leaves_type(const struct config *c, const struct json_value *const *items, size_t count)
{
    bool integers = true;
    int64_t ignored;
    for (size_t k = 0; k < count; k++) {
        if (json_is(items[k], JSON_STRING) != json_is(items[0], JSON_STRING)) {
            (void)json_error(c->json, items[k], NULL, "udo-bad-value", "text and numbers in one value");
            return DT_NONE;
        }
        if (json_is(items[k], JSON_NUMBER) && !isfinite(items[k]->number)) {
            (void)json_error(c->json, items[k], NULL, "udo-bad-value", "number too large");
            return DT_NONE;
        }
        integers = integers && (json_is(items[k], JSON_BOOL) || exact_integer(c, items[k], &ignored));
    }
    if (count && json_is(items[0], JSON_STRING))
        return DT_STRING;
    return integers ? DT_INT64 : DT_FLOAT64;
}

static void fill_tensor(const struct config *c, const struct json_value *const *items, size_t count,
                        struct param *value)
{
    const char **strings = value->dtype == DT_STRING ? arena_array(c->arena, const char *, count) : NULL;
    int64_t *ints = value->dtype == DT_INT64 ? arena_array(c->arena, int64_t, count) : NULL;
    double *floats = value->dtype == DT_FLOAT64 ? arena_array(c->arena, double, count) : NULL;
    for (size_t k = 0; k < count; k++) {
        if (strings)
            strings[k] = items[k]->string;
        else if (ints && json_is(items[k], JSON_BOOL))
            ints[k] = items[k]->truth;
        else if (ints)
            (void)exact_integer(c, items[k], &ints[k]);
        else
            floats[k] = json_is(items[k], JSON_BOOL) ? items[k]->truth : items[k]->number;
    }
    value->strings = strings;
    value->ints = ints;
    value->floats = floats;
}

const struct param *config_read_value(const struct config *c, const struct json_value *item, enum dtype dtype,
                                      bool is_tensor)
{
    struct shape shape;
    if (!read_value_shape(c, item, &shape))
        return NULL;
    struct leaves leaves = {.shape = &shape};
    if (!collect(c, item, 0, &leaves))
        return NULL;
    struct param *value = arena_new(c->arena, struct param);
    value->set = value->is_tensor = true;
    value->usage = 1;
    value->shape = shape.rank ? shape : SHAPE(1);
    bool no_strings = !leaves.items.count && dtype == DT_STRING;
    value->dtype = no_strings ? DT_STRING : leaves_type(c, leaves.items.data, leaves.items.count);
    if (value->dtype == DT_NONE)
        return NULL;
    fill_tensor(c, leaves.items.data, leaves.items.count, value);
    if (!is_tensor && !value_to_scalar(value)) {
        (void)json_error(c->json, item, "list it under tensor_params", "udo-bad-value",
                         "a scalar param takes one value");
        return NULL;
    }
    if (dtype == DT_NONE)
        dtype = value->dtype == DT_INT64 ? DT_INT32 : value->dtype == DT_FLOAT64 ? DT_FLOAT32 : DT_STRING;
    const char *why;
    if (value_convert(c->arena, value, dtype_narrowed(dtype), &why))
        return value;
    (void)json_error(c->json, item, NULL, "udo-bad-value", "%s", why);
    return NULL;
}

/* ---- shape rules ---- */

/* An error inside a rule; its column is exact unless the string has escapes. */
static void rule_error(const struct config *c, const struct json_value *item, size_t at, const char *message)
{
    size_t length;
    (void)json_source(c->json, item, &length);
    bool plain = length == strlen(item->string) + 2;
    size_t offset = item->begin + (plain ? 1 + at : 0);
    (void)json_error_at(c->json, offset, json_pointer(c->json, item),
                        "a rule looks like \"in0[1] * 2\" or \"same_as in0\"", "udo-bad-shape", "%s", message);
}

static const struct udo_expr *read_dim(const struct config *c, const struct json_value *item, uint32_t n_inputs)
{
    int64_t value;
    if (exact_integer(c, item, &value) && value >= 0)
        return expr_constant(c->arena, value);
    if (!json_is(item, JSON_STRING)) {
        (void)json_error(c->json, item, NULL, "udo-bad-shape",
                         "a dimension must be a whole number or a rule in a string");
        return NULL;
    }
    const char *message;
    size_t at;
    const struct udo_expr *e = expr_parse(c->arena, item->string, n_inputs, &message, &at);
    if (!e)
        rule_error(c, item, at, message);
    return e;
}

/* "same_as in0" */
static void read_same_as(const struct config *c, const struct json_value *item, uint32_t n_inputs,
                         struct udo_tensor *out)
{
    static const char prefix[] = "same_as in";
    const char *rule = item->string, *digits = rule + sizeof prefix - 1;
    if (strncmp(rule, prefix, sizeof prefix - 1) != 0) {
        rule_error(c, item, 0, "a shape is a list of dimensions, or \"same_as in<number>\"");
        return;
    }
    char *end;
    errno = 0;
    unsigned long input = strtoul(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end || errno)
        rule_error(c, item, sizeof prefix - 1, "the number of an input is missing");
    else if (input >= n_inputs)
        rule_error(c, item, sizeof prefix - 3, arena_printf(c->arena, "there is no input %lu", input));
    out->same_as = true;
    out->same_as_input = (uint32_t)input;
}

void config_read_shape(const struct config *c, const struct json_value *item, uint32_t n_inputs, struct udo_tensor *out)
{
    if (json_is(item, JSON_STRING)) {
        read_same_as(c, item, n_inputs, out);
        return;
    }
    uint32_t rank = 0;
    for (const struct json_value *child = json_is(item, JSON_ARRAY) ? json_child(item) : NULL;
         child && rank <= MAX_RANK; child = child->next)
        rank++;
    if (!json_is(item, JSON_ARRAY) || rank > MAX_RANK) {
        (void)json_error(c->json, item, NULL, "udo-bad-shape",
                         "a shape is a list of at most %d dimensions, or \"same_as in<number>\"", MAX_RANK);
        return;
    }
    out->shape = arena_array(c->arena, const struct udo_expr *, rank);
    out->shape_rank = rank;
    const struct json_value *child = json_child(item);
    for (uint32_t i = 0; i < rank; i++, child = child->next)
        out->shape[i] = read_dim(c, child, n_inputs);
}
