/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/registered_op.h"

#include <string.h>

static const char hint[] = "generate the package anew from this config (udo-package-generator)";

static void compare_count(struct contained *c, const char *what, uint32_t found, uint32_t expected)
{
    if (found != expected)
        contained_found(c, "registration-count", hint, "is registered with %u %s, and the config has %u", found, what,
                        expected);
}

static void compare_operands(struct contained *c, const char *what, const SnpeUdo_TensorInfo_t *infos, uint32_t count,
                             const struct udo_tensor *tensors)
{
    for (uint32_t i = 0; i < count; i++)
        if (infos[i].isStatic != tensors[i].is_static)
            contained_found(c, "registration-static", hint,
                            "is registered with %s %u %s, and the config says otherwise", what, i,
                            infos[i].isStatic ? "static" : "not static");
}

static bool has_param(const SnpeUdo_OperationInfo_t *op, const char *name, bool is_tensor)
{
    for (uint32_t i = 0; i < op->numOfStaticParams; i++)
        if (op->staticParams[i].paramName && strcmp(op->staticParams[i].paramName, name) == 0)
            return (op->staticParams[i].paramType == SNPE_UDO_PARAMTYPE_TENSOR) == is_tensor;
    return false;
}

static void compare_params(struct contained *c, const SnpeUdo_OperationInfo_t *op, const struct udo_def *def)
{
    for (uint32_t i = 0; i < def->n_scalar_params; i++)
        if (!has_param(op, def->scalar_params[i].name, false))
            contained_found(c, "registration-param", hint, "is registered without scalar param '%s' of the config",
                            def->scalar_params[i].name);
    for (uint32_t i = 0; i < def->n_tensor_params; i++)
        if (!has_param(op, def->tensor_params[i].name, true))
            contained_found(c, "registration-param", hint, "is registered without tensor param '%s' of the config",
                            def->tensor_params[i].name);
}

static void compare_cores(struct contained *c, const SnpeUdo_OperationInfo_t *op, const struct udo_def *def)
{
    static const struct {
        SnpeUdo_CoreType_t core;
        const char *name;
    } cores[] = {[UDO_CPU] = {SNPE_UDO_CORETYPE_CPU, "CPU"},
                 [UDO_GPU] = {SNPE_UDO_CORETYPE_GPU, "GPU"},
                 [UDO_DSP] = {SNPE_UDO_CORETYPE_DSP, "DSP"}};
    for (uint32_t k = 0; k < COUNT_OF(cores); k++) {
        bool registered = false;
        for (uint32_t i = 0; i < op->numOfCoreInfo; i++)
            registered |= op->coreInfo[i].coreType == cores[k].core;
        if (registered != (def->cores >> k & 1))
            contained_found(c, "registration-core", hint, "is registered %s core type %s, and the config %s",
                            registered ? "with" : "without", cores[k].name, registered ? "does not have it" : "has it");
    }
}

void registered_op_compare(struct contained *c, const SnpeUdo_OperationInfo_t *op, const struct udo_def *def)
{
    compare_count(c, "inputs", op->numOfInputs, def->n_inputs);
    compare_count(c, "outputs", op->numOfOutputs, def->n_outputs);
    compare_count(c, "params", op->numOfStaticParams, def->n_scalar_params + def->n_tensor_params);
    if (op->numOfInputs == def->n_inputs)
        compare_operands(c, "input", op->inputInfos, def->n_inputs, def->inputs);
    if (op->numOfStaticParams == def->n_scalar_params + def->n_tensor_params)
        compare_params(c, op, def);
    compare_cores(c, op, def);
}
