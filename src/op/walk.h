/* One index space, several operands: the loops behind broadcasting, reductions and norms.
 *
 * Every operand has a step per axis of the space, 0 where it does not vary: a broadcast input, or the result of a
 * reduction. Elements are those of COMPUTE_WIDE, 8 bytes each. */
#ifndef OP_WALK_H
#define OP_WALK_H

#include "op/op.h"

#define WALK_OPERANDS 6

struct walk {
    uint32_t rank, operands;
    int64_t dims[MAX_RANK];
    int64_t step[WALK_OPERANDS][MAX_RANK]; /* in elements */
    void *data[WALK_OPERANDS];
};

/* A run along the innermost axis: element i of operand k is data[k][i * step[k]]. */
struct span {
    int64_t count;
    int64_t step[WALK_OPERANDS];
    void *data[WALK_OPERANDS];
};
typedef void span_fn(const struct span *s, const void *user);

void walk_init(struct walk *w, const struct shape *space);
/* The next operand: of `shape`, broadcast to the space as numpy does. */
void walk_broadcast(struct walk *w, void *data, const struct shape *shape);
/* The next operand: row-major over the axes of the mask, constant along the others. */
void walk_axes(struct walk *w, void *data, uint32_t axes);
/* Calls fn for every run, in row-major order of the space. */
void walk_run(const struct walk *w, span_fn *fn, const void *user);

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

/* Span functions from an expression in a (and b, c); operand 0 is the result. */
#define SPAN_UNARY(name, out_type, a_type, expr)             \
    static void name(const struct span *s, const void *user) \
    {                                                        \
        (void)user;                                          \
        out_type *out = s->data[0];                          \
        const a_type *pa = s->data[1];                       \
        for (int64_t i = 0; i < s->count; i++) {             \
            a_type a = pa[i * s->step[1]];                   \
            out[i] = (expr);                                 \
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
            a_type a = pa[i * s->step[1]];                   \
            b_type b = pb[i * s->step[2]];                   \
            out[i] = (expr);                                 \
        }                                                    \
    }

/* Runs fn over the kernel's first output and all its inputs, broadcast to the output's shape. */
odlc_status walk_inputs(const struct kernel *k, span_fn *fn) MUST_USE;
/* The same with the function for the class of the inputs' elements, which must be one. NULL: none for that class. */
odlc_status walk_by_class(const struct kernel *k, span_fn *floats, span_fn *ints) MUST_USE;

#endif
