/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/lower_node.h"

#include <string.h>

#include "converters/driver/bind_udo.h"
#include "converters/driver/check_declared.h"
#include "converters/driver/check_support.h"
#include "converters/driver/lower_parts.h"
#include "converters/lowering/lower_table.h"

enum { FEW_OPERANDS = 8 }; /* most nodes have no more */

static bool has_trait(const struct fw_node *n, unsigned traits)
{
    const struct lower_row *row = n->op->claimed_by ? NULL : n->op->row;
    return row && (row->kind.traits & traits) != 0;
}

static bool is_dead(const struct fw_node *n, const struct lower_value *values, uint32_t count)
{
    bool dead = false;
    for (uint32_t i = 0; i < count; i++)
        dead |= values[i].kind == VALUE_DEAD;
    return dead && !has_trait(n, TAKES_DEAD);
}

/* Reads the inputs; false when one of them cannot be had. */
static bool resolve_inputs(struct scope *s, const struct fw_node *n, struct lower_value *values, tensor_id *ids,
                           uint32_t *count)
{
    *count = 0;
    for (size_t k = 0; k < n->n_inputs; k++) {
        ids[k] = NO_TENSOR;
        if (fw_in_id(n, k) == FW_NO_NAME)
            continue;
        const bool found = scope_find(s, fw_in_id(n, k), &values[k]);
        if (found && values[k].kind == VALUE_ABSENT)
            (void)report_not_given(s->all, n->name, n->inputs[k]);
        if (!found || values[k].kind == VALUE_ABSENT || values[k].kind == VALUE_SPOILED)
            return false;
        ids[k] = values[k].kind == VALUE_TENSOR ? values[k].tensor : NO_TENSOR;
        *count = (uint32_t)k + 1;
    }
    return true;
}

/* The IR node that gives the framework node's first output goes by that node's name, unless another part of the
 * lowering has it already. */
static void keep_node_name(struct graph *g, const struct fw_node *n, tensor_id out)
{
    node_id producer = out == NO_TENSOR ? NO_NODE : graph_tensor(g, out)->producer;
    if (producer == NO_NODE)
        return;
    const struct node *node = graph_node(g, producer);
    bool named_after_tensor = strcmp(node->name, graph_tensor(g, out)->name) == 0;
    if (node->source != n->name || node->layout_only || !named_after_tensor)
        return;
    graph_rename_node(g, producer, n->name);
}

/* Operators of tensors get nothing else, but for complex numbers where the row says so. */
static odlc_status check_kinds(const struct lower *l, bool takes_complex)
{
    for (uint32_t i = 0; i < l->n_in; i++)
        if (l->values[i].kind > VALUE_TENSOR && !(takes_complex && l->values[i].kind == VALUE_COMPLEX))
            return lower_unsupported(l, NULL, NULL, "input %u is %s instead of a tensor", i,
                                     value_kind_text(&l->values[i]));
    return ODLC_OK;
}

static odlc_status check_strings(const struct lower *l)
{
    if (l->node->op->takes_strings)
        return ODLC_OK;
    for (uint32_t i = 0; i < l->n_in; i++)
        if (l->in[i] != NO_TENSOR && build_type(l->b, l->in[i])->dtype == DT_STRING)
            return lower_invalid(l, NULL, NULL, "input %u holds strings, which the operator does not take", i);
    return ODLC_OK;
}

/* Runtimes read another number than 0 and 1 as either of them. */
static odlc_status check_flags(const struct context *c, const struct lower *l)
{
    const struct fw_op *op = l->node->op;
    for (uint32_t i = 0; c->frontend->is_flag && !*op->domain && i < l->node->n_attrs; i++) {
        const struct fw_attr *a = &l->node->attrs[i];
        bool is_other = a->kind == FW_INT && a->i != 0 && a->i != 1;
        if (is_other && c->frontend->is_flag(op->type, op->version, a->name))
            return lower_invalid(l, a->name, "1 says yes, 0 no", "%s is %lld instead of 0 or 1", a->name,
                                 (long long)a->i);
    }
    return ODLC_OK;
}

/* What the model declares of the outputs of a node, which goes by other names in an inner graph. */
static odlc_status run_claimed(struct scope *s, const struct fw_node *n, struct lower *l)
{
    const struct fw_value **declared = arena_array(s->all->c->scratch, const struct fw_value *, n->n_outputs);
    for (size_t i = 0; i < n->n_outputs; i++)
        declared[i] = scope_declared(s, n, i);
    return lower_claimed(s->all, l, n->op->claimed_by, declared);
}

static odlc_status run_row(struct scope *s, const struct fw_node *n, struct lower *l)
{
    const struct lower_row *row = n->op->row;
    bool claimed = n->op->claimed_by != NULL, by_parts = has_trait(n, TAKES_PARTS) && lower_takes_complex(l);
    if (!claimed && !row) /* the survey leaves nodes of branches to their lowering: a branch may not be taken */
        return n->op->reported ? ODLC_ERR_UNSUPPORTED : report_missing_op(s->all->c, s->all->in, l->node);
    if (!has_trait(n, TAKES_VALUES | TAKES_DEAD | HOLDS_BRANCHES))
        TRY(check_kinds(l, has_trait(n, TAKES_PARTS | TAKES_COMPLEX)));
    if (claimed)
        return run_claimed(s, n, l);
    TRY(check_strings(l));
    TRY(check_flags(s->all->c, l));
    l->op = row->kind.op;
    l->variant = row->kind.variant;
    return by_parts ? lower_parts(l, row->fn) : row->fn(l);
}

/* The outputs of a node that was lowered. */
static odlc_status define_outputs(struct scope *s, const struct lower *l, const struct fw_node *n)
{
    for (size_t k = 0; k < n->n_outputs; k++) {
        if (fw_out_id(n, k) == FW_NO_NAME)
            continue;
        struct lower_value value = l->results[k];
        if (value.kind == VALUE_ABSENT && l->out[k] != NO_TENSOR)
            value = (struct lower_value){.kind = VALUE_TENSOR, .tensor = l->out[k]};
        if (value.kind == VALUE_TENSOR)
            TRY(check_declared(s, n, k, value.tensor));
        scope_define(s, fw_out_id(n, k), value);
    }
    return ODLC_OK;
}

/* The node under the names that it has in the graph; these are kept, for tensors go by them. */
static const struct fw_node *named_in(const struct scope *s, const struct fw_node *n)
{
    if (!s->prefix)
        return n;
    struct fw_node *copy = arena_new(s->all->c->scratch, struct fw_node);
    const char **outputs = arena_array(s->all->c->scratch, const char *, n->n_outputs);
    for (size_t k = 0; k < n->n_outputs; k++)
        outputs[k] = scope_name(s, n->outputs[k]);
    *copy = *n;
    copy->name = scope_name(s, n->name);
    copy->outputs = outputs;
    return copy;
}

static odlc_status define_dead(struct scope *s, const struct fw_node *n)
{
    for (size_t k = 0; k < n->n_outputs; k++)
        if (fw_out_id(n, k) != FW_NO_NAME)
            scope_define(s, fw_out_id(n, k), (struct lower_value){.kind = VALUE_DEAD});
    return ODLC_OK;
}

static odlc_status lower_resolved(struct scope *s, const struct fw_node *n, struct lower *l)
{
    if (is_dead(n, l->values, l->n_in))
        return define_dead(s, n);
    if (s->outer == NULL && n->refused) /* an error of the survey says so */
        return ODLC_ERR_INVALID;
    if (n->n_outputs == 0) /* rows set the first output without asking whether there is one */
        return lower_invalid(l, NULL, NULL, "the node has no outputs");
    struct diags *diags = s->all->c->diags;
    const char *source = l->b->source, *subject = diags->subject; /* of the node around, for one in a subgraph */
    l->b->source = s->all->at_node = l->node->name;
    diags->subject = n->op->type;
    odlc_status status = run_row(s, n, l);
    l->b->source = source;
    diags->subject = subject;
    TRY(status);
    keep_node_name(s->all->b.graph, l->node, n->n_outputs ? l->out[0] : NO_TENSOR);
    return define_outputs(s, l, n);
}

odlc_status lower_node(struct scope *s, struct fw_node *n)
{
    const struct context *c = s->all->c;
    const size_t errors = c->diags->errors;
    struct arena_mark mark = arena_mark(c->scratch);
    struct lower_value few_values[FEW_OPERANDS], *values = few_values;
    tensor_id few_ids[FEW_OPERANDS], *in = few_ids;
    const size_t n_operands = (size_t)n->n_inputs + n->n_outputs;
    if (n_operands > FEW_OPERANDS) {
        values = arena_array(c->scratch, struct lower_value, n_operands);
        in = arena_array(c->scratch, tensor_id, n_operands);
    }
    memset(values, 0, n_operands * sizeof *values);
    struct lower l = {.b = &s->all->b,
                      .arena = s->all->b.graph->arena,
                      .scratch = c->scratch,
                      .diags = c->diags,
                      .path = s->all->path,
                      .node = named_in(s, n),
                      .version = n->op->version,
                      .in = in,
                      .out = in + n->n_inputs,
                      .n_out = n->n_outputs,
                      .pads = c->options->pad_dynamic,
                      .packs_blocks = c->packs_blocks,
                      .values = values,
                      .results = values + n->n_inputs,
                      .scope = s,
                      .subgraph = s->all->subgraph};
    for (size_t k = 0; k < n->n_outputs; k++) {
        l.out[k] = NO_TENSOR;
        if (fw_out_id(n, k) != FW_NO_NAME)
            scope_define(s, fw_out_id(n, k), (struct lower_value){.kind = VALUE_SPOILED});
    }
    /* What cannot be resolved was reported where it came from. */
    odlc_status status = resolve_inputs(s, n, values, in, &l.n_in) ? lower_resolved(s, n, &l) : ODLC_ERR_INVALID;
    n->refused |= c->diags->errors > errors;
    arena_rewind(c->scratch, mark);
    return status;
}
