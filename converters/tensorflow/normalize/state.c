/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/state.h"

#include <string.h>

#include "converters/tensorflow/normalize/inline_calls.h"
#include "converters/tensorflow/normalize/variables.h"
#include "converters/tensorflow/schema/tf_names.h"

enum { MAX_HOPS = 100 }; /* from an assignment to its variable */

/* A search over all that is run. */
struct search {
    struct normalize *nz;
    VEC(struct source) open;
};

static bool starts_with(const char *op, const char *start)
{
    return strncmp(op, start, strlen(start)) == 0;
}

/* Operators that change what input 0 refers to, if that is a variable. */
static bool may_assign(const char *op)
{
    return starts_with(op, "Assign") || starts_with(op, "ResourceScatter") || starts_with(op, "ResourceApply") ||
           starts_with(op, "Apply") || (starts_with(op, "Scatter") && strcmp(op, "ScatterNd") != 0);
}

static bool passes(const char *op)
{
    return starts_with(op, "Identity") || starts_with(op, "RefIdentity") || starts_with(op, "Switch") ||
           starts_with(op, "RefSwitch") || starts_with(op, "Enter") || starts_with(op, "RefEnter");
}

/* What an argument of a function that a node holds stands for: the node's input, which comes after the condition, or
 * the index, of what holds branches. */
static const char *held_argument(struct source *s)
{
    struct frame *frame = s->frame;
    const struct tf_node *holder = frame->around ? &frame->around->body->nodes.data[frame->holder] : NULL;
    uint32_t input = s->node + (holder && !strstr(holder->op, "While"));
    s->frame = frame->around;
    return holder && input < holder->n_inputs && holder->inputs[input][0] != '^' ? holder->inputs[input] : NULL;
}

/* The variable that a node's first input refers to, or the argument of the model's function; frame NULL when it is
 * none. */
static odlc_status assigned_variable(struct normalize *nz, struct frame *frame, const struct tf_node *n,
                                     struct source *out)
{
    const char *text = n->n_inputs && n->inputs[0][0] != '^' ? n->inputs[0] : NULL;
    *out = (struct source){.frame = frame};
    for (int hops = 0; text && hops < MAX_HOPS; hops++) {
        TRY(find_source(nz, out->frame, text, n->name, out));
        if (out->is_arg && out->frame == nz->root)
            return ODLC_OK;
        if (out->is_arg) {
            text = held_argument(out);
            continue;
        }
        const struct tf_node *at = source_node(out);
        if (is_variable(at->op))
            return ODLC_OK;
        text = passes(at->op) && at->n_inputs && at->inputs[0][0] != '^' ? at->inputs[0] : NULL;
    }
    out->frame = NULL;
    return ODLC_OK;
}

static void push(struct search *s, struct frame *frame, uint32_t node)
{
    if (node == MAP_NONE || frame->seen[node].reached)
        return;
    frame->seen[node].reached = true;
    vec_push(s->nz->m->memory.scratch, &s->open, (struct source){.frame = frame, .node = node});
}

/* A function's own assignments are run whenever it is, whatever it returns; so are those of what it calls. */
static void push_effects(struct search *s, struct frame *frame)
{
    for (uint32_t i = 0; i < frame->body->nodes.count; i++) {
        const char *op = frame->body->nodes.data[i].op;
        if (may_assign(op) || is_call(s->nz, op))
            push(s, frame, i);
    }
}

/* The error at an assignment to a variable that the outputs read. */
static odlc_status check_assignment(struct normalize *nz, struct frame *frame, const struct tf_node *n)
{
    struct source variable;
    struct diags *diags = nz->m->diags, quiet;
    diags_init(&quiet, nz->m->memory.scratch);
    nz->m->diags = &quiet; /* what cannot be followed is no variable of the outputs */
    odlc_status status = assigned_variable(nz, frame, n, &variable);
    nz->m->diags = diags;
    if (status != ODLC_OK || !variable.frame)
        return ODLC_OK;
    if (variable.is_arg ? !nz->args_read[variable.node] : variable.frame->seen[variable.node].state == SEEN_NEW)
        return ODLC_OK;
    return diag_error(nz->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(nz->m), .node = n->name), "tensorflow-state",
                      "%s: the graph changes variable %s while it runs: containers have no state", n->op,
                      tensorflow_short_name(nz->m->diags->arena, source_name(nz, &variable)));
}

static odlc_status look_at(struct search *s, const struct source *at)
{
    struct normalize *nz = s->nz;
    const struct tf_node *n = source_node(at);
    struct frame *inner = at->frame->seen[at->node].inner;
    if (is_cut(nz, at))
        return ODLC_OK;
    if (may_assign(n->op))
        TRY(check_assignment(nz, at->frame, n));
    for (uint32_t i = 0; i < n->n_inputs; i++)
        push(s, at->frame, body_node(nz, at->frame, n->inputs[i]));
    if (!inner && is_call(nz, n->op) && !is_claimed(nz, n->op))
        TRY(call_frame(nz, at->frame, at->node, &inner));
    if (inner)
        push_effects(s, inner);
    return ODLC_OK;
}

odlc_status check_state(struct normalize *nz)
{
    struct search s = {.nz = nz};
    if (!nz->n_variables)
        return ODLC_OK;
    for (size_t i = 0; i < nz->n_outputs; i++) {
        const struct source output = nz->outputs[i].source;
        if (output.is_arg)
            continue;
        push(&s, output.frame, output.node);
        for (struct frame *at = output.frame; at->parent; at = at->parent)
            push(&s, at->parent, body_node(nz, at->parent, at->call->name));
    }
    if (nz->root->function)
        push_effects(&s, nz->root);
    for (size_t i = 0; i < nz->held.count; i++)
        push_effects(&s, nz->held.data[i]);
    while (s.open.count) {
        const struct source at = s.open.data[--s.open.count];
        TRY(look_at(&s, &at));
    }
    return ODLC_OK;
}
