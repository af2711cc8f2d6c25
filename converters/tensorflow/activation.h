/* Activations that are fused into other operators. */
#ifndef CONVERTERS_TENSORFLOW_ACTIVATION_H
#define CONVERTERS_TENSORFLOW_ACTIVATION_H

#include "converters/lower.h"

/* Output 0: the activation of x that `fused_ops` calls by that name. */
odlc_status give_activation(struct lower *l, const char *name, tensor_id x) MUST_USE;

#endif
