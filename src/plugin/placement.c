/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors are in fast memory (TCM) during which steps: a simulation, since all memory here is one. */
#include <string.h>

#include "plugin/plugin_prepare.h"

struct placing {
    struct preparation *p;
    uint64_t used;  /* by values that live there */
    uint32_t *kept; /* values that must not be in DDR, as a bit: 1 … or not in TCM: 2 */
    bool all_fast;  /* every operand that counts was */
    uint32_t cluster;
};

enum { FAST_ALONE = 1, SLOW_ALONE = 2 };

static void note_signatures(struct placing *c)
{
    for (size_t k = 0; k < c->p->steps.count; k++) {
        const struct plugin_step *step = &c->p->steps.data[k];
        for (uint32_t i = 0; step->choice && i < step->n_inputs + step->n_outputs; i++)
            if (step->inputs[i] != NO_VALUE)
                c->kept[step->inputs[i]] |=
                    (step->choice->fast_alone[i] ? FAST_ALONE : 0) | (step->choice->slow_alone[i] ? SLOW_ALONE : 0);
    }
}

/* Graph inputs, results, constants, whole tensors of tiled ops and what the reference computes are DDR's. */
static bool is_at_home_in_ddr(const struct value *v)
{
    return v->is_outer || v->op->kind == KIND_NATIVE || (v->op->kind == KIND_CONCAT && !v->op->is_part);
}

static bool counts(const struct placing *c, const struct plugin_step *step)
{
    const struct tiled *t = graph_tiled(step->op);
    return step->kind == PLUGIN_KERNEL && (c->cluster == 0 || (t && t->cluster == c->cluster));
}

/* Room for what the step makes. */
static void place_outputs(struct placing *c, struct plugin_step *step, uint32_t number)
{
    for (uint32_t i = 0; i < step->n_outputs; i++) {
        struct value *v = &c->p->values.data[step->outputs[i]];
        if (v->first != number)
            continue;
        const bool takes_over = v->shares != NO_VALUE && !c->p->values.data[v->shares].is_slow;
        const uint64_t more = takes_over ? 0 : v->bytes;
        v->is_slow = is_at_home_in_ddr(v) || (c->kept[step->outputs[i]] & SLOW_ALONE) ||
                     (c->used + more > c->p->options.fast_memory && !(c->kept[step->outputs[i]] & FAST_ALONE));
        if (!v->is_slow)
            c->used += more;
        else if (!is_at_home_in_ddr(v) && counts(c, step))
            c->all_fast = false;
    }
}

/* Operands of DDR are loaded for the step, and results stored behind it, as far as there is room. */
static void load_operands(struct placing *c, struct plugin_step *step)
{
    uint64_t loaded = 0, direct = 0;
    step->n_direct = 0;
    for (uint32_t i = 0; step->kind == PLUGIN_KERNEL && i < step->n_inputs + step->n_outputs; i++) {
        if (step->inputs[i] == NO_VALUE || !c->p->values.data[step->inputs[i]].is_slow)
            continue;
        const struct value *v = &c->p->values.data[step->inputs[i]];
        const bool slow_alone = step->choice && step->choice->slow_alone[i],
                   fast_alone = step->choice && step->choice->fast_alone[i];
        if (fast_alone || (!slow_alone && c->used + loaded + v->bytes <= c->p->options.fast_memory)) {
            loaded += v->bytes;
            continue;
        }
        step->n_direct++;
        direct += slow_alone ? 0 : v->bytes;
        if (counts(c, step) && !slow_alone)
            c->all_fast = false;
    }
    step->fast_bytes = c->used + loaded;
    if (step->fast_bytes > c->p->options.fast_memory)
        c->all_fast = false;
    if (step->fast_bytes + direct > c->p->needed && counts(c, step))
        c->p->needed = step->fast_bytes + direct;
    if (step->fast_bytes > c->p->peak && (c->cluster == 0 || counts(c, step)))
        c->p->peak = step->fast_bytes;
}

static bool is_taken_over(const struct preparation *p, const struct plugin_step *step, uint32_t value)
{
    return step->n_outputs && step->outputs[0] != NO_VALUE && p->values.data[step->outputs[0]].shares == value;
}

static void end_values(struct placing *c, const struct plugin_step *step, uint32_t number)
{
    for (uint32_t i = 0; i < step->n_inputs + step->n_outputs; i++) {
        const uint32_t id = step->inputs[i];
        struct value *v = id == NO_VALUE ? NULL : &c->p->values.data[id];
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again |= step->inputs[k] == id;
        if (v && !again && v->last == number && !v->is_slow && !is_taken_over(c->p, step, id))
            c->used -= v->bytes;
    }
}

bool prepare_placement(struct preparation *p, uint32_t cluster)
{
    struct placing c = {.p = p, .all_fast = true, .cluster = cluster};
    c.kept = arena_array(p->arena, uint32_t, p->values.count);
    p->peak = p->needed = 0;
    note_signatures(&c);
    for (size_t i = 0; i < p->values.count; i++)
        p->values.data[i].is_slow = is_at_home_in_ddr(&p->values.data[i]);
    for (uint32_t k = 0; k < p->steps.count; k++) {
        place_outputs(&c, &p->steps.data[k], k);
        load_operands(&c, &p->steps.data[k]);
        end_values(&c, &p->steps.data[k], k);
    }
    return c.all_fast;
}
