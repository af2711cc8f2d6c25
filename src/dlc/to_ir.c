/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a version 4 container → IR. */
#include <string.h>

#include "dlc/record.h"
#include "dlc/schema.h"
#include "op/op.h"
#include "op/params.h"
#include "op/registry.h"

typedef VEC(tensor_id) id_list;

struct to_ir {
    struct arena *arena;
    struct diags *diags;
    struct op_registry *registry;
    const char *path;
    const struct dlc_graph *from;
    struct graph *g;
    tensor_id *ids;      /* by record tensor; NO_TENSOR for NULL tensors */
    struct map reported; /* "type/attribute" of the warnings given */
    id_list in, out;     /* of the op at work */
};

static odlc_status refuse(const struct to_ir *c, odlc_status status, const char *node, const char *attribute,
                          const char *format, ...) PRINTF_LIKE(5, 6);
static odlc_status refuse(const struct to_ir *c, odlc_status status, const char *node, const char *attribute,
                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(c->arena, format, args);
    va_end(args);
    return diag_error(c->diags, status, AT(.file = c->path, .node = node, .attribute = attribute), "dlc-to-ir", "%s",
                      message);
}

/* ---- tensors ---- */

static odlc_status add_tensor(struct to_ir *c, const struct dlc_tensor *t, tensor_id *id)
{
    static const enum tensor_kind kinds[] = {[KIND_APP_WRITE] = TENSOR_INPUT,
                                             [KIND_APP_READ] = TENSOR_OUTPUT,
                                             [KIND_NATIVE] = TENSOR_NATIVE,
                                             [KIND_STATIC] = TENSOR_STATIC};
    *id = NO_TENSOR;
    if (t->kind == KIND_NULL)
        return ODLC_OK;
    if (t->kind == KIND_APP_READWRITE)
        return refuse(c, ODLC_ERR_UNSUPPORTED, NULL, NULL, "tensor %s is input and output at once", t->name);
    if (t->dtype == DT_NONE)
        return refuse(c, ODLC_ERR_UNSUPPORTED, NULL, NULL, "tensor %s is of the unknown type 0x%04x", t->name,
                      t->dtype_code);
    if (t->kind == KIND_STATIC && !t->view)
        return refuse(c, ODLC_ERR_INVALID, NULL, NULL, "there is no data for static tensor %s", t->name);
    *id = graph_add_tensor(c->g, t->name, kinds[t->kind], &(struct type){(enum dtype)t->dtype, *t->shape});
    struct tensor *tensor = graph_tensor(c->g, *id);
    tensor->axis_format = (uint8_t)t->axis_format;
    tensor->source_dtype = t->source_dtype == t->dtype ? DT_NONE : t->source_dtype;
    tensor->quant = t->quant;
    if (t->kind == KIND_STATIC)
        graph_set_view(c->g, *id, t->view);
    else if (t->kind == KIND_APP_WRITE)
        vec_push(c->arena, &c->g->inputs, *id);
    else if (t->kind == KIND_APP_READ)
        vec_push(c->arena, &c->g->outputs, *id);
    return ODLC_OK;
}

/* The first `needed` operands must be there; rules and kernels count on them. */
static odlc_status find_operands(const struct to_ir *c, const char *op, const char *const *names, uint32_t count,
                                 uint32_t needed, id_list *ids)
{
    ids->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = *names[i] ? map_get(&c->from->tensor_index, names[i]) : MAP_NONE;
        if (*names[i] && index == MAP_NONE)
            return refuse(c, ODLC_ERR_INVALID, op, NULL, "the op uses the unknown tensor %s", names[i]);
        tensor_id id = index == MAP_NONE ? NO_TENSOR : c->ids[index];
        if (id == NO_TENSOR && i < needed)
            return refuse(c, ODLC_ERR_INVALID, op, NULL, "operand %u of the op is missing", i);
        vec_push(c->arena, ids, id);
    }
    return ODLC_OK;
}

/* ---- params ---- */

/* Rules and kernels rely on what they have checked, so that elements do not stay in a file that may be written to. */
static const void *load_elements(const struct to_ir *c, const struct view *view, enum dtype as)
{
    const void *elements = view_load(c->arena, view, as);
    return elements == view->bytes ? arena_memdup(c->arena, elements, view_size(view, as)) : elements;
}

static odlc_status set_tensor(const struct to_ir *c, const char *op, const struct dlc_attr *a, struct param *p)
{
    const struct dlc_tensor *t = a->tensor;
    if (!t->view)
        return refuse(c, ODLC_ERR_INVALID, op, a->name, "there is no data for attribute %s", a->name);
    p->is_tensor = true;
    p->dtype = (enum dtype)t->dtype;
    p->shape = *t->shape;
    if (p->dtype == DT_STRING)
        p->strings = t->view->strings;
    else if (dtype_is_float(p->dtype))
        p->floats = load_elements(c, t->view, DT_FLOAT64);
    else
        p->ints = load_elements(c, t->view, DT_INT64);
    return ODLC_OK;
}

static odlc_status set_param(const struct to_ir *c, const char *op, const struct dlc_attr *a, struct param *p)
{
    p->set = true;
    p->name = a->name;
    if (a->usage)
        p->usage = a->usage;
    if (a->dtype == DT_NONE)
        return refuse(c, ODLC_ERR_UNSUPPORTED, op, a->name, "attribute %s is of the unknown type 0x%04x", a->name,
                      a->dtype_code);
    if (a->kind == DLC_TENSOR)
        return set_tensor(c, op, a, p);
    p->dtype = (enum dtype)a->dtype;
    if (a->kind == DLC_STRING)
        p->s = a->s;
    else if (a->kind == DLC_FLOAT)
        p->f = a->f;
    else
        p->i = a->i;
    return ODLC_OK;
}

/* A supplemental attribute whose data the container does not have. */
static bool is_silent(const struct dlc_attr *a)
{
    return a->kind == DLC_TENSOR && a->usage == USAGE_SUPPLEMENTAL && !a->tensor->view;
}

/* Files write the same param with different widths; only a change of its nature is wrong. */
static bool same_nature(const struct param_def *def, const struct param *p)
{
    if (def->dtype == DT_NONE)
        return !p->is_tensor && p->dtype != DT_STRING;
    return def->is_tensor == p->is_tensor && dtype_is_float(def->dtype) == dtype_is_float(p->dtype) &&
           (def->dtype == DT_STRING) == (p->dtype == DT_STRING);
}

static odlc_status described_param(const struct to_ir *c, const struct dlc_op *op, const struct param_def *def,
                                   struct param *p)
{
    const struct dlc_attr *a = dlc_attr_find(op, def->name);
    if (a && is_silent(a))
        a = NULL;
    p->name = def->name;
    p->usage = def->supplemental ? USAGE_SUPPLEMENTAL : USAGE_PARAM;
    if (!a && def->presence == PARAM_REQUIRED)
        return refuse(c, ODLC_ERR_INVALID, op->name, def->name, "%s lacks its param %s", op->type, def->name);
    if (!a && def->presence == PARAM_DEFAULT) {
        p->set = true;
        p->dtype = def->dtype;
        p->i = (int64_t)def->def;
        p->f = def->def;
    }
    if (!a)
        return ODLC_OK;
    TRY(set_param(c, op->name, a, p));
    if (!same_nature(def, p))
        return refuse(c, ODLC_ERR_INVALID, op->name, def->name, "param %s of %s must be %s of type %s", def->name,
                      op->type, def->is_tensor ? "a tensor" : "a scalar",
                      def->dtype == DT_NONE ? "number" : dtype_info(def->dtype)->name);
    return ODLC_OK;
}

/* A param that the row does not know may change what the op does, so it is not passed over in silence. Supplemental
 * ones are remarks. */
static void warn_unknown(struct to_ir *c, const struct dlc_op *op, const struct op *row)
{
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        const struct dlc_attr *a = &op->attrs[i];
        if (a->usage != USAGE_PARAM || op_param_index(row, a->name) >= 0 || strcmp(a->name, OPERATION_ATTRIBUTE) == 0)
            continue;
        const char *key = arena_printf(c->arena, "%s/%s", op->type, a->name);
        if (map_add(&c->reported, key, 1) == MAP_NONE)
            diag_warn(c->diags, AT(.file = c->path, .node = op->name, .attribute = a->name), "dlc-unknown-param",
                      "param %s of %s is not known and has no effect", a->name, op->type);
    }
}

static odlc_status described_params(struct to_ir *c, const struct dlc_op *op, struct node *n)
{
    for (uint32_t i = 0; i < n->op->n_params; i++) {
        struct param p = {.set = false};
        TRY(described_param(c, op, &n->op->params[i], &p));
        if (p.set)
            node_set_param(c->g, n, i, &p);
    }
    warn_unknown(c, op, n->op);
    return ODLC_OK;
}

/* ---- rows ---- */

static const char *string_of(const struct dlc_op *op, const char *name)
{
    const struct dlc_attr *a = dlc_attr_find(op, name);
    return a && a->kind == DLC_STRING ? a->s : NULL;
}

/* The value of the attribute that tells the ops of one container type apart: eltwise_type, pool_type, neuron_type, … */
static const char *selected(const struct dlc_op *op)
{
    static const char suffix[] = "_type";
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        const struct dlc_attr *a = &op->attrs[i];
        size_t length = strlen(a->name);
        if (a->kind == DLC_STRING && a->usage == USAGE_SUPPLEMENTAL && length >= strlen(suffix) &&
            strcmp(a->name + length - strlen(suffix), suffix) == 0)
            return a->s;
    }
    return NULL;
}

/* For an op that the registry does not know: its attributes are its params. */
static const struct op *undescribed_row(struct to_ir *c, const struct dlc_op *op, const char *package)
{
    struct param_def *params = arena_array(c->arena, struct param_def, op->n_attrs);
    uint32_t n_params = 0;
    for (uint32_t i = 0; i < op->n_attrs; i++) {
        const struct dlc_attr *a = &op->attrs[i];
        if (strcmp(a->name, PACKAGE_ATTRIBUTE) == 0)
            continue;
        params[n_params++] = (struct param_def){.name = a->name,
                                                .dtype = (enum dtype)a->dtype,
                                                .presence = PARAM_OPTIONAL,
                                                .is_tensor = a->kind == DLC_TENSOR,
                                                .supplemental = a->usage == USAGE_SUPPLEMENTAL};
    }
    const struct op *row = op_registry_undescribed(c->registry, package, op->type, params, n_params);
    if (row->params != params)
        arena_release(c->arena, params, op->n_attrs * sizeof *params);
    return row;
}

/* The row's params are the attributes in their order. */
static odlc_status undescribed_params(struct to_ir *c, const struct dlc_op *op, struct node *n)
{
    for (uint32_t i = 0, param = 0; i < op->n_attrs; i++) {
        if (strcmp(op->attrs[i].name, PACKAGE_ATTRIBUTE) == 0)
            continue;
        struct param p = {.usage = USAGE_PARAM};
        if (!is_silent(&op->attrs[i])) {
            TRY(set_param(c, op->name, &op->attrs[i], &p));
            node_set_param(c->g, n, param, &p);
        }
        param++;
    }
    return ODLC_OK;
}

/* NULL: nothing describes the op. */
static const struct op *find_row(const struct to_ir *c, const struct dlc_op *op, const char *package)
{
    const struct dlc_attr *operation = dlc_attr_find(op, OPERATION_ATTRIBUTE);
    bool has_operation = operation && (operation->kind == DLC_INT || operation->kind == DLC_UINT);
    const struct op_key key = {.package = package,
                               .type = op->type,
                               .selected = package ? NULL : selected(op),
                               .operation = has_operation ? operation->i : -1};
    return op_registry_find(c->registry, &key);
}

static odlc_status check_arity(const struct to_ir *c, const struct dlc_op *op, const struct op *row)
{
    if (op->n_inputs < row->min_inputs || (row->max_inputs != VARIADIC && op->n_inputs > row->max_inputs))
        return refuse(c, ODLC_ERR_INVALID, op->name, NULL, "%s does not take %u inputs", op->type, op->n_inputs);
    if (op->n_outputs < row->min_outputs || (row->max_outputs != VARIADIC && op->n_outputs > row->max_outputs))
        return refuse(c, ODLC_ERR_INVALID, op->name, NULL, "%s does not give %u outputs", op->type, op->n_outputs);
    return ODLC_OK;
}

/* Operands of a list (as Concat has) are all needed, where the row has one at least. */
static uint32_t needed_operands(uint8_t min, uint8_t max)
{
    return min && max == VARIADIC ? UINT32_MAX : min;
}

/* ---- nodes ---- */

static odlc_status check_outputs(const struct to_ir *c, const struct dlc_op *op, const tensor_id *ids)
{
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (ids[i] == NO_TENSOR)
            continue;
        const struct tensor *t = graph_tensor(c->g, ids[i]);
        if (t->kind == TENSOR_INPUT || t->kind == TENSOR_STATIC)
            return refuse(c, ODLC_ERR_INVALID, op->name, NULL, "the op writes tensor %s, which is %s", t->name,
                          t->kind == TENSOR_INPUT ? "an input of the graph" : "a constant");
    }
    return ODLC_OK;
}

static odlc_status add_node(struct to_ir *c, const struct dlc_op *op)
{
    const char *package = string_of(op, PACKAGE_ATTRIBUTE);
    if (package && strcmp(package, NATIVE_PACKAGE) == 0)
        package = NULL;
    const struct op *described = find_row(c, op, package);
    const struct op *row = described ? described : undescribed_row(c, op, package);
    TRY(check_arity(c, op, row));
    TRY(find_operands(c, op->name, op->inputs, op->n_inputs, needed_operands(row->min_inputs, row->max_inputs),
                      &c->in));
    TRY(find_operands(c, op->name, op->outputs, op->n_outputs, needed_operands(row->min_outputs, row->max_outputs),
                      &c->out));
    TRY(check_outputs(c, op, c->out.data));
    node_id id = graph_add_node(c->g, row, row->n_params, *op->name ? op->name : op->type, c->in.data, op->n_inputs,
                                c->out.data, op->n_outputs);
    struct node *n = graph_node(c->g, id);
    return described ? described_params(c, op, n) : undescribed_params(c, op, n);
}

/* ---- order ---- */

struct visit {
    node_id node;
    uint32_t input; /* the next one to look at */
};

enum mark { UNSEEN, OPEN, DONE };

static node_id next_producer(const struct to_ir *c, struct visit *v)
{
    const struct node *n = graph_node(c->g, v->node);
    while (v->input < n->n_inputs) {
        tensor_id t = n->inputs[v->input++];
        if (t != NO_TENSOR && graph_tensor(c->g, t)->producer != NO_NODE)
            return graph_tensor(c->g, t)->producer;
    }
    return NO_NODE;
}

/* Depth first with a stack of our own: a node follows its producers, and files that are in order keep their order. */
static odlc_status order_from(const struct to_ir *c, node_id start, uint8_t *marks, struct visit *stack)
{
    size_t depth = 0;
    if (marks[start] == UNSEEN)
        stack[depth++] = (struct visit){start, 0};
    marks[start] = marks[start] == UNSEEN ? OPEN : marks[start];
    while (depth) {
        node_id next = next_producer(c, &stack[depth - 1]);
        if (next == NO_NODE) {
            node_id done = stack[--depth].node;
            marks[done] = DONE;
            vec_push(c->arena, &c->g->order, done);
        } else if (marks[next] == OPEN) {
            return refuse(c, ODLC_ERR_INVALID, graph_node(c->g, next)->name, NULL, "the op depends on its own result");
        } else if (marks[next] == UNSEEN) {
            marks[next] = OPEN;
            stack[depth++] = (struct visit){next, 0};
        }
    }
    return ODLC_OK;
}

static odlc_status order_nodes(const struct to_ir *c)
{
    size_t count = c->g->nodes.count;
    uint8_t *marks = arena_alloc(c->arena, count);
    struct visit *stack = arena_array(c->arena, struct visit, count);
    for (node_id i = 0; i < count; i++)
        TRY(order_from(c, i, marks, stack));
    return ODLC_OK;
}

/* Each tensor that an op reads or the graph gives must come from somewhere, and from one place. */
static odlc_status check_producers(const struct to_ir *c)
{
    bool *written = arena_array(c->arena, bool, c->g->tensors.count);
    for (size_t i = 0; i < c->g->nodes.count; i++) {
        const struct node *n = graph_node(c->g, (node_id)i);
        for (uint32_t k = 0; k < n->n_outputs; k++) {
            if (n->outputs[k] == NO_TENSOR)
                continue;
            if (written[n->outputs[k]])
                return refuse(c, ODLC_ERR_INVALID, n->name, NULL, "two ops write tensor %s",
                              graph_tensor(c->g, n->outputs[k])->name);
            written[n->outputs[k]] = true;
        }
    }
    for (size_t i = 0; i < c->g->tensors.count; i++) {
        const struct tensor *t = graph_tensor(c->g, (tensor_id)i);
        if ((t->kind == TENSOR_NATIVE || t->kind == TENSOR_OUTPUT) && !written[i])
            return refuse(c, ODLC_ERR_INVALID, NULL, NULL, "no op writes tensor %s", t->name);
    }
    return ODLC_OK;
}

odlc_status dlc_to_ir(struct arena *arena, struct diags *diags, struct op_registry *registry,
                      const struct dlc_file *dlc, uint32_t index, struct graph **out)
{
    struct to_ir c = {.arena = arena, .diags = diags, .registry = registry, .path = dlc->file->path};
    if (dlc->major != 4)
        return refuse(&c, ODLC_ERR_UNSUPPORTED, NULL, NULL, "version %u containers can be shown, but not executed",
                      dlc->major);
    if (index >= dlc->n_graphs)
        return refuse(&c, ODLC_ERR_USAGE, NULL, NULL, "there is no graph %u, the container has %u", index,
                      dlc->n_graphs);
    c.from = &dlc->graphs[index];
    c.g = graph_create(arena, c.from->name);
    c.ids = arena_array(arena, tensor_id, c.from->n_tensors);
    map_init(&c.reported, arena);
    for (uint32_t i = 0; i < c.from->n_tensors; i++)
        TRY(add_tensor(&c, &c.from->tensors[i], &c.ids[i]));
    for (uint32_t i = 0; i < c.from->n_ops; i++)
        TRY(add_node(&c, &c.from->ops[i]));
    TRY(check_producers(&c));
    TRY(order_nodes(&c));
    *out = c.g;
    return ODLC_OK;
}
