/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/check_signature.h"

#include <string.h>

#include "converters/frontend/signature.h"

/* A node, and who asks. */
struct checked {
    const struct context *c;
    const char *path;
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
    return arena_printf(k->c->arena, "version %lld of %s%s%s", (long long)op->version, op->domain,
                        *op->domain ? "::" : "", op->type);
}

static odlc_status report(const struct checked *k, const char *attribute, const char *hint, const char *message)
{
    return diag_error(k->c->diags, ODLC_ERR_INVALID,
                      AT(.file = k->path, .node = fw_node_label(k->n), .attribute = attribute, .hint = hint),
                      "invalid-node", "%s: %s", k->n->op->type, message);
}

static odlc_status check_count(const struct checked *k, uint32_t count, uint32_t most, const char *what)
{
    if (count <= most)
        return ODLC_OK;
    return report(k, NULL, "the version is that of the model's import of the domain",
                  arena_printf(k->c->arena, "the node has %u %s%s, but %s has at most %u", count, what,
                               count == 1 ? "" : "s", version_text(k), most));
}

/* The letter of the attribute's kind; 0: there is no such attribute. */
static char kind_of(const char *attributes, const char *name)
{
    const size_t size = strlen(name);
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
    case 'S':
        return "a list of strings";
    default:
        return "of another kind";
    }
}

static char letter_of(const struct fw_attr *a)
{
    static const char letters[] = {
        [FW_INT] = 'i',  [FW_FLOAT] = 'f',  [FW_STRING] = 's',  [FW_TENSOR] = 't', [FW_GRAPH] = 'g',
        [FW_INTS] = 'I', [FW_FLOATS] = 'F', [FW_STRINGS] = 'S', [FW_SPARSE] = 'x', [FW_OTHER] = 'o'};
    return (size_t)a->kind < sizeof letters ? letters[a->kind] : 0;
}

/* A list without elements may not say of what it is one. */
static bool is_empty_list(const struct fw_attr *a, char wanted)
{
    return a->count == 0 && strchr("IFS", letter_of(a)) && strchr("IFS", wanted);
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
    return report(k, name, hint, arena_printf(arena, "%s does not have the attribute %s", version_text(k), name));
}

static odlc_status check_attribute(const struct checked *k, const struct fw_attr *a, const char *attributes)
{
    const char wanted = kind_of(attributes, a->name);
    if (!wanted)
        return strncmp(a->name, "__", 2) == 0 ? ODLC_OK : unknown_attribute(k, a->name, attributes);
    if (a->ref || letter_of(a) == wanted || is_empty_list(a, wanted))
        return ODLC_OK;
    return report(k, a->name, NULL, arena_printf(k->c->arena, "attribute %s is not %s", a->name, kind_name(wanted)));
}

odlc_status check_signature(const struct context *c, const struct input *in, const struct fw_node *n)
{
    const struct checked k = {c, in->model->path, n};
    const struct signature *s = n->op->signature;
    if (!s)
        return ODLC_OK;
    odlc_status status = check_count(&k, named(n->inputs, n->n_inputs), s->most_in, "input");
    const odlc_status outputs = check_count(&k, named(n->outputs, n->n_outputs), s->most_out, "output");
    status = status == ODLC_OK ? outputs : status;
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        const odlc_status attribute = check_attribute(&k, &n->attrs[i], s->attributes);
        status = status == ODLC_OK ? attribute : status;
    }
    return status;
}
