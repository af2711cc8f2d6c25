/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/lower_parts.h"

/* The node of one part: its outputs go by other names. */
static odlc_status lower_part(const struct lower *l, lower_fn *fn, uint32_t part, tensor_id *out)
{
    static const char *const names[] = {"real", "imaginary"};
    struct fw_node node = *l->node;
    struct lower of_part = *l;
    const char **outputs = arena_array(l->arena, const char *, l->n_out);
    tensor_id *in = arena_array(l->arena, tensor_id, l->n_in);
    for (uint32_t k = 0; k < l->n_out; k++) {
        outputs[k] = *l->node->outputs[k] ? arena_printf(l->arena, "%s.%s", l->node->outputs[k], names[part]) : "";
        out[k] = NO_TENSOR;
    }
    for (uint32_t i = 0; i < l->n_in; i++)
        in[i] = l->values[i].kind == VALUE_COMPLEX ? l->values[i].items[part].tensor : l->in[i];
    node.outputs = outputs;
    of_part.node = &node;
    of_part.in = in;
    of_part.out = out;
    return fn(&of_part);
}

odlc_status lower_parts(struct lower *l, lower_fn *fn)
{
    tensor_id *out[2];
    for (uint32_t part = 0; part < 2; part++) {
        out[part] = arena_array(l->arena, tensor_id, l->n_out);
        TRY(lower_part(l, fn, part, out[part]));
    }
    for (uint32_t k = 0; k < l->n_out; k++) {
        struct lower_value *items = arena_array(l->arena, struct lower_value, 2);
        for (uint32_t part = 0; part < 2; part++)
            items[part] = (struct lower_value){.kind = VALUE_TENSOR, .tensor = out[part][k]};
        l->results[k] = (struct lower_value){.kind = VALUE_COMPLEX, .items = items, .count = 2};
    }
    return ODLC_OK;
}
