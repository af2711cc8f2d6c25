/* SPDX-License-Identifier: Apache-2.0 */
#include "build/build.h"

#include <assert.h>
#include <string.h>

#include "build/follow_filler.h"
#include "build/fold.h"
#include "op/infer.h"
#include "op/layout.h"
#include "op/params.h"

void build_init(struct build *b, struct graph *g, struct diags *diags)
{
    memset(b, 0, sizeof *b);
    b->graph = g;
    b->diags = diags;
}

void build_row(struct build *b, const struct op *row, const char *name)
{
    assert(row && row->n_params <= COUNT_OF(b->pending_params));
    b->pending = (struct node){.name = name, .op = row, .source = b->source, .params = b->pending_params};
    memset(b->pending_params, 0, row->n_params * sizeof *b->pending_params);
    b->inputs.count = 0;
}

void build_op(struct build *b, enum op_id op, const char *name)
{
    build_row(b, op_row(op), name);
}

void build_in(struct build *b, tensor_id id)
{
    vec_push(b->graph->arena, &b->inputs, id);
}

void build_int(struct build *b, enum param_id param, int64_t value)
{
    node_set_int(&b->pending, param, value);
}

void build_float(struct build *b, enum param_id param, double value)
{
    node_set_float(&b->pending, param, value);
}

void build_string(struct build *b, enum param_id param, const char *value)
{
    node_set_string(b->graph, &b->pending, param, value);
}

void build_ints(struct build *b, enum param_id param, const int64_t *values, uint32_t count)
{
    struct shape shape = SHAPE(count);
    node_set_ints(b->graph, &b->pending, param, &shape, values);
}

void build_tensor_ints(struct build *b, enum param_id param, const struct shape *shape, const int64_t *values)
{
    node_set_ints(b->graph, &b->pending, param, shape, values);
}

void build_param(struct build *b, const struct param *param)
{
    int i = op_param_index(b->pending.op, param->name);
    assert(i >= 0);
    node_set_param(b->graph, &b->pending, (uint32_t)i, param);
}

static odlc_status node_error(const struct build *b, const char *code, const char *message)
{
    const char *node = b->source ? b->source : b->pending.name;
    return diag_error(b->diags, ODLC_ERR_INTERNAL, AT(.node = node), code, "%s: %s",
                      op_subject(b->diags, b->pending.op), message);
}

static void set_default(struct build *b, uint32_t index, const struct param_def *def)
{
    const struct param value = {.set = true,
                                .usage = def->supplemental ? 2 : 1,
                                .dtype = def->dtype == DT_NONE ? DT_INT32 : def->dtype,
                                .i = (int64_t)def->def,
                                .f = def->def};
    node_set_param(b->graph, &b->pending, index, &value);
}

/* Defaults filled in, required ones there, counts within the row's arity. */
static odlc_status complete(struct build *b, uint32_t n_outputs)
{
    const struct op *op = b->pending.op;
    for (uint32_t i = 0; i < op->n_params; i++) {
        const struct param_def *def = &op->params[i];
        if (b->pending_params[i].set)
            continue;
        if (def->presence == PARAM_REQUIRED)
            return node_error(b, "missing-param", def->name);
        if (def->presence == PARAM_DEFAULT)
            set_default(b, i, def);
    }
    uint32_t n_inputs = (uint32_t)b->inputs.count;
    if (n_inputs < op->min_inputs || (op->max_inputs != VARIADIC && n_inputs > op->max_inputs))
        return node_error(b, "arity", "wrong number of inputs");
    if (n_outputs < op->min_outputs || (op->max_outputs != VARIADIC && n_outputs > op->max_outputs))
        return node_error(b, "arity", "wrong number of outputs");
    return ODLC_OK;
}

static const char *output_name(struct build *b, const char *const *names, uint32_t i)
{
    struct arena *arena = b->graph->arena;
    if (names && names[i] && *names[i])
        return names[i];
    const char *node = b->pending.name && *b->pending.name ? b->pending.name : b->pending.op->name;
    return i ? arena_printf(arena, "%s_output_%u", node, i) : arena_join(arena, node, "_output", "");
}

static odlc_status add_node(struct build *b, const char *const *names, const struct type *types, uint32_t n,
                            tensor_id *outs)
{
    struct graph *g = b->graph;
    if (g->nodes.count >= growth_nodes(&g->growth))
        return diag_error(b->diags, ODLC_ERR_LIMIT,
                          AT(.node = b->source, .hint = "what is unrolled may be left to a user-defined op"),
                          "graph-size", "the model becomes more than %llu nodes",
                          (unsigned long long)growth_nodes(&g->growth));
    for (uint32_t i = 0; i < n; i++) {
        if (shape_too_large(&types[i].shape) || types[i].shape.rank > MAX_RANK)
            return diag_error(b->diags, ODLC_ERR_LIMIT, AT(.node = b->source), "tensor-too-large",
                              "%s: the output shape %s is beyond the limit", op_subject(b->diags, b->pending.op),
                              shape_text(b->diags->arena, &types[i].shape));
    }
    const char *base = b->pending.name && *b->pending.name ? b->pending.name : b->pending.op->name;
    for (uint32_t i = 0; i < n; i++)
        outs[i] = types[i].dtype == DT_NONE ? NO_TENSOR
                                            : graph_add_tensor(g, output_name(b, names, i), TENSOR_NATIVE, &types[i]);
    node_id id = graph_add_node(g, b->pending.op, b->pending.op->n_params, base, b->inputs.data,
                                (uint32_t)b->inputs.count, outs, n);
    struct node *added = graph_node(g, id);
    memcpy(added->params, b->pending_params, b->pending.op->n_params * sizeof *b->pending_params);
    added->source = b->source;
    added->layout_only = b->pending.layout_only;
    follow_filler_axes(b, added);
    bool folded = false;
    const struct node before = *added; /* folding drops the node */
    if (!b->unfolded)
        TRY(fold_node(g, id, b->diags, &folded));
    if (folded)
        follow_filler_sizes(b, &before);
    else
        vec_push(g->arena, &g->order, id);
    return folded ? ODLC_OK : refuse_filler_sizes(b, &before);
}

odlc_status build_end_typed(struct build *b, const char *const *names, const struct type *types, uint32_t n,
                            tensor_id *outs)
{
    TRY(complete(b, n));
    return add_node(b, names, types, n, outs);
}

odlc_status build_end_n(struct build *b, const char *const *names, uint32_t n, tensor_id *outs)
{
    TRY(complete(b, n));
    struct type few[4], *types = n <= COUNT_OF(few) ? few : arena_array(b->graph->arena, struct type, n);
    if (types == few)
        memset(few, 0, n * sizeof *few);
    b->pending.inputs = b->inputs.data;
    b->pending.n_inputs = (uint32_t)b->inputs.count;
    b->pending.n_outputs = n & INT32_MAX;
    struct infer infer = {.graph = b->graph, .node = &b->pending, .out = types, .diags = b->diags};
    TRY(b->pending.op->infer(&infer));
    return add_node(b, names, types, n, outs);
}

odlc_status build_end(struct build *b, const char *out_name, tensor_id *out)
{
    return build_end_n(b, &out_name, 1, out);
}

odlc_status build_transpose(struct build *b, tensor_id in, const struct perm *perm, const char *out_name,
                            tensor_id *out)
{
    if (perm_is_identity(perm)) {
        *out = in;
        return ODLC_OK;
    }
    build_op(b, OP_Transpose, out_name);
    build_in(b, in);
    node_set_perm(b->graph, &b->pending, perm);
    return build_end(b, out_name, out);
}

/* The Transpose is marked so that the layout pass tells it from the model's own; constants fold and carry no mark. */
static odlc_status layout_transpose(struct build *b, tensor_id in, const struct perm *perm, bool to_first,
                                    const char *out_name, tensor_id *out)
{
    TRY(build_transpose(b, in, perm, out_name, out));
    const struct tensor *t = graph_tensor(b->graph, *out);
    if (*out == in || t->producer == NO_NODE)
        return ODLC_OK;
    graph_node(b->graph, t->producer)->layout_only = true;
    graph_node(b->graph, t->producer)->to_first = to_first;
    return ODLC_OK;
}

odlc_status build_to_channels_last(struct build *b, tensor_id in, tensor_id *out)
{
    struct perm perm = perm_channels_last(build_rank(b, in));
    const char *suffix = order_suffix(ORDER_CHANNELS_LAST, perm.rank);
    const char *name = arena_join(b->graph->arena, graph_tensor(b->graph, in)->name, ".", suffix);
    return layout_transpose(b, in, &perm, false, name, out);
}

odlc_status build_to_channels_first(struct build *b, tensor_id in, const char *out_name, tensor_id *out)
{
    struct perm perm = perm_channels_first(build_rank(b, in));
    return layout_transpose(b, in, &perm, true, out_name, out);
}

odlc_status build_reshape(struct build *b, tensor_id in, const struct shape *shape, const char *out_name,
                          tensor_id *out)
{
    if (shape_equal(&build_type(b, in)->shape, shape)) {
        *out = in;
        return ODLC_OK;
    }
    struct shape rank1 = SHAPE(shape->rank);
    build_op(b, OP_Reshape, out_name);
    build_in(b, in);
    build_tensor_ints(b, PARAM_shape, &rank1, shape->dims);
    return build_end(b, out_name, out);
}

odlc_status build_cast(struct build *b, tensor_id in, enum dtype to, const char *out_name, tensor_id *out)
{
    struct type type = *build_type(b, in);
    if (type.dtype == to) {
        *out = in;
        return ODLC_OK;
    }
    type.dtype = to;
    build_op(b, OP_Cast, out_name);
    build_in(b, in);
    return build_end_typed(b, &out_name, &type, 1, out);
}

odlc_status build_unary(struct build *b, enum op_id op, tensor_id x, const char *out_name, tensor_id *out)
{
    build_op(b, op, out_name);
    build_in(b, x);
    return build_end(b, out_name, out);
}

odlc_status build_binary(struct build *b, enum op_id op, tensor_id x, tensor_id y, const char *out_name, tensor_id *out)
{
    build_op(b, op, out_name);
    build_in(b, x);
    build_in(b, y);
    return build_end(b, out_name, out);
}

tensor_id build_copy(struct graph *g, tensor_id value, const char *name)
{
    const struct type type = *graph_tensor(g, value)->type;
    const struct op *reshape = op_row(OP_Reshape);
    struct shape rank1 = SHAPE(type.shape.rank);
    tensor_id holder = graph_find_tensor(g, name), copy = graph_add_tensor(g, NULL, TENSOR_NATIVE, &type);
    if (holder != NO_TENSOR)
        graph_rename_tensor(g, holder, graph_free_tensor_name(g, arena_printf(g->arena, "%s.value", name)));
    graph_rename_tensor(g, copy, name);
    node_id id = graph_add_node(g, reshape, reshape->n_params, name, &value, 1, &copy, 1);
    node_set_ints(g, graph_node(g, id), PARAM_shape, &rank1, type.shape.dims);
    vec_push(g->arena, &g->order, id);
    return copy;
}

static tensor_id add_constant(struct build *b, const char *name, enum dtype dtype, const struct shape *shape,
                              const void *values, enum dtype values_dtype)
{
    size_t count = shape_count(shape);
    void *bytes = arena_calloc(b->graph->arena, count, dtype_size(dtype));
    convert_elements(bytes, dtype, values, values_dtype, count);
    struct view view = view_of(bytes, dtype, shape);
    return graph_add_constant(b->graph, name, dtype, &view);
}

tensor_id build_const_floats(struct build *b, const char *name, const struct shape *shape, const float *values)
{
    return add_constant(b, name, DT_FLOAT32, shape, values, DT_FLOAT32);
}

tensor_id build_const_ints(struct build *b, const char *name, enum dtype dtype, const struct shape *shape,
                           const int64_t *values)
{
    return add_constant(b, name, dtype, shape, values, DT_INT64);
}

tensor_id build_const_scalar(struct build *b, const char *name, enum dtype dtype, double value)
{
    struct shape scalar = {.rank = 0};
    return add_constant(b, name, dtype, &scalar, &value, DT_FLOAT64);
}

struct filler build_filler(const struct build *b, tensor_id id)
{
    return id < b->filler.count ? b->filler.data[id] : (struct filler){.axes = 0};
}

void build_set_filler(struct build *b, tensor_id id, struct filler filler)
{
    while (b->filler.count <= id)
        vec_push(b->graph->arena, &b->filler, (struct filler){.axes = 0});
    b->filler.data[id] = filler;
}

bool build_unfold(struct build *b, bool unfolded)
{
    const bool before = b->unfolded;
    b->unfolded = unfolded;
    return before;
}

void build_keep(struct build *b, tensor_id id)
{
    vec_push(b->graph->arena, &b->kept, id);
}

bool build_is_const(const struct build *b, tensor_id id)
{
    return id != NO_TENSOR && graph_tensor(b->graph, id)->kind == TENSOR_STATIC;
}

static const void *const_as(const struct build *b, struct arena *arena, tensor_id id, enum dtype as, uint64_t *count)
{
    if (!build_is_const(b, id))
        return NULL;
    const struct tensor *t = graph_tensor(b->graph, id);
    *count = shape_count(&t->type->shape);
    /* A cast that is still pending comes first: 2.7 declared as int32 is 2. */
    if (t->type->dtype == as)
        return view_load(arena, t->view, as);
    void *out = arena_calloc(arena, *count, dtype_size(as));
    struct arena_mark mark = arena_mark(arena);
    convert_elements(out, as, view_load(arena, t->view, t->type->dtype), t->type->dtype, *count);
    arena_rewind(arena, mark);
    return out;
}

const int64_t *build_const_as_ints(const struct build *b, tensor_id id, uint64_t *count)
{
    return const_as(b, b->graph->arena, id, DT_INT64, count);
}

const double *build_const_as_floats(const struct build *b, tensor_id id, uint64_t *count)
{
    return const_as(b, b->graph->arena, id, DT_FLOAT64, count);
}

const double *build_const_floats_in(struct arena *arena, const struct build *b, tensor_id id, uint64_t *count)
{
    return const_as(b, arena, id, DT_FLOAT64, count);
}

const struct type *build_type(const struct build *b, tensor_id id)
{
    return graph_tensor(b->graph, id)->type;
}

uint32_t build_rank(const struct build *b, tensor_id id)
{
    return build_type(b, id)->shape.rank;
}
