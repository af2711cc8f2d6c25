/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_loop.h"

#include "op/axes.h"

static struct buffer operand_at(const struct cpu_step *step, uint32_t place, const struct buffer *in,
                                const struct buffer *out)
{
    if (place == PLACE_ABSENT)
        return (struct buffer){.dtype = DT_NONE};
    return place < step->io.n_inputs ? in[place] : out[place - step->io.n_inputs];
}

struct loop_operands loop_operands(const struct cpu_step *step, const struct backend_scope *scope,
                                   const struct buffer *in, const struct buffer *out)
{
    const struct node *n = step->node;
    const uint32_t *place = step->io.places;
    struct loop_operands o = {arena_array(scope->scratch, struct buffer, n->n_inputs),
                              arena_array(scope->scratch, struct buffer, n->n_outputs)};
    for (uint32_t i = 0; i < n->n_inputs; i++, place++)
        o.in[i] = *place == PLACE_CONSTANT ? step->constants[i] : operand_at(step, *place, in, out);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        o.out[i] = operand_at(step, *place++, in, out);
    return o;
}

static odlc_status prepare_constants(struct cpu_making *m, cpu_loop_fn *loop, bool as_floats)
{
    const struct node *n = m->step->node;
    m->step->loop = loop;
    m->step->constants = arena_array(m->scope->arena, struct buffer, n->n_inputs);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (m->step->io.places[i] == PLACE_CONSTANT)
            m->step->constants[i] =
                as_floats ? making_kept_constant(m, n->inputs[i]) : m->scope->constants[n->inputs[i]];
    return ODLC_OK;
}

odlc_status loop_prepare(struct cpu_making *m, cpu_loop_fn *loop)
{
    return prepare_constants(m, loop, true);
}

odlc_status loop_prepare_plain(struct cpu_making *m, cpu_loop_fn *loop)
{
    return prepare_constants(m, loop, false);
}

bool axes_stretch(const struct node *n, const struct shape *x, uint32_t *first, uint32_t *end)
{
    uint32_t axes;
    if (!node_axes(n, x->rank, &axes))
        return false;
    for (*first = 0; *first < x->rank && (!(axes >> *first & 1) || x->dims[*first] == 1);)
        ++*first;
    for (*end = *first; *end < x->rank && (axes >> *end & 1 || x->dims[*end] == 1);)
        ++*end;
    for (uint32_t i = *end; i < x->rank; i++)
        if (axes >> i & 1 && x->dims[i] != 1)
            return false;
    return true;
}
