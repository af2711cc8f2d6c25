/* SPDX-License-Identifier: Apache-2.0 */
/* Resize and its relatives. */
#include "backend/gpu/gpu_follow.h"
#include "kernel/resize.h"

/* As `tables` in kernels/resize.cl. */
struct gpu_tables {
    cl_int in[SPATIAL_MAX], out[SPATIAL_MAX], width[SPATIAL_MAX], first[SPATIAL_MAX];
    cl_int channels;
};

/* The tables of all axes, one behind the other. Axes that are not there come last, with one tap. */
struct tables {
    struct gpu_tables taps;
    int64_t count;
    cl_int *indices;
    double *weights;
};

static struct tables tables_of(struct arena *scratch, const struct resize *r)
{
    struct tables t = {.taps = {.channels = (cl_int)r->channels}};
    for (uint32_t i = 0; i < SPATIAL_MAX; i++) {
        t.taps.in[i] = (cl_int)r->in[i];
        t.taps.out[i] = (cl_int)r->out[i];
        t.taps.width[i] = i < r->axes ? (cl_int)r->taps[i].width : 1;
        t.taps.first[i] = (cl_int)t.count;
        t.count += (int64_t)t.taps.out[i] * t.taps.width[i];
    }
    t.indices = arena_array(scratch, cl_int, (size_t)t.count);
    t.weights = arena_array(scratch, double, (size_t)t.count);
    for (uint32_t i = 0; i < SPATIAL_MAX; i++)
        for (int64_t k = 0; k < (int64_t)t.taps.out[i] * t.taps.width[i]; k++) {
            t.indices[t.taps.first[i] + k] = i < r->axes ? (cl_int)r->taps[i].index[k] : 0;
            t.weights[t.taps.first[i] + k] = i < r->axes ? r->taps[i].weight[k] : 1;
        }
    return t;
}

/* As `number` in the kernel. */
static odlc_status give_weights(struct gpu_making *m, const struct tables *t, struct gpu_operand *out)
{
    const enum dtype dtype = m->math == GPU_MATH_DOUBLE ? DT_FLOAT64 : DT_FLOAT32;
    void *numbers = arena_calloc(m->scope->scratch, (size_t)t->count, dtype_size(dtype));
    convert_elements(numbers, dtype, t->weights, DT_FLOAT64, (size_t)t->count);
    *out = (struct gpu_operand){.place = GPU_FIXED, .dtype = dtype};
    return gpu_weights(m, numbers, (uint64_t)t->count * dtype_size(dtype), &out->buffer);
}

static odlc_status prepare(struct gpu_making *m)
{
    const struct gpu_operand out = gpu_output(m, 0);
    const size_t count = shape_count(&out.shape);
    struct gpu_operand x, weights, indices = {.place = GPU_FIXED, .dtype = DT_INT32};
    struct gpu_chain chain = {.count = 0};
    struct gpu_call *call;
    struct resize r;
    TRY(gpu_input(m, 0, 0, &x));
    TRY(gpu_chain_read(m, 1, 0, &chain));
    TRY(resize_read(m->scope->scratch, gpu_node(m, 0), &x.shape, &out.shape, &r));
    const struct tables t = tables_of(m->scope->scratch, &r);
    if (r.nearest && chain.count == 0 && m->math == GPU_MATH_REAL)
        m->math = GPU_MATH_FLOAT;
    TRY(gpu_weights(m, t.indices, (uint64_t)t.count * sizeof(cl_int), &indices.buffer));
    TRY(give_weights(m, &t, &weights));
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "O", &out);
    gpu_chain_options(m, &chain);
    TRY(gpu_call_begin(m, "resize", r.nearest ? "resize_nearest" : "resize", &call));
    gpu_arg(m, call, &x);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg(m, call, &indices);
    if (!r.nearest)
        gpu_arg(m, call, &weights);
    gpu_arg_bytes(call, &t.taps, sizeof(t.taps));
    gpu_chain_args(m, call, &chain);
    return gpu_call_end(m, call, 1, &count);
}

const struct gpu_op gpu_resize = {.refuse = gpu_refuse_types, .prepare = prepare, .fuses = true};
