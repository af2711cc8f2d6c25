/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas: what a part of a graph computes, as text. occurrence.h finds such parts.
 *
 *     "0.5 * x * (1 + Tanh(x))"
 *     "d = x - ReduceMean[keep_dims=1](x); d / (v:ReduceMean[keep_dims=1](d ^ 2) + #e) ^ 0.5"
 *
 *     x             an operand: the same tensor wherever the letter stands
 *     @g            a constant, of several elements or of one
 *     #e            a number: a constant of one element. 0.5 is one of that value
 *     Tanh(x)       a native operator of that name in the master list, with all its inputs
 *     Op[p=1](x)    … whose param p has the value
 *     v:Op(x)       … whose node is wanted; where it stands for several, these have the same axes
 *     + - * / ^     sums, products, and powers by a number
 *     d = …;        before the formula: d stands for that
 *
 * Letters are from a to z. Sums and products have no order: terms and factors may come in any, associated in any way;
 * numbers in them may stand anywhere, a quotient is a product with a power, and so are roots and reciprocals. */
#ifndef PASS_FORMULA_H
#define PASS_FORMULA_H

#include "base/arena.h"
#include "op/op_id.h"

enum expr_kind { EXPR_NUMBER, EXPR_ANY_NUMBER, EXPR_OPERAND, EXPR_CONSTANT, EXPR_CALL, EXPR_SUM, EXPR_PRODUCT };

#define EXPR_ARGS 4
#define EXPR_PARAMS 3

struct expr_param {
    enum param_id id;
    double value;
};

struct expr {
    enum expr_kind kind;
    char letter;   /* of an operand, a constant, a number; of a call, 0: nobody wants its node */
    char any;      /* of a sum and a product: the letter of a number in it, or 0 */
    double number; /* the value; of a sum, the number in it, of a product its coefficient */
    enum op_id op;
    struct expr_param params[EXPR_PARAMS];
    uint32_t n_params, n_args;
    const struct expr *args[EXPR_ARGS]; /* the call's inputs, terms, or factors … */
    double exponents[EXPR_ARGS];        /* … and their powers */
};

/* The tree of a formula, in the arena; NULL when the text is none. */
const struct expr *formula_parse(struct arena *arena, const char *text);

#endif
