/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of plugins that nothing can ever be taken for. */
#include "plugin/plugin_graph.h"
#include "trial/plugin_trial.h"
#include "trial/plugin_types.h"

/* ---- against the config ---- */

/* The types that packages are told for what the config lets an operand have; 0: any. */
static uint32_t told_types(const struct udo_tensor *t)
{
    uint32_t types = 0;
    const uint64_t dtypes = plugin_types_of(t);
    for (int dtype = 1; dtype < DT_COUNT; dtype++)
        if (dtypes >> dtype & 1)
            types |= 1u << element_type_of((enum dtype)dtype);
    return types & ~(1u << QHPI_ELEMENT_TYPE_ANY);
}

static bool admits(const QHPI_Tensor_Signature_v1 *signature, uint32_t types)
{
    return signature->element_type == QHPI_ELEMENT_TYPE_ANY || types == 0 || types >> signature->element_type & 1;
}

static void check_against(struct contained *c, const QHPI_Kernel_v1 *k, const struct udo_def *def)
{
    const uint32_t n_inputs = def->n_inputs + def->n_scalar_params + def->n_tensor_params;
    bool repeated = false;
    for (uint32_t i = 0; i < def->n_inputs; i++)
        repeated |= def->inputs[i].repeated;
    if (!repeated && !k->variable_inputs && k->min_inputs != n_inputs)
        contained_found(c, "plugin-signature-unmatched", "params count as inputs, behind the others",
                        "has kernel %s, which takes %u inputs, and the config describes %u with the params",
                        k->function_name, k->min_inputs, n_inputs);
    for (uint32_t i = 0; i < k->min_inputs && i < def->n_inputs && !repeated; i++)
        if (!admits(&k->input_signature[i], told_types(&def->inputs[i])))
            contained_found(c, "plugin-signature-unmatched",
                            "give the config the type, or the kernel another signature",
                            "has kernel %s, whose input %u is %s, which the config does not let it be",
                            k->function_name, i, element_type_name(k->input_signature[i].element_type));
}

/* ---- against each other ---- */

/* Whether the first signature takes all that the second one takes. */
static bool covers_one(const QHPI_Tensor_Signature_v1 *a, const QHPI_Tensor_Signature_v1 *b)
{
    const bool type = a->element_type == QHPI_ELEMENT_TYPE_ANY || a->element_type == b->element_type;
    const bool layout = a->layout == b->layout || (a->layout == QHPI_LAYOUT_ANY && b->layout == QHPI_LAYOUT_FLAT_4);
    return type && layout && (a->storage & b->storage) == b->storage;
}

static bool covers_all(const QHPI_Tensor_Signature_v1 *a, uint32_t n_a, bool more_a, const QHPI_Tensor_Signature_v1 *b,
                       uint32_t n_b, bool more_b)
{
    if (more_a ? n_a > n_b : more_b || n_a != n_b)
        return false;
    for (uint32_t i = 0; i < n_b; i++)
        if (n_a && !covers_one(&a[i < n_a ? i : n_a - 1], &b[i]))
            return false;
    return true;
}

static bool is_behind(const QHPI_Kernel_v1 *first, const QHPI_Kernel_v1 *later)
{
    return !first->predicate &&
           covers_all(first->input_signature, first->min_inputs, first->variable_inputs, later->input_signature,
                      later->min_inputs, later->variable_inputs) &&
           covers_all(first->output_signature, first->min_outputs, first->variable_outputs, later->output_signature,
                      later->min_outputs, later->variable_outputs);
}

void plugin_signatures(struct contained *c, const struct plugin_op *op, const struct udo_def *def, bool rewritten)
{
    for (uint32_t k = 0; k < op->info.num_kernels; k++) {
        const QHPI_Kernel_v1 *kernel = &op->info.kernels[k];
        if (!rewritten)
            check_against(c, kernel, def);
        for (uint32_t j = 0; j < k; j++)
            if (is_behind(&op->info.kernels[j], kernel))
                contained_found(c, "plugin-kernel-unreachable", "kernels are tried in their order: let it come first",
                                "has kernel %s behind kernel %s, which takes all that it takes", kernel->function_name,
                                op->info.kernels[j].function_name);
    }
}
