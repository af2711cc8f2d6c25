/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions: ops of one operand that the container calls Neuron. */
#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"

#define BOUNDS(bound_presence)                                                  \
    {PARAM_NAMED(min_value), .dtype = DT_FLOAT32, .presence = bound_presence},  \
    {                                                                           \
        PARAM_NAMED(max_value), .dtype = DT_FLOAT32, .presence = bound_presence \
    }
#define FLOAT_DEFAULT(param, value)                                                      \
    {                                                                                    \
        PARAM_NAMED(param), .dtype = DT_FLOAT32, .presence = PARAM_DEFAULT, .def = value \
    }

/* Files carry min_value and max_value also where they say nothing new (Relu in files of 2.20). */
static const struct param_def bound_params[] = {BOUNDS(PARAM_OPTIONAL)};
static const struct param_def min_max_params[] = {BOUNDS(PARAM_REQUIRED)};
static const struct param_def alpha_params[] = {FLOAT_DEFAULT(alpha, 1.0), BOUNDS(PARAM_OPTIONAL)};
static const struct param_def hard_sigmoid_params[] = {FLOAT_DEFAULT(alpha, 0.2), FLOAT_DEFAULT(beta, 0.5),
                                                       BOUNDS(PARAM_OPTIONAL)};
static const struct param_def softplus_params[] = {FLOAT_DEFAULT(beta, 1.0), FLOAT_DEFAULT(threshold, -1.0),
                                                   BOUNDS(PARAM_OPTIONAL)};

#define NEURON_ROW(op_name, code, param_list, types)                                                              \
    {                                                                                                             \
        .id = OP_##op_name, .name = #op_name, .dlc_type = "Neuron", .selector = "neuron_type", .operation = code, \
        .has_operation = (code) >= 0, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
        .params = param_list, .n_params = COUNT_OF(param_list), .infer = types, .permute = permute_any,           \
        .cut = cut_broadcast                                                                                      \
    }
const struct op op_rows_neuron[] = {
    NEURON_ROW(Elu, 0, alpha_params, infer_real),
    NEURON_ROW(Gelu, 1, bound_params, infer_real),
    NEURON_ROW(HardSigmoid, 2, hard_sigmoid_params, infer_real),
    NEURON_ROW(HardSwish, 3, bound_params, infer_real),
    NEURON_ROW(Sigmoid, 6, bound_params, infer_real),
    NEURON_ROW(ElementWiseSoftplus, 7, softplus_params, infer_real),
    NEURON_ROW(Tanh, 8, bound_params, infer_real),
    NEURON_ROW(Relu1, -1, bound_params, infer_real),
    NEURON_ROW(Relu6, -1, bound_params, infer_real),
    NEURON_ROW(Relu, 4, bound_params, infer_numeric),
    NEURON_ROW(ReluMinMax, 5, min_max_params, infer_numeric),
};
const size_t op_rows_neuron_count = COUNT_OF(op_rows_neuron);
