/* SPDX-License-Identifier: Apache-2.0 */
/* Without recursion, but for graphs within graphs: graphs are chains of any length. */
#include "converters/tensorflow/normalize/walk.h"

#include <string.h>

#include "converters/tensorflow/normalize/conditions.h"
#include "converters/tensorflow/normalize/inline_calls.h"
#include "converters/tensorflow/normalize/leaves.h"

/* ---- functions that nodes hold ---- */

void walk_inner_input(struct walk *w, const struct source *s)
{
    fw_name id = source_id(w->nz, s);
    vec_push(w->nz->m->memory.graph, &w->graph->inputs,
             (struct fw_value){.name = names_text(&w->nz->m->names, id), .id = id});
}

odlc_status walk_output(struct walk *w, struct frame *frame, const char *text, const char *reader)
{
    struct source s;
    TRY(find_source(w->nz, frame, text, reader, &s));
    TRY(walk_need(w, &s, reader));
    fw_name id = source_id(w->nz, &s);
    vec_push(w->nz->m->memory.graph, &w->graph->outputs,
             (struct fw_value){.name = names_text(&w->nz->m->names, id), .id = id});
    return ODLC_OK;
}

/* A function as a graph of its own: its arguments are the graph's inputs, its results the outputs. */
static odlc_status walk_function(struct normalize *nz, const struct fw_function *function, const struct visit *holder,
                                 struct fw_graph **out)
{
    struct fw_graph *graph = arena_new(nz->m->memory.graph, struct fw_graph);
    struct walk w = walk_begin(nz, NULL, graph);
    uint32_t at = map_get(&nz->m->function_index, function->name);
    struct frame *frame;
    if (at == MAP_NONE)
        return diag_error(nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(nz->m)), "tensorflow-function",
                          "the model has no function %s", function->name);
    TRY(frame_create(nz, holder->frame, &nz->m->functions.data[at], NULL, function, &frame));
    frame->holder = holder->node;
    vec_push(nz->m->memory.scratch, &nz->held, frame);
    graph->name = function->name;
    const struct tf_function *body = frame->function;
    for (uint32_t i = 0; i < body->arg_names.count; i++)
        walk_inner_input(&w, &(struct source){.frame = frame, .node = i, .is_arg = true});
    for (size_t i = 0; i < body->rets.count; i++)
        TRY(walk_output(&w, frame, body->rets.data[i], function->name));
    *out = graph;
    return walk_finish(&w);
}

odlc_status walk_prepare(struct walk *w, struct visit *v)
{
    struct fw_attr *copy = NULL;
    const struct source s = visited(v);
    const struct fw_attr *format = find_attr(v->attrs, v->n_attrs, "data_format");
    for (uint32_t i = 0; i < v->n_attrs; i++) {
        if (v->attrs[i].kind != FW_FUNCTION || is_claimed(w->nz, source_node(&s)->op))
            continue;
        if (!copy)
            copy = arena_memdup(w->nz->m->memory.graph, v->attrs, v->n_attrs * sizeof *copy);
        TRY(walk_function(w->nz, copy[i].function, v, &copy[i].graph));
        copy[i].kind = FW_GRAPH;
    }
    if (copy)
        v->attrs = copy;
    if (format && format->kind == FW_STRING && strncmp(format->s, "NC", 2) == 0)
        w->nz->model->channels_first = true;
    return ODLC_OK;
}

/* ---- a node whose operands are known ---- */

/* A reference to a tensor is the tensor. */
static const char *op_on_values(const char *op)
{
    static const char *const ops[] = {"RefExit", "RefIdentity", "RefMerge", "RefSwitch"};
    for (size_t i = 0; op[0] == 'R' && i < COUNT_OF(ops); i++)
        if (strcmp(op, ops[i]) == 0)
            return op + strlen("Ref");
    return op;
}

void walk_keep(struct walk *w, const struct visit *v)
{
    const struct source s = visited(v);
    const struct tf_node *n = source_node(&s);
    const char *on_values = op_on_values(n->op);
    const bool changes = on_values != n->op && !is_claimed(w->nz, n->op);
    walk_stand_for(w, v,
                   &(struct new_node){.name = source_node_name(w->nz, &s),
                                      .op = changes ? on_values : n->op,
                                      .attrs = v->attrs,
                                      .n_attrs = v->n_attrs,
                                      .operands = visit_operands(w, v),
                                      .n_operands = visit_n_operands(w, v),
                                      .from = n});
}

/* Stages come first: what is theirs is of no other use. */
static odlc_status make(struct walk *w, struct visit *v)
{
    const struct source s = visited(v);
    const char *op = source_node(&s)->op;
    bool made = false;
    for (size_t i = 0; !made && i < w->nz->n_stages; i++)
        if (w->nz->stages[i]->make)
            TRY(w->nz->stages[i]->make(w, v, &made));
    if (made)
        return ODLC_OK;
    if (op_is(op, "Placeholder") || op_is(op, "PlaceholderV2"))
        return make_input(w, v);
    if (is_constant(op))
        return make_constant(w, v);
    TRY(walk_prepare(w, v));
    walk_keep(w, v);
    return ODLC_OK;
}

/* What was decoded is read no more. */
static void drop_pages(struct normalize *nz)
{
    enum { NODES = 512 };
    if (++nz->n_made % NODES == 0)
        file_drop(nz->m->file, 0, nz->m->file->size);
}

static odlc_status emit(struct walk *w, struct visit *v)
{
    struct seen *seen = visit_seen(v);
    drop_pages(w->nz);
    source_expect(w->nz, v->frame, v->node);
    w->fresh_attrs = !seen->has_attrs && !v->frame->function; /* attributes in functions are for all calls */
    w->before_attrs = arena_mark(w->nz->m->memory.graph);
    TRY(node_attrs(w->nz, v->frame, v->node, &v->attrs, &v->n_attrs));
    seen->state = SEEN_DONE;
    seen->emitted = NOT_EMITTED;
    seen->decides = FW_NO_NAME;
    seen->when = NULL;
    for (size_t i = v->first_operand; i < w->operands.count; i++)
        seen->when = condition_and(w->nz, seen->when, w->operands.data[i].when);
    return make(w, v);
}

/* ---- the walk ---- */

/* When the value is alive; around the parts of a loop, all values are. */
static const struct condition *alive_when(struct walk *w, const struct source *s)
{
    const struct seen *seen = s->is_arg || s->cut ? NULL : &s->frame->seen[s->node];
    if (!seen || seen->walk != w->number)
        return NULL;
    return seen->decides == FW_NO_NAME ? seen->when : condition_with(w->nz, seen->when, seen->decides, s->output);
}

/* The value is known: an operand of the node that is being walked. */
static odlc_status take(struct walk *w, const struct source *s)
{
    const fw_name id = source_id(w->nz, s);
    if (s->is_arg && s->frame == w->nz->root)
        w->nz->args_read[s->node] = true;
    if (!s->is_arg && !s->cut) {
        const struct seen *seen = &s->frame->seen[s->node];
        struct emitted *e = seen->emitted == NOT_EMITTED ? NULL : &walk_of(w, seen)->emitted.data[seen->emitted];
        if (e && e->n_outputs <= s->output) {
            TRY(note_names(w->nz, s->output + 1 - e->n_outputs, s->frame->prefix, source_node(s)->name));
            e->n_outputs = s->output + 1;
        }
        if (e && !e->output && s->output == 0)
            e->first = id;
    }
    vec_push(w->nz->m->memory.scratch, &w->operands, (struct operand){.id = id, .when = alive_when(w, s)});
    return ODLC_OK;
}

/* Parts of loops are walked once for each part of the loops around them that needs them. */
static odlc_status start_visit(struct walk *w, const struct source *s)
{
    const struct tf_node *n = source_node(s);
    vec_push(w->nz->m->memory.scratch, &w->pending,
             (struct pending){.frame = s->frame,
                              .group = s->group,
                              .node = s->node,
                              .output = s->output,
                              .first_operand = (uint32_t)w->operands.count});
    const uint32_t n_inputs = s->group ? s->group->n_inputs : n->n_inputs;
    return w->outer ? note_expansion(w->nz, tf_node_size(n_inputs), n->name) : ODLC_OK;
}

/* True when the value is known; otherwise its node is to be visited first. */
static odlc_status ready(struct walk *w, const struct source *s, bool *out)
{
    *out = true;
    if (s->is_arg)
        return ODLC_OK;
    if (s->cut)
        return cut_here(w, s);
    struct seen *seen = &s->frame->seen[s->node];
    bool known = walk_of(w, seen) != NULL;
    if (known && seen->state == SEEN_ACTIVE)
        return diag_error(w->nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(w->nz->m), .node = source_node(s)->name),
                          "tensorflow-cycle", "node %s needs its own result", source_node(s)->name);
    *out = known;
    if (known && seen->emitted == NOT_EMITTED && s->output > 0)
        return diag_error(w->nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(w->nz->m), .node = source_node(s)->name),
                          "tensorflow-input", "%s is read, but the node has one output", source_name(w->nz, s));
    if (known)
        return ODLC_OK;
    seen->state = SEEN_ACTIVE;
    seen->walk = w->number;
    return start_visit(w, s);
}

/* Control inputs say when a node is run, which matters to stages alone. */
static bool is_operand(const struct walk *w, const struct pending *p, const char *text)
{
    if (text[0] != '^')
        return true;
    for (size_t i = 0; i < w->nz->n_stages; i++)
        if (w->nz->stages[i]->reads_control && w->nz->stages[i]->reads_control(w->nz, p->frame, p->node, text))
            return true;
    return false;
}

static odlc_status see_through(struct normalize *nz, struct source *s, const char *reader, const struct tf_node *by)
{
    for (size_t i = 0; i < nz->n_stages; i++)
        if (nz->stages[i]->see_through)
            TRY(nz->stages[i]->see_through(nz, s, reader, by));
    return ODLC_OK;
}

/* The innermost node is made; the one around it came for its value. */
static odlc_status finish_visit(struct walk *w)
{
    const struct pending done = w->pending.data[--w->pending.count];
    struct source s = {.frame = done.frame, .node = done.node, .output = done.output, .group = done.group};
    bool known;
    TRY(emit(w, &(struct visit){
                    .frame = done.frame, .group = done.group, .node = done.node, .first_operand = done.first_operand}));
    w->operands.count = done.first_operand;
    if (!w->pending.count)
        return ODLC_OK;
    TRY(ready(w, &s, &known));
    if (!known)
        return ODLC_OK;
    w->pending.data[w->pending.count - 1].input++;
    return take(w, &s);
}

/* The next input of the innermost node, or the end of its inputs. */
static odlc_status go_on(struct walk *w)
{
    struct pending *p = &w->pending.data[w->pending.count - 1];
    const struct tf_node *n = &p->frame->body->nodes.data[p->node];
    const char *const *inputs = p->group ? p->group->inputs : n->inputs;
    const uint32_t n_inputs = p->group ? p->group->n_inputs : n->n_inputs;
    struct source s;
    bool known;
    while (p->input < n_inputs && !is_operand(w, p, inputs[p->input]))
        p->input++;
    if (p->input == n_inputs)
        return finish_visit(w);
    const char *text = inputs[p->input];
    TRY(find_source(w->nz, p->frame, text + (*text == '^'), n->name, &s));
    TRY(see_through(w->nz, &s, n->name, n));
    TRY(ready(w, &s, &known));
    if (known) { /* otherwise the end of the node's visit takes it */
        w->pending.data[w->pending.count - 1].input++;
        TRY(take(w, &s));
    }
    return ODLC_OK;
}

odlc_status walk_need(struct walk *w, struct source *s, const char *reader)
{
    bool known;
    TRY(see_through(w->nz, s, reader, NULL));
    TRY(ready(w, s, &known));
    while (w->pending.count)
        TRY(go_on(w));
    TRY(take(w, s));
    w->operands.count = 0;
    return ODLC_OK;
}
