/* SPDX-License-Identifier: Apache-2.0 */
/* Activations that are fused into other operators. */
#ifndef CONVERTERS_TENSORFLOW_LOWER_ACTIVATION_H
#define CONVERTERS_TENSORFLOW_LOWER_ACTIVATION_H

#include "converters/lowering/emit.h"

/* The activation of x that `fused_ops` calls by that name; another name is an error. */
tensor_id emit_activation(struct emit *s, const char *name, tensor_id x);

#endif
