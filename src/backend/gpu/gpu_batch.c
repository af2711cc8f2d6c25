/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of images as elements of the batch, and back; patches of images, and back. Outside of an image is 0. */
#include "backend/gpu/gpu_walk.h"
#include "backend/gpu/gpu_window.h"
#include "kernel/move.h"
#include "op/batches.h"
#include "op/op.h"

/* The zero as the input stores it. */
static odlc_status zero_of(struct gpu_making *m, const struct gpu_operand *x, struct gpu_operand *out)
{
    const struct buffer like = {.dtype = x->dtype, .quant = x->quant};
    uint64_t element = 0;
    param_element(&like, NULL, 0, &element);
    *out = (struct gpu_operand){.place = GPU_FIXED, .dtype = x->dtype};
    return gpu_weights(m, &element, dtype_size(x->dtype), &out->buffer);
}

/* A call of a kernel of kernels/move.cl up to the zero, for each element of the result. */
static odlc_status begin(struct gpu_making *m, const char *function, bool has_zero, struct gpu_call **call)
{
    const struct gpu_operand out = gpu_output(m, 0);
    struct gpu_operand x, zero;
    TRY(gpu_input(m, 0, 0, &x));
    TRY(zero_of(m, &x, &zero));
    gpu_move_types(m, &x, &out);
    TRY(gpu_call_begin(m, "move", function, call));
    gpu_arg(m, *call, &x);
    gpu_arg(m, *call, &out);
    gpu_arg_int(*call, (int64_t)shape_count(&out.shape));
    if (has_zero)
        gpu_arg(m, *call, &zero);
    return ODLC_OK;
}

static odlc_status end(struct gpu_making *m, struct gpu_call *call)
{
    const struct gpu_operand out = gpu_output(m, 0);
    return gpu_call_end(m, call, 1, (const size_t[]){shape_count(&out.shape)});
}

/* ---- SpaceToBatch, BatchToSpace ---- */

/* As `batches` in kernels/move.cl. */
struct gpu_batches {
    cl_int batch, depth, block[2], in[2], before[2], along[2];
};

static const char *read_batches(struct batches *b, const struct node *n, const struct shape *x)
{
    return n->op->id == OP_SpaceToBatch ? batches_read_space(b, n, x) : batches_read_batch(b, n, x);
}

static const char *refuse_batches(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    struct batches b;
    return read_batches(&b, n, &node_input(g, n, 0)->type->shape) ? "its params do not fit the input"
                                                                  : gpu_refuse_move(gpu, g, n);
}

static odlc_status prepare_batches(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    const bool to_batch = n->op->id == OP_SpaceToBatch;
    struct batches b;
    struct gpu_call *call;
    if (read_batches(&b, n, &node_input(m->scope->graph, n, 0)->type->shape))
        return ODLC_ERR_INVALID;
    struct gpu_batches args = {.batch = (cl_int)b.batch, .depth = (cl_int)b.depth};
    for (int i = 0; i < 2; i++) {
        args.block[i] = (cl_int)b.block[i];
        args.in[i] = (cl_int)b.in[i];
        args.before[i] = (cl_int)b.before[i];
        args.along[i] = (cl_int)batches_along(&b, i);
    }
    TRY(begin(m, to_batch ? "to_batch" : "from_batch", to_batch, &call));
    gpu_arg_bytes(call, &args, sizeof(args));
    return end(m, call);
}

const struct gpu_op gpu_batches = {.refuse = refuse_batches, .prepare = prepare_batches, .is_raw = gpu_moves_raw};

/* ---- ExtractPatches ---- */

static const char *refuse_patches(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    struct window w;
    return window_read_patches(&w, n, &node_input(g, n, 0)->type->shape) ? "its params do not fit the input"
                                                                         : gpu_refuse_move(gpu, g, n);
}

/* The function takes a window behind what begin gives. */
static odlc_status prepare_window(struct gpu_making *m, const char *function, bool has_zero, const struct window *w)
{
    const struct gpu_window window = gpu_window_of(w);
    struct gpu_call *call;
    TRY(begin(m, function, has_zero, &call));
    gpu_arg_bytes(call, &window, sizeof(window));
    return end(m, call);
}

static odlc_status prepare_patches(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    struct window w;
    if (window_read_patches(&w, n, &node_input(m->scope->graph, n, 0)->type->shape))
        return ODLC_ERR_INVALID;
    return prepare_window(m, "patches", true, &w);
}

const struct gpu_op gpu_patches = {.refuse = refuse_patches, .prepare = prepare_patches, .is_raw = gpu_moves_raw};

/* ---- Col2Im ---- */

static const char *read_image(struct window *w, const struct graph *g, const struct node *n)
{
    return window_read_col2im(w, n, &node_input(g, n, 0)->type->shape, &node_output(g, n, 0)->type->shape);
}

/* Sums of integers are such, those of fixed-point elements are reals. */
static bool is_of_numbers(const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0);
    return !dtype_is_fixed(x->type->dtype) && gpu_is_number(x) && gpu_moves_raw(g, n);
}

static const char *refuse_image(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    struct window w;
    if (read_image(&w, g, n))
        return "its params do not fit the input";
    return is_of_numbers(g, n) ? gpu_refuse_sizes(g, n) : gpu_refuse_types(gpu, g, n);
}

static odlc_status prepare_image(struct gpu_making *m)
{
    struct window w;
    if (read_image(&w, m->scope->graph, gpu_node(m, 0)))
        return ODLC_ERR_INVALID;
    return prepare_window(m, "image", false, &w);
}

const struct gpu_op gpu_image = {.refuse = refuse_image, .prepare = prepare_image, .is_raw = is_of_numbers};
