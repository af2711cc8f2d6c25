/* SPDX-License-Identifier: Apache-2.0 */
#include "random_graph.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "ir/quant.h"

/* Larger values would make the rounding of sums visible. */
#define FLOAT_BOUND 32.0
/* Products stay within int32, which integers are narrowed to. */
#define INT_BOUND 1e6
#define MAX_ELEMENTS 2048
#define CLAIMED_PERCENT 30

struct value {
    tensor_id id;
    double bound; /* of the elements' magnitude */
    double slack; /* by how much they may differ: what a tie that is rounded the other way makes of it */
    bool known;   /* it depends on constants alone, whether these are inputs or not */
    bool read;
};

struct gen {
    struct arena *arena;
    struct build b;
    uint64_t state, claim_state; /* of random numbers; what is claimed changes nothing else */
    struct random_form form;
    struct claims claims;
    double slack;      /* of what is built */
    bool known;        /* what is built */
    bool pair_follows; /* which bounds what is built: values beyond it saturate */
    size_t settled;    /* nodes in order that are claimed already, or never will be */
    unsigned n_names;
    VEC(struct value) values;
    VEC(struct feed) feeds;
    VEC(double) slacks; /* of the outputs */
};

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint32_t random_below(uint64_t *state, uint32_t count)
{
    return (uint32_t)((next_random(state) >> 32) * count >> 32);
}

static uint32_t below(struct gen *r, uint32_t count)
{
    return random_below(&r->state, count);
}

static bool chance(struct gen *r, uint32_t percent)
{
    return below(r, 100) < percent;
}

static const char *name(struct gen *r, const char *what)
{
    return arena_printf(r->arena, "%s%u", what, r->n_names++);
}

static void must(struct gen *r, odlc_status status)
{
    const struct diags *d = r->b.diags;
    ck_assert_msg(status == ODLC_OK, "the generator built a node that is refused: %s",
                  d->list.count ? d->list.data[d->list.count - 1].message : "");
}

static const struct type *type_of(const struct gen *r, const struct value *v)
{
    return build_type(&r->b, v->id);
}

/* ---- values ---- */

static const void *random_elements(struct gen *r, const struct type *type, double bound)
{
    size_t count = shape_count(&type->shape);
    void *data = arena_calloc(r->arena, count, dtype_size(type->dtype));
    for (size_t i = 0; i < count; i++) {
        double value = ((double)below(r, 1 << 20) / (1 << 19) - 1) * bound;
        if (dtype_is_float(type->dtype))
            ((float *)data)[i] = (float)value;
        else
            ((int64_t *)data)[i] = (int64_t)value;
    }
    return data;
}

static tensor_id add_input(struct gen *r, const struct feed *feed)
{
    tensor_id id = graph_add_tensor(r->b.graph, feed->name, TENSOR_INPUT, &feed->type);
    vec_push(r->arena, &r->b.graph->inputs, id);
    vec_push(r->arena, &r->feeds, *feed);
    return id;
}

static tensor_id constant_of(struct gen *r, const struct type *type, const void *data)
{
    struct feed feed = {.name = name(r, "c"), .type = *type, .data = data};
    if (r->form.constants_are_inputs)
        return add_input(r, &feed);
    struct view view = view_of(data, type->dtype, &type->shape);
    return graph_add_constant(r->b.graph, feed.name, type->dtype, &view);
}

static tensor_id constant(struct gen *r, enum dtype dtype, const struct shape *shape, double bound)
{
    struct type type = {dtype, *shape};
    return constant_of(r, &type, random_elements(r, &type, bound));
}

/* What a layer may have in place of a bias: zeros, or nothing. */
static tensor_id no_bias(struct gen *r, const struct shape *shape)
{
    if (chance(r, 50))
        return NO_TENSOR;
    struct feed feed = {.name = name(r, "c"), .type = {DT_FLOAT32, *shape}};
    feed.data = arena_calloc(r->arena, shape_count(shape), sizeof(float));
    if (r->form.constants_are_inputs)
        return add_input(r, &feed);
    struct view view = view_splat_int(r->arena, DT_FLOAT32, shape, 0);
    return graph_add_constant(r->b.graph, feed.name, DT_FLOAT32, &view);
}

/* Integers of 8 bits that are still to be scaled, as lowering leaves weights that a model dequantizes. */
static tensor_id quantized_constant(struct gen *r, const struct shape *shape, double bound)
{
    struct type type = {DT_FLOAT32, *shape};
    size_t count = shape_count(shape);
    int8_t *whole = arena_array(r->arena, int8_t, count);
    double *scale = arena_array(r->arena, double, 1), *zero = arena_array(r->arena, double, 1);
    *zero = (double)below(r, 20) - 10;
    *scale = (double)(float)(bound / 140);
    for (size_t i = 0; i < count; i++)
        whole[i] = (int8_t)((int)below(r, 256) - 128);
    struct view view = view_of(whole, DT_INT8, shape);
    view.scale = scale;
    view.zero = zero;
    view.scale_axis = SCALE_WHOLE;
    if (r->form.constants_are_inputs)
        return constant_of(r, &type, view_load(r->arena, &view, DT_FLOAT32));
    return graph_add_constant(r->b.graph, name(r, "c"), DT_FLOAT32, &view);
}

/* Claims now and then what was built since the last time. */
static tensor_id settle(struct gen *r, tensor_id id)
{
    bool chosen = random_below(&r->claim_state, 100) < CLAIMED_PERCENT;
    uint64_t seed = next_random(&r->claim_state);
    if (chosen && r->form.with_udos)
        claims_replace(&r->claims, &r->b, r->settled, seed);
    r->settled = r->b.graph->order.count;
    return claims_now(&r->claims, id);
}

/* Where values grow too large for the comparison, a bounded function follows. */
static void give(struct gen *r, tensor_id id, double bound)
{
    id = claims_now(&r->claims, id); /* a second result of nodes that were claimed with the first */
    if (r->pair_follows)
        bound = fmin(bound, FLOAT_BOUND);
    if (bound > FLOAT_BOUND && dtype_is_float(build_type(&r->b, id)->dtype)) {
        must(r, build_unary(&r->b, OP_Tanh, id, name(r, "v"), &id));
        bound = 1;
    }
    id = settle(r, id);
    vec_push(r->arena, &r->values, (struct value){.id = id, .bound = bound, .slack = r->slack, .known = r->known});
}

/* Mostly the last value, so that chains grow. */
static struct value pick(struct gen *r)
{
    uint32_t count = (uint32_t)r->values.count, i = chance(r, 60) ? count - 1 : below(r, count);
    r->values.data[i].read = true;
    return r->values.data[i];
}

/* Ends the node at work, whose result is a value. */
static void end(struct gen *r, double bound)
{
    tensor_id out;
    must(r, build_end(&r->b, name(r, "v"), &out));
    give(r, out, bound);
}

static void start(struct gen *r, enum op_id op, const struct value *x)
{
    build_op(&r->b, op, name(r, "n"));
    build_in(&r->b, x->id);
}

/* ---- ops that keep the shape ---- */

static void make_unary(struct gen *r, struct value x)
{
    static const enum op_id ops[] = {OP_ElementWiseAbs, OP_ElementWiseNeg, OP_Relu,
                                     OP_Tanh,           OP_Sigmoid,        OP_ElementWiseSin};
    enum op_id op = ops[below(r, dtype_is_float(type_of(r, &x)->dtype) ? COUNT_OF(ops) : 2)];
    start(r, op, &x);
    end(r, x.bound > 1 ? x.bound : 1);
}

/* A shape that broadcasts to this one. */
static struct shape narrower(struct gen *r, const struct shape *shape)
{
    struct shape out = {.rank = 0};
    for (uint32_t i = below(r, shape->rank + 1); i < shape->rank; i++)
        out.dims[out.rank++] = chance(r, 60) ? shape->dims[i] : 1;
    return out;
}

/* Another value that broadcasts with x, or a constant. */
static struct value partner(struct gen *r, const struct value *x)
{
    const struct type type = *type_of(r, x);
    for (int tries = 0; tries < 4; tries++) {
        struct value *y = &r->values.data[below(r, (uint32_t)r->values.count)];
        struct shape both;
        if (type_of(r, y)->dtype == type.dtype && shape_broadcast(&type.shape, &type_of(r, y)->shape, &both) &&
            shape_count(&both) <= MAX_ELEMENTS) {
            y->read = true;
            return *y;
        }
    }
    struct shape shape = narrower(r, &type.shape);
    return (struct value){.id = constant(r, type.dtype, &shape, 2), .bound = 2, .known = true};
}

static void make_binary(struct gen *r, struct value x)
{
    static const enum op_id ops[] = {OP_ElementWiseMultiply, OP_ElementWiseAdd, OP_ElementWiseSubtract,
                                     OP_ElementWiseMaximum, OP_ElementWiseMinimum};
    uint32_t op = below(r, COUNT_OF(ops));
    struct value y = partner(r, &x);
    double bound = op == 0 ? x.bound * y.bound : x.bound + y.bound;
    if (bound > INT_BOUND && !dtype_is_float(type_of(r, &x)->dtype))
        return;
    r->known = x.known && y.known;
    r->slack = op == 0 ? x.slack * y.bound + y.slack * (x.bound + x.slack) : x.slack + y.slack;
    bool swap = chance(r, 50);
    start(r, ops[op], swap ? &y : &x);
    build_in(&r->b, swap ? x.id : y.id);
    end(r, bound);
}

static void make_prelu(struct gen *r, struct value x)
{
    struct shape slope = narrower(r, &type_of(r, &x)->shape);
    start(r, OP_Prelu, &x);
    build_in(&r->b, constant(r, DT_FLOAT32, &slope, 1));
    end(r, x.bound);
}

static void make_softmax(struct gen *r, struct value x)
{
    uint32_t rank = type_of(r, &x)->shape.rank;
    bool logarithm = chance(r, 30);
    if (rank == 0)
        return;
    r->slack *= logarithm ? 2 : 1;
    start(r, logarithm ? OP_LogSoftmax : OP_Softmax, &x);
    build_int(&r->b, PARAM_axis, below(r, rank));
    end(r, logarithm ? 2 * x.bound + 8 : 1);
}

/* ---- ops that move elements ---- */

static struct shape random_factors(struct gen *r, uint64_t count)
{
    struct shape out = {.rank = 1 + below(r, 4)};
    for (uint32_t i = 0; i < out.rank; i++)
        out.dims[i] = 1;
    for (uint64_t factor = 2; count > 1; factor++)
        for (; count % factor == 0; count /= factor)
            out.dims[below(r, out.rank)] *= (int64_t)factor;
    return out;
}

/* Two neighbours merged, or one split in two. */
static struct shape regrouped(struct gen *r, const struct shape *in)
{
    struct shape out = {.rank = 0};
    uint32_t at = below(r, in->rank);
    bool merge = at + 1 < in->rank && chance(r, 50);
    int64_t part = in->dims[at] % 2 == 0 ? 2 : in->dims[at] % 3 == 0 ? 3 : 1;
    for (uint32_t i = 0; i < in->rank; i++) {
        out.dims[out.rank++] = in->dims[i];
        if (i == at && merge)
            out.dims[out.rank - 1] *= in->dims[++i];
        else if (i == at) {
            out.dims[out.rank - 1] /= part;
            out.dims[out.rank++] = part;
        }
    }
    return out;
}

static void make_reshape(struct gen *r, struct value x)
{
    const struct shape in = type_of(r, &x)->shape;
    struct shape out = in; /* kept: a copy */
    uint32_t kind = below(r, 10);
    if (kind < 4)
        out = random_factors(r, shape_count(&in));
    else if (kind < 8 && in.rank > 0 && in.rank < 6)
        out = regrouped(r, &in);
    start(r, OP_Reshape, &x);
    build_ints(&r->b, PARAM_shape, out.dims, out.rank);
    end(r, x.bound);
}

static void make_transpose(struct gen *r, struct value x)
{
    uint32_t rank = type_of(r, &x)->shape.rank, kind = below(r, 4);
    struct perm perm = kind == 0   ? perm_channels_last(rank)
                       : kind == 1 ? perm_channels_first(rank)
                                   : perm_identity(rank);
    for (uint32_t i = rank; kind > 1 && i > 1; i--) {
        uint32_t k = below(r, i);
        uint8_t held = perm.axis[i - 1];
        perm.axis[i - 1] = perm.axis[k];
        perm.axis[k] = held;
    }
    int64_t axes[MAX_RANK];
    for (uint32_t i = 0; i < rank; i++)
        axes[i] = perm.axis[i];
    if (rank == 0)
        return;
    start(r, OP_Transpose, &x);
    build_ints(&r->b, PARAM_perm, axes, rank);
    end(r, x.bound);
}

static void make_concat(struct gen *r, struct value x)
{
    struct type type = *type_of(r, &x);
    struct value parts[3] = {x, x};
    if (type.shape.rank == 0 || shape_count(&type.shape) * 3 > MAX_ELEMENTS)
        return;
    uint32_t axis = below(r, type.shape.rank), at = below(r, 3);
    struct value *y = &r->values.data[below(r, (uint32_t)r->values.count)];
    if (type_of(r, y)->dtype == type.dtype && shape_equal(&type_of(r, y)->shape, &type.shape)) {
        y->read = true;
        parts[1] = *y;
    }
    type.shape.dims[axis] = 1 + below(r, 3);
    parts[2] = parts[at];
    parts[at] = (struct value){.id = constant(r, type.dtype, &type.shape, 2), .bound = 2, .known = true};
    build_op(&r->b, OP_Concat, name(r, "n"));
    double bound = 0;
    for (uint32_t i = 0; i < 3; i++) {
        build_in(&r->b, parts[i].id);
        bound = fmax(bound, parts[i].bound);
        r->slack = fmax(r->slack, parts[i].slack);
        r->known = r->known && parts[i].known;
    }
    build_int(&r->b, PARAM_axis, axis);
    end(r, bound);
}

static void make_split(struct gen *r, struct value x)
{
    const struct shape shape = type_of(r, &x)->shape;
    uint32_t axis = shape.rank ? below(r, shape.rank) : 0;
    tensor_id outs[2];
    if (shape.rank == 0 || shape.dims[axis] < 2)
        return;
    int64_t cut = 1 + below(r, (uint32_t)shape.dims[axis] - 1);
    start(r, OP_Split, &x);
    build_int(&r->b, PARAM_axis, axis);
    build_ints(&r->b, PARAM_split_index, &cut, 1);
    const char *const names[] = {name(r, "v"), name(r, "v")};
    must(r, build_end_n(&r->b, names, 2, outs));
    give(r, outs[0], x.bound);
    give(r, outs[1], x.bound);
}

static void make_slice(struct gen *r, struct value x)
{
    const struct shape shape = type_of(r, &x)->shape;
    struct shape rows = SHAPE(shape.rank, 3);
    int64_t ranges[MAX_RANK][3];
    if (shape.rank == 0)
        return;
    for (uint32_t i = 0; i < shape.rank; i++) {
        uint32_t dim = (uint32_t)shape.dims[i], begin = chance(r, 50) ? 0 : below(r, dim);
        ranges[i][0] = begin;
        ranges[i][1] = begin + 1 + below(r, dim - begin);
        ranges[i][2] = 1 + below(r, 2);
    }
    start(r, OP_StridedSlice, &x);
    build_tensor_ints(&r->b, PARAM_ranges, &rows, ranges[0]);
    end(r, x.bound);
}

static void make_pad(struct gen *r, struct value x)
{
    const struct shape shape = type_of(r, &x)->shape;
    struct shape pairs = SHAPE(shape.rank, 2);
    int64_t amounts[MAX_RANK][2];
    if (shape.rank == 0 || shape_count(&shape) > MAX_ELEMENTS / 16)
        return;
    for (uint32_t i = 0; i < shape.rank; i++)
        for (uint32_t k = 0; k < 2; k++)
            amounts[i][k] = below(r, 2);
    start(r, OP_Pad, &x);
    build_int(&r->b, PARAM_scheme, chance(r, 50) ? 0 : 3);
    build_tensor_ints(&r->b, PARAM_pad_amount, &pairs, amounts[0]);
    end(r, x.bound);
}

static void make_tile(struct gen *r, struct value x)
{
    const struct shape shape = type_of(r, &x)->shape;
    int64_t multiples[MAX_RANK];
    if (shape.rank == 0 || shape_count(&shape) << shape.rank > MAX_ELEMENTS)
        return;
    for (uint32_t i = 0; i < shape.rank; i++)
        multiples[i] = 1 + below(r, 2);
    start(r, OP_Tile, &x);
    build_ints(&r->b, PARAM_multiples, multiples, shape.rank);
    end(r, x.bound);
}

static void make_gather(struct gen *r, struct value x)
{
    const struct shape shape = type_of(r, &x)->shape;
    uint32_t axis = shape.rank ? below(r, shape.rank) : 0;
    struct type type = {DT_INT64, SHAPE(1 + below(r, 3), 1 + below(r, 2))};
    type.shape.rank = 1 + below(r, 2);
    type.shape.dims[1] = type.shape.rank == 2 ? type.shape.dims[1] : 0;
    if (shape.rank == 0 || shape.rank > 4 || shape_count(&shape) * 6 > MAX_ELEMENTS)
        return;
    int64_t *indices = arena_array(r->arena, int64_t, shape_count(&type.shape));
    for (size_t i = 0; i < shape_count(&type.shape); i++)
        indices[i] = below(r, (uint32_t)shape.dims[axis]);
    start(r, OP_Gather, &x);
    build_in(&r->b, constant_of(r, &type, indices));
    build_int(&r->b, PARAM_axis, axis);
    end(r, x.bound);
}

/* ---- ops that sum ---- */

static void make_reduce(struct gen *r, struct value x)
{
    static const enum op_id ops[] = {OP_ReduceSum, OP_ReduceMax, OP_ReduceMin, OP_ReduceMean};
    const struct type *type = type_of(r, &x);
    uint32_t count = 0, rank = type->shape.rank, op = below(r, dtype_is_float(type->dtype) ? 4 : 3);
    double bound = op == 0 ? x.bound * (double)shape_count(&type->shape) : x.bound;
    int64_t axes[MAX_RANK];
    for (uint32_t i = 0; i < rank; i++)
        if (chance(r, 40) || (count == 0 && i + 1 == rank))
            axes[count++] = i;
    if (rank == 0 || (bound > INT_BOUND && !dtype_is_float(type->dtype)))
        return;
    r->slack *= op == 0 ? (double)shape_count(&type->shape) : 1;
    start(r, ops[op], &x);
    build_ints(&r->b, PARAM_axes, axes, count);
    build_int(&r->b, PARAM_keep_dims, chance(r, 50));
    end(r, bound);
}

static void make_matmul(struct gen *r, struct value x)
{
    const struct shape shape = type_of(r, &x)->shape;
    if (shape.rank < 2)
        return;
    struct shape weights = SHAPE(shape.dims[shape.rank - 1], 1 + below(r, 4));
    r->slack *= (double)weights.dims[0];
    start(r, OP_MatMul, &x);
    build_in(&r->b, constant(r, DT_FLOAT32, &weights, 1));
    end(r, x.bound * (double)weights.dims[0]);
}

/* ---- quantizing ---- */

/* Encodings of elements up to the bound, and some beyond, which saturate; for the whole tensor, or for each index of an
 * axis. *step: the largest distance of two numbers that they have. */
static const struct quant *encodings(struct gen *r, enum dtype dtype, const struct shape *shape, double bound,
                                     double *step)
{
    bool per_axis = shape->rank > 0 && chance(r, 20);
    uint32_t axis = per_axis ? below(r, shape->rank) : 0, count = per_axis ? (uint32_t)shape->dims[axis] : 1;
    double *scale = arena_array(r->arena, double, count), *zero = arena_array(r->arena, double, count);
    double low, high;
    bool is_signed = dtype_info(dtype)->cls == CLASS_SFXP;
    high = ldexp(1, (int)dtype_value_bits(dtype) - is_signed) - 1;
    low = is_signed ? -high - 1 : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = below(r, 4);
        zero[i] = kind == 0 ? low : kind == 1 ? high : low + floor((high - low) / (2 + below(r, 3)));
        scale[i] = (double)(float)(bound * (1 + below(r, 3)) / (high - low));
        *step = fmax(*step, scale[i]);
    }
    return quant_create(r->arena, dtype, scale, zero, count, per_axis, axis);
}

/* Quantize and Dequantize, which UDOs never claim: one alone has no encoding. */
static void make_pair(struct gen *r, struct value x)
{
    static const enum dtype types[] = {DT_UFXP8, DT_SFXP8, DT_UFXP16, DT_SFXP16};
    struct type fixed = {.dtype = types[below(r, COUNT_OF(types))], .shape = type_of(r, &x)->shape};
    struct type real = {.dtype = DT_FLOAT32, .shape = fixed.shape};
    const char *names[] = {name(r, "q"), name(r, "v")};
    tensor_id q, y;
    if (x.known || (!r->pair_follows && x.slack > x.bound / 4))
        return;
    r->pair_follows = false;
    double step = 0, bound = fmax(x.bound, 0.25);
    const struct quant *quant = encodings(r, fixed.dtype, &fixed.shape, bound, &step);
    start(r, OP_Quantize, &x);
    must(r, build_end_typed(&r->b, &names[0], &fixed, 1, &q));
    graph_tensor(r->b.graph, q)->quant = quant;
    build_op(&r->b, OP_Dequantize, name(r, "n"));
    build_in(&r->b, q);
    must(r, build_end_typed(&r->b, &names[1], &real, 1, &y));
    r->settled = r->b.graph->order.count;
    r->slack += step;
    give(r, y, bound * 3);
}

/* ---- channels-last ops between Transposes ---- */

static struct value enter(struct gen *r, const struct value *x)
{
    struct value image = *x;
    r->b.source = name(r, "model");
    must(r, build_to_channels_last(&r->b, x->id, &image.id));
    return image;
}

static void leave(struct gen *r, double bound)
{
    const char *out = name(r, "v");
    bool same_order = build_rank(&r->b, r->b.inputs.data[0]) < 3;
    tensor_id y;
    must(r, build_end(&r->b, same_order ? out : arena_printf(r->arena, "%s.nhwc", out), &y));
    must(r, build_to_channels_first(&r->b, y, out, &y));
    r->b.source = NULL;
    give(r, y, bound);
}

static void make_batchnorm(struct gen *r, struct value x)
{
    const struct shape shape = type_of(r, &x)->shape;
    if (shape.rank < 2)
        return;
    struct shape channels = SHAPE(shape.dims[1]);
    struct value image = enter(r, &x);
    start(r, OP_Batchnorm, &image);
    for (int i = 0; i < 2; i++)
        build_in(&r->b, constant(r, DT_FLOAT32, &channels, 1));
    leave(r, x.bound + 1);
}

/* The layer's result plus a constant for each channel, or times one; some are for each row instead. */
static void make_channel_op(struct gen *r, struct value x)
{
    const struct shape in = type_of(r, &x)->shape;
    struct shape each = chance(r, 80) ? SHAPE(in.dims[1], 1, 1) : SHAPE(in.dims[2], 1);
    bool product = chance(r, 40), swap = chance(r, 30);
    tensor_id c = constant(r, DT_FLOAT32, &each, 1);
    build_op(&r->b, product ? OP_ElementWiseMultiply : OP_ElementWiseAdd, name(r, "n"));
    build_in(&r->b, swap ? c : x.id);
    build_in(&r->b, swap ? x.id : c);
    end(r, x.bound + 1);
}

/* What is folded into the layer that was built last. */
static void follow_layer(struct gen *r, bool normalized)
{
    struct value *y = &r->values.data[r->values.count - 1];
    y->read = chance(r, 80);
    if (normalized)
        make_batchnorm(r, *y);
    else
        make_channel_op(r, *y);
}

static void window_params(struct gen *r, int64_t kernel)
{
    int64_t stride[] = {1 + below(r, 2), 1 + below(r, 2)}, pad = kernel / 2, pads[] = {pad, pad, pad, 0};
    struct shape pairs = SHAPE(2, 2);
    build_ints(&r->b, PARAM_stride, stride, 2);
    build_tensor_ints(&r->b, PARAM_pad_amount, &pairs, pads);
}

static void make_conv(struct gen *r, struct value x)
{
    const struct shape shape = type_of(r, &x)->shape;
    if (shape.rank != 4 || shape.dims[2] < 2 || shape.dims[3] < 2)
        return;
    int64_t kernel = 1 + below(r, 3), channels = shape.dims[1], group = chance(r, 30) ? channels : 1;
    bool depthwise = group > 1 && chance(r, 50);
    int64_t depth = group * (1 + below(r, channels > 8 ? 1 : 4));
    struct shape weights = SHAPE(kernel, kernel, depthwise ? 1 : channels / group, depth), bias = SHAPE(depth);
    if (kernel > shape.dims[2] || kernel > shape.dims[3])
        return;
    bool quantized = chance(r, x.slack > 0 ? 70 : 20);
    struct value image = enter(r, &x);
    double terms = (double)shape_count_range(&weights, 0, 3), bound = x.bound * terms / 2 + 0.5;
    r->slack *= terms / 2;
    start(r, depthwise ? OP_DepthWiseConv2d : OP_Conv2d, &image);
    build_in(&r->b, quantized ? quantized_constant(r, &weights, 0.5) : constant(r, DT_FLOAT32, &weights, 0.5));
    build_in(&r->b, chance(r, quantized ? 80 : 40) ? no_bias(r, &bias) : constant(r, DT_FLOAT32, &bias, 0.5));
    window_params(r, kernel);
    if (!depthwise)
        build_int(&r->b, PARAM_group, group);
    uint32_t next =
        below(r, quantized ? 3 : 4); /* directly, so that it can be folded: sums rarely come near their bound */
    leave(r, next > 1 && bound > FLOAT_BOUND ? FLOAT_BOUND : bound);
    if (next > 1)
        follow_layer(r, next == 2);
}

static void make_pool(struct gen *r, struct value x)
{
    const struct shape shape = type_of(r, &x)->shape;
    const int64_t filter[] = {2, 2};
    if (shape.rank != 4 || shape.dims[2] < 2 || shape.dims[3] < 2)
        return;
    struct value image = enter(r, &x);
    start(r, chance(r, 50) ? OP_PoolMax2d : OP_PoolAvg2d, &image);
    build_ints(&r->b, PARAM_filter_size, filter, 2);
    window_params(r, 2);
    leave(r, x.bound);
}

static void make_blocks(struct gen *r, struct value x)
{
    const struct shape shape = type_of(r, &x)->shape;
    const int64_t block[] = {2, 2};
    bool to_depth = shape.rank == 4 && shape.dims[2] % 2 == 0 && shape.dims[3] % 2 == 0;
    if (shape.rank != 4 || (!to_depth && shape.dims[1] % 4))
        return;
    struct value image = enter(r, &x);
    start(r, to_depth ? OP_SpaceToDepth : OP_DepthToSpace, &image);
    build_ints(&r->b, PARAM_block_size, block, 2);
    build_int(&r->b, PARAM_mode, to_depth ? 0 : below(r, 2));
    leave(r, x.bound);
}

/* As models quantize: before and behind an op. Its result is read by the second pair alone. */
static void make_between_pairs(struct gen *r, struct value x)
{
    static void (*const ops[])(struct gen *, struct value) = {
        make_conv,   make_unary, make_conv,  make_reshape, make_conv,  make_transpose, make_conv,
        make_binary, make_conv,  make_slice, make_pool,    make_unary, make_softmax,   make_concat};
    size_t before = r->values.count;
    make_pair(r, x);
    for (int step = 0; step < 2 && r->values.count > before; step++) {
        struct value *last = &r->values.data[r->values.count - 1];
        before = r->values.count;
        last->read = true;
        r->pair_follows = true;
        if (step == 0)
            ops[below(r, COUNT_OF(ops))](r, *last);
        else
            make_pair(r, *last);
    }
    r->pair_follows = false;
}

/* ---- graphs ---- */

static const struct {
    void (*make)(struct gen *, struct value);
    uint32_t weight; /* how often, compared with others */
    bool floats_only;
} makers[] = {
    {make_unary, 3, false},    {make_binary, 6, false}, {make_prelu, 1, true},  {make_softmax, 2, true},
    {make_reshape, 5, false},  {make_concat, 3, false}, {make_split, 2, false}, {make_transpose, 4, false},
    {make_slice, 2, false},    {make_pad, 2, false},    {make_tile, 1, false},  {make_gather, 2, false},
    {make_reduce, 4, false},   {make_matmul, 2, true},  {make_conv, 8, true},   {make_pool, 3, true},
    {make_batchnorm, 2, true}, {make_blocks, 2, true},  {make_pair, 2, true},   {make_between_pairs, 9, true},
};

static void make_one(struct gen *r)
{
    uint32_t total = 0, i = 0;
    for (size_t k = 0; k < COUNT_OF(makers); k++)
        total += makers[k].weight;
    uint32_t at = below(r, total);
    while (at >= makers[i].weight)
        at -= makers[i++].weight;
    struct value x = pick(r);
    r->slack = x.slack;
    r->known = x.known;
    if (!makers[i].floats_only || dtype_is_float(type_of(r, &x)->dtype))
        makers[i].make(r, x);
}

static void make_input(struct gen *r)
{
    struct feed feed = {.name = name(r, "x")};
    feed.type.dtype = chance(r, 15) ? DT_INT64 : DT_FLOAT32;
    feed.type.shape = SHAPE(1 + below(r, 2), 1 + below(r, 5), 2 + below(r, 5), 2 + below(r, 5));
    if (chance(r, 20)) {
        feed.type.shape.rank = 1 + below(r, 5);
        for (uint32_t i = 0; i < MAX_RANK; i++)
            feed.type.shape.dims[i] = i < feed.type.shape.rank ? 1 + below(r, 4) : 0;
    }
    feed.data = random_elements(r, &feed.type, 3);
    give(r, add_input(r, &feed), 3);
}

/* What nobody reads, and some that others read, too. */
static void mark_outputs(struct gen *r)
{
    struct graph *g = r->b.graph;
    for (size_t i = 0; i < r->values.count; i++) {
        tensor_id id = r->values.data[i].id;
        bool wanted = !r->values.data[i].read || chance(r, 10);
        const char *copy = name(r, "out");
        if (!wanted)
            continue;
        if (graph_tensor(g, id)->kind != TENSOR_NATIVE)
            id = build_copy(g, id, copy);
        graph_tensor(g, id)->kind = TENSOR_OUTPUT;
        vec_push(r->arena, &g->outputs, id);
        vec_push(r->arena, &r->slacks, r->values.data[i].slack);
    }
}

struct random_graph random_graph_make(struct arena *arena, struct diags *diags, uint64_t seed, struct random_form form)
{
    struct gen r = {.arena = arena, .state = seed, .claim_state = ~seed, .form = form};
    claims_init(&r.claims, arena, diags);
    build_init(&r.b, graph_create(arena, "random"), diags);
    uint32_t n_inputs = 1 + below(&r, 3), n_nodes = 3 + below(&r, 12);
    for (uint32_t i = 0; i < n_inputs; i++)
        make_input(&r);
    struct shape four = SHAPE(1 + below(&r, 2), 1 + below(&r, 4), 3, 4);
    r.slack = 0;
    r.known = true;     /* no input comes after this */
    if (chance(&r, 30)) /* a part of the graph that folds away as a whole */
        give(&r, constant(&r, DT_FLOAT32, &four, 2), 2);
    for (uint32_t i = 0; i < n_nodes; i++)
        make_one(&r);
    mark_outputs(&r);
    return (struct random_graph){r.b.graph, r.feeds.data, r.feeds.count, r.slacks.data, r.state};
}
