/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for all types of elements, for the blocked layouts, and for operands that are left out. */
#define PACKAGE Types
#define OPS(OP)          \
    OP(Twice, 0, 1, 1)   \
    OP(Places, 0, 1, 1)  \
    OP(Flatten, 0, 1, 1) \
    OP(Told, 3, 2, 1)    \
    OP(Fast, 0, 1, 1)    \
    OP(Blocked, 0, 2, 1)
#include <math.h>

#include "package.h"

/* ---- Twice: a kernel a type ---- */

static double as_stored(double real, QHPI_Quant_Parameters q, double least, double most)
{
    const double stored = q.stepsize != 0.0f ? rint(real / (double)q.stepsize) + q.zero_offset : real;
    return stored < least ? least : stored > most ? most : stored;
}

static double as_real(double stored, QHPI_Quant_Parameters q)
{
    return q.stepsize != 0.0f ? (stored - q.zero_offset) * (double)q.stepsize : stored;
}

#define TWICE(name, type, least, most)                                               \
    EXECUTE(twice_##name)                                                            \
    {                                                                                \
        const QHPI_Quant_Parameters in = qhpi_tensor_quant_parameters(inputs[0]),    \
                                    out = qhpi_tensor_quant_parameters(outputs[0]);  \
        const type *x = qhpi_tensor_raw_data(inputs[0]);                             \
        type *y = qhpi_tensor_raw_data(outputs[0]);                                  \
        UNUSED;                                                                      \
        for (uint64_t i = 0; i < count_of(outputs[0]); i++)                          \
            y[i] = (type)as_stored(2 * as_real((double)x[i], in), out, least, most); \
        y[0] = (type)(y[0] + is("first " #name));                                    \
        return QHPI_SUCCESS;                                                         \
    }
TWICE(u8, uint8_t, 0, 255)
TWICE(s8, int8_t, -128, 127)
TWICE(u16, uint16_t, 0, 65535)
TWICE(s16, int16_t, -32768, 32767)
TWICE(s32, int32_t, -2147483648.0, 2147483647.0)
TWICE(f32, float, -3e38, 3e38)

/* Twice a float16 is one in its exponent. */
EXECUTE(twice_f16)
{
    const uint16_t *x = qhpi_tensor_raw_data(inputs[0]);
    uint16_t *y = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    for (uint64_t i = 0; i < count_of(outputs[0]); i++)
        y[i] = x[i] & 0x7C00 ? (uint16_t)(x[i] + 0x400) : (uint16_t)((x[i] & 0x8000) | (x[i] & 0x3FF) << 1);
    y[0] = (uint16_t)(y[0] + 64 * is("first f16"));
    return QHPI_SUCCESS;
}

static const QHPI_Tensor_Signature_v1 u8[] = {SIGNATURE(QUINT8)}, s8[] = {SIGNATURE(QINT8)},
                                      u16[] = {SIGNATURE(QUINT16)}, s16[] = {SIGNATURE(QINT16)},
                                      s32[] = {SIGNATURE(INT32)}, f16[] = {SIGNATURE(FLOAT16)},
                                      f32[] = {SIGNATURE(FLOAT32)};
#define TWICE_KERNEL(name)                                                                                          \
    {                                                                                                               \
        .function_name = "Types::twice_" #name, .function = twice_##name, .min_inputs = 1, .input_signature = name, \
        .min_outputs = 1, .output_signature = name                                                                  \
    }
static const QHPI_Kernel_v1 twice[] = {TWICE_KERNEL(u8),  TWICE_KERNEL(s8),  TWICE_KERNEL(u16), TWICE_KERNEL(s16),
                                       TWICE_KERNEL(s32), TWICE_KERNEL(f16), TWICE_KERNEL(f32)};

/* ---- Places: blocks, each element plus a number of its place ---- */

static uint64_t place_of(const QHPI_Shape *padded, uint32_t width, const uint32_t at[4], uint32_t *block)
{
    *block = ((at[0] * (padded->dims[1] / 8) + at[1] / 8) * (padded->dims[2] / width) + at[2] / width) *
                 (padded->dims[3] / 32) +
             at[3] / 32;
    return ((uint64_t)(at[1] % 8) * width + at[2] % width) * 32 + at[3] % 32;
}

#define PLACES(name, type, width)                                                                            \
    EXECUTE(name)                                                                                            \
    {                                                                                                        \
        const QHPI_Shape shape = qhpi_tensor_shape(inputs[0]), padded = qhpi_tensor_padded_shape(inputs[0]); \
        uint32_t at[4], block;                                                                               \
        UNUSED;                                                                                              \
        if (!qhpi_tensor_is_indirect(inputs[0]) || qhpi_tensor_raw_data(inputs[0]) ||                        \
            qhpi_tensor_block_table_length(inputs[0]) * (uint64_t)2048 !=                                    \
                (uint64_t)padded.dims[0] * padded.dims[1] * padded.dims[2] * padded.dims[3] * sizeof(type))  \
            return 1;                                                                                        \
        for (at[0] = 0; at[0] < shape.dims[0]; at[0]++)                                                      \
            for (at[1] = 0; at[1] < shape.dims[1]; at[1]++)                                                  \
                for (at[2] = 0; at[2] < shape.dims[2]; at[2]++)                                              \
                    for (at[3] = 0; at[3] < shape.dims[3]; at[3]++) {                                        \
                        const uint64_t i = place_of(&padded, width, at, &block);                             \
                        const type *x = qhpi_tensor_block_table(inputs[0])[block];                           \
                        type *y = qhpi_tensor_block_table(outputs[0])[block];                                \
                        y[i] = (type)(x[i] + at[1] + 3 * at[2] + 5 * at[3]);                                 \
                    }                                                                                        \
        return QHPI_SUCCESS;                                                                                 \
    }
PLACES(places_8, uint8_t, 8)
PLACES(places_16, uint16_t, 4)
PLACES(places_s16, int16_t, 4)

static const QHPI_Tensor_Signature_v1
    blocks_8[] = {{QHPI_QUINT8, QHPI_LAYOUT_CROUTON_8, QHPI_STORAGE_INDIRECT, QHPI_MEM_LOC_TCM_ONLY}},
    blocks_16[] = {{QHPI_QUINT16, QHPI_LAYOUT_CROUTON_16, QHPI_STORAGE_INDIRECT, QHPI_MEM_LOC_TCM_ONLY}},
    blocks_s16[] = {{QHPI_QINT16, QHPI_LAYOUT_CROUTON_16, QHPI_STORAGE_INDIRECT, QHPI_MEM_LOC_TCM_ONLY}},
    flat_indirect[] = {{QHPI_QUINT8, QHPI_LAYOUT_FLAT_4, QHPI_STORAGE_INDIRECT, QHPI_MEM_LOC_DDR_OR_TCM}};
static const QHPI_Kernel_v1 places[] = {
    {.function_name = "Types::places_flat_indirect",
     .function = places_8,
     .min_inputs = 1,
     .input_signature = flat_indirect,
     .min_outputs = 1,
     .output_signature = flat_indirect},
    {.function_name = "Types::places_8",
     .function = places_8,
     .min_inputs = 1,
     .input_signature = blocks_8,
     .min_outputs = 1,
     .output_signature = blocks_8},
    {.function_name = "Types::places_16",
     .function = places_16,
     .min_inputs = 1,
     .input_signature = blocks_16,
     .min_outputs = 1,
     .output_signature = blocks_16},
    {.function_name = "Types::places_s16",
     .function = places_s16,
     .min_inputs = 1,
     .input_signature = blocks_s16,
     .min_outputs = 1,
     .output_signature = blocks_s16},
};

/* ---- Flatten: from blocks in a row to flat ---- */

EXECUTE(flatten)
{
    const QHPI_Shape shape = qhpi_tensor_shape(inputs[0]), padded = qhpi_tensor_padded_shape(inputs[0]);
    const uint8_t *x = qhpi_tensor_raw_data(inputs[0]);
    uint8_t *y = qhpi_tensor_raw_data(outputs[0]);
    uint32_t at[4], block;
    UNUSED;
    for (at[0] = 0; at[0] < shape.dims[0]; at[0]++)
        for (at[1] = 0; at[1] < shape.dims[1]; at[1]++)
            for (at[2] = 0; at[2] < shape.dims[2]; at[2]++)
                for (at[3] = 0; at[3] < shape.dims[3]; at[3]++) {
                    const uint64_t i = place_of(&padded, 8, at, &block);
                    *y++ = x[block * (uint64_t)2048 + i];
                }
    return QHPI_SUCCESS;
}

static const QHPI_Tensor_Signature_v1 row_of_blocks[] = {
    {QHPI_QUINT8, QHPI_LAYOUT_CROUTON_8, QHPI_STORAGE_DIRECT, QHPI_MEM_LOC_DDR_OR_TCM}};
static const QHPI_Kernel_v1 flattening[] = {
    {.function_name = "Types::flatten",
     .function = flatten,
     .min_inputs = 1,
     .input_signature = row_of_blocks,
     .min_outputs = 1,
     .output_signature = u8},
};

/* ---- Blocked: a sum in blocks, in fast memory alone; the second operand may have one row and column ---- */

EXECUTE(sum_of_blocks)
{
    const QHPI_Shape shape = qhpi_tensor_shape(inputs[0]), padded = qhpi_tensor_padded_shape(inputs[0]),
                     other = qhpi_tensor_shape(inputs[1]), padded_other = qhpi_tensor_padded_shape(inputs[1]);
    uint32_t at[4], block;
    UNUSED;
    if (is("writes constant"))
        *(uint8_t *)qhpi_tensor_block_table(inputs[1])[0] = 1;
    for (at[0] = 0; at[0] < shape.dims[0]; at[0]++)
        for (at[1] = 0; at[1] < shape.dims[1]; at[1]++)
            for (at[2] = 0; at[2] < shape.dims[2]; at[2]++)
                for (at[3] = 0; at[3] < shape.dims[3]; at[3]++) {
                    const uint32_t there[4] = {at[0] % other.dims[0], at[1] % other.dims[1], at[2] % other.dims[2],
                                               at[3]};
                    const uint64_t j = place_of(&padded_other, 8, there, &block);
                    const uint8_t summand = ((const uint8_t *)qhpi_tensor_block_table(inputs[1])[block])[j];
                    const uint64_t i = place_of(&padded, 8, at, &block);
                    const uint8_t *x = qhpi_tensor_block_table(inputs[0])[block];
                    ((uint8_t *)qhpi_tensor_block_table(outputs[0])[block])[i] = (uint8_t)(x[i] + summand);
                }
    return QHPI_SUCCESS;
}

/* The same part of the first input, and of the second one along the dimensions that it has. */
static const QHPI_Op *tile_blocked(const QHPI_Op *op, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    const QHPI_OpRef second = qhpi_op_input(op, 1);
    const QHPI_Shape shape = qhpi_op_output(second.op, second.output_number).shape;
    QHPI_Shape at = *start, size = *extent;
    QHPI_OutputDef out = qhpi_op_output(op, 0);
    for (uint32_t d = 0; d < 4; d++)
        if (shape.dims[d] == 1) {
            at.dims[d] = 0;
            size.dims[d] = 1;
        }
    const QHPI_OpRef inputs[] = {qhpi_op_slice(qhpi_op_input(op, 0), start, extent), qhpi_op_slice(second, &at, &size)};
    out.shape = *extent;
    return qhpi_op_create(op, qhpi_op_name(op), 2, inputs, 1, &out);
}

static const QHPI_Tensor_Signature_v1 two_in_blocks[] = {
    {QHPI_QUINT8, QHPI_LAYOUT_CROUTON_8, QHPI_STORAGE_INDIRECT, QHPI_MEM_LOC_TCM_ONLY},
    {QHPI_QUINT8, QHPI_LAYOUT_CROUTON_8, QHPI_STORAGE_INDIRECT, QHPI_MEM_LOC_DDR_OR_TCM}};
static const QHPI_Kernel_v1 blocked[] = {
    {.function_name = "Types::blocked",
     .function = sum_of_blocks,
     .min_inputs = 2,
     .input_signature = two_in_blocks,
     .min_outputs = 1,
     .output_signature = blocks_8},
};

/* ---- Told: what the kernel is told of its operands, as numbers ---- */

EXECUTE(told)
{
    float *y = qhpi_tensor_raw_data(outputs[0]);
    const uint64_t room = count_of(outputs[0]);
    UNUSED;
    for (uint32_t i = 0; i < num_inputs && 8 * i + 7 < room; i++) {
        const QHPI_Shape shape = qhpi_tensor_shape(inputs[i]);
        const QHPI_Element_Type type = qhpi_tensor_element_type(inputs[i]);
        float *out = y + 8 * i;
        const void *data = qhpi_tensor_raw_data(inputs[i]);
        out[0] = (float)shape.rank;
        for (uint32_t d = 0; d < 4 && d < shape.rank; d++)
            out[1 + d] = (float)shape.dims[d];
        out[5] = (float)type;
        out[6] = !data                  ? -1
                 : type == QHPI_FLOAT32 ? *(const float *)data
                 : type == QHPI_INT32   ? (float)*(const int32_t *)data
                                        : *(const uint8_t *)data;
        out[7] = (float)num_inputs;
    }
    return QHPI_SUCCESS;
}

#define ANYTHING                                                                                         \
    {                                                                                                    \
        QHPI_ELEMENT_TYPE_ANY, QHPI_LAYOUT_ANY, QHPI_STORAGE_DIRECT_OR_INDIRECT, QHPI_MEM_LOC_DDR_OR_TCM \
    }
static const QHPI_Tensor_Signature_v1 anything[] = {ANYTHING, ANYTHING, ANYTHING, ANYTHING, ANYTHING};
static const QHPI_Kernel_v1 telling[] = {
    {.function_name = "Types::told",
     .function = told,
     .min_inputs = 5,
     .input_signature = anything,
     .min_outputs = 1,
     .output_signature = f32},
};

/* ---- Fast: operands in fast memory alone ---- */

static const QHPI_Tensor_Signature_v1 in_tcm[] = {
    {QHPI_FLOAT32, QHPI_LAYOUT_FLAT_4, QHPI_STORAGE_DIRECT, QHPI_MEM_LOC_TCM_ONLY}};
static const QHPI_Kernel_v1 fast[] = {
    {.function_name = "Types::fast",
     .function = twice_f32,
     .min_inputs = 1,
     .input_signature = in_tcm,
     .min_outputs = 1,
     .output_signature = in_tcm},
};

static const QHPI_OpInfo_v1 ops[] = {
    {"Types::Twice", ONE_KERNEL(twice), .build_tile = tile_of_elements},
    {"Types::Places", ONE_KERNEL(places), .build_tile = NULL},
    {"Types::Flatten", ONE_KERNEL(flattening), .build_tile = NULL},
    {"Types::Told", ONE_KERNEL(telling), .build_tile = NULL},
    {"Types::Fast", ONE_KERNEL(fast), .build_tile = NULL},
    {"Types::Blocked", ONE_KERNEL(blocked), .build_tile = tile_blocked},
};

QNN_API const char *qhpi_init(void)
{
    return qhpi_register_ops_v1(N_OPS, ops, "Types") == QHPI_SUCCESS ? "Types" : NULL;
}
