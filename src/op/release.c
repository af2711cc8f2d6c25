/* SPDX-License-Identifier: Apache-2.0 */
#include "op/release.h"

#include <string.h>

#define NEURON "Neuron"
#define NEWER_NEURON "ElementWiseNeuron"

struct op_spelling op_spelling(const struct op *op, uint32_t release)
{
    if (release < RELEASE_NEWER || !op->has_operation)
        return (struct op_spelling){.type = op->dlc_type, .selector = op->selector};
    const char *type = strcmp(op->dlc_type, NEURON) == 0 ? NEWER_NEURON : op->dlc_type;
    return (struct op_spelling){.type = type, .has_operation = true, .operation = op->operation};
}

const char *op_older_type(const char *type)
{
    /* The last two are the master list's names, which op_spelling does not give. */
    static const struct {
        const char *newer, *older;
    } forms[] = {
        {NEWER_NEURON, NEURON},
        {"ElementWiseBinary", "Eltwise_Binary"},
        {"ElementWiseUnary", "Eltwise_Unary"},
    };
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        if (strcmp(type, forms[i].newer) == 0)
            return forms[i].older;
    return type;
}

uint32_t op_type_known_since(const char *dlc_type)
{
    static const struct {
        const char *type;
        uint32_t since;
    } known[] = {
#define KNOWN(type, major, minor) {#type, RELEASE(major, minor)},
#include "op/known_types.def"
#undef KNOWN
    };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strcmp(dlc_type, known[i].type) == 0)
            return known[i].since;
    return 0;
}
