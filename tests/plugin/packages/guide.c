/* SPDX-License-Identifier: Apache-2.0 */
/* The examples of the published guide: kernels by predicate, rewriting before and behind tiling, tiles of heights and
 * of channels, precomputation, costs, slices. */
#define PACKAGE Guide
#define OPS(OP)             \
    OP(Asin, 0, 1, 1)       \
    OP(Relu, 0, 1, 1)       \
    OP(ReluMinMax, 0, 3, 1) \
    OP(Clip6, 0, 1, 1)      \
    OP(Highest, 0, 1, 1)    \
    OP(Scale, 0, 2, 1)      \
    OP(Square, 0, 1, 1)     \
    OP(Affine, 2, 1, 1)     \
    OP(Negate, 0, 1, 1)     \
    OP(Weigh, 0, 1, 1)      \
    OP(SumDiff, 0, 2, 2)
#include <float.h>
#include <math.h>

#include "package.h"

static const QHPI_Tensor_Signature_v1 floats[3] = {SIGNATURE(Float32), SIGNATURE(Float32), SIGNATURE(Float32)};
static const QHPI_Tensor_Signature_v1 bytes[1] = {SIGNATURE(QUInt8)};

static float cost_by_size(const uint32_t num_inputs, const QHPI_Tensor *const *inputs)
{
    (void)num_inputs;
    return 100.0f + (float)count_of(inputs[0]);
}

/* ---- Asin: kernels by type and predicate ---- */

EXECUTE(asin_floats)
{
    const float *x = qhpi_tensor_raw_data(inputs[0]);
    float *y = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    for (uint64_t i = 0; i < count_of(outputs[0]); i++)
        y[i] = asinf(x[i]);
    return QHPI_Success;
}

EXECUTE(asin_bytes)
{
    const QHPI_Quant_Parameters in = qhpi_tensor_quant_parameters(inputs[0]),
                                out = qhpi_tensor_quant_parameters(outputs[0]);
    const uint8_t *x = qhpi_tensor_raw_data(inputs[0]);
    uint8_t *y = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    for (uint64_t i = 0; i < count_of(outputs[0]); i++) {
        const float real = asinf((float)(x[i] - in.zero_offset) * in.stepsize);
        const float stored = rintf(real / out.stepsize) + (float)out.zero_offset;
        y[i] = (uint8_t)(stored < 0 ? 0 : stored > 255 ? 255 : stored);
    }
    return QHPI_Success;
}

static uint32_t is_quantized(const QHPI_Op *op, const uint32_t num_inputs, const QHPI_Tensor *const *inputs)
{
    (void)op, (void)num_inputs;
    return qhpi_tensor_quant_parameters(inputs[0]).stepsize != 0.0f;
}

static uint32_t is_deep(const QHPI_Op *op, const uint32_t num_inputs, const QHPI_Tensor *const *inputs)
{
    (void)op, (void)num_inputs;
    return qhpi_tensor_shape(inputs[0]).dims[3] % 32 == 0;
}

static const QHPI_Kernel_v1 asin_kernels[] = {
    {.function_name = "Guide::asin_bytes",
     .function = asin_bytes,
     .resources = QHPI_RESOURCE_HVX,
     .min_inputs = 1,
     .input_signature = bytes,
     .min_outputs = 1,
     .output_signature = bytes,
     .predicate = is_quantized},
    {.function_name = "Guide::asin_deep",
     .function = asin_floats,
     .resources = QHPI_RESOURCE_HVX,
     .min_inputs = 1,
     .input_signature = floats,
     .min_outputs = 1,
     .output_signature = floats,
     .cost_function = cost_by_size,
     .predicate = is_deep},
    {.function_name = "Guide::asin_any",
     .function = asin_floats,
     .min_inputs = 1,
     .input_signature = floats,
     .min_outputs = 1,
     .output_signature = floats},
};

/* ---- Relu: becomes ReluMinMax before tiling ---- */

static QHPI_OpRef number(const QHPI_Op *root, float value)
{
    const QHPI_OutputDef out = {QHPI_Float32, {0, 0.0f}, {4, {1, 1, 1, 1}}};
    return qhpi_op_reference(qhpi_op_create_constant(root, &out, sizeof value, &value), 0);
}

static const QHPI_Op *rewrite_relu(const QHPI_Op *op)
{
    const QHPI_OutputDef out = qhpi_op_output(op, 0);
    const QHPI_OpRef inputs[] = {qhpi_op_input(op, 0), number(op, 0.0f), number(op, FLT_MAX)};
    return qhpi_op_create(op, "Guide::ReluMinMax", 3, inputs, 1, &out);
}

/* The operator of the host. */
static const QHPI_Op *rewrite_clip(const QHPI_Op *op)
{
    const QHPI_OutputDef out = qhpi_op_output(op, 0);
    const QHPI_OpRef inputs[] = {qhpi_op_input(op, 0), number(op, 0.0f), number(op, 6.0f)};
    return qhpi_op_create(op, "ReluMinMax", 3, inputs, 1, &out);
}

EXECUTE(relu_min_max)
{
    const uint64_t count = count_of(outputs[0]), end = share_end(handle, count);
    const float *x = qhpi_tensor_raw_data(inputs[0]), least = *(const float *)qhpi_tensor_raw_data(inputs[1]),
                most = *(const float *)qhpi_tensor_raw_data(inputs[2]);
    float *y = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    for (uint64_t i = share_begin(handle, count); i < end; i++)
        y[i] = x[i] < least ? least : x[i] > most ? most : x[i];
    return QHPI_Success;
}

static const QHPI_Kernel_v1 relu_min_max_kernels[] = {
    {.function_name = "Guide::relu_min_max",
     .function = relu_min_max,
     .resources = QHPI_RESOURCE_HVX,
     .source_destructive = true,
     .multithreaded = true,
     .min_inputs = 3,
     .input_signature = floats,
     .min_outputs = 1,
     .output_signature = floats,
     .cost_function = cost_by_size},
};

/* ---- Highest: of three rows; a tile needs two more rows than it has ---- */

EXECUTE(highest)
{
    const QHPI_Shape in = qhpi_tensor_shape(inputs[0]), out = qhpi_tensor_shape(outputs[0]);
    const uint64_t row = (uint64_t)out.dims[2] * out.dims[3];
    const float *x = qhpi_tensor_raw_data(inputs[0]);
    float *y = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    for (uint32_t b = 0; b < out.dims[0]; b++)
        for (uint32_t h = 0; h < out.dims[1]; h++)
            for (uint64_t i = 0; i < row; i++) {
                const float *first = x + (b * (uint64_t)in.dims[1] + h) * row + i;
                y[(b * (uint64_t)out.dims[1] + h) * row + i] = fmaxf(fmaxf(first[0], first[row]), first[2 * row]);
            }
    return QHPI_Success;
}

static const QHPI_Op *tile_highest(const QHPI_Op *op, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    QHPI_Shape needed = *extent;
    QHPI_OutputDef out = qhpi_op_output(op, 0);
    needed.dims[1] += 2;
    out.shape = *extent;
    const QHPI_OpRef input = qhpi_op_slice(qhpi_op_input(op, 0), start, &needed);
    return qhpi_op_create(op, qhpi_op_name(op), 1, &input, 1, &out);
}

static const QHPI_Kernel_v1 highest_kernels[] = {
    {.function_name = "Guide::highest",
     .function = highest,
     .resources = QHPI_RESOURCE_HVX,
     .min_inputs = 1,
     .input_signature = floats,
     .min_outputs = 1,
     .output_signature = floats,
     .cost_function = cost_by_size},
};

/* ---- Scale: tiles of channels, 32 or all of them ---- */

EXECUTE(scale)
{
    const uint32_t depth = qhpi_tensor_shape(outputs[0]).dims[3];
    const float *x = qhpi_tensor_raw_data(inputs[0]), *by = qhpi_tensor_raw_data(inputs[1]);
    float *y = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    for (uint64_t i = 0; i < count_of(outputs[0]); i++)
        y[i] = x[i] * by[i % depth];
    return QHPI_Success;
}

static QHPI_Shape require_whole_rows(const QHPI_Op *op)
{
    (void)op;
    return (QHPI_Shape){4, {0, QHPI_NO_TILING, QHPI_NO_TILING, 0}};
}

static QHPI_Shape legal_channels(const QHPI_Op *op, const QHPI_Shape *candidate)
{
    const uint32_t depth = qhpi_op_output(op, 0).shape.dims[3];
    QHPI_Shape tile = *candidate;
    tile.dims[3] = tile.dims[3] + 31 < depth ? (tile.dims[3] + 31) / 32 * 32 : depth;
    return tile;
}

static const QHPI_Op *tile_scale(const QHPI_Op *op, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    const QHPI_Shape at = {4, {0, 0, 0, start->dims[3]}}, size = {4, {1, 1, 1, extent->dims[3]}};
    const QHPI_OpRef inputs[] = {qhpi_op_slice(qhpi_op_input(op, 0), start, extent),
                                 qhpi_op_slice(qhpi_op_input(op, 1), &at, &size)};
    QHPI_OutputDef out = qhpi_op_output(op, 0);
    out.shape = *extent;
    return qhpi_op_create(op, qhpi_op_name(op), 2, inputs, 1, &out);
}

static const QHPI_Kernel_v1 scale_kernels[] = {
    {.function_name = "Guide::scale",
     .function = scale,
     .resources = QHPI_RESOURCE_HVX,
     .min_inputs = 2,
     .input_signature = floats,
     .min_outputs = 1,
     .output_signature = floats},
};

/* ---- Square: gets an output more behind tiling, as scratch ---- */

static const QHPI_Op *add_scratch(const QHPI_Op *op)
{
    const QHPI_OpRef input = qhpi_op_input(op, 0);
    const QHPI_OutputDef outputs[] = {qhpi_op_output(op, 0), qhpi_op_output(op, 0)};
    return qhpi_op_num_outputs(op) == 2 ? op : qhpi_op_create(op, qhpi_op_name(op), 1, &input, 2, outputs);
}

EXECUTE(square)
{
    const float *x = qhpi_tensor_raw_data(inputs[0]);
    float *y = qhpi_tensor_raw_data(outputs[0]), *scratch = qhpi_tensor_raw_data(outputs[1]);
    UNUSED;
    for (uint64_t i = 0; i < count_of(outputs[1]); i++)
        scratch[i] = x[i];
    for (uint64_t i = 0; i < count_of(outputs[0]); i++)
        y[i] = scratch[i] * scratch[i];
    return QHPI_Success;
}

static const QHPI_Kernel_v1 square_kernels[] = {
    {.function_name = "Guide::square",
     .function = square,
     .resources = QHPI_RESOURCE_HVX,
     .min_inputs = 1,
     .input_signature = floats,
     .min_outputs = 2,
     .output_signature = floats,
     .cost_function = cost_by_size},
};

/* ---- Affine: params as operands, read before the first execution ---- */

struct affine {
    float factor, summand;
    const QHPI_Tensor *in;
    QHPI_Tensor *out;
    uint64_t count;
};

static uint32_t precompute_affine(void *data, uint32_t num_outputs, QHPI_Tensor **outputs, uint32_t num_inputs,
                                  const QHPI_Tensor *const *inputs)
{
    struct affine *a = data;
    (void)num_outputs, (void)num_inputs;
    a->factor = *(const float *)qhpi_tensor_raw_data(inputs[1]);
    a->summand = *(const float *)qhpi_tensor_raw_data(inputs[2]);
    a->in = inputs[0];
    a->out = outputs[0];
    a->count = count_of(outputs[0]);
    return QHPI_Success;
}

static uint32_t run_affine(QHPI_RuntimeHandle *handle, void *data)
{
    const struct affine *a = data;
    const float *x = qhpi_tensor_raw_data(a->in);
    float *y = qhpi_tensor_raw_data(a->out);
    for (uint64_t i = share_begin(handle, a->count); i < share_end(handle, a->count); i++)
        y[i] = a->factor * x[i] + a->summand;
    return QHPI_Success;
}

EXECUTE(affine)
{
    struct affine a;
    UNUSED;
    precompute_affine(&a, num_outputs, outputs, num_inputs, inputs);
    return run_affine(handle, &a);
}

static const QHPI_Kernel_v1 affine_kernels[] = {
    {.function_name = "Guide::affine",
     .function = affine,
     .resources = QHPI_RESOURCE_HVX,
     .multithreaded = true,
     .min_inputs = 3,
     .input_signature = floats,
     .min_outputs = 1,
     .output_signature = floats,
     .cost_function = cost_by_size,
     .precomputed_data_size = sizeof(struct affine),
     .do_precomputation_function = precompute_affine,
     .function_with_precomputed_data = run_affine},
};

/* ---- Negate: slices, in the place of its input ---- */

EXECUTE(negate)
{
    const uint64_t count = count_of(outputs[0]), end = share_end(handle, count);
    const float *x = qhpi_tensor_raw_data(inputs[0]);
    float *y = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    for (uint64_t i = share_begin(handle, count); i < end; i++)
        y[i] = -x[i];
    return QHPI_Success;
}

static const QHPI_Kernel_v1 negate_kernels[] = {
    {.function_name = "Guide::negate",
     .function = negate,
     .resources = QHPI_RESOURCE_HVX,
     .source_destructive = true,
     .multithreaded = true,
     .min_inputs = 1,
     .input_signature = floats,
     .min_outputs = 1,
     .output_signature = floats,
     .cost_function = cost_by_size},
};

/* ---- Weigh: a softmax along the depth, which is never cut ---- */

EXECUTE(weigh)
{
    const uint32_t depth = qhpi_tensor_shape(outputs[0]).dims[3];
    const float *x = qhpi_tensor_raw_data(inputs[0]);
    float *y = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    for (uint64_t row = 0; row < count_of(outputs[0]) / depth; row++, x += depth, y += depth) {
        float most = x[0], sum = 0;
        for (uint32_t i = 1; i < depth; i++)
            most = fmaxf(most, x[i]);
        for (uint32_t i = 0; i < depth; i++)
            sum += y[i] = expf(x[i] - most);
        for (uint32_t i = 0; i < depth; i++)
            y[i] /= sum;
    }
    return QHPI_Success;
}

static QHPI_Shape require_depth(const QHPI_Op *op)
{
    (void)op;
    return (QHPI_Shape){4, {0, 0, 0, QHPI_NO_TILING}};
}

static const QHPI_Kernel_v1 weigh_kernels[] = {
    {.function_name = "Guide::weigh",
     .function = weigh,
     .resources = QHPI_RESOURCE_HVX | QHPI_RESOURCE_HMX,
     .min_inputs = 1,
     .input_signature = floats,
     .min_outputs = 1,
     .output_signature = floats,
     .cost_function = cost_by_size},
};

/* ---- SumDiff: two outputs ---- */

EXECUTE(sum_diff)
{
    const float *a = qhpi_tensor_raw_data(inputs[0]), *b = qhpi_tensor_raw_data(inputs[1]);
    float *sum = qhpi_tensor_raw_data(outputs[0]), *difference = qhpi_tensor_raw_data(outputs[1]);
    UNUSED;
    for (uint64_t i = 0; i < count_of(outputs[0]); i++) {
        sum[i] = a[i] + b[i];
        difference[i] = a[i] - b[i];
    }
    return QHPI_Success;
}

static const QHPI_Kernel_v1 sum_diff_kernels[] = {
    {.function_name = "Guide::sum_diff",
     .function = sum_diff,
     .min_inputs = 2,
     .input_signature = floats,
     .min_outputs = 2,
     .output_signature = floats},
};

/* ---- registration ---- */

static const QHPI_OpInfo_v1 ops[] = {
    {"Guide::Asin", ONE_KERNEL(asin_kernels), .build_tile = tile_of_elements},
    {"Guide::Relu", 0, NULL, .early_rewrite = rewrite_relu},
    {"Guide::ReluMinMax", ONE_KERNEL(relu_min_max_kernels), .build_tile = tile_of_elements},
    {"Guide::Clip6", 0, NULL, .early_rewrite = rewrite_clip},
    {"Guide::Highest", ONE_KERNEL(highest_kernels), .build_tile = tile_highest},
    {"Guide::Scale", ONE_KERNEL(scale_kernels), .shape_required = require_whole_rows, .shape_legalized = legal_channels,
     .build_tile = tile_scale},
    {"Guide::Square", ONE_KERNEL(square_kernels), .build_tile = tile_of_elements, .late_rewrite = add_scratch},
    {"Guide::Affine", ONE_KERNEL(affine_kernels), .build_tile = tile_of_elements},
    {"Guide::Negate", ONE_KERNEL(negate_kernels), .build_tile = tile_of_elements},
    {"Guide::Weigh", ONE_KERNEL(weigh_kernels), .shape_required = require_depth, .build_tile = tile_of_elements},
    {"Guide::SumDiff", ONE_KERNEL(sum_diff_kernels), .build_tile = tile_of_elements},
};

QNN_API const char *qhpi_init(void)
{
    return qhpi_register_ops_v1(N_OPS, ops, "Guide") == QHPI_Success ? "Guide" : NULL;
}
