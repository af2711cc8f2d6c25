/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/conditionals.h"

#include <string.h>

#include "converters/tensorflow/normalize/conditions.h"
#include "converters/tensorflow/normalize/inline_calls.h"
#include "converters/tensorflow/normalize/leaves.h"
#include "converters/tensorflow/schema/merge_sides.h"
#include "converters/tensorflow/normalize/while_loops.h"

enum { MAX_HOPS = 16 }; /* from a Switch to what it decides by */

/* ---- what decides ---- */

/* Operators whose result is their first input, where there is a result. */
static bool passes(const char *op)
{
    return op_is(op, "Identity") || is_switch(op);
}

/* The value that a Switch decides by, whatever names it goes by. */
static odlc_status switch_value(struct normalize *nz, struct frame *frame, uint32_t node, fw_name *out)
{
    const struct tf_node *n = &frame->body->nodes.data[node];
    const char *text = n->n_inputs > 1 ? n->inputs[1] : "^";
    struct source s = {.frame = frame};
    *out = FW_NO_NAME;
    for (int hops = 0; *text != '^'; hops++) {
        TRY(find_source(nz, s.frame, text, n->name, &s));
        TRY(see_through_loops(nz, &s, n->name));
        *out = source_id(nz, &s);
        if (s.is_arg || s.cut || s.group || hops == MAX_HOPS || !passes(source_node(&s)->op))
            return ODLC_OK;
        n = source_node(&s);
        text = n->n_inputs ? n->inputs[0] : "^";
    }
    return ODLC_OK;
}

/* A control input of a constant in a branch may stand for the branch: it comes from a Switch that is of no loop. */
static bool reads_pivot(const struct normalize *nz, const struct frame *frame, uint32_t node, const char *control)
{
    const char *text = control + 1;
    if (!op_is(frame->body->nodes.data[node].op, "Const"))
        return false;
    for (int hops = 0; hops < MAX_HOPS; hops++) {
        uint32_t at = body_node(nz, frame, text);
        if (at == MAP_NONE)
            return false;
        const struct tf_node *n = &frame->body->nodes.data[at];
        if (is_switch(n->op))
            return n->n_inputs > 1 && !is_loop_cond(frame, body_node(nz, frame, n->inputs[1]));
        if (!op_is(n->op, "Identity") || n->n_inputs == 0)
            return false;
        text = n->inputs[0];
    }
    return false;
}

/* ---- the nodes ---- */

/* A constant of a branch is alive when the branch is: a node stands for it that reads the branch's pivot, too, and the
 * constant goes by another name. */
static odlc_status make_gate(struct walk *w, const struct visit *v, bool *made)
{
    struct arena *scratch = w->nz->m->memory.scratch;
    const size_t count = visit_n_operands(w, v);
    struct operand *operands = arena_array(scratch, struct operand, count + 1);
    const struct source s = visited(v);
    struct fw_tensor t;
    TRY(constant_value(w, v, made, &t));
    if (!*made)
        return ODLC_OK;
    const char *own = arena_printf(scratch, "^%s", t.name);
    t.id = names_number(&w->nz->m->names, own, strlen(own));
    operands[0] = (struct operand){.id = t.id};
    memcpy(operands + 1, visit_operands(w, v), count * sizeof *operands);
    visit_seen(v)->emitted = (uint32_t)w->emitted.count;
    walk_append(
        w, &(struct new_node){
               .name = source_node_name(w->nz, &s), .op = "IdentityN", .operands = operands, .n_operands = count + 1});
    walk_constant(walk_outermost(w), t);
    return ODLC_OK;
}

static odlc_status make_switch(struct walk *w, struct visit *v)
{
    TRY(walk_prepare(w, v));
    TRY(switch_value(w->nz, v->frame, v->node, &visit_seen(v)->decides));
    walk_keep(w, v);
    return ODLC_OK;
}

static odlc_status make_merge(struct walk *w, struct visit *v)
{
    struct arena *scratch = w->nz->m->memory.scratch;
    const struct source s = visited(v);
    const uint32_t count = (uint32_t)visit_n_operands(w, v);
    const struct condition **when = arena_array(scratch, const struct condition *, count);
    struct operand *operands = arena_array(scratch, struct operand, count + 1);
    int64_t *values = arena_array(w->nz->m->memory.kept, int64_t, count);
    struct fw_attr *sides = arena_new(w->nz->m->memory.graph, struct fw_attr);
    TRY(walk_prepare(w, v));
    memcpy(operands, visit_operands(w, v), count * sizeof *operands);
    for (uint32_t i = 0; i < count; i++)
        when[i] = operands[i].when;
    bool clear = condition_split(w->nz, when, count, &operands[count].id, values, &visit_seen(v)->when);
    *sides = (struct fw_attr){.name = MERGE_SIDES, .kind = FW_INTS, .count = count, .ints = values};
    walk_stand_for(w, v,
                   &(struct new_node){.name = source_node_name(w->nz, &s),
                                      .op = "Merge",
                                      .attrs = sides,
                                      .n_attrs = 1,
                                      .operands = operands,
                                      .n_operands = count + clear,
                                      .from = source_node(&s)});
    return ODLC_OK;
}

static odlc_status make(struct walk *w, struct visit *v, bool *made)
{
    const struct source s = visited(v);
    const char *op = source_node(&s)->op;
    const bool reads = visit_n_operands(w, v) > 0;
    if (reads && is_constant(op))
        return make_gate(w, v, made);
    *made = (is_switch(op) || (reads && is_merge(op))) && !is_claimed(w->nz, op);
    if (!*made)
        return ODLC_OK;
    return is_switch(op) ? make_switch(w, v) : make_merge(w, v);
}

const struct stage select_from_merges = {.reads_control = reads_pivot, .make = make};
