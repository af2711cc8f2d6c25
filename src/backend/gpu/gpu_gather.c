/* SPDX-License-Identifier: Apache-2.0 */
/* Gather. */
#include "backend/gpu/gpu_index.h"
#include "op/axes.h"

static const char *refuse(const struct gpu *gpu, const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *indices = node_input(g, n, 1);
    const char *reason = gpu_refuse_indices(indices);
    uint32_t axis;
    if (reason)
        return reason;
    return node_axis(n, 0, x->type->shape.rank, &axis) ? gpu_refuse_move(gpu, g, n) : "its axis is none of the input";
}

/* Constant indices are looked at once, here. */
static odlc_status check_indices(const struct gpu_making *m, int64_t dim)
{
    const struct node *n = gpu_node(m, 0);
    const struct buffer *b = &m->scope->constants[n->inputs[1]];
    const uint64_t count = shape_count(&b->shape);
    int64_t *wide = arena_array(m->scope->scratch, int64_t, count);
    convert_elements(wide, DT_INT64, b->data, b->dtype, count);
    for (uint64_t i = 0; i < count; i++)
        if (wide[i] < -dim || wide[i] >= dim)
            return diag_error(m->scope->diags, ODLC_ERR_INVALID, AT(.node = n->name), "run-index",
                              "an index lies outside of the tensor that it points into");
    return ODLC_OK;
}

static odlc_status prepare(struct gpu_making *m)
{
    const struct gpu_operand out = gpu_output(m, 0);
    const size_t count = shape_count(&out.shape);
    struct gpu_operand x, indices, fault;
    struct gpu_call *call;
    uint32_t axis;
    int number;
    TRY(gpu_input(m, 0, 0, &x));
    TRY(gpu_input(m, 0, 1, &indices));
    if (!node_axis(gpu_node(m, 0), 0, x.shape.rank, &axis))
        return ODLC_ERR_INVALID;
    if (gpu_is_constant(m, 0, 1))
        TRY(check_indices(m, x.shape.dims[axis]));
    TRY(gpu_watch(m, &fault, &number));
    gpu_move_math(m, &x);
    gpu_option_type(m, "X", &x);
    gpu_option_type(m, "Y", &indices);
    gpu_option_type(m, "O", &out);
    TRY(gpu_call_begin(m, "move", "gather", &call));
    gpu_arg(m, call, &x);
    gpu_arg(m, call, &indices);
    gpu_arg(m, call, &out);
    gpu_arg_int(call, (int64_t)count);
    gpu_arg_int(call, x.shape.dims[axis]);
    gpu_arg_int(call, (int64_t)shape_count(&indices.shape));
    gpu_arg_int(call, (int64_t)shape_count_range(&x.shape, axis + 1, x.shape.rank));
    gpu_arg(m, call, &fault);
    gpu_arg_int(call, number);
    return gpu_call_end(m, call, 1, &count);
}

const struct gpu_op gpu_gather = {.refuse = refuse, .prepare = prepare, .is_raw = gpu_moves_raw};
