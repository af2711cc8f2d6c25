/* SPDX-License-Identifier: Apache-2.0 */
/* Error numbers of packages in words. */
#ifndef PACKAGE_STATUS_TEXT_H
#define PACKAGE_STATUS_TEXT_H

#include "base/arena.h"
#include "sdk/QNN/QnnCommon.h"
#include "sdk/SnpeUdo/UdoBase.h"

/* "error 3004 (QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)"; of a number without a name, the number. */
const char *qnn_error_text(struct arena *arena, Qnn_ErrorHandle_t error);
const char *udo_error_text(struct arena *arena, SnpeUdo_ErrorType_t error);

#endif
