/* SPDX-License-Identifier: Apache-2.0 */
#include "api/cost.h"

#include <string.h>

#include "kernel/kernel.h"
#include "op/op.h"
#include "op/registry.h"

static bool starts_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Version 3 keeps weights beside the layers, not among their inputs. Each weight is used once for every output
 * position, which is every output element of one channel; channels are the last dimension. */
static void count_layer(const struct dlc_graph *g, const struct dlc_op *layer, struct odlc_op *op)
{
    uint64_t weights = 0, biases = 0;
    for (uint32_t i = 0; i < layer->n_params; i++) {
        if (starts_with(layer->params[i].name, "weights"))
            weights = sat_add(weights, shape_count(layer->params[i].shape));
        else if (starts_with(layer->params[i].name, "bias"))
            biases = sat_add(biases, shape_count(layer->params[i].shape));
    }
    op->parameters = sat_add(weights, biases);
    bool multiplies = strcmp(layer->type, "Convolutional") == 0 || strcmp(layer->type, "FullyConnected") == 0;
    const struct dlc_tensor *out = layer->n_outputs ? dlc_tensor_find(g, layer->outputs[0]) : NULL;
    if (multiplies && out && out->shape->rank)
        op->macs = sat_mul(shape_count_range(out->shape, 0, out->shape->rank - 1), weights);
}

static void count_layers(const struct dlc_graph *g, struct odlc_graph *graph, struct odlc_op *ops)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        count_layer(g, &g->ops[i], &ops[i]);
    graph->counted = 1;
}

static void count_node(const struct graph *ir, const struct node *n, struct odlc_op *op)
{
    op->operator_name = n->op->id == OP_CUSTOM ? NULL : n->op->name;
    op->executable = kernel_of(n->op) != NULL;
    op->runtimes = op->executable ? ODLC_RUNTIME_CPU : 0;
    op->macs = n->op->macs ? n->op->macs(ir, n) : 0;
    for (uint32_t i = 0; i < n->n_inputs && i < 32; i++) {
        const struct tensor *t = node_input(ir, n, i);
        if (t && t->kind == TENSOR_STATIC && (n->op->weights >> i & 1))
            op->parameters = sat_add(op->parameters, shape_count(&t->type->shape));
    }
}

static odlc_status count_nodes(struct arena *arena, struct diags *diags, const struct dlc_file *dlc, uint32_t index,
                               struct odlc_graph *graph, struct odlc_op *ops)
{
    struct graph *ir;
    TRY(dlc_to_ir(arena, diags, op_registry_new(arena), dlc, index, &ir));
    for (node_id i = 0; i < ir->nodes.count; i++) {
        const struct node *n = graph_node(ir, i);
        if (node_output(ir, n, 0))
            count_node(ir, n, &ops[i]);
    }
    graph->counted = 1;
    return ODLC_OK;
}

void count_graph(struct arena *arena, struct diags *diags, const struct dlc_file *dlc, uint32_t index,
                 struct odlc_graph *graph, struct odlc_op *ops)
{
    if (dlc->major == 3) {
        count_layers(&dlc->graphs[index], graph, ops);
    } else {
        struct diags attempt;
        diags_init(&attempt, arena);
        if (count_nodes(arena, &attempt, dlc, index, graph, ops) != ODLC_OK) {
            const struct odlc_diag *cause = &attempt.list.data[0];
            while (cause->severity != ODLC_ERROR)
                cause++;
            diag_warn(diags, cause, "cost-unknown", "parameters and MACs are not counted: %s", cause->message);
        }
    }
    for (uint32_t i = 0; i < graph->n_ops; i++) {
        graph->parameters = sat_add(graph->parameters, ops[i].parameters);
        graph->macs = sat_add(graph->macs, ops[i].macs);
    }
}
