/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that tell shapes and types of outputs while a model is converted: for ops of a type T the C functions
 *
 *     Qnn_ErrorHandle_t TShapeInference(Qnn_OpConfig_t *op);
 *     Qnn_ErrorHandle_t TDataTypeInference(Qnn_OpConfig_t *op);
 *
 * Outputs come with rank 0, room for 8 dimensions and the type QNN_DATATYPE_UNDEFINED, and leave with what the function
 * tells. A library without the function, and QNN_COMMON_ERROR_NOT_SUPPORTED, are no answer. Libraries are loaded and
 * called in processes of their own, one for each node. */
#ifndef PACKAGE_INFERENCE_H
#define PACKAGE_INFERENCE_H

#include "udo/told.h"

/* The seconds that a library may take to be loaded and answer. */
#define INFERENCE_SECONDS 10

/* Makes sure that all libraries can be loaded, and gives who asks them, in their order, for a udo_set; in the arena.
 * ODLC_ERR_IO, ODLC_ERR_UNSUPPORTED: as library_open; ODLC_ERR_INVALID: loading a library ends the process, or does not
 * end. Errors of all libraries are reported. */
odlc_status inference_open(struct arena *arena, struct diags *diags, const char *const *paths, size_t count,
                           const struct udo_oracle **out) MUST_USE;

#endif
