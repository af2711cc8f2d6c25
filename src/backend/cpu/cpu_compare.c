/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, logic, selection and casts: element-wise functions with results or operands that are no real numbers. */
#include "backend/cpu/cpu_walk.h"
#include "op/op.h"

/* Loops for float32 and Int_32. */
#define LOOP_COMPARISON(name, operation)                      \
    LOOP_BINARY(name##_floats, uint8_t, float, a operation b) \
    LOOP_BINARY(name##_ints, uint8_t, int32_t, a operation b)

LOOP_COMPARISON(equal, ==)
LOOP_COMPARISON(not_equal, !=)
LOOP_COMPARISON(greater, >)
LOOP_COMPARISON(greater_equal, >=)
LOOP_COMPARISON(less, <)
LOOP_COMPARISON(less_equal, <=)
LOOP_BINARY(and, uint8_t, uint8_t, (uint8_t)((a != 0) & (b != 0)))
LOOP_BINARY(or, uint8_t, uint8_t, (uint8_t)((a != 0) | (b != 0)))

/* Selection moves four bytes, whatever they mean. */
static CLONED void select_words(const struct span *s, const void *user)
{
    uint32_t *restrict out = s->data[0];
    const uint8_t *restrict condition = s->data[1];
    const uint32_t *restrict a = s->data[2], *restrict b = s->data[3];
    const int64_t c_step = s->step[1], a_step = s->step[2], b_step = s->step[3], n = s->count;
    (void)user;
    if (c_step == 1 && a_step == 1 && b_step == 1)
        for (int64_t i = 0; i < n; i++)
            out[i] = condition[i] ? a[i] : b[i];
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = condition[i * c_step] ? a[i * a_step] : b[i * b_step];
}

static const struct comparison {
    enum op_id op;
    span_fn *floats, *ints, *bools; /* NULL: no such operands */
} comparisons[] = {
    {OP_ElementWiseEqual, equal_floats, equal_ints, NULL},
    {OP_ElementWiseNotEqual, not_equal_floats, not_equal_ints, NULL},
    {OP_ElementWiseGreater, greater_floats, greater_ints, NULL},
    {OP_ElementWiseGreaterEqual, greater_equal_floats, greater_equal_ints, NULL},
    {OP_ElementWiseLess, less_floats, less_ints, NULL},
    {OP_ElementWiseLessEqual, less_equal_floats, less_equal_ints, NULL},
    {OP_ElementWiseAnd, NULL, NULL, and},
    {OP_ElementWiseOr, NULL, NULL, or },
};

static span_fn *comparison_loop(enum op_id id, enum dtype dtype)
{
    for (size_t i = 0; i < COUNT_OF(comparisons); i++)
        if (comparisons[i].op == id)
            return dtype == DT_FLOAT32 ? comparisons[i].floats
                   : dtype == DT_INT32 ? comparisons[i].ints
                   : dtype == DT_BOOL  ? comparisons[i].bools
                                       : NULL;
    return NULL;
}

static enum dtype input_dtype(const struct graph *g, const struct node *n, uint32_t i)
{
    const struct tensor *t = node_input(g, n, i);
    return t ? (enum dtype)t->type->dtype : DT_NONE;
}

static enum dtype output_dtype(const struct graph *g, const struct node *n)
{
    return (enum dtype)node_output(g, n, 0)->type->dtype;
}

/* ---- comparisons and logic ---- */

static const char *refuse_comparison(const struct graph *g, const struct node *n)
{
    const enum dtype dtype = input_dtype(g, n, 0);
    if (dtype != input_dtype(g, n, 1) || output_dtype(g, n) != DT_BOOL || !comparison_loop(n->op->id, dtype))
        return "it compares float32 and Int_32 tensors alone, and joins bools";
    return NULL;
}

static odlc_status prepare_comparison(struct cpu_making *m)
{
    const struct node *n = making_node(m);
    return cpu_walk_plain(m, comparison_loop(n->op->id, input_dtype(m->scope->graph, n, 0)), NULL);
}

const struct cpu_op cpu_comparison = {.refuse = refuse_comparison, .prepare = prepare_comparison};

/* ---- selection ---- */

static const char *refuse_selection(const struct graph *g, const struct node *n)
{
    const enum dtype dtype = output_dtype(g, n);
    if (input_dtype(g, n, 0) != DT_BOOL || (dtype != DT_FLOAT32 && dtype != DT_INT32) ||
        input_dtype(g, n, 1) != dtype || input_dtype(g, n, 2) != dtype)
        return "it selects float32 and Int_32 elements alone";
    return NULL;
}

static odlc_status prepare_selection(struct cpu_making *m)
{
    return cpu_walk_plain(m, select_words, NULL);
}

const struct cpu_op cpu_selection = {.refuse = refuse_selection, .prepare = prepare_selection};

/* ---- casts ---- */

#define LOOP_CAST(name, to, from)                                   \
    static CLONED void name(const struct span *s, const void *user) \
    {                                                               \
        to *restrict out = s->data[0];                              \
        const from *restrict x = s->data[1];                        \
        (void)user;                                                 \
        for (int64_t i = 0; i < s->count; i++)                      \
            out[i] = (to)x[i];                                      \
    }

LOOP_CAST(floats_of_bools, float, uint8_t)
LOOP_CAST(floats_of_ints, float, int32_t)
LOOP_CAST(ints_of_bytes, int32_t, uint8_t)
LOOP_CAST(ints_of_signed_bytes, int32_t, int8_t)

static span_fn *cast_loop(enum dtype from, enum dtype to)
{
    if (from == DT_BOOL && to == DT_FLOAT32)
        return floats_of_bools;
    if (to == DT_INT32 && (from == DT_BOOL || from == DT_UINT8 || from == DT_INT8))
        return from == DT_INT8 ? ints_of_signed_bytes : ints_of_bytes;
    return from == DT_INT32 && to == DT_FLOAT32 ? floats_of_ints : NULL;
}

static const char *refuse_cast(const struct graph *g, const struct node *n)
{
    if (!cast_loop(input_dtype(g, n, 0), output_dtype(g, n)))
        return "it casts bools and Int_32 tensors to float32, and bools and 8-bit integers to Int_32, alone";
    return NULL;
}

static odlc_status prepare_cast(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    return cpu_walk_plain(m, cast_loop(input_dtype(g, n, 0), output_dtype(g, n)), NULL);
}

const struct cpu_op cpu_cast = {.refuse = refuse_cast, .prepare = prepare_cast};
