/* A walk over what the outputs need, without recursion: graphs are chains of any length. */
#include "converters/tensorflow/flatten.h"

#include <string.h>

#include "converters/tensorflow/op_defs.h"
#include "converters/tensorflow/types.h"
#include "converters/tensorflow/variables.h"

enum { MAX_DEPTH = 64 }; /* of graphs within graphs */

/* A node whose inputs are being walked. */
struct visit {
    struct frame *frame;
    uint32_t node, input; /* the input that comes next */
    size_t first_operand; /* its own are from here on */
};

/* One graph that is being filled. */
struct walk {
    struct flatten *f;
    struct fw_graph *graph;
    VEC(struct visit) visits;
    VEC(fw_name) operands; /* values of the inputs of all visits */
    VEC(struct emitted) emitted;
    struct map inputs; /* names of values that became inputs of the graph */
};

/* ---- what becomes an input or a constant ---- */

static const struct fw_attr *find_attr(const struct fw_attr *attrs, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, name) == 0)
            return &attrs[i];
    return NULL;
}

static void set_dims(const struct flatten *f, const struct fw_attr *shape, struct fw_value *v)
{
    if (!shape || shape->kind != FW_INTS)
        return;
    v->has_shape = true;
    v->rank = (uint8_t)shape->count;
    v->dims = arena_array(f->m->memory.graph, int64_t, shape->count);
    for (size_t i = 0; i < shape->count; i++)
        v->dims[i] = shape->ints[i] < 0 ? DIM_OPEN : shape->ints[i];
}

/* v has the type and the shape that the model declares. */
static void graph_input(struct walk *w, const struct source *s, struct fw_value v)
{
    struct flatten *f = w->f;
    v.name = source_name(f, s);
    v.id = source_id(f, s);
    if (map_add(&w->inputs, v.name, 1) != MAP_NONE)
        return;
    uint32_t cut = map_get(&f->cuts, v.name);
    const struct fw_value *said = cut == MAP_NONE ? NULL : &f->cut_values.data[cut];
    if (said && said->dtype != DT_NONE)
        v.dtype = said->dtype;
    if (said && said->has_shape && !v.has_shape) {
        v.has_shape = true;
        v.rank = said->rank;
        v.dims = said->dims;
    }
    vec_push(f->m->memory.graph, &w->graph->inputs, v);
}

static odlc_status emit_placeholder(struct walk *w, const struct visit *v, const struct fw_attr *attrs, uint32_t count)
{
    const struct source s = {.frame = v->frame, .node = v->node};
    const struct fw_attr *dtype = find_attr(attrs, count, "dtype");
    int64_t code = dtype && dtype->kind == FW_INT ? dtype->i : 0;
    if (code % TF_REF == TF_RESOURCE || code % TF_REF == TF_VARIANT)
        return diag_error(w->f->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(w->f->m), .node = source_node(&s)->name),
                          "input-type", "graph input %s is no tensor", source_node(&s)->name);
    struct fw_value declared = {.dtype = tf_dtype(code)};
    set_dims(w->f, find_attr(attrs, count, "shape"), &declared);
    graph_input(w, &s, declared);
    return ODLC_OK;
}

static odlc_status emit_variable(struct walk *w, const struct visit *v)
{
    const struct source s = {.frame = v->frame, .node = v->node};
    struct fw_tensor t = {.name = source_name(w->f, &s), .id = source_id(w->f, &s)};
    TRY(variable_value(w->f->variables, &s, &t.view));
    vec_push(w->f->m->memory.graph, &w->graph->initializers, t);
    return ODLC_OK;
}

static odlc_status emit_const(struct walk *w, const struct visit *v, const struct fw_attr *attrs, uint32_t count)
{
    const struct source s = {.frame = v->frame, .node = v->node};
    const struct fw_attr *value = find_attr(attrs, count, "value");
    if (!value || value->kind != FW_TENSOR)
        return diag_error(w->f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(w->f->m), .node = source_node(&s)->name),
                          "tensorflow-const", "the constant has no value");
    struct fw_tensor t = {.name = source_name(w->f, &s), .id = source_id(w->f, &s), .view = value->tensor->view};
    vec_push(w->f->m->memory.graph, &w->graph->initializers, t);
    return ODLC_OK;
}

/* ---- nodes ---- */

static const struct fw_op *op_of(struct flatten *f, const char *type)
{
    uint32_t at = map_add(&f->ops, type, (uint32_t)f->model->ops.count);
    if (at != MAP_NONE)
        return f->model->ops.data[at];
    struct fw_op *op = arena_new(f->m->memory.graph, struct fw_op);
    *op = (struct fw_op){.type = arena_strdup(f->m->memory.kept, type),
                         .domain = "",
                         .overload = "",
                         .index = (uint32_t)f->model->ops.count};
    vec_push(f->m->memory.graph, &f->model->ops, op);
    return op;
}

static void append(struct walk *w, const struct tf_node *from, const char *name, const char *op,
                   const struct fw_attr *attrs, uint32_t n_attrs, const fw_name *ids, size_t n_inputs)
{
    struct arena *arena = w->f->m->memory.graph;
    const char **inputs = arena_array(arena, const char *, n_inputs);
    for (size_t i = 0; i < n_inputs; i++)
        inputs[i] = names_text(&w->f->m->names, ids[i]);
    struct emitted e = {.from = from, .n_outputs = from ? 0 : 1};
    e.node = (struct fw_node){.name = name,
                              .op = op_of(w->f, op),
                              .inputs = inputs,
                              .ids = arena_memdup(arena, ids, n_inputs * sizeof *ids),
                              .n_inputs = (uint32_t)n_inputs,
                              .attrs = attrs,
                              .n_attrs = n_attrs};
    vec_push(arena, &w->emitted, e);
}

/* Functions that an operator holds (branches, bodies of loops) become graphs. */
static odlc_status hold_graphs(struct walk *w, const struct visit *v, const struct fw_attr **attrs, uint32_t count)
{
    struct fw_attr *copy = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if ((*attrs)[i].kind != FW_FUNCTION)
            continue;
        if (!copy)
            copy = arena_memdup(w->f->m->memory.graph, *attrs, count * sizeof *copy);
        TRY(flatten_function(w->f, copy[i].function, v->frame->depth + 1, &copy[i].graph));
        copy[i].kind = FW_GRAPH;
    }
    if (copy)
        *attrs = copy;
    return ODLC_OK;
}

static void note_data_format(struct fw_model *model, const struct fw_attr *format)
{
    if (format && format->kind == FW_STRING && strncmp(format->s, "NC", 2) == 0)
        model->channels_first = true;
}

static odlc_status emit(struct walk *w, const struct visit *v)
{
    struct seen *seen = &v->frame->seen[v->node];
    const struct source s = {.frame = v->frame, .node = v->node};
    const struct tf_node *n = source_node(&s);
    const struct fw_attr *attrs;
    uint32_t count;
    TRY(node_attrs(w->f, v->frame, v->node, &attrs, &count));
    seen->state = SEEN_DONE;
    seen->emitted = NOT_EMITTED;
    if (strcmp(n->op, "Placeholder") == 0 || strcmp(n->op, "PlaceholderV2") == 0)
        return emit_placeholder(w, v, attrs, count);
    if (strcmp(n->op, "Const") == 0 || strcmp(n->op, "HostConst") == 0)
        return emit_const(w, v, attrs, count);
    if (is_variable(n->op))
        return emit_variable(w, v);
    if (!w->f->claims(w->f->claims_user, n->op, ""))
        TRY(hold_graphs(w, v, &attrs, count));
    note_data_format(w->f->model, find_attr(attrs, count, "data_format"));
    seen->emitted = (uint32_t)w->emitted.count;
    append(w, n, source_name(w->f, &s), n->op, attrs, count, w->operands.data + v->first_operand,
           w->operands.count - v->first_operand);
    return ODLC_OK;
}

/* ---- the walk ---- */

/* The value is known: an operand of the node that is being walked. */
static void take(struct walk *w, const struct source *s)
{
    if (!s->is_arg && !s->cut) {
        uint32_t at = s->frame->seen[s->node].emitted;
        if (at != NOT_EMITTED && w->emitted.data[at].n_outputs <= s->output)
            w->emitted.data[at].n_outputs = s->output + 1;
    }
    vec_push(w->f->m->memory.scratch, &w->operands, source_id(w->f, s));
}

/* What a cut value is may not be known; options say it then. */
static odlc_status cut_here(struct walk *w, const struct source *s)
{
    const struct fw_attr *attrs;
    uint32_t count;
    TRY(node_attrs(w->f, s->frame, s->node, &attrs, &count));
    struct fw_value *declared = arena_array(w->f->m->memory.scratch, struct fw_value, s->output + 1);
    TRY(tf_decode_output_shapes(w->f->m, source_node(s), declared, s->output + 1));
    declared[s->output].dtype = tf_output_dtype(source_node(s)->op, attrs, count, s->output);
    if (strncmp(source_node(s)->op, "Placeholder", strlen("Placeholder")) == 0)
        set_dims(w->f, find_attr(attrs, count, "shape"), &declared[s->output]);
    graph_input(w, s, declared[s->output]);
    return ODLC_OK;
}

/* True when the value is known; otherwise its node is to be visited first. */
static odlc_status ready(struct walk *w, const struct source *s, bool *out)
{
    *out = true;
    if (s->is_arg)
        return ODLC_OK;
    if (s->cut)
        return cut_here(w, s);
    struct seen *seen = &s->frame->seen[s->node];
    if (seen->state == SEEN_ACTIVE)
        return diag_error(w->f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(w->f->m), .node = source_node(s)->name),
                          "tensorflow-cycle", "node %s needs its own result", source_node(s)->name);
    *out = seen->state == SEEN_DONE;
    if (*out)
        return ODLC_OK;
    seen->state = SEEN_ACTIVE;
    vec_push(w->f->m->memory.scratch, &w->visits,
             (struct visit){.frame = s->frame, .node = s->node, .first_operand = w->operands.count});
    return ODLC_OK;
}

/* The next input of the innermost visit, or its end. */
static odlc_status go_on(struct walk *w)
{
    struct visit *v = &w->visits.data[w->visits.count - 1];
    const struct tf_node *n = &v->frame->body->nodes.data[v->node];
    struct source s;
    bool known;
    while (v->input < n->n_inputs && n->inputs[v->input][0] == '^')
        v->input++;
    if (v->input == n->n_inputs) {
        const struct visit done = *v;
        w->visits.count--;
        TRY(emit(w, &done));
        w->operands.count = done.first_operand;
        return ODLC_OK;
    }
    TRY(find_source(w->f, v->frame, n->inputs[v->input], n->name, &s));
    TRY(ready(w, &s, &known));
    if (known) { /* otherwise the visit comes back to this input */
        w->visits.data[w->visits.count - 1].input++;
        take(w, &s);
    }
    return ODLC_OK;
}

static odlc_status need(struct walk *w, const struct source *s)
{
    bool known;
    TRY(ready(w, s, &known));
    while (w->visits.count)
        TRY(go_on(w));
    take(w, s);
    w->operands.count = 0;
    return ODLC_OK;
}

/* ---- the end ---- */

static odlc_status declare_shapes(struct walk *w, const struct emitted *e)
{
    struct arena *arena = w->f->m->memory.scratch;
    struct fw_value *values = arena_array(arena, struct fw_value, e->n_outputs);
    TRY(tf_decode_output_shapes(w->f->m, e->from, values, e->n_outputs));
    for (uint32_t i = 0; i < e->n_outputs; i++) {
        values[i].name = e->node.outputs[i];
        values[i].id = fw_out_id(&e->node, i);
        if (values[i].has_shape)
            vec_push(w->f->m->memory.graph, &w->graph->values, values[i]);
    }
    return ODLC_OK;
}

/* The nodes get their outputs, now that all readers are known. */
static odlc_status finish(struct walk *w)
{
    struct arena *arena = w->f->m->memory.graph;
    for (size_t i = 0; i < w->emitted.count; i++) {
        struct emitted *e = &w->emitted.data[i];
        const char **outputs = arena_array(arena, const char *, e->n_outputs);
        fw_name *ids = arena_array(arena, fw_name, e->node.n_inputs + e->n_outputs);
        memcpy(ids, e->node.ids, e->node.n_inputs * sizeof *ids);
        for (uint32_t k = 0; k < e->n_outputs; k++) {
            const char *name = e->node.name;
            if (k)
                name = arena_printf(w->f->m->memory.kept, "%s:%u", name, k);
            fw_name id = names_number(&w->f->m->names, name, strlen(name));
            ids[e->node.n_inputs + k] = id;
            outputs[k] = names_text(&w->f->m->names, id);
        }
        e->node.ids = ids;
        e->node.outputs = outputs;
        e->node.n_outputs = e->n_outputs;
        vec_push(arena, &w->graph->nodes, e->node);
        if (e->from)
            TRY(declare_shapes(w, e));
    }
    return ODLC_OK;
}

static struct walk begin(struct flatten *f, struct fw_graph *graph)
{
    struct walk w = {.f = f, .graph = graph};
    map_init(&w.inputs, f->m->memory.scratch);
    return w;
}

/* An output of the graph: under that name, if the value has another. */
static void add_output(struct walk *w, const char *name, const struct source *s)
{
    struct flatten *f = w->f;
    fw_name id = names_number(&f->m->names, name, strlen(name)), value = source_id(f, s);
    if (id != value)
        append(w, NULL, names_text(&f->m->names, id), "Identity", NULL, 0, &value, 1);
    vec_push(f->m->memory.graph, &w->graph->outputs, (struct fw_value){.name = names_text(&f->m->names, id), .id = id});
}

odlc_status flatten_model(struct flatten *f, const char *const *outputs, size_t count)
{
    struct walk w = begin(f, &f->model->graph);
    w.graph->name = "";
    for (size_t i = 0; i < count; i++) {
        struct source s;
        TRY(find_named(f, outputs[i], &s));
        TRY(need(&w, &s));
        add_output(&w, outputs[i], &s);
    }
    return finish(&w);
}

odlc_status flatten_function(struct flatten *f, const struct fw_function *function, uint32_t depth,
                             struct fw_graph **out)
{
    struct fw_graph *graph = arena_new(f->m->memory.graph, struct fw_graph);
    struct walk w = begin(f, graph);
    uint32_t at = map_get(&f->m->function_index, function->name);
    struct frame *frame;
    if (depth > MAX_DEPTH)
        return diag_error(f->m->diags, ODLC_ERR_LIMIT, AT(IN_MODEL(f->m)), "tensorflow-depth",
                          "graphs within graphs nest deeper than %d levels, at function %s", MAX_DEPTH, function->name);
    if (at == MAP_NONE)
        return diag_error(f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(f->m)), "tensorflow-function",
                          "the model has no function %s", function->name);
    TRY(frame_create(f, NULL, &f->m->functions.data[at], NULL, function, &frame));
    frame->depth = depth;
    graph->name = function->name;
    const struct tf_function *body = frame->function;
    for (uint32_t i = 0; i < body->arg_names.count; i++) {
        const struct source arg = {.frame = frame, .node = i, .is_arg = true};
        fw_name id = source_id(f, &arg);
        vec_push(f->m->memory.graph, &graph->inputs, (struct fw_value){.name = names_text(&f->m->names, id), .id = id});
    }
    for (size_t i = 0; i < body->rets.count; i++) {
        struct source s;
        TRY(find_source(f, frame, body->rets.data[i], function->name, &s));
        TRY(need(&w, &s));
        fw_name id = source_id(f, &s);
        vec_push(f->m->memory.graph, &graph->outputs,
                 (struct fw_value){.name = names_text(&f->m->names, id), .id = id});
    }
    *out = graph;
    return finish(&w);
}
