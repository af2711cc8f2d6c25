/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/formula.h"

#include <math.h>

#include "base/c_locale.h"
#include "op/op.h"

#define LETTERS 26

struct reader {
    struct arena *arena;
    const char *at;
    const struct expr *defined[LETTERS];
    bool failed;
};

static const struct expr *read_sum(struct reader *r);

static void fail(struct reader *r)
{
    r->failed = true;
    r->at = ""; /* nothing goes on from here */
}

static const char *skip_spaces(struct reader *r)
{
    while (*r->at == ' ')
        r->at++;
    return r->at;
}

/* Whether that character comes next, which is then passed. */
static bool next_is(struct reader *r, char wanted)
{
    if (*skip_spaces(r) != wanted)
        return false;
    r->at++;
    return true;
}

static void need(struct reader *r, char wanted)
{
    if (!next_is(r, wanted))
        fail(r);
}

static struct expr *add_expr(struct reader *r, enum expr_kind kind)
{
    struct expr *e = arena_new(r->arena, struct expr);
    *e = (struct expr){.kind = kind};
    return e;
}

static void add_arg(struct reader *r, struct expr *e, const struct expr *arg, double exponent)
{
    if (e->n_args == EXPR_ARGS) {
        fail(r);
        return;
    }
    e->exponents[e->n_args] = exponent;
    e->args[e->n_args++] = arg;
}

static char read_letter(struct reader *r)
{
    if (*skip_spaces(r) >= 'a' && *r->at <= 'z')
        return *r->at++;
    fail(r);
    return 'a';
}

static double read_number(struct reader *r)
{
    char *end;
    double number = c_strtod(r->at, &end);
    if (end == r->at)
        fail(r);
    else
        r->at = end;
    return number;
}

/* Letters, digits and underscores. */
static const char *read_word(struct reader *r)
{
    const char *begin = r->at;
    while (c_isalpha(*r->at) || c_isdigit(*r->at) || *r->at == '_')
        r->at++;
    return arena_strndup(r->arena, begin, (size_t)(r->at - begin));
}

static void read_params(struct reader *r, struct expr *call, const struct op *op)
{
    do {
        int place = op_param_index(op, read_word(r));
        need(r, '=');
        double value = read_number(r);
        if (place < 0 || call->n_params == EXPR_PARAMS)
            fail(r);
        else
            call->params[call->n_params++] = (struct expr_param){op->params[place].id, value};
    } while (next_is(r, ','));
    need(r, ']');
}

static const struct expr *read_call(struct reader *r, char letter)
{
    const struct op *op = op_find(read_word(r));
    struct expr *call = add_expr(r, EXPR_CALL);
    if (!op) {
        fail(r);
        return call;
    }
    call->op = op->id;
    call->letter = letter;
    if (next_is(r, '['))
        read_params(r, call, op);
    need(r, '(');
    do
        add_arg(r, call, read_sum(r), 1);
    while (next_is(r, ','));
    need(r, ')');
    return call;
}

/* An operand, what a letter is defined as, or a call whose node is called by the letter. */
static const struct expr *read_named(struct reader *r)
{
    char letter = read_letter(r);
    if (next_is(r, ':'))
        return read_call(r, letter);
    if (r->defined[letter - 'a'])
        return r->defined[letter - 'a'];
    struct expr *e = add_expr(r, EXPR_OPERAND);
    e->letter = letter;
    return e;
}

static const struct expr *read_marked(struct reader *r, enum expr_kind kind)
{
    struct expr *e = add_expr(r, kind);
    e->letter = read_letter(r);
    return e;
}

static const struct expr *read_atom(struct reader *r)
{
    if (next_is(r, '(')) {
        const struct expr *e = read_sum(r);
        need(r, ')');
        return e;
    }
    if (next_is(r, '#'))
        return read_marked(r, EXPR_ANY_NUMBER);
    if (next_is(r, '@'))
        return read_marked(r, EXPR_CONSTANT);
    if (c_isupper(*r->at))
        return read_call(r, 0);
    if (!c_isdigit(*r->at))
        return read_named(r);
    struct expr *e = add_expr(r, EXPR_NUMBER);
    e->number = read_number(r);
    return e;
}

/* A factor: numbers are in the coefficient. What a letter is defined as stays a factor of its own: a tensor that is
 * read more than once. */
static void multiply(struct reader *r, struct expr *product, const struct expr *factor, double exponent)
{
    if (factor->kind == EXPR_NUMBER)
        product->number *= pow(factor->number, exponent);
    else if (factor->kind == EXPR_ANY_NUMBER && exponent == 1 && !product->any)
        product->any = factor->letter;
    else if (factor->kind == EXPR_ANY_NUMBER)
        fail(r);
    else
        add_arg(r, product, factor, exponent);
}

static double read_exponent(struct reader *r)
{
    if (!next_is(r, '^'))
        return 1;
    skip_spaces(r);
    return read_number(r);
}

static const struct expr *read_product(struct reader *r)
{
    struct expr *product = add_expr(r, EXPR_PRODUCT);
    product->number = 1;
    double sign = 1;
    do {
        const struct expr *factor = read_atom(r);
        multiply(r, product, factor, sign * read_exponent(r));
        sign = next_is(r, '/') ? -1 : next_is(r, '*') ? 1 : 0;
    } while (sign != 0 && !r->failed);
    if (product->n_args == 1 && product->exponents[0] == 1 && product->number == 1 && !product->any)
        return product->args[0];
    if (!product->n_args) {
        product->kind = product->any ? EXPR_ANY_NUMBER : EXPR_NUMBER;
        product->letter = product->any;
    }
    return product;
}

/* A product with the coefficient -1, or with the opposite one. */
static const struct expr *negative(struct reader *r, const struct expr *term)
{
    struct expr *product = add_expr(r, EXPR_PRODUCT);
    if (term->kind == EXPR_PRODUCT) {
        *product = *term;
        product->number = -term->number;
        return product;
    }
    product->number = -1;
    add_arg(r, product, term, 1);
    return product;
}

static void add_term(struct reader *r, struct expr *sum, const struct expr *term, double sign)
{
    if (term->kind == EXPR_NUMBER)
        sum->number += sign * term->number;
    else if (term->kind != EXPR_ANY_NUMBER)
        add_arg(r, sum, sign > 0 ? term : negative(r, term), 1);
    else if (sign > 0 && !sum->any)
        sum->any = term->letter;
    else
        fail(r);
}

static const struct expr *read_sum(struct reader *r)
{
    struct expr *sum = add_expr(r, EXPR_SUM);
    double sign = next_is(r, '-') ? -1 : 1;
    uint32_t n_terms = 0;
    do {
        const struct expr *term = read_product(r);
        n_terms++;
        add_term(r, sum, term, sign);
        if (r->failed)
            return term;
        if (n_terms == 1 && sign > 0 && *skip_spaces(r) != '+' && *r->at != '-')
            return term;
        sign = next_is(r, '+') ? 1 : next_is(r, '-') ? -1 : 0;
    } while (sign != 0);
    return sum;
}

/* "d = …;" */
static bool is_definition(struct reader *r)
{
    const char *at = skip_spaces(r);
    return *at >= 'a' && *at <= 'z' && at[1] == ' ' && at[2] == '=';
}

const struct expr *formula_parse(struct arena *arena, const char *text)
{
    struct reader r = {.arena = arena, .at = text};
    while (is_definition(&r)) {
        char letter = read_letter(&r);
        need(&r, '=');
        r.defined[letter - 'a'] = read_sum(&r);
        need(&r, ';');
    }
    const struct expr *e = read_sum(&r);
    return r.failed || *skip_spaces(&r) ? NULL : e;
}
