/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for the DSP before v68 by the older C interface: it copies its static params, and bounds its output. */
#include <stdlib.h>
#include <string.h>

#include "SnpeUdo/UdoImpl.h"

struct SnpeUdo_OpFactory {
    uint8_t by;
};

struct SnpeUdo_Operation {
    uint8_t by;
    SnpeUdo_TensorParam_t *in, *out;
};

SnpeUdo_ErrorType_t SnpeUdo_initImplLibrary(void *globalInfrastructure)
{
    return globalInfrastructure ? SNPE_UDO_NO_ERROR : SNPE_UDO_INVALID_ARGUMENT;
}

SnpeUdo_ErrorType_t SnpeUdo_createOpFactory(SnpeUdo_CoreType_t coreType, void *perFactoryInfrastructure,
                                            SnpeUdo_String_t operationType, uint32_t numOfStaticParams,
                                            SnpeUdo_Param_t *staticParams, SnpeUdo_OpFactory_t *factory)
{
    (void)perFactoryInfrastructure;
    if (coreType != SNPE_UDO_CORETYPE_DSP)
        return SNPE_UDO_WRONG_CORE;
    if (strcmp(operationType, "Scale") != 0 || numOfStaticParams != 1 ||
        staticParams[0].paramType != SNPE_UDO_PARAMTYPE_SCALAR)
        return SNPE_UDO_WRONG_OPERATION;
    *factory = malloc(sizeof **factory);
    if (!*factory)
        return SNPE_UDO_MEM_ALLOC_ERROR;
    (*factory)->by = staticParams[0].scalarParam.dataValue.uint8Value;
    return SNPE_UDO_NO_ERROR;
}

SnpeUdo_ErrorType_t SnpeUdo_executeOp(SnpeUdo_Operation_t operation, bool blocking, const uint32_t id,
                                      SnpeUdo_ExternalNotify_t notify)
{
    SnpeUdo_TensorParam_t *in = operation->in, *out = operation->out;
    size_t count = 1;
    out->layout = in->layout;
    out->dataType = in->dataType;
    for (uint32_t i = 0; i < in->tensorRank; i++) {
        if (in->currDimensions[i] > out->maxDimensions[i])
            return SNPE_UDO_INVALID_ARGUMENT;
        out->currDimensions[i] = in->currDimensions[i];
        count *= in->currDimensions[i];
    }
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)out->tensorData)[i] = (uint8_t)(((const uint8_t *)in->tensorData)[i] * operation->by);
    if (!blocking)
        notify(id);
    return SNPE_UDO_NO_ERROR;
}
