/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/normalize/served.h"

#include <stdlib.h>
#include <string.h>

#include "converters/tensorflow/normalize/inline_calls.h"
#include "converters/tensorflow/normalize/leaves.h"
#include "converters/tensorflow/normalize/variables.h"

enum { MAX_HOPS = 64 }; /* of Identities, one behind another: a result may go by the name of the next one */

/* ---- which function ---- */

/* The call that gives all outputs of the signature; MAP_NONE: there is none. */
static uint32_t call_of(const struct normalize *nz, const struct tf_signature *signature)
{
    uint32_t call = MAP_NONE;
    for (size_t i = 0; i < signature->outputs.count; i++) {
        const uint32_t node = body_node(nz, nz->top, signature->outputs.data[i].value.name);
        if (node == MAP_NONE || (i > 0 && node != call))
            return MAP_NONE;
        call = node;
    }
    const char *op = call == MAP_NONE ? "" : nz->top->body->nodes.data[call].op;
    return is_call(nz, op) && !is_claimed(nz, op) ? call : MAP_NONE;
}

/* ---- names ---- */

#define SCOPE "outer"

/* Where the name begins with "outer" or "outer_7", the scope's number becomes a larger one. */
static void avoid(const char *name, uint32_t *number)
{
    enum { MAX_DIGITS = 8 }; /* larger numbers are never reached */
    if (strncmp(name, SCOPE, strlen(SCOPE)) != 0)
        return;
    const char *digits = name + strlen(SCOPE);
    digits += *digits == '_';
    const char *end = digits + strspn(digits, "0123456789");
    if ((*end && *end != '/') || end - digits > MAX_DIGITS)
        return;
    const uint32_t free_number = (uint32_t)strtoul(digits, NULL, 10) + 1;
    if (free_number > *number)
        *number = free_number;
}

/* "outer", or "outer_1" …: no name of the function, and no key, begins so. */
static const char *free_scope(const struct normalize *nz, const struct tf_signature *signature)
{
    const struct tf_body *body = nz->served->body;
    uint32_t number = 0;
    for (size_t i = 0; i < body->nodes.count; i++)
        avoid(body->nodes.data[i].name, &number);
    for (size_t i = 0; i < signature->inputs.count; i++)
        avoid(signature->inputs.data[i].key, &number);
    return number ? arena_printf(nz->m->memory.kept, SCOPE "_%u", number) : SCOPE;
}

/* Whether a value of the function may have the name. */
static bool is_inside(const struct normalize *nz, const char *name)
{
    size_t length = strlen(name);
    if (tf_body_find(nz->served->body, name) != MAP_NONE)
        return true;
    for (uint32_t node; (node = holding_node(nz, nz->served, name, &length)) != MAP_NONE;)
        if (is_call(nz, nz->served->body->nodes.data[node].op))
            return true;
    return false;
}

/* Inputs go by their keys, other nodes of the graph around the function by a prefix. */
static void name_around(struct normalize *nz, const struct tf_signature *signature)
{
    struct arena *kept = nz->m->memory.kept;
    struct frame *top = nz->top;
    top->prefix = arena_printf(kept, "%s/", free_scope(nz, signature));
    top->renamed = arena_array(nz->m->memory.scratch, const char *, top->body->nodes.count);
    for (size_t i = 0; i < signature->inputs.count; i++) {
        const struct tf_end *end = &signature->inputs.data[i];
        const char *output = strchr(end->value.name, ':');
        const uint32_t node = body_node(nz, top, end->value.name);
        const bool plain = *end->key && !strchr(end->key, ':') && output && strcmp(output, ":0") == 0;
        if (node != MAP_NONE && plain && !top->renamed[node] && !is_inside(nz, end->key))
            top->renamed[node] = end->key;
    }
}

odlc_status find_served(struct normalize *nz, const struct tf_signature *signature)
{
    const uint32_t call = call_of(nz, signature);
    if (call == MAP_NONE)
        return ODLC_OK;
    TRY(call_frame(nz, nz->top, call, &nz->served));
    nz->served->prefix = "";
    name_around(nz, signature);
    return ODLC_OK;
}

/* ---- results ---- */

/* Inputs and constants have names of their own, and are no results. */
static bool is_leaf(const struct source *s)
{
    const char *op = s->is_arg || s->cut ? "" : source_node(s)->op;
    return !*op || strncmp(op, "Placeholder", strlen("Placeholder")) == 0 || is_constant(op) || is_variable(op);
}

static odlc_status pass_identities(struct normalize *nz, struct source *s)
{
    for (int hops = 0; hops < MAX_HOPS && !is_leaf(s); hops++) {
        const struct tf_node *n = source_node(s);
        struct source behind;
        if (strcmp(n->op, "Identity") != 0 || is_claimed(nz, n->op) || !n->n_inputs || n->inputs[0][0] == '^')
            return ODLC_OK;
        TRY(find_source(nz, s->frame, n->inputs[0], n->name, &behind));
        if (is_leaf(&behind))
            return ODLC_OK;
        *s = behind;
    }
    return ODLC_OK;
}

odlc_status find_result(struct normalize *nz, const char *name, struct output *out)
{
    struct source place;
    *out = (struct output){0};
    TRY(find_place(nz, nz->top, name, &place));
    if (!place.frame)
        return ODLC_OK;
    TRY(find_named(nz, nz->top, name, &out->source));
    if (is_leaf(&out->source))
        out->name = source_name(nz, &place);
    return pass_identities(nz, &out->source);
}

odlc_status same_result(struct normalize *nz, const struct source *a, const struct source *b, bool *out)
{
    struct source x = *a, y = *b;
    TRY(pass_identities(nz, &x));
    TRY(pass_identities(nz, &y));
    *out = source_id(nz, &x) == source_id(nz, &y);
    return ODLC_OK;
}
