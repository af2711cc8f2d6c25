/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/while_loops.h"

#include <stdlib.h>
#include <string.h>

#include "converters/tensorflow/normalize/conditions.h"
#include "converters/tensorflow/normalize/inline_calls.h"
#include "converters/tensorflow/normalize/walk.h"

enum { MAX_NESTING = 64 }; /* of loops */

struct loop_variable {
    uint32_t merge;
    const char *first, *next; /* what gives its first value, and the next one, as inputs of nodes say it */
};

struct loop {
    uint32_t cond; /* the LoopCond's node */
    const char *frame_name;
    uint32_t n_variables;
    const struct loop_variable *variables; /* that what is read of the loop needs */
    struct group group;                    /* reads the variables' first values, then the other values */
    bool scanned;
    uint32_t *exits; /* that are needed */
    size_t n_exits;
};

/* The loops of one body that give something the outputs need. */
struct loops {
    VEC(struct loop) list;
    uint32_t *of_cond; /* per node: the loop of a LoopCond is list[of_cond - 1] */
    uint32_t *mark;    /* per node: the loop, + 1, that was seen to need it last */
};

static const struct tf_node *node_at(const struct frame *frame, uint32_t node)
{
    return &frame->body->nodes.data[node];
}

static bool is_enter(const char *op)
{
    return op_is(op, "Enter") || op_is(op, "RefEnter");
}

static bool is_exit(const char *op)
{
    return op_is(op, "Exit") || op_is(op, "RefExit");
}

static bool is_next(const char *op)
{
    return op_is(op, "NextIteration") || op_is(op, "RefNextIteration");
}

static odlc_status bad_loop(const struct normalize *nz, const char *node, const char *what)
{
    return diag_error(nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(nz->m), .node = node), "tensorflow-loop", "%s: %s",
                      node, what);
}

/* The node behind input k, whose operator must be of that kind; MAP_NONE when it is not. */
static uint32_t behind(const struct normalize *nz, const struct frame *frame, uint32_t node, uint32_t k,
                       bool (*is_kind)(const char *))
{
    const struct tf_node *n = node_at(frame, node);
    uint32_t found = k < n->n_inputs ? body_node(nz, frame, n->inputs[k]) : MAP_NONE;
    return found != MAP_NONE && is_kind(node_at(frame, found)->op) ? found : MAP_NONE;
}

static odlc_status enter_attrs(struct normalize *nz, struct frame *frame, uint32_t node, const char **frame_name,
                               bool *is_constant)
{
    const struct fw_attr *attrs;
    uint32_t count;
    TRY(node_attrs(nz, frame, node, &attrs, &count));
    *frame_name = "";
    *is_constant = false;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(attrs[i].name, "frame_name") == 0 && attrs[i].kind == FW_STRING)
            *frame_name = attrs[i].s;
        if (strcmp(attrs[i].name, "is_constant") == 0 && attrs[i].kind == FW_BOOL)
            *is_constant = attrs[i].i != 0;
    }
    if (!**frame_name || node_at(frame, node)->n_inputs == 0)
        return bad_loop(nz, node_at(frame, node)->name, "it enters no loop");
    return ODLC_OK;
}

/* ---- which loops there are ---- */

/* What is left to look at, of a search back over what nodes read. */
typedef VEC(uint32_t) node_list;

static void push_inputs(const struct normalize *nz, const struct frame *frame, uint32_t node, node_list *open)
{
    const struct tf_node *n = node_at(frame, node);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        uint32_t input = n->inputs[i][0] == '^' ? MAP_NONE : body_node(nz, frame, n->inputs[i]);
        if (input != MAP_NONE)
            vec_push(nz->m->memory.scratch, open, input);
    }
}

/* The node of the frame that an output is of, or is inside of. */
static uint32_t output_node(const struct frame *frame, const struct source *output)
{
    if (output->frame == frame)
        return output->is_arg ? MAP_NONE : output->node;
    for (const struct frame *at = output->frame; at && at->parent; at = at->parent)
        if (at->parent == frame)
            return (uint32_t)(at->call - frame->body->nodes.data);
    return MAP_NONE;
}

static node_list results(const struct normalize *nz, const struct frame *frame)
{
    node_list list = {0};
    const bool whole = frame->function && frame != nz->root; /* all its results may be needed */
    for (size_t i = 0; i < (whole ? frame->function->rets.count : 0); i++) {
        const uint32_t node = body_node(nz, frame, frame->function->rets.data[i]);
        if (node != MAP_NONE)
            vec_push(nz->m->memory.scratch, &list, node);
    }
    for (size_t i = 0; i < (whole && frame != nz->served ? 0 : nz->n_outputs); i++) {
        const uint32_t node = output_node(frame, &nz->outputs[i].source);
        if (node != MAP_NONE)
            vec_push(nz->m->memory.scratch, &list, node);
    }
    return list;
}

static void mark_needed(const struct normalize *nz, const struct frame *frame, bool *needed)
{
    node_list open = results(nz, frame);
    while (open.count) {
        uint32_t node = open.data[--open.count];
        if (needed[node])
            continue;
        needed[node] = true;
        push_inputs(nz, frame, node, &open);
    }
}

static odlc_status leaves_nothing(const struct normalize *nz, const struct tf_node *exit)
{
    return bad_loop(nz, exit->name, "it leaves no loop: no Switch with a LoopCond is before it");
}

/* An Exit that is needed: its loop, made when it is the first one. */
static odlc_status note_exit(struct normalize *nz, struct frame *frame, uint32_t exit)
{
    struct loops *loops = frame->loops;
    uint32_t the_switch = behind(nz, frame, exit, 0, is_switch);
    uint32_t cond = MAP_NONE;
    if (the_switch != MAP_NONE && node_at(frame, the_switch)->n_inputs > 1)
        cond = body_node(nz, frame, node_at(frame, the_switch)->inputs[1]);
    if (!is_loop_cond(frame, cond))
        return leaves_nothing(nz, node_at(frame, exit));
    if (!loops->of_cond[cond]) {
        vec_push(nz->m->memory.scratch, &loops->list, (struct loop){.cond = cond});
        loops->of_cond[cond] = (uint32_t)loops->list.count;
    }
    loops->list.data[loops->of_cond[cond] - 1].n_exits++;
    return ODLC_OK;
}

static odlc_status find_loops(struct normalize *nz, struct frame *frame)
{
    struct arena *arena = nz->m->memory.scratch;
    size_t count = frame->body->nodes.count;
    bool *needed = arena_array(arena, bool, count);
    node_list exits = {0};
    frame->loops = arena_new(arena, struct loops);
    *frame->loops =
        (struct loops){.of_cond = arena_array(arena, uint32_t, count), .mark = arena_array(arena, uint32_t, count)};
    mark_needed(nz, frame, needed);
    for (uint32_t i = 0; i < count; i++) {
        if (!needed[i] || !is_exit(node_at(frame, i)->op))
            continue;
        TRY(note_exit(nz, frame, i));
        vec_push(arena, &exits, i);
    }
    for (size_t i = 0; i < frame->loops->list.count; i++) {
        struct loop *loop = &frame->loops->list.data[i];
        loop->exits = arena_array(arena, uint32_t, loop->n_exits);
        loop->n_exits = 0;
    }
    for (size_t i = 0; i < exits.count; i++) {
        uint32_t the_switch = behind(nz, frame, exits.data[i], 0, is_switch);
        uint32_t cond = body_node(nz, frame, node_at(frame, the_switch)->inputs[1]);
        struct loop *loop = &frame->loops->list.data[frame->loops->of_cond[cond] - 1];
        loop->exits[loop->n_exits++] = exits.data[i];
    }
    return ODLC_OK;
}

/* ---- what a loop is made of ---- */

/* The name that the loop's Enters have: that of the variable that an Exit is of. */
static odlc_status name_loop(struct normalize *nz, struct frame *frame, struct loop *loop)
{
    const char *exit = node_at(frame, loop->exits[0])->name;
    uint32_t the_switch = behind(nz, frame, loop->exits[0], 0, is_switch);
    uint32_t merge = behind(nz, frame, the_switch, 0, is_merge), enter = MAP_NONE;
    bool is_constant;
    for (uint32_t k = 0; merge != MAP_NONE && enter == MAP_NONE && k < 2; k++)
        enter = behind(nz, frame, merge, k, is_enter);
    if (enter == MAP_NONE)
        return bad_loop(nz, exit, "nothing enters the loop that it leaves");
    return enter_attrs(nz, frame, enter, &loop->frame_name, &is_constant);
}

/* The nodes that the loop's Exits need, as far as the Enters of the loop; loops inside of it are part of it. */
static odlc_status collect(struct normalize *nz, struct frame *frame, const struct loop *loop, node_list *merges,
                           node_list *enters)
{
    struct arena *arena = nz->m->memory.scratch;
    uint32_t *mark = frame->loops->mark, own = frame->loops->of_cond[loop->cond];
    node_list open = {0};
    for (size_t i = 0; i < loop->n_exits; i++)
        push_inputs(nz, frame, loop->exits[i], &open);
    while (open.count) {
        uint32_t node = open.data[--open.count];
        const char *op = node_at(frame, node)->op, *name = "";
        bool is_constant;
        if (mark[node] == own)
            continue;
        mark[node] = own;
        TRY(note_expansion(nz, 1, node_at(frame, node)->name));
        if (is_enter(op))
            TRY(enter_attrs(nz, frame, node, &name, &is_constant));
        if (strcmp(name, loop->frame_name) == 0) {
            vec_push(arena, enters, node);
            continue;
        }
        if (is_merge(op))
            vec_push(arena, merges, node);
        push_inputs(nz, frame, node, &open);
    }
    return ODLC_OK;
}

/* Whether the Merge is of a variable of the loop itself, and what gives the variable. */
static odlc_status read_variable(struct normalize *nz, struct frame *frame, const struct loop *loop, uint32_t merge,
                                 bool *out, struct loop_variable *v)
{
    const struct tf_node *n = node_at(frame, merge);
    const char *name = "";
    bool is_constant;
    *out = false;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t enter = behind(nz, frame, merge, k, is_enter), next = behind(nz, frame, merge, 1 - k, is_next);
        if (enter == MAP_NONE)
            continue;
        TRY(enter_attrs(nz, frame, enter, &name, &is_constant));
        if (strcmp(name, loop->frame_name) != 0)
            continue;
        if (next == MAP_NONE || n->n_inputs < 2 || node_at(frame, next)->n_inputs == 0)
            return bad_loop(nz, n->name, "the variable of a loop has no NextIteration");
        *out = true;
        *v = (struct loop_variable){
            .merge = merge, .first = node_at(frame, enter)->inputs[0], .next = node_at(frame, next)->inputs[0]};
    }
    return ODLC_OK;
}

static int compare_nodes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_variables(const void *a, const void *b)
{
    const struct loop_variable *x = a, *y = b;
    return compare_nodes(&x->merge, &y->merge);
}

static odlc_status scan(struct normalize *nz, struct frame *frame, struct loop *loop)
{
    struct arena *arena = nz->m->memory.scratch;
    node_list merges = {0}, enters = {0};
    bool own;
    loop->scanned = true;
    TRY(name_loop(nz, frame, loop));
    TRY(collect(nz, frame, loop, &merges, &enters));
    if (merges.count > 1)
        qsort(merges.data, merges.count, sizeof *merges.data, compare_nodes);
    if (enters.count > 1)
        qsort(enters.data, enters.count, sizeof *enters.data, compare_nodes);
    struct loop_variable *variables = arena_array(arena, struct loop_variable, merges.count);
    for (size_t i = 0; i < merges.count; i++) {
        TRY(read_variable(nz, frame, loop, merges.data[i], &own, &variables[loop->n_variables]));
        loop->n_variables += own;
    }
    loop->variables = variables;
    const char **inputs = arena_array(arena, const char *, loop->n_variables + enters.count);
    loop->group.inputs = inputs;
    for (uint32_t i = 0; i < loop->n_variables; i++)
        inputs[loop->group.n_inputs++] = variables[i].first;
    for (size_t i = 0; i < enters.count; i++) {
        const char *name;
        TRY(enter_attrs(nz, frame, enters.data[i], &name, &own));
        if (own)
            inputs[loop->group.n_inputs++] = node_at(frame, enters.data[i])->inputs[0];
    }
    return ODLC_OK;
}

/* The loop of a LoopCond that see_through_loops led to. */
static const struct loop *find_loop(const struct frame *frame, uint32_t cond)
{
    return &frame->loops->list.data[frame->loops->of_cond[cond] - 1];
}

/* ---- through the parts of loops ---- */

/* Behind a loop: the variable of the Switch that s is. */
static odlc_status leave(struct normalize *nz, struct source *s, uint32_t cond)
{
    struct frame *frame = s->frame;
    const char *name = source_node(s)->name;
    if (!frame->loops)
        TRY(find_loops(nz, frame));
    if (!frame->loops->of_cond[cond])
        return bad_loop(nz, name, "it is inside of a loop: only an Exit gives what it is at the end");
    struct loop *loop = &frame->loops->list.data[frame->loops->of_cond[cond] - 1];
    if (!loop->scanned)
        TRY(scan(nz, frame, loop));
    const struct loop_variable wanted = {.merge = behind(nz, frame, s->node, 0, is_merge)};
    const struct loop_variable *v =
        bsearch(&wanted, loop->variables, loop->n_variables, sizeof wanted, compare_variables);
    if (!v)
        return bad_loop(nz, name, "it switches no variable of the loop");
    *s =
        (struct source){.frame = frame, .node = cond, .output = (uint32_t)(v - loop->variables), .group = &loop->group};
    return ODLC_OK;
}

/* Inside of a loop: a variable is its Merge. */
static odlc_status switched(struct normalize *nz, struct source *s, uint32_t cond)
{
    uint32_t merge = behind(nz, s->frame, s->node, 0, is_merge);
    if (s->output == 0)
        return leave(nz, s, cond);
    if (merge == MAP_NONE)
        return bad_loop(nz, source_node(s)->name, "it switches no variable of the loop");
    *s = (struct source){.frame = s->frame, .node = merge};
    return ODLC_OK;
}

odlc_status see_through_loops(struct normalize *nz, struct source *s, const char *reader)
{
    for (int hops = 0; !s->is_arg && !s->cut; hops++) {
        const struct tf_node *n = source_node(s);
        const char *name;
        bool is_constant;
        if (hops == MAX_NESTING)
            return bad_loop(
                nz, n->name,
                arena_printf(nz->m->diags->arena, "loops within loops nest deeper than %d levels", MAX_NESTING));
        uint32_t cond = is_switch(n->op) && n->n_inputs > 1 ? body_node(nz, s->frame, n->inputs[1]) : MAP_NONE;
        if (is_loop_cond(s->frame, cond))
            return switched(nz, s, cond);
        if (is_next(n->op))
            return bad_loop(nz, reader, "it reads from inside of a loop what only the loop's next trip may");
        if (!is_enter(n->op))
            return ODLC_OK;
        TRY(enter_attrs(nz, s->frame, s->node, &name, &is_constant));
        if (!is_constant)
            return bad_loop(nz, reader, "it reads from inside of a loop, of which only an Exit gives something");
        TRY(find_source(nz, s->frame, n->inputs[0], n->name, s));
    }
    return ODLC_OK;
}

/* ---- the node that stands for a loop ---- */

/* What a loop computes from its variables: its condition, or their next values. */
static odlc_status walk_trip(struct walk *outer, const struct visit *v, bool next, struct fw_graph **out)
{
    struct normalize *nz = outer->nz;
    struct fw_graph *graph = arena_new(nz->m->memory.graph, struct fw_graph);
    struct walk w = walk_begin(nz, outer, graph);
    const struct tf_node *cond = node_at(v->frame, v->node);
    const struct loop *loop = find_loop(v->frame, v->node);
    for (uint32_t i = 0; i < loop->n_variables; i++) {
        const struct source variable = {.frame = v->frame, .node = loop->variables[i].merge};
        struct seen *seen = &v->frame->seen[variable.node];
        seen->state = SEEN_DONE;
        seen->walk = w.number;
        seen->emitted = NOT_EMITTED;
        seen->decides = FW_NO_NAME;
        seen->when = NULL;
        walk_inner_input(&w, &variable);
    }
    graph->name = next ? "body" : "cond";
    if (!next)
        TRY(walk_output(&w, v->frame, cond->n_inputs ? cond->inputs[0] : "", cond->name));
    for (uint32_t i = 0; next && i < loop->n_variables; i++)
        TRY(walk_output(&w, v->frame, loop->variables[i].next, cond->name));
    *out = graph;
    return walk_finish(&w);
}

static odlc_status make_while(struct walk *w, struct visit *v, bool *made)
{
    const struct source s = visited(v);
    uint32_t depth = 0;
    *made = v->group != NULL;
    if (!*made)
        return ODLC_OK;
    for (const struct walk *at = w; at; at = at->outer)
        depth++;
    if (depth > MAX_NESTING)
        return diag_error(w->nz->m->diags, ODLC_ERR_LIMIT, AT(IN_MODEL(w->nz->m), .node = source_node(&s)->name),
                          "tensorflow-depth", "loops within loops nest deeper than %d levels", MAX_NESTING);
    struct fw_attr *attrs = arena_array(w->nz->m->memory.graph, struct fw_attr, 2);
    attrs[0] = (struct fw_attr){.name = "cond", .kind = FW_GRAPH};
    attrs[1] = (struct fw_attr){.name = "body", .kind = FW_GRAPH};
    TRY(walk_trip(w, v, false, &attrs[0].graph));
    TRY(walk_trip(w, v, true, &attrs[1].graph));
    walk_stand_for(w, v,
                   &(struct new_node){.name = source_node_name(w->nz, &s),
                                      .op = "While",
                                      .attrs = attrs,
                                      .n_attrs = 2,
                                      .operands = visit_operands(w, v),
                                      .n_operands = find_loop(v->frame, v->node)->n_variables});
    return ODLC_OK;
}

/* Of all parts of a loop, an Exit alone is read from around it. */
static odlc_status see_through(struct normalize *nz, struct source *s, const char *reader, const struct tf_node *by)
{
    TRY(see_through_loops(nz, s, reader));
    return by && is_exit(by->op) && !s->group ? leaves_nothing(nz, by) : ODLC_OK;
}

const struct stage while_from_loops = {.see_through = see_through, .make = make_while};
