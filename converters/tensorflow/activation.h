/* Activations that are fused into other operators. */
#ifndef CONVERTERS_TENSORFLOW_ACTIVATION_H
#define CONVERTERS_TENSORFLOW_ACTIVATION_H

#include "converters/lowering/steps.h"

/* The activation of x that `fused_ops` calls by that name; another name is an error. */
tensor_id step_activation(struct steps *s, const char *name, tensor_id x);

#endif
