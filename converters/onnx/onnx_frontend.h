/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX's front end. */
#ifndef CONVERTERS_ONNX_ONNX_FRONTEND_H
#define CONVERTERS_ONNX_ONNX_FRONTEND_H

#include "converters/frontend/frontend.h"

extern const struct frontend onnx_frontend;

#endif
