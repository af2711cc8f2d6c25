/* SPDX-License-Identifier: Apache-2.0 */
/* libopendlc-plugin.so: the functions of the host that packages call. Each hands over to the host, which is in
 * libopendlc, or in a command. */
#include "package/plugin_registrar.h"
#include "plugin/host_calls.h"

#define HOST_OF(object) (*(const struct host_calls *const *)(object))

/* Of this thread, during qhpi_init; NULL: nothing can be registered now. */
static _Thread_local struct plugin_registrar *current;

void qhpi_odlc_registrar(struct plugin_registrar *registrar);

void qhpi_odlc_registrar(struct plugin_registrar *registrar)
{
    current = registrar;
}

uint32_t qhpi_register_ops_v1(uint32_t num_ops, const QHPI_OpInfo_v1 *operators, const char *package)
{
    return current ? current->add_v1(current, num_ops, operators, package) : (uint32_t)QHPI_ErrorFatal;
}

const char *qhpi_op_name(const QHPI_Op *op)
{
    return HOST_OF(op)->op_name(op);
}

uint32_t qhpi_op_num_inputs(const QHPI_Op *op)
{
    return HOST_OF(op)->op_num_inputs(op);
}

uint32_t qhpi_op_num_outputs(const QHPI_Op *op)
{
    return HOST_OF(op)->op_num_outputs(op);
}

uint32_t qhpi_op_num_uses(const QHPI_Op *op)
{
    return HOST_OF(op)->op_num_uses(op);
}

QHPI_OpRef qhpi_op_input(const QHPI_Op *op, uint32_t index)
{
    return HOST_OF(op)->op_input(op, index);
}

QHPI_OutputDef qhpi_op_output(const QHPI_Op *op, uint32_t index)
{
    return HOST_OF(op)->op_output(op, index);
}

QHPI_OpRef qhpi_op_reference(const QHPI_Op *op, uint32_t output_number)
{
    return HOST_OF(op)->op_reference(op, output_number);
}

uint32_t qhpi_op_is_constant(const QHPI_Op *op)
{
    return HOST_OF(op)->op_is_constant(op);
}

const void *qhpi_op_constant_data(const QHPI_Op *op)
{
    return HOST_OF(op)->op_constant_data(op);
}

const QHPI_Op *qhpi_op_create(const QHPI_Op *root, const char *name, uint32_t num_inputs, const QHPI_OpRef *inputs,
                              uint32_t num_outputs, const QHPI_OutputDef *outputs)
{
    return root ? HOST_OF(root)->op_create(root, name, num_inputs, inputs, num_outputs, outputs) : NULL;
}

const QHPI_Op *qhpi_op_create_constant(const QHPI_Op *root, const QHPI_OutputDef *out, size_t bytes, const void *data)
{
    return root ? HOST_OF(root)->op_create_constant(root, out, bytes, data) : NULL;
}

QHPI_OpRef qhpi_op_create_shape(const QHPI_Op *root, const QHPI_Shape *shape)
{
    return root ? HOST_OF(root)->op_create_shape(root, shape) : (QHPI_OpRef){0};
}

QHPI_OpRef qhpi_op_slice(QHPI_OpRef input, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    return HOST_OF(input.op)->op_slice(input, start, extent);
}

QHPI_StatusCode qhpi_option_int(const QHPI_Op *op, const char *name, int32_t *value)
{
    return HOST_OF(op)->option_int(op, name, value);
}

QHPI_Shape qhpi_tensor_shape(const QHPI_Tensor *tensor)
{
    return HOST_OF(tensor)->tensor_shape(tensor);
}

QHPI_Quant_Parameters qhpi_tensor_quant_parameters(const QHPI_Tensor *tensor)
{
    return HOST_OF(tensor)->tensor_quant_parameters(tensor);
}

void *qhpi_tensor_raw_data(const QHPI_Tensor *tensor)
{
    return HOST_OF(tensor)->tensor_raw_data(tensor);
}

void *const *qhpi_tensor_block_table(const QHPI_Tensor *tensor)
{
    return HOST_OF(tensor)->tensor_block_table(tensor);
}

uint32_t qhpi_tensor_block_table_length(const QHPI_Tensor *tensor)
{
    return HOST_OF(tensor)->tensor_block_table_length(tensor);
}

QHPI_Shape qhpi_tensor_padded_shape(const QHPI_Tensor *tensor)
{
    return HOST_OF(tensor)->tensor_padded_shape(tensor);
}

uint32_t qhpi_tensor_is_indirect(const QHPI_Tensor *tensor)
{
    return HOST_OF(tensor)->tensor_is_indirect(tensor);
}

QHPI_Element_Type qhpi_tensor_element_type(const QHPI_Tensor *tensor)
{
    return HOST_OF(tensor)->tensor_element_type(tensor);
}

uint32_t qhpi_num_slices(QHPI_RuntimeHandle *handle)
{
    return HOST_OF(handle)->num_slices(handle);
}

uint32_t qhpi_slice_number(QHPI_RuntimeHandle *handle)
{
    return HOST_OF(handle)->slice_number(handle);
}
