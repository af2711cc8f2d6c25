/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of OpDefs: "0.5", "1", "{{1, 2}, {3, 4}}", "[true, false]", a word. */
#include <math.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "udo/opdef.h"
#include "udo/param_value.h"

struct piece {
    const char *text; /* of its own */
    size_t at;        /* offset in the Default's text */
};

struct parse {
    struct opdef *o;
    const struct xml_node *node;
    const char *text;
    size_t at;
    VEC(struct piece) pieces;
    struct shape shape; /* as the first list of each level has it */
    bool failed;
};

static bool fail(struct parse *p, size_t at, const char *hint, const char *message)
{
    if (!p->failed)
        (void)xml_error(p->o->xml, xml_text_offset(p->o->xml, p->node) + at, hint, "udo-bad-value", "%s", message);
    p->failed = true;
    return false;
}

static void skip_space(struct parse *p)
{
    while (c_isspace(p->text[p->at]))
        p->at++;
}

static bool opens(char c)
{
    return c == '{' || c == '[';
}

static bool read_piece(struct parse *p)
{
    size_t start = p->at, end;
    char quote = p->text[start];
    if (quote == '"' || quote == '\'') {
        const char *close = strchr(p->text + start + 1, quote);
        if (!close)
            return fail(p, start, NULL, "unterminated string");
        end = (size_t)(close - p->text);
        p->at = end + 1;
        start++;
    } else {
        p->at += strcspn(p->text + start, ",{}[]");
        for (end = p->at; end > start && c_isspace(p->text[end - 1]);)
            end--;
        if (end == start)
            return fail(p, start, "write values between the commas", "a value is missing");
    }
    struct piece piece = {.text = arena_strndup(p->o->arena, p->text + start, end - start), .at = start};
    vec_push(p->o->arena, &p->pieces, piece);
    return true;
}

/* A list at depth `level`, or one value; the first of each level sets the shape. */
static bool read_item(struct parse *p, uint32_t level, bool first)
{
    skip_space(p);
    size_t start = p->at;
    bool is_list = opens(p->text[p->at]);
    if (first && is_list && level == MAX_RANK)
        return fail(p, start, NULL, arena_printf(p->o->arena, "value of more than %d dimensions", MAX_RANK));
    if (first && is_list)
        p->shape.rank = level + 1;
    if (is_list != (level < p->shape.rank))
        return fail(p, start, NULL, "lists of different depths");
    if (!is_list)
        return read_piece(p);
    char close = p->text[p->at++] == '{' ? '}' : ']';
    int64_t count = 0;
    for (skip_space(p); p->text[p->at] != close || count; skip_space(p)) {
        if (!read_item(p, level + 1, first && !count))
            return false;
        count++;
        skip_space(p);
        if (p->text[p->at] != ',')
            break;
        p->at++;
    }
    if (p->text[p->at] != close)
        return fail(p, p->text[p->at] ? p->at : start, NULL,
                    p->text[p->at] ? arena_printf(p->o->arena, "expected ',' or '%c'", close)
                                   : arena_printf(p->o->arena, "'%c' is not closed", close == '}' ? '{' : '['));
    p->at++;
    if (first)
        p->shape.dims[level] = count;
    else if (count != p->shape.dims[level])
        return fail(p, start,
                    arena_printf(p->o->arena, "the first at this depth has %lld", (long long)p->shape.dims[level]),
                    "lists of different lengths");
    return true;
}

/* ---- numbers ---- */

static bool is_number(const char *text)
{
    const char *c = text + (*text == '-' || *text == '+');
    size_t digits = strspn(c, "0123456789");
    c += digits;
    if (*c == '.') {
        size_t more = strspn(c + 1, "0123456789");
        digits += more;
        c += 1 + more;
    }
    if (digits && (*c == 'e' || *c == 'E')) {
        c += 1 + (c[1] == '-' || c[1] == '+');
        size_t exponent = strspn(c, "0123456789");
        digits = exponent;
        c += exponent;
    }
    /* "0.5f" is how C writes it. */
    return digits && (!*c || ((*c == 'f' || *c == 'F') && !c[1] && strchr(text, '.')));
}

/* A formula such as N-1 describes a default without being one. */
static bool is_formula(const char *text)
{
    bool letter = false, operation = false;
    for (const char *c = text; *c; c++) {
        if (!c_isalpha(*c) && !c_isdigit(*c) && !strchr("_+-*/%()[]. ", *c))
            return false;
        letter = letter || c_isalpha(*c);
        operation = operation || (c > text && strchr("+-*/%", *c));
    }
    return letter && operation;
}

/* The number that a piece stands for: an integer, or NaN in *i's place a real. False: it is none. */
static bool read_number(const char *text, const struct udo_words *enumeration, bool *is_int, int64_t *i, double *f)
{
    *is_int = true;
    for (uint32_t k = 0; k < enumeration->count; k++)
        if (strcmp(text, enumeration->words[k]) == 0) {
            *i = k;
            return true;
        }
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        *i = *text == 't';
        return true;
    }
    if (!is_number(text))
        return false;
    errno = 0;
    char *end;
    *i = strtoll(text, &end, 10);
    *is_int = !*end && !errno;
    *f = c_strtod(text, NULL);
    return true;
}

static bool not_a_value(struct parse *p, const struct piece *piece, enum dtype dtype,
                        const struct udo_words *enumeration)
{
    struct opdef *o = p->o;
    if (!p->shape.rank && !enumeration->count && is_formula(piece->text)) {
        xml_warn(o->xml, xml_text_offset(o->xml, p->node), "give a number to have a default", "udo-formula-default",
                 "'%s' is a formula and no value: there is no default", piece->text);
        p->failed = true;
        return false;
    }
    const char *nearest = nearest_word(piece->text, enumeration->words, enumeration->count);
    return fail(
        p, piece->at, nearest ? arena_printf(o->arena, "did you mean '%s'?", nearest) : NULL,
        arena_printf(o->arena,
                     enumeration->count ? "'%s' is none of the <Enum> values, and no number" : "'%s' is no %s value",
                     piece->text, udo_type_name(dtype)));
}

static void fill_numbers(struct parse *p, enum dtype dtype, const struct udo_words *enumeration, struct param *value)
{
    size_t count = p->pieces.count;
    int64_t *ints = arena_array(p->o->arena, int64_t, count);
    double *floats = arena_array(p->o->arena, double, count);
    bool all_ints = true;
    for (size_t k = 0; k < count; k++) {
        const struct piece *piece = &p->pieces.data[k];
        bool is_int;
        if (!read_number(piece->text, enumeration, &is_int, &ints[k], &floats[k])) {
            (void)not_a_value(p, piece, dtype, enumeration);
            return;
        }
        if (is_int)
            floats[k] = (double)ints[k];
        all_ints = all_ints && is_int;
        if (!isfinite(floats[k]))
            (void)fail(p, piece->at, NULL, "number too large");
        if (enumeration->count && is_int && (ints[k] < 0 || ints[k] >= enumeration->count))
            (void)fail(p, piece->at, NULL,
                       arena_printf(p->o->arena, "the enumeration has %u values, from 0 on", enumeration->count));
    }
    value->dtype = all_ints ? DT_INT64 : DT_FLOAT64;
    value->ints = all_ints ? ints : NULL;
    value->floats = all_ints ? NULL : floats;
}

static void fill_strings(struct parse *p, struct param *value)
{
    const char **strings = arena_array(p->o->arena, const char *, p->pieces.count);
    for (size_t k = 0; k < p->pieces.count; k++)
        strings[k] = p->pieces.data[k].text;
    value->dtype = DT_STRING;
    value->strings = strings;
}

/* A string is the whole text, whatever is in it, unless it is one of a list. */
static void read_pieces(struct parse *p, enum dtype dtype, bool is_tensor)
{
    bool quoted = p->text[0] == '"' && p->text[1] && strchr(p->text + 1, '"') == p->text + strlen(p->text) - 1;
    if (dtype == DT_STRING && !quoted && !(is_tensor && opens(p->text[0]))) {
        struct piece whole = {.text = p->text};
        vec_push(p->o->arena, &p->pieces, whole);
        return;
    }
    if (read_item(p, 0, true) && p->text[p->at])
        (void)fail(p, p->at, NULL, "text after the end of the value");
}

const struct param *opdef_read_value(struct opdef *o, const struct xml_node *node, enum dtype dtype, bool is_tensor,
                                     const struct udo_words *enumeration)
{
    struct parse p = {.o = o, .node = node, .text = node->text};
    if (dtype == DT_NONE || (!*p.text && dtype != DT_STRING))
        return NULL; /* no type, which is reported; or nothing between the tags */
    struct param *value = arena_new(o->arena, struct param);
    value->set = value->is_tensor = true;
    value->usage = 1;
    read_pieces(&p, dtype, is_tensor);
    if (p.failed)
        return NULL;
    if (dtype == DT_STRING)
        fill_strings(&p, value);
    else
        fill_numbers(&p, dtype, enumeration, value);
    value->shape = p.shape.rank ? p.shape : SHAPE(1);
    const char *why = NULL;
    if (!p.failed && !is_tensor && (p.shape.rank || !value_to_scalar(value)))
        (void)fail(&p, 0, "a list needs another <Rank> than SCALAR", "a scalar param takes one value");
    if (!p.failed && !value_convert(o->arena, value, dtype_narrowed(dtype), &why))
        (void)fail(&p, 0, NULL, why);
    return p.failed ? NULL : value;
}
