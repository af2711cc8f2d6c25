/* SPDX-License-Identifier: Apache-2.0 */
/* Norms: the mean over some axes is subtracted, the rest divided by the deviation over the same axes, then weights and
 * biases of other axes take part. */
#include <string.h>

#include "backend/gpu/gpu_follow.h"
#include "backend/gpu/gpu_lines.h"
#include "op/axes.h"
#include "op/op.h"

struct norm {
    struct shape space;   /* the input, its axes grouped as needed */
    uint32_t axes;        /* statistics are taken over these */
    uint32_t weight_axes; /* weights and biases vary along these */
    bool centers, scales; /* the mean is subtracted; the deviation divides */
    bool floors;          /* by sqrt(max(sum of squares, epsilon)), not sqrt(mean of squares + epsilon) */
    double epsilon;
};

/* ---- the operators ---- */

/* [batch, places, channels] */
static struct shape places_by_channel(const struct shape *shape)
{
    const int64_t places = (int64_t)shape_count_range(shape, 1, shape->rank - 1);
    return SHAPE(shape->dims[0], places, shape->dims[shape->rank - 1]);
}

static bool read_instance_norm(const struct node *n, struct norm *norm)
{
    static const uint32_t axes_of_region[] = {1U << 1, 1U << 2, 1U << 1 | 1U << 2};
    const int64_t region = node_int(n, PARAM_region, 0);
    if (region < 0 || region >= (int64_t)COUNT_OF(axes_of_region))
        return false;
    norm->space = places_by_channel(&norm->space);
    norm->axes = axes_of_region[region];
    norm->weight_axes = 1U << 2;
    norm->centers = node_int(n, PARAM_mode, 0) == 0;
    norm->scales = node_int(n, PARAM_normalize_variance, 1) != 0;
    return true;
}

static bool read_group_norm(const struct node *n, struct norm *norm)
{
    const struct shape flat = places_by_channel(&norm->space);
    const int64_t groups = node_int(n, PARAM_group, 0);
    if (groups <= 0 || flat.dims[2] % groups != 0)
        return false;
    norm->space = SHAPE(flat.dims[0], flat.dims[1], groups, flat.dims[2] / groups);
    norm->axes = 1U << 1 | 1U << 3;
    norm->weight_axes = 1U << 2 | 1U << 3;
    return true;
}

/* False: params do not fit. */
static bool read_norm(const struct node *n, const struct shape *x, struct norm *norm)
{
    *norm = (struct norm){.space = *x, .centers = true, .scales = true, .epsilon = node_float(n, PARAM_epsilon, 0)};
    switch (n->op->id) {
    case OP_InstanceNorm:
        return x->rank >= 2 && read_instance_norm(n, norm);
    case OP_GroupNorm:
        return x->rank >= 2 && read_group_norm(n, norm);
    case OP_L2Norm:
        norm->centers = false;
        norm->floors = true;
        return node_axes_or_axis(n, x->rank, &norm->axes);
    default:
        norm->centers = n->op->id == OP_LayerNorm;
        if (!node_axes(n, x->rank, &norm->axes))
            return false;
        norm->weight_axes = norm->axes;
        return true;
    }
}

/* Row-major strides over the axes of the mask, 0 along the others. */
static void strides_over(const struct shape *space, uint32_t axes, int64_t strides[MAX_RANK])
{
    int64_t stride = 1;
    for (uint32_t axis = space->rank; axis-- > 0;) {
        const bool varies = axes >> axis & 1;
        strides[axis] = varies ? stride : 0;
        stride *= varies ? space->dims[axis] : 1;
    }
}

/* ---- calls ---- */

/* As `norming` in kernels/reduce.cl, whose epsilon is a float or a double: of the former, the last bytes are not
 * there. */
struct gpu_norming {
    cl_int centers, scales, floors, unused;
    cl_double epsilon;
};

static void add_norming(struct gpu_making *m, struct gpu_call *call, const struct norm *norm)
{
    const cl_float narrow = (cl_float)norm->epsilon;
    struct gpu_norming args = {norm->centers, norm->scales, norm->floors, 0, norm->epsilon};
    const bool is_wide = m->math == GPU_MATH_DOUBLE;
    if (!is_wide)
        memcpy(&args.unused, &narrow, sizeof(narrow));
    gpu_arg_bytes(call, &args, is_wide ? sizeof(args) : offsetof(struct gpu_norming, epsilon));
}

/* What a norm reads and writes. */
struct operands {
    struct gpu_operand in[3], out;
    struct gpu_chain chain;
};

static void add_types(struct gpu_making *m, const struct operands *o)
{
    gpu_option_type(m, "X", &o->in[0]);
    gpu_option_type(m, "Y", &o->in[1]);
    gpu_option_type(m, "B", &o->in[2]);
    gpu_option_type(m, "O", &o->out);
    gpu_chain_options(m, &o->chain);
}

/* ---- in two kernels: statistics of each line, then each element by those of its line ---- */

static odlc_status take_statistics(struct gpu_making *m, const struct norm *norm, const struct gpu_operand *x,
                                   struct gpu_operand statistics[2])
{
    const struct gpu_lines lines = gpu_lines_along(m, &norm->space, norm->axes);
    const enum dtype dtype = m->math == GPU_MATH_DOUBLE ? DT_FLOAT64 : DT_FLOAT32;
    struct gpu_call *call;
    for (int i = 0; i < 2; i++)
        statistics[i] = gpu_room(m, dtype, &SHAPE(lines.lines));
    gpu_option_type(m, "X", x);
    gpu_option_type(m, "S", &statistics[0]);
    TRY(gpu_lines_begin(m, &lines, "statistics", (const struct gpu_operand *const[]){x, &statistics[0], &statistics[1]},
                        3, &call));
    add_norming(m, call, norm);
    gpu_lines_walks(call, &lines);
    return gpu_lines_end(m, call, &lines);
}

static odlc_status apply(struct gpu_making *m, const struct norm *norm, const struct operands *o,
                         const struct gpu_operand statistics[2], const int64_t *weights)
{
    const size_t count = shape_count(&o->out.shape);
    int64_t strides[2][MAX_RANK];
    struct gpu_call *call;
    strides_over(&norm->space, ~norm->axes, strides[0]);
    memcpy(strides[1], weights, sizeof(strides[1]));
    const struct gpu_walk walk = gpu_walk_over(&norm->space, 2, strides);
    add_types(m, o);
    gpu_option_type(m, "S", &statistics[0]);
    TRY(gpu_call_begin(m, "reduce", "apply", &call));
    gpu_arg(m, call, &o->in[0]);
    gpu_arg(m, call, &statistics[0]);
    gpu_arg(m, call, &statistics[1]);
    gpu_arg(m, call, &o->in[1]);
    gpu_arg(m, call, &o->in[2]);
    gpu_arg(m, call, &o->out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, o->in[1].dtype != DT_NONE);
    gpu_arg_int(call, o->in[2].dtype != DT_NONE);
    gpu_arg_bytes(call, &walk, sizeof(walk));
    gpu_chain_args(m, call, &o->chain);
    return gpu_call_end(m, call, 1, &count);
}

/* ---- in one kernel: of runs, when lines keep the device busy, and of few elements, which launches cost more than ----
 */

enum { MANY_LINES = 64, FEW_ELEMENTS = 1 << 18 };

static bool is_one_kernel(const struct gpu_lines *l)
{
    return (gpu_lines_are_runs(l) && l->lines >= MANY_LINES) || l->lines * l->count <= FEW_ELEMENTS;
}

static odlc_status normalize(struct gpu_making *m, const struct norm *norm, const struct operands *o,
                             const struct gpu_lines *lines)
{
    struct gpu_call *call;
    add_types(m, o);
    TRY(gpu_lines_begin(m, lines, "norm", (const struct gpu_operand *const[]){&o->in[0], &o->in[1], &o->in[2], &o->out},
                        4, &call));
    add_norming(m, call, norm);
    gpu_arg_int(call, o->in[1].dtype != DT_NONE);
    gpu_arg_int(call, o->in[2].dtype != DT_NONE);
    gpu_lines_walks(call, lines);
    gpu_chain_args(m, call, &o->chain);
    return gpu_lines_end(m, call, lines);
}

static odlc_status prepare(struct gpu_making *m)
{
    struct operands o = {.out = gpu_output(m, 0)};
    struct gpu_operand statistics[2];
    int64_t weights[MAX_RANK];
    struct norm norm;
    if (m->math == GPU_MATH_REAL)
        m->math = GPU_MATH_FLOAT;
    for (uint32_t i = 0; i < 3; i++)
        TRY(gpu_input(m, 0, i, &o.in[i]));
    TRY(gpu_chain_read(m, 1, 0, &o.chain));
    if (!read_norm(gpu_node(m, 0), &o.in[0].shape, &norm))
        return ODLC_ERR_INVALID;
    strides_over(&norm.space, norm.weight_axes, weights);
    const struct gpu_lines lines = gpu_lines_with(m, &norm.space, norm.axes, weights);
    if (is_one_kernel(&lines))
        return normalize(m, &norm, &o, &lines);
    TRY(take_statistics(m, &norm, &o.in[0], statistics));
    return apply(m, &norm, &o, statistics, weights);
}

static const char *refuse(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    struct norm norm;
    return read_norm(n, &node_input(g, n, 0)->type->shape, &norm) ? gpu_refuse_types(gpu, g, n)
                                                                  : "its params do not fit the input";
}

const struct gpu_op gpu_norm = {.refuse = refuse, .prepare = prepare, .fuses = true};
