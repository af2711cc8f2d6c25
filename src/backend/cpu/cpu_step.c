/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_step.h"

#include "backend/cpu/cpu_fixed.h"

/* ---- operands ---- */

bool cpu_is_real(const struct tensor *t)
{
    return t &&
           (t->type->dtype == DT_FLOAT32 || t->type->dtype == DT_FLOAT16 ||
            (t->kind == TENSOR_STATIC && dtype_is_fixed(t->type->dtype)) || fixed_is_taken(t->type->dtype, t->quant));
}

bool cpu_is_constant(const struct graph *g, const struct node *n, uint32_t i)
{
    const struct tensor *t = node_input(g, n, i);
    return t && t->kind == TENSOR_STATIC && (dtype_is_float(t->type->dtype) || dtype_is_fixed(t->type->dtype));
}

bool cpu_gives_floats(const struct graph *g, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (node_output(g, n, i) && !dtype_is_float(node_output(g, n, i)->type->dtype))
            return false;
    return true;
}

const char *cpu_refuse_types(const struct graph *g, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (node_input(g, n, i) && !cpu_is_real(node_input(g, n, i)))
            return "it takes float32, float16, and 8- and 16-bit fixed-point tensors alone";
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (node_output(g, n, i) &&
            (!cpu_is_real(node_output(g, n, i)) || shape_count(&node_output(g, n, i)->type->shape) == 0))
            return "it gives float32, float16, and 8- and 16-bit fixed-point tensors alone, and none without elements";
    return NULL;
}

void *cpu_sums(const struct cpu_step *step)
{
    return (char *)step->cpu->workspace + step->reals_size;
}

void *cpu_bytes(const struct cpu_step *step)
{
    return (char *)cpu_sums(step) + step->bytes_at;
}

void *cpu_scratchpad(const struct cpu_step *step)
{
    return (char *)cpu_sums(step) + step->sums_size;
}

/* ---- making ---- */

size_t cpu_aligned(size_t size)
{
    return (size + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT;
}

void making_need(const struct cpu_making *m, size_t scratchpad)
{
    const size_t size = m->step->reals_size + m->step->sums_size + scratchpad;
    if (size > m->cpu->workspace_size)
        m->cpu->workspace_size = size;
}

void making_need_bytes(const struct cpu_making *m, uint64_t sums, uint64_t bytes)
{
    m->step->bytes_at = cpu_aligned(sums * sizeof(int32_t));
    m->step->sums_size = m->step->bytes_at + cpu_aligned(bytes);
    making_need(m, 0);
}

void making_need_sums(const struct cpu_making *m, uint64_t count)
{
    making_need_bytes(m, count, 0);
}

const struct node *making_node(const struct cpu_making *m)
{
    return graph_node(m->scope->graph, m->group->nodes.data[0]);
}

uint32_t making_input(const struct cpu_making *m, uint32_t node, uint32_t i)
{
    const uint32_t *places = m->step->io.places;
    for (uint32_t k = 0; k < node; k++) {
        const struct node *n = graph_node(m->scope->graph, m->group->nodes.data[k]);
        places += n->n_inputs + n->n_outputs;
    }
    return places[i];
}

uint32_t making_result(const struct cpu_making *m)
{
    return m->step->io.n_inputs;
}

struct buffer making_constant(const struct cpu_making *m, uint32_t i)
{
    const struct node *n = making_node(m);
    if (i >= n->n_inputs || n->inputs[i] == NO_TENSOR)
        return (struct buffer){.dtype = DT_NONE};
    return buffer_widen(&m->scope->constants[n->inputs[i]], DT_FLOAT32, m->scope->scratch);
}

struct buffer making_kept_constant(const struct cpu_making *m, tensor_id id)
{
    return buffer_widen(&m->scope->constants[id], DT_FLOAT32, m->scope->arena);
}
