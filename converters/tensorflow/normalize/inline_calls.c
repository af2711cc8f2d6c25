/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/inline_calls.h"

#include <stdlib.h>
#include <string.h>

#include "converters/tensorflow/decode/op_list.h"

enum { MAX_STEPS = 4000000 }; /* through calls, for one value */

/* ---- calls ---- */

static struct tf_function *function_of(const struct normalize *nz, const char *name)
{
    uint32_t at = nz->m->functions.count > 0 ? map_get(&nz->m->function_index, name) : MAP_NONE;
    return at == MAP_NONE ? NULL : &nz->m->functions.data[at];
}

static bool is_call_op(const char *op)
{
    return op_is(op, "PartitionedCall") || op_is(op, "StatefulPartitionedCall");
}

bool is_call(const struct normalize *nz, const char *op)
{
    return is_call_op(op) || function_of(nz, op);
}

/* The function that a call names by its attribute f. */
static odlc_status called_function(struct normalize *nz, struct frame *frame, uint32_t node, struct fw_function *as,
                                   struct tf_function **out)
{
    const struct tf_node *n = &frame->body->nodes.data[node];
    const struct fw_attr *attrs;
    uint32_t count;
    TRY(node_attrs(nz, frame, node, &attrs, &count));
    if (!is_call_op(n->op)) { /* the operator is the function */
        *as = (struct fw_function){n->op, attrs, count};
        *out = function_of(nz, n->op);
        return ODLC_OK;
    }
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, "f") == 0 && attrs[i].kind == FW_FUNCTION)
            *as = *attrs[i].function;
    *out = as->name ? function_of(nz, as->name) : NULL;
    if (!*out)
        return diag_error(nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(nz->m), .node = n->name), "tensorflow-function",
                          "the model has no function %s", as->name ? as->name : "for the call");
    return ODLC_OK;
}

odlc_status call_frame(struct normalize *nz, struct frame *frame, uint32_t node, struct frame **out)
{
    const struct tf_node *n = &frame->body->nodes.data[node];
    struct seen *seen = &frame->seen[node];
    struct fw_function as = {0};
    struct tf_function *function;
    *out = seen->inner;
    if (seen->inner || !is_call(nz, n->op) || is_claimed(nz, n->op))
        return ODLC_OK;
    TRY(called_function(nz, frame, node, &as, &function));
    TRY(frame_create(nz, frame, function, n, &as, &seen->inner));
    *out = seen->inner;
    return ODLC_OK;
}

/* ---- what an input says ---- */

/* "node", "node:1", "node:output:1" */
struct reference {
    const char *node, *arg; /* arg NULL: not said */
    uint32_t index;
    bool valid;
};

static struct reference parse(struct arena *arena, const char *text)
{
    struct reference r = {.node = text, .valid = true};
    const char *first = strchr(text, ':'), *last = strrchr(text, ':');
    if (!first)
        return r;
    char *end;
    unsigned long index = strtoul(last + 1, &end, 10);
    r.node = arena_strndup(arena, text, (size_t)(first - text));
    r.arg = first < last ? arena_strndup(arena, first + 1, (size_t)(last - first - 1)) : NULL;
    r.index = (uint32_t)index;
    r.valid = last[1] >= '0' && last[1] <= '9' && !*end && index < 65536;
    return r;
}

static odlc_status bad_input(struct normalize *nz, const char *reader, const char *text, const char *what)
{
    return diag_error(nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(nz->m), .node = reader), "tensorflow-input",
                      "%s reads %s, %s", reader, text, what);
}

/* The number of a call's result. */
static odlc_status result_number(struct normalize *nz, const struct frame *inner, const struct reference *r,
                                 const char *reader, uint32_t *out)
{
    const struct tf_function *function = inner->function;
    *out = r->index;
    for (uint32_t i = 0; r->arg && !is_call_op(inner->call->op) && i < function->ret_names.count; i++)
        if (strcmp(function->ret_names.data[i], r->arg) == 0)
            *out = i;
    if (*out >= function->rets.count)
        return bad_input(nz, reader, r->node, "a call that does not give so many results");
    return ODLC_OK;
}

bool is_cut(struct normalize *nz, const struct source *s)
{
    const struct frame *outermost = s->frame;
    while (outermost->parent)
        outermost = outermost->parent;
    return outermost == nz->root && nz->cuts.count > 0 && map_get(&nz->cuts, source_name(nz, s)) != MAP_NONE;
}

/* The argument of a call is what the call reads; that of a graph of its own is a value. */
static odlc_status step_out(struct normalize *nz, struct frame **frame, const char **text, uint32_t arg,
                            struct source *out)
{
    const struct tf_node *call = (*frame)->call;
    if (!call) {
        *out = (struct source){.frame = *frame, .node = arg, .is_arg = true};
        return ODLC_OK;
    }
    if (arg >= call->n_inputs || call->inputs[arg][0] == '^')
        return bad_input(nz, call->name, (*frame)->function->arg_names.data[arg], "which the call does not give");
    *text = call->inputs[arg];
    *frame = (*frame)->parent;
    return ODLC_OK;
}

/* The number of the output that "node:arg:index" names. Of an operator that is not known, an argument is taken to be
 * one list of all outputs. */
static odlc_status output_number(struct normalize *nz, struct frame *frame, uint32_t node, const struct reference *r,
                                 const char *reader, const char *text, uint32_t *out)
{
    const char *op = frame->body->nodes.data[node].op;
    *out = r->index;
    if (!r->arg || is_call_op(op) || function_of(nz, op))
        return ODLC_OK;
    const struct fw_attr *attrs;
    uint32_t count;
    TRY(node_attrs(nz, frame, node, &attrs, &count));
    if (tf_output_index(tf_op_of(nz->m, op), attrs, count, r->arg, r->index, out) == TF_NOT_FOUND)
        return bad_input(nz, reader, text, "which is no output of its operator");
    return ODLC_OK;
}

/* One step: the input of a node as a node's output, or as another input (*text in *frame). *known gets the place where
 * the result of a call is to be kept, or NULL. */
static odlc_status step(struct normalize *nz, struct frame **frame, const char **text, const char *reader,
                        struct source *out, struct source **known)
{
    struct reference r = parse(nz->m->memory.scratch, *text);
    uint32_t node = tf_body_find((*frame)->body, r.node);
    uint32_t arg = (*frame)->function && node == MAP_NONE ? map_get(&(*frame)->function->args, r.node) : MAP_NONE;
    out->frame = NULL;
    *known = NULL;
    if (!r.valid)
        return bad_input(nz, reader, *text, "which is no name of an output");
    if (arg != MAP_NONE)
        return step_out(nz, frame, text, arg, out);
    if (node == MAP_NONE)
        return bad_input(nz, reader, *text, "which is no node of the graph");
    *out = (struct source){.frame = *frame, .node = node};
    TRY(output_number(nz, *frame, node, &r, reader, *text, &out->output));
    out->cut = is_cut(nz, out);
    struct frame *inner = NULL;
    if (!out->cut)
        TRY(call_frame(nz, *frame, node, &inner));
    if (!inner)
        return ODLC_OK;
    uint32_t number;
    TRY(result_number(nz, inner, &r, reader, &number));
    *known = &inner->rets[number];
    *out = **known;
    *text = inner->function->rets.data[number];
    *frame = inner;
    return ODLC_OK;
}

odlc_status find_source(struct normalize *nz, struct frame *frame, const char *text, const char *reader,
                        struct source *out)
{
    VEC(struct source *) passed = {0};
    struct source *known;
    *out = (struct source){0};
    for (uint32_t steps = 0; !out->frame; steps++) {
        if (steps == MAX_STEPS)
            return bad_input(nz, reader, text,
                             arena_printf(nz->m->diags->arena,
                                          "which calls of functions hand around more than %d times", MAX_STEPS));
        TRY(step(nz, &frame, &text, reader, out, &known));
        if (known)
            vec_push(nz->m->memory.scratch, &passed, known);
    }
    for (size_t i = 0; i < passed.count; i++)
        *passed.data[i] = *out;
    return ODLC_OK;
}

/* Goes on to the frame in which a node has the name, or what is left of it behind names of calls. */
static odlc_status find_frame(struct normalize *nz, struct frame **in, const char **rest, struct source *out)
{
    struct frame *frame = *in;
    const char *name = *rest;
    *out = (struct source){0};
    for (;;) {
        struct reference r = parse(nz->m->memory.scratch, name);
        uint32_t at = r.valid && !r.arg ? tf_body_find(frame->body, r.node) : MAP_NONE;
        if (at != MAP_NONE) {
            *in = frame;
            *rest = name;
            *out = (struct source){.frame = frame, .node = at, .output = r.index};
            return ODLC_OK;
        }
        struct frame *inner = NULL;
        size_t length = strlen(name);
        for (uint32_t node = 0; !inner && node != MAP_NONE;) {
            node = holding_node(nz, frame, name, &length);
            if (node != MAP_NONE)
                TRY(call_frame(nz, frame, node, &inner));
        }
        if (!inner)
            return ODLC_OK;
        frame = inner;
        name += length + 1;
    }
}

odlc_status find_place(struct normalize *nz, struct frame *frame, const char *name, struct source *out)
{
    return find_frame(nz, &frame, &name, out);
}

odlc_status find_named(struct normalize *nz, struct frame *frame, const char *name, struct source *out)
{
    TRY(find_frame(nz, &frame, &name, out));
    return out->frame ? find_source(nz, frame, name, name, out) : ODLC_OK;
}
