/* SPDX-License-Identifier: Apache-2.0 */
/* What an implementation library for the DSP before v68 exports: the older C interface.
 *
 * A host calls SnpeUdo_initImplLibrary and SnpeUdo_getImpInfo; for each node SnpeUdo_queryOperation,
 * SnpeUdo_createOpFactory and SnpeUdo_createOperation, SnpeUdo_executeOp for each inference, and the functions that
 * release in the opposite order. Names of parameters are ours. */
#ifndef SNPE_UDO_IMPL_H
#define SNPE_UDO_IMPL_H

#include "UdoShared.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first call after loading. The infrastructure offers memory and threads; its layout is not published. */
SnpeUdo_ErrorType_t SnpeUdo_initImplLibrary(void *globalInfrastructure);

/* The library's memory, until SnpeUdo_terminateImplLibrary. */
SnpeUdo_ErrorType_t SnpeUdo_getImpInfo(SnpeUdo_ImpInfo_t **implementationInfo);

/* How the operation takes and gives tensors; arrays of the library's memory. */
SnpeUdo_ErrorType_t SnpeUdo_queryOperation(SnpeUdo_String_t operationType, uint32_t numOfStaticParams,
                                           const SnpeUdo_Param_t *staticParams, uint32_t *numOfInputs,
                                           SnpeUdo_QuantizationType_t **inputsQuantTypes,
                                           SnpeUdo_TensorLayout_t **inputsLayouts, uint32_t *numOfOutputs,
                                           SnpeUdo_QuantizationType_t **outputsQuantTypes,
                                           SnpeUdo_TensorLayout_t **outputsLayouts);

/* The library copies the params. */
SnpeUdo_ErrorType_t SnpeUdo_createOpFactory(SnpeUdo_CoreType_t coreType, void *perFactoryInfrastructure,
                                            SnpeUdo_String_t operationType, uint32_t numOfStaticParams,
                                            SnpeUdo_Param_t *staticParams, SnpeUdo_OpFactory_t *factory);

/* Inputs and outputs stay the host's, until SnpeUdo_releaseOp. */
SnpeUdo_ErrorType_t SnpeUdo_createOperation(SnpeUdo_OpFactory_t factory, void *perOpInfrastructure,
                                            uint32_t numOfInputs, SnpeUdo_TensorParam_t *inputs, uint32_t numOfOutputs,
                                            SnpeUdo_TensorParam_t *outputs, SnpeUdo_Operation_t *operation);

/* Unless it blocks, `notify` is called with the id when the outputs are there. */
SnpeUdo_ErrorType_t SnpeUdo_executeOp(SnpeUdo_Operation_t operation, bool blocking, const uint32_t id,
                                      SnpeUdo_ExternalNotify_t notify);

SnpeUdo_ErrorType_t SnpeUdo_releaseOp(SnpeUdo_Operation_t operation);
SnpeUdo_ErrorType_t SnpeUdo_releaseOpFactory(SnpeUdo_OpFactory_t factory);

/* The last call before unloading. */
SnpeUdo_ErrorType_t SnpeUdo_terminateImplLibrary(void);

#ifdef __cplusplus
}
#endif

#endif
