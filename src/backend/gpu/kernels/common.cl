/* What stands before every kernel: types, loads and stores, functions, followers.
 *
 * real is what is computed with: half with -DHALF_MATH, double with -DDOUBLE_MATH, an integer type with -DINT_MATH=long, else float;
 * number the type of numbers among the arguments. Elements are stored as types that options name, such
 * as -DX=half; LOAD(X, p, i) and STORE(X, p, i, v) are the way between. Positions are ints: tensors have less than 2^31
 * elements. */

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#if defined(HALF_MATH)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half real;
typedef float number;
#define TO_REAL(x) convert_half(x)
#elif defined(DOUBLE_MATH)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF /* each operation is rounded, as in the reference */
typedef double real;
typedef double number;
#define TO_REAL(x) convert_double(x)
#elif defined(INT_MATH)
typedef INT_MATH real;
typedef float number;
#define TO_REAL(x) ((real)(x))
#else
typedef float real;
typedef float number;
#define TO_REAL(x) convert_float(x)
#endif

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
#define C uchar
#endif
#ifndef O
#define O float
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

/* Of integers the low bits stay; reals are truncated, and saturated. */
#ifdef INT_MATH
#define TO_INTEGER(type, v) ((type)(v))
#else
#define TO_INTEGER(type, v) convert_##type##_sat(v)
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
#else
static inline real divide(real a, real b)
{
    return a / b;
}

static inline real power(real a, real b)
{
    return b == (real)2 ? a * a : pow(a, b);
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
 * Options say how many there are (-DFOLLOW=2), for each its number where it is known (-DCODE0=1; otherwise an argument
 * has it), and the type of its other operand (-DT0=float). The kernel has FOLLOW_PARAMS behind its own parameters, and
 * stores FOLLOWED(v, i) as element i of the result. The other operand's element is i / step % count, or i where the step
 * is 0. */

static inline int place_of(int i, int step, int count)
{
    return step == 0 ? i : i / step % count;
}

#define FOLLOWER(k)                                                                                             \
    static inline real follower##k(real v, int i, int code, number a, number b, global const T##k *p, int step, int count) \
    {                                                                                                           \
        if (code < GPU_BINARY)                                                                                  \
            return function(code, v, a, b);                                                                     \
        const real other = LOAD(T##k, p, place_of(i, step, count));                                             \
        return code < GPU_SWAPPED ? combine(code, v, other) : combine(code - GPU_SWAPPED, other, v);            \
    }

#define FOLLOWER_PARAMS(k) , int code##k, number a##k, number b##k, global const T##k *p##k, int step##k, int count##k

#ifndef FOLLOW
#define FOLLOW 0
#endif
#ifndef T0
#define T0 float
#endif
#ifndef T1
#define T1 float
#endif
#ifndef T2
#define T2 float
#endif
#ifndef T3
#define T3 float
#endif

#if FOLLOW > 0
FOLLOWER(0)
#ifndef CODE0
#define CODE0 code0
#endif
#define FOLLOWED0(v, i) follower0((v), (i), CODE0, a0, b0, p0, step0, count0)
#endif
#if FOLLOW > 1
FOLLOWER(1)
#ifndef CODE1
#define CODE1 code1
#endif
#define FOLLOWED1(v, i) follower1(FOLLOWED0(v, i), (i), CODE1, a1, b1, p1, step1, count1)
#endif
#if FOLLOW > 2
FOLLOWER(2)
#ifndef CODE2
#define CODE2 code2
#endif
#define FOLLOWED2(v, i) follower2(FOLLOWED1(v, i), (i), CODE2, a2, b2, p2, step2, count2)
#endif

#if FOLLOW > 3
FOLLOWER(3)
#ifndef CODE3
#define CODE3 code3
#endif
#define FOLLOWED3(v, i) follower3(FOLLOWED2(v, i), (i), CODE3, a3, b3, p3, step3, count3)
#endif

#if FOLLOW == 0
#define FOLLOW_PARAMS
#define FOLLOWED(v, i) (v)
#elif FOLLOW == 1
#define FOLLOW_PARAMS FOLLOWER_PARAMS(0)
#define FOLLOWED(v, i) FOLLOWED0(v, i)
#elif FOLLOW == 2
#define FOLLOW_PARAMS FOLLOWER_PARAMS(0) FOLLOWER_PARAMS(1)
#define FOLLOWED(v, i) FOLLOWED1(v, i)
#elif FOLLOW == 3
#define FOLLOW_PARAMS FOLLOWER_PARAMS(0) FOLLOWER_PARAMS(1) FOLLOWER_PARAMS(2)
#define FOLLOWED(v, i) FOLLOWED2(v, i)
#else
#define FOLLOW_PARAMS FOLLOWER_PARAMS(0) FOLLOWER_PARAMS(1) FOLLOWER_PARAMS(2) FOLLOWER_PARAMS(3)
#define FOLLOWED(v, i) FOLLOWED3(v, i)
#endif

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
    for (int axis = w->rank - 1; axis >= 0; axis--) {
        const int before = i / w->dims[axis], at = i - before * w->dims[axis];
        for (int k = 0; k < operands; k++)
            places[k] += at * w->strides[k][axis];
        i = before;
    }
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
