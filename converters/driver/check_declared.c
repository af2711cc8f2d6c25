/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/check_declared.h"

static bool has_other_dims(const struct fw_value *v, const struct shape *shape)
{
    bool other = v->has_shape && v->rank != shape->rank;
    for (uint32_t k = 0; v->has_shape && !other && k < v->rank; k++) {
        bool is_number = v->dims[k] != DIM_OPEN && !(v->symbols && v->symbols[k]);
        other = is_number && v->dims[k] != shape->dims[k];
    }
    return other;
}

/* The declared dimensions of an output against the computed ones. */
static void compare_dims(struct scope *s, const struct fw_node *n, const struct fw_value *v, const struct shape *shape)
{
    const struct context *c = s->all->c;
    const struct fw_value *outputs = s->graph->outputs.data;
    if (!has_other_dims(v, shape))
        return;
    const char *text = arena_printf(c->arena, "the model declares %s as [%s], but %s gives %s", v->name,
                                    fw_dims_text(c->arena, v), n->op->type, shape_text(c->arena, shape));
    if (outputs <= v && v < outputs + s->graph->outputs.count)
        diag_warn(c->diags, AT(.file = s->all->path, .node = n->name), "declared-dims", "%s", text);
    else if (!s->all->contradictions.count++) {
        s->all->contradictions.node = n->name;
        s->all->contradictions.said = text;
    }
}

void warn_of_contradictions(const struct lowering *all)
{
    const struct contradictions *found = &all->contradictions;
    const struct odlc_diag *at = AT(.file = all->path, .node = found->node);
    if (found->count == 1)
        diag_warn(all->c->diags, at, "declared-dims", "%s", found->said);
    if (found->count > 1)
        diag_warn(all->c->diags, at, "declared-dims",
                  "%s: %u values inside of the model are declared otherwise, this one first", found->said,
                  found->count);
}

odlc_status check_declared(struct scope *s, const struct fw_node *n, size_t k, tensor_id id)
{
    const struct context *c = s->all->c;
    const struct fw_value *v = s->outer ? NULL : scope_declared(s, n, k);
    const struct tensor *t = graph_tensor(s->all->b.graph, id);
    if (v && v->dtype != DT_NONE && v->dtype != t->type->dtype)
        return diag_error(c->diags, ODLC_ERR_INVALID, AT(.file = s->all->path, .node = n->name), "declared-type",
                          "the model declares %s as %s, but %s gives %s", n->outputs[k], dtype_info(v->dtype)->name,
                          n->op->type, dtype_info(t->type->dtype)->name);
    if (v)
        compare_dims(s, n, v, &t->type->shape);
    return ODLC_OK;
}
