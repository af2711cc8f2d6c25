/* SPDX-License-Identifier: Apache-2.0 */
/* What published lists say of a container's ops (op/processors.h). */
#include <string.h>

#include "dlc/record.h"
#include "op/processors.h"
#include "opendlc/container.h"

_Static_assert((int)ODLC_PROCESSORS == (int)N_PROCESSORS && (int)ODLC_PROCESSOR_HTP == (int)PROCESSOR_HTP &&
                   (int)ODLC_LISTING_YES == (int)LISTING_YES,
               "the numbers are those of op/processors.h");

const char *odlc_processor_name(odlc_processor processor)
{
    const int number = (int)processor;
    return number >= 0 && number < (int)N_PROCESSORS ? processor_name((enum processor)number) : NULL;
}

odlc_listing odlc_op_listing(const struct odlc_op *op, odlc_processor processor)
{
    if (!op->operator_name || !odlc_processor_name(processor))
        return ODLC_LISTING_UNKNOWN;
    return (odlc_listing)processor_lists((enum processor)processor, op->operator_name);
}

/* The type of a tensor of real numbers that is computed, if the processor is not said to take it; else NULL. */
static const char *unlisted_type(const struct odlc_tensor *t, enum processor processor)
{
    if (!t || strcmp(t->kind, "STATIC") == 0 || (t->element != ODLC_CLASS_FLOAT && t->element != ODLC_CLASS_FIXED))
        return NULL;
    const struct dlc_tensor *record = t->handle;
    return processor_takes(processor, (enum dtype)record->dtype) ? NULL : t->dtype;
}

const char *odlc_op_unlisted_type(const struct odlc_op *op, odlc_processor processor)
{
    const char *found = NULL;
    if (!odlc_processor_name(processor))
        return NULL;
    for (size_t i = 0; i < op->n_inputs && !found; i++)
        found = unlisted_type(op->inputs[i].tensor, (enum processor)processor);
    for (size_t i = 0; i < op->n_outputs && !found; i++)
        found = unlisted_type(op->outputs[i].tensor, (enum processor)processor);
    return found;
}
