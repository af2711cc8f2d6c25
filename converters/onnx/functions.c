/* Local functions: a call is replaced by the function's body, with the call's values for its inputs and outputs, with
 * the call's attributes (or the function's defaults) where the body refers to them, and with fresh names for its inner
 * values. A body sees nothing but its inputs, so every other name in it gets the call's name as a prefix. */
#include "converters/onnx/decode.h"

/* Memory that all expansions together may take, and depth of calls within bodies. */
#define MAX_EXPANSION (UINT64_C(64) << 20)
#define MAX_CALL_DEPTH 64

struct inliner {
    struct decode *d;
    struct function *functions;
    struct map index; /* domain, name and overload → functions */
    struct map taken; /* name of a value → number of the next attempt to find one like it */
    const struct onnx_keep *keep;
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
    VEC(const char *) values;
};

typedef VEC(struct fw_node) node_list;

static struct fw_graph *expand_graph(struct inliner *x, struct call *call, const struct fw_graph *graph);
static void expand_node(struct inliner *x, struct call *call, const struct fw_node *node, node_list *out);

/* ---- errors and limits ---- */

static void call_error(struct inliner *x, odlc_status status, const struct fw_node *call, const char *attribute,
                       const char *message)
{
    decode_error(x->d, status, AT(IN_MODEL(x->d), .node = fw_node_label(call), .attribute = attribute), "onnx-function",
                 "call of function '%s': %s", call->op_type, message);
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

static const char *fresh_name(struct inliner *x, const char *base)
{
    uint32_t attempt = map_add(&x->taken, base, 1);
    if (attempt == MAP_NONE)
        return base;
    const char *name;
    do {
        name = arena_printf(x->d->arena, "%s.%u", base, attempt++);
    } while (map_add(&x->taken, name, 1) != MAP_NONE);
    map_put(&x->taken, base, attempt);
    return name;
}

static void bind_name(struct inliner *x, struct call *call, const char *inner, const char *outer)
{
    map_put(&call->names, inner, (uint32_t)call->values.count);
    vec_push(x->d->arena, &call->values, outer);
}

static const char *inner_name(struct inliner *x, const struct call *call, const char *name)
{
    const char *prefix = fw_node_label(call->node);
    spend(x, strlen(prefix) + strlen(name) + sizeof(struct fw_value));
    return arena_printf(x->d->arena, "%s/%s", prefix, name);
}

/* What a value of the body is called in the model. */
static const char *outer_name(struct inliner *x, struct call *call, const char *name)
{
    if (!call || !name[0])
        return name;
    uint32_t known = map_get(&call->names, name);
    if (known == MAP_NONE) {
        known = (uint32_t)call->values.count;
        bind_name(x, call, name, fresh_name(x, inner_name(x, call, name)));
    }
    return call->values.data[known];
}

static const char **outer_names(struct inliner *x, struct call *call, const char *const *names, size_t count)
{
    const char **out = arena_array(x->d->arena, const char *, count);
    for (size_t i = 0; i < count; i++)
        out[i] = outer_name(x, call, names[i]);
    return out;
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
            if (node->attrs[i].graph)
                take_names(x, node->attrs[i].graph);
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
    struct fw_attr *attrs = arena_array(x->d->arena, struct fw_attr, node->n_attrs);
    size_t count = 0;
    for (size_t i = 0; i < node->n_attrs; i++) {
        const struct fw_attr *attr = &node->attrs[i];
        const struct fw_attr *value = attr->ref ? referred(x, call, attr) : attr;
        if (!value)
            continue;
        attrs[count] = *value;
        attrs[count].name = attr->name;
        if (value->graph && !attr->ref) /* a graph given by the caller has the caller's names */
            attrs[count].graph = expand_graph(x, call, value->graph);
        count++;
    }
    out->attrs = attrs;
    out->n_attrs = count;
}

/* ---- calls ---- */

static bool declares_attribute(const struct function *f, const char *name)
{
    for (size_t i = 0; i < f->n_attributes; i++)
        if (strcmp(f->attributes[i], name) == 0)
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
        if (!declares_attribute(f, node->attrs[i].name))
            call_error(x, ODLC_ERR_INVALID, node, node->attrs[i].name, "the function has no such attribute");
    if (f->active)
        call_error(x, ODLC_ERR_INVALID, node, NULL, "the function calls itself");
    else if (x->depth == MAX_CALL_DEPTH)
        call_error(x, ODLC_ERR_LIMIT, node, NULL, "calls nest too deep");
    return errors == x->d->diags->errors + x->d->unreported;
}

/* Gives the function's inputs and outputs the names that the call has for them. */
static bool bind_operands(struct inliner *x, struct call *call)
{
    const struct function *f = call->function;
    const struct fw_node *node = call->node;
    for (size_t i = 0; i < f->n_inputs; i++) {
        if (map_get(&call->names, f->inputs[i]) != MAP_NONE) {
            call_error(x, ODLC_ERR_INVALID, node, f->inputs[i], "two of its inputs have one name");
            return false;
        }
        bind_name(x, call, f->inputs[i], i < node->n_inputs ? node->inputs[i] : "");
    }
    for (size_t i = 0; i < f->n_outputs; i++) {
        const char *outer = i < node->n_outputs ? node->outputs[i] : "";
        if (map_get(&call->names, f->outputs[i]) != MAP_NONE) {
            call_error(x, ODLC_ERR_UNSUPPORTED, node, f->outputs[i],
                       "an output that is also an input or another output is not supported");
            return false;
        }
        bind_name(x, call, f->outputs[i], outer[0] ? outer : fresh_name(x, inner_name(x, call, f->outputs[i])));
    }
    return true;
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
        value.name = outer_name(x, call, value.name);
        vec_push(x->d->arena, &x->graph->values, value);
    }
}

static void expand_call(struct inliner *x, const struct fw_node *node, struct function *f, node_list *out)
{
    if (!call_fits(x, node, f))
        return;
    struct call call = {.node = node, .function = f};
    map_init(&call.names, x->d->arena);
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

static struct function *find_function(struct inliner *x, const struct fw_node *node)
{
    if (x->keep && x->keep->claims(x->keep->user, node->op_type, node->domain))
        return NULL;
    struct arena_mark mark = arena_mark(x->d->arena);
    const char *key = arena_printf(x->d->arena, "%s\n%s\n%s", node->domain, node->op_type, node->overload);
    uint32_t i = map_get(&x->index, key);
    arena_rewind(x->d->arena, mark);
    return i == MAP_NONE ? NULL : &x->functions[i];
}

static void expand_node(struct inliner *x, struct call *call, const struct fw_node *node, node_list *out)
{
    size_t operands = node->n_inputs + node->n_outputs;
    spend(x, call ? sizeof *node + operands * sizeof(char *) + node->n_attrs * sizeof(struct fw_attr) : 0);
    if (x->stopped)
        return;
    struct fw_node copy = *node;
    if (call) {
        copy.name = node->name[0] ? inner_name(x, call, node->name) : "";
        copy.inputs = outer_names(x, call, node->inputs, node->n_inputs);
        copy.outputs = outer_names(x, call, node->outputs, node->n_outputs);
    }
    expand_attrs(x, call, node, &copy);
    struct function *f = find_function(x, &copy);
    if (f)
        expand_call(x, &copy, f, out);
    else
        vec_push(x->d->arena, out, copy);
}

/* ---- graphs ---- */

static struct fw_graph *expand_graph(struct inliner *x, struct call *call, const struct fw_graph *graph)
{
    struct arena *arena = x->d->arena;
    struct fw_graph *out = arena_new(arena, struct fw_graph);
    *out = (struct fw_graph){.name = graph->name};
    for (size_t i = 0; i < graph->inputs.count; i++) {
        vec_push(arena, &out->inputs, graph->inputs.data[i]);
        out->inputs.data[i].name = outer_name(x, call, graph->inputs.data[i].name);
    }
    for (size_t i = 0; i < graph->outputs.count; i++) {
        vec_push(arena, &out->outputs, graph->outputs.data[i]);
        out->outputs.data[i].name = outer_name(x, call, graph->outputs.data[i].name);
    }
    for (size_t i = 0; i < graph->initializers.count; i++) {
        vec_push(arena, &out->initializers, graph->initializers.data[i]);
        out->initializers.data[i].name = outer_name(x, call, graph->initializers.data[i].name);
    }
    for (size_t i = 0; i < graph->values.count; i++) {
        vec_push(arena, &out->values, graph->values.data[i]);
        out->values.data[i].name = outer_name(x, call, graph->values.data[i].name);
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

void inline_functions(struct decode *d, struct function *functions, size_t count, const struct onnx_keep *keep,
                      struct fw_graph *graph)
{
    struct inliner x = {.d = d, .functions = functions, .keep = keep};
    map_init(&x.index, d->arena);
    map_init(&x.taken, d->arena);
    for (size_t i = 0; i < count; i++) {
        const struct function *f = &functions[i];
        const char *key = arena_printf(d->arena, "%s\n%s\n%s", f->domain, f->name, f->overload);
        if (map_add(&x.index, key, (uint32_t)i) != MAP_NONE)
            decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-function", "function '%s' is defined twice",
                         f->name);
    }
    take_names(&x, graph);
    *graph = *expand_graph(&x, NULL, graph);
}
