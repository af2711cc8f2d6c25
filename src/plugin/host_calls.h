/* SPDX-License-Identifier: Apache-2.0 */
/* How libopendlc-plugin.so, whose functions packages call, gets to the host: each object that a package is handed
 * begins with a pointer to this table. The host and that library may be of different releases, so members are added at
 * the end alone. */
#ifndef PLUGIN_HOST_CALLS_H
#define PLUGIN_HOST_CALLS_H

#include "sdk/QNN/HTP/core/qhpi.h"

/* As the functions of qhpi.h; a call that is not allowed is noted for the host, and gives nothing. */
struct host_calls {
    const char *(*op_name)(const QHPI_Op *op);
    uint32_t (*op_num_inputs)(const QHPI_Op *op);
    uint32_t (*op_num_outputs)(const QHPI_Op *op);
    uint32_t (*op_num_uses)(const QHPI_Op *op);
    QHPI_OpRef (*op_input)(const QHPI_Op *op, uint32_t index);
    QHPI_OutputDef (*op_output)(const QHPI_Op *op, uint32_t index);
    QHPI_OpRef (*op_reference)(const QHPI_Op *op, uint32_t output_number);
    uint32_t (*op_is_constant)(const QHPI_Op *op);
    const void *(*op_constant_data)(const QHPI_Op *op);
    const QHPI_Op *(*op_create)(const QHPI_Op *root, const char *name, uint32_t num_inputs, const QHPI_OpRef *inputs,
                                uint32_t num_outputs, const QHPI_OutputDef *outputs);
    const QHPI_Op *(*op_create_constant)(const QHPI_Op *root, const QHPI_OutputDef *out, size_t bytes,
                                         const void *data);
    QHPI_OpRef (*op_create_shape)(const QHPI_Op *root, const QHPI_Shape *shape);
    QHPI_OpRef (*op_slice)(QHPI_OpRef input, const QHPI_Shape *start, const QHPI_Shape *extent);
    QHPI_StatusCode (*option_int)(const QHPI_Op *op, const char *name, int32_t *value);
    QHPI_Shape (*tensor_shape)(const QHPI_Tensor *tensor);
    QHPI_Quant_Parameters (*tensor_quant_parameters)(const QHPI_Tensor *tensor);
    void *(*tensor_raw_data)(const QHPI_Tensor *tensor);
    void *const *(*tensor_block_table)(const QHPI_Tensor *tensor);
    uint32_t (*tensor_block_table_length)(const QHPI_Tensor *tensor);
    QHPI_Shape (*tensor_padded_shape)(const QHPI_Tensor *tensor);
    uint32_t (*tensor_is_indirect)(const QHPI_Tensor *tensor);
    QHPI_Element_Type (*tensor_element_type)(const QHPI_Tensor *tensor);
    uint32_t (*num_slices)(QHPI_RuntimeHandle *handle);
    uint32_t (*slice_number)(QHPI_RuntimeHandle *handle);
};

#endif
