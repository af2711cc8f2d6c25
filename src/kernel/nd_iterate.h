/* SPDX-License-Identifier: Apache-2.0 */
/* One index space, several operands: the loops behind broadcasting, reductions and norms.
 *
 * Every operand has a step per axis of the space, 0 where it does not vary: a broadcast input, or the result of a
 * reduction. Elements are what COMPUTE_EITHER gives: float or double, and int64_t. */
#ifndef KERNEL_ND_ITERATE_H
#define KERNEL_ND_ITERATE_H

#include "kernel/kernel.h"

#define ND_OPERANDS 6

struct nd_loop {
    uint32_t rank, operands;
    int64_t dims[MAX_RANK];
    int64_t step[ND_OPERANDS][MAX_RANK]; /* in elements */
    uint32_t size[ND_OPERANDS];          /* of an element, in bytes */
    void *data[ND_OPERANDS];
};

/* A run along the innermost axis: element i of operand k is data[k][i * step[k]]. */
struct span {
    int64_t count;
    int64_t step[ND_OPERANDS];
    void *data[ND_OPERANDS];
};
typedef void span_fn(const struct span *s, const void *user);

void nd_init(struct nd_loop *w, const struct shape *space);
/* The next operand: broadcast to the space as numpy does. */
void nd_broadcast(struct nd_loop *w, const struct buffer *b);
/* The next operand: row-major over the axes of the mask, constant along the others. */
void nd_axes(struct nd_loop *w, void *data, enum dtype dtype, uint32_t axes);
/* Calls fn for every run, in row-major order of the space. */
void nd_run(const struct nd_loop *w, span_fn *fn, const void *user);
/* The same in two parts, of which the first looks at no data: axes of one element go, neighbours that all operands pass
 * in one stride become one, so that the runs get long. */
void nd_join(struct nd_loop *w);
void nd_run_joined(const struct nd_loop *w, span_fn *fn, const void *user);

/* The loops of an op for the storage of its operands; NULL where it has none. */
struct span_set {
    span_fn *floats, *doubles, *ints;
};
/* The one for elements of that dtype. */
span_fn *span_for(const struct span_set *set, enum dtype dtype);

/* An integer result is computed in 64 bits: keeps those that its dtype has, as arithmetic in that dtype would. */
void wrap_result(const struct kernel *k);

/* Runs fn over the kernel's first output and all its inputs, broadcast to the output's shape; user is the kernel. */
odlc_status nd_inputs(const struct kernel *k, span_fn *fn) MUST_USE;
/* The same with the loop for the inputs' elements, which must be of one dtype. */
odlc_status nd_by_class(const struct kernel *k, const struct span_set *set) MUST_USE;
/* The same with a loop of its own for uint64, whose upper half is negative as int64_t (NULL: the one for integers). */
odlc_status nd_with_uint64(const struct kernel *k, const struct span_set *set, span_fn *uints) MUST_USE;

/* Two's complement wraps, as the hardware does; signed overflow in C would not be defined. */
static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t wrap_multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Whatever the storage, arithmetic is in double or int64_t. */
#define LOCAL_float double
#define LOCAL_double double
#define LOCAL_int64_t int64_t
#define LOCAL_uint64_t uint64_t

/* Span functions from an expression in a (and b); operand 0 is the result. */
#define SPAN_UNARY(name, out_type, a_type, expr)             \
    static void name(const struct span *s, const void *user) \
    {                                                        \
        (void)user;                                          \
        out_type *out = s->data[0];                          \
        const a_type *pa = s->data[1];                       \
        for (int64_t i = 0; i < s->count; i++) {             \
            const LOCAL_##a_type a = pa[i * s->step[1]];     \
            out[i] = (out_type)(expr);                       \
        }                                                    \
    }

#define SPAN_BINARY(name, out_type, a_type, b_type, expr)    \
    static void name(const struct span *s, const void *user) \
    {                                                        \
        (void)user;                                          \
        out_type *out = s->data[0];                          \
        const a_type *pa = s->data[1];                       \
        const b_type *pb = s->data[2];                       \
        for (int64_t i = 0; i < s->count; i++) {             \
            const LOCAL_##a_type a = pa[i * s->step[1]];     \
            const LOCAL_##b_type b = pb[i * s->step[2]];     \
            out[i] = (out_type)(expr);                       \
        }                                                    \
    }

/* A reduction to operand 0: the next value from acc and a. */
#define SPAN_FOLD(name, acc_type, a_type, expr)              \
    static void name(const struct span *s, const void *user) \
    {                                                        \
        (void)user;                                          \
        acc_type *out = s->data[0];                          \
        const a_type *pa = s->data[1];                       \
        if (s->step[0] == 0) {                               \
            acc_type acc = *out;                             \
            for (int64_t i = 0; i < s->count; i++) {         \
                const LOCAL_##a_type a = pa[i * s->step[1]]; \
                acc = (expr);                                \
            }                                                \
            *out = acc;                                      \
            return;                                          \
        }                                                    \
        for (int64_t i = 0; i < s->count; i++) {             \
            const LOCAL_##a_type a = pa[i * s->step[1]];     \
            const acc_type acc = out[i];                     \
            out[i] = (expr);                                 \
        }                                                    \
    }

#endif
