/* SPDX-License-Identifier: Apache-2.0 */
#include "op/infer.h"

#include <stdarg.h>

const char *op_subject(const struct diags *diags, const struct op *op)
{
    return diags->subject ? diags->subject : op->name;
}

odlc_status infer_error(const struct infer *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(c->diags->arena, format, args);
    va_end(args);
    const char *node = c->node->source ? c->node->source : c->node->name;
    return diag_error(c->diags, ODLC_ERR_INVALID, AT(.node = node), "shape", "%s: %s",
                      op_subject(c->diags, c->node->op), message);
}

const struct type *infer_in(const struct infer *c, uint32_t i)
{
    return node_input(c->graph, c->node, i)->type;
}

odlc_status infer_same(const struct infer *c)
{
    c->out[0] = *infer_in(c, 0);
    return ODLC_OK;
}

const struct type *infer_known_output(const struct infer *c)
{
    const struct tensor *t = c->node->outputs ? node_output(c->graph, c->node, 0) : NULL;
    return t ? t->type : NULL;
}

odlc_status need_real(const struct infer *c)
{
    for (uint32_t i = 0; i < c->node->n_inputs; i++) {
        const struct tensor *in = node_input(c->graph, c->node, i);
        if (in && !dtype_is_float(in->type->dtype) && !dtype_is_fixed(in->type->dtype))
            return infer_error(c, "an input of type %s is not floating point", dtype_info(in->type->dtype)->name);
    }
    return ODLC_OK;
}

odlc_status need_alike(const struct infer *c)
{
    const char *first = dtype_info(infer_in(c, 0)->dtype)->name;
    if (!dtype_is_int(infer_in(c, 0)->dtype))
        return need_real(c);
    for (uint32_t i = 1; i < c->node->n_inputs; i++) {
        const struct tensor *in = node_input(c->graph, c->node, i);
        if (in && !dtype_is_int(in->type->dtype))
            return infer_error(c, "the operands' types %s and %s differ", first, dtype_info(in->type->dtype)->name);
    }
    return ODLC_OK;
}

bool can_stand_together(enum dtype a, enum dtype b)
{
    return a == b || (dtype_is_fixed(a) && (dtype_is_fixed(b) || dtype_is_float(b))) ||
           (dtype_is_float(a) && dtype_is_fixed(b));
}

odlc_status infer_real(const struct infer *c)
{
    TRY(need_real(c));
    return infer_same(c);
}

odlc_status infer_numeric(const struct infer *c)
{
    TRY(need_alike(c));
    return infer_same(c);
}
