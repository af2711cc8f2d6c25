#include "converters/tensorflow/normalize/state.h"

#include <string.h>

#include "converters/tensorflow/normalize/loops.h"
#include "converters/tensorflow/normalize/variables.h"

enum { MAX_HOPS = 100 }; /* from an assignment to its variable */

/* A search over all that is run. */
struct search {
    struct flatten *f;
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
static odlc_status assigned_variable(struct flatten *f, struct frame *frame, const struct tf_node *n,
                                     struct source *out)
{
    const char *text = n->n_inputs && n->inputs[0][0] != '^' ? n->inputs[0] : NULL;
    *out = (struct source){.frame = frame};
    for (int hops = 0; text && hops < MAX_HOPS; hops++) {
        TRY(find_source(f, out->frame, text, n->name, out));
        if (out->is_arg && out->frame == f->root)
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
    vec_push(s->f->m->memory.scratch, &s->open, (struct source){.frame = frame, .node = node});
}

/* A function's own assignments are run whenever it is, whatever it returns; so are those of what it calls. */
static void push_effects(struct search *s, struct frame *frame)
{
    for (uint32_t i = 0; i < frame->body->nodes.count; i++) {
        const char *op = frame->body->nodes.data[i].op;
        if (may_assign(op) || is_call(s->f, op))
            push(s, frame, i);
    }
}

/* The error at an assignment to a variable that the outputs read. */
static odlc_status check_assignment(struct flatten *f, struct frame *frame, const struct tf_node *n)
{
    struct source variable;
    struct diags *diags = f->m->diags, quiet;
    diags_init(&quiet, f->m->memory.scratch);
    f->m->diags = &quiet; /* what cannot be followed is no variable of the outputs */
    odlc_status status = assigned_variable(f, frame, n, &variable);
    f->m->diags = diags;
    if (status != ODLC_OK || !variable.frame)
        return ODLC_OK;
    if (variable.is_arg ? !f->args_read[variable.node] : variable.frame->seen[variable.node].state == SEEN_NEW)
        return ODLC_OK;
    return diag_error(f->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(f->m), .node = n->name), "tensorflow-state",
                      "%s: the graph changes variable %s while it runs: containers have no state", n->op,
                      source_name(f, &variable));
}

static odlc_status look_at(struct search *s, const struct source *at)
{
    struct flatten *f = s->f;
    const struct tf_node *n = source_node(at);
    struct frame *inner = at->frame->seen[at->node].inner;
    if (at->frame == f->root && map_get(&f->cuts, n->name) != MAP_NONE)
        return ODLC_OK;
    if (may_assign(n->op))
        TRY(check_assignment(f, at->frame, n));
    for (uint32_t i = 0; i < n->n_inputs; i++)
        push(s, at->frame, body_node(f, at->frame, n->inputs[i]));
    if (!inner && is_call(f, n->op) && !f->claims(f->claims_user, n->op, ""))
        TRY(call_frame(f, at->frame, at->node, &inner));
    if (inner)
        push_effects(s, inner);
    return ODLC_OK;
}

odlc_status check_state(struct flatten *f)
{
    struct search s = {.f = f};
    if (!f->n_variables)
        return ODLC_OK;
    for (size_t i = 0; i < f->n_outputs; i++) {
        struct source output;
        TRY(find_named(f, f->outputs[i], &output));
        if (output.is_arg)
            continue;
        push(&s, output.frame, output.node);
        for (struct frame *at = output.frame; at->parent; at = at->parent)
            push(&s, at->parent, body_node(f, at->parent, at->call->name));
    }
    if (f->root->function)
        push_effects(&s, f->root);
    for (size_t i = 0; i < f->held.count; i++)
        push_effects(&s, f->held.data[i]);
    while (s.open.count) {
        const struct source at = s.open.data[--s.open.count];
        TRY(look_at(&s, &at));
    }
    return ODLC_OK;
}
