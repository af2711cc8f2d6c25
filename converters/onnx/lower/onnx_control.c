/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX If, Loop and Scan. A container's graph runs straight through, so branches are taken and loops are unrolled here:
 * conditions and trip counts must be known. An If whose condition is not known computes both branches and selects. */
#include <string.h>

#include "converters/lowering/control.h"
#include "converters/lowering/emit.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- If ---- */

odlc_status lower_if(struct lower *l)
{
    tensor_id condition;
    TRY(lower_need(l, 0, "cond", &condition));
    if (shape_count(&build_type(l->b, condition)->shape) != 1)
        return lower_invalid(l, NULL, NULL, "input 0 (cond) has %s elements instead of one",
                             shape_text(l->diags->arena, &build_type(l->b, condition)->shape));
    return control_if(l, condition, NULL, 0);
}

/* ---- Loop ---- */

struct loop {
    struct lower *l;
    const struct fw_graph *body;
    uint32_t carried, scans;    /* values from trip to trip, and values collected from all trips */
    struct lower_value *values; /* of the body: the trip's number, the condition, the carried ones */
    struct lower_value *results;
    VEC(tensor_id) * collected; /* per scan output */
};

/* A scan output without a trip: its shape is known by its declaration alone. */
static odlc_status no_trips(struct lower *l, const struct fw_value *v, tensor_id *out)
{
    struct shape shape = {.rank = v->rank + 1};
    bool known = v->has_shape && v->dtype != DT_NONE && shape.rank <= MAX_RANK;
    for (uint32_t i = 0; known && i < v->rank; i++) {
        shape.dims[i + 1] = v->dims[i];
        known = v->dims[i] != DIM_OPEN;
    }
    if (!known)
        return lower_unsupported(l, NULL, NULL, "the loop makes no trip, and the shape of %s is not declared", v->name);
    *out = lower_splat(l, step_name(l, "nothing"), v->dtype, &shape, 0);
    return ODLC_OK;
}

static odlc_status start_loop(struct lower *l, struct loop *loop)
{
    *loop = (struct loop){.l = l};
    TRY(lower_attr_graph(l, "body", &loop->body));
    size_t n_in = loop->body->inputs.count, n_out = loop->body->outputs.count;
    if (n_in < 2 || l->node->n_inputs != n_in)
        return lower_invalid(l, "body", NULL, "the body takes %zu inputs, the node has %u", n_in, l->node->n_inputs);
    loop->carried = (uint32_t)n_in - 2;
    if (n_out < (size_t)loop->carried + 1 || l->n_out > n_out - 1)
        return lower_invalid(l, "body", NULL, "the body gives %zu outputs, the node has %u", n_out, l->n_out);
    loop->scans = (uint32_t)n_out - 1 - loop->carried;
    loop->values = arena_array(l->arena, struct lower_value, n_in);
    loop->results = arena_array(l->arena, struct lower_value, n_out);
    loop->collected = arena_calloc(l->arena, loop->scans, sizeof *loop->collected);
    for (uint32_t i = 0; i < loop->carried; i++) {
        loop->values[2 + i] = l->values[2 + i];
        if (loop->values[2 + i].kind == VALUE_ABSENT)
            loop->values[2 + i].kind = VALUE_EMPTY;
    }
    return ODLC_OK;
}

static odlc_status make_trip(struct loop *loop, int64_t trip, bool go_on)
{
    struct lower *l = loop->l;
    struct shape scalar = {.rank = 0};
    int64_t condition = go_on;
    tensor_id number = build_const_ints(l->b, step_name(l, "trip"), DT_INT64, &scalar, &trip);
    tensor_id alive = build_const_ints(l->b, step_name(l, "condition"), DT_BOOL, &scalar, &condition);
    loop->values[0] = (struct lower_value){.kind = VALUE_TENSOR, .tensor = number};
    loop->values[1] = (struct lower_value){.kind = VALUE_TENSOR, .tensor = alive};
    const char *prefix = arena_printf(l->arena, "%s/%lld", l->node->name, (long long)trip);
    TRY(lower_subgraph(l, loop->body, prefix, loop->values, (size_t)loop->carried + 2, loop->results));
    memcpy(&loop->values[2], &loop->results[1], loop->carried * sizeof *loop->values);
    for (uint32_t i = 0; i < loop->scans; i++) {
        const struct lower_value *value = &loop->results[1 + loop->carried + i];
        if (value->kind != VALUE_TENSOR)
            return lower_invalid(l, "body", NULL, "output %u of the body is collected, but is no tensor",
                                 1 + loop->carried + i);
        vec_push(l->arena, &loop->collected[i], value->tensor);
    }
    return ODLC_OK;
}

static odlc_status end_loop(struct loop *loop)
{
    struct lower *l = loop->l;
    struct emit s = {.l = l};
    for (uint32_t i = 0; i < loop->carried; i++)
        control_give(l, i, &loop->values[2 + i]);
    for (uint32_t i = 0; i < loop->scans; i++) {
        tensor_id stacked;
        if (!lower_out_name(l, loop->carried + i))
            continue;
        if (loop->collected[i].count)
            stacked = emit_stack(&s, loop->collected[i].data, (uint32_t)loop->collected[i].count, 0);
        else
            TRY(no_trips(l, &loop->body->outputs.data[1 + loop->carried + i], &stacked));
        TRY(emit_give(&s, loop->carried + i, stacked));
    }
    return s.status;
}

odlc_status lower_loop(struct lower *l)
{
    struct loop loop;
    const int64_t *limit;
    uint32_t count;
    bool go_on = true;
    TRY(start_loop(l, &loop));
    odlc_status known = lower_const_ints(l, 0, "M", &limit, &count);
    if (lower_in(l, 1) != NO_TENSOR)
        TRY(control_known(l, lower_in(l, 1), "input 1 (cond)", &go_on));
    TRY(known);
    if (limit && count != 1)
        return lower_invalid(l, NULL, NULL, "input 0 (M) has %u elements instead of one", count);
    for (int64_t trip = 0; go_on && (!limit || trip < limit[0]); trip++) {
        TRY(make_trip(&loop, trip, go_on));
        bool last = limit && trip + 1 == limit[0];
        if (loop.results[0].kind != VALUE_TENSOR)
            return lower_invalid(l, "body", NULL, "the body's condition is no tensor");
        const char *what = arena_printf(l->diags->arena, "the condition after trip %lld", (long long)trip);
        if (!last)
            TRY(control_known(l, loop.results[0].tensor, what, &go_on));
    }
    return end_loop(&loop);
}

/* ---- Scan ---- */

struct scan {
    struct lower *l;
    const struct fw_graph *body;
    uint32_t states, scans, outs;
    uint32_t in_axis[64];
    const int64_t *in_directions, *out_directions, *out_axes; /* NULL: all 0 */
    int64_t length;
};

static odlc_status read_list(const struct scan *sc, const char *name, uint32_t count, const int64_t **out)
{
    uint32_t given;
    TRY(lower_attr_ints(sc->l, name, out, &given));
    if (*out && given != count)
        return lower_invalid(sc->l, name, NULL, "%s has %u entries for %u tensors", name, given, count);
    return ODLC_OK;
}

/* skip: inputs before the states (the sequence lengths of opset 8). */
static odlc_status read_scan(struct lower *l, uint32_t skip, struct scan *sc)
{
    int64_t scans;
    *sc = (struct scan){.l = l, .length = -1};
    TRY(lower_attr_graph(l, "body", &sc->body));
    TRY(lower_attr_int(l, "num_scan_inputs", -1, &scans));
    uint32_t n_in = (uint32_t)(size_t)l->node->n_inputs - skip;
    if (scans < 1 || scans > (int64_t)COUNT_OF(sc->in_axis) || scans > n_in || (size_t)l->node->n_inputs < skip)
        return lower_invalid(l, "num_scan_inputs", NULL, "%lld of %u inputs cannot be scanned", (long long)scans, n_in);
    sc->scans = (uint32_t)scans;
    sc->states = n_in - sc->scans;
    if (sc->body->inputs.count != n_in || sc->body->outputs.count < sc->states || l->n_out > sc->body->outputs.count)
        return lower_invalid(l, "body", NULL, "the body's inputs and outputs are not those of the node");
    sc->outs = (uint32_t)sc->body->outputs.count - sc->states;
    for (uint32_t i = 0; i < n_in; i++)
        if (lower_in(l, skip + i) == NO_TENSOR)
            return lower_invalid(l, NULL, NULL, "input %u is missing", skip + i);
    TRY(read_list(sc, skip ? "directions" : "scan_input_directions", sc->scans, &sc->in_directions));
    if (skip)
        return ODLC_OK;
    TRY(read_list(sc, "scan_output_directions", sc->outs, &sc->out_directions));
    return read_list(sc, "scan_output_axes", sc->outs, &sc->out_axes);
}

/* The length of the axis that is scanned is that of all. */
static odlc_status note_length(struct scan *sc, tensor_id x, uint32_t axis)
{
    int64_t dim = build_type(sc->l->b, x)->shape.dims[axis];
    if (sc->length >= 0 && sc->length != dim)
        return lower_invalid(sc->l, NULL, NULL, "the scanned axes have %lld and %lld elements", (long long)sc->length,
                             (long long)dim);
    sc->length = dim;
    return ODLC_OK;
}

/* Turns the states into the last ones, and gives the collected outputs. */
static odlc_status run_scan(const struct scan *sc, const char *prefix, struct lower_value *states,
                            const tensor_id *inputs, tensor_id *outs)
{
    struct lower *l = sc->l;
    struct emit s = {.l = l};
    uint64_t n = (uint64_t)sc->length;
    TRY(lower_check_trips(l, "steps of a scan", n));
    struct lower_value *values = arena_array(l->arena, struct lower_value, sc->body->inputs.count);
    struct lower_value *results = arena_array(l->arena, struct lower_value, sc->body->outputs.count);
    tensor_id *collected = arena_array(l->arena, tensor_id, n * sc->outs);
    if (n == 0)
        return lower_unsupported(l, NULL, NULL, "the scanned axis is empty");
    for (uint64_t t = 0; t < n; t++) {
        memcpy(values, states, sc->states * sizeof *states);
        for (uint32_t i = 0; i < sc->scans; i++) {
            uint64_t at = sc->in_directions && sc->in_directions[i] ? n - 1 - t : t;
            tensor_id x = emit_element(&s, inputs[i], sc->in_axis[i], (int64_t)at);
            values[sc->states + i] = (struct lower_value){.kind = VALUE_TENSOR, .tensor = x};
        }
        TRY(s.status);
        const char *step = arena_printf(l->arena, "%s/%llu", prefix, (unsigned long long)t);
        TRY(lower_subgraph(l, sc->body, step, values, sc->body->inputs.count, results));
        memcpy(states, results, sc->states * sizeof *states);
        for (uint32_t i = 0; i < sc->outs; i++) {
            uint64_t at = sc->out_directions && sc->out_directions[i] ? n - 1 - t : t;
            if (results[sc->states + i].kind != VALUE_TENSOR)
                return lower_invalid(l, "body", NULL, "output %u of the body is no tensor", sc->states + i);
            collected[i * n + at] = results[sc->states + i].tensor;
        }
    }
    for (uint32_t i = 0; i < sc->outs; i++) {
        uint32_t axis = 0, rank = build_rank(l->b, collected[i * n]) + 1;
        if (sc->out_axes)
            TRY(lower_axis(l, "scan_output_axes", sc->out_axes[i], rank, &axis));
        outs[i] = emit_stack(&s, &collected[i * n], (uint32_t)n, axis);
    }
    return s.status;
}

odlc_status lower_scan(struct lower *l)
{
    struct scan sc;
    const int64_t *axes;
    struct emit s = {.l = l};
    TRY(read_scan(l, 0, &sc));
    TRY(read_list(&sc, "scan_input_axes", sc.scans, &axes));
    for (uint32_t i = 0; i < sc.scans; i++) {
        tensor_id x = l->in[sc.states + i];
        TRY(lower_axis(l, "scan_input_axes", axes ? axes[i] : 0, build_rank(l->b, x), &sc.in_axis[i]));
        TRY(note_length(&sc, x, sc.in_axis[i]));
    }
    struct lower_value *states = arena_array(l->arena, struct lower_value, sc.states);
    tensor_id *outs = arena_array(l->arena, tensor_id, sc.outs);
    memcpy(states, l->values, sc.states * sizeof *states);
    TRY(run_scan(&sc, l->node->name, states, l->in + sc.states, outs));
    for (uint32_t i = 0; i < sc.states; i++)
        control_give(l, i, &states[i]);
    for (uint32_t i = 0; i < sc.outs; i++)
        if (lower_out_name(l, sc.states + i))
            TRY(emit_give(&s, sc.states + i, outs[i]));
    return ODLC_OK;
}

/* Opset 8: everything has a batch axis first, and the scanned axis is the next. Batches are run one after another. */
odlc_status lower_scan_batched(struct lower *l)
{
    struct scan sc;
    struct emit s = {.l = l};
    TRY(read_scan(l, 1, &sc));
    if (lower_in(l, 0) != NO_TENSOR)
        return lower_unsupported(l, NULL, NULL, "sequence lengths are not supported");
    const tensor_id *in = l->in + 1;
    uint32_t n_in = sc.states + sc.scans;
    int64_t batches = -1;
    for (uint32_t i = 0; i < n_in; i++) {
        const struct shape *shape = &build_type(l->b, in[i])->shape;
        if (shape->rank < (i < sc.states ? 1u : 2u) || (batches >= 0 && shape->dims[0] != batches))
            return lower_invalid(l, NULL, NULL, "input %u has the shape %s, which lacks the batch or the scanned axis",
                                 i + 1, shape_text(l->diags->arena, shape));
        batches = shape->dims[0];
        if (i >= sc.states)
            TRY(note_length(&sc, in[i], 1));
    }
    uint32_t n_out = sc.states + sc.outs;
    TRY(lower_check_trips(l, "scans of a batch", (uint64_t)batches));
    tensor_id *results = arena_array(l->arena, tensor_id, (size_t)batches * n_out);
    struct lower_value *states = arena_array(l->arena, struct lower_value, sc.states);
    tensor_id *scans = arena_array(l->arena, tensor_id, sc.scans), *outs = arena_array(l->arena, tensor_id, sc.outs);
    for (int64_t b = 0; b < batches; b++) {
        for (uint32_t i = 0; i < sc.states; i++)
            states[i] = (struct lower_value){.kind = VALUE_TENSOR, .tensor = emit_element(&s, in[i], 0, b)};
        for (uint32_t i = 0; i < sc.scans; i++)
            scans[i] = emit_element(&s, in[sc.states + i], 0, b);
        TRY(s.status);
        TRY(run_scan(&sc, arena_printf(l->arena, "%s/%lld", l->node->name, (long long)b), states, scans, outs));
        for (uint32_t i = 0; i < n_out; i++)
            results[i * batches + b] = i < sc.states ? states[i].tensor : outs[i - sc.states];
    }
    for (uint32_t i = 0; i < l->n_out; i++)
        if (lower_out_name(l, i))
            TRY(emit_give(&s, i, emit_stack(&s, &results[i * batches], (uint32_t)batches, 0)));
    return ODLC_OK;
}
