/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/equation.h"

#include <string.h>

#define ATTRIBUTE "equation"

uint64_t labels_set(const struct labels *labels)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < labels->count; i++)
        set |= UINT64_C(1) << labels->at[i];
    return set;
}

struct labels labels_of(const struct labels *labels, uint64_t set)
{
    struct labels out = {0};
    for (uint32_t i = 0; i < labels->count; i++)
        if (set >> labels->at[i] & 1)
            out.at[out.count++] = labels->at[i];
    return out;
}

bool labels_append(struct labels *labels, const struct labels *more)
{
    if (labels->count + more->count > MAX_RANK)
        return false;
    memcpy(labels->at + labels->count, more->at, more->count);
    labels->count += more->count;
    return true;
}

bool labels_equal(const struct labels *x, const struct labels *y)
{
    return x->count == y->count && memcmp(x->at, y->at, x->count) == 0;
}

/* ---- parsing ---- */

struct parse {
    struct lower *l;
    uint32_t covered;              /* axes that the longest ellipsis stands for */
    bool ellipsis;                 /* there is one */
    uint32_t count[EINSUM_LABELS]; /* how often a label stands in the terms */
};

/* A term before its ellipsis is spread: letters, and ELLIPSIS once at most. */
#define ELLIPSIS EINSUM_LABELS

struct raw_term {
    uint32_t count;
    uint8_t at[MAX_RANK + 1];
};

static int letter_label(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    return c >= 'a' && c <= 'z' ? 26 + c - 'a' : -1;
}

/* The characters up to `end`. */
static odlc_status read_term(const struct parse *p, const char *text, const char *end, struct raw_term *out)
{
    bool ellipsis = false;
    *out = (struct raw_term){0};
    for (; text < end; text++) {
        int label = letter_label(*text);
        if (*text == ' ')
            continue;
        if (end - text >= 3 && strncmp(text, "...", 3) == 0 && !ellipsis) {
            label = ELLIPSIS;
            ellipsis = true;
            text += 2;
        }
        if (label < 0)
            return lower_invalid(p->l, ATTRIBUTE, NULL, "'%c' has no meaning there", *text);
        if (out->count - ellipsis >= MAX_RANK && label != ELLIPSIS)
            return lower_unsupported(p->l, ATTRIBUTE, NULL, "a term has more than %d axes", MAX_RANK);
        out->at[out->count++] = (uint8_t)label;
    }
    return ODLC_OK;
}

/* The ellipsis becomes the labels of the last `covered` axes that one can stand for. */
static odlc_status spread(const struct parse *p, const struct raw_term *raw, uint32_t covered, struct labels *out)
{
    *out = (struct labels){0};
    for (uint32_t i = 0; i < raw->count; i++) {
        struct labels more = {.count = 1, .at = {raw->at[i]}};
        if (raw->at[i] == ELLIPSIS)
            for (more.count = 0; more.count < covered; more.count++)
                more.at[more.count] = (uint8_t)(EINSUM_LABELS - covered + more.count);
        if (!labels_append(out, &more))
            return lower_unsupported(p->l, ATTRIBUTE, NULL, "a term has more than %d axes", MAX_RANK);
    }
    return ODLC_OK;
}

static odlc_status operand_term(struct parse *p, uint32_t i, const struct raw_term *raw, struct labels *out)
{
    tensor_id x;
    TRY(lower_need(p->l, i, "Inputs", &x));
    const struct shape *shape = &build_type(p->l->b, x)->shape;
    bool ellipsis = memchr(raw->at, ELLIPSIS, raw->count) != NULL;
    uint32_t letters = raw->count - ellipsis;
    if (letters > shape->rank || (!ellipsis && letters != shape->rank))
        return lower_invalid(p->l, ATTRIBUTE, NULL, "term %u names %u axes of an input %s", i, letters,
                             shape_text(p->l->diags->arena, shape));
    TRY(spread(p, raw, shape->rank - letters, out));
    p->ellipsis |= ellipsis;
    if (shape->rank - letters > p->covered)
        p->covered = shape->rank - letters;
    for (uint32_t k = 0; k < out->count; k++)
        p->count[out->at[k]]++;
    return ODLC_OK;
}

/* The labels that stand once, after the axes of the ellipsis. */
static odlc_status implied_result(const struct parse *p, struct labels *out)
{
    struct raw_term once = {0};
    TRY(spread(p, &(struct raw_term){.count = 1, .at = {ELLIPSIS}}, p->covered, out));
    for (uint32_t label = 0; label < EINSUM_LETTERS; label++) {
        if (p->count[label] != 1)
            continue;
        once = (struct raw_term){.count = 1, .at = {(uint8_t)label}};
        struct labels one;
        TRY(spread(p, &once, 0, &one));
        if (!labels_append(out, &one))
            return lower_unsupported(p->l, ATTRIBUTE, NULL, "the result has more than %d axes", MAX_RANK);
    }
    return ODLC_OK;
}

static odlc_status given_result(const struct parse *p, const char *text, struct labels *out)
{
    struct raw_term raw;
    TRY(read_term(p, text, text + strlen(text), &raw));
    TRY(spread(p, &raw, p->covered, out));
    if (p->covered && !memchr(raw.at, ELLIPSIS, raw.count))
        return lower_invalid(p->l, ATTRIBUTE, "write ... on the right, too", "the result lacks the ellipsis");
    uint64_t seen = 0;
    for (uint32_t i = 0; i < out->count; seen |= UINT64_C(1) << out->at[i++]) {
        if (p->count[out->at[i]] == 0)
            return lower_invalid(p->l, ATTRIBUTE, NULL, "the result has a label that no term has");
        if (seen >> out->at[i] & 1)
            return lower_invalid(p->l, ATTRIBUTE, NULL, "the result has a label twice");
    }
    return ODLC_OK;
}

odlc_status einsum_parse(struct lower *l, struct equation *out)
{
    struct parse p = {.l = l};
    const char *text;
    struct raw_term raw;
    TRY(lower_attr_string(l, ATTRIBUTE, NULL, &text));
    if (!text)
        return lower_invalid(l, ATTRIBUTE, NULL, "the equation is missing");
    const char *arrow = strstr(text, "->"), *end = arrow ? arrow : text + strlen(text);
    out->terms = arena_array(l->arena, struct labels, l->n_in);
    for (uint32_t i = 0;; i++) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        if (i >= l->n_in || (!comma && i + 1 != l->n_in))
            return lower_invalid(l, ATTRIBUTE, NULL, "the equation does not have a term for each of %u inputs",
                                 l->n_in);
        TRY(read_term(&p, text, comma ? comma : end, &raw));
        TRY(operand_term(&p, i, &raw, &out->terms[i]));
        if (!comma)
            break;
        text = comma + 1;
    }
    return arrow ? given_result(&p, arrow + 2, &out->result) : implied_result(&p, &out->result);
}
