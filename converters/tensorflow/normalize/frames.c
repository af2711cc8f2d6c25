/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/frames.h"

#include <string.h>

#include "converters/tensorflow/decode/tf_attr.h"
#include "converters/tensorflow/decode/tf_graph.h"

enum { MAX_DEPTH = 64 }; /* of calls within calls, and graphs within graphs */
/* Nodes of all calls and loops together; large models may have more. */
enum { MAX_EXPANSION = 100000, BYTES_PER_NODE = 16 };
enum { MAX_SCOPES = 256 }; /* in a name that is inside of calls: each is looked up */

/* ---- limits ---- */

odlc_status note_expansion(struct normalize *nz, uint64_t more, const char *node)
{
    uint64_t limit = MAX_EXPANSION + nz->m->file->size / BYTES_PER_NODE;
    nz->expanded += more;
    if (nz->expanded <= limit)
        return ODLC_OK;
    return diag_error(nz->m->diags, ODLC_ERR_LIMIT, AT(IN_MODEL(nz->m), .node = node), "tensorflow-expansion",
                      "the functions and loops of the graph expand to more than %llu nodes", (unsigned long long)limit);
}

odlc_status note_names(struct normalize *nz, uint64_t count, const char *prefix, const char *node)
{
    enum { MAX_NAMES = 64 << 20, NAMES_PER_BYTE = 16, BESIDE = 64 }; /* BESIDE: a name, what is kept of its value */
    uint64_t limit = MAX_NAMES + NAMES_PER_BYTE * (uint64_t)nz->m->file->size;
    nz->name_bytes += count * (strlen(prefix) + strlen(node) + BESIDE);
    if (nz->name_bytes <= limit)
        return ODLC_OK;
    return diag_error(
        nz->m->diags, ODLC_ERR_LIMIT, AT(IN_MODEL(nz->m), .node = node), "tensorflow-expansion",
        "the names of values take more than %llu bytes: those in calls of functions begin with the call's "
        "name, and a node has as many outputs as the last one that is read says",
        (unsigned long long)limit);
}

/* ---- bodies at work ---- */

static odlc_status check_function(struct normalize *nz, const struct frame *around, const struct tf_function *function,
                                  const char *node)
{
    const struct odlc_diag *place = AT(IN_MODEL(nz->m), .node = node);
    for (const struct frame *at = around; at; at = at->around)
        if (at->function == function)
            return diag_error(nz->m->diags, ODLC_ERR_INVALID, place, "tensorflow-recursion", "function %s calls itself",
                              function->name);
    if (around && around->depth == MAX_DEPTH)
        return diag_error(nz->m->diags, ODLC_ERR_LIMIT, place, "tensorflow-depth",
                          "calls of functions, and graphs within graphs, nest deeper than %d levels", MAX_DEPTH);
    return ODLC_OK;
}

/* What the names of a node's values begin with. */
struct node_name {
    const char *prefix, *name;
};

static struct node_name name_of(const struct frame *frame, uint32_t node)
{
    const char *renamed = frame->renamed ? frame->renamed[node] : NULL;
    const struct node_name own = {frame->prefix, frame->body->nodes.data[node].name};
    return renamed ? (struct node_name){"", renamed} : own;
}

static const char *inner_prefix(const struct normalize *nz, const struct frame *parent, const struct tf_node *call)
{
    if (!call)
        return "";
    const struct node_name n = name_of(parent, (uint32_t)(call - parent->body->nodes.data));
    return arena_printf(nz->m->memory.kept, "%s%s/", n.prefix, n.name);
}

odlc_status frame_create(struct normalize *nz, struct frame *around, struct tf_function *function,
                         const struct tf_node *call, const struct fw_function *as, struct frame **out)
{
    struct arena *arena = nz->m->memory.scratch;
    struct frame *frame = arena_new(arena, struct frame);
    *frame = (struct frame){.parent = call ? around : NULL,
                            .around = around,
                            .body = &nz->m->body,
                            .function = function,
                            .call = call,
                            .prefix = inner_prefix(nz, around, call),
                            .depth = around ? around->depth + 1 : 0};
    if (function) {
        const char *node = call ? call->name : NULL;
        TRY(check_function(nz, around, function, node));
        TRY(tf_decode_function(nz->m, function));
        TRY(note_expansion(nz, function->body.size + function->args.count + function->rets.count + 1, node));
        frame->body = &function->body;
        frame->rets = arena_array(arena, struct source, function->rets.count);
    }
    if (as) {
        frame->given = as->attrs;
        frame->n_given = as->n_attrs;
    }
    frame->seen = arena_array(arena, struct seen, frame->body->nodes.count);
    *out = frame;
    return call ? note_names(nz, frame->body->size, frame->prefix, call->name) : ODLC_OK;
}

/* Those of a function's node are decoded once for all calls, unless they are what a call says. */
static odlc_status find_attrs(struct normalize *nz, struct frame *frame, uint32_t node, struct seen *seen)
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
        TRY(note_expansion(nz, (n->attrs.to - n->attrs.from) / BYTES_PER_NODE, n->name));
    TRY(tf_decode_attrs(nz->m, n, frame->given, frame->n_given, &seen->attrs, &seen->n_attrs, &varies));
    if (known)
        *known = (struct tf_known_attrs){seen->attrs, seen->n_attrs, varies ? ATTRS_VARY : ATTRS_KNOWN};
    return ODLC_OK;
}

odlc_status node_attrs(struct normalize *nz, struct frame *frame, uint32_t node, const struct fw_attr **out,
                       uint32_t *count)
{
    struct seen *seen = &frame->seen[node];
    if (!seen->has_attrs)
        TRY(find_attrs(nz, frame, node, seen));
    seen->has_attrs = true;
    *out = seen->attrs;
    *count = seen->n_attrs;
    return ODLC_OK;
}

const struct fw_attr *find_attr(const struct fw_attr *attrs, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, name) == 0)
            return &attrs[i];
    return NULL;
}

/* ---- names ---- */

static void write_name(struct arena *arena, text *out, const char *prefix, const char *name, uint32_t output)
{
    out->count = 0;
    if (*prefix)
        text_add_bytes(arena, out, prefix, strlen(prefix));
    text_add_bytes(arena, out, name, strlen(name));
    if (output == 0) /* of nearly all nodes; printf takes ten times as long */
        text_add_bytes(arena, out, ":0", 2);
    else
        text_add(arena, out, ":%u", output);
}

fw_name output_name_id(struct normalize *nz, const char *prefix, const char *name, uint32_t output)
{
    write_name(nz->m->memory.scratch, &nz->name, prefix, name, output);
    return names_number(&nz->m->names, nz->name.data, nz->name.count);
}

void source_expect(struct normalize *nz, const struct frame *frame, uint32_t node)
{
    if (frame->seen[node].id != FW_NO_NAME)
        return;
    const struct node_name n = name_of(frame, node);
    nz->ahead.frame = frame;
    nz->ahead.node = node;
    write_name(nz->m->memory.scratch, &nz->ahead.name, n.prefix, n.name, 0);
    names_expect(&nz->m->names, nz->ahead.name.data, nz->ahead.name.count);
}

/* Of output 0 of a node. */
static fw_name first_output_id(struct normalize *nz, const struct source *s, const struct node_name *n)
{
    const struct name_ahead *ahead = &nz->ahead;
    if (ahead->frame == s->frame && ahead->node == s->node)
        return names_number(&nz->m->names, ahead->name.data, ahead->name.count);
    return output_name_id(nz, n->prefix, n->name, 0);
}

fw_name source_id(struct normalize *nz, const struct source *s)
{
    const struct node_name n = s->is_arg
                                   ? (struct node_name){s->frame->prefix, s->frame->function->arg_names.data[s->node]}
                                   : name_of(s->frame, s->node);
    fw_name *known = s->is_arg || s->output ? NULL : &s->frame->seen[s->node].id;
    if (known && *known != FW_NO_NAME)
        return *known;
    if (!known)
        return output_name_id(nz, n.prefix, n.name, s->output);
    return *known = first_output_id(nz, s, &n);
}

const char *source_node_name(const struct normalize *nz, const struct source *s)
{
    const struct node_name n = name_of(s->frame, s->node);
    return *n.prefix ? arena_join(nz->m->memory.kept, n.prefix, n.name, "") : arena_strdup(nz->m->memory.kept, n.name);
}

static uint32_t node_called(const struct normalize *nz, const struct frame *frame, const char *name, size_t length)
{
    if (!name[length])
        return tf_body_find(frame->body, name);
    struct arena_mark mark = arena_mark(nz->m->memory.scratch);
    uint32_t node = tf_body_find(frame->body, arena_strndup(nz->m->memory.scratch, name, length));
    arena_rewind(nz->m->memory.scratch, mark);
    return node;
}

uint32_t body_node(const struct normalize *nz, const struct frame *frame, const char *input)
{
    const char *name = input + (*input == '^');
    return node_called(nz, frame, name, strcspn(name, ":"));
}

uint32_t holding_node(const struct normalize *nz, const struct frame *frame, const char *name, size_t *length)
{
    size_t scopes = 0;
    for (const char *at = name; *at; at++)
        scopes += *at == '/';
    while (scopes <= MAX_SCOPES && *length > 0) {
        if (name[--*length] != '/')
            continue;
        uint32_t node = node_called(nz, frame, name, *length);
        if (node != MAP_NONE)
            return node;
    }
    return MAP_NONE;
}
