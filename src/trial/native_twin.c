/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/native_twin.h"

#include "build/build.h"
#include "kernel/eval.h"
#include "op/op.h"
#include "op/params.h"

/* Operands of the twin have the types in which the kernel gets them, and float32 for all reals. */
static enum dtype twin_type(enum dtype dtype)
{
    return dtype_is_fixed(dtype) || dtype == DT_FLOAT16 ? DT_FLOAT32 : dtype;
}

static tensor_id twin_input(struct arena *arena, struct graph *g, const struct twin_of *s, uint32_t i)
{
    if (s->inputs[i].dtype == DT_NONE)
        return NO_TENSOR;
    const struct type type = {twin_type(s->inputs[i].dtype), s->inputs[i].shape};
    return graph_add_tensor(g, arena_printf(arena, "in%u", i), TENSOR_INPUT, &type);
}

static const char *problem_of(const struct diags *diags)
{
    return diags->list.count ? diags->list.data[diags->list.count - 1].message : "it cannot be built";
}

/* The params of the same names, in the native operator's types. */
static void give_params(struct build *b, const struct op *row, const struct node *n)
{
    for (uint32_t i = 0; i < n->op->n_params; i++) {
        struct param p = node_get_param(n, i);
        const int at = p.set ? op_param_index(row, p.name) : -1;
        if (at < 0)
            continue;
        const enum dtype dtype = row->params[at].dtype;
        if (!p.is_tensor && dtype != DT_NONE && dtype != DT_STRING && p.dtype != DT_STRING) {
            const double value = dtype_is_float(p.dtype) ? p.f : (double)p.i;
            p.f = value;
            p.i = (int64_t)value;
            p.dtype = dtype;
        }
        p.name = row->params[at].name;
        build_param(b, &p);
    }
}

static const struct node *twin_node(struct arena *arena, struct diags *diags, const struct twin_of *s,
                                    const struct op *row, struct graph *g)
{
    struct build b;
    tensor_id outs[255];
    const struct node *n = s->made->node;
    tensor_id *in = arena_array(arena, tensor_id, n->n_inputs);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        in[i] = twin_input(arena, g, s, i);
    build_init(&b, g, diags);
    build_row(&b, row, "twin");
    for (uint32_t i = 0; i < n->n_inputs; i++)
        build_in(&b, in[i]);
    give_params(&b, row, n);
    if (build_end_n(&b, NULL, n->n_outputs, outs) != ODLC_OK)
        return NULL;
    return graph_producer(g, outs[0]);
}

static bool same_types(const struct twin_of *s, const struct graph *g, const struct node *twin)
{
    for (uint32_t i = 0; i < twin->n_outputs; i++) {
        const struct type *type = graph_tensor(g, twin->outputs[i])->type;
        const struct buffer *own = &s->gives.list[i];
        if (own->dtype == DT_NONE || !shape_equal(&type->shape, &own->shape) || type->dtype != twin_type(own->dtype))
            return false;
    }
    return true;
}

static bool evaluate(struct arena *arena, struct diags *diags, const struct twin_of *s, const struct graph *g,
                     const struct node *twin, struct buffer *out)
{
    struct buffer *in = arena_array(arena, struct buffer, twin->n_inputs);
    for (uint32_t i = 0; i < twin->n_inputs; i++)
        if (twin->inputs[i] != NO_TENSOR) {
            const enum dtype dtype = graph_tensor(g, twin->inputs[i])->type->dtype;
            in[i] = s->inputs[i].dtype == dtype ? s->inputs[i] : buffer_widen(&s->inputs[i], dtype, arena);
        }
    for (uint32_t i = 0; i < twin->n_outputs; i++) {
        const struct type *type = graph_tensor(g, twin->outputs[i])->type;
        out[i] = (struct buffer){.dtype = type->dtype, .shape = type->shape};
        out[i].data = arena_calloc(arena, shape_count(&type->shape), dtype_size(type->dtype));
    }
    return eval_node(twin, in, out, arena, diags) == ODLC_OK;
}

void native_twin_compare(struct arena *arena, struct contained *c, const struct twin_of *s, const char *native)
{
    struct diags diags;
    const struct op *row = op_find(native);
    struct graph *g = graph_create(arena, "twin");
    diags_init(&diags, arena);
    const struct node *twin = row ? twin_node(arena, &diags, s, row, g) : NULL;
    struct buffer *out = twin ? arena_array(arena, struct buffer, twin->n_outputs) : NULL;
    if (!twin || !same_types(s, g, twin) || !evaluate(arena, &diags, s, g, twin, out)) {
        contained_found(c, "kernel-not-compared", NULL, "cannot be compared with native operator %s: %s (%s)", native,
                        !row                              ? "there is none of that name"
                        : twin && !same_types(s, g, twin) ? "its outputs are of other types or shapes"
                                                          : problem_of(&diags),
                        s->made->label);
        return;
    }
    for (uint32_t i = 0; i < twin->n_outputs; i++)
        outputs_compare(c, arena, &s->gives, i, &out[i], &s->gives.list[i], s->tolerance,
                        arena_printf(arena, "native operator %s", native));
}
