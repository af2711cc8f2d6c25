/* SPDX-License-Identifier: Apache-2.0 */
/* Reading LSTM, GRU and RNN: attributes, shapes, and the parts of weights that belong to a direction and a gate. */
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/recurrent.h"
#include "converters/lowering/weights.h"

enum { IN_X, IN_W, IN_R, IN_BIAS, IN_LENGTHS, IN_H, IN_C, IN_PEEPHOLES };

static odlc_status read_direction(struct lower *l, struct recurrent *r)
{
    const char *direction;
    TRY(lower_attr_string(l, "direction", "forward", &direction));
    r->directions = 1;
    if (strcmp(direction, "bidirectional") == 0) {
        r->directions = 2;
        r->reverse[1] = true;
    } else if (strcmp(direction, "reverse") == 0) {
        r->reverse[0] = true;
    } else if (strcmp(direction, "forward") != 0) {
        return lower_invalid(l, "direction", "it is \"forward\", \"reverse\" or \"bidirectional\"",
                             "direction \"%s\" is not known", direction);
    }
    return ODLC_OK;
}

static odlc_status read_attributes(struct lower *l, struct recurrent *r)
{
    int64_t layout, couple, linear;
    TRY(read_direction(l, r));
    TRY(lower_attr_int(l, "layout", 0, &layout));
    TRY(lower_attr_int(l, "input_forget", 0, &couple));
    TRY(lower_attr_int(l, "linear_before_reset", 0, &linear));
    TRY(lower_attr_float(l, "clip", 0, &r->clip));
    if (layout != 0 && layout != 1)
        return lower_invalid(l, "layout", NULL, "layout is %lld instead of 0 or 1", (long long)layout);
    if (lower_has_attr(l, "clip") && !(r->clip > 0))
        return lower_invalid(l, "clip", "leave it out where nothing is clipped", "the threshold %g is not positive",
                             r->clip);
    r->batch_first = layout == 1;
    r->couple_gates = couple != 0;
    r->linear_before_reset = linear != 0;
    return recurrent_read_functions(l, r);
}

static odlc_status compare_shapes(struct lower *l, const char *what, struct shape found, struct shape wanted)
{
    if (shape_equal(&found, &wanted))
        return ODLC_OK;
    return lower_invalid(l, NULL, NULL, "%s has the shape %s instead of %s", what, shape_text(l->diags->arena, &found),
                         shape_text(l->diags->arena, &wanted));
}

static odlc_status check_shape(struct lower *l, const char *what, tensor_id id, struct shape wanted)
{
    return id == NO_TENSOR ? ODLC_OK : compare_shapes(l, what, build_type(l->b, id)->shape, wanted);
}

/* The shape of weights, which may come as the rows of all directions. */
static struct shape weights_shape(const struct lower *l, const struct recurrent *r, tensor_id id)
{
    const struct shape *shape = &build_type(l->b, id)->shape;
    if (!l->variant || shape->rank != 2)
        return *shape;
    return SHAPE(r->directions, shape->dims[0] / r->directions, shape->dims[1]);
}

static odlc_status read_extents(struct lower *l, struct recurrent *r)
{
    const struct shape *x = &build_type(l->b, r->x)->shape, weights = weights_shape(l, r, r->r), *state = &weights;
    int64_t units;
    if (x->rank != 3 || state->rank != 3)
        return lower_invalid(l, NULL, NULL, "X or R is not of rank 3");
    r->steps = x->dims[r->batch_first];
    r->batch = x->dims[!r->batch_first];
    if (r->steps == 0) /* implementations differ in what the states are then */
        return lower_unsupported(l, NULL, NULL, "a sequence without steps is not supported");
    r->in = x->dims[2];
    r->units = state->dims[2];
    TRY(lower_attr_int(l, "hidden_size", r->units, &units));
    if (units != r->units)
        return lower_invalid(l, "hidden_size", NULL, "hidden_size is %lld, but R has %lld columns", (long long)units,
                             (long long)r->units);
    return ODLC_OK;
}

static odlc_status check_operands(struct lower *l, const struct recurrent *r)
{
    int64_t rows = r->kind->gates * r->units, directions = r->directions;
    struct shape state = r->batch_first ? SHAPE(r->batch, directions, r->units) : SHAPE(directions, r->batch, r->units);
    TRY(compare_shapes(l, "W", weights_shape(l, r, r->w), SHAPE(directions, rows, r->in)));
    TRY(compare_shapes(l, "R", weights_shape(l, r, r->r), SHAPE(directions, rows, r->units)));
    TRY(check_shape(l, "B", r->bias, SHAPE(directions, 2 * rows)));
    TRY(check_shape(l, "sequence_lens", r->lengths, SHAPE(r->batch)));
    TRY(check_shape(l, "initial_h", r->h, state));
    TRY(check_shape(l, "initial_c", r->c, state));
    return check_shape(l, "P", r->peepholes, SHAPE(directions, 3 * r->units));
}

/* Lengths that all are the number of steps say nothing. */
static odlc_status check_lengths(struct lower *l, struct recurrent *r)
{
    uint64_t count;
    const int64_t *lengths = build_const_as_ints(l->b, r->lengths, &count);
    bool all = lengths != NULL;
    for (uint64_t i = 0; lengths && i < count; i++) {
        if (lengths[i] < 0 || lengths[i] > r->steps)
            return lower_invalid(l, NULL, NULL, "sequence_lens has the length %lld, but there are %lld steps",
                                 (long long)lengths[i], (long long)r->steps);
        all = all && lengths[i] == r->steps;
    }
    if (all)
        r->lengths = NO_TENSOR;
    return ODLC_OK;
}

/* A weight with its leading axes made one, unless it comes so. */
static tensor_id flattened(struct emit *s, tensor_id id, uint32_t wanted)
{
    if (id == NO_TENSOR || build_rank(s->l->b, id) == wanted)
        return id;
    struct shape shape = build_type(s->l->b, id)->shape;
    int64_t last = shape.dims[shape.rank - 1];
    shape = shape.rank == 3 ? SHAPE(shape.dims[0] * shape.dims[1], last) : SHAPE(shape.dims[0] * last);
    return emit_reshape(s, id, &shape);
}

odlc_status recurrent_read(struct lower *l, const struct recurrent_kind *kind, struct recurrent *r)
{
    struct emit s = {.l = l};
    *r = (struct recurrent){.kind = kind};
    TRY(lower_need(l, IN_X, "X", &r->x));
    TRY(lower_need(l, IN_W, "W", &r->w));
    TRY(lower_need(l, IN_R, "R", &r->r));
    r->bias = lower_in(l, IN_BIAS);
    r->lengths = lower_in(l, IN_LENGTHS);
    r->h = lower_in(l, IN_H);
    r->c = lower_in(l, IN_C);
    r->peepholes = lower_in(l, IN_PEEPHOLES);
    TRY(read_attributes(l, r));
    TRY(read_extents(l, r));
    TRY(check_operands(l, r));
    TRY(check_lengths(l, r));
    r->w = flattened(&s, r->w, 2);
    r->r = flattened(&s, r->r, 2);
    r->bias = flattened(&s, r->bias, 1);
    r->peepholes = flattened(&s, r->peepholes, 1);
    return s.status;
}

/* ---- parts ---- */

/* Rows of a flattened input, named after the model's. */
static tensor_id rows(struct emit *s, tensor_id from, uint32_t input, uint32_t direction, int64_t begin, int64_t end,
                      const char *label)
{
    tensor_id out = NO_TENSOR;
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    const char *name = arena_printf(s->l->arena, "%s.%u.%s", s->l->node->inputs[input], direction, label);
    s->status = lower_weight_rows(s->l, from, begin, end, name, &out);
    return out;
}

tensor_id recurrent_weights(struct emit *s, const struct recurrent *r, bool of_state, uint32_t direction, uint32_t gate,
                            uint32_t count, const char *label)
{
    int64_t begin = (direction * r->kind->gates + gate) * r->units;
    return rows(s, of_state ? r->r : r->w, of_state ? IN_R : IN_W, direction, begin, begin + count * r->units, label);
}

tensor_id recurrent_bias(struct emit *s, const struct recurrent *r, bool of_state, uint32_t direction, uint32_t gate,
                         uint32_t count)
{
    if (r->bias == NO_TENSOR)
        return NO_TENSOR;
    int64_t begin = ((direction * 2 + of_state) * r->kind->gates + gate) * r->units;
    return rows(s, r->bias, IN_BIAS, direction, begin, begin + count * r->units, of_state ? "state" : "input");
}

tensor_id recurrent_peephole(struct emit *s, const struct recurrent *r, uint32_t direction, uint32_t place)
{
    if (r->peepholes == NO_TENSOR)
        return NO_TENSOR;
    int64_t begin = (direction * 3 + place) * r->units;
    return rows(s, r->peepholes, IN_PEEPHOLES, direction, begin, begin + r->units, "peephole");
}

tensor_id recurrent_initial(struct emit *s, const struct recurrent *r, tensor_id state, uint32_t direction)
{
    if (state == NO_TENSOR)
        return NO_TENSOR;
    struct shape shape = SHAPE(r->batch, r->units);
    if (r->directions > 1)
        state = emit_slice(s, state, r->batch_first, direction, direction + 1);
    return emit_reshape(s, state, &shape);
}
