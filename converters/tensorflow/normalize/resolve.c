/* Calls are seen through: an argument is what the call gives, the result of a call is what its function returns. */
#include <stdlib.h>
#include <string.h>

#include "converters/tensorflow/normalize/flatten.h"
#include "converters/tensorflow/normalize/loops.h"

enum { MAX_DEPTH = 64 }; /* of calls within calls, and graphs within graphs */
/* Nodes of all calls and loops together; large models may have more. */
enum { MAX_EXPANSION = 100000, BYTES_PER_NODE = 16 };
enum { MAX_STEPS = 4000000 }; /* through calls, for one value */

/* ---- frames ---- */

odlc_status note_expansion(struct flatten *f, uint64_t more, const char *node)
{
    uint64_t limit = MAX_EXPANSION + f->m->file->size / BYTES_PER_NODE;
    f->expanded += more;
    if (f->expanded <= limit)
        return ODLC_OK;
    return diag_error(f->m->diags, ODLC_ERR_LIMIT, AT(IN_MODEL(f->m), .node = node), "tensorflow-expansion",
                      "the functions and loops of the graph expand to more than %llu nodes", (unsigned long long)limit);
}

odlc_status note_names(struct flatten *f, uint64_t count, const char *prefix, const char *node)
{
    enum { MAX_NAMES = 64 << 20, NAMES_PER_BYTE = 16, BESIDE = 64 }; /* BESIDE: a name, what is kept of its value */
    uint64_t limit = MAX_NAMES + NAMES_PER_BYTE * (uint64_t)f->m->file->size;
    f->name_bytes += count * (strlen(prefix) + strlen(node) + BESIDE);
    if (f->name_bytes <= limit)
        return ODLC_OK;
    return diag_error(
        f->m->diags, ODLC_ERR_LIMIT, AT(IN_MODEL(f->m), .node = node), "tensorflow-expansion",
        "the names of values take more than %llu bytes: those in calls of functions begin with the call's "
        "name, and a node has as many outputs as the last one that is read says",
        (unsigned long long)limit);
}

static odlc_status check_function(struct flatten *f, const struct frame *around, const struct tf_function *function,
                                  const char *node)
{
    const struct odlc_diag *place = AT(IN_MODEL(f->m), .node = node);
    for (const struct frame *at = around; at; at = at->around)
        if (at->function == function)
            return diag_error(f->m->diags, ODLC_ERR_INVALID, place, "tensorflow-recursion", "function %s calls itself",
                              function->name);
    if (around && around->depth == MAX_DEPTH)
        return diag_error(f->m->diags, ODLC_ERR_LIMIT, place, "tensorflow-depth",
                          "calls of functions, and graphs within graphs, nest deeper than %d levels", MAX_DEPTH);
    return ODLC_OK;
}

static const char *inner_prefix(const struct flatten *f, const struct frame *parent, const struct tf_node *call)
{
    return call ? arena_printf(f->m->memory.kept, "%s%s/", parent->prefix, call->name) : "";
}

odlc_status frame_create(struct flatten *f, struct frame *around, struct tf_function *function,
                         const struct tf_node *call, const struct fw_function *as, struct frame **out)
{
    struct arena *arena = f->m->memory.scratch;
    struct frame *frame = arena_new(arena, struct frame);
    *frame = (struct frame){.parent = call ? around : NULL,
                            .around = around,
                            .body = &f->m->body,
                            .function = function,
                            .call = call,
                            .prefix = inner_prefix(f, around, call),
                            .depth = around ? around->depth + 1 : 0};
    if (function) {
        const char *node = call ? call->name : NULL;
        TRY(check_function(f, around, function, node));
        TRY(tf_decode_function(f->m, function));
        TRY(note_expansion(f, function->body.size + function->args.count + function->rets.count + 1, node));
        frame->body = &function->body;
        frame->rets = arena_array(arena, struct source, function->rets.count);
    }
    if (as) {
        frame->given = as->attrs;
        frame->n_given = as->n_attrs;
    }
    frame->seen = arena_array(arena, struct seen, frame->body->nodes.count);
    *out = frame;
    return call ? note_names(f, frame->body->size, frame->prefix, call->name) : ODLC_OK;
}

/* Those of a function's node are decoded once for all calls, unless they are what a call says. */
static odlc_status find_attrs(struct flatten *f, struct frame *frame, uint32_t node, struct seen *seen)
{
    const struct tf_node *n = &frame->body->nodes.data[node];
    struct tf_known_attrs *known = frame->function ? &frame->function->attrs[node] : NULL;
    bool varies;
    if (known && known->state == ATTRS_KNOWN) {
        seen->attrs = known->list;
        seen->n_attrs = known->count;
        return ODLC_OK;
    }
    if (known && known->state == ATTRS_VARY)
        TRY(note_expansion(f, (n->attrs.to - n->attrs.from) / BYTES_PER_NODE, n->name));
    TRY(tf_decode_attrs(f->m, n, frame->given, frame->n_given, &seen->attrs, &seen->n_attrs, &varies));
    if (known)
        *known = (struct tf_known_attrs){seen->attrs, seen->n_attrs, varies ? ATTRS_VARY : ATTRS_KNOWN};
    return ODLC_OK;
}

odlc_status node_attrs(struct flatten *f, struct frame *frame, uint32_t node, const struct fw_attr **out,
                       uint32_t *count)
{
    struct seen *seen = &frame->seen[node];
    if (!seen->has_attrs)
        TRY(find_attrs(f, frame, node, seen));
    seen->has_attrs = true;
    *out = seen->attrs;
    *count = seen->n_attrs;
    return ODLC_OK;
}

/* ---- calls ---- */

static struct tf_function *function_of(const struct flatten *f, const char *name)
{
    uint32_t at = f->m->functions.count > 0 ? map_get(&f->m->function_index, name) : MAP_NONE;
    return at == MAP_NONE ? NULL : &f->m->functions.data[at];
}

static bool is_call_op(const char *op)
{
    return strcmp(op, "PartitionedCall") == 0 || strcmp(op, "StatefulPartitionedCall") == 0;
}

bool is_call(const struct flatten *f, const char *op)
{
    return is_call_op(op) || function_of(f, op);
}

/* The function that a call names by its attribute f. */
static odlc_status called_function(struct flatten *f, struct frame *frame, uint32_t node, struct fw_function *as,
                                   struct tf_function **out)
{
    const struct tf_node *n = &frame->body->nodes.data[node];
    const struct fw_attr *attrs;
    uint32_t count;
    TRY(node_attrs(f, frame, node, &attrs, &count));
    if (!is_call_op(n->op)) { /* the operator is the function */
        *as = (struct fw_function){n->op, attrs, count};
        *out = function_of(f, n->op);
        return ODLC_OK;
    }
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, "f") == 0 && attrs[i].kind == FW_FUNCTION)
            *as = *attrs[i].function;
    *out = as->name ? function_of(f, as->name) : NULL;
    if (!*out)
        return diag_error(f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(f->m), .node = n->name), "tensorflow-function",
                          "the model has no function %s", as->name ? as->name : "for the call");
    return ODLC_OK;
}

odlc_status call_frame(struct flatten *f, struct frame *frame, uint32_t node, struct frame **out)
{
    const struct tf_node *n = &frame->body->nodes.data[node];
    struct seen *seen = &frame->seen[node];
    struct fw_function as = {0};
    struct tf_function *function;
    *out = seen->inner;
    if (seen->inner || !is_call(f, n->op) || f->claims(f->claims_user, n->op, ""))
        return ODLC_OK;
    TRY(called_function(f, frame, node, &as, &function));
    TRY(frame_create(f, frame, function, n, &as, &seen->inner));
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

static odlc_status bad_input(struct flatten *f, const char *reader, const char *text, const char *what)
{
    return diag_error(f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(f->m), .node = reader), "tensorflow-input",
                      "%s reads %s, %s", reader, text, what);
}

/* The number of a call's result. */
static odlc_status result_number(struct flatten *f, const struct frame *inner, const struct reference *r,
                                 const char *reader, uint32_t *out)
{
    const struct tf_function *function = inner->function;
    *out = r->index;
    for (uint32_t i = 0; r->arg && !is_call_op(inner->call->op) && i < function->ret_names.count; i++)
        if (strcmp(function->ret_names.data[i], r->arg) == 0)
            *out = i;
    if (*out >= function->rets.count)
        return bad_input(f, reader, r->node, "a call that does not give so many results");
    return ODLC_OK;
}

fw_name source_id(struct flatten *f, const struct source *s)
{
    const char *name = s->is_arg ? s->frame->function->arg_names.data[s->node] : source_node(s)->name;
    const char *prefix = s->frame->prefix;
    fw_name *known = s->is_arg || s->output ? NULL : &s->frame->seen[s->node].id;
    if (known && *known != FW_NO_NAME)
        return *known;
    f->name.count = 0;
    text_add(f->m->memory.scratch, &f->name, "%s%s", prefix, name);
    if (s->output)
        text_add(f->m->memory.scratch, &f->name, ":%u", s->output);
    fw_name id = names_number(&f->m->names, f->name.data, f->name.count);
    if (known)
        *known = id;
    return id;
}

static bool is_cut(struct flatten *f, const struct source *s)
{
    const struct frame *outermost = s->frame;
    while (outermost->parent)
        outermost = outermost->parent;
    return outermost == f->root && f->cuts.count > 0 && map_get(&f->cuts, source_name(f, s)) != MAP_NONE;
}

/* The argument of a call is what the call reads; that of a graph of its own is a value. */
static odlc_status step_out(struct flatten *f, struct frame **frame, const char **text, uint32_t arg,
                            struct source *out)
{
    const struct tf_node *call = (*frame)->call;
    if (!call) {
        *out = (struct source){.frame = *frame, .node = arg, .is_arg = true};
        return ODLC_OK;
    }
    if (arg >= call->n_inputs || call->inputs[arg][0] == '^')
        return bad_input(f, call->name, (*frame)->function->arg_names.data[arg], "which the call does not give");
    *text = call->inputs[arg];
    *frame = (*frame)->parent;
    return ODLC_OK;
}

/* The number of the output that "node:arg:index" names. Of an operator that is not known, an argument is taken to be
 * one list of all outputs. */
static odlc_status output_number(struct flatten *f, struct frame *frame, uint32_t node, const struct reference *r,
                                 const char *reader, const char *text, uint32_t *out)
{
    const char *op = frame->body->nodes.data[node].op;
    *out = r->index;
    if (!r->arg || is_call_op(op) || function_of(f, op))
        return ODLC_OK;
    const struct fw_attr *attrs;
    uint32_t count;
    TRY(node_attrs(f, frame, node, &attrs, &count));
    if (tf_output_index(tf_op_of(f->m, op), attrs, count, r->arg, r->index, out) == TF_NOT_FOUND)
        return bad_input(f, reader, text, "which is no output of its operator");
    return ODLC_OK;
}

/* One step: the input of a node as a node's output, or as another input (*text in *frame). *known gets the place where
 * the result of a call is to be kept, or NULL. */
static odlc_status step(struct flatten *f, struct frame **frame, const char **text, const char *reader,
                        struct source *out, struct source **known)
{
    struct reference r = parse(f->m->memory.scratch, *text);
    uint32_t node = map_get(&(*frame)->body->index, r.node);
    uint32_t arg = (*frame)->function && node == MAP_NONE ? map_get(&(*frame)->function->args, r.node) : MAP_NONE;
    out->frame = NULL;
    *known = NULL;
    if (!r.valid)
        return bad_input(f, reader, *text, "which is no name of an output");
    if (arg != MAP_NONE)
        return step_out(f, frame, text, arg, out);
    if (node == MAP_NONE)
        return bad_input(f, reader, *text, "which is no node of the graph");
    *out = (struct source){.frame = *frame, .node = node};
    TRY(output_number(f, *frame, node, &r, reader, *text, &out->output));
    out->cut = is_cut(f, out);
    struct frame *inner = NULL;
    if (!out->cut)
        TRY(call_frame(f, *frame, node, &inner));
    if (!inner)
        return ODLC_OK;
    uint32_t number;
    TRY(result_number(f, inner, &r, reader, &number));
    *known = &inner->rets[number];
    *out = **known;
    *text = inner->function->rets.data[number];
    *frame = inner;
    return ODLC_OK;
}

odlc_status find_source(struct flatten *f, struct frame *frame, const char *text, const char *reader,
                        struct source *out)
{
    VEC(struct source *) passed = {0};
    struct source *known;
    *out = (struct source){0};
    for (uint32_t steps = 0; !out->frame; steps++) {
        if (steps == MAX_STEPS)
            return bad_input(
                f, reader, text,
                arena_printf(f->m->diags->arena, "which calls of functions hand around more than %d times", MAX_STEPS));
        TRY(step(f, &frame, &text, reader, out, &known));
        if (known)
            vec_push(f->m->memory.scratch, &passed, known);
    }
    for (size_t i = 0; i < passed.count; i++)
        *passed.data[i] = *out;
    return ODLC_OK;
}

odlc_status find_named(struct flatten *f, const char *name, struct source *out)
{
    struct frame *frame = f->root;
    *out = (struct source){0};
    for (;;) {
        struct reference r = parse(f->m->memory.scratch, name);
        if (r.valid && !r.arg && map_get(&frame->body->index, r.node) != MAP_NONE)
            return find_source(f, frame, name, name, out);
        struct frame *inner = NULL;
        size_t length = strlen(name);
        for (uint32_t node = 0; !inner && node != MAP_NONE;) {
            node = holding_node(f, frame, name, &length);
            if (node != MAP_NONE)
                TRY(call_frame(f, frame, node, &inner));
        }
        if (!inner)
            return ODLC_OK;
        frame = inner;
        name += length + 1;
    }
}
