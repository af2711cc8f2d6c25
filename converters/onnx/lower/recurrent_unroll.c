/* SPDX-License-Identifier: Apache-2.0 */
/* LSTM, GRU and RNN as nodes for every step, where no layer of the container means the same. */
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/recurrent.h"

/* More nodes than this for one direction help nobody. */
enum { UNROLL_LIMIT = 4000 };

/* ---- what cells are made of ---- */

tensor_id recurrent_gate(struct emit *s, const struct recurrent_cell *cell, tensor_id sums, uint32_t gate)
{
    int64_t units = cell->r->units;
    if (s->status != ODLC_OK || build_type(s->l->b, sums)->shape.dims[1] == units)
        return sums;
    return emit_slice(s, sums, 1, gate * units, (gate + 1) * units);
}

/* The specification clips "the input of activations". The runtimes agree that these are the sums of the gates, and not
 * the cell's state, to which the last function of LSTM is applied. */
tensor_id recurrent_gate_value(struct emit *s, const struct recurrent_cell *cell, uint32_t function, tensor_id sum)
{
    double clip = cell->r->clip;
    return recurrent_activate(s, &cell->functions[function], clip > 0 ? emit_clamp(s, sum, -clip, clip) : sum);
}

/* ---- lengths ---- */

enum reach { REACHED_BY_NONE, REACHED_BY_SOME, REACHED_BY_ALL };

struct unrolling {
    struct emit s;
    const struct recurrent_cell *cell;
    tensor_id sums;       /* x · Wᵀ + biases of all steps */
    tensor_id lengths;    /* [batch, 1], or NO_TENSOR */
    const int64_t *known; /* the lengths where they are constant */
    tensor_id zeros;      /* [batch, units] */
    struct recurrent_result state;
    tensor_id *outputs; /* the state after each step, by time */
};

/* Which items of the batch have more than `step` steps. */
static enum reach reach_of(const struct unrolling *u, int64_t step)
{
    int64_t count = 0, batch = u->cell->r->batch;
    if (u->lengths == NO_TENSOR)
        return REACHED_BY_ALL;
    if (!u->known)
        return REACHED_BY_SOME;
    for (int64_t i = 0; i < batch; i++)
        count += u->known[i] > step;
    return count == 0 ? REACHED_BY_NONE : count == batch ? REACHED_BY_ALL : REACHED_BY_SOME;
}

static tensor_id is_reached(struct unrolling *u, int64_t step)
{
    tensor_id at = emit_scalar(&u->s, u->lengths, (double)step);
    return emit_binary(&u->s, OP_ElementWiseGreater, u->lengths, at);
}

/* ---- steps ---- */

static tensor_id zeros_of(struct lower *l, const struct recurrent *r, const struct shape *shape)
{
    enum dtype dtype = build_type(l->b, r->x)->dtype;
    struct view view = view_splat_float(l->arena, dtype, shape, 0);
    return graph_add_constant(l->b->graph, step_name(l, "zeros"), dtype, &view);
}

/* The biases that go to the sums before a step: all but that of GRU's last gate where the reset gate weighs it, too. */
static tensor_id bias_of_sums(struct emit *s, const struct recurrent_cell *cell, uint32_t direction)
{
    const struct recurrent *r = cell->r;
    uint32_t gates = r->kind->gates, of_state = cell->bias == NO_TENSOR ? gates : gates - 1;
    tensor_id input = recurrent_bias(s, r, false, direction, 0, gates);
    tensor_id state = recurrent_bias(s, r, true, direction, 0, of_state);
    if (of_state < gates)
        state = emit_concat(s, (const tensor_id[]){state, zeros_of(s->l, r, &SHAPE(r->units))}, 2, 0);
    return r->bias == NO_TENSOR ? NO_TENSOR : emit_binary(s, OP_ElementWiseAdd, input, state);
}

/* The product with the input for all steps at once: [steps · batch, gates · units], or with batch_first
 * [batch, steps · gates · units]. */
static tensor_id sums_of_input(struct emit *s, const struct recurrent_cell *cell, uint32_t direction)
{
    const struct recurrent *r = cell->r;
    uint32_t gates = r->kind->gates;
    struct shape rows = SHAPE(r->steps * r->batch, r->in), by_item = SHAPE(r->batch, r->steps * gates * r->units);
    tensor_id x = emit_reshape(s, r->x, &rows), bias = bias_of_sums(s, cell, direction);
    tensor_id sums = emit_matmul(s, x, recurrent_weights(s, r, false, direction, 0, gates, "all"), false, true);
    if (bias != NO_TENSOR)
        sums = emit_binary(s, OP_ElementWiseAdd, sums, bias);
    return r->batch_first ? emit_reshape(s, sums, &by_item) : sums;
}

static void run_step(struct unrolling *u, int64_t t)
{
    const struct recurrent *r = u->cell->r;
    int64_t width = r->batch_first ? r->kind->gates * r->units : r->batch;
    enum reach reach = reach_of(u, t);
    if (reach == REACHED_BY_NONE) {
        u->outputs[t] = u->zeros;
        return;
    }
    struct recurrent_result before = u->state;
    tensor_id sums = emit_slice(&u->s, u->sums, r->batch_first, t * width, (t + 1) * width);
    u->cell->step(&u->s, u->cell, sums, &u->state);
    u->outputs[t] = u->state.h;
    if (reach == REACHED_BY_ALL)
        return;
    tensor_id reached = is_reached(u, t);
    u->outputs[t] = emit_select(&u->s, reached, u->state.h, u->zeros);
    u->state.h = emit_select(&u->s, reached, u->state.h, before.h);
    if (before.c != NO_TENSOR)
        u->state.c = emit_select(&u->s, reached, u->state.c, before.c);
}

static odlc_status refuse_size(const struct unrolling *u)
{
    const char *hint = NULL;
    if (u->cell->r->kind->has_layer)
        hint = "only default activations without clip, input_forget and sequence_lens need no unrolling";
    return lower_unsupported(u->s.l, NULL, hint, "its %lld steps would be unrolled to more than %d nodes",
                             (long long)u->cell->r->steps, UNROLL_LIMIT);
}

static odlc_status run_steps(struct unrolling *u, bool reverse)
{
    int64_t steps = u->cell->r->steps;
    const struct graph *g = u->s.l->b->graph;
    size_t before = g->order.count;
    if (steps > UNROLL_LIMIT)
        return refuse_size(u);
    for (int64_t i = 0; i < steps; i++) {
        run_step(u, reverse ? steps - 1 - i : i);
        TRY(u->s.status);
        if (g->order.count - before > UNROLL_LIMIT)
            return refuse_size(u);
    }
    return ODLC_OK;
}

/* The states of items without a single step are 0. */
static void clear_empty(struct unrolling *u)
{
    enum reach reach = reach_of(u, 0);
    if (reach == REACHED_BY_ALL)
        return;
    tensor_id reached = is_reached(u, 0);
    u->state.h = emit_select(&u->s, reached, u->state.h, u->zeros);
    if (u->state.c != NO_TENSOR)
        u->state.c = emit_select(&u->s, reached, u->state.c, u->zeros);
}

odlc_status recurrent_unroll(struct lower *l, const struct recurrent_cell *cell, uint32_t direction,
                             struct recurrent_result *out)
{
    const struct recurrent *r = cell->r;
    struct unrolling u = {.s = {.l = l}, .cell = cell, .lengths = NO_TENSOR, .state = *out};
    struct shape column = SHAPE(r->batch, 1);
    struct shape all = r->batch_first ? SHAPE(r->batch, r->steps, r->units) : SHAPE(r->steps, r->batch, r->units);
    uint64_t count;
    if (r->lengths != NO_TENSOR)
        u.lengths = emit_reshape(&u.s, r->lengths, &column);
    u.known = build_const_as_ints(l->b, u.lengths, &count);
    u.zeros = zeros_of(l, r, &SHAPE(r->batch, r->units));
    if (u.state.h == NO_TENSOR)
        u.state.h = u.zeros;
    if (r->kind->has_cell && u.state.c == NO_TENSOR)
        u.state.c = u.zeros;
    u.sums = sums_of_input(&u.s, cell, direction);
    u.outputs = arena_array(l->arena, tensor_id, (size_t)r->steps);
    TRY(run_steps(&u, r->reverse[direction]));
    clear_empty(&u);
    tensor_id y = emit_concat(&u.s, u.outputs, (uint32_t)r->steps, r->batch_first);
    *out = u.state;
    out->y = emit_reshape(&u.s, y, &all);
    return u.s.status;
}
