/* What stands before every kernel: types, loads and stores, functions, followers.
 *
 * real is what is computed with: half with -DHALF_MATH, else float. Elements are stored as types that options name, such
 * as -DX=half; LOAD(X, p, i) and STORE(X, p, i, v) are the way between. Positions are ints: tensors have less than 2^31
 * elements. */

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#ifdef HALF_MATH
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half real;
#define TO_REAL(x) convert_half(x)
#else
typedef float real;
#define TO_REAL(x) convert_float(x)
#endif

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
    return vload_half(i, p);
}

static inline void store_half(global half *p, int i, real v)
{
    vstore_half_rte(v, i, p);
}
#endif

/* ---- functions ---- */

/* Not a number stays it, and so does the sign of a zero. */
static inline real clip(real x, real low, real high)
{
    const real least = x < low ? low : x;
    return least > high ? high : least;
}

static inline real function(int code, real x, float a, float b)
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
        return TO_REAL(0.5f) * x * erfc(-x * TO_REAL(0.70710678f));
    case GPU_SIGMOID:
        return one / (one + exp(-x));
    case GPU_TANH:
        return tanh(x);
    case GPU_EXP:
        return exp(x);
    case GPU_SIGN:
        return x != x ? x : (real)((x > zero) - (x < zero));
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
        return a / b;
    case GPU_MAXIMUM:
        return a > b || a != a ? a : b;
    case GPU_MINIMUM:
        return a < b || a != a ? a : b;
    case GPU_SQUARED_DIFFERENCE:
        return (a - b) * (a - b);
    case GPU_POWER:
        return pow(a, b);
    default: /* GPU_PRELU */
        return a < (real)0 ? a * b : a;
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
    static inline real follower##k(real v, int i, int code, float a, float b, global const T##k *p, int step, int count) \
    {                                                                                                           \
        if (code < GPU_BINARY)                                                                                  \
            return function(code, v, a, b);                                                                     \
        const real other = LOAD(T##k, p, place_of(i, step, count));                                             \
        return code < GPU_SWAPPED ? combine(code, v, other) : combine(code - GPU_SWAPPED, other, v);            \
    }

#define FOLLOWER_PARAMS(k) , int code##k, float a##k, float b##k, global const T##k *p##k, int step##k, int count##k

#ifndef FOLLOW
#define FOLLOW 0
#endif

#if FOLLOW > 0
FOLLOWER(0)
#ifdef CODE0
#define FOLLOWED0(v, i) follower0((v), (i), CODE0, a0, b0, p0, step0, count0)
#else
#define FOLLOWED0(v, i) follower0((v), (i), code0, a0, b0, p0, step0, count0)
#endif
#endif
#if FOLLOW > 1
FOLLOWER(1)
#ifdef CODE1
#define FOLLOWED1(v, i) follower1(FOLLOWED0(v, i), (i), CODE1, a1, b1, p1, step1, count1)
#else
#define FOLLOWED1(v, i) follower1(FOLLOWED0(v, i), (i), code1, a1, b1, p1, step1, count1)
#endif
#endif
#if FOLLOW > 2
FOLLOWER(2)
#ifdef CODE2
#define FOLLOWED2(v, i) follower2(FOLLOWED1(v, i), (i), CODE2, a2, b2, p2, step2, count2)
#else
#define FOLLOWED2(v, i) follower2(FOLLOWED1(v, i), (i), code2, a2, b2, p2, step2, count2)
#endif
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
#else
#define FOLLOW_PARAMS FOLLOWER_PARAMS(0) FOLLOWER_PARAMS(1) FOLLOWER_PARAMS(2)
#define FOLLOWED(v, i) FOLLOWED2(v, i)
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
