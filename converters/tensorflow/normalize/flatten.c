/* A walk over what the outputs need, without recursion: graphs are chains of any length. */
#include "converters/tensorflow/normalize/flatten_walk.h"

#include <string.h>

#include "converters/tensorflow/decode/op_defs.h"
#include "converters/tensorflow/normalize/saved_functions.h"
#include "converters/tensorflow/normalize/state.h"
#include "converters/tensorflow/decode/tf_types.h"
#include "converters/tensorflow/normalize/variables.h"

static odlc_status flatten_function(struct flatten *f, const struct fw_function *function, struct frame *around,
                                    uint32_t holder, struct fw_graph **out);
static odlc_status emit_loop(struct walk *w, const struct visit *v);

enum { MAX_NESTING = 64 }; /* of loops */

/* The walk that has the node's state: this one, or one around it, whose values are seen here. NULL: the node is new
 * here, whatever another part of the loop made of it. */
static struct walk *walk_of(struct walk *w, const struct seen *seen)
{
    struct walk *at = seen->state == SEEN_NEW ? NULL : w;
    while (at && at->number != seen->walk)
        at = at->outer;
    return at;
}

/* ---- what becomes an input or a constant ---- */

static const struct fw_attr *find_attr(const struct fw_attr *attrs, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, name) == 0)
            return &attrs[i];
    return NULL;
}

/* Up to that version of its graphs, TensorFlow wrote an unknown shape as that of a scalar. */
enum { LAST_WITHOUT_UNKNOWN = 21 };

/* What a Placeholder of that operator says of its shape. */
static void set_dims(const struct flatten *f, const char *op, const struct fw_attr *shape, struct fw_value *v)
{
    if (!shape || shape->kind != FW_INTS)
        return;
    if (shape->count == 0 && strcmp(op, "Placeholder") == 0 && f->m->producer <= LAST_WITHOUT_UNKNOWN)
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
    set_dims(w->f, source_node(&s)->op, find_attr(attrs, count, "shape"), &declared);
    graph_input(w, &s, declared);
    return ODLC_OK;
}

static odlc_status emit_variable(struct walk *w, const struct visit *v)
{
    const struct source s = {.frame = v->frame, .node = v->node};
    struct fw_tensor t = {.name = source_name(w->f, &s), .id = source_id(w->f, &s)};
    w->f->n_variables++;
    TRY(variable_value(w->f->variables, &s, &t.view));
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

/* A reference to a tensor is the tensor. */
static const char *op_on_values(const char *op)
{
    static const char *const ops[] = {"RefExit", "RefIdentity", "RefMerge", "RefSwitch"};
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        if (strcmp(op, ops[i]) == 0)
            return op + strlen("Ref");
    return op;
}

static void append(struct walk *w, const struct tf_node *from, const char *name, const char *op,
                   const struct fw_attr *attrs, uint32_t n_attrs, const struct operand *operands, size_t n_inputs)
{
    struct arena *arena = w->f->m->memory.graph;
    const char **inputs = arena_array(arena, const char *, n_inputs);
    fw_name *ids = arena_array(arena, fw_name, n_inputs);
    for (size_t i = 0; i < n_inputs; i++) {
        ids[i] = operands[i].id;
        inputs[i] = names_text(&w->f->m->names, ids[i]);
    }
    struct emitted e = {.from = from, .n_outputs = from ? 0 : 1};
    e.node = (struct fw_node){.name = name,
                              .op = op_of(w->f, op),
                              .inputs = inputs,
                              .ids = ids,
                              .n_inputs = (uint32_t)n_inputs,
                              .attrs = attrs,
                              .n_attrs = n_attrs};
    vec_push(w->f->m->memory.scratch, &w->emitted, e);
}

/* A constant of a branch is alive when the branch is: a node stands for it that reads the branch's pivot, too. Gives
 * the name that the constant itself goes by. */
static fw_name emit_gate(struct walk *w, const struct visit *v, const char *name)
{
    struct operand constant = {0};
    const char *own = arena_printf(w->f->m->memory.scratch, "^%s", name);
    size_t count = w->operands.count - v->first_operand;
    struct operand *operands = arena_array(w->f->m->memory.scratch, struct operand, count + 1);
    constant.id = names_number(&w->f->m->names, own, strlen(own));
    operands[0] = constant;
    memcpy(operands + 1, w->operands.data + v->first_operand, count * sizeof *operands);
    v->frame->seen[v->node].emitted = (uint32_t)w->emitted.count;
    append(w, NULL, name, "IdentityN", NULL, 0, operands, count + 1);
    return constant.id;
}

/* A constant of a type that has no form here stays a node, whose lowering says so. */
static odlc_status emit_other_const(struct walk *w, const struct visit *v, const struct fw_attr *attrs, uint32_t count)
{
    struct seen *seen = &v->frame->seen[v->node];
    const struct source s = {.frame = v->frame, .node = v->node};
    size_t n_operands = w->operands.count - v->first_operand;
    seen->emitted = (uint32_t)w->emitted.count;
    append(w, source_node(&s), source_name(w->f, &s), "Const", attrs, count,
           n_operands > 0 ? w->operands.data + v->first_operand : NULL, n_operands);
    w->emitted.data[seen->emitted].node.conditional = seen->when != NULL;
    return ODLC_OK;
}

/* Constants of loops are put around them, for each trip would have its own. */
static odlc_status emit_const(struct walk *w, const struct visit *v, const struct fw_attr *attrs, uint32_t count)
{
    const struct source s = {.frame = v->frame, .node = v->node};
    const struct fw_attr *value = find_attr(attrs, count, "value");
    if (value && value->kind == FW_OTHER && value->i > 0)
        return emit_other_const(w, v, attrs, count);
    if (!value || value->kind != FW_TENSOR)
        return diag_error(w->f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(w->f->m), .node = source_node(&s)->name),
                          "tensorflow-const", "the constant has no value");
    struct fw_tensor t = {.name = source_name(w->f, &s), .id = source_id(w->f, &s), .view = value->tensor->view};
    struct walk *outermost = w;
    while (outermost->outer)
        outermost = outermost->outer;
    if (w->operands.count > v->first_operand)
        t.id = emit_gate(w, v, t.name);
    else
        v->frame->seen[v->node].walk = outermost->number;
    vec_push(w->f->m->memory.graph, &outermost->graph->initializers, t);
    return ODLC_OK;
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
        TRY(flatten_function(w->f, copy[i].function, v->frame, v->node, &copy[i].graph));
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

/* A Merge whose inputs are the two sides of a conditional gets what decides between them as one more input, and the
 * sides of the others as an attribute. */
static void emit_merge(struct walk *w, const struct visit *v, struct seen *seen)
{
    struct arena *arena = w->f->m->memory.graph;
    const struct source s = {.frame = v->frame, .node = v->node};
    uint32_t count = (uint32_t)(w->operands.count - v->first_operand);
    const struct condition **when = arena_array(w->f->m->memory.scratch, const struct condition *, count);
    struct operand *operands = arena_array(w->f->m->memory.scratch, struct operand, count + 1);
    struct fw_attr *sides = arena_new(arena, struct fw_attr);
    int64_t *values = arena_array(w->f->m->memory.kept, int64_t, count);
    memcpy(operands, w->operands.data + v->first_operand, count * sizeof *operands);
    for (uint32_t i = 0; i < count; i++)
        when[i] = operands[i].when;
    bool clear = condition_split(w->f, when, count, &operands[count].id, values, &seen->when);
    *sides = (struct fw_attr){.name = "sides", .kind = FW_INTS, .count = count, .ints = values};
    append(w, source_node(&s), source_name(w->f, &s), "Merge", sides, 1, operands, count + clear);
}

static odlc_status emit_node(struct walk *w, const struct visit *v, const struct fw_attr *attrs, uint32_t count)
{
    struct seen *seen = &v->frame->seen[v->node];
    const struct source s = {.frame = v->frame, .node = v->node};
    const struct tf_node *n = source_node(&s);
    bool claimed = w->f->claims(w->f->claims_user, n->op, "");
    if (!claimed)
        TRY(hold_graphs(w, v, &attrs, count));
    note_data_format(w->f->model, find_attr(attrs, count, "data_format"));
    if (!claimed && is_switch(n->op))
        TRY(switch_value(w->f, v->frame, v->node, &seen->decides));
    seen->emitted = (uint32_t)w->emitted.count;
    size_t n_operands = w->operands.count - v->first_operand;
    const struct operand *operands = n_operands > 0 ? w->operands.data + v->first_operand : NULL;
    if (!claimed && is_merge(n->op) && n_operands > 0)
        emit_merge(w, v, seen);
    else
        append(w, n, source_name(w->f, &s), claimed ? n->op : op_on_values(n->op), attrs, count, operands, n_operands);
    w->emitted.data[seen->emitted].node.conditional = seen->when != NULL;
    return ODLC_OK;
}

static odlc_status emit(struct walk *w, const struct visit *v)
{
    struct seen *seen = &v->frame->seen[v->node];
    const struct tf_node *n = &v->frame->body->nodes.data[v->node];
    const struct fw_attr *attrs;
    uint32_t count;
    TRY(node_attrs(w->f, v->frame, v->node, &attrs, &count));
    seen->state = SEEN_DONE;
    seen->emitted = NOT_EMITTED;
    seen->decides = FW_NO_NAME;
    seen->when = NULL;
    for (size_t i = v->first_operand; i < w->operands.count; i++)
        seen->when = condition_and(w->f, seen->when, w->operands.data[i].when);
    if (v->loop)
        return emit_loop(w, v);
    if (strcmp(n->op, "Placeholder") == 0 || strcmp(n->op, "PlaceholderV2") == 0)
        return emit_placeholder(w, v, attrs, count);
    if (strcmp(n->op, "Const") == 0 || strcmp(n->op, "HostConst") == 0)
        return emit_const(w, v, attrs, count);
    if (is_variable(n->op))
        return emit_variable(w, v);
    return emit_node(w, v, attrs, count);
}

/* ---- the walk ---- */

/* When the value is alive; around the parts of a loop, all values are. */
static const struct condition *alive_when(struct walk *w, const struct source *s)
{
    const struct seen *seen = s->is_arg || s->cut ? NULL : &s->frame->seen[s->node];
    if (!seen || seen->walk != w->number)
        return NULL;
    return seen->decides == FW_NO_NAME ? seen->when : condition_with(w->f, seen->when, seen->decides, s->output);
}

/* The value is known: an operand of the node that is being walked. */
static odlc_status take(struct walk *w, const struct source *s)
{
    if (s->is_arg && s->frame == w->f->root)
        w->f->args_read[s->node] = true;
    if (!s->is_arg && !s->cut) {
        const struct seen *seen = &s->frame->seen[s->node];
        struct emitted *e = seen->emitted == NOT_EMITTED ? NULL : &walk_of(w, seen)->emitted.data[seen->emitted];
        if (e && e->n_outputs <= s->output) {
            TRY(note_names(w->f, s->output + 1 - e->n_outputs, s->frame->prefix, source_node(s)->name));
            e->n_outputs = s->output + 1;
        }
    }
    vec_push(w->f->m->memory.scratch, &w->operands,
             (struct operand){.id = source_id(w->f, s), .when = alive_when(w, s)});
    return ODLC_OK;
}

/* What a cut value is may not be known; options say it then. */
static odlc_status cut_here(struct walk *w, const struct source *s)
{
    const struct fw_attr *attrs;
    uint32_t count;
    struct fw_value declared = {0};
    if (map_get(&w->inputs, source_name(w->f, s)) != MAP_NONE)
        return ODLC_OK;
    TRY(note_expansion(w->f, s->output, source_node(s)->name)); /* shapes before the output's are stepped over */
    TRY(node_attrs(w->f, s->frame, s->node, &attrs, &count));
    TRY(tf_decode_output_shapes(w->f->m, source_node(s), s->output, &declared, 1));
    declared.dtype = tf_output_dtype(source_node(s)->op, attrs, count, s->output);
    if (strncmp(source_node(s)->op, "Placeholder", strlen("Placeholder")) == 0)
        set_dims(w->f, source_node(s)->op, find_attr(attrs, count, "shape"), &declared);
    graph_input(w, s, declared);
    return ODLC_OK;
}

/* Parts of loops are walked once for each part of the loops around them that needs them. */
static odlc_status start_visit(struct walk *w, const struct source *s)
{
    const struct loop *loop = s->is_loop ? find_loop(s->frame, s->node) : NULL;
    const struct tf_node *n = source_node(s);
    vec_push(w->f->m->memory.scratch, &w->visits,
             (struct visit){.frame = s->frame,
                            .node = s->node,
                            .loop = loop,
                            .inputs = loop ? loop->reads : n->inputs,
                            .n_inputs = loop ? loop->n_reads : n->n_inputs,
                            .first_operand = w->operands.count});
    return w->outer ? note_expansion(w->f, tf_node_size(loop ? loop->n_reads : n->n_inputs), n->name) : ODLC_OK;
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
    bool known = walk_of(w, seen) != NULL;
    if (known && seen->state == SEEN_ACTIVE)
        return diag_error(w->f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(w->f->m), .node = source_node(s)->name),
                          "tensorflow-cycle", "node %s needs its own result", source_node(s)->name);
    *out = known;
    if (known && seen->emitted == NOT_EMITTED && s->output > 0)
        return diag_error(w->f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(w->f->m), .node = source_node(s)->name),
                          "tensorflow-input", "%s is read, but the node has one output", source_name(w->f, s));
    if (known)
        return ODLC_OK;
    seen->state = SEEN_ACTIVE;
    seen->walk = w->number;
    return start_visit(w, s);
}

/* Control inputs say when a node is run, which matters for constants of branches alone. */
static bool is_operand(const struct walk *w, const struct visit *v)
{
    const char *text = v->inputs[v->input];
    if (text[0] != '^')
        return true;
    return strcmp(v->frame->body->nodes.data[v->node].op, "Const") == 0 && is_branch_pivot(w->f, v->frame, text);
}

/* The next input of the innermost visit, or its end. */
static odlc_status go_on(struct walk *w)
{
    struct visit *v = &w->visits.data[w->visits.count - 1];
    const char *reader = v->frame->body->nodes.data[v->node].name;
    struct source s;
    bool known;
    while (v->input < v->n_inputs && !is_operand(w, v))
        v->input++;
    if (v->input == v->n_inputs) {
        const struct visit done = *v;
        w->visits.count--;
        TRY(emit(w, &done));
        w->operands.count = done.first_operand;
        return ODLC_OK;
    }
    const char *text = v->inputs[v->input];
    TRY(find_source(w->f, v->frame, text + (*text == '^'), reader, &s));
    TRY(see_through_loops(w->f, &s, reader));
    TRY(check_exit(w->f, v->frame, v->node, &s));
    TRY(ready(w, &s, &known));
    if (known) { /* otherwise the visit comes back to this input */
        w->visits.data[w->visits.count - 1].input++;
        TRY(take(w, &s));
    }
    return ODLC_OK;
}

/* A value that the graph gives. */
static odlc_status need(struct walk *w, struct source *s, const char *reader)
{
    bool known;
    TRY(see_through_loops(w->f, s, reader));
    TRY(ready(w, s, &known));
    while (w->visits.count)
        TRY(go_on(w));
    TRY(take(w, s));
    w->operands.count = 0;
    return ODLC_OK;
}

/* ---- the end ---- */

static odlc_status declare_shapes(struct walk *w, const struct emitted *e)
{
    struct arena *arena = w->f->m->memory.scratch;
    struct fw_value *values = arena_array(arena, struct fw_value, e->n_outputs);
    TRY(tf_decode_output_shapes(w->f->m, e->from, 0, values, e->n_outputs));
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
    if (w->emitted.count > 0) {
        w->graph->nodes.data = arena_array(arena, struct fw_node, w->emitted.count);
        w->graph->nodes.capacity = w->emitted.count;
    }
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

static struct walk begin(struct flatten *f, struct walk *outer, struct fw_graph *graph)
{
    struct walk w = {.f = f, .outer = outer, .number = f->n_walks++, .graph = graph};
    map_init(&w.inputs, f->m->memory.scratch);
    return w;
}

/* ---- the model's own graph ---- */

/* An output of the graph: under that name, if the value has another. */
static void add_output(struct walk *w, const char *name, const struct source *s)
{
    struct flatten *f = w->f;
    fw_name id = names_number(&f->m->names, name, strlen(name));
    const struct operand value = {.id = source_id(f, s)};
    if (id != value.id)
        append(w, NULL, names_text(&f->m->names, id), "Identity", NULL, 0, &value, 1);
    vec_push(f->m->memory.graph, &w->graph->outputs, (struct fw_value){.name = names_text(&f->m->names, id), .id = id});
}

/* The arguments of a function that is the model: inputs, and what it took from around it. */
static odlc_status add_arguments(struct walk *w)
{
    struct flatten *f = w->f;
    for (uint32_t i = 0; i < f->root->function->arg_names.count; i++) {
        const struct source s = {.frame = f->root, .node = i, .is_arg = true};
        struct fw_value declared = {0};
        struct fw_tensor t = {.name = source_name(f, &s), .id = source_id(f, &s)};
        bool bound;
        if (!f->args_read[i])
            continue;
        TRY(bound_value(f, i, &bound, &t.view));
        if (bound) {
            vec_push(f->m->memory.graph, &w->graph->initializers, t);
            continue;
        }
        TRY(tf_describe_argument(f->m, f->root->function, i, &declared));
        graph_input(w, &s, declared);
    }
    return ODLC_OK;
}

odlc_status flatten_model(struct flatten *f, const char *const *outputs, size_t count)
{
    struct walk w = begin(f, NULL, &f->model->graph);
    w.graph->name = "";
    f->outputs = outputs;
    f->n_outputs = count;
    map_init(&f->condition_index, f->m->memory.scratch);
    for (size_t i = 0; i < count; i++) {
        struct source s;
        TRY(find_named(f, outputs[i], &s));
        TRY(need(&w, &s, outputs[i]));
        add_output(&w, outputs[i], &s);
    }
    if (f->root->function)
        TRY(add_arguments(&w));
    TRY(check_state(f));
    return finish(&w);
}

/* ---- graphs inside of nodes ---- */

static void add_inner_input(struct walk *w, const struct source *s)
{
    fw_name id = source_id(w->f, s);
    vec_push(w->f->m->memory.graph, &w->graph->inputs,
             (struct fw_value){.name = names_text(&w->f->m->names, id), .id = id});
}

static odlc_status add_inner_output(struct walk *w, struct frame *frame, const char *text, const char *reader)
{
    struct source s;
    TRY(find_source(w->f, frame, text, reader, &s));
    TRY(need(w, &s, reader));
    fw_name id = source_id(w->f, &s);
    vec_push(w->f->m->memory.graph, &w->graph->outputs,
             (struct fw_value){.name = names_text(&w->f->m->names, id), .id = id});
    return ODLC_OK;
}

/* A function as a graph of its own: its arguments are the graph's inputs, its results the outputs. */
static odlc_status flatten_function(struct flatten *f, const struct fw_function *function, struct frame *around,
                                    uint32_t holder, struct fw_graph **out)
{
    struct fw_graph *graph = arena_new(f->m->memory.graph, struct fw_graph);
    struct walk w = begin(f, NULL, graph);
    uint32_t at = map_get(&f->m->function_index, function->name);
    struct frame *frame;
    if (at == MAP_NONE)
        return diag_error(f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(f->m)), "tensorflow-function",
                          "the model has no function %s", function->name);
    TRY(frame_create(f, around, &f->m->functions.data[at], NULL, function, &frame));
    frame->holder = holder;
    vec_push(f->m->memory.scratch, &f->held, frame);
    graph->name = function->name;
    const struct tf_function *body = frame->function;
    for (uint32_t i = 0; i < body->arg_names.count; i++)
        add_inner_input(&w, &(struct source){.frame = frame, .node = i, .is_arg = true});
    for (size_t i = 0; i < body->rets.count; i++)
        TRY(add_inner_output(&w, frame, body->rets.data[i], function->name));
    *out = graph;
    return finish(&w);
}

/* What a loop computes from its variables: its condition, or their next values. */
static odlc_status flatten_trip(struct walk *outer, const struct visit *v, bool next, struct fw_graph **out)
{
    struct flatten *f = outer->f;
    struct fw_graph *graph = arena_new(f->m->memory.graph, struct fw_graph);
    struct walk w = begin(f, outer, graph);
    const struct tf_node *cond = &v->frame->body->nodes.data[v->node];
    for (uint32_t i = 0; i < v->loop->n_variables; i++) {
        const struct source variable = {.frame = v->frame, .node = v->loop->variables[i].merge};
        struct seen *seen = &v->frame->seen[variable.node];
        seen->state = SEEN_DONE;
        seen->walk = w.number;
        seen->emitted = NOT_EMITTED;
        seen->decides = FW_NO_NAME;
        seen->when = NULL;
        add_inner_input(&w, &variable);
    }
    graph->name = next ? "body" : "cond";
    if (!next)
        TRY(add_inner_output(&w, v->frame, cond->n_inputs ? cond->inputs[0] : "", cond->name));
    for (uint32_t i = 0; next && i < v->loop->n_variables; i++)
        TRY(add_inner_output(&w, v->frame, v->loop->variables[i].next, cond->name));
    *out = graph;
    return finish(&w);
}

static odlc_status emit_loop(struct walk *w, const struct visit *v)
{
    struct seen *seen = &v->frame->seen[v->node];
    const struct source s = {.frame = v->frame, .node = v->node};
    const struct operand *operands = w->operands.data + v->first_operand;
    struct fw_attr *attrs = arena_array(w->f->m->memory.graph, struct fw_attr, 2);
    uint32_t depth = 0;
    for (const struct walk *at = w; at; at = at->outer)
        depth++;
    if (depth > MAX_NESTING)
        return diag_error(w->f->m->diags, ODLC_ERR_LIMIT, AT(IN_MODEL(w->f->m), .node = source_node(&s)->name),
                          "tensorflow-depth", "loops within loops nest deeper than %d levels", MAX_NESTING);
    attrs[0] = (struct fw_attr){.name = "cond", .kind = FW_GRAPH};
    attrs[1] = (struct fw_attr){.name = "body", .kind = FW_GRAPH};
    TRY(flatten_trip(w, v, false, &attrs[0].graph));
    TRY(flatten_trip(w, v, true, &attrs[1].graph));
    seen->emitted = (uint32_t)w->emitted.count;
    append(w, NULL, source_name(w->f, &s), "While", attrs, 2, operands, v->loop->n_variables);
    w->emitted.data[seen->emitted].node.conditional = seen->when != NULL;
    return ODLC_OK;
}
