/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors are in fast memory (TCM) during which steps: a simulation, since all memory here is one.
 *
 * Values are placed in the order of the steps, without a look ahead. Where a kernel then needs more than there is left,
 * values that it does not use are sent to DDR from their beginning on, and all is placed again. */
#include <string.h>

#include "plugin/blocked_layout.h"
#include "plugin/plugin_prepare.h"

struct placing {
    struct preparation *p;
    uint64_t used;         /* by values that live there */
    VEC(uint32_t) living;  /* these: of those that lie in the same memory, the first one */
    const uint32_t *owner; /* per value: the first one that lies in the same memory */
    uint32_t *kept;        /* per value: bits of where it may be */
    bool all_fast;         /* every operand that counts was */
    bool changed;          /* a value was sent away */
    uint32_t cluster;
};

enum { FAST_ALONE = 1, SLOW_ALONE = 2, SENT_AWAY = 4 /* of an owner */ };

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

/* A tile has one block at least; of the first output the smallest shape is known. */
static uint64_t least_bytes(const struct plugin_step *step, uint32_t i, const struct value *v, const QHPI_Shape *finest)
{
    QHPI_OutputDef def = v->op->outputs[v->output];
    if (!layout_is_blocked(v->layout))
        return 0;
    def.shape = *finest;
    return i == step->n_inputs ? layout_bytes(&def, v->layout) : (uint64_t)BLOCK_BYTES;
}

struct operand_bytes step_operand_bytes(const struct preparation *p, const struct plugin_step *step,
                                        const QHPI_Shape *finest, bool forced)
{
    struct operand_bytes bytes = {0, 0};
    for (uint32_t i = 0; i < step->n_inputs + step->n_outputs; i++) {
        bool counts = step->inputs[i] != NO_VALUE && !(step->choice && step->choice->slow_alone[i]) &&
                      (!forced || (step->choice && step->choice->fast_alone[i]));
        for (uint32_t k = 0; k < i && counts; k++)
            counts = step->inputs[k] == NO_VALUE || value_owner(p, step->inputs[k]) != value_owner(p, step->inputs[i]);
        if (!counts)
            continue;
        bytes.now += p->values.data[step->inputs[i]].bytes;
        bytes.least += least_bytes(step, i, &p->values.data[step->inputs[i]], finest);
    }
    return bytes;
}

/* Room for what the step makes. */
static void place_outputs(struct placing *c, struct plugin_step *step, uint32_t number)
{
    for (uint32_t i = 0; i < step->n_outputs; i++) {
        struct value *v = &c->p->values.data[step->outputs[i]];
        if (v->first != number)
            continue;
        const uint32_t kept = c->kept[step->outputs[i]], owner = c->owner[step->outputs[i]];
        const bool takes_over = v->shares != NO_VALUE && !c->p->values.data[v->shares].is_slow;
        const uint64_t more = takes_over ? 0 : v->bytes;
        v->is_slow = is_at_home_in_ddr(v) || (kept & SLOW_ALONE) || (c->kept[owner] & SENT_AWAY) ||
                     (c->used + more > c->p->options.fast_memory && !(kept & FAST_ALONE));
        if (v->is_slow || takes_over)
            continue;
        c->used += more;
        vec_push(c->p->arena, &c->living, owner);
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
    if (step->fast_bytes > c->p->options.fast_memory && counts(c, step))
        c->all_fast = false;
    if (step->fast_bytes + direct > c->p->needed && counts(c, step))
        c->p->needed = step->fast_bytes + direct;
    if (step->fast_bytes > c->p->peak && (c->cluster == 0 || counts(c, step)))
        c->p->peak = step->fast_bytes;
}

/* The step's first output goes on in the value's memory. */
static bool is_taken_over(const struct preparation *p, const struct plugin_step *step, uint32_t value)
{
    const struct value *out = step->n_outputs ? &p->values.data[step->outputs[0]] : NULL;
    return out && out->shares == value && !out->is_slow;
}

static void forget(struct placing *c, uint32_t owner)
{
    for (size_t i = 0; i < c->living.count; i++)
        if (c->living.data[i] == owner) {
            c->living.data[i] = c->living.data[--c->living.count];
            c->used -= c->p->values.data[owner].bytes;
            return;
        }
}

static void end_values(struct placing *c, const struct plugin_step *step, uint32_t number)
{
    for (uint32_t i = 0; i < step->n_inputs + step->n_outputs; i++) {
        const uint32_t id = step->inputs[i];
        const struct value *v = id == NO_VALUE ? NULL : &c->p->values.data[id];
        if (v && v->last == number && !v->is_slow && !is_taken_over(c->p, step, id))
            forget(c, c->owner[id]);
    }
}

/* ---- making room ---- */

static bool is_used(const struct placing *c, uint32_t owner, const struct plugin_step *step)
{
    for (uint32_t i = 0; i < step->n_inputs + step->n_outputs; i++)
        if (step->inputs[i] != NO_VALUE && c->owner[step->inputs[i]] == owner)
            return true;
    return false;
}

/* The largest of the living values that the step does not use. */
static uint32_t find_idle(const struct placing *c, const struct plugin_step *step)
{
    const struct value *values = c->p->values.data;
    uint32_t largest = NO_VALUE;
    for (size_t i = 0; i < c->living.count; i++) {
        const uint32_t owner = c->living.data[i];
        if (!is_used(c, owner, step) && (largest == NO_VALUE || values[owner].bytes > values[largest].bytes))
            largest = owner;
    }
    return largest;
}

static void make_room(struct placing *c, struct plugin_step *step)
{
    uint32_t idle;
    while (step->fast_bytes > c->p->options.fast_memory && (idle = find_idle(c, step)) != NO_VALUE) {
        step->fast_bytes -= c->p->values.data[idle].bytes;
        c->kept[idle] |= SENT_AWAY;
        c->changed = true;
        forget(c, idle);
        for (size_t i = 0; i < c->p->values.count; i++)
            if (c->owner[i] == idle)
                c->p->values.data[i].is_slow = true;
    }
}

static void place_all(struct placing *c)
{
    struct preparation *p = c->p;
    c->used = p->peak = p->needed = 0;
    c->living.count = 0;
    c->all_fast = true;
    c->changed = false;
    for (size_t i = 0; i < p->values.count; i++)
        p->values.data[i].is_slow = is_at_home_in_ddr(&p->values.data[i]);
    for (uint32_t k = 0; k < p->steps.count; k++) {
        place_outputs(c, &p->steps.data[k], k);
        load_operands(c, &p->steps.data[k]);
        if (p->steps.data[k].kind == PLUGIN_KERNEL)
            make_room(c, &p->steps.data[k]);
        end_values(c, &p->steps.data[k], k);
    }
}

static const uint32_t *owners_of(const struct preparation *p)
{
    uint32_t *owners = arena_array(p->arena, uint32_t, p->values.count);
    for (uint32_t i = 0; i < p->values.count; i++)
        owners[i] = value_owner(p, i);
    return owners;
}

bool prepare_placement(struct preparation *p, uint32_t cluster)
{
    struct placing c = {.p = p, .owner = owners_of(p), .cluster = cluster};
    c.kept = arena_array(p->arena, uint32_t, p->values.count);
    note_signatures(&c);
    do
        place_all(&c);
    while (c.changed);
    return c.all_fast;
}
