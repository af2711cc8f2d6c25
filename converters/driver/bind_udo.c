/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/bind_udo.h"

#include <string.h>

#include "converters/driver/value_types.h"
#include "converters/lowering/lower_table.h"
#include "op/op.h"

static void take_tensor(struct arena *arena, const struct view *view, struct param *p)
{
    p->is_tensor = true;
    p->dtype = view->dtype;
    p->shape = view_shape(view);
    if (p->dtype == DT_STRING)
        p->strings = view->strings;
    else if (dtype_is_float(p->dtype))
        p->floats = view_load(arena, view, DT_FLOAT64);
    else
        p->ints = view_load(arena, view, DT_INT64);
}

static struct param attr_param(struct arena *arena, const struct fw_attr *a)
{
    struct param p = {.set = true, .usage = 1, .name = a->name};
    double *floats;
    if (a->kind == FW_INTS || a->kind == FW_FLOATS || a->kind == FW_STRINGS) {
        p.is_tensor = true;
        p.shape = SHAPE((int64_t)a->count);
    }
    switch (a->kind) {
    case FW_INT:
        p.dtype = DT_INT64;
        p.i = a->i;
        break;
    case FW_BOOL:
        p.dtype = DT_BOOL;
        p.i = a->i;
        break;
    case FW_FLOAT:
        p.dtype = DT_FLOAT32;
        p.f = (double)a->f;
        break;
    case FW_STRING:
        p.dtype = DT_STRING;
        p.s = a->s;
        break;
    case FW_INTS:
        p.dtype = DT_INT64;
        p.ints = a->ints;
        break;
    case FW_FLOATS:
        p.dtype = DT_FLOAT32;
        floats = arena_array(arena, double, a->count);
        convert_elements(floats, DT_FLOAT64, a->floats, DT_FLOAT32, a->count);
        p.floats = floats;
        break;
    case FW_STRINGS:
        p.dtype = DT_STRING;
        p.strings = a->strings;
        break;
    case FW_TENSOR:
    case FW_SPARSE:
        take_tensor(arena, &a->tensor->view, &p);
        break;
    case FW_GRAPH:
    case FW_FUNCTION:
    case FW_COMPLEX:
    case FW_OTHER:
        break;
    }
    return p;
}

/* Params are read as int64. */
static bool holds_int64(struct arena *arena, const struct view *view)
{
    if (view->dtype != DT_UINT64)
        return true;
    const int64_t *values = view_load(arena, view, DT_UINT64);
    for (uint64_t i = 0; i < shape_count(&view->shape); i++)
        if (values[i] < 0)
            return false;
    return true;
}

/* What keeps a UDO node from carrying the attribute, or NULL. */
static const char *misfit_of(struct arena *arena, const struct fw_attr *a)
{
    if (a->kind == FW_COMPLEX)
        return "complex numbers, which no UDO node can carry";
    if (a->kind == FW_OTHER)
        return "a type, an open shape, or a list of tensors, shapes or graphs, which no UDO node can carry";
    if (fw_attr_tensor(a) && !holds_int64(arena, &a->tensor->view)) /* no type of a definition holds it either */
        return "a number of more than 63 bits";
    if (a->kind == FW_STRING && strlen(a->s) != a->count)
        return "a NUL byte, which a container's text cannot";
    return fw_holds_graph(a) ? "a graph, which no UDO node can carry" : NULL;
}

/* The names of element types, for a param of text. */
static void name_types(struct arena *arena, const struct frontend *frontend, const struct fw_attr *a, struct param *p)
{
    const char **names = arena_array(arena, const char *, a->count);
    p->dtype = DT_STRING;
    if (a->kind == FW_INT) {
        p->s = frontend->type_name(a->i);
        return;
    }
    for (size_t i = 0; i < a->count; i++)
        names[i] = frontend->type_name(a->ints[i]);
    p->ints = NULL;
    p->strings = names;
}

static bool schema_default(const struct lowering *all, const struct fw_node *n, const char *attr, struct param *out)
{
    const struct frontend *frontend = all->c->frontend;
    for (uint32_t i = 0; i < n->op->n_defaults; i++)
        if (strcmp(n->op->defaults[i].name, attr) == 0 && !misfit_of(all->c->scratch, &n->op->defaults[i])) {
            *out = attr_param(all->b.graph->arena, &n->op->defaults[i]);
            return true;
        }
    return !*n->op->domain && frontend->schema_default &&
           frontend->schema_default(n->op->type, n->op->version, attr, out);
}

/* What the framework takes for those params of the definition that the node has no attribute for. */
static const struct param *schema_defaults(const struct lowering *all, const struct fw_node *n,
                                           const struct udo_def *def, uint32_t *count)
{
    struct param *defaults = arena_array(all->c->scratch, struct param, def->row->n_params);
    *count = 0;
    for (uint32_t i = 0; i < def->row->n_params; i++) {
        const char *name = def->row->params[i].name;
        if (def->row->params[i].supplemental || fw_find_attr(n, name) ||
            !schema_default(all, n, name, &defaults[*count]))
            continue;
        defaults[(*count)++].name = name;
    }
    return defaults;
}

/* The node's inputs in a graph of their own. */
static void copy_inputs(const struct lower *from, struct lower *to)
{
    struct graph *g = to->b->graph;
    tensor_id *in = arena_array(g->arena, tensor_id, from->n_in);
    struct lower_value *values = arena_array(g->arena, struct lower_value, from->n_in);
    for (uint32_t i = 0; i < from->n_in; i++) {
        values[i] = from->values[i];
        in[i] = NO_TENSOR;
        if (from->in[i] == NO_TENSOR)
            continue;
        const struct tensor *t = graph_tensor(from->b->graph, from->in[i]);
        bool constant = t->kind == TENSOR_STATIC;
        values[i].tensor = in[i] = constant ? graph_add_constant(g, t->name, t->type->dtype, t->view)
                                            : graph_add_tensor(g, t->name, TENSOR_INPUT, t->type);
        graph_tensor(g, in[i])->quant = t->quant;
    }
    to->in = in;
    to->values = values;
}

/* Lowers the node natively in a graph that is thrown away, and looks at the types that come out. */
static bool try_native(const struct context *c, const struct lower *l, const struct lower_row *row, struct type *out)
{
    struct arena *arena = c->scratch;
    const struct fw_node *n = l->node;
    struct diags quiet;
    struct build b;
    struct lower trial = *l;
    diags_init(&quiet, arena);
    build_init(&b, graph_create(arena, "trial"), &quiet);
    b.source = n->name;
    trial.b = &b;
    trial.arena = arena;
    trial.diags = &quiet;
    trial.op = row->kind.op;
    trial.variant = row->kind.variant;
    trial.out = arena_array(arena, tensor_id, n->n_outputs);
    trial.results = arena_array(arena, struct lower_value, n->n_outputs);
    copy_inputs(l, &trial);
    for (size_t i = 0; i < n->n_outputs; i++)
        trial.out[i] = NO_TENSOR;
    if (row->fn(&trial) != ODLC_OK)
        return false;
    for (size_t i = 0; i < n->n_outputs; i++)
        if (trial.out[i] != NO_TENSOR)
            out[i] = *graph_tensor(b.graph, trial.out[i])->type;
    return true;
}

/* The types of the outputs by the converter's own row for the operator; NULL: it has none that takes the node. */
static const struct type *native_types(const struct context *c, const struct lower *l)
{
    const struct fw_node *n = l->node;
    const struct lower_row *row = lower_find_row(c->frontend->table, n->op->domain, n->op->type, n->op->version);
    struct type *types = arena_array(c->scratch, struct type, n->n_outputs);
    struct arena_mark mark = arena_mark(c->scratch);
    bool known = row && try_native(c, l, row, types);
    arena_rewind(c->scratch, mark);
    return known ? types : NULL;
}

static void take_declared(const struct fw_value *v, struct type *type, bool *has_shape, struct shape *partial)
{
    type->dtype = v->dtype;
    *has_shape = v->has_shape;
    if (!v->has_shape)
        return;
    partial->rank = v->rank;
    for (uint32_t k = 0; k < v->rank; k++) {
        *has_shape &= v->dims[k] != DIM_OPEN;
        partial->dims[k] = v->dims[k] == DIM_OPEN ? -1 : v->dims[k];
    }
    if (*has_shape)
        type->shape = *partial;
}

/* ---- the order of axes ---- */

/* Whether the node's tensors have their channels first, for frameworks that have both: what the node says of itself,
 * else where its first image comes from, else how the model is on the whole. */
static bool has_channels_first(struct lowering *all, const struct lower *l)
{
    const struct fw_attr *format = fw_find_attr(l->node, "data_format");
    if (all->c->frontend->channels_first)
        return true;
    if (format && format->kind == FW_STRING && format->s[0] == 'N')
        return format->s[1] == 'C' && format->s[2];
    for (uint32_t i = 0; i < l->n_in; i++) {
        uint32_t rank = l->in[i] == NO_TENSOR ? 0 : build_rank(l->b, l->in[i]);
        if (rank < 3 || rank > 5 || build_is_const(l->b, l->in[i]))
            continue;
        const struct layout_origin origin = find_layout_origin(&all->origins, l->in[i]);
        bool from_last = origin.last || !all->in->model->channels_first;
        const struct perm first = from_last ? perm_channels_first(rank) : perm_identity(rank);
        return perm_equal(&origin.moved, &first);
    }
    return all->in->model->channels_first;
}

/* Whether a UDO node can do without the attribute, or carry it: a graph reads values around it, which would be lost. */
static odlc_status check_attr(const struct lower *l, const struct udo_def *def, const struct fw_attr *a)
{
    bool graph = fw_holds_graph(a);
    const char *misfit = misfit_of(l->arena, a);
    if (!misfit || (!graph && op_param_index(def->row, a->name) < 0)) /* it is not stored, and a warning says so */
        return ODLC_OK;
    return lower_unsupported(l, a->name,
                             graph ? "leave the node to the converter, or claim the nodes inside the graph" : NULL,
                             "attribute %s holds %s", a->name, misfit);
}

odlc_status lower_claimed(struct lowering *all, struct lower *l, const struct udo_def *def,
                          const struct fw_value *const *values)
{
    const struct context *c = all->c;
    const struct fw_node *n = l->node;
    struct param *attrs = arena_array(c->scratch, struct param, n->n_attrs);
    struct type *declared = arena_array(c->scratch, struct type, n->n_outputs);
    bool *has_shape = arena_array(c->scratch, bool, n->n_outputs);
    struct shape *partial = arena_array(c->scratch, struct shape, n->n_outputs);
    struct udo_demand *demands = arena_array(c->scratch, struct udo_demand, n->n_outputs);
    uint32_t n_attrs = 0;
    for (size_t i = 0; i < n->n_attrs; i++) {
        const struct fw_attr *a = &n->attrs[i];
        int index = op_param_index(def->row, a->name);
        TRY(check_attr(l, def, a));
        if (a->is_type && index < 0) /* nodes have them for every operand: not worth a word */
            continue;
        attrs[n_attrs] = attr_param(all->b.graph->arena, a);
        if (a->is_type && def->row->params[index].dtype == DT_STRING)
            name_types(all->b.graph->arena, c->frontend, a, &attrs[n_attrs]);
        n_attrs++;
    }
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        if (values[i])
            take_declared(values[i], &declared[i], &has_shape[i], &partial[i]);
        if (fw_out_id(n, i) == FW_NO_NAME)
            continue;
        if (declared[i].dtype == DT_NONE)
            declared[i].dtype = given_type(c, all->in, fw_out_id(n, i));
        if (declared[i].dtype == DT_NONE) /* or nobody asks */
            demands[i] = demand_for(c, all->in, fw_out_id(n, i));
    }
    struct udo_site site = {.scratch = c->scratch,
                            .path = all->path,
                            .label = n->name,
                            .op_type = n->op->type,
                            .domain = n->op->domain,
                            .in = l->in,
                            .n_in = l->n_in,
                            .attrs = attrs,
                            .n_attrs = n_attrs,
                            .out_names = n->outputs,
                            .declared = declared,
                            .declared_shape = has_shape,
                            .partial = partial,
                            .demands = demands,
                            .n_out = l->n_out,
                            .outputs_open = !c->frontend->has_opsets, /* TensorFlow */
                            .channels_first = has_channels_first(all, l)};
    site.defaults = schema_defaults(all, n, def, &site.n_defaults);
    if (udo_needs_native(def, &site))
        site.native = native_types(c, l);
    return udo_build(all->udos, def, l->b, &site, l->out);
}
