/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's front end. */
#ifndef CONVERTERS_TENSORFLOW_TF_FRONTEND_H
#define CONVERTERS_TENSORFLOW_TF_FRONTEND_H

#include "converters/frontend/frontend.h"

extern const struct frontend tensorflow_frontend;

#endif
