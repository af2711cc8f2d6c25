/* SPDX-License-Identifier: Apache-2.0 */
/* What registration and implementation libraries have in common. */
#ifndef SNPE_UDO_SHARED_H
#define SNPE_UDO_SHARED_H

#include "UdoBase.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The versions of the library and of its interface, in the library's memory. SNPE_UDO_INVALID_ARGUMENT: NULL. */
SnpeUdo_ErrorType_t SnpeUdo_getVersion(SnpeUdo_LibVersion_t **version);

#ifdef __cplusplus
}
#endif

#endif
