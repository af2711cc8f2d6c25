/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing at positions that a tensor gives. Indices are of type Y; negative ones count from the end. */

/* As struct gpu_targets. Element i of the indices' side, whose places `w` leads to, stands for the element of the other
 * side at w's first place + the sum of so many indices, from w's second place on, times the strides. */
typedef struct {
    int depth;
    int dims[8], strides[8];
} targets;

/* An index outside of its axis is reported in `fault`, and counts as 0. */
static inline int target_of(const walk *w, const targets *t, int i, global const Y *indices, global int *fault, int step)
{
    int at[2];
    walk_to(w, i, 2, at);
    for (int k = 0; k < t->depth; k++) {
        const long index = indices[at[1] + k], inside = index < 0 ? index + t->dims[k] : index;
        const bool outside = inside < 0 || inside >= t->dims[k];
        if (outside)
            *fault = step;
        at[0] += outside ? 0 : (int)inside * t->strides[k];
    }
    return at[0];
}

#ifdef KERNEL_pick
kernel void pick(global const X *x, global const Y *indices, global O *out, int count, walk w, targets t,
                 global int *fault, int step)
{
    const int i = get_global_id(0);
    if (i < count)
        STORE(O, out, i, LOAD(X, x, target_of(&w, &t, i, indices, fault, step)));
}
#endif

/* ---- scattering: lists of the updates of each element, in any order ---- */

#define NONE 0
#define ADD 1
#define MULTIPLY 2
#define MAXIMUM 3

#ifdef KERNEL_begin
kernel void begin(global int *first, int count)
{
    const int i = get_global_id(0);
    if (i < count)
        first[i] = -1;
}
#endif

#ifdef KERNEL_enlist
kernel void enlist(global const Y *indices, global int *first, global int *next, int count, walk w, targets t,
                   global int *fault, int step)
{
    const int i = get_global_id(0);
    if (i < count)
        next[i] = atomic_xchg(&first[target_of(&w, &t, i, indices, fault, step)], i);
}
#endif

static inline real reduced(int kind, real a, real b)
{
    return kind == ADD ? a + b : kind == MULTIPLY ? a * b : a > b || IS_NAN(a) ? a : b;
}

/* Each element with its updates in the order of the indices; the last one stays where they are not reduced. ROUNDS: each
 * update is stored, as the reference does with float16. */
#ifdef KERNEL_scatter
kernel void scatter(global const X *x, global const Z *updates, global O *out, global const int *first,
                    global const int *next, int count, int kind)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    real v = LOAD(X, x, i);
    int last = -1;
    if (kind == NONE) {
        for (int at = first[i]; at >= 0; at = next[at])
            last = max(last, at);
        STORE(O, out, i, last < 0 ? v : LOAD(Z, updates, last));
        return;
    }
    for (bool more = true; more;) {
        int least = INT_MAX;
        for (int at = first[i]; at >= 0; at = next[at])
            least = at > last ? min(least, at) : least;
        more = least != INT_MAX;
        v = more ? reduced(kind, v, LOAD(Z, updates, least)) : v;
        last = least;
#ifdef ROUNDS
        STORE(O, out, i, v);
        v = LOAD(O, out, i);
#endif
    }
    STORE(O, out, i, v);
}
#endif

/* values[1] where the index of the place is the class, else values[0]. */
#ifdef KERNEL_one_hot
kernel void one_hot(global const Y *indices, global const X *values, global O *out, int count, int depth, int behind)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int row = i / behind, before = row / depth;
    const long index = indices[before * behind + i - row * behind];
    STORE(O, out, i, LOAD(X, values, (index < 0 ? index + depth : index) == row - before * depth));
}
#endif

/* Whether an element stands before another one: the better one, what is no number first of all, of equal ones the
 * first. */
static inline bool stands_before(real a, int at, real b, int other, int largest)
{
    const bool a_is_nan = IS_NAN(a), b_is_nan = IS_NAN(b);
    if (a_is_nan || b_is_nan || a == b)
        return a_is_nan == b_is_nan ? at < other : a_is_nan;
    return largest ? a > b : a < b;
}

/* Each element finds its rank in its line, and goes there if that is below k. Results may be absent. */
#ifdef KERNEL_top_k
kernel void top_k(global const X *x, global O *values, global int *places, int count, int line_count, int k, int largest)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int line = i / line_count, at = i - line * line_count;
    const real v = LOAD(X, x, i);
    int rank = 0;
    for (int other = 0; other < line_count; other++)
        rank += stands_before(LOAD(X, x, line * line_count + other), other, v, at, largest);
    if (rank >= k)
        return;
    if (values)
        STORE(O, values, line * k + rank, v);
    if (places)
        places[line * k + rank] = at;
}
#endif
