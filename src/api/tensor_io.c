/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tensor_io.h"

#include "runtime/plan.h"
#include "op/op.h"

struct odlc_io tensor_io(const struct graph *g, tensor_id id)
{
    const struct tensor *t = graph_tensor(g, id);
    const struct node *n = t->producer == NO_NODE ? NULL : graph_node(g, t->producer);
    return (struct odlc_io){.name = t->name,
                            .dtype = dtype_info(t->type->dtype)->display,
                            .rank = t->type->shape.rank,
                            .dims = t->type->shape.dims,
                            .count = shape_count(&t->type->shape),
                            .native_size = t->type->dtype == DT_STRING ? 0 : tensor_bytes(t->type),
                            .node = n ? n->name : NULL,
                            .op = n ? n->op->name : NULL};
}

odlc_status tensor_io_check(struct diags *diags, const char *path, const struct odlc_io *io, uint64_t given,
                            uint64_t wanted, const char *unit)
{
    if (given == wanted)
        return ODLC_OK;
    struct shape shape = {.rank = io->rank};
    for (uint32_t i = 0; i < io->rank; i++)
        shape.dims[i] = io->dims[i];
    return diag_error(diags, ODLC_ERR_USAGE, AT(.file = path, .attribute = io->name), "run-input-size",
                      "the input takes %llu %s (%s %s), not %llu", (unsigned long long)wanted, unit, io->dtype,
                      shape_text(diags->arena, &shape), (unsigned long long)given);
}
