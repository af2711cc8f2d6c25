/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax and LogSoftmax along one axis. */
#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"

static odlc_status infer_softmax(const struct infer *c)
{
    const struct shape *shape = &infer_in(c, 0)->shape;
    uint32_t axis;
    if (!node_axis(c->node, (int64_t)shape->rank - 1, shape->rank, &axis))
        return infer_error(c, "axis is not one of %s", shape_text(c->diags->arena, shape));
    return infer_real(c);
}

/* The absent axis is the last one of the node, wherever that is stored. */
static bool permute_softmax(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    if (!node_param(n, PARAM_axis))
        node_set_int(n, PARAM_axis, (int64_t)perm->rank - 1);
    return permute_axis(g, n, perm, out);
}

#define BETA                                                                          \
    {                                                                                 \
        PARAM_NAMED(beta), .dtype = DT_FLOAT32, .presence = PARAM_DEFAULT, .def = 1.0 \
    }
static const struct param_def softmax_params[] = {{PARAM_NAMED(axis), .dtype = DT_UINT32, .presence = PARAM_OPTIONAL},
                                                  BETA};
static const struct param_def log_softmax_params[] = {
    {PARAM_NAMED(axis), .dtype = DT_UINT32, .presence = PARAM_REQUIRED}, BETA};

#define ROW(op_name, param_list)                                                                      \
    {                                                                                                 \
        .id = OP_##op_name, .name = #op_name, .dlc_type = #op_name, .min_inputs = 1, .max_inputs = 1, \
        .min_outputs = 1, .max_outputs = 1, .params = param_list, .n_params = COUNT_OF(param_list),   \
        .infer = infer_softmax, .permute = permute_softmax, .cut = cut_but_axis                       \
    }

const struct op op_rows_softmax[] = {
    ROW(LogSoftmax, log_softmax_params),
    ROW(Softmax, softmax_params),
};
const size_t op_rows_softmax_count = COUNT_OF(op_rows_softmax);
