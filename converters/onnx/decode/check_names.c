/* SPDX-License-Identifier: Apache-2.0 */
/* Every value of a graph has one definition, and it comes before its uses. ONNX asks writers for nodes in topological
 * order; some write them otherwise, so nodes are sorted here, stably: a graph that is in order stays as it is.
 *
 * A graph inside a node (a branch, a loop's body) reads values of the graphs around it. Such a read is a dependency of
 * the node that holds the graph. */
#include "converters/onnx/decode/check_names.h"

#include "converters/frontend/bindings.h"

/* What a name stands for: a node's index, or one of these. */
#define DEFINED_INPUT (UINT32_MAX - 1)
#define DEFINED_CONSTANT (UINT32_MAX - 2)
#define MAX_NODES (UINT32_MAX - 3) /* graphs have far fewer */

/* A graph at work. */
struct scope {
    struct scope *parent;
    struct fw_graph *graph;
    size_t first_definition; /* its own are from here on */
    uint32_t node;           /* at work */
    bool unordered;          /* some node reads from itself or a later one: then, … */
    VEC(uint32_t) needs;     /* … the nodes that each node reads from, node by node */
    size_t *first;           /* the needs of node i are those from first[i] to first[i + 1] */
};

/* All graphs at work. */
struct check {
    struct decode *d;
    struct arena *arena;   /* scratch */
    struct bindings names; /* definitions of all scopes at work */
    VEC(uint32_t) meaning; /* of each: a node's index or DEFINED_… */
};

static void check_graph(struct check *c, struct fw_graph *graph, struct scope *parent);

/* ---- definitions ---- */

static void define(struct check *c, struct scope *s, fw_name name, uint32_t as)
{
    struct decode *d = c->d;
    if (name == FW_NO_NAME) {
        decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-name", "a graph %s has no name",
                     as == DEFINED_INPUT ? "input" : "initializer");
        return;
    }
    uint32_t known = bindings_find(&c->names, name);
    if (known == NOT_BOUND || known < s->first_definition) {
        bindings_add(&c->names, name);
        vec_push(c->arena, &c->meaning, as);
        return;
    }
    uint32_t other = c->meaning.data[known];
    const char *node = as < MAX_NODES ? fw_node_label(&s->graph->nodes.data[as]) : NULL;
    const char *what = other == DEFINED_INPUT ? "a graph input" : "an initializer";
    if (other < MAX_NODES)
        what = arena_printf(d->diags->arena, "an output of node '%s'", fw_node_label(&s->graph->nodes.data[other]));
    decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .node = node), "onnx-duplicate-value",
                 "value '%s' is defined twice: it is %s already", names_text(&d->names, name), what);
}

static void define_all(struct check *c, struct scope *s)
{
    const struct fw_graph *g = s->graph;
    for (size_t i = 0; i < g->initializers.count; i++)
        define(c, s, g->initializers.data[i].id, DEFINED_CONSTANT);
    for (size_t i = 0; i < g->inputs.count; i++)
        define(c, s, g->inputs.data[i].id, DEFINED_INPUT);
    for (uint32_t n = 0; n < g->nodes.count; n++) {
        const struct fw_node *node = &g->nodes.data[n];
        for (size_t i = 0; i < node->n_outputs; i++)
            if (fw_out_id(node, i) != FW_NO_NAME)
                define(c, s, fw_out_id(node, i), n);
    }
}

static bool is_of_constants(const struct fw_op *op)
{
    return !op->domain[0] && strcmp(op->type, "Constant") == 0;
}

static bool is_constant(const struct fw_node *node)
{
    return node->n_outputs == 1 && fw_out_id(node, 0) != FW_NO_NAME && is_of_constants(node->op);
}

static bool has_constants(const struct fw_model *model)
{
    for (size_t i = 0; i < model->ops.count; i++)
        if (is_of_constants(model->ops.data[i]))
            return true;
    return false;
}

/* Tools that patch a model append a Constant of the same name; ONNX Runtime lets the last one win, and so the models
 * that circulate mean it. */
static void drop_overridden_constants(struct decode *d, struct fw_graph *g)
{
    struct map last;
    if (!has_constants(d->model))
        return;
    map_init(&last, d->memory.scratch);
    const char *overridden = NULL;
    for (uint32_t n = 0; n < g->nodes.count; n++) {
        const struct fw_node *node = &g->nodes.data[n];
        if (!is_constant(node))
            continue;
        if (map_get(&last, node->outputs[0]) != MAP_NONE && !overridden)
            overridden = node->outputs[0];
        map_put(&last, node->outputs[0], n);
    }
    if (!overridden)
        return;
    size_t kept = 0;
    for (uint32_t n = 0; n < g->nodes.count; n++) {
        const struct fw_node *node = &g->nodes.data[n];
        if (!is_constant(node) || map_get(&last, node->outputs[0]) == n)
            g->nodes.data[kept++] = *node;
    }
    diag_warn(d->diags, AT(IN_MODEL(d), .node = overridden), "onnx-duplicate-constant",
              "Constant nodes are overridden by later ones with the same output: %zu in this graph, the first is '%s'",
              g->nodes.count - kept, overridden);
    g->nodes.count = kept;
}

/* ---- uses ---- */

/* Finds the definition in the innermost graph that has one, whose node at work reads it. */
static bool use(struct check *c, struct scope *s, fw_name name)
{
    uint32_t found = bindings_find(&c->names, name);
    if (found == NOT_BOUND)
        return false;
    while (found < s->first_definition)
        s = s->parent;
    const uint32_t definition = c->meaning.data[found];
    s->unordered |= definition < MAX_NODES && definition >= s->node;
    return true;
}

static void use_all(struct check *c, struct scope *s)
{
    const struct fw_graph *g = s->graph;
    struct decode *d = c->d;
    for (s->node = 0; s->node < g->nodes.count; s->node++) {
        const struct fw_node *node = &g->nodes.data[s->node];
        for (size_t i = 0; i < node->n_inputs; i++)
            if (fw_in_id(node, i) != FW_NO_NAME && !use(c, s, fw_in_id(node, i)))
                decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .node = fw_node_label(node)), "onnx-undefined-value",
                             "the node reads '%s', which nothing defines", node->inputs[i]);
        for (size_t i = 0; i < node->n_attrs; i++)
            if (fw_attr_graph(&node->attrs[i]))
                check_graph(c, fw_attr_graph(&node->attrs[i]), s);
    }
    for (size_t i = 0; i < g->outputs.count; i++)
        if (!use(c, s, g->outputs.data[i].id))
            decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-undefined-value",
                         "nothing defines the graph output '%s'", g->outputs.data[i].name);
}

/* ---- order ---- */

static void note_need(struct check *c, struct scope *s, fw_name name, uint32_t end)
{
    const uint32_t found = bindings_find(&c->names, name);
    if (found != NOT_BOUND && found >= s->first_definition && found < end && c->meaning.data[found] < MAX_NODES)
        vec_push(c->arena, &s->needs, c->meaning.data[found]);
}

/* A definition of a graph inside of a node, which hides the one around it. */
static void hide(struct check *c, fw_name name)
{
    bindings_add(&c->names, name);
    vec_push(c->arena, &c->meaning, DEFINED_CONSTANT);
}

static void hide_all(struct check *c, const struct fw_graph *g)
{
    for (size_t i = 0; i < g->initializers.count; i++)
        hide(c, g->initializers.data[i].id);
    for (size_t i = 0; i < g->inputs.count; i++)
        hide(c, g->inputs.data[i].id);
    for (size_t n = 0; n < g->nodes.count; n++)
        for (size_t i = 0; i < g->nodes.data[n].n_outputs; i++)
            hide(c, fw_out_id(&g->nodes.data[n], i));
}

/* What the node, and the graphs inside of it, read of the scope's definitions, which are those before `end`. */
static void note_needs(struct check *c, struct scope *s, const struct fw_node *node, uint32_t end)
{
    for (size_t i = 0; i < node->n_inputs; i++)
        if (fw_in_id(node, i) != FW_NO_NAME)
            note_need(c, s, fw_in_id(node, i), end);
    for (size_t i = 0; i < node->n_attrs; i++) {
        const struct fw_graph *inner = fw_attr_graph(&node->attrs[i]);
        if (!inner)
            continue;
        const uint32_t first = bindings_enter(&c->names);
        hide_all(c, inner);
        for (size_t k = 0; k < inner->nodes.count; k++)
            note_needs(c, s, &inner->nodes.data[k], end);
        for (size_t k = 0; k < inner->outputs.count; k++)
            note_need(c, s, inner->outputs.data[k].id, end);
        bindings_leave(&c->names, first);
        c->meaning.count = first;
    }
}

static void find_needs(struct check *c, struct scope *s)
{
    const struct fw_graph *g = s->graph;
    s->first = arena_array(c->arena, size_t, g->nodes.count + 1);
    for (size_t i = 0; i < g->nodes.count; i++) {
        note_needs(c, s, &g->nodes.data[i], c->names.count);
        s->first[i + 1] = s->needs.count;
    }
}

struct visit {
    uint32_t node;
    size_t next; /* of its needs */
};

struct sort {
    struct decode *d;
    const struct scope *s;
    VEC(struct visit) stack;
    uint8_t *state;
    VEC(struct fw_node) sorted;
};
enum { UNSEEN, OPEN, PLACED };

static void report_cycle(struct sort *t, uint32_t node)
{
    const struct fw_node *nodes = t->s->graph->nodes.data;
    text names = {0};
    size_t from = t->stack.count;
    while (t->stack.data[--from].node != node)
        continue;
    for (size_t i = from; i < t->stack.count && i < from + 8; i++)
        text_add(t->d->diags->arena, &names, "'%s' needs ", fw_node_label(&nodes[t->stack.data[i].node]));
    text_add(t->d->diags->arena, &names, "%s'%s'", t->stack.count > from + 8 ? "… needs " : "",
             fw_node_label(&nodes[node]));
    decode_error(t->d, ODLC_ERR_INVALID, AT(IN_MODEL(t->d), .node = fw_node_label(&nodes[node])), "onnx-cycle",
                 "nodes need each other's outputs: %s", names.data);
}

/* Places a node after all that it needs: depth first, without recursion. False: there is a cycle. */
static bool place(struct sort *t, uint32_t root)
{
    vec_push(t->d->memory.scratch, &t->stack, (struct visit){root, t->s->first[root]});
    t->state[root] = OPEN;
    while (t->stack.count > 0) {
        struct visit *top = &t->stack.data[t->stack.count - 1];
        if (top->next == t->s->first[top->node + 1]) {
            t->state[top->node] = PLACED;
            vec_push(t->d->memory.scratch, &t->sorted, t->s->graph->nodes.data[top->node]);
            t->stack.count--;
            continue;
        }
        uint32_t need = t->s->needs.data[top->next++];
        if (t->state[need] == OPEN) {
            report_cycle(t, need);
            return false;
        }
        if (t->state[need] == UNSEEN) {
            t->state[need] = OPEN;
            vec_push(t->d->memory.scratch, &t->stack, (struct visit){need, t->s->first[need]});
        }
    }
    return true;
}

static void sort_nodes(struct check *c, struct scope *s)
{
    struct decode *d = c->d;
    find_needs(c, s);
    struct sort t = {.d = d, .s = s, .state = arena_alloc(c->arena, s->graph->nodes.count)};
    for (uint32_t n = 0; n < s->graph->nodes.count; n++)
        if (t.state[n] == UNSEEN && !place(&t, n))
            return;
    memcpy(s->graph->nodes.data, t.sorted.data, t.sorted.count * sizeof(struct fw_node));
    diag_warn(d->diags, AT(IN_MODEL(d)), "onnx-order", "the nodes are not in topological order and were sorted");
}

static void check_graph(struct check *c, struct fw_graph *graph, struct scope *parent)
{
    struct scope s = {.parent = parent, .graph = graph, .first_definition = parent ? bindings_enter(&c->names) : 0};
    drop_overridden_constants(c->d, graph);
    define_all(c, &s);
    use_all(c, &s);
    if (s.unordered)
        sort_nodes(c, &s);
    if (!parent)
        return;
    bindings_leave(&c->names, s.first_definition);
    c->meaning.count = s.first_definition;
}

void check_names(struct decode *d, struct fw_graph *graph)
{
    struct check c = {.d = d, .arena = d->memory.scratch};
    bindings_init(&c.names, c.arena, (uint32_t)d->names.texts.count);
    if (graph->outputs.count == 0)
        decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-no-output", "the graph has no outputs");
    check_graph(&c, graph, NULL);
}
