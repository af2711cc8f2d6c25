/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/plugin_types.h"

#include <string.h>

#include "plugin/plugin_graph.h"

static const enum dtype quantized[] = {
    [QHPI_QUINT8] = DT_UFXP8, [QHPI_QUINT16] = DT_UFXP16,  [QHPI_QINT8] = DT_SFXP8,    [QHPI_QINT16] = DT_SFXP16,
    [QHPI_INT32] = DT_INT32,  [QHPI_FLOAT32] = DT_FLOAT32, [QHPI_FLOAT16] = DT_FLOAT16};

uint64_t plugin_types_of(const struct udo_tensor *t)
{
    static const enum dtype pairs[][2] = {
        {DT_UFXP8, DT_SFXP8}, {DT_UFXP16, DT_SFXP16}, {DT_UFXP32, DT_SFXP32}}; /* FIXED_8 has no sign */
    uint64_t dtypes = t->several;
    if (t->dtype != DT_NONE)
        dtypes |= DTYPE_BIT(t->dtype);
    for (int core = 0; core < UDO_CORES; core++)
        if (t->per_core && t->core_dtypes[core] != DT_NONE)
            dtypes |= DTYPE_BIT(t->core_dtypes[core]);
    for (size_t i = 0; t->place.pointer && i < COUNT_OF(pairs); i++)
        if (dtypes & DTYPE_BIT(pairs[i][0]))
            dtypes |= DTYPE_BIT(pairs[i][1]);
    return dtypes;
}

/* The type of the operand that packages are told is that one; DT_NONE: the config does not allow it. */
static enum dtype dtype_for(const struct udo_tensor *t, uint32_t element)
{
    const uint64_t allowed = plugin_types_of(t);
    if (!allowed || allowed & DTYPE_BIT(quantized[element]))
        return quantized[element];
    for (int dtype = 1; dtype < DT_COUNT; dtype++)
        if (allowed >> dtype & 1 && (uint32_t)element_type_of((enum dtype)dtype) == element)
            return (enum dtype)dtype;
    return DT_NONE;
}

static void add(struct arena *arena, struct typings *typings, const enum dtype *dtypes, size_t count)
{
    for (size_t i = 0; i < typings->list.count; i++)
        if (memcmp(typings->list.data[i].dtypes, dtypes, count * sizeof *dtypes) == 0)
            return;
    vec_push(arena, &typings->list, (struct typing){dtypes});
}

/* False: the config does not allow what the signature asks for. */
static bool by_signature(const QHPI_Tensor_Signature_v1 *signature, uint32_t n_signature,
                         const struct udo_tensor *tensors, uint32_t count, enum dtype *out)
{
    for (uint32_t i = 0; i < count && n_signature; i++) {
        const uint32_t element = signature[i < n_signature ? i : n_signature - 1].element_type;
        if (element == QHPI_ELEMENT_TYPE_ANY)
            continue;
        out[i] = dtype_for(&tensors[i], element);
        if (out[i] == DT_NONE)
            return false;
    }
    return true;
}

/* All operands that may have it. */
static bool of_one_type(const struct udo_def *def, uint32_t element, enum dtype *out)
{
    bool any = false;
    for (uint32_t i = 0; i < def->n_inputs; i++)
        any |= (out[i] = dtype_for(&def->inputs[i], element)) != DT_NONE;
    for (uint32_t i = 0; i < def->n_outputs; i++)
        out[def->n_inputs + i] = dtype_for(&def->outputs[i], element);
    return any;
}

struct typings plugin_typings(struct arena *arena, const struct plugin_op *op, const struct udo_def *def)
{
    const size_t count = def->n_inputs + def->n_outputs;
    struct typings typings = {0};
    add(arena, &typings, arena_array(arena, enum dtype, count), count);
    for (uint32_t k = 0; k < op->info.num_kernels; k++) {
        const QHPI_Kernel_v1 *kernel = &op->info.kernels[k];
        enum dtype *dtypes = arena_array(arena, enum dtype, count);
        if (by_signature(kernel->input_signature, kernel->min_inputs, def->inputs, def->n_inputs, dtypes) &&
            by_signature(kernel->output_signature, kernel->min_outputs, def->outputs, def->n_outputs,
                         dtypes + def->n_inputs))
            add(arena, &typings, dtypes, count);
    }
    for (uint32_t element = QHPI_QUINT8; !op->info.num_kernels && element <= QHPI_FLOAT16; element++) {
        enum dtype *dtypes = arena_array(arena, enum dtype, count);
        if (of_one_type(def, element, dtypes))
            add(arena, &typings, dtypes, count);
    }
    return typings;
}
