// SPDX-License-Identifier: Apache-2.0
//==============================================================================
// Auto Generated Code for ClampOpsHtp, filled in: execute and cost functions, tiles, slices
//==============================================================================
#include <math.h>

#include "HTP/core/qhpi.h"

/* SoftClamp
 *   input 0, x: FLOAT_32, 4D, NHWC
 *   input 1, limit: FLOAT_32, 4D, NHWC, static
 *   output 0, y: FLOAT_32, 4D, NHWC
 *   param sharpness: FLOAT_32, behind the inputs: number 2
 *   param mode: STRING, behind the inputs: number 3
 *   param axes: INT_32, 1D, behind the inputs: number 4
 *
 * qhpi_tensor_shape and qhpi_tensor_raw_data tell the dimensions and the elements of a tensor. */

static uint64_t countOf(const QHPI_Tensor *tensor)
{
    const QHPI_Shape shape = qhpi_tensor_shape(tensor);
    uint64_t count = 1;
    for (uint32_t i = 0; i < shape.rank; i++)
        count *= shape.dims[i];
    return count;
}

/* Computes the outputs. Nothing may be allocated here: use fixed arrays, or an output as scratch. */
static uint32_t softclamp_float_32_Execute(QHPI_RuntimeHandle *handle, uint32_t num_outputs, QHPI_Tensor **outputs,
    uint32_t num_inputs, const QHPI_Tensor *const *inputs)
{
    const float *x = static_cast<const float *>(qhpi_tensor_raw_data(inputs[0]));
    const float *limit = static_cast<const float *>(qhpi_tensor_raw_data(inputs[1]));
    const float sharpness = *static_cast<const float *>(qhpi_tensor_raw_data(inputs[2]));
    float *y = static_cast<float *>(qhpi_tensor_raw_data(outputs[0]));
    const uint32_t channels = qhpi_tensor_shape(outputs[0]).dims[3];
    const uint64_t count = countOf(outputs[0]), slices = qhpi_num_slices(handle), slice = qhpi_slice_number(handle);
    (void)num_outputs;
    (void)num_inputs;
    for (uint64_t i = count * slice / slices; i < count * (slice + 1) / slices; i++)
        y[i] = static_cast<float>(static_cast<double>(limit[i % channels]) * tanh(static_cast<double>(sharpness * x[i])));
    return QHPI_Success;
}

static float softclamp_float_32_CostFunc(const uint32_t num_inputs, const QHPI_Tensor *const *inputs)
{
    (void)num_inputs;
    return 100.0f + 2.0f * static_cast<float>(countOf(inputs[0]));
}

static constexpr QHPI_Tensor_Signature_v1 softclamp_float_32_InputSignatures[] = {
    {QHPI_Float32, QHPI_Layout_Flat4, QHPI_Storage_Direct, QHPI_MemLoc_DDR_OR_TCM}, /* x */
    {QHPI_Float32, QHPI_Layout_Flat4, QHPI_Storage_Direct, QHPI_MemLoc_DDR_OR_TCM}, /* limit */
    {QHPI_Float32, QHPI_Layout_Flat4, QHPI_Storage_Direct, QHPI_MemLoc_DDR_OR_TCM}, /* param sharpness */
    {QHPI_ELEMENT_TYPE_ANY, QHPI_Layout_Any, QHPI_Storage_Direct_OR_Indirect, QHPI_MemLoc_DDR_OR_TCM}, /* param mode */
    {QHPI_Int32, QHPI_Layout_Flat4, QHPI_Storage_Direct, QHPI_MemLoc_DDR_OR_TCM}, /* param axes */
};

static constexpr QHPI_Tensor_Signature_v1 softclamp_float_32_OutputSignatures[] = {
    {QHPI_Float32, QHPI_Layout_Flat4, QHPI_Storage_Direct, QHPI_MemLoc_DDR_OR_TCM}, /* y */
};

static constexpr QHPI_Kernel_v1 softclamp_float_32_Kernel = {
    .function_name = THIS_PKG_NAME_STR "::softclamp_float_32_Execute",
    .function = softclamp_float_32_Execute,
    .resources = QHPI_RESOURCE_HVX,
    .source_destructive = true,
    .multithreaded = true,
    .variable_inputs = false,
    .variable_outputs = false,
    .min_inputs = sizeof softclamp_float_32_InputSignatures / sizeof *softclamp_float_32_InputSignatures,
    .input_signature = softclamp_float_32_InputSignatures,
    .min_outputs = sizeof softclamp_float_32_OutputSignatures / sizeof *softclamp_float_32_OutputSignatures,
    .output_signature = softclamp_float_32_OutputSignatures,
    .cost_function = softclamp_float_32_CostFunc,
    .sync_block_size = 0,
    .precomputed_data_size = 0,
    .do_precomputation_function = nullptr,
    .function_with_precomputed_data = nullptr,
    .predicate = nullptr,
};

/* Another op in place of this one, before it is cut into tiles; the op itself: no other. */
static const QHPI_Op *softclampEarlyRewrite(const QHPI_Op *op)
{
    return op;
}

/* The tile that the op needs; an empty shape: any. */
static QHPI_Shape softclampShapeRequired(const QHPI_Op *op)
{
    (void)op;
    return QHPI_Shape();
}

/* The tile in place of the candidate. */
static QHPI_Shape softclampShapeLegal(const QHPI_Op *op, const QHPI_Shape *candidate)
{
    (void)op;
    return *candidate;
}

/* A smaller op for that part of the first output; the op itself: it is not cut. */
static const QHPI_Op *softclampBuildTile(const QHPI_Op *op, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    QHPI_OpRef inputs[5];
    QHPI_OutputDef out = qhpi_op_output(op, 0);
    const QHPI_Shape at = {4, {0, 0, 0, start->dims[3]}}, size = {4, {1, 1, 1, extent->dims[3]}};
    inputs[0] = qhpi_op_slice(qhpi_op_input(op, 0), start, extent);
    inputs[1] = qhpi_op_slice(qhpi_op_input(op, 1), &at, &size);
    for (uint32_t i = 2; i < 5; i++)
        inputs[i] = qhpi_op_input(op, i);
    out.shape = *extent;
    return qhpi_op_create(op, qhpi_op_name(op), 5, inputs, 1, &out);
}

/* Another op in place of this one, behind tiling. */
static const QHPI_Op *softclampLateRewrite(const QHPI_Op *op)
{
    return op;
}

/* In the order of preference. */
static constexpr QHPI_Kernel_v1 softclampKernels[] = {
    softclamp_float_32_Kernel,
};

extern const QHPI_OpInfo_v1 softclampOpInfo;
constexpr QHPI_OpInfo_v1 softclampOpInfo = {
    .name = THIS_PKG_NAME_STR "::" "SoftClamp",
    .num_kernels = sizeof softclampKernels / sizeof *softclampKernels,
    .kernels = softclampKernels,
    .early_rewrite = softclampEarlyRewrite,
    .shape_required = softclampShapeRequired,
    .shape_legalized = softclampShapeLegal,
    .build_tile = softclampBuildTile,
    .late_rewrite = softclampLateRewrite,
};

static constexpr QHPI_OpInfo_v1 softclamp_ops[] = {softclampOpInfo};

extern "C" void register_softclamp_ops()
{
    qhpi_register_ops_v1(sizeof softclamp_ops / sizeof *softclamp_ops, softclamp_ops, THIS_PKG_NAME_STR);
}
