/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/instance.h"

#include <dlfcn.h>
#include <string.h>

static enum dtype dtype_of(const QnnCpuOpPackage_Tensor_t *t)
{
    return dtype_from_dlc((uint32_t)t->dataType);
}

static uint64_t count_of(const QnnCpuOpPackage_Tensor_t *t)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < t->rank; i++)
        count *= t->currentDimensions[i];
    return count;
}

static size_t size_of(const QnnCpuOpPackage_Tensor_t *t)
{
    return (size_t)count_of(t) * dtype_size(dtype_of(t));
}

/* ---- operands ---- */

static bool is_activation(const struct instance *s, uint32_t i)
{
    const tensor_id id = s->made->node->inputs[i];
    return id != NO_TENSOR && graph_tensor(s->made->graph, id)->kind != TENSOR_STATIC;
}

static void fill(const QnnCpuOpPackage_Tensor_t *t, uint64_t seed)
{
    const enum dtype dtype = dtype_of(t);
    for (uint64_t i = 0; i < count_of(t); i++) {
        const double value = made_value(seed, i, dtype_is_float(dtype));
        if (dtype == DT_FLOAT32)
            ((float *)t->data)[i] = (float)value;
        else if (dtype == DT_FLOAT64)
            ((double *)t->data)[i] = value;
        else
            ((uint8_t *)t->data)[i * dtype_size(dtype)] = (uint8_t)value; /* 0 or 1, of any width */
    }
}

void instance_fill_inputs(struct instance *s, uint64_t seed)
{
    for (uint32_t i = 0; i < s->made->node->n_inputs; i++)
        if (is_activation(s, i)) {
            guarded_seal(s->inputs[i], false);
            fill(&s->op->inputs[i], seed + i);
            guarded_seal(s->inputs[i], true);
        }
}

static struct guarded *take(struct arena *arena, const char *name, QnnCpuOpPackage_Tensor_t *t, bool at_end)
{
    struct guarded *g = guarded_take(arena, name, size_of(t), at_end);
    if (t->data && g->size)
        memcpy(g->data, t->data, g->size);
    t->data = g->data;
    return g;
}

static void take_operands(struct arena *arena, struct instance *s, bool at_end)
{
    const struct node *n = s->made->node;
    s->inputs = arena_array(arena, struct guarded *, n->n_inputs);
    s->outputs = arena_array(arena, struct guarded *, n->n_outputs);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_TENSOR) {
            s->inputs[i] = take(arena, arena_printf(arena, "input %u", i), &s->op->inputs[i], at_end);
            guarded_seal(s->inputs[i], true);
        }
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            s->outputs[i] = take(arena, arena_printf(arena, "output %u", i), &s->op->outputs[i], at_end);
    for (uint32_t i = 0; i < s->op->node.numOfParams; i++) {
        QnnCpuOpPackage_Param_t *p = s->op->node.params[i];
        if (p->tensorParam && size_of(p->tensorParam))
            guarded_seal(take(arena, arena_printf(arena, "param '%s'", p->name), p->tensorParam, at_end), true);
    }
}

/* Operands as the kernel gets them. */
static struct buffer *describe(struct arena *arena, const struct instance *s, const tensor_id *ids, uint32_t count,
                               const QnnCpuOpPackage_Tensor_t *tensors)
{
    struct buffer *out = arena_array(arena, struct buffer, count);
    for (uint32_t i = 0; i < count; i++)
        out[i] = ids[i] == NO_TENSOR ? (struct buffer){.dtype = DT_NONE}
                                     : (struct buffer){.dtype = dtype_of(&tensors[i]),
                                                       .shape = graph_tensor(s->made->graph, ids[i])->type->shape,
                                                       .data = tensors[i].data};
    return out;
}

/* ---- the op ---- */

bool instance_make(struct arena *arena, struct package *package, const struct made_node *made, uint64_t seed,
                   bool at_end, struct instance *out, struct op_refusal *why)
{
    *out = (struct instance){.package = package, .made = made};
    out->op = op_node_make(arena, made->graph, made->node, package_name(package),
                           registration_operation(&package->registration, made->node->op->name), made->constants);
    take_operands(arena, out, at_end);
    out->in = describe(arena, out, made->node->inputs, made->node->n_inputs, out->op->inputs);
    out->out = describe(arena, out, made->node->outputs, made->node->n_outputs, out->op->outputs);
    out->gives = (struct outputs){out->out, made->node->n_outputs, made->label};
    instance_fill_inputs(out, seed);
    return op_create(package, out->op, &out->impl, why);
}

void instance_free(struct instance *s)
{
    if (s->impl)
        s->package->functions.freeOpImpl(s->impl);
    s->impl = NULL;
}

Qnn_ErrorHandle_t instance_execute(struct instance *s, uint8_t byte)
{
    for (uint32_t i = 0; i < s->made->node->n_outputs; i++)
        if (s->outputs[i])
            memset(s->outputs[i]->data, byte, s->outputs[i]->size);
    return s->impl->opImplFn(s->impl->userData);
}

/* ---- what it gives ---- */

void instance_copy_outputs(const struct instance *s, uint8_t *to)
{
    for (uint32_t i = 0; i < s->made->node->n_outputs; i++)
        if (s->outputs[i]) {
            memcpy(to, s->outputs[i]->data, s->outputs[i]->size);
            to += s->outputs[i]->size;
        }
}

/* ---- memory requests ---- */

static uint64_t (*counter(void))(int)
{
    uint64_t (*count)(int) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "odlc_count_allocations");
    memcpy(&count, &symbol, sizeof symbol);
    return count;
}

bool allocations_begin(void)
{
    uint64_t (*count)(int) = counter();
    if (count)
        count(1);
    return count != NULL;
}

uint64_t allocations_end(void)
{
    uint64_t (*count)(int) = counter();
    return count ? count(0) : 0;
}
