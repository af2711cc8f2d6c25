/* SPDX-License-Identifier: Apache-2.0 */
/* What is computed of lines of elements: reductions, Softmax, statistics of norms. A line is one of `lines`, its first
 * element where the walk `kept` leads, the others where `along` does. GROUP work-items share a line, and end with the same
 * values of it. */

#ifndef GROUP
#define GROUP 1
#endif

#if GROUP > 1
#define LINE get_group_id(0)
#define ITEM get_local_id(0)
#define SHARED local real shared[GROUP];
#else
#define LINE get_global_id(0)
#define ITEM 0
#define SHARED local real shared[1];
#endif

static inline int place(const walk *w, int i)
{
    int at[1];
    walk_to(w, i, 1, at);
    return at[0];
}

/* What is left of a sum's rounding is added to the next term. */
typedef struct {
    real value, rest;
} total;

static inline total add(total t, real x)
{
#ifdef INT_MATH
    return (total){t.value + x, 0};
#else
    const real y = x - t.rest, sum = t.value + y;
    return (total){sum, isinf(sum) ? (real)0 : (sum - t.value) - y};
#endif
}

/* A position in a line and the element there; none: -1. */
typedef struct {
    real value;
    int at;
} candidate;

/* The better one, of equal ones the first; what is no number is worse than all. */
static inline candidate better_of(candidate a, candidate b, int smallest)
{
    if (a.at < 0 || b.at < 0)
        return a.at < 0 ? b : a;
    if (a.value == b.value)
        return a.at < b.at ? a : b;
    return (smallest ? a.value < b.value : a.value > b.value) ? a : b;
}

/* Where each line has its extreme: at 0 where the line begins with what is no number. */
#ifdef KERNEL_extreme
kernel void extreme(global const X *x, global O *out, int lines, int count, int smallest, walk kept, walk along)
{
    const int line = LINE;
    local real values[GROUP];
    local int places[GROUP];
    if (line >= lines)
        return;
    const int base = place(&kept, line);
    candidate best = {0, -1};
    for (int i = ITEM; i < count; i += GROUP) {
        const candidate next = {LOAD(X, x, base + place(&along, i)), i};
        if (!IS_NAN(next.value))
            best = better_of(best, next, smallest);
    }
#if GROUP > 1
    const int item = ITEM;
    values[item] = best.value;
    places[item] = best.at;
    for (int half_of = GROUP / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_of) {
            const candidate other = {values[item + half_of], places[item + half_of]};
            best = better_of(best, other, smallest);
            values[item] = best.value;
            places[item] = best.at;
        }
    }
#endif
    if (ITEM == 0)
        STORE(O, out, line, (real)(best.at < 0 || IS_NAN(LOAD(X, x, base)) ? 0 : best.at));
}
#endif

/* Sums of the elements of a line up to each of them. A work-item has a line. */
#ifdef KERNEL_running
kernel void running(global const X *x, global O *out, int lines, int count, int exclusive, int reverse, walk kept,
                    walk along)
{
    const int line = LINE;
    if (line >= lines || ITEM > 0)
        return;
    const int base = place(&kept, line);
    total sum = {0, 0};
    for (int i = 0; i < count; i++) {
        const int at = base + place(&along, reverse ? count - 1 - i : i);
        const total with = add(sum, LOAD(X, x, at));
        STORE(O, out, at, exclusive ? sum.value : with.value);
        sum = with;
    }
}
#endif

#ifndef INT_MATH

#define SUM 0
#define SUM_OF_SQUARES 1
#define PRODUCT 2
#define MAXIMUM 3
#define MINIMUM 4

static inline total start_of(int kind)
{
    const real first = kind == PRODUCT ? 1 : kind == MAXIMUM ? -(real)INFINITY : kind == MINIMUM ? (real)INFINITY : 0;
    return (total){first, 0};
}

static inline total take(int kind, total t, real x)
{
    switch (kind) {
    case SUM_OF_SQUARES:
        return add(t, x * x);
    case PRODUCT:
        return (total){t.value * x, 0};
    case MAXIMUM:
        return (total){x > t.value || isnan(x) ? x : t.value, 0};
    case MINIMUM:
        return (total){x < t.value || isnan(x) ? x : t.value, 0};
    default:
        return add(t, x);
    }
}

/* The work-items' parts as one, for all of them. */
static inline real together(int kind, total t, local real *shared)
{
#if GROUP > 1
    const int item = get_local_id(0);
    shared[item] = t.value;
    for (int half_of = GROUP / 2; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_of)
            shared[item] =
                take(kind == SUM_OF_SQUARES ? SUM : kind, (total){shared[item], 0}, shared[item + half_of]).value;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const real whole = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return whole;
#else
    return t.value;
#endif
}

#ifdef KERNEL_reduce
kernel void reduce(global const X *x, global O *out, int lines, int count, int kind, int is_mean, walk kept,
                   walk along FOLLOW_PARAMS)
{
    const int line = LINE;
    SHARED
    if (line >= lines)
        return;
    const int base = place(&kept, line);
    total t = start_of(kind);
    for (int i = ITEM; i < count; i += GROUP)
        t = take(kind, t, LOAD(X, x, base + place(&along, i)));
    real v = together(kind, t, shared);
    if (is_mean)
        v /= (real)count;
    if (ITEM == 0)
        STORE(O, out, line, FOLLOWED(v, line));
}
#endif

#ifdef KERNEL_softmax
#define SCALED(at) (TO_REAL(beta) * LOAD(X, x, at) - maximum)
#ifdef KEEP
/* The powers of a line: they stay in the result's places until their sum is known. Processors take four at once. */
static inline void keep_powers(global const X *x, global O *out, int count, int base, int step, number beta, real maximum)
{
    if (GROUP == 1 && step == 1 && count % 4 == 0)
        for (int i = 0; i < count; i += 4)
            STORE4(O, out, base + i, exp(TO_REAL(beta) * LOAD4(X, x, base + i) - maximum));
    else
        for (int i = ITEM; i < count; i += GROUP)
            STORE(O, out, base + i * step, exp(SCALED(base + i * step)));
}
#define POWER(at) LOAD(O, out, at)
#else
#define keep_powers(x, out, count, base, step, beta, maximum)
#define POWER(at) exp(SCALED(at))
#endif

/* In the form that cannot overflow. The result's elements lie where those of x do. */
kernel void softmax(global const X *x, global O *out, int lines, int count, int is_log, number beta, walk kept,
                    walk along FOLLOW_PARAMS)
{
    const int line = LINE;
    SHARED
    if (line >= lines)
        return;
    const int base = place(&kept, line), step = along.rank > 0 ? along.strides[0][0] : 0;
    total most = start_of(MAXIMUM), sum = start_of(SUM);
    for (int i = ITEM; i < count; i += GROUP)
        most = take(MAXIMUM, most, TO_REAL(beta) * LOAD(X, x, base + i * step));
    const real maximum = together(MAXIMUM, most, shared);
    keep_powers(x, out, count, base, step, beta, maximum);
    for (int i = ITEM; i < count; i += GROUP)
        sum = add(sum, POWER(base + i * step));
    const real whole = together(SUM, sum, shared), scale = is_log ? log(whole) : 1 / whole;
    for (int i = ITEM; i < count; i += GROUP) {
        const int at = base + i * step;
        const real v = is_log ? ROUNDED(SCALED(at)) - scale : ROUNDED(POWER(at)) * scale;
        STORE(O, out, at, FOLLOWED(v, at));
    }
}
#endif

/* Of a line the mean (0 where it is not asked for), and what a deviation from it is multiplied by: 1 over the root of the
 * mean of squares plus epsilon; with `floors`, of their sum, but at least epsilon; or 1. */
typedef struct {
    int centers, scales, floors;
    number epsilon;
} norming;

typedef struct {
    real mean, factor;
} moments;

static inline moments moments_of(global const X *x, int base, int count, const norming *n, const walk *along,
                                 local real *shared)
{
    moments m = {0, 1};
    if (n->centers) {
        total t = start_of(SUM);
        for (int i = ITEM; i < count; i += GROUP)
            t = add(t, LOAD(X, x, base + place(along, i)));
        m.mean = together(SUM, t, shared) / (real)count;
    }
    if (n->scales) {
        total t = start_of(SUM);
        for (int i = ITEM; i < count; i += GROUP) {
            const real deviation = LOAD(X, x, base + place(along, i)) - m.mean;
            t = add(t, deviation * deviation);
        }
        const real squares = together(SUM, t, shared), least = TO_REAL(n->epsilon);
        m.factor = 1 / sqrt(n->floors ? fmax(squares, least) : squares / (real)count + least);
    }
    return m;
}

#ifdef KERNEL_statistics
kernel void statistics(global const X *x, global S *means, global S *factors, int lines, int count, norming n, walk kept,
                       walk along)
{
    const int line = LINE;
    SHARED
    if (line >= lines)
        return;
    const moments m = moments_of(x, place(&kept, line), count, &n, &along, shared);
    if (ITEM == 0) {
        STORE(S, means, line, m.mean);
        STORE(S, factors, line, m.factor);
    }
}
#endif

/* Both at once. The walks lead to weights and biases, too. */
#ifdef KERNEL_norm
kernel void norm(global const X *x, global const Y *gamma, global const B *beta, global O *out, int lines, int count,
                 norming n, int has_gamma, int has_beta, walk kept, walk along FOLLOW_PARAMS)
{
    const int line = LINE;
    SHARED
    int first[2], at[2];
    if (line >= lines)
        return;
    walk_to(&kept, line, 2, first);
    const moments m = moments_of(x, first[0], count, &n, &along, shared);
    for (int i = ITEM; i < count; i += GROUP) {
        walk_to(&along, i, 2, at);
        const int place = first[0] + at[0], weight = first[1] + at[1];
        real v = (LOAD(X, x, place) - m.mean) * m.factor;
        if (has_gamma)
            v *= LOAD(Y, gamma, weight);
        if (has_beta)
            v += LOAD(B, beta, weight);
        STORE(O, out, place, FOLLOWED(v, place));
    }
}
#endif

/* Elements by the statistics of their lines, weights and biases, all found by a walk over the elements. */
#ifdef KERNEL_apply
kernel void apply(global const X *x, global const S *means, global const S *factors, global const Y *gamma,
                      global const B *beta, global O *out, int count, int has_gamma, int has_beta, walk w FOLLOW_PARAMS)
{
    const int i = get_global_id(0);
    int at[2];
    if (i >= count)
        return;
    walk_to(&w, i, 2, at);
    real v = (LOAD(X, x, i) - LOAD(S, means, at[0])) * LOAD(S, factors, at[0]);
    if (has_gamma)
        v *= LOAD(Y, gamma, at[1]);
    if (has_beta)
        v += LOAD(B, beta, at[1]);
    STORE(O, out, i, FOLLOWED(v, i));
}
#endif

#endif
