/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/kernel.h"
#include "op/op.h"
#include "random_claims.h"

#include <check.h>
#include <string.h>

#include "random_graph.h"
#include "runtime/executor.h"
#include "tests/support/reference_only.h"

/* An input or output of a UDO. */
struct operand {
    tensor_id model, mini; /* in the random graph, and in the graph of the replaced nodes */
    enum udo_layout layout;
    bool is_static;
};

/* What a UDO stands for. */
struct claim {
    struct op row; /* the first member: the kernel finds the claim by its node's row */
    struct graph *mini;
    VEC(struct operand) in;
    VEC(struct operand) out;
    bool any_order; /* elementwise: right in whatever order the container has the tensors */
};

void claims_init(struct claims *c, struct arena *arena, struct diags *diags)
{
    *c = (struct claims){.arena = arena};
    udo_set_init(&c->set, arena, diags, op_registry_new(arena));
}

tensor_id claims_now(const struct claims *c, tensor_id id)
{
    for (size_t i = 0; i < c->moved.count; i++)
        if (c->moved.data[i].from == id)
            return c->moved.data[i].to;
    return id;
}

/* ---- the kernel ---- */

/* From the model's order to the declared one. */
static struct perm declared_order(const struct operand *o, uint32_t rank)
{
    return o->layout == UDO_LAYOUT_NHWC && rank == 4 ? perm_channels_last(rank) : perm_identity(rank);
}

/* The UDO must be handed its tensor in the shape that the declared layout gives. */
static void check_shape(const struct claim *c, const struct node *n, const struct operand *o,
                        const struct buffer *buffer)
{
    const struct shape model = graph_tensor(c->mini, o->mini)->type->shape;
    const struct perm perm = declared_order(o, model.rank);
    const struct shape declared = perm_apply(&perm, &model);
    ck_assert_uint_eq(shape_count(&model), shape_count(&buffer->shape));
    ck_assert_msg(c->any_order || model.rank == 0 || shape_equal(&declared, &buffer->shape),
                  "%s sees a tensor of another shape than it declares", n->name);
}

static odlc_status run_replaced(const struct kernel *k, const struct claim *c, struct arena *arena,
                                struct arena *scratch)
{
    struct diags diags;
    struct executor *e;
    diags_init(&diags, arena);
    TRY(executor_create(arena, scratch, &diags, c->mini, c->mini->outputs.data, c->mini->outputs.count, &reference_only,
                        &e));
    for (size_t i = 0; i < c->in.count; i++) {
        const struct operand *o = &c->in.data[i];
        const struct type *type = graph_tensor(c->mini, o->mini)->type;
        check_shape(c, k->node, o, &k->in[i]);
        const struct perm perm = declared_order(o, type->shape.rank), back = perm_inverse(&perm);
        const struct shape given = perm_apply(&perm, &type->shape);
        struct view view = view_of(k->in[i].data, k->in[i].dtype, &given);
        view_permute(&view, &back);
        if (e->buffers[o->mini].data)
            memcpy(e->buffers[o->mini].data, view_load(arena, &view, type->dtype), tensor_bytes(type));
    }
    TRY(executor_run(e));
    for (size_t i = 0; i < c->out.count; i++) {
        const struct operand *o = &c->out.data[i];
        const struct type *type = graph_tensor(c->mini, o->mini)->type;
        check_shape(c, k->node, o, &k->out[i]);
        const struct perm perm = declared_order(o, type->shape.rank);
        struct view view = view_of(e->buffers[o->mini].data, type->dtype, &type->shape);
        view_permute(&view, &perm);
        uint64_t size = shape_count(&type->shape) * dtype_size(k->out[i].dtype);
        memcpy(k->out[i].data, view_load(arena, &view, k->out[i].dtype), size);
    }
    return ODLC_OK;
}

static odlc_status run_claim(const struct kernel *k)
{
    struct arena *arena = arena_create(), *scratch = arena_create();
    odlc_status status = run_replaced(k, (const struct claim *)k->node->op, arena, scratch);
    arena_destroy(scratch);
    arena_destroy(arena);
    return status;
}

static const struct reference_kernel claim_kernel = {COMPUTE_BYTES, run_claim};

/* ---- the replaced nodes as a graph ---- */

static tensor_id add_operand(struct claim *c, const struct build *b, tensor_id model)
{
    struct operand o = {.model = model, .is_static = build_is_const(b, model)};
    o.mini = graph_add_tensor(c->mini, "in", TENSOR_INPUT, build_type(b, model));
    vec_push(c->mini->arena, &c->mini->inputs, o.mini);
    vec_push(c->mini->arena, &c->in, o);
    return o.mini;
}

/* The tensor of the mini graph that stands for input `id`; now and then, a tensor that is read again is an input of its
 * own. `known` is by tensor of the random graph, 1 + id. */
static tensor_id mini_input(struct claim *c, const struct build *b, tensor_id id, tensor_id *known, uint64_t *state)
{
    if (id == NO_TENSOR)
        return NO_TENSOR;
    bool inside = known[id] && graph_tensor(c->mini, known[id] - 1)->kind != TENSOR_INPUT;
    if (!inside && (!known[id] || random_below(state, 3) == 0))
        known[id] = 1 + add_operand(c, b, id);
    return known[id] - 1;
}

static void copy_node(struct claim *c, const struct build *b, node_id id, tensor_id *known, uint64_t *state)
{
    const struct node *n = graph_node(b->graph, id);
    tensor_id *in = arena_array(c->mini->arena, tensor_id, n->n_inputs);
    tensor_id *out = arena_array(c->mini->arena, tensor_id, n->n_outputs);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        in[i] = mini_input(c, b, n->inputs[i], known, state);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        out[i] = graph_add_tensor(c->mini, "t", TENSOR_NATIVE, build_type(b, n->outputs[i]));
        known[n->outputs[i]] = 1 + out[i];
    }
    node_id copy = graph_add_node(c->mini, n->op, n->op->n_params, n->name, in, n->n_inputs, out, n->n_outputs);
    memcpy(graph_node(c->mini, copy)->params, n->params, n->op->n_params * sizeof *n->params);
    vec_push(c->mini->arena, &c->mini->order, copy);
}

/* What the nodes give and do not read themselves. */
static void find_outputs(struct claim *c, const struct graph *g, size_t first, const tensor_id *known)
{
    struct uses uses = graph_uses(c->mini->arena, c->mini);
    for (size_t i = first; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        for (uint32_t k = 0; k < n->n_outputs; k++) {
            tensor_id mini = known[n->outputs[k]] - 1;
            if (uses.count[mini])
                continue;
            graph_tensor(c->mini, mini)->kind = TENSOR_OUTPUT;
            vec_push(c->mini->arena, &c->mini->outputs, mini);
            vec_push(c->mini->arena, &c->out, (struct operand){.model = n->outputs[k], .mini = mini});
        }
    }
}

static bool is_elementwise(const struct claim *c)
{
    static const enum op_id ops[] = {OP_ElementWiseAbs, OP_ElementWiseNeg, OP_Relu,
                                     OP_Tanh,           OP_Sigmoid,        OP_ElementWiseSin};
    if (c->in.count != 1)
        return false;
    for (size_t i = 0; i < c->mini->order.count; i++) {
        bool found = false;
        for (size_t k = 0; k < COUNT_OF(ops); k++)
            found |= node_is(graph_node(c->mini, c->mini->order.data[i]), ops[k]);
        if (!found)
            return false;
    }
    return true;
}

/* ---- its definition ---- */

/* Where the order matters, the definition declares it: NHWC says something about rank 4 alone. */
static void choose_layouts(struct claim *c, uint64_t *state)
{
    c->any_order = is_elementwise(c) && random_below(state, 2);
    for (int is_out = 0; is_out < 2; is_out++) {
        struct operand *operands = is_out ? c->out.data : c->in.data;
        for (size_t i = 0; i < (is_out ? c->out.count : c->in.count); i++) {
            bool spatial = graph_tensor(c->mini, operands[i].mini)->type->shape.rank == 4;
            bool last = random_below(state, 2);
            operands[i].layout = c->any_order ? UDO_LAYOUT_NONE : spatial && last ? UDO_LAYOUT_NHWC : UDO_LAYOUT_NCHW;
        }
    }
}

static void add_tensors(struct arena *arena, text *t, const struct operand *operands, size_t count)
{
    static const char *const layouts[] = {[UDO_LAYOUT_NONE] = "",
                                          [UDO_LAYOUT_NHWC] = ", \"tensor_layout\": \"NHWC\"",
                                          [UDO_LAYOUT_NCHW] = ", \"tensor_layout\": \"NCHW\""};
    for (size_t i = 0; i < count; i++)
        text_add(arena, t, "%s{\"name\": \"t%zu\"%s%s}", i ? ", " : "", i, layouts[operands[i].layout],
                 operands[i].is_static ? ", \"static\": true" : "");
}

static const struct udo_def *define(struct claims *claims, const struct claim *c, const char *type)
{
    text t = {0};
    text_add(claims->arena, &t,
             "{\"P\": {\"UDO_PACKAGE_NAME\": \"P\", \"Operators\": [{\"type\": \"%s\", \"inputs\": [", type);
    add_tensors(claims->arena, &t, c->in.data, c->in.count);
    text_add(claims->arena, &t, "], \"outputs\": [");
    add_tensors(claims->arena, &t, c->out.data, c->out.count);
    text_add(claims->arena, &t, "]}]}}");
    ck_assert_int_eq(udo_parse_json(&claims->set, "random.json", t.data, strlen(t.data)), ODLC_OK);
    return udo_find(&claims->set, type, "");
}

/* ---- in the graph ---- */

static void build_claim(struct claims *claims, struct claim *c, struct build *b, const char *type)
{
    const struct udo_def *def = define(claims, c, type);
    struct udo_site site = {.scratch = claims->arena,
                            .path = "random.onnx",
                            .label = type,
                            .op_type = type,
                            .domain = "",
                            .n_in = (uint32_t)c->in.count,
                            .n_out = (uint32_t)c->out.count,
                            .channels_first = true};
    tensor_id *in = arena_array(claims->arena, tensor_id, site.n_in);
    tensor_id *outs = arena_array(claims->arena, tensor_id, site.n_out);
    const char **names = arena_array(claims->arena, const char *, site.n_out);
    struct type *declared = arena_array(claims->arena, struct type, site.n_out);
    bool *declared_shape = arena_array(claims->arena, bool, site.n_out);
    for (uint32_t i = 0; i < site.n_in; i++)
        in[i] = c->in.data[i].model;
    for (uint32_t i = 0; i < site.n_out; i++) {
        names[i] = arena_printf(claims->arena, "%s_out%u", type, i);
        declared[i] = *graph_tensor(c->mini, c->out.data[i].mini)->type;
        declared_shape[i] = true;
    }
    site.in = in;
    site.out_names = names;
    site.declared = declared;
    site.declared_shape = declared_shape;
    size_t first = b->graph->nodes.count;
    b->source = type;
    ck_assert_msg(udo_build(&claims->set, def, b, &site, outs) == ODLC_OK, "%s is refused", type);
    b->source = NULL;
    c->row = *def->row;
    c->row.own_kernel = &claim_kernel;
    for (size_t i = first; i < b->graph->nodes.count; i++)
        if (b->graph->nodes.data[i].op == def->row)
            b->graph->nodes.data[i].op = &c->row;
    for (uint32_t i = 0; i < site.n_out; i++)
        vec_push(claims->arena, &claims->moved, (struct moved){c->out.data[i].model, outs[i]});
}

void claims_replace(struct claims *claims, struct build *b, size_t first, uint64_t seed)
{
    struct graph *g = b->graph;
    if (first >= g->order.count)
        return;
    struct claim *c = arena_new(claims->arena, struct claim);
    tensor_id *known = arena_array(claims->arena, tensor_id, g->tensors.count);
    const char *type = arena_printf(claims->arena, "Udo%u", (unsigned)claims->set.defs.count);
    c->mini = graph_create(claims->arena, type);
    for (size_t i = first; i < g->order.count; i++)
        copy_node(c, b, g->order.data[i], known, &seed);
    find_outputs(c, g, first, known);
    choose_layouts(c, &seed);
    for (size_t i = first; i < g->order.count; i++)
        graph_remove_node(g, g->order.data[i]);
    g->order.count = first;
    build_claim(claims, c, b, type);
}
