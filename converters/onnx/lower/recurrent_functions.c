/* SPDX-License-Identifier: Apache-2.0 */
/* The activation functions of LSTM, GRU and RNN. */
#include <string.h>
#include <strings.h>

#include "converters/onnx/lower/recurrent.h"

typedef tensor_id apply_fn(struct emit *s, const struct activation *a, tensor_id x);

static tensor_id apply_relu(struct emit *s, const struct activation *a, tensor_id x)
{
    (void)a;
    return emit_unary(s, OP_Relu, x);
}

static tensor_id apply_tanh(struct emit *s, const struct activation *a, tensor_id x)
{
    (void)a;
    return emit_unary(s, OP_Tanh, x);
}

static tensor_id apply_sigmoid(struct emit *s, const struct activation *a, tensor_id x)
{
    (void)a;
    return emit_unary(s, OP_Sigmoid, x);
}

static tensor_id apply_softplus(struct emit *s, const struct activation *a, tensor_id x)
{
    (void)a;
    return emit_unary(s, OP_ElementWiseSoftplus, x);
}

static tensor_id apply_softsign(struct emit *s, const struct activation *a, tensor_id x)
{
    (void)a;
    tensor_id magnitude = emit_unary(s, OP_ElementWiseAbs, x);
    return emit_binary(s, OP_ElementWiseDivide, x, emit_binary(s, OP_ElementWiseAdd, magnitude, emit_scalar(s, x, 1)));
}

static tensor_id apply_affine(struct emit *s, const struct activation *a, tensor_id x)
{
    tensor_id scaled = emit_binary(s, OP_ElementWiseMultiply, x, emit_scalar(s, x, a->alpha));
    return emit_binary(s, OP_ElementWiseAdd, scaled, emit_scalar(s, x, a->beta));
}

static tensor_id apply_scaled_tanh(struct emit *s, const struct activation *a, tensor_id x)
{
    tensor_id tanh = emit_unary(s, OP_Tanh, emit_binary(s, OP_ElementWiseMultiply, x, emit_scalar(s, x, a->beta)));
    return emit_binary(s, OP_ElementWiseMultiply, tanh, emit_scalar(s, x, a->alpha));
}

static tensor_id apply_leaky_relu(struct emit *s, const struct activation *a, tensor_id x)
{
    return emit_binary(s, OP_Prelu, x, emit_scalar(s, x, a->alpha));
}

/* Here x = alpha stays, other than in the operator of that name. */
static tensor_id apply_thresholded_relu(struct emit *s, const struct activation *a, tensor_id x)
{
    tensor_id above = emit_binary(s, OP_ElementWiseGreaterEqual, x, emit_scalar(s, x, a->alpha));
    return emit_select(s, above, x, emit_scalar(s, x, 0));
}

static tensor_id apply_hard_sigmoid(struct emit *s, const struct activation *a, tensor_id x)
{
    return emit_hard_sigmoid(s, x, a->alpha, a->beta);
}

static tensor_id apply_elu(struct emit *s, const struct activation *a, tensor_id x)
{
    return emit_elu(s, x, a->alpha);
}

enum value_use { UNUSED, DEFAULTED, NEEDED };

/* Affine and ScaledTanh have no operator from which values could come where the node gives none. */
static const struct function {
    const char *name;
    apply_fn *apply;
    enum value_use alpha, beta;
    double default_alpha, default_beta;
} functions[] = {
    {"Affine", apply_affine, NEEDED, NEEDED, 0, 0},
    {"Elu", apply_elu, DEFAULTED, UNUSED, 1, 0},
    {"HardSigmoid", apply_hard_sigmoid, DEFAULTED, DEFAULTED, (double)0.2f, 0.5},
    {"LeakyRelu", apply_leaky_relu, DEFAULTED, UNUSED, (double)0.01f, 0},
    {"Relu", apply_relu, UNUSED, UNUSED, 0, 0},
    {"ScaledTanh", apply_scaled_tanh, NEEDED, NEEDED, 0, 0},
    {"Sigmoid", apply_sigmoid, UNUSED, UNUSED, 0, 0},
    {"Softplus", apply_softplus, UNUSED, UNUSED, 0, 0},
    {"Softsign", apply_softsign, UNUSED, UNUSED, 0, 0},
    {"Tanh", apply_tanh, UNUSED, UNUSED, 0, 0},
    {"ThresholdedRelu", apply_thresholded_relu, DEFAULTED, UNUSED, 1, 0},
};

tensor_id recurrent_activate(struct emit *s, const struct activation *a, tensor_id x)
{
    return functions[a->function].apply(s, a, x);
}

/* ---- reading ---- */

/* The list activation_alpha or activation_beta: functions take their values from it in their order. */
struct values {
    const char *name;
    const float *list;
    uint32_t count, taken;
};

static odlc_status take_value(struct lower *l, struct values *v, enum value_use use, const char *function,
                              double absent, double *out)
{
    *out = absent;
    if (use == UNUSED)
        return ODLC_OK;
    if (v->taken < v->count)
        *out = (double)v->list[v->taken];
    else if (use == NEEDED)
        return lower_unsupported(l, v->name, "say which value it has", "%s has no value for the function %s", v->name,
                                 function);
    v->taken++;
    return ODLC_OK;
}

/* Values that no function takes: they may be meant for functions without values, and then all others are meant
 * otherwise, too. */
static odlc_status refuse_rest(struct lower *l, const struct values *v)
{
    if (v->taken == 0 || v->count <= v->taken)
        return ODLC_OK;
    return lower_unsupported(l, v->name, "give one value for each function that takes one",
                             "%s has %u values, but %u functions take one", v->name, v->count, v->taken);
}

static odlc_status find_function(struct lower *l, const char *name, uint32_t *out)
{
    for (uint32_t i = 0; i < COUNT_OF(functions); i++)
        if (strcasecmp(functions[i].name, name) == 0) {
            *out = i;
            return ODLC_OK;
        }
    return lower_invalid(l, "activations", NULL, "the activation function \"%s\" is not known", name);
}

odlc_status recurrent_read_functions(struct lower *l, struct recurrent *r)
{
    struct values alpha = {.name = "activation_alpha"}, beta = {.name = "activation_beta"};
    const char *const *names;
    uint32_t count, per_direction = r->kind->functions;
    TRY(lower_attr_strings(l, "activations", &names, &count));
    TRY(lower_attr_floats(l, alpha.name, &alpha.list, &alpha.count));
    TRY(lower_attr_floats(l, beta.name, &beta.list, &beta.count));
    if (count != 0 && count != per_direction * r->directions)
        return lower_invalid(l, "activations", NULL, "there are %u activation functions instead of %u", count,
                             per_direction * r->directions);
    for (uint32_t i = 0; i < per_direction * r->directions; i++) {
        struct activation *a = &r->functions[i / per_direction][i % per_direction];
        TRY(find_function(l, count ? names[i] : r->kind->default_functions[i % per_direction], &a->function));
        const struct function *f = &functions[a->function];
        TRY(take_value(l, &alpha, f->alpha, f->name, f->default_alpha, &a->alpha));
        TRY(take_value(l, &beta, f->beta, f->name, f->default_beta, &a->beta));
    }
    TRY(refuse_rest(l, &alpha));
    return refuse_rest(l, &beta);
}

bool recurrent_has_default_functions(const struct recurrent *r)
{
    for (uint32_t d = 0; d < r->directions; d++)
        for (uint32_t i = 0; i < r->kind->functions; i++)
            if (strcmp(functions[r->functions[d][i].function].name, r->kind->default_functions[i]) != 0)
                return false;
    return true;
}
