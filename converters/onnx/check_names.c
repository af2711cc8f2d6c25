/* Every value of a graph has one definition, and it comes before its uses. ONNX asks writers for nodes in topological
 * order; some write them otherwise, so nodes are sorted here, stably: a graph that is in order stays as it is.
 *
 * A graph inside a node (a branch, a loop's body) reads values of the graphs around it. Such a read is a dependency of
 * the node that holds the graph. */
#include "converters/onnx/decode.h"

/* What a name stands for: a node's index, or one of these. */
#define DEFINED_INPUT (MAP_NONE - 1)
#define DEFINED_CONSTANT (MAP_NONE - 2)
#define MAX_NODES (MAP_NONE - 3)

/* A graph at work. */
struct scope {
    struct scope *parent;
    struct fw_graph *graph;
    struct map defined;  /* name → node index or DEFINED_… */
    VEC(uint32_t) needs; /* the nodes that each node reads from, node by node */
    size_t *first;       /* the needs of node i are those from first[i] to first[i + 1] */
    uint32_t node;       /* at work */
    bool unordered;      /* some node reads from itself or a later one */
};

static void check_graph(struct decode *d, struct fw_graph *graph, struct scope *parent);

/* ---- definitions ---- */

static void define(struct decode *d, struct scope *s, const char *name, uint32_t as)
{
    const char *node = as < MAX_NODES ? fw_node_label(&s->graph->nodes.data[as]) : NULL;
    if (!name[0]) {
        decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-name", "a graph %s has no name",
                     as == DEFINED_INPUT ? "input" : "initializer");
        return;
    }
    uint32_t other = map_add(&s->defined, name, as);
    if (other == MAP_NONE)
        return;
    const char *what = other == DEFINED_INPUT ? "a graph input" : "an initializer";
    if (other < MAX_NODES)
        what = arena_printf(d->diags->arena, "an output of node '%s'", fw_node_label(&s->graph->nodes.data[other]));
    decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .node = node), "onnx-duplicate-value",
                 "value '%s' is defined twice: it is %s already", name, what);
}

static void define_all(struct decode *d, struct scope *s)
{
    const struct fw_graph *g = s->graph;
    for (size_t i = 0; i < g->initializers.count; i++)
        define(d, s, g->initializers.data[i].name, DEFINED_CONSTANT);
    for (size_t i = 0; i < g->inputs.count; i++)
        define(d, s, g->inputs.data[i].name, DEFINED_INPUT);
    for (uint32_t n = 0; n < g->nodes.count; n++) {
        const struct fw_node *node = &g->nodes.data[n];
        for (size_t i = 0; i < node->n_outputs; i++)
            if (node->outputs[i][0])
                define(d, s, node->outputs[i], n);
    }
}

static bool is_constant(const struct fw_node *node)
{
    return strcmp(node->op_type, "Constant") == 0 && !node->domain[0] && node->n_outputs == 1 && node->outputs[0][0];
}

/* Tools that patch a model append a Constant of the same name; ONNX Runtime lets the last one win, and so the models
 * that circulate mean it. */
static void drop_overridden_constants(struct decode *d, struct fw_graph *g)
{
    struct map last;
    map_init(&last, d->arena);
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

/* Finds the definition in the innermost graph that has one, as a need of that graph's node at work. */
static bool use(struct scope *s, const char *name)
{
    for (; s; s = s->parent) {
        uint32_t definition = map_get(&s->defined, name);
        if (definition == MAP_NONE)
            continue;
        if (definition < MAX_NODES) {
            vec_push(s->defined.arena, &s->needs, definition);
            s->unordered |= definition >= s->node;
        }
        return true;
    }
    return false;
}

static void use_all(struct decode *d, struct scope *s)
{
    const struct fw_graph *g = s->graph;
    s->first = arena_array(d->arena, size_t, g->nodes.count + 1);
    for (s->node = 0; s->node < g->nodes.count; s->node++) {
        const struct fw_node *node = &g->nodes.data[s->node];
        for (size_t i = 0; i < node->n_inputs; i++)
            if (node->inputs[i][0] && !use(s, node->inputs[i]))
                decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .node = fw_node_label(node)), "onnx-undefined-value",
                             "the node reads '%s', which nothing defines", node->inputs[i]);
        for (size_t i = 0; i < node->n_attrs; i++)
            if (node->attrs[i].graph)
                check_graph(d, node->attrs[i].graph, s);
        s->first[s->node + 1] = s->needs.count;
    }
    for (size_t i = 0; i < g->outputs.count; i++)
        if (!use(s, g->outputs.data[i].name))
            decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-undefined-value",
                         "nothing defines the graph output '%s'", g->outputs.data[i].name);
}

/* ---- order ---- */

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
    vec_push(t->d->arena, &t->stack, (struct visit){root, t->s->first[root]});
    t->state[root] = OPEN;
    while (t->stack.count > 0) {
        struct visit *top = &t->stack.data[t->stack.count - 1];
        if (top->next == t->s->first[top->node + 1]) {
            t->state[top->node] = PLACED;
            vec_push(t->d->arena, &t->sorted, t->s->graph->nodes.data[top->node]);
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
            vec_push(t->d->arena, &t->stack, (struct visit){need, t->s->first[need]});
        }
    }
    return true;
}

static void sort_nodes(struct decode *d, struct scope *s)
{
    struct sort t = {.d = d, .s = s, .state = arena_alloc(d->arena, s->graph->nodes.count)};
    for (uint32_t n = 0; n < s->graph->nodes.count; n++)
        if (t.state[n] == UNSEEN && !place(&t, n))
            return;
    memcpy(s->graph->nodes.data, t.sorted.data, t.sorted.count * sizeof(struct fw_node));
    diag_warn(d->diags, AT(IN_MODEL(d)), "onnx-order", "the nodes are not in topological order and were sorted");
}

static void check_graph(struct decode *d, struct fw_graph *graph, struct scope *parent)
{
    struct scope s = {.parent = parent, .graph = graph};
    map_init(&s.defined, d->arena);
    if (graph->nodes.count >= MAX_NODES) {
        decode_error(d, ODLC_ERR_LIMIT, AT(IN_MODEL(d)), "onnx-graph-size", "the graph has too many nodes");
        return;
    }
    drop_overridden_constants(d, graph);
    define_all(d, &s);
    use_all(d, &s);
    if (s.unordered)
        sort_nodes(d, &s);
}

void check_names(struct decode *d, struct fw_graph *graph)
{
    if (graph->outputs.count == 0)
        decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-no-output", "the graph has no outputs");
    check_graph(d, graph, NULL);
}
