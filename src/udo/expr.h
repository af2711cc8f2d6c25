/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of shape rules: integers, dimensions of inputs, arithmetic.
 *
 *     sum     = product { ("+" | "-") product }
 *     product = unary { ("*" | "/" | "%") unary }
 *     unary   = "-" unary | atom
 *     atom    = integer | dim | "(" sum ")" | ("min" | "max") "(" sum "," sum ")"
 *     dim     = "in" integer "[" ["-"] integer "]"
 *
 * "/" and "%" round towards minus infinity. A negative index counts from the last dimension. */
#ifndef UDO_EXPR_H
#define UDO_EXPR_H

#include "base/vec.h"
#include "ir/shape.h"

#define EXPR_MAX_LENGTH 200 /* bytes of text; also bounds the depth of the tree */

struct udo_expr;

/* Parses text. On failure NULL, with *message and *at (offset in the text) telling what is wrong. Inputs are numbered
 * below n_inputs. */
const struct udo_expr *expr_parse(struct arena *arena, const char *text, uint32_t n_inputs, const char **message,
                                  size_t *at);
const struct udo_expr *expr_constant(struct arena *arena, int64_t value);

/* The inputs' shapes; an input whose known[] is false (or index >= count) is absent. */
struct expr_inputs {
    const struct shape *shapes;
    const bool *known;
    uint32_t count;
};
/* On failure false, with *message set. */
bool expr_eval(struct arena *arena, const struct udo_expr *e, const struct expr_inputs *inputs, int64_t *out,
               const char **message);

/* Appends the expression in the form that expr_parse reads; the tree that it reads is the same. */
void expr_write(struct arena *arena, text *out, const struct udo_expr *e);

bool expr_equal(const struct udo_expr *a, const struct udo_expr *b);

#endif
