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

/* ---- four neighbours at once: p + i must be aligned for them ---- */

#define UNROLL _Pragma("unroll")
#ifdef HALF_MATH
typedef half4 real4;
#define TO_REAL4(x) convert_half4(x)
#else
typedef float4 real4;
#define TO_REAL4(x) convert_float4(x)
#endif

#define LOAD4(type, p, i) PASTE(load4_, type)((p), (i))
#define STORE4(type, p, i, v) PASTE(store4_, type)((p), (i), (v))

static inline real4 load4_float(global const float *p, int i)
{
    return TO_REAL4(*(global const float4 *)(p + i));
}

static inline void store4_float(global float *p, int i, real4 v)
{
    *(global float4 *)(p + i) = convert_float4(v);
}

#ifdef HALF_MATH
static inline real4 load4_half(global const half *p, int i)
{
    return *(global const half4 *)(p + i);
}

static inline void store4_half(global half *p, int i, real4 v)
{
    *(global half4 *)(p + i) = v;
}
#else
static inline real4 load4_half(global const half *p, int i)
{
    return vloada_half4(0, p + i);
}

static inline void store4_half(global half *p, int i, real4 v)
{
    vstorea_half4_rte(v, 0, p + i);
}
#endif

/* ---- windows of convolutions and pools ---- */

/* As struct gpu_window: extents of three spatial axes (missing ones come first and are 1), then elements from a pixel to
 * the next one, from an image to the next one, and of a pixel that a window takes. */
typedef struct {
    int in[3], out[3], filter[3], stride[3], pad[3], dilation[3];
    int pixel, image, depth;
} window;

/* The window that computes result number `at` begins at corner[], which may be outside; gives the place of its first
 * element. A window behind the last image is nowhere. */
static inline int window_corner(const window *w, int at, int images, int corner[3])
{
    const int x = at % w->out[2], y = at / w->out[2] % w->out[1], z = at / (w->out[2] * w->out[1]) % w->out[0];
    const int image = at / (w->out[2] * w->out[1] * w->out[0]);
    corner[0] = image < images ? z * w->stride[0] - w->pad[0] : -(1 << 30);
    corner[1] = y * w->stride[1] - w->pad[1];
    corner[2] = x * w->stride[2] - w->pad[2];
    if (image >= images)
        return 0;
    return image * w->image + ((corner[0] * w->in[1] + corner[1]) * w->in[2] + corner[2]) * w->pixel;
}

/* A position in a window: the tap, and the element of its pixel. */
typedef struct {
    int tap[3], element;
} taps;

static inline taps taps_at(const window *w, int depth)
{
    const int tap = depth / w->depth;
    taps t = {{tap / (w->filter[2] * w->filter[1]), tap / w->filter[2] % w->filter[1], tap % w->filter[2]},
              depth - tap * w->depth};
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

static inline void taps_advance(const window *w, taps *t, int elements)
{
    t->element += elements;
    while (t->element >= w->depth) {
        t->element -= w->depth;
        taps_next(w, t);
    }
}

/* From the place of the window's first element. */
static inline int tap_offset(const window *w, const taps *t)
{
    const int z = t->tap[0] * w->dilation[0], y = t->tap[1] * w->dilation[1], x = t->tap[2] * w->dilation[2];
    return ((z * w->in[1] + y) * w->in[2] + x) * w->pixel + t->element;
}

static inline bool tap_is_inside(const window *w, const taps *t, const int corner[3])
{
    return (uint)(corner[0] + t->tap[0] * w->dilation[0]) < (uint)w->in[0] &&
           (uint)(corner[1] + t->tap[1] * w->dilation[1]) < (uint)w->in[1] &&
           (uint)(corner[2] + t->tap[2] * w->dilation[2]) < (uint)w->in[2];
}

/* ---- products of matrices ---- */

/* As struct gpu_product_shape. */
typedef struct {
    int rows, columns, depth;      /* of one product */
    int x_row, x_step;             /* elements between rows of the left operand, and along its depth */
    int y_column, y_step;          /* between columns of the right one, and along its depth */
    int out_batch, out_row;        /* between products of the result, and its rows */
    int out_size, bias_batch;      /* elements of the result; between the biases of products */
    int parts, part_depth, images; /* into how many parts the depth is cut, and how long they are; images of x */
} product_shape;

