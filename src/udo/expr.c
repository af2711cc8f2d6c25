/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/expr.h"

#include <string.h>

enum kind { CONSTANT, DIM, ADD, SUB, MUL, DIV, MOD, MIN, MAX };

struct udo_expr {
    enum kind kind;
    int64_t value;  /* CONSTANT; DIM: the index */
    uint32_t input; /* DIM */
    const struct udo_expr *a, *b;
};

struct parser {
    struct arena *arena;
    const char *text;
    size_t pos;
    uint32_t n_inputs;
    const char *message; /* the first error, at error_at */
    size_t error_at;
};

static const struct udo_expr *fail_at(struct parser *p, size_t at, const char *message)
{
    if (!p->message) {
        p->message = message;
        p->error_at = at;
    }
    return NULL;
}

static char next_char(struct parser *p)
{
    while (p->text[p->pos] == ' ')
        p->pos++;
    return p->text[p->pos];
}

static bool accept(struct parser *p, char c)
{
    if (next_char(p) != c)
        return false;
    p->pos++;
    return true;
}

static bool expect(struct parser *p, char c)
{
    if (accept(p, c))
        return true;
    (void)fail_at(p, p->pos, arena_printf(p->arena, "'%c' is missing", c));
    return false;
}

static const struct udo_expr *make(struct parser *p, struct udo_expr e)
{
    return arena_memdup(p->arena, &e, sizeof e);
}

static const struct udo_expr *binary(struct parser *p, enum kind kind, const struct udo_expr *a,
                                     const struct udo_expr *b)
{
    return a && b ? make(p, (struct udo_expr){.kind = kind, .a = a, .b = b}) : NULL;
}

static bool parse_integer(struct parser *p, int64_t *out)
{
    char c = next_char(p);
    size_t at = p->pos;
    if (c < '0' || c > '9') {
        (void)fail_at(p, at, "an integer is missing");
        return false;
    }
    int64_t value = 0;
    for (; (c = p->text[p->pos]) >= '0' && c <= '9'; p->pos++) {
        if (ckd_mul(&value, value, 10) || ckd_add(&value, value, c - '0')) {
            (void)fail_at(p, at, "integer too large");
            return false;
        }
    }
    *out = value;
    return true;
}

/* in0[1] */
static const struct udo_expr *parse_dim(struct parser *p)
{
    size_t at = p->pos;
    int64_t input, index;
    p->pos += 2;
    if (!parse_integer(p, &input))
        return NULL;
    if (input >= p->n_inputs)
        return fail_at(p, at, arena_printf(p->arena, "there is no input %lld", (long long)input));
    if (!expect(p, '['))
        return NULL;
    bool negative = accept(p, '-');
    if (!parse_integer(p, &index) || !expect(p, ']'))
        return NULL;
    return make(p, (struct udo_expr){.kind = DIM, .input = (uint32_t)input, .value = negative ? -index : index});
}

static const struct udo_expr *parse_sum(struct parser *p);

static const struct udo_expr *parse_atom(struct parser *p)
{
    char c = next_char(p);
    const char *rest = p->text + p->pos;
    if (c >= '0' && c <= '9') {
        int64_t value;
        return parse_integer(p, &value) ? make(p, (struct udo_expr){.kind = CONSTANT, .value = value}) : NULL;
    }
    if (strncmp(rest, "in", 2) == 0)
        return parse_dim(p);
    if (accept(p, '(')) {
        const struct udo_expr *e = parse_sum(p);
        return e && expect(p, ')') ? e : NULL;
    }
    bool min = strncmp(rest, "min", 3) == 0;
    if (min || strncmp(rest, "max", 3) == 0) {
        p->pos += 3;
        const struct udo_expr *a = expect(p, '(') ? parse_sum(p) : NULL;
        const struct udo_expr *b = a && expect(p, ',') ? parse_sum(p) : NULL;
        return b && expect(p, ')') ? binary(p, min ? MIN : MAX, a, b) : NULL;
    }
    return fail_at(p, p->pos,
                   c ? "an integer, a dimension such as in0[1], or '(' is due here" : "the rule ends too early");
}

static const struct udo_expr *parse_unary(struct parser *p)
{
    if (!accept(p, '-'))
        return parse_atom(p);
    return binary(p, SUB, make(p, (struct udo_expr){.kind = CONSTANT}), parse_unary(p));
}

static const struct udo_expr *parse_product(struct parser *p)
{
    const struct udo_expr *e = parse_unary(p);
    while (e) {
        if (accept(p, '*'))
            e = binary(p, MUL, e, parse_unary(p));
        else if (accept(p, '/'))
            e = binary(p, DIV, e, parse_unary(p));
        else if (accept(p, '%'))
            e = binary(p, MOD, e, parse_unary(p));
        else
            break;
    }
    return e;
}

static const struct udo_expr *parse_sum(struct parser *p)
{
    const struct udo_expr *e = parse_product(p);
    while (e) {
        if (accept(p, '+'))
            e = binary(p, ADD, e, parse_product(p));
        else if (accept(p, '-'))
            e = binary(p, SUB, e, parse_product(p));
        else
            break;
    }
    return e;
}

const struct udo_expr *expr_parse(struct arena *arena, const char *text, uint32_t n_inputs, const char **message,
                                  size_t *at)
{
    struct parser p = {.arena = arena, .text = text, .n_inputs = n_inputs};
    const struct udo_expr *e = NULL;
    if (strlen(text) > EXPR_MAX_LENGTH) {
        (void)fail_at(&p, 0, arena_printf(arena, "rule of more than %d characters", EXPR_MAX_LENGTH));
    } else {
        e = parse_sum(&p);
        if (e && next_char(&p))
            e = fail_at(&p, p.pos, "an operator or the end is due here");
    }
    *message = p.message;
    *at = p.error_at;
    return e;
}

const struct udo_expr *expr_constant(struct arena *arena, int64_t value)
{
    struct udo_expr e = {.kind = CONSTANT, .value = value};
    return arena_memdup(arena, &e, sizeof e);
}

static bool eval_dim(struct arena *arena, const struct udo_expr *e, const struct expr_inputs *inputs, int64_t *out,
                     const char **message)
{
    if (e->input >= inputs->count || !inputs->known[e->input]) {
        *message = arena_printf(arena, "the node has no input %u", e->input);
        return false;
    }
    const struct shape *shape = &inputs->shapes[e->input];
    int64_t index = e->value < 0 ? e->value + shape->rank : e->value;
    if (index < 0 || index >= shape->rank) {
        *message = arena_printf(arena, "in%u[%lld] does not exist: the input's shape is %s", e->input,
                                (long long)e->value, shape_text(arena, shape));
        return false;
    }
    *out = shape->dims[index];
    return true;
}

/* Quotient and remainder for a quotient rounded towards minus infinity. */
static bool divide(enum kind kind, int64_t a, int64_t b, int64_t *out, const char **message)
{
    if (b == 0) {
        *message = "division by zero";
        return false;
    }
    if (b == -1 && a == INT64_MIN) {
        *message = "number too large";
        return false;
    }
    int64_t rest = a % b;
    bool away = rest != 0 && (rest < 0) != (b < 0);
    *out = kind == DIV ? a / b - away : away ? rest + b : rest;
    return true;
}

bool expr_eval(struct arena *arena, const struct udo_expr *e, const struct expr_inputs *inputs, int64_t *out,
               const char **message)
{
    if (e->kind == CONSTANT) {
        *out = e->value;
        return true;
    }
    if (e->kind == DIM)
        return eval_dim(arena, e, inputs, out, message);
    int64_t a, b;
    if (!expr_eval(arena, e->a, inputs, &a, message) || !expr_eval(arena, e->b, inputs, &b, message))
        return false;
    bool overflow = false;
    switch (e->kind) {
    case ADD:
        overflow = ckd_add(out, a, b);
        break;
    case SUB:
        overflow = ckd_sub(out, a, b);
        break;
    case MUL:
        overflow = ckd_mul(out, a, b);
        break;
    case DIV:
    case MOD:
        return divide(e->kind, a, b, out, message);
    case MIN:
        *out = min_i64(a, b);
        break;
    default:
        *out = max_i64(a, b);
        break;
    }
    if (overflow)
        *message = "number too large";
    return !overflow;
}

/* How tightly the operator binds: an operand that binds less needs parentheses. */
static int strength(const struct udo_expr *e)
{
    switch (e->kind) {
    case ADD:
    case SUB:
        return 1;
    case MUL:
    case DIV:
    case MOD:
        return 2;
    default:
        return 3;
    }
}

static void write_operand(struct arena *arena, text *out, const struct udo_expr *e, int least)
{
    bool enclosed = strength(e) < least;
    text_add(arena, out, "%s", enclosed ? "(" : "");
    expr_write(arena, out, e);
    text_add(arena, out, "%s", enclosed ? ")" : "");
}

void expr_write(struct arena *arena, text *out, const struct udo_expr *e)
{
    static const char *const signs[] = {[ADD] = " + ", [SUB] = " - ", [MUL] = " * ", [DIV] = " / ", [MOD] = " % "};
    if (e->kind == CONSTANT) {
        text_add(arena, out, "%lld", (long long)e->value);
    } else if (e->kind == DIM) {
        text_add(arena, out, "in%u[%lld]", e->input, (long long)e->value);
    } else if (e->kind == MIN || e->kind == MAX) {
        text_add(arena, out, "%s(", e->kind == MIN ? "min" : "max");
        expr_write(arena, out, e->a);
        text_add(arena, out, ", ");
        expr_write(arena, out, e->b);
        text_add(arena, out, ")");
    } else {
        write_operand(arena, out, e->a, strength(e));
        text_add(arena, out, "%s", signs[e->kind]);
        write_operand(arena, out, e->b, strength(e) + 1);
    }
}

bool expr_equal(const struct udo_expr *a, const struct udo_expr *b)
{
    if (!a || !b)
        return a == b;
    return a->kind == b->kind && a->value == b->value && a->input == b->input && expr_equal(a->a, b->a) &&
           expr_equal(a->b, b->b);
}
