/* SPDX-License-Identifier: Apache-2.0 */
#include "package/op_create.h"

#include "package/status_text.h"

static bool is_registered(const struct package *p, struct op_node *op, struct op_refusal *why)
{
    const struct registration *r = &p->registration;
    if (!r->info || !r->validate)
        return true;
    *why = (struct op_refusal){"SnpeUdo_validateOperation", &r->library, 0, true};
    why->error = (uint64_t)r->validate((SnpeUdo_String_t)op->node.typeName, op->n_static_params, op->static_params);
    return why->error == SNPE_UDO_NO_ERROR;
}

bool op_create(const struct package *p, struct op_node *op, QnnOpPackage_OpImpl_t *out, struct op_refusal *why)
{
    if (!is_registered(p, op, why))
        return false;
    *why = (struct op_refusal){"validateOpConfig", &p->library, 0, false};
    why->error = p->functions.validateOpConfig(op->config);
    if (why->error != QNN_SUCCESS)
        return false;
    why->function = "createOpImpl";
    why->error = p->functions.createOpImpl(NULL, (QnnOpPackage_Node_t)&op->node, out);
    return why->error == QNN_SUCCESS && *out && (*out)->opImplFn;
}

const char *op_refusal_text(struct arena *arena, const struct op_refusal *why)
{
    if (why->error == 0)
        return "no implementation";
    return why->registration ? udo_error_text(arena, (SnpeUdo_ErrorType_t)why->error)
                             : qnn_error_text(arena, why->error);
}
