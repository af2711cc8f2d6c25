/* SPDX-License-Identifier: Apache-2.0 */
/* What a registration library exports, lib<Udo><Package>Reg.so: called in this order, from one thread. */
#ifndef SNPE_UDO_REG_H
#define SNPE_UDO_REG_H

#include "UdoShared.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The first call after loading. */
SnpeUdo_ErrorType_t SnpeUdo_initRegLibrary(void);

/* The package, in the library's memory until SnpeUdo_terminateRegLibrary. */
SnpeUdo_ErrorType_t SnpeUdo_getRegInfo(SnpeUdo_RegInfo_t **registrationInfo);

/* Whether the package can execute the operation with these params: those of the node, in the order in which the library
 * registers them, floats as float32. Called for each node before its op is created; what is not SNPE_UDO_NO_ERROR
 * refuses the node. A library need not export this one. */
SnpeUdo_ErrorType_t SnpeUdo_validateOperation(SnpeUdo_String_t operationType, uint32_t numOfStaticParams,
                                              const SnpeUdo_Param_t *staticParams);

/* The last call before unloading. */
SnpeUdo_ErrorType_t SnpeUdo_terminateRegLibrary(void);

#ifdef __cplusplus
}
#endif

#endif
