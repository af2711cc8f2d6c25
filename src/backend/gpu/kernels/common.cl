/* SPDX-License-Identifier: Apache-2.0 */
/* What stands before every kernel: types, loads and stores, functions, followers.
 *
 * A program is for one kernel: files that have several compile the one that -DKERNEL_<name> says.
 *
 * real is what is computed with: half with -DHALF_MATH, double with -DDOUBLE_MATH, an integer type with -DINT_MATH=long, else float;
 * number the type of numbers among the arguments. Elements are stored as types that options name, such
 * as -DX=half; LOAD(X, p, i) and STORE(X, p, i, v) are the way between. Positions are ints: tensors have less than 2^31
 * elements. */

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#if defined(HALF_MATH)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define REAL half
typedef float number;
#define TO_REAL(x) convert_half(x)
#elif defined(DOUBLE_MATH)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF /* each operation is rounded, as in the reference */
#define REAL double
typedef double number;
#define TO_REAL(x) convert_double(x)
#elif defined(INT_MATH)
#define REAL INT_MATH
typedef float number;
#define TO_REAL(x) ((real)(x))
#else
#define REAL float
typedef float number;
#define TO_REAL(x) convert_float(x)
#endif
typedef REAL real;

#ifdef INT_MATH
#define IS_NAN(x) false
#else
#define IS_NAN(x) isnan(x)
#endif

typedef uchar flag; /* of truth */

/* Kernels of a file need not all have all operands. */
#ifndef X
#define X float
#endif
#ifndef Y
#define Y float
#endif
#ifndef Z
#define Z float
#endif
#ifndef B
#define B float
#endif
#ifndef S
#define S float
#endif
#ifndef C
#define C float
#endif
#ifndef O
#define O float
#endif
#ifndef P
#define P float
#endif
#ifndef Q
#define Q float
#endif

#define LOAD(type, p, i) PASTE(load_, type)((p), (i))
#define STORE(type, p, i, v) PASTE(store_, type)((p), (i), (v))

static inline real load_float(global const float *p, int i)
{
    return TO_REAL(p[i]);
}

static inline void store_float(global float *p, int i, real v)
{
    p[i] = convert_float(v);
}

#ifdef HALF_MATH
static inline real load_half(global const half *p, int i)
{
    return p[i];
}

static inline void store_half(global half *p, int i, real v)
{
    p[i] = v;
}
#else
static inline real load_half(global const half *p, int i)
{
    return TO_REAL(vload_half(i, p));
}

static inline void store_half(global half *p, int i, real v)
{
    vstore_half_rte(convert_float(v), i, p);
}
#endif

#ifdef DOUBLE_MATH
static inline real load_double(global const double *p, int i)
{
    return p[i];
}

static inline void store_double(global double *p, int i, real v)
{
    p[i] = v;
}
#endif

static inline real load_flag(global const flag *p, int i)
{
    return p[i] != 0;
}

static inline void store_flag(global flag *p, int i, real v)
{
    p[i] = v != 0;
}

/* Of integers the low bits stay; reals are truncated, and saturated. What is no number is 0, which devices may convert to
 * something else: NVIDIA's make the least integer of a double's. */
#ifdef INT_MATH
#define TO_INTEGER(type, v) ((type)(v))
#else
#define TO_INTEGER(type, v) (IS_NAN(v) ? (type)0 : convert_##type##_sat(v))
#endif

#define INTEGERS(type)                                             \
    static inline real load_##type(global const type *p, int i)    \
    {                                                              \
        return TO_REAL(p[i]);                                      \
    }                                                              \
    static inline void store_##type(global type *p, int i, real v) \
    {                                                              \
        p[i] = TO_INTEGER(type, v);                                \
    }
INTEGERS(char)
INTEGERS(uchar)
INTEGERS(short)
INTEGERS(ushort)
INTEGERS(int)
INTEGERS(uint)
INTEGERS(long)

/* As a result of float32 would be stored on the way. */
#ifdef DOUBLE_MATH
#define ROUNDED(x) convert_double(convert_float(x))
#else
#define ROUNDED(x) (x)
#endif

/* ---- functions ---- */

#ifdef DOUBLE_MATH
#define CONSTANT(x) (x)
#else
#define CONSTANT(x) ((real)x##f)
#endif

/* Not a number stays it, and so does the sign of a zero. */
static inline real clip(real x, real low, real high)
{
    const real least = x < low ? low : x;
    return least > high ? high : least;
}

#ifdef INT_MATH
static inline real function(int code, real x, number a, number b)
{
    switch (code) {
    case GPU_ABS:
        return x < 0 ? -x : x;
    case GPU_NEG:
        return -x;
    case GPU_SIGN:
        return (x > 0) - (x < 0);
    case GPU_NOT:
        return !x;
    default:
        return x;
    }
}
#else
static inline real function(int code, real x, number a, number b)
{
    const real zero = 0, one = 1;
    switch (code) {
    case GPU_CLIP:
        return clip(x, TO_REAL(a), TO_REAL(b));
    case GPU_HARD_SIGMOID:
        return clip(TO_REAL(a) * x + TO_REAL(b), zero, one);
    case GPU_HARD_SWISH:
        return x * clip(x + (real)3, zero, (real)6) / (real)6;
    case GPU_ABS:
        return fabs(x);
    case GPU_NEG:
        return -x;
    case GPU_SQRT:
        return sqrt(x);
    case GPU_RECIPROCAL:
        return one / x;
    case GPU_RSQRT:
        return one / sqrt(x);
    case GPU_ELU:
        return x < zero ? TO_REAL(a) * expm1(x) : x;
    case GPU_GELU:
        return CONSTANT(0.5) * x * erfc(-x * CONSTANT(0.70710678118654752440));
    case GPU_SIGMOID:
        return one / (one + exp(-x));
    case GPU_TANH:
        return tanh(x);
    case GPU_EXP:
        return exp(x);
    case GPU_SIGN:
        return IS_NAN(x) ? x : (real)((x > zero) - (x < zero));
    case GPU_NOT:
        return !x;
    case GPU_ASIN:
        return asin(x);
    case GPU_ATAN:
        return atan(x);
    case GPU_CEIL:
        return ceil(x);
    case GPU_COS:
        return cos(x);
    case GPU_FLOOR:
        return floor(x);
    case GPU_LOG:
        return log(x);
    case GPU_ROUND:
        return rint(x);
    case GPU_SIN:
        return sin(x);
    case GPU_SOFTPLUS:
        return b > 0 && x * TO_REAL(a) > TO_REAL(b)
                   ? x
                   : (fmax(x * TO_REAL(a), zero) + log1p(exp(-fabs(x * TO_REAL(a))))) / TO_REAL(a);
    default:
        return x;
    }
}
#endif

#ifdef INT_MATH
static inline real divide(real a, real b)
{
    return b == 0 ? 0 : b == -1 ? -a : a / b;
}

static inline real power(real a, real b)
{
    return a; /* nobody asks for it */
}

static inline real remainder_of(real a, real b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

static inline real modulo(real a, real b)
{
    const real r = remainder_of(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline real floor_divide(real a, real b)
{
    const real r = remainder_of(a, b);
    return divide(a, b) - (r != 0 && (r < 0) != (b < 0));
}
#else
static inline real divide(real a, real b)
{
    return a / b;
}

static inline real power(real a, real b)
{
    return b == (real)2 ? a * a : pow(a, b);
}

static inline real remainder_of(real a, real b)
{
    return fmod(a, b);
}

static inline real modulo(real a, real b)
{
    const real r = fmod(a, b);
    if (r == 0)
        return copysign((real)0, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

/* Devices may round quotients in some other way; one more step makes them the nearest ones. */
static inline real floor_divide(real a, real b)
{
    const real q = a / b, better = q + fma(-q, b, a) / b;
    return floor(isfinite(better) ? better : q);
}
#endif

static inline real combine(int code, real a, real b)
{
    switch (code) {
    case GPU_ADD:
        return a + b;
    case GPU_SUBTRACT:
        return a - b;
    case GPU_MULTIPLY:
        return a * b;
    case GPU_DIVIDE:
        return divide(a, b);
    case GPU_MAXIMUM:
        return a > b || IS_NAN(a) ? a : b;
    case GPU_MINIMUM:
        return a < b || IS_NAN(a) ? a : b;
    case GPU_SQUARED_DIFFERENCE:
        return (a - b) * (a - b);
    case GPU_FLOOR_DIVIDE:
        return floor_divide(a, b);
    case GPU_FMOD:
        return remainder_of(a, b);
    case GPU_MODULO:
        return modulo(a, b);
    case GPU_PRELU:
        return a < (real)0 ? a * b : a;
    case GPU_EQUAL:
        return a == b;
    case GPU_NOT_EQUAL:
        return a != b;
    case GPU_GREATER:
        return a > b;
    case GPU_GREATER_EQUAL:
        return a >= b;
    case GPU_LESS:
        return a < b;
    case GPU_LESS_EQUAL:
        return a <= b;
    case GPU_AND:
        return a && b;
    case GPU_OR:
        return a || b;
    case GPU_XOR:
        return !a != !b;
    default:
        return power(a, b);
    }
}

/* ---- followers: element-wise functions of what a kernel computes ----
 *
 * The kernel has FOLLOW_PARAMS behind its own parameters, and stores FOLLOWED(v, i) as element i of the result. Functions
 * are compiled in with -DFOLLOW=2, which says how many there are, their numbers (-DCODE0=1 and so on), and of the other operand
 * whether its step is 0 (-DALIKE0=1) and whether it is of halves (-DHALF0=0); otherwise the chain says all that. */

/* As struct gpu_followers. Of a function of two, the other operand's element is i / step % period, or i where the step is
 * 0: a half or a float; among integers one of X. */
typedef struct {
    int count, code[4], step[4], period[4], is_half[4], unused;
    number a[4], b[4];
} chain;

static inline real follow(real v, int i, const chain *c, int k, int code, bool is_alike, bool is_half,
                          global const float *other)
{
    if (code < GPU_BINARY)
        return function(code, v, c->a[k], c->b[k]);
    if (code >= GPU_GATED)
        return v * function(code - GPU_GATED, v, c->a[k], c->b[k]);
    const int at = is_alike ? i : i / c->step[k] % c->period[k];
#ifdef INT_MATH
    const real w = LOAD(X, (global const X *)other, at);
#else
    const real w = is_half ? load_half((global const half *)other, at) : load_float(other, at);
#endif
    return code < GPU_SWAPPED ? combine(code, v, w) : combine(code - GPU_SWAPPED, w, v);
}

#ifdef FOLLOW
#define FOLLOWERS FOLLOW
#else
#define FOLLOWERS (c->count)
#define ALIKE0 (c->step[0] == 0)
#define ALIKE1 (c->step[1] == 0)
#define ALIKE2 (c->step[2] == 0)
#define ALIKE3 (c->step[3] == 0)
#define HALF0 (c->is_half[0])
#define HALF1 (c->is_half[1])
#define HALF2 (c->is_half[2])
#define HALF3 (c->is_half[3])
#define CODE0 (c->code[0])
#define CODE1 (c->code[1])
#define CODE2 (c->code[2])
#define CODE3 (c->code[3])
#endif

static inline real followed(real v, int i, const chain *c, global const float *p0, global const float *p1,
                            global const float *p2, global const float *p3)
{
#if !defined(FOLLOW) || FOLLOW > 0
    if (FOLLOWERS > 0)
        v = follow(v, i, c, 0, CODE0, ALIKE0, HALF0, p0);
#endif
#if !defined(FOLLOW) || FOLLOW > 1
    if (FOLLOWERS > 1)
        v = follow(v, i, c, 1, CODE1, ALIKE1, HALF1, p1);
#endif
#if !defined(FOLLOW) || FOLLOW > 2
    if (FOLLOWERS > 2)
        v = follow(v, i, c, 2, CODE2, ALIKE2, HALF2, p2);
#endif
#if !defined(FOLLOW) || FOLLOW > 3
    if (FOLLOWERS > 3)
        v = follow(v, i, c, 3, CODE3, ALIKE3, HALF3, p3);
#endif
    return v;
}

#define FOLLOW_PARAMS \
    , chain follow_chain, global const float *p0, global const float *p1, global const float *p2, global const float *p3
#define FOLLOWED(v, i) followed((v), (i), &follow_chain, p0, p1, p2, p3)

/* ---- walks: positions in operands by the place in the result ---- */

/* As struct gpu_walk. Element i of the result, whose places are counted along `dims`, is computed of the elements at
 * base + the sum of its coordinates times the strides. */
typedef struct {
    int rank;
    int dims[8], strides[3][8], base[3];
} walk;

static inline void walk_to(const walk *w, int i, int operands, int *places)
{
    for (int k = 0; k < operands; k++)
        places[k] = w->base[k];
    for (int axis = w->rank - 1; axis > 0; axis--) {
        const int before = i / w->dims[axis], at = i - before * w->dims[axis];
        for (int k = 0; k < operands; k++)
            places[k] += at * w->strides[k][axis];
        i = before;
    }
    for (int k = 0; k < operands && w->rank > 0; k++)
        places[k] += i * w->strides[k][0]; /* the first axis has what is left */
}

/* ---- windows ---- */

/* As struct gpu_window. */
typedef struct {
    int in[3], out[3], filter[3], stride[3], dilation[3], before[3], after[3], channels;
} window;

/* The window's position that the place in the result, without channels, has; gives the batch. */
static inline int window_at(const window *w, int place, int *at)
{
    for (int axis = 2; axis >= 0; axis--) {
        const int before = place / w->out[axis];
        at[axis] = place - before * w->out[axis];
        place = before;
    }
    return place;
}

/* The taps [*first, *last) of an axis that fall on the input at a position. */
static inline void window_clip(const window *w, int axis, int at, int *first, int *last)
{
    const int start = at * w->stride[axis] - w->before[axis], step = w->dilation[axis], filter = w->filter[axis];
    *first = start < 0 ? min((-start + step - 1) / step, filter) : 0;
    *last = start < w->in[axis] ? min((w->in[axis] - start + step - 1) / step, filter) : 0;
    *last = max(*first, *last);
}

/* The input's place, without channels, under a tap. */
static inline int window_place(const window *w, int batch, const int *at, const int *tap)
{
    int place = batch;
    for (int axis = 0; axis < 3; axis++)
        place = place * w->in[axis] + at[axis] * w->stride[axis] + tap[axis] * w->dilation[axis] - w->before[axis];
    return place;
}

/* Whether a tap of the window at *place, one of `places`, falls on element `at` of what windows slide over. */
static inline bool window_reaches(const window *w, int axis, int at, int tap, int places, int *place)
{
    const int distance = at + w->before[axis] - tap * w->dilation[axis];
    *place = distance / w->stride[axis];
    return distance >= 0 && distance % w->stride[axis] == 0 && *place < places;
}

/* ---- products ---- */

#define UNROLL _Pragma("unroll")
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(n) PRAGMA(unroll n)
#ifdef INT_MATH
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#else
#define MULTIPLY_ADD(a, b, c) fma((a), (b), (c))
#endif

/* Four neighbours at once. Elements p + i must be aligned for them. */
typedef PASTE(REAL, 4) real4;
#define TO_REAL4 PASTE(convert_, PASTE(REAL, 4))
#define LOAD4(type, p, i) PASTE(load4_, type)((p), (i))
#define STORE4(type, p, i, v) PASTE(store4_, type)((p), (i), (v))

#define FOURS(type)                                                  \
    static inline real4 load4_##type(global const type *p, int i)    \
    {                                                                \
        return TO_REAL4(*(global const type##4 *)(p + i));           \
    }                                                                \
    static inline void store4_##type(global type *p, int i, real4 v) \
    {                                                                \
        *(global type##4 *)(p + i) = convert_##type##4(v);           \
    }
FOURS(float)
FOURS(short)
FOURS(int)
FOURS(long)
#ifdef HALF_MATH
FOURS(half)
#else
static inline real4 load4_half(global const half *p, int i)
{
    return TO_REAL4(vloada_half4(0, p + i));
}

static inline void store4_half(global half *p, int i, real4 v)
{
    vstorea_half4_rte(convert_float4(v), 0, p + i);
}
#endif

/* As struct gpu_gemm_shape. */
typedef struct {
    int rows, columns, depth;      /* of one product */
    int x_row, x_step;             /* elements between rows of the left operand, and along its depth */
    int y_column, y_step;          /* between columns of the right one, and along its depth */
    int out_row, out_size;         /* between rows of the result; all its elements */
    int bias_batch, bias_period;   /* between the biases of products; how many there are, those of the last axis */
    int parts, part_depth;         /* into how many parts the depth is cut, and how long they are */
    int images, tap_depth;         /* of a convolution: images, and the elements of a pixel under a tap */
} gemm_shape;

/* Where the window begins that computes result number `at`: corner[], which may be outside. Gives the place of its
 * first element. A window behind the last image is nowhere. */
static inline int window_corner(const window *w, int at, int images, int corner[3])
{
    const int none[3] = {0, 0, 0};
    int position[3];
    const int image = window_at(w, at, position);
    for (int axis = 0; axis < 3; axis++)
        corner[axis] = position[axis] * w->stride[axis] - w->before[axis];
    if (image < images)
        return window_place(w, image, position, none) * w->channels;
    corner[0] = -(1 << 30);
    return 0;
}

/* A position along the depth of a convolution: a tap, and an element of the pixel under it. */
typedef struct {
    int tap[3], element;
} taps;

static inline taps taps_at(const window *w, int tap_depth, int depth)
{
    const int tap = depth / tap_depth;
    taps t = {{tap / (w->filter[2] * w->filter[1]), tap / w->filter[2] % w->filter[1], tap % w->filter[2]},
              depth - tap * tap_depth};
    return t;
}

static inline void taps_next(const window *w, taps *t)
{
    if (++t->tap[2] < w->filter[2])
        return;
    t->tap[2] = 0;
    if (++t->tap[1] < w->filter[1])
        return;
    t->tap[1] = 0;
    t->tap[0]++;
}

static inline void taps_advance(const window *w, int tap_depth, taps *t, int elements)
{
    for (t->element += elements; t->element >= tap_depth; t->element -= tap_depth)
        taps_next(w, t);
}

/* From the place of the window's first element. */
static inline int taps_offset(const window *w, const taps *t)
{
    const int z = t->tap[0] * w->dilation[0], y = t->tap[1] * w->dilation[1], x = t->tap[2] * w->dilation[2];
    return ((z * w->in[1] + y) * w->in[2] + x) * w->channels + t->element;
}

static inline bool taps_are_inside(const window *w, const taps *t, const int corner[3])
{
    return (uint)(corner[0] + t->tap[0] * w->dilation[0]) < (uint)w->in[0] &&
           (uint)(corner[1] + t->tap[1] * w->dilation[1]) < (uint)w->in[1] &&
           (uint)(corner[2] + t->tap[2] * w->dilation[2]) < (uint)w->in[2];
}
