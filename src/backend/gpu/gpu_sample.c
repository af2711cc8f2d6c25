/* SPDX-License-Identifier: Apache-2.0 */
/* GridSample; RoiAlign, RoiPooling and CropAndResize. */
#include "backend/gpu/gpu_index.h"
#include "op/op.h"
#include "op/sampler.h"

static bool are_reals(const struct graph *g, const struct node *n)
{
    return gpu_is_real(node_input(g, n, 0)) && gpu_is_real(node_input(g, n, 1)) && gpu_is_real(node_output(g, n, 0));
}

/* A call of a kernel of kernels/sample.cl up to the number of elements. */
static odlc_status begin(struct gpu_making *m, const char *function, bool has_images, struct gpu_call **call)
{
    const struct gpu_operand out = gpu_output(m, 0);
    struct gpu_operand in[3] = {{.dtype = DT_NONE}};
    const uint32_t inputs = has_images ? 3 : 2;
    for (uint32_t i = 0; i < inputs; i++) {
        m->math =
            i == 1 ? GPU_MATH_DOUBLE : GPU_MATH_FLOAT; /* constant positions keep their type: halves are too few */
        TRY(gpu_input(m, 0, i, &in[i]));
    }
    m->math = GPU_MATH_FLOAT;
    gpu_option_type(m, "X", &in[0]);
    gpu_option_type(m, "Y", &in[1]);
    if (has_images)
        gpu_option_type(m, "Z", &in[2]);
    gpu_option_type(m, "O", &out);
    TRY(gpu_call_begin(m, "sample", function, call));
    for (uint32_t i = 0; i < inputs; i++)
        gpu_arg(m, *call, &in[i]);
    gpu_arg(m, *call, &out);
    gpu_arg_int(*call, (int64_t)shape_count(&out.shape));
    return ODLC_OK;
}

static odlc_status end(struct gpu_making *m, struct gpu_call *call)
{
    const struct gpu_operand out = gpu_output(m, 0);
    return gpu_call_end(m, call, 1, (const size_t[]){shape_count(&out.shape)});
}

/* ---- GridSample ---- */

/* As `sampler` in kernels/sample.cl. */
struct gpu_sampler {
    cl_int axes, in[SPATIAL_MAX], channels, positions, align_corners, nearest, padding;
};

static const char *refuse_grid(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    (void)gpu;
    return are_reals(g, n) ? gpu_refuse_sizes(g, n) : "it samples float32 and float16 images at such positions alone";
}

static odlc_status prepare_grid(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct shape *grid = &node_input(m->scope->graph, n, 1)->type->shape;
    struct sampler s;
    struct gpu_call *call;
    if (sampler_read(&s, n, &node_input(m->scope->graph, n, 0)->type->shape, grid))
        return ODLC_ERR_INVALID;
    struct gpu_sampler args = {.axes = (cl_int)s.axes,
                               .channels = (cl_int)s.channels,
                               .positions = (cl_int)shape_count_range(grid, 1, s.axes + 1),
                               .align_corners = s.align_corners,
                               .nearest = s.nearest,
                               .padding = (cl_int)s.padding};
    for (uint32_t i = 0; i < s.axes; i++)
        args.in[i] = (cl_int)s.in[i];
    TRY(begin(m, "grid", false, &call));
    gpu_arg_bytes(call, &args, sizeof(args));
    return end(m, call);
}

const struct gpu_op gpu_grid = {.refuse = refuse_grid, .prepare = prepare_grid};

/* ---- RoiAlign, RoiPooling, CropAndResize ---- */

/* As `regions` in kernels/sample.cl. */
struct gpu_regions {
    cl_int in[2], out[2], channels, batch;
    cl_float ratio[2];
};

/* False: there is none that regions can be divided by. */
static bool read_ratio(const struct node *n, cl_float ratio[2])
{
    const struct packed_param *p = node_param(n, PARAM_img_size_ratio);
    if (!p || shape_count(p->shape) != 2 || !(p->floats[0] > 0) || !(p->floats[1] > 0))
        return false;
    for (int axis = 0; axis < 2; axis++)
        ratio[axis] = (cl_float)p->floats[axis];
    return true;
}

static const char *refuse_regions(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    cl_float ratio[2];
    const char *reason = gpu_refuse_indices(node_input(g, n, 2));
    (void)gpu;
    if (reason)
        return reason;
    if (!are_reals(g, n))
        return "it takes float32 and float16 images and regions alone";
    return n->op->id == OP_CropAndResize || read_ratio(n, ratio) ? gpu_refuse_sizes(g, n) : "its ratio is not positive";
}

static odlc_status prepare_regions(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const struct shape *x = &node_input(m->scope->graph, n, 0)->type->shape, out = gpu_output(m, 0).shape;
    const bool crops = n->op->id == OP_CropAndResize, aligns = n->op->id == OP_RoiAlign;
    struct gpu_regions r = {.channels = (cl_int)x->dims[3], .batch = (cl_int)x->dims[0]};
    struct gpu_operand fault;
    struct gpu_call *call;
    int number;
    for (int axis = 0; axis < 2; axis++) {
        r.in[axis] = (cl_int)x->dims[axis + 1];
        r.out[axis] = (cl_int)out.dims[axis + 1];
    }
    if (!crops && !read_ratio(n, r.ratio))
        return ODLC_ERR_INVALID;
    TRY(gpu_watch(m, &fault, &number));
    TRY(begin(m, crops ? "crop" : aligns ? "align" : "pool", true, &call));
    gpu_arg_bytes(call, &r, sizeof(r));
    gpu_arg(m, call, &fault);
    gpu_arg_int(call, number);
    if (aligns) {
        gpu_arg_int(call, node_int(n, PARAM_num_samples_y, -1));
        gpu_arg_int(call, node_int(n, PARAM_num_samples_x, -1));
        gpu_arg_int(call, node_int(n, PARAM_aligned, 0) != 0);
    } else if (crops) {
        gpu_arg_int(call, node_int(n, PARAM_interpolation_mode, 0) == 1);
        gpu_arg_number(m, call, node_float(n, PARAM_extrapolation_value, 0));
    }
    return end(m, call);
}

const struct gpu_op gpu_regions = {.refuse = refuse_regions, .prepare = prepare_regions};
