/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_product.h"

#include "backend/gpu/gpu_fixed.h"
#include "kernel/fixed_product.h"
#include "op/op.h"

/* ---- which nodes ---- */

static struct buffer typed(const struct tensor *t)
{
    return (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
}

bool gpu_is_fixed_product(const struct graph *g, const struct node *n)
{
    if (!node_input(g, n, 0) || !node_input(g, n, 1))
        return false;
    const struct buffer in[] = {typed(node_input(g, n, 0)), typed(node_input(g, n, 1))};
    const struct buffer out = typed(node_output(g, n, 0));
    return dtype_is_fixed(in[0].dtype) && fixed_product_is(n, in, &out);
}

/* One that kernels of kernels/fixed.cl read and write. */
static bool has_kernel_type(const struct tensor *t)
{
    const unsigned bits = dtype_value_bits(t->type->dtype);
    return bits == 8 || bits == 16;
}

const char *gpu_refuse_fixed_product(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *w = node_input(g, n, 1), *bias = node_input(g, n, 2);
    if (!gpu->context->device.has_double)
        return "the device has no doubles for fixed point";
    if (!has_kernel_type(x) || !has_kernel_type(node_output(g, n, 0)) ||
        (w->kind != TENSOR_STATIC && !has_kernel_type(w)))
        return "its operands are fixed point of other than 8 or 16 bits";
    if (x->kind == TENSOR_STATIC || (w->kind != TENSOR_STATIC && w->quant->per_axis) ||
        (bias && bias->kind != TENSOR_STATIC))
        return "its left operand is a constant, or weights with several encodings or a bias are none";
    return gpu_refuse_sizes(g, n);
}

static bool is_int(const struct tensor *t)
{
    return t && t->type->dtype == DT_INT32;
}

bool gpu_is_int_product(const struct graph *g, const struct node *n)
{
    return is_int(node_input(g, n, 0)) && is_int(node_input(g, n, 1)) && is_int(node_output(g, n, 0)) &&
           (!node_input(g, n, 2) || is_int(node_input(g, n, 2)));
}

const char *gpu_refuse_product(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    return gpu_is_int_product(g, n) ? gpu_refuse_sizes(g, n) : gpu_refuse_types(gpu, g, n);
}

/* ---- operands ---- */

/* The largest of |q + o|. */
static int64_t largest_of(const struct buffer *b)
{
    int64_t low, high, largest = 0;
    integer_range(b->dtype, &low, &high);
    for (uint32_t i = 0; i < (b->quant->per_axis ? b->quant->count : 1); i++) {
        const int64_t offset = b->quant->encodings[i].offset;
        largest = max_i64(largest, max_i64(high + offset, -(low + offset)));
    }
    return largest;
}

static const struct buffer *operand(const struct gpu_making *m, uint32_t i)
{
    return &m->scope->constants[gpu_node(m, 0)->inputs[i]];
}

enum dtype gpu_product_dtype(const struct gpu_making *m)
{
    return max_i64(largest_of(operand(m, 0)), largest_of(operand(m, 1))) <= INT16_MAX ? DT_INT16 : DT_INT32;
}

enum gpu_math gpu_product_math(const struct gpu_making *m)
{
    const struct shape *y = &m->scope->constants[gpu_node(m, 0)->outputs[0]].shape;
    const uint64_t weights = shape_count(&operand(m, 1)->shape), channels = (uint64_t)y->dims[y->rank - 1];
    const uint64_t terms = weights % channels == 0 ? weights / channels : weights;
    const uint64_t largest = (uint64_t)largest_of(operand(m, 0)) * (uint64_t)largest_of(operand(m, 1));
    return sat_mul(terms, largest) <= INT32_MAX ? GPU_MATH_SHORT_INT : GPU_MATH_INT;
}

/* A call of a kernel of kernels/fixed.cl with options and arithmetic of its own. */
odlc_status gpu_product_input(struct gpu_making *m, const struct gpu_operand *stored, struct gpu_operand *out)
{
    const text options = m->options;
    const size_t count = shape_count(&stored->shape);
    struct gpu_call *call;
    *out = gpu_room(m, gpu_product_dtype(m), &stored->shape);
    m->options = (text){0};
    gpu_option_type(m, "O", out);
    TRY(gpu_call_begin(m, "fixed", "integers", &call));
    m->options = options;
    gpu_arg(m, call, stored);
    gpu_arg_fixed_type(call, stored);
    gpu_arg(m, call, out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, stored->quant->encodings[0].offset);
    return gpu_call_end(m, call, 1, &count);
}

struct gpu_operand gpu_product_sums(struct gpu_making *m, const struct shape *shape)
{
    return gpu_room(m, m->math == GPU_MATH_INT ? DT_INT64 : DT_INT32, shape);
}

/* ---- the formula ---- */

/* What a channel of the result is made by, as in kernels/fixed.cl. */
struct gpu_channel {
    double weight_scale, bias, scale, offset;
};

static odlc_status channels_of(struct gpu_making *m, const struct gpu_operand *result, double *x_scale,
                               struct gpu_operand *out)
{
    const struct node *n = gpu_node(m, 0);
    struct buffer in[3] = {*operand(m, 0), *operand(m, 1)};
    const struct buffer y = {.dtype = result->dtype, .shape = result->shape, .quant = result->quant};
    if (n->n_inputs > 2 && n->inputs[2] != NO_TENSOR)
        in[2] = *operand(m, 2);
    const struct fixed_product p = fixed_product_read(n, in, &y, m->scope->scratch);
    struct gpu_channel *channels = arena_array(m->scope->scratch, struct gpu_channel, p.channels);
    for (uint64_t c = 0; c < p.channels; c++) {
        const struct encoding *e = &p.result->encodings[p.result->per_axis ? c % p.result->count : 0];
        channels[c] =
            (struct gpu_channel){fixed_product_weight(&p, c)->scale, p.bias ? p.bias[c] : 0, e->scale, e->offset};
    }
    *x_scale = p.x_scale;
    *out = (struct gpu_operand){.place = GPU_FIXED, .dtype = DT_FLOAT32};
    return gpu_weights(m, channels, p.channels * sizeof(*channels), &out->buffer);
}

odlc_status gpu_product_result(struct gpu_making *m, const struct gpu_operand *sums, const struct gpu_operand *result)
{
    const size_t count = shape_count(&result->shape);
    struct gpu_operand channels;
    struct gpu_call *call;
    double x_scale;
    TRY(channels_of(m, result, &x_scale, &channels));
    m->math = GPU_MATH_DOUBLE;
    gpu_option_type(m, "X", sums);
    TRY(gpu_call_begin(m, "fixed", "product", &call));
    gpu_arg(m, call, sums);
    gpu_arg(m, call, result);
    gpu_arg_fixed_type(call, result);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, result->shape.dims[result->shape.rank - 1]);
    gpu_arg_number(m, call, x_scale);
    gpu_arg(m, call, &channels);
    return gpu_call_end(m, call, 1, &count);
}
