/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/lower.h"

#include <string.h>

const char *lower_out_name(const struct lower *l, uint32_t i)
{
    return i < l->n_out && *l->node->outputs[i] ? l->node->outputs[i] : NULL;
}

odlc_status lower_subgraph(struct lower *l, const struct fw_graph *g, const char *prefix,
                           const struct lower_value *values, size_t count, struct lower_value *results)
{
    return l->subgraph(l, g, prefix, values, count, results);
}

tensor_id lower_in(const struct lower *l, uint32_t i)
{
    return i < l->n_in ? l->in[i] : NO_TENSOR;
}

static odlc_status report(const struct lower *l, odlc_status status, const char *code, const char *attribute,
                          const char *hint, const char *format, va_list args)
{
    const char *message = arena_vprintf(l->diags->arena, format, args);
    return diag_error(l->diags, status,
                      AT(.file = l->path, .node = fw_node_label(l->node), .attribute = attribute, .hint = hint), code,
                      "%s: %s", l->node->op->type, message);
}

odlc_status lower_invalid(const struct lower *l, const char *attribute, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    odlc_status status = report(l, ODLC_ERR_INVALID, "invalid-node", attribute, hint, format, args);
    va_end(args);
    return status;
}

odlc_status lower_unsupported(const struct lower *l, const char *attribute, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    odlc_status status = report(l, ODLC_ERR_UNSUPPORTED, "unsupported-node", attribute, hint, format, args);
    va_end(args);
    return status;
}

bool lower_takes_complex(const struct lower *l)
{
    for (uint32_t i = 0; i < l->n_in; i++)
        if (l->values[i].kind == VALUE_COMPLEX)
            return true;
    return false;
}

odlc_status lower_need(const struct lower *l, uint32_t i, const char *what, tensor_id *out)
{
    tensor_id id = lower_in(l, i);
    if (id == NO_TENSOR)
        return lower_invalid(l, NULL, NULL, "input %u (%s) is missing", i, what);
    *out = id;
    return ODLC_OK;
}

static bool is_list(enum fw_attr_kind kind)
{
    return kind == FW_INTS || kind == FW_FLOATS || kind == FW_STRINGS;
}

/* *out NULL when the node does not have it. */
static odlc_status find_attr(const struct lower *l, const char *name, enum fw_attr_kind kind, const char *kind_name,
                             const struct fw_attr **out)
{
    const struct fw_attr *a = fw_find_attr(l->node, name);
    bool empty = a && is_list(a->kind) && is_list(kind) && a->count == 0; /* it may not say of what it is a list */
    if (a && a->kind != kind && !empty)
        return lower_invalid(l, name, NULL, "attribute %s is not %s", name, kind_name);
    *out = a;
    return ODLC_OK;
}

odlc_status lower_attr_int(const struct lower *l, const char *name, int64_t absent, int64_t *out)
{
    const struct fw_attr *a;
    TRY(find_attr(l, name, FW_INT, "an integer", &a));
    *out = a ? a->i : absent;
    return ODLC_OK;
}

odlc_status lower_attr_bool(const struct lower *l, const char *name, bool absent, bool *out)
{
    const struct fw_attr *a;
    TRY(find_attr(l, name, FW_BOOL, "true or false", &a));
    *out = a ? a->i != 0 : absent;
    return ODLC_OK;
}

odlc_status lower_attr_float(const struct lower *l, const char *name, double absent, double *out)
{
    const struct fw_attr *a;
    TRY(find_attr(l, name, FW_FLOAT, "a float", &a));
    *out = a ? (double)a->f : absent;
    return ODLC_OK;
}

odlc_status lower_attr_string(const struct lower *l, const char *name, const char *absent, const char **out)
{
    const struct fw_attr *a;
    TRY(find_attr(l, name, FW_STRING, "a string", &a));
    *out = a ? a->s : absent;
    return ODLC_OK;
}

odlc_status lower_attr_ints(const struct lower *l, const char *name, const int64_t **out, uint32_t *count)
{
    const struct fw_attr *a;
    TRY(find_attr(l, name, FW_INTS, "a list of integers", &a));
    *out = a ? a->ints : NULL;
    *count = a ? (uint32_t)a->count : 0;
    return ODLC_OK;
}

odlc_status lower_attr_floats(const struct lower *l, const char *name, const float **out, uint32_t *count)
{
    const struct fw_attr *a;
    TRY(find_attr(l, name, FW_FLOATS, "a list of floats", &a));
    *out = a ? a->floats : NULL;
    *count = a ? (uint32_t)a->count : 0;
    return ODLC_OK;
}

odlc_status lower_attr_graph(const struct lower *l, const char *name, const struct fw_graph **out)
{
    const struct fw_attr *a;
    TRY(find_attr(l, name, FW_GRAPH, "a graph", &a));
    if (!a)
        return lower_invalid(l, name, NULL, "attribute %s is missing", name);
    *out = a->graph;
    return ODLC_OK;
}

odlc_status lower_attr_strings(const struct lower *l, const char *name, const char *const **out, uint32_t *count)
{
    const struct fw_attr *a;
    TRY(find_attr(l, name, FW_STRINGS, "a list of strings", &a));
    *out = a ? a->strings : NULL;
    *count = a ? (uint32_t)a->count : 0;
    return ODLC_OK;
}

bool lower_has_attr(const struct lower *l, const char *name)
{
    return fw_find_attr(l->node, name) != NULL;
}

/* The walk back from a value is made for every error, so it goes so far and no further. */
enum { MOST_ANCESTORS = 1000, ANCESTOR_SLOTS = 2048 };

/* Tensors that a value is computed from. */
struct ancestors {
    tensor_id list[MOST_ANCESTORS];
    size_t count;
    uint32_t slots[ANCESTOR_SLOTS]; /* of a hash table: index in the list + 1; 0: free */
};

static void add_ancestor(struct ancestors *a, tensor_id id)
{
    uint32_t slot = id * 2654435761u % ANCESTOR_SLOTS;
    while (a->slots[slot] && a->list[a->slots[slot] - 1] != id)
        slot = (slot + 1) % ANCESTOR_SLOTS;
    if (a->slots[slot] || a->count == MOST_ANCESTORS)
        return;
    a->list[a->count++] = id;
    a->slots[slot] = (uint32_t)a->count;
}

/* The graph inputs that a tensor is computed from: what a user could freeze. None when it comes from far. */
static void find_inputs_behind(const struct graph *g, struct ancestors *a, tensor_id id)
{
    size_t kept = 0;
    add_ancestor(a, id);
    for (size_t next = 0; next < a->count; next++) {
        const struct tensor *t = graph_tensor(g, a->list[next]);
        const struct node *n = t->producer == NO_NODE ? NULL : graph_node(g, t->producer);
        for (uint32_t i = 0; n && i < n->n_inputs; i++)
            if (n->inputs[i] != NO_TENSOR && graph_tensor(g, n->inputs[i])->kind != TENSOR_STATIC)
                add_ancestor(a, n->inputs[i]);
    }
    bool far = a->count == MOST_ANCESTORS;
    for (size_t i = 0; !far && i < a->count; i++)
        if (graph_tensor(g, a->list[i])->kind == TENSOR_INPUT)
            a->list[kept++] = a->list[i];
    a->count = kept;
}

static const char *freezing_hint(const struct lower *l, tensor_id id)
{
    const struct graph *g = l->b->graph;
    struct ancestors behind = {.count = 0};
    text names = {0}, options = {0};
    find_inputs_behind(g, &behind, id);
    if (behind.count == 0)
        return "the value must be known at conversion: make it an initializer of the model";
    bool several = behind.count > 1;
    for (size_t i = 0; i < behind.count; i++) {
        const char *name = graph_tensor(g, behind.list[i])->name;
        text_add(l->diags->arena, &names, "%s%s", i ? ", " : "", name);
        text_add(l->diags->arena, &options, "%s--freeze_input %s=FILE", i ? " " : "", name);
    }
    return arena_printf(l->diags->arena, "its value depends on the graph input%s %s: fix %s with %s",
                        several ? "s" : "", names.data, several ? "them" : "it", options.data);
}

static odlc_status need_constant(const struct lower *l, const char *attribute, const char *what, tensor_id id,
                                 const char *why)
{
    if (build_is_const(l->b, id))
        return ODLC_OK;
    return lower_unsupported(l, attribute, freezing_hint(l, id), "%s is not a constant%s%s", what, *why ? ": " : "",
                             why);
}

odlc_status lower_limit(const struct lower *l, const char *attribute, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    odlc_status status = report(l, ODLC_ERR_LIMIT, "node-limit", attribute, hint, format, args);
    va_end(args);
    return status;
}

/* Bytes of one constant that is computed at conversion, or read as a list. */
enum { TABLE_LIMIT = 256 * 1024 * 1024 };

odlc_status lower_table(const struct lower *l, uint64_t count, size_t size, void *out)
{
    if (count > TABLE_LIMIT / size)
        return lower_limit(l, NULL, "smaller dimensions, or the constant as an initializer of the model",
                           "a constant of %llu elements would have to be computed, of %zu bytes each: more than %d MiB",
                           (unsigned long long)count, size, TABLE_LIMIT >> 20);
    void *table = arena_calloc(l->arena, count, size);
    memcpy(out, &table, sizeof table);
    return ODLC_OK;
}

odlc_status lower_check_trips(const struct lower *l, const char *what, uint64_t count)
{
    if (count > LOWER_MAX_EXPANSION)
        return lower_limit(l, NULL, NULL, "%llu %s are more than %d", (unsigned long long)count, what,
                           LOWER_MAX_EXPANSION);
    return ODLC_OK;
}

static const char *sizing_hint(const struct lower *l, tensor_id id)
{
    return arena_printf(
        l->diags->arena,
        "freeze the inputs that %s depends on (--freeze_input), or end the model before it (--out_node)",
        graph_tensor(l->b->graph, id)->name);
}

/* A constant whose elements are about to be read as numbers; it may repeat one stored element. */
static odlc_status constant_list(const struct lower *l, const char *attribute, const char *what, tensor_id id)
{
    TRY(need_constant(l, attribute, what, id, ""));
    if (build_filler(l->b, id).sizes && !l->takes_sizes)
        return lower_unsupported(l, attribute, sizing_hint(l, id),
                                 "%s is a size that depends on how much an op finds while the model runs", what);
    if (build_type(l->b, id)->dtype == DT_STRING)
        return lower_invalid(l, attribute, NULL, "%s holds strings, not numbers", what);
    uint64_t count = shape_count(&build_type(l->b, id)->shape);
    if (count > TABLE_LIMIT / sizeof(int64_t))
        return lower_limit(l, attribute, NULL, "%s has %llu elements, more than %d", what, (unsigned long long)count,
                           TABLE_LIMIT / (int)sizeof(int64_t));
    return ODLC_OK;
}

static const char *input_text(const struct lower *l, uint32_t i, const char *what)
{
    return arena_printf(l->diags->arena, "input %u (%s)", i, what);
}

odlc_status lower_need_const(const struct lower *l, uint32_t i, const char *what, const char *why)
{
    return need_constant(l, what, input_text(l, i, what), l->in[i], why);
}

odlc_status lower_const_ints(const struct lower *l, uint32_t i, const char *what, const int64_t **out, uint32_t *count)
{
    tensor_id id = lower_in(l, i);
    uint64_t n = 0;
    if (id != NO_TENSOR)
        TRY(constant_list(l, what, input_text(l, i, what), id));
    *out = id == NO_TENSOR ? NULL : build_const_as_ints(l->b, id, &n);
    *count = (uint32_t)n;
    return ODLC_OK;
}

odlc_status lower_const_floats(const struct lower *l, uint32_t i, const char *what, const double **out, uint32_t *count)
{
    tensor_id id = lower_in(l, i);
    uint64_t n = 0;
    if (id != NO_TENSOR)
        TRY(constant_list(l, what, input_text(l, i, what), id));
    *out = id == NO_TENSOR ? NULL : build_const_as_floats(l->b, id, &n);
    *count = (uint32_t)n;
    return ODLC_OK;
}

odlc_status lower_tensor_ints(const struct lower *l, tensor_id id, const char *what, const int64_t **out,
                              uint32_t *count)
{
    uint64_t n;
    TRY(constant_list(l, NULL, what, id));
    *out = build_const_as_ints(l->b, id, &n);
    *count = (uint32_t)n;
    return ODLC_OK;
}
