/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/parts.h"

#include "op/op.h"
#include "op/params.h"

bool part_number(const struct graph *g, tensor_id id, double *value)
{
    const struct tensor *t = graph_tensor(g, id);
    if (t->kind != TENSOR_STATIC || !dtype_is_float(t->type->dtype) || shape_count(&t->type->shape) != 1)
        return false;
    convert_elements(value, DT_FLOAT64, view_load(g->arena, t->view, t->type->dtype), t->type->dtype, 1);
    return true;
}

tensor_id part_constant(struct graph *g, tensor_id from, const struct view *view)
{
    const struct tensor *t = graph_tensor(g, from);
    return graph_add_constant(g, tensor_wanted_name(t), t->type->dtype, view);
}

tensor_id part_reshaped(struct graph *g, tensor_id like, const char *name, const struct shape *shape)
{
    const struct quant *quant = graph_tensor(g, like)->quant;
    struct type type = {.dtype = graph_tensor(g, like)->type->dtype, .shape = *shape};
    tensor_id id = graph_add_tensor(g, name, TENSOR_NATIVE, &type);
    graph_tensor(g, id)->quant = quant && !quant->per_axis ? quant : NULL;
    return id;
}

node_id part_reshape(struct graph *g, const char *name, const char *source, tensor_id in, tensor_id out)
{
    const struct op *row = op_row(OP_Reshape);
    const struct shape to = graph_tensor(g, out)->type->shape, rank1 = SHAPE(to.rank);
    node_id id = graph_add_node(g, row, row->n_params, name, &in, 1, &out, 1);
    node_set_ints(g, graph_node(g, id), PARAM_shape, &rank1, to.dims);
    graph_node(g, id)->source = source;
    return id;
}
