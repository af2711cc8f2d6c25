/* SPDX-License-Identifier: Apache-2.0 */
/* Local functions: a call is replaced by the function's body, with the call's values for its inputs and outputs, with
 * the call's attributes (or the function's defaults) where the body refers to them, and with fresh names for its inner
 * values. A body sees nothing but its inputs, so every other name in it gets the call's name as a prefix. */
#include "converters/onnx/decode/onnx_functions.h"

#include "converters/onnx/decode/onnx_attr.h"

/* Memory that all expansions together may take, and depth of calls within bodies. */
#define MAX_EXPANSION (UINT64_C(64) << 20)
#define MAX_CALL_DEPTH 64

struct inliner {
    struct decode *d;
    struct function *functions;
    struct map index; /* domain, name and overload → functions */
    uint32_t *called; /* per operator of the model: the function, or MAP_NONE */
    struct map taken; /* name of a value → number of the next attempt to find one like it */
    const struct fw_load_options *options;
    struct fw_graph *graph; /* the one that is being filled */
    uint64_t spent;         /* bytes, about */
    uint32_t depth;
    bool stopped; /* MAX_EXPANSION was reached */
};

/* One call at work; NULL stands for the model's own graph. */
struct call {
    const struct fw_node *node;
    const struct function *function;
    struct map names; /* name in the body → values */
    VEC(fw_name) values;
};

typedef VEC(struct fw_node) node_list;

static struct fw_graph *expand_graph(struct inliner *x, struct call *call, const struct fw_graph *graph);
static void expand_node(struct inliner *x, struct call *call, const struct fw_node *node, node_list *out);

/* ---- errors and limits ---- */

static void call_error(struct inliner *x, odlc_status status, const struct fw_node *call, const char *attribute,
                       const char *message)
{
    decode_error(x->d, status, AT(IN_MODEL(x->d), .node = fw_node_label(call), .attribute = attribute), "onnx-function",
                 "call of function '%s': %s", call->op->type, message);
}

static void spend(struct inliner *x, uint64_t bytes)
{
    x->spent += bytes;
    if (x->spent > MAX_EXPANSION && !x->stopped) {
        decode_error(x->d, ODLC_ERR_LIMIT, AT(IN_MODEL(x->d)), "onnx-function-size",
                     "the model's functions expand to more than %d MiB", (int)(MAX_EXPANSION >> 20));
        x->stopped = true;
    }
}

/* ---- names ---- */

static fw_name number_of(struct inliner *x, const char *name)
{
    return names_number(&x->d->names, name, strlen(name));
}

static const char *text_of(const struct inliner *x, fw_name name)
{
    return names_text(&x->d->names, name);
}

static const char *fresh_name(struct inliner *x, const char *base)
{
    uint32_t attempt = map_add(&x->taken, base, 1);
    if (attempt == MAP_NONE)
        return base;
    const char *name;
    do {
        name = arena_printf(x->d->memory.scratch, "%s.%u", base, attempt++);
    } while (map_add(&x->taken, name, 1) != MAP_NONE);
    map_put(&x->taken, base, attempt);
    return name;
}

static void bind_name(struct inliner *x, struct call *call, const char *inner, fw_name outer)
{
    map_put(&call->names, inner, (uint32_t)call->values.count);
    vec_push(x->d->memory.scratch, &call->values, outer);
}

static const char *inner_name(struct inliner *x, const struct call *call, const char *name)
{
    const char *prefix = fw_node_label(call->node);
    spend(x, strlen(prefix) + strlen(name) + sizeof(struct fw_value));
    return arena_printf(x->d->memory.scratch, "%s/%s", prefix, name);
}

/* A name that nothing in the model has, for a value of the body. */
static fw_name fresh_inner_name(struct inliner *x, const struct call *call, const char *name)
{
    return number_of(x, fresh_name(x, inner_name(x, call, name)));
}

/* What a value of the body is called in the model. */
static fw_name outer_name(struct inliner *x, struct call *call, fw_name name)
{
    if (!call || name == FW_NO_NAME)
        return name;
    const char *inner = text_of(x, name);
    uint32_t known = map_get(&call->names, inner);
    if (known == MAP_NONE) {
        known = (uint32_t)call->values.count;
        bind_name(x, call, inner, fresh_inner_name(x, call, inner));
    }
    return call->values.data[known];
}

static void expand_operands(struct inliner *x, struct call *call, const struct fw_node *node, struct fw_node *out)
{
    size_t count = (size_t)node->n_inputs + node->n_outputs;
    const char **texts = arena_array(x->d->memory.graph, const char *, count);
    fw_name *ids = arena_array(x->d->memory.graph, fw_name, count);
    for (size_t i = 0; i < count; i++) {
        ids[i] = outer_name(x, call, node->ids[i]);
        texts[i] = text_of(x, ids[i]);
    }
    out->inputs = texts;
    out->outputs = texts + node->n_inputs;
    out->ids = ids;
}

static void take_names(struct inliner *x, const struct fw_graph *g)
{
    for (size_t i = 0; i < g->inputs.count; i++)
        map_put(&x->taken, g->inputs.data[i].name, 1);
    for (size_t i = 0; i < g->initializers.count; i++)
        map_put(&x->taken, g->initializers.data[i].name, 1);
    for (size_t n = 0; n < g->nodes.count; n++) {
        const struct fw_node *node = &g->nodes.data[n];
        for (size_t i = 0; i < node->n_outputs; i++)
            map_put(&x->taken, node->outputs[i], 1);
        for (size_t i = 0; i < node->n_attrs; i++)
            if (fw_attr_graph(&node->attrs[i]))
                take_names(x, fw_attr_graph(&node->attrs[i]));
    }
}

/* ---- attributes ---- */

/* The value that a body's reference to a function attribute stands for; NULL: the attribute is absent. */
static const struct fw_attr *referred(struct inliner *x, const struct call *call, const struct fw_attr *attr)
{
    const struct fw_attr *value = fw_find_attr(call->node, attr->ref);
    for (size_t i = 0; !value && i < call->function->n_defaults; i++)
        if (strcmp(call->function->defaults[i].name, attr->ref) == 0)
            value = &call->function->defaults[i];
    if (value && attr->kind != FW_OTHER && value->kind != attr->kind)
        call_error(x, ODLC_ERR_INVALID, call->node, attr->ref,
                   "the attribute has another type than the function's body expects");
    return value;
}

static void expand_attrs(struct inliner *x, struct call *call, const struct fw_node *node, struct fw_node *out)
{
    struct fw_attr *attrs = arena_array(x->d->memory.graph, struct fw_attr, node->n_attrs);
    uint32_t count = 0;
    for (size_t i = 0; i < node->n_attrs; i++) {
        const struct fw_attr *attr = &node->attrs[i];
        const struct fw_attr *value = attr->ref ? referred(x, call, attr) : attr;
        if (!value)
            continue;
        attrs[count] = *value;
        attrs[count].name = attr->name;
        if (fw_attr_graph(value) && !attr->ref) /* a graph given by the caller has the caller's names */
            attrs[count].graph = expand_graph(x, call, value->graph);
        count++;
    }
    out->attrs = attrs;
    out->n_attrs = count;
}

/* ---- calls ---- */

static bool declares_attribute(const struct inliner *x, const struct function *f, const char *name)
{
    for (size_t i = 0; i < f->n_attributes; i++)
        if (strcmp(text_of(x, f->attributes[i]), name) == 0)
            return true;
    for (size_t i = 0; i < f->n_defaults; i++)
        if (strcmp(f->defaults[i].name, name) == 0)
            return true;
    return false;
}

/* Checks the call against the function's signature. */
static bool call_fits(struct inliner *x, const struct fw_node *node, const struct function *f)
{
    size_t errors = x->d->diags->errors + x->d->unreported;
    if (node->n_inputs > f->n_inputs || node->n_outputs > f->n_outputs)
        call_error(x, ODLC_ERR_INVALID, node, NULL, "it has more inputs or outputs than the function");
    for (size_t i = 0; i < node->n_attrs; i++)
        if (!declares_attribute(x, f, node->attrs[i].name))
            call_error(x, ODLC_ERR_INVALID, node, node->attrs[i].name, "the function has no such attribute");
    if (f->active)
        call_error(x, ODLC_ERR_INVALID, node, NULL, "the function calls itself");
    else if (x->depth == MAX_CALL_DEPTH)
        call_error(x, ODLC_ERR_LIMIT, node, NULL,
                   arena_printf(x->d->diags->arena, "calls nest deeper than %d levels", MAX_CALL_DEPTH));
    return errors == x->d->diags->errors + x->d->unreported;
}

/* Gives the function's inputs and outputs the names that the call has for them. */
static bool bind_operands(struct inliner *x, struct call *call)
{
    const struct function *f = call->function;
    const struct fw_node *node = call->node;
    for (size_t i = 0; i < f->n_inputs; i++) {
        const char *inner = text_of(x, f->inputs[i]);
        if (map_get(&call->names, inner) != MAP_NONE) {
            call_error(x, ODLC_ERR_INVALID, node, inner, "two of its inputs have one name");
            return false;
        }
        bind_name(x, call, inner, i < node->n_inputs ? fw_in_id(node, i) : FW_NO_NAME);
    }
    for (size_t i = 0; i < f->n_outputs; i++) {
        const char *inner = text_of(x, f->outputs[i]);
        fw_name outer = i < node->n_outputs ? fw_out_id(node, i) : FW_NO_NAME;
        if (map_get(&call->names, inner) != MAP_NONE) {
            call_error(x, ODLC_ERR_UNSUPPORTED, node, inner,
                       "an output that is also an input or another output is not supported");
            return false;
        }
        bind_name(x, call, inner, outer != FW_NO_NAME ? outer : fresh_inner_name(x, call, inner));
    }
    return true;
}

static void rename_value(struct inliner *x, struct call *call, struct fw_value *value)
{
    value->id = outer_name(x, call, value->id);
    value->name = text_of(x, value->id);
    if (call) /* options change what is declared of values: each has dimensions of its own */
        value->dims = arena_memdup(x->d->memory.graph, value->dims, value->rank * sizeof *value->dims);
}

/* What the function says of the values between its inputs and outputs, of which the caller knows more. */
static void declare_inner_values(struct inliner *x, struct call *call)
{
    const struct function *f = call->function;
    for (size_t i = 0; i < f->n_values; i++) {
        struct fw_value value = f->values[i];
        if (!value.name[0] || map_get(&call->names, value.name) != MAP_NONE)
            continue;
        spend(x, sizeof value);
        rename_value(x, call, &value);
        vec_push(x->d->memory.graph, &x->graph->values, value);
    }
}

static void expand_call(struct inliner *x, const struct fw_node *node, struct function *f, node_list *out)
{
    if (!call_fits(x, node, f))
        return;
    struct call call = {.node = node, .function = f};
    map_init(&call.names, x->d->memory.scratch);
    if (!bind_operands(x, &call))
        return;
    declare_inner_values(x, &call);
    f->active = true;
    x->depth++;
    for (size_t i = 0; i < f->n_nodes && !x->stopped; i++)
        expand_node(x, &call, &f->nodes[i], out);
    x->depth--;
    f->active = false;
}

static uint32_t find_function(struct inliner *x, const struct fw_op *op)
{
    struct arena *scratch = x->d->memory.scratch;
    if (x->options && x->options->claims && x->options->claims(x->options->claims_user, op->type, op->domain))
        return MAP_NONE;
    struct arena_mark mark = arena_mark(scratch);
    uint32_t found = map_get(&x->index, arena_printf(scratch, "%s\n%s\n%s", op->domain, op->type, op->overload));
    arena_rewind(scratch, mark);
    return found;
}

/* The function that nodes of an operator call, or NULL. Bodies name no operators that were not known before. */
static struct function *called_by(const struct inliner *x, const struct fw_node *node)
{
    uint32_t called = x->called[node->op->index];
    return called == MAP_NONE ? NULL : &x->functions[called];
}

static void expand_node(struct inliner *x, struct call *call, const struct fw_node *node, node_list *out)
{
    size_t operands = node->n_inputs + node->n_outputs;
    spend(x, call ? sizeof *node + operands * sizeof(char *) + node->n_attrs * sizeof(struct fw_attr) : 0);
    if (x->stopped)
        return;
    struct fw_node copy = *node;
    if (call) {
        copy.name = node->name[0] ? arena_strdup(x->d->memory.kept, inner_name(x, call, node->name)) : "";
        expand_operands(x, call, node, &copy);
    }
    if (copy.n_attrs > 0)
        expand_attrs(x, call, node, &copy);
    struct function *f = called_by(x, &copy);
    if (f)
        expand_call(x, &copy, f, out);
    else
        vec_push(x->d->memory.graph, out, copy);
}

/* ---- graphs ---- */

static struct fw_graph *expand_graph(struct inliner *x, struct call *call, const struct fw_graph *graph)
{
    struct arena *arena = x->d->memory.graph;
    struct fw_graph *out = arena_new(arena, struct fw_graph);
    *out = (struct fw_graph){.name = graph->name};
    for (size_t i = 0; i < graph->inputs.count; i++) {
        vec_push(arena, &out->inputs, graph->inputs.data[i]);
        rename_value(x, call, &out->inputs.data[i]);
    }
    for (size_t i = 0; i < graph->outputs.count; i++) {
        vec_push(arena, &out->outputs, graph->outputs.data[i]);
        rename_value(x, call, &out->outputs.data[i]);
    }
    for (size_t i = 0; i < graph->initializers.count; i++) {
        struct fw_tensor tensor = graph->initializers.data[i];
        tensor.id = outer_name(x, call, tensor.id);
        tensor.name = text_of(x, tensor.id);
        vec_push(arena, &out->initializers, tensor);
    }
    for (size_t i = 0; i < graph->values.count; i++) {
        vec_push(arena, &out->values, graph->values.data[i]);
        rename_value(x, call, &out->values.data[i]);
    }
    node_list nodes = {0};
    struct fw_graph *around = x->graph;
    x->graph = out;
    for (size_t i = 0; i < graph->nodes.count && !x->stopped; i++)
        expand_node(x, call, &graph->nodes.data[i], &nodes);
    x->graph = around;
    out->nodes.data = nodes.data;
    out->nodes.count = nodes.count;
    out->nodes.capacity = nodes.capacity;
    return out;
}

void inline_functions(struct decode *d, struct function *functions, size_t count, const struct fw_load_options *options,
                      struct fw_graph *graph)
{
    struct inliner x = {.d = d, .functions = functions, .options = options};
    map_init(&x.index, d->memory.scratch);
    map_init(&x.taken, d->memory.scratch);
    for (size_t i = 0; i < count; i++) {
        const struct function *f = &functions[i];
        const char *key = arena_printf(d->memory.scratch, "%s\n%s\n%s", f->domain, f->name, f->overload);
        if (map_add(&x.index, key, (uint32_t)i) != MAP_NONE)
            decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-function", "function '%s' is defined twice",
                         f->name);
    }
    x.called = arena_array(d->memory.scratch, uint32_t, d->model->ops.count);
    for (size_t i = 0; i < d->model->ops.count; i++)
        x.called[i] = find_function(&x, d->model->ops.data[i]);
    take_names(&x, graph);
    *graph = *expand_graph(&x, NULL, graph);
}
