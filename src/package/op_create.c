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

bool op_validate(const struct package *p, struct op_node *op, struct op_refusal *why)
{
    if (!is_registered(p, op, why))
        return false;
    *why = (struct op_refusal){"validateOpConfig", &p->library, 0, false};
    why->error = p->functions.validateOpConfig(op->config);
    return why->error == QNN_SUCCESS;
}

bool op_create(const struct package *p, struct op_node *op, QnnOpPackage_OpImpl_t *out, struct op_refusal *why)
{
    if (!op_validate(p, op, why))
        return false;
    why->function = "createOpImpl";
    why->error = p->functions.createOpImpl(NULL, (QnnOpPackage_Node_t)&op->node, out);
    return why->error == QNN_SUCCESS && *out && (*out)->opImplFn;
}

/* ---- what packages do not take ---- */

static odlc_status unfit(const struct backend_scope *scope, const struct package *package, const struct node *n,
                         const struct library *library, const char *code, const char *words)
{
    return diag_error(scope->diags, ODLC_ERR_UNSUPPORTED, AT(.file = library->path, .node = n->name), code,
                      "op %s of package %s %s", n->op->name, package_name(package), words);
}

odlc_status op_check_types(const struct backend_scope *scope, const struct package *package, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(scope->graph, n, i);
        if (t && t->type->dtype == DT_STRING)
            return unfit(
                scope, package, n, &package->library, "package-strings",
                arena_printf(scope->arena, "gives strings as output %u ('%s'), which packages cannot", i, t->name));
    }
    return ODLC_OK;
}

odlc_status op_check_counts(const struct backend_scope *scope, const struct package *package, const struct node *n,
                            const struct op_node *op, const SnpeUdo_OperationInfo_t *registered)
{
    const QnnCpuOpPackage_Node_t *node = &op->node;
    const struct {
        const char *what;
        uint32_t found, registered;
        bool open;
    } counts[] = {
        {"inputs", node->numOfInputs, registered->numOfInputs,
         op_node_repeats(registered->inputInfos, registered->numOfInputs)},
        {"outputs", node->numOfOutputs, registered->numOfOutputs,
         op_node_repeats(registered->outputInfos, registered->numOfOutputs)},
        {"params", node->numOfParams, registered->numOfStaticParams, false},
    };
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        if (counts[i].found > counts[i].registered && !counts[i].open)
            return unfit(scope, package, n, &package->registration.library, "package-op-counts",
                         arena_printf(scope->arena, "is registered with %u %s, and the node has %u",
                                      counts[i].registered, counts[i].what, counts[i].found));
    return ODLC_OK;
}

const char *op_refusal_text(struct arena *arena, const struct op_refusal *why)
{
    if (why->error == 0)
        return "no implementation";
    return why->registration ? udo_error_text(arena, (SnpeUdo_ErrorType_t)why->error)
                             : qnn_error_text(arena, why->error);
}

odlc_status op_refused(struct diags *diags, const struct node *n, const struct package *package,
                       const struct op_refusal *why)
{
    return diag_error(diags, ODLC_ERR_INVALID, AT(.file = why->library->path, .node = n->name), "package-op-failed",
                      "%s of op %s, package %s, gives %s", why->function, n->op->name, package_name(package),
                      op_refusal_text(diags->arena, why));
}
