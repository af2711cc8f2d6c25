/* SPDX-License-Identifier: Apache-2.0 */
/* User-defined ops: nodes whose kernels are those of packages (runtime/device_ops.h). */
#include <CL/cl.h>
#include <limits.h>

#include "backend/gpu/gpu_fixed.h"
#include "backend/gpu/gpu_package.h"
#include "backend/gpu/gpu_walk.h"
#include "op/op.h"

static const char *refuse(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct device_ops *ops = gpu->scope->device_ops;
    const char *reason = ops ? ops->refuse(gpu->scope, n) : "there is no kernel for the op";
    for (uint32_t i = 0; !reason && i < n->n_inputs + n->n_outputs; i++) {
        const struct tensor *t = i < n->n_inputs ? node_input(g, n, i) : node_output(g, n, i - n->n_inputs);
        if (t && t->type->dtype == DT_STRING)
            reason = "it takes no tensors of strings";
    }
    return reason ? reason : gpu_refuse_sizes(g, n);
}

static bool takes_raw(const struct graph *g, const struct node *n)
{
    (void)g, (void)n;
    return true;
}

/* ---- operands ---- */

/* Elements of x become those of y, each of a type of reals. */
static odlc_status move_reals(struct gpu_making *m, const struct gpu_operand *x, const struct gpu_operand *y)
{
    const struct shape flat = SHAPE((int64_t)shape_count(&x->shape));
    int64_t strides[2][MAX_RANK] = {{1}, {1}};
    const struct gpu_walk walk = gpu_walk_over(&flat, 2, strides);
    gpu_move_math(m, x);
    return gpu_move(m, x, y, &walk);
}

static odlc_status no_way(const struct gpu_making *m, const struct gpu_operand *x, enum dtype wanted)
{
    return diag_error(m->scope->diags, ODLC_ERR_UNSUPPORTED, AT(.node = m->step->node->name), "package-op-types",
                      "the package takes a tensor as %s, and on this device that cannot be had of %s",
                      dtype_info(wanted)->display, dtype_info(x->dtype)->display);
}

/* Fixed-point elements are converted by doubles, with one encoding a tensor. */
static bool is_convertible(const struct gpu_making *m, const struct gpu_operand *x)
{
    return !dtype_is_fixed(x->dtype) || (m->gpu->context->device.has_double && dtype_size(x->dtype) <= 2 &&
                                         dtype_value_bits(x->dtype) >= 8 && x->quant && !x->quant->per_axis);
}

static odlc_status convert(struct gpu_making *m, const struct gpu_operand *x, const struct gpu_operand *y)
{
    const bool from_fixed = dtype_is_fixed(x->dtype), to_fixed = dtype_is_fixed(y->dtype);
    if (!from_fixed && !to_fixed)
        return move_reals(m, x, y);
    const struct gpu_operand *fixed = from_fixed ? x : y, *reals = from_fixed ? y : x;
    struct gpu_operand wide = *reals;
    if (!is_convertible(m, fixed))
        return no_way(m, fixed, reals->dtype);
    if (reals->dtype != DT_FLOAT32)
        wide = gpu_room(m, DT_FLOAT32, &reals->shape);
    if (!from_fixed && wide.dtype != reals->dtype)
        TRY(move_reals(m, reals, &wide));
    TRY(from_fixed ? gpu_to_reals(m, fixed, &wide) : gpu_from_reals(m, &wide, fixed));
    return from_fixed && wide.dtype != reals->dtype ? move_reals(m, &wide, reals) : ODLC_OK;
}

static odlc_status upload(struct gpu_making *m, const struct buffer *b, struct gpu_operand *out)
{
    *out = (struct gpu_operand){.place = GPU_FIXED, .dtype = b->dtype, .shape = b->shape, .quant = b->quant};
    if (b->dtype == DT_NONE || shape_count(&b->shape) == 0)
        return ODLC_OK;
    return gpu_weights(m, b->data, shape_count(&b->shape) * dtype_size(b->dtype), &out->buffer);
}

static odlc_status take_input(struct gpu_making *m, const struct device_op *op, uint32_t i, struct gpu_operand *out)
{
    const struct buffer *wanted = &op->inputs[i];
    struct gpu_operand stored;
    if (wanted->dtype == DT_NONE || wanted->data)
        return upload(m, wanted, out);
    TRY(gpu_input(m, 0, i, &stored));
    *out = stored.dtype == wanted->dtype ? stored : gpu_room(m, wanted->dtype, &stored.shape);
    return stored.dtype == wanted->dtype ? ODLC_OK : convert(m, &stored, out);
}

static struct gpu_operand take_output(struct gpu_making *m, const struct device_op *op, uint32_t i)
{
    const struct gpu_operand stored = gpu_output(m, i);
    const enum dtype wanted = op->outputs[i].dtype;
    return stored.dtype == wanted || stored.dtype == DT_NONE ? stored : gpu_room(m, wanted, &stored.shape);
}

/* ---- kernels ---- */

/* A node's operands as its kernels take them. */
struct operands {
    const struct device_op *op;
    struct gpu_operand *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
};

/* A call of a package's kernel, which is looked at when it is built. */
struct package_call {
    const struct device_op *op;
    const struct device_kernel *kernel;
    const struct node *node;
};

static odlc_status bad_kernel(const struct gpu *gpu, const struct gpu_call *call, const char *format, ...)
    PRINTF_LIKE(3, 4);

static odlc_status bad_kernel(const struct gpu *gpu, const struct gpu_call *call, const char *format, ...)
{
    const struct package_call *p = call->object;
    va_list args;
    va_start(args, format);
    const char *what = arena_vprintf(gpu->diags->arena, format, args);
    va_end(args);
    return diag_error(gpu->diags, ODLC_ERR_INVALID, AT(.file = p->op->library, .node = p->node->name),
                      "package-op-kernels", "op %s of package %s: %s", p->node->op->name, p->op->package, what);
}

static odlc_status add_arg(struct gpu_making *m, struct gpu_call *call, const struct operands *o,
                           const struct device_arg *arg)
{
    static const struct gpu_operand absent = {.place = GPU_FIXED, .dtype = DT_NONE};
    struct gpu_operand param;
    switch (arg->kind) {
    case DEVICE_ARG_INPUT:
        gpu_arg(m, call, arg->index < o->n_inputs ? &o->inputs[arg->index] : &absent);
        return ODLC_OK;
    case DEVICE_ARG_OUTPUT:
        gpu_arg(m, call, arg->index < o->n_outputs ? &o->outputs[arg->index] : &absent);
        return ODLC_OK;
    case DEVICE_ARG_PARAM:
        TRY(upload(m, &o->op->params[arg->index], &param));
        gpu_arg(m, call, &param);
        return ODLC_OK;
    case DEVICE_ARG_LOCAL:
        gpu_arg_local(call, arg->size);
        return ODLC_OK;
    case DEVICE_ARG_NUMBER:
        gpu_arg_bytes(call, arg->bytes, arg->size);
    }
    return ODLC_OK;
}

/* What is to be set later is tried now. */
static void try_bindings(struct gpu_call *call)
{
    for (size_t i = 0; i < call->bindings.count; i++) {
        const cl_uint index = call->bindings.data[i].index;
        const cl_int error = clSetKernelArg(call->kernel, index, sizeof(cl_mem), NULL);
        if (error == CL_SUCCESS || (call->error != CL_SUCCESS && call->refused < index))
            continue;
        call->error = error;
        call->refused = index;
    }
}

static odlc_status check_args(const struct gpu *gpu, struct gpu_call *call, const struct device_kernel *k)
{
    cl_uint count = 0;
    TRY(gpu_check(gpu, call->name, clGetKernelInfo(call->kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL)));
    if (count != k->n_args)
        return bad_kernel(gpu, call, "kernel %s has %u parameters, and is given %u arguments", k->name, count,
                          k->n_args);
    try_bindings(call);
    return call->error == CL_SUCCESS
               ? ODLC_OK
               : bad_kernel(gpu, call, "argument %u of kernel %s does not fit its parameter: %s", call->refused,
                            k->name, gpu_error_text(gpu->diags->arena, call->error));
}

/* The largest divisor that is at most so many: kernels of packages need not look whether they have something to do. */
static size_t divisor(size_t count, size_t most)
{
    size_t found = most < count ? most : count;
    while (count % found)
        found--;
    return found;
}

static odlc_status choose_group(const struct gpu *gpu, const struct gpu_call *call, const struct device_kernel *k,
                                size_t group[3])
{
    const struct gpu_device *d = &gpu->context->device;
    size_t written[3] = {0}, most = d->max_group, total = 1;
    (void)clGetKernelWorkGroupInfo(call->kernel, d->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(written), written,
                                   NULL);
    (void)clGetKernelWorkGroupInfo(call->kernel, d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, NULL);
    gpu_group_size(gpu, call, k->dims, k->global, group);
    for (uint32_t i = 0; i < k->dims; i++) {
        size_t room = most / total ? most / total : 1;
        room = room < d->max_items[i] ? room : d->max_items[i];
        group[i] = k->local[i]  ? k->local[i]
                   : written[0] ? written[i]
                                : divisor(k->global[i], group[i] < room ? group[i] : room);
        if (written[0] && group[i] != written[i])
            return bad_kernel(gpu, call,
                              "kernel %s is written for groups of %zu work-items along dimension %u, and gets %zu",
                              k->name, written[i], i, group[i]);
        if (k->global[i] % group[i])
            return bad_kernel(gpu, call,
                              "kernel %s has %zu work-items along dimension %u, which groups of %zu do not divide",
                              k->name, k->global[i], i, group[i]);
        if (group[i] > room)
            return bad_kernel(gpu, call, "the groups of kernel %s have more work-items than device %s allows", k->name,
                              d->name);
        total *= group[i];
    }
    return ODLC_OK;
}

static odlc_status finish(const struct gpu *gpu, struct gpu_call *call)
{
    const struct package_call *p = call->object;
    size_t group[3] = {1, 1, 1};
    TRY(check_args(gpu, call, p->kernel));
    TRY(choose_group(gpu, call, p->kernel, group));
    gpu_call_size(call, p->kernel->dims, p->kernel->global, group);
    return ODLC_OK;
}

static odlc_status add_kernel(struct gpu_making *m, const struct operands *o, const struct device_kernel *k)
{
    struct arena *arena = m->scope->arena;
    struct package_call *p = arena_new(arena, struct package_call);
    const struct gpu_source *source;
    struct gpu_call *call;
    TRY(gpu_package_source(m->gpu->context, o->op, k->source, &source));
    TRY(gpu_call_add(m, source, k->name, k->options, arena_printf(arena, "%s.%s", o->op->package, k->name), &call));
    *p = (struct package_call){o->op, k, m->step->node};
    call->finish = finish;
    call->object = p;
    for (uint32_t i = 0; i < k->n_args; i++)
        TRY(add_arg(m, call, o, &k->args[i]));
    return ODLC_OK;
}

static odlc_status prepare(struct gpu_making *m)
{
    const struct node *n = gpu_node(m, 0);
    struct arena *scratch = m->scope->scratch;
    struct device_op *op;
    TRY(m->scope->device_ops->create(m->scope, n, &op));
    const struct operands o = {.op = op,
                               .inputs = arena_array(scratch, struct gpu_operand, n->n_inputs),
                               .outputs = arena_array(scratch, struct gpu_operand, n->n_outputs),
                               .n_inputs = n->n_inputs,
                               .n_outputs = n->n_outputs};
    for (uint32_t i = 0; i < n->n_inputs; i++)
        TRY(take_input(m, op, i, &o.inputs[i]));
    for (uint32_t i = 0; i < n->n_outputs; i++)
        o.outputs[i] = take_output(m, op, i);
    for (uint32_t i = 0; i < op->n_kernels; i++)
        TRY(add_kernel(m, &o, &op->kernels[i]));
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct gpu_operand stored = gpu_output(m, i);
        if (stored.dtype != o.outputs[i].dtype)
            TRY(convert(m, &o.outputs[i], &stored));
    }
    return ODLC_OK;
}

const struct gpu_op gpu_udo = {.refuse = refuse, .prepare = prepare, .is_raw = takes_raw};
