/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/backend/random_moves.h"
#include "tests/backend/random_ops.h"

#include <math.h>
#include <string.h>

#include "op/op.h"
#include "op/params.h"

/* ---- drawing ---- */

int64_t draw(struct making *m, int64_t low, int64_t high)
{
    m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((m->seed >> 33) % (uint64_t)(high - low + 1));
}

double draw_real(struct making *m)
{
    return (double)draw(m, -1000000, 1000000) / 1000000;
}

bool toss(struct making *m)
{
    return draw(m, 0, 1) == 1;
}

struct shape draw_shape(struct making *m, uint32_t rank, int64_t most)
{
    struct shape shape = {.rank = rank};
    for (uint32_t i = 0; i < rank; i++)
        shape.dims[i] = draw(m, 1, most);
    return shape;
}

struct shape draw_long_shape(struct making *m)
{
    struct shape shape = draw_shape(m, (uint32_t)draw(m, 1, 4), 12);
    if (draw(m, 0, 7) == 0)
        shape.dims[draw(m, 0, shape.rank - 1)] = draw(m, 100, 700);
    return shape;
}

/* One that is broadcast to the shape. */
static struct shape draw_part(struct making *m, const struct shape *of)
{
    struct shape shape = *of;
    const uint32_t dropped = toss(m) ? 0 : (uint32_t)draw(m, 0, of->rank);
    shape.rank -= dropped;
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dims[i] = draw(m, 0, 3) ? of->dims[i + dropped] : 1;
    return shape;
}

/* ---- operands ---- */

static tensor_id input(struct making *m, struct shape shape, enum dtype dtype)
{
    const struct type type = {dtype, shape};
    return graph_add_tensor(m->graph, "in", TENSOR_INPUT, &type);
}

static tensor_id constant(struct making *m, struct shape shape)
{
    const uint64_t count = shape_count(&shape);
    float *elements = arena_array(m->arena, float, count);
    for (uint64_t i = 0; i < count; i++)
        elements[i] = (float)draw_real(m);
    const struct view view = view_of(elements, DT_FLOAT32, &shape);
    return graph_add_constant(m->graph, "constant", DT_FLOAT32, &view);
}

tensor_id real(struct making *m, struct shape shape)
{
    return input(m, shape, DT_FLOAT32);
}

tensor_id operand(struct making *m, struct shape shape)
{
    return draw(m, 0, 3) ? real(m, shape) : constant(m, shape);
}

/* At times the first operand once more. */
static tensor_id second_operand(struct making *m, tensor_id first, struct shape shape)
{
    return draw(m, 0, 3) == 0 ? first : operand(m, shape);
}

void start(struct making *m, enum op_id op)
{
    build_op(&m->build, op, op_row(op)->name);
}

void give(struct making *m, enum param_id id, const int64_t *values, uint32_t count, bool pairs)
{
    const struct shape shape = {.rank = 2, .dims = {count / 2, 2}};
    if (pairs)
        build_tensor_ints(&m->build, id, &shape, values);
    else
        build_ints(&m->build, id, values, count);
}

/* ---- windows ---- */

struct slide draw_slide(struct making *m, uint32_t axes)
{
    struct slide s;
    const bool plain = toss(m);
    for (uint32_t i = 0; i < axes; i++) {
        s.filter[i] = draw(m, 1, draw(m, 1, 5));
        s.stride[i] = plain ? 1 : draw(m, 1, 3);
        s.dilation[i] = plain ? 1 : draw(m, 1, 2);
        s.pads[2 * i] = draw(m, 0, s.filter[i] - 1);
        s.pads[2 * i + 1] = draw(m, 0, s.filter[i] - 1);
    }
    return s;
}

struct shape draw_image(struct making *m, uint32_t axes, int64_t channels)
{
    struct shape shape = {.rank = axes + 2};
    shape.dims[0] = draw(m, 1, 2);
    for (uint32_t i = 0; i < axes; i++)
        shape.dims[i + 1] = draw(m, 1, axes == 3 ? 7 : 14);
    shape.dims[axes + 1] = channels;
    return shape;
}

static odlc_status make_conv(struct making *m, enum op_id op, tensor_id *out)
{
    const uint32_t axes = op == OP_Conv3d || op == OP_TransposeConv3d ? 3 : 2;
    const bool depthwise = op == OP_DepthWiseConv2d, transposed = op_row(op)->layer == LAYER_TRANSPOSED;
    const int64_t group = depthwise ? draw(m, 1, 40) : toss(m) ? 1 : draw(m, 1, 4);
    const int64_t in = depthwise ? 1 : draw(m, 1, 20), each = depthwise ? draw(m, 1, 2) : draw(m, 1, 36);
    const struct slide s = draw_slide(m, axes);
    struct shape w = {.rank = axes + 2};
    for (uint32_t i = 0; i < axes; i++)
        w.dims[i] = s.filter[i];
    w.dims[axes] = transposed ? group * in : in;
    w.dims[axes + 1] = transposed ? each : group * each;
    const tensor_id x = real(m, draw_image(m, axes, group * in)), weights = constant(m, w);
    const tensor_id bias = toss(m) ? constant(m, SHAPE(group * each)) : NO_TENSOR;
    start(m, op);
    build_in(&m->build, x);
    build_in(&m->build, weights);
    if (bias != NO_TENSOR)
        build_in(&m->build, bias);
    give(m, PARAM_stride, s.stride, axes, false);
    give(m, PARAM_pad_amount, s.pads, 2 * axes, true);
    if (op_param_place(op_row(op), PARAM_dilation) >= 0)
        give(m, PARAM_dilation, s.dilation, axes, false);
    if (!depthwise)
        build_int(&m->build, PARAM_group, group);
    return build_end(&m->build, NULL, out);
}

static odlc_status make_pool(struct making *m, enum op_id op, tensor_id *out)
{
    const uint32_t axes = op == OP_PoolMax3d || op == OP_PoolAvg3d ? 3 : 2;
    const struct slide s = draw_slide(m, axes);
    const tensor_id x = real(m, draw_image(m, axes, draw(m, 1, 40)));
    start(m, op);
    build_in(&m->build, x);
    give(m, PARAM_filter_size, s.filter, axes, false);
    give(m, PARAM_stride, s.stride, axes, false);
    give(m, PARAM_pad_amount, s.pads, 2 * axes, true);
    if (op_param_place(op_row(op), PARAM_rounding_mode) >= 0 && toss(m))
        build_int(&m->build, PARAM_rounding_mode, 1);
    if (op_param_place(op_row(op), PARAM_count_pad_for_edges) >= 0)
        build_int(&m->build, PARAM_count_pad_for_edges, draw(m, 0, 1));
    return build_end(&m->build, NULL, out);
}

/* ---- matrices ---- */

static odlc_status make_fully_connected(struct making *m, enum op_id op, tensor_id *out)
{
    const int64_t in = draw(m, 1, 70), units = draw(m, 1, 70);
    const tensor_id x = real(m, toss(m) ? SHAPE(draw(m, 1, 9), in) : SHAPE(draw(m, 1, 3), draw(m, 1, 4), in));
    const tensor_id w = constant(m, SHAPE(units, in)), bias = toss(m) ? constant(m, SHAPE(units)) : NO_TENSOR;
    start(m, op);
    build_in(&m->build, x);
    build_in(&m->build, w);
    if (bias != NO_TENSOR)
        build_in(&m->build, bias);
    return build_end(&m->build, NULL, out);
}

static odlc_status make_matmul(struct making *m, enum op_id op, tensor_id *out)
{
    const bool square = draw(m, 0, 7) == 0; /* a product by itself, transposed */
    const int64_t rows = draw(m, 1, 40), depth = draw(m, 1, 70), columns = square ? rows : draw(m, 1, 40);
    const bool flip_a = draw(m, 0, 3) == 0, flip_b = square ? !flip_a : toss(m);
    struct shape batch = draw_shape(m, (uint32_t)draw(m, 0, 2), 3), a = batch,
                 b = square || toss(m) ? batch : draw_part(m, &batch);
    a.dims[a.rank++] = flip_a ? depth : rows;
    a.dims[a.rank++] = flip_a ? rows : depth;
    b.dims[b.rank++] = flip_b ? columns : depth;
    b.dims[b.rank++] = flip_b ? depth : columns;
    const tensor_id left = operand(m, a), right = square ? left : toss(m) ? constant(m, b) : real(m, b);
    const tensor_id bias = draw(m, 0, 3) == 0 ? constant(m, SHAPE(columns)) : NO_TENSOR;
    start(m, op);
    build_in(&m->build, left);
    build_in(&m->build, right);
    if (bias != NO_TENSOR)
        build_in(&m->build, bias);
    build_int(&m->build, PARAM_transpose_in0, flip_a);
    build_int(&m->build, PARAM_transpose_in1, flip_b);
    return build_end(&m->build, NULL, out);
}

/* ---- element-wise ---- */

/* A small whole number: other powers of negative numbers are none. */
static tensor_id power_of(struct making *m)
{
    float *element = arena_array(m->arena, float, 1);
    *element = (float)draw(m, 0, 3);
    const struct shape one = SHAPE(1);
    const struct view view = view_of(element, DT_FLOAT32, &one);
    return graph_add_constant(m->graph, "constant", DT_FLOAT32, &view);
}

static odlc_status make_binary(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape whole = draw_long_shape(m);
    const bool first = toss(m) || op == OP_Prelu || op == OP_ElementWisePower;
    const tensor_id a = operand(m, first ? whole : draw_part(m, &whole));
    const tensor_id b = op == OP_ElementWisePower ? power_of(m)
                        : op == OP_Prelu          ? operand(m, SHAPE(whole.dims[whole.rank - 1]))
                                                  : second_operand(m, a, draw_part(m, &whole));
    start(m, op);
    build_in(&m->build, a);
    build_in(&m->build, b);
    return build_end(&m->build, NULL, out);
}

static odlc_status make_batchnorm(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape whole = draw_long_shape(m);
    const struct shape channels = SHAPE(whole.dims[whole.rank - 1]);
    const tensor_id x = real(m, whole), weight = operand(m, channels);
    const tensor_id bias = toss(m) ? operand(m, channels) : NO_TENSOR;
    start(m, op);
    build_in(&m->build, x);
    build_in(&m->build, weight);
    if (bias != NO_TENSOR)
        build_in(&m->build, bias);
    return build_end(&m->build, NULL, out);
}

/* Gamma and perhaps beta, one for each of so many places. */
static void give_weights(struct making *m, enum op_id op, tensor_id x, struct shape places)
{
    const tensor_id gamma = operand(m, places), beta = toss(m) ? operand(m, places) : NO_TENSOR;
    start(m, op);
    build_in(&m->build, x);
    build_in(&m->build, gamma);
    if (beta != NO_TENSOR && op != OP_RmsNorm)
        build_in(&m->build, beta);
    build_float(&m->build, PARAM_epsilon, 0.01);
}

static odlc_status make_norm(struct making *m, enum op_id op, tensor_id *out)
{
    const bool rows = op == OP_LayerNorm || op == OP_RmsNorm || op == OP_L2Norm;
    const int64_t group = draw(m, 1, draw(m, 0, 3) ? 12 : 90), groups = draw(m, 1, 9);
    struct shape shape = rows ? draw_shape(m, (uint32_t)draw(m, 1, 4), toss(m) ? 12 : 20)
                              : draw_image(m, (uint32_t)draw(m, 1, 2), group * groups);
    const uint32_t first = (uint32_t)draw(m, 0, shape.rank - 1);
    int64_t axes[MAX_RANK];
    struct shape places = {.rank = toss(m) ? shape.rank - first : (uint32_t)draw(m, 1, shape.rank - first)};
    for (uint32_t i = 0; i < places.rank; i++) {
        axes[i] = first + i;
        places.dims[i] = shape.dims[first + i];
    }
    if (op == OP_L2Norm) {
        const tensor_id x = real(m, shape);
        start(m, op);
        build_in(&m->build, x);
        build_float(&m->build, PARAM_epsilon, 0.01);
    } else
        give_weights(m, op, real(m, shape), rows ? places : SHAPE(group * groups));
    if (rows)
        build_tensor_ints(&m->build, PARAM_axes, &SHAPE(places.rank), axes);
    if (op == OP_GroupNorm)
        build_int(&m->build, PARAM_group, groups);
    if (op == OP_InstanceNorm) {
        build_int(&m->build, PARAM_mode, draw(m, 0, 1));
        build_int(&m->build, PARAM_region, draw(m, 0, 2));
        build_int(&m->build, PARAM_normalize_variance, draw(m, 0, 1));
    }
    return build_end(&m->build, NULL, out);
}

/* Products of few elements are no infinities in float16. */
static odlc_status make_reduction(struct making *m, enum op_id op, tensor_id *out)
{
    const bool product = op == OP_ReduceProd;
    const struct shape whole = product ? draw_shape(m, (uint32_t)draw(m, 1, 3), 2) : draw_long_shape(m);
    const uint32_t first = (uint32_t)draw(m, 0, whole.rank - 1);
    int64_t axes[MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = first; i < whole.rank && (count == 0 || draw(m, 0, 3)); i++)
        axes[count++] = i;
    const tensor_id x = real(m, whole);
    start(m, op);
    build_in(&m->build, x);
    build_tensor_ints(&m->build, PARAM_axes, &SHAPE(count), axes);
    build_int(&m->build, PARAM_keep_dims, draw(m, 0, 1));
    return build_end(&m->build, NULL, out);
}

static void give_bounds(struct making *m, const struct op *row)
{
    const double low = draw_real(m), high = low + fabs(draw_real(m));
    if (op_param_place(row, PARAM_min_value) >= 0) {
        build_float(&m->build, PARAM_min_value, low);
        build_float(&m->build, PARAM_max_value, high);
    }
    if (op_param_place(row, PARAM_alpha) >= 0)
        build_float(&m->build, PARAM_alpha, fabs(draw_real(m)));
    if (op_param_place(row, PARAM_beta) >= 0 && row->id != OP_Softmax && row->id != OP_LogSoftmax)
        build_float(&m->build, PARAM_beta, draw_real(m));
}

static odlc_status make_unary(struct making *m, enum op_id op, tensor_id *out)
{
    const tensor_id x = real(m, draw_shape(m, (uint32_t)draw(m, 1, 4), 12));
    start(m, op);
    build_in(&m->build, x);
    give_bounds(m, op_row(op));
    return build_end(&m->build, NULL, out);
}

static odlc_status make_reshape(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_long_shape(m);
    const tensor_id x = real(m, shape);
    (void)op;
    return build_reshape(&m->build, x, &SHAPE(1, (int64_t)shape_count(&shape)), NULL, out);
}

static odlc_status make_softmax(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_long_shape(m);
    const tensor_id x = real(m, shape);
    start(m, op);
    build_in(&m->build, x);
    build_int(&m->build, PARAM_axis, draw(m, 0, shape.rank - 1));
    return build_end(&m->build, NULL, out);
}

static odlc_status make_comparison(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape whole = draw_long_shape(m);
    const bool logic = op == OP_ElementWiseAnd || op == OP_ElementWiseOr || op == OP_ElementWiseXor;
    const enum dtype dtype = logic ? DT_BOOL : toss(m) ? DT_FLOAT32 : DT_INT32;
    const tensor_id a = input(m, whole, dtype), b = input(m, draw_part(m, &whole), dtype);
    start(m, op);
    build_in(&m->build, a);
    build_in(&m->build, b);
    return build_end(&m->build, NULL, out);
}

static odlc_status make_negation(struct making *m, enum op_id op, tensor_id *out)
{
    const tensor_id x = input(m, draw_long_shape(m), DT_BOOL);
    start(m, op);
    build_in(&m->build, x);
    return build_end(&m->build, NULL, out);
}

static odlc_status make_cast(struct making *m, enum op_id op, tensor_id *out)
{
    static const enum dtype froms[] = {DT_BOOL, DT_INT32, DT_UINT8, DT_INT8};
    const enum dtype from = froms[draw(m, 0, 3)];
    const tensor_id x = input(m, draw_shape(m, (uint32_t)draw(m, 1, 4), 12), from);
    struct type type = *graph_tensor(m->graph, x)->type;
    type.dtype = toss(m) ? DT_FLOAT32 : DT_INT32;
    start(m, op);
    build_in(&m->build, x);
    return build_end_typed(&m->build, NULL, &type, 1, out);
}

static odlc_status make_selection(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape whole = draw_long_shape(m);
    const enum dtype dtype = toss(m) ? DT_FLOAT32 : DT_INT32;
    const tensor_id c = input(m, draw_part(m, &whole), DT_BOOL), a = input(m, whole, dtype);
    const tensor_id b = input(m, draw_part(m, &whole), dtype);
    start(m, op);
    build_in(&m->build, c);
    build_in(&m->build, a);
    build_in(&m->build, b);
    return build_end(&m->build, NULL, out);
}

static odlc_status make_resize(struct making *m, enum op_id op, tensor_id *out)
{
    const tensor_id x = real(m, draw_image(m, 2, draw(m, 1, 12)));
    struct type type = *graph_tensor(m->graph, x)->type;
    for (int i = 1; i < 3; i++)
        type.shape.dims[i] = draw(m, 1, 20);
    const bool corners = draw(m, 0, 2) == 0;
    start(m, op);
    build_in(&m->build, x);
    if (op == OP_Resize) {
        build_int(&m->build, PARAM_interpolation_mode, draw(m, 0, 1));
        build_int(&m->build, PARAM_transformation_mode, draw(m, 0, 3));
    } else {
        build_int(&m->build, PARAM_align_corners, corners);
        build_int(&m->build, PARAM_half_pixel_centers, !corners && toss(m));
    }
    return build_end_typed(&m->build, NULL, &type, 1, out);
}

/* Its types are make_types'. */
static odlc_status make_quantize(struct making *m, enum op_id op, tensor_id *out)
{
    const tensor_id x = real(m, draw_shape(m, (uint32_t)draw(m, 1, 4), 12));
    const struct type type = *graph_tensor(m->graph, x)->type;
    start(m, op);
    build_in(&m->build, x);
    return build_end_typed(&m->build, NULL, &type, 1, out);
}

/* ---- recurrent layers ---- */

static tensor_id maybe(struct making *m, struct shape shape, bool as_input)
{
    return toss(m) ? NO_TENSOR : as_input ? real(m, shape) : constant(m, shape);
}

/* What a letter describes: x the input, w weights of it, r weights of the state, v a vector, o one that may be absent,
 * s and S states, '-' nothing. */
static tensor_id layer_operand(struct making *m, char kind, const struct shape *x, int64_t batch, int64_t units)
{
    switch (kind) {
    case 'x':
        return real(m, *x);
    case 'w':
        return constant(m, SHAPE(units, x->dims[2]));
    case 'r':
        return constant(m, SHAPE(units, units));
    case 'v':
        return constant(m, SHAPE(units));
    case 'o':
        return maybe(m, SHAPE(units), false);
    case 's':
        return maybe(m, SHAPE(batch, units), toss(m));
    case 'S':
        return maybe(m, SHAPE(1, batch, units), toss(m));
    default:
        return NO_TENSOR;
    }
}

static odlc_status make_recurrent(struct making *m, enum op_id op, tensor_id *out)
{
    const char *operands = op == OP_Gru ? "xwwwrrrooooooS" : "xwwwrrrvvvss----wrooov";
    const uint32_t count = (uint32_t)strlen(operands), n_out = op == OP_Gru ? 2 : 3;
    const int64_t steps = draw(m, 1, 6), batch = draw(m, 1, 3), in = draw(m, 1, 20), units = draw(m, 1, 30);
    const bool time_major = toss(m);
    const struct shape x = time_major ? SHAPE(steps, batch, in) : SHAPE(batch, steps, in);
    tensor_id ids[32], outs[3];
    for (uint32_t i = 0; i < count; i++)
        ids[i] = layer_operand(m, operands[i], &x, batch, units);
    start(m, op);
    for (uint32_t i = 0; i < count; i++)
        build_in(&m->build, ids[i]);
    build_int(&m->build, PARAM_direction, draw(m, 0, 1));
    build_int(&m->build, PARAM_time_major, time_major);
    if (op == OP_Gru)
        build_int(&m->build, PARAM_linear_before_reset, draw(m, 0, 1));
    TRY(build_end_n(&m->build, (const char *[]){"", "", ""}, n_out, outs));
    *out = outs[draw(m, 0, n_out - 1)];
    return ODLC_OK;
}

/* ---- the table ---- */

typedef odlc_status make_fn(struct making *m, enum op_id op, tensor_id *out);

static const struct {
    const char *family;
    make_fn *make;
} families[] = {
    {"convolution", make_conv},
    {"fully_connected", make_fully_connected},
    {"matmul", make_matmul},
    {"pool", make_pool},
    {"binary", make_binary},
    {"unary", make_unary},
    {"softmax", make_softmax},
    {"resize", make_resize},
    {"transpose", make_rearrangement},
    {"concat", make_concat},
    {"split", make_split},
    {"tile", make_tile},
    {"slice", make_slice},
    {"pad", make_pad},
    {"comparison", make_comparison},
    {"selection", make_selection},
    {"quantize", make_quantize},
    {"recurrent", make_recurrent},
    {"gru", make_recurrent},
    {"lstm", make_recurrent},
    {"batchnorm", make_batchnorm},
    {"reduction", make_reduction},
    {"norm", make_norm},
    {"negation", make_negation},
    {"cast", make_cast},
    {"reshape", make_reshape},
    {"pick", make_indexed},
    {"scatter", make_indexed},
    {"one_hot", make_one_hot},
    {"extreme", make_along},
    {"running", make_along},
    {"top_k", make_top_k},
    {"lrn", make_lrn},
    {"batches", make_batches},
    {"patches", make_patches},
    {"image", make_image},
    {"grid", make_grid},
    {"regions", make_regions},
};

/* Backends that have tables call families alike. */
static const char *family_of(enum op_id op)
{
    static const char *const tables[][OP_IDS] = {
        {
#define CPU_OP(name, family) [OP_##name] = #family,
#include "backend/cpu/cpu_ops.def"
#undef CPU_OP
        },
        {
#define GPU_OP(name, family) [OP_##name] = #family,
#include "backend/gpu/gpu_ops.def"
#undef GPU_OP
        },
    };
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        if (tables[i][op])
            return tables[i][op];
    return "";
}

odlc_status make_node(struct making *m, enum op_id op, tensor_id *out)
{
    const char *family = family_of(op);
    for (size_t i = 0; i < COUNT_OF(families); i++)
        if (strcmp(families[i].family, family) == 0 && families[i].make)
            return families[i].make(m, op, out);
    return ODLC_ERR_UNSUPPORTED;
}

odlc_status make_followers(struct making *m, tensor_id *out)
{
    static const enum op_id ops[] = {OP_Relu,
                                     OP_Relu6,
                                     OP_ReluMinMax,
                                     OP_Sigmoid,
                                     OP_Tanh,
                                     OP_HardSwish,
                                     OP_Gelu,
                                     OP_ElementWiseAdd,
                                     OP_Elu,
                                     OP_HardSigmoid,
                                     OP_ElementWiseSubtract,
                                     OP_ElementWiseMaximum,
                                     OP_ElementWiseMultiply};
    for (int64_t n = draw(m, 0, 3); n > 0; n--) {
        const enum op_id op = ops[draw(m, 0, COUNT_OF(ops) - 1)];
        const struct shape shape = graph_tensor(m->graph, *out)->type->shape;
        const tensor_id other = op_row(op)->min_inputs < 2 ? NO_TENSOR
                                : toss(m)                  ? operand(m, shape)
                                          : operand(m, SHAPE(shape.rank ? shape.dims[shape.rank - 1] : 1));
        const bool first = toss(m);
        start(m, op);
        build_in(&m->build, first || other == NO_TENSOR ? *out : other);
        if (other != NO_TENSOR)
            build_in(&m->build, first ? other : *out);
        else
            give_bounds(m, op_row(op));
        TRY(build_end(&m->build, NULL, out));
    }
    return ODLC_OK;
}
