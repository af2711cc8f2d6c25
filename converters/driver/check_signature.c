/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/check_signature.h"

#include <string.h>

#include "converters/frontend/signature.h"

/* A node, and who asks. */
struct checked {
    const struct context *c;
    const struct fw_model *model;
    const struct fw_node *n;
};

/* Operands up to the last one that has a name. */
static uint32_t named(const char *const *names, uint32_t count)
{
    while (count > 0 && !*names[count - 1])
        count--;
    return count;
}

static const char *version_text(const struct checked *k)
{
    const struct fw_op *op = k->n->op;
    if (!k->c->frontend->has_opsets)
        return op->type;
    return arena_printf(k->c->arena, "version %lld of %s%s%s", (long long)op->version, op->domain,
                        *op->domain ? "::" : "", op->type);
}

static odlc_status report(const struct checked *k, const char *attribute, const char *hint, const char *message)
{
    return diag_error(k->c->diags, ODLC_ERR_INVALID,
                      AT(.file = k->model->path, .node = fw_node_label(k->n), .attribute = attribute, .hint = hint),
                      "invalid-node", "%s: %s", k->n->op->type, message);
}

static odlc_status check_count(const struct checked *k, uint32_t count, uint32_t most, const char *what)
{
    if (count <= most)
        return ODLC_OK;
    const char *hint = k->c->frontend->has_opsets ? "the version is that of the model's import of the domain" : NULL;
    return report(k, NULL, hint,
                  arena_printf(k->c->arena, "the node has %u %s%s, but %s has at most %u", count, what,
                               count == 1 ? "" : "s", version_text(k), most));
}

/* As many inputs as the definition and the attributes say. */
static odlc_status check_inputs(const struct checked *k, const struct signature *s)
{
    const uint32_t count = named(k->n->inputs, k->n->n_inputs);
    if (!k->c->frontend->input_count)
        return check_count(k, count, s->most_in, "input");
    const uint32_t right = k->c->frontend->input_count(k->n);
    if (right == UINT32_MAX || right == count)
        return ODLC_OK;
    return report(k, NULL, NULL,
                  arena_printf(k->c->arena, "the node has %u input%s, but %s has %u", count, count == 1 ? "" : "s",
                               version_text(k), right));
}

/* The letter of the attribute's kind; 0: there is no such attribute. Of a list of functions each is an attribute of its
 * own: NAME:NUMBER. */
static char kind_of(const char *attributes, const char *name, bool holds_graph)
{
    const size_t size = holds_graph ? strcspn(name, ":") : strlen(name);
    for (const char *at = attributes; at[0] && at[1]; at = strchr(at + 1, ' '))
        if (strncmp(at + 1, name, size) == 0 && at[1 + size] == ':')
            return at[2 + size];
    return 0;
}

static const char *kind_name(char letter)
{
    switch (letter) {
    case 'i':
        return "an integer";
    case 'f':
        return "a float";
    case 's':
        return "a string";
    case 't':
        return "a tensor";
    case 'g':
        return "a graph";
    case 'x':
        return "a sparse tensor";
    case 'I':
        return "a list of integers";
    case 'F':
        return "a list of floats";
    case 'b':
        return "a bool";
    case 'y':
        return "a type";
    case 'p':
        return "a shape";
    case 'T':
        return "a tensor";
    case 'n':
        return "a function";
    case 'B':
        return "a list of bools";
    case 'Y':
        return "a list of types";
    case 'P':
        return "a list of shapes";
    case 'N':
        return "a list of functions";
    case 'S':
        return "a list of strings";
    default:
        return "of another kind";
    }
}

/* The letters of what the value may be. */
static const char *letters_of(const struct fw_attr *a)
{
    static const char *const letters[] = {
        [FW_BOOL] = "b",    [FW_FLOAT] = "f",     [FW_STRING] = "s",   [FW_TENSOR] = "tT",
        [FW_GRAPH] = "gnN", [FW_FUNCTION] = "nN", [FW_SPARSE] = "x",   [FW_COMPLEX] = "T",
        [FW_FLOATS] = "F",  [FW_STRINGS] = "S",   [FW_OTHER] = "oTpPN"};
    if (a->kind == FW_INT)
        return a->is_type ? "y" : "i";
    if (a->kind == FW_INTS)
        return a->is_type ? "Y" : "IBp";
    return letters[a->kind];
}

/* A list without elements may not say of what it is one. */
static bool is_empty_list(const struct fw_attr *a, char wanted)
{
    const bool is_list = a->kind == FW_INTS || a->kind == FW_FLOATS || a->kind == FW_STRINGS;
    return is_list && a->count == 0 && strchr("IFSBYPN", wanted);
}

/* The names alone: "axis, keepdims". */
static const char *names_text(struct arena *arena, const char *attributes)
{
    text t = {0};
    for (const char *at = attributes; at[0] && at[1]; at = strchr(at + 1, ' '))
        text_add(arena, &t, "%s%.*s", at == attributes ? "" : ", ", (int)strcspn(at + 1, ":"), at + 1);
    return t.data;
}

static odlc_status unknown_attribute(const struct checked *k, const char *name, const char *attributes)
{
    struct arena *arena = k->c->arena;
    const char *hint = "it has no attributes";
    if (*attributes)
        hint = arena_printf(arena, "its attributes are %s", names_text(arena, attributes));
    if (!k->c->frontend->leaves_out(k->n->op, name))
        return report(k, name, hint, arena_printf(arena, "%s does not have the attribute %s", version_text(k), name));
    bool *reported = &k->model->ops.data[k->n->op->index]->unknown_reported;
    if (!*reported)
        diag_warn(k->c->diags, AT(.file = k->model->path, .node = fw_node_label(k->n), .attribute = name, .hint = hint),
                  "unknown-attribute", "%s does not have the attribute %s: it is left out", version_text(k), name);
    *reported = true;
    return ODLC_OK;
}

static odlc_status check_attribute(const struct checked *k, const struct fw_attr *a, const char *attributes)
{
    const char wanted = kind_of(attributes, a->name, fw_holds_graph(a));
    if (!wanted)
        return strncmp(a->name, "__", 2) == 0 ? ODLC_OK : unknown_attribute(k, a->name, attributes);
    if (a->ref || strchr(letters_of(a), wanted) || is_empty_list(a, wanted))
        return ODLC_OK;
    return report(k, a->name, NULL, arena_printf(k->c->arena, "attribute %s is not %s", a->name, kind_name(wanted)));
}

/* Lists that nodes of an operator share are checked once. */
static odlc_status check_attributes(const struct checked *k, const struct signature *s)
{
    const struct fw_node *n = k->n;
    struct fw_op *op = k->model->ops.data[n->op->index];
    odlc_status status = ODLC_OK;
    if (n->attrs && n->attrs == op->right_attrs && n->n_attrs == op->n_right_attrs)
        return ODLC_OK;
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        const odlc_status attribute = check_attribute(k, &n->attrs[i], s->attributes);
        status = status == ODLC_OK ? attribute : status;
    }
    if (status == ODLC_OK) {
        op->right_attrs = n->attrs;
        op->n_right_attrs = n->n_attrs;
    }
    return status;
}

odlc_status check_signature(const struct context *c, const struct input *in, const struct fw_node *n)
{
    const struct checked k = {c, in->model, n};
    const struct signature *s = n->op->signature;
    if (!s)
        return ODLC_OK;
    odlc_status status = check_inputs(&k, s);
    const odlc_status outputs = check_count(&k, named(n->outputs, n->n_outputs), s->most_out, "output");
    status = status == ODLC_OK ? outputs : status;
    const odlc_status attributes = check_attributes(&k, s);
    return status == ODLC_OK ? attributes : status;
}
