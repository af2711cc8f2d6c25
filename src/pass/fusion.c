/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/fusion.h"

#include <ctype.h>
#include <string.h>

#include "base/c_locale.h"
#include "op/layout.h"
#include "op/op.h"
#include "op/params.h"
#include "pass/prospect.h"
#include "pass/search.h"

static bool may_occur(const struct expr *e, const struct op_census *ops)
{
    if (e->kind == EXPR_CALL && !ops->has[e->op])
        return false;
    for (uint32_t i = 0; i < e->n_args; i++)
        if (!may_occur(e->args[i], ops))
            return false;
    return true;
}

/* Those formulas whose operators the graph has. */
struct formulas {
    struct formula {
        const struct expr *tree;
        struct prospect prospect;
    } * all;
    size_t count;
    op_bits last; /* that one of them can end with */
};

static odlc_status parse(struct pass_context *c, const struct graph *g, const struct fusion *f, struct formulas *out)
{
    const struct op_census *ops = graph_census(c, g);
    out->all = arena_array(c->scratch, struct formula, f->n_formulas);
    for (size_t i = 0; i < f->n_formulas; i++) {
        const struct expr *tree = formula_parse(c->scratch, f->formulas[i]);
        if (!tree)
            return diag_error(c->diags, ODLC_ERR_INTERNAL, AT(.hint = NULL), "bad-formula", "no formula: %s",
                              f->formulas[i]);
        if (!may_occur(tree, ops))
            continue;
        out->all[out->count] = (struct formula){tree, prospect_of(tree)};
        out->last |= out->all[out->count++].prospect.last;
    }
    return ODLC_OK;
}

static bool find_formula(const struct formula *f, const struct graph *g, const struct uses *uses, node_id result,
                         struct vicinity *vicinity, struct occurrence *out)
{
    return prospect_holds(&f->prospect, g, uses, graph_node(g, result), vicinity) &&
           occurrence_find(g, uses, f->tree, result, out);
}

/* Whether the node is there, and of an operator that a formula can end with. */
static bool may_end(const struct formulas *formulas, const struct node *n)
{
    return n->op && formulas->last & op_bit(n->op->id);
}

odlc_status fusion_count(struct pass_context *c, const struct graph *g, const struct fusion *f, size_t *count)
{
    struct formulas formulas = {0};
    struct occurrence o;
    *count = 0;
    TRY(parse(c, g, f, &formulas));
    if (!formulas.count)
        return ODLC_OK;
    const struct uses uses = graph_uses(c->scratch, g);
    for (size_t i = 0; i < g->order.count; i++) {
        struct vicinity vicinity = {0};
        if (!may_end(&formulas, graph_node(g, g->order.data[i])))
            continue;
        for (size_t k = 0; k < formulas.count; k++)
            *count += find_formula(&formulas.all[k], g, &uses, g->order.data[i], &vicinity, &o);
    }
    return ODLC_OK;
}

static bool fuse_at(struct fusing *work, const struct fusion *f, const struct formulas *formulas,
                    const struct uses *uses, node_id result)
{
    struct occurrence o;
    struct vicinity vicinity = {0};
    for (size_t i = 0; i < formulas->count; i++)
        if (find_formula(&formulas->all[i], work->g, uses, result, &vicinity, &o) && f->make(work, &o))
            return true;
    return false;
}

/* Replaces the last occurrence, and gives how many nodes of the order there are up to its end. 0: there is none, as in
 * most graphs, and nothing was changed. */
static size_t fuse_last(struct fusing *work, const struct fusion *f, const struct formulas *formulas,
                        const struct uses *uses)
{
    const struct graph *g = work->g;
    for (size_t i = g->order.count; i-- > 0;)
        if (may_end(formulas, graph_node(g, g->order.data[i])) && fuse_at(work, f, formulas, uses, g->order.data[i]))
            return i + 1;
    return 0;
}

/* The order is made anew from its end: nodes are there in place of the occurrences. */
static void order_anew(struct graph *g, struct fusing *work, const struct fusion *f, const struct formulas *formulas,
                       const struct uses *uses)
{
    VEC(node_id) reversed = {0};
    work->made.count = 0;
    const size_t end = fuse_last(work, f, formulas, uses);
    if (end == 0)
        return;
    work->changed = true;
    for (size_t i = g->order.count; i-- > end;)
        if (graph_node(g, g->order.data[i])->op)
            vec_push(work->scratch, &reversed, g->order.data[i]);
    for (size_t i = end; i-- > 0;) {
        const node_id id = g->order.data[i];
        const struct node *n = graph_node(g, id);
        if (i + 1 < end && n->op && !(may_end(formulas, n) && fuse_at(work, f, formulas, uses, id)))
            vec_push(work->scratch, &work->made, id);
        while (work->made.count)
            vec_push(work->scratch, &reversed, work->made.data[--work->made.count]);
    }
    g->order.count = 0;
    while (reversed.count)
        vec_push(g->arena, &g->order, reversed.data[--reversed.count]);
}

odlc_status fusions_run(struct pass_context *c, struct graph *g, const struct fusion *fusions, size_t count)
{
    struct uses uses = {0};
    struct fusing work = {.g = g, .scratch = c->scratch, .changed = true};
    for (size_t i = 0; i < count; i++) {
        struct formulas formulas = {0};
        TRY(parse(c, g, &fusions[i], &formulas));
        if (!formulas.count)
            continue;
        if (work.changed)
            uses = graph_uses(c->scratch, g);
        work.changed = false;
        order_anew(g, &work, &fusions[i], &formulas, &uses);
    }
    return ODLC_OK;
}

odlc_status fusion_run(struct pass_context *c, struct graph *g, const struct fusion *f)
{
    return fusions_run(c, g, f, 1);
}

bool fusion_keeps_type(const struct graph *g, const struct occurrence *o, char letter)
{
    const struct tensor *x = graph_tensor(g, occurrence_tensor(o, letter));
    return x->type == node_output(g, graph_node(g, o->steps[0]), 0)->type;
}

static bool is_one_operator(const struct graph *g, const struct occurrence *o)
{
    const char *source = graph_node(g, o->steps[0])->source;
    for (uint32_t i = 1; i < o->n_steps; i++)
        if (graph_node(g, o->steps[i])->source != source)
            return false;
    return source != NULL;
}

/* "rms_norm_y" */
static const char *made_name(struct graph *g, const struct occurrence *o, const struct op *op)
{
    const struct node *last = graph_node(g, o->steps[0]);
    text name = {0};
    if (is_one_operator(g, o))
        return last->name;
    for (const char *c = op->name; *c; c++)
        text_add(g->arena, &name, "%s%c", c_isupper(*c) && c > op->name ? "_" : "", tolower((unsigned char)*c));
    text_add(g->arena, &name, "_%s", node_output(g, last, 0)->name);
    return name.data;
}

/* The node that gives `out`, in the place of the steps. */
static struct node *add_made(struct fusing *f, const struct node *last, enum op_id op, const char *name,
                             const tensor_id *inputs, uint32_t n_inputs, tensor_id out)
{
    const struct op *row = op_row(op);
    node_id id = graph_add_node(f->g, row, row->n_params, name, inputs, n_inputs, &out, 1);
    vec_push(f->scratch, &f->made, id);
    graph_node(f->g, id)->source = last->source;
    return graph_node(f->g, id);
}

static struct node remove_steps(struct graph *g, const struct occurrence *o)
{
    const struct node last = *graph_node(g, o->steps[0]);
    for (uint32_t i = 0; i < o->n_steps; i++)
        graph_remove_node(g, o->steps[i]);
    return last;
}

struct node *fusion_replace(struct fusing *f, const struct occurrence *o, enum op_id op, const tensor_id *inputs,
                            uint32_t n_inputs)
{
    const char *name = made_name(f->g, o, op_row(op));
    const struct node last = remove_steps(f->g, o);
    return add_made(f, &last, op, name, inputs, n_inputs, last.outputs[0]);
}

/* A tensor for x with channels last. */
static tensor_id add_channels_last(struct graph *g, tensor_id x)
{
    const struct tensor from = *graph_tensor(g, x);
    const uint32_t rank = from.type->shape.rank;
    const struct perm perm = perm_channels_last(rank);
    const struct type type = {.dtype = from.type->dtype, .shape = perm_apply(&perm, &from.type->shape)};
    const char *name = arena_printf(g->arena, "%s.%s", from.name, order_suffix(ORDER_CHANNELS_LAST, rank));
    return graph_add_tensor(g, name, TENSOR_NATIVE, &type);
}

static void add_transpose(struct fusing *f, const struct node *last, tensor_id from, tensor_id to, bool to_first)
{
    const uint32_t rank = graph_tensor(f->g, from)->type->shape.rank;
    const struct perm perm = to_first ? perm_channels_first(rank) : perm_channels_last(rank);
    struct node *n = add_made(f, last, OP_Transpose, graph_tensor(f->g, to)->name, &from, 1, to);
    node_set_perm(f->g, n, &perm);
    n->layout_only = true;
    n->to_first = to_first;
}

struct node *fusion_replace_channels_last(struct fusing *f, const struct occurrence *o, enum op_id op,
                                          const tensor_id *inputs, uint32_t n_inputs)
{
    const char *name = made_name(f->g, o, op_row(op));
    const struct node last = remove_steps(f->g, o);
    const tensor_id out = add_channels_last(f->g, last.outputs[0]);
    tensor_id in[EXPR_ARGS];
    memcpy(in, inputs, n_inputs * sizeof *in);
    in[0] = add_channels_last(f->g, inputs[0]);
    add_transpose(f, &last, inputs[0], in[0], false);
    add_made(f, &last, op, name, in, n_inputs, out);
    add_transpose(f, &last, out, last.outputs[0], true);
    return graph_producer(f->g, out);
}

struct node *fusion_of_x(struct fusing *f, const struct occurrence *o, enum op_id op)
{
    const tensor_id x = occurrence_tensor(o, 'x');
    return fusion_keeps_type(f->g, o, 'x') ? fusion_replace(f, o, op, &x, 1) : NULL;
}
