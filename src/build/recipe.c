/* SPDX-License-Identifier: Apache-2.0 */
#include "build/recipe.h"

#include <string.h>

#include "op/axes.h"
#include "op/infer.h"

/* ---- operators that conversions make several nodes of ---- */

typedef odlc_status compose_fn(struct build *b, const struct recipe_op *op, tensor_id *out);

struct composed {
    struct op row; /* names, numbers and params alone */
    compose_fn *compose;
    bool is_pool; /* of images in either order */
};

static compose_fn compose_selu, compose_max_pool;

static const struct param_def selu_params[] = {
    {.name = "alpha", .dtype = DT_FLOAT32, .presence = PARAM_DEFAULT, .def = 1.67326319217681884765625},
    {.name = "gamma", .dtype = DT_FLOAT32, .presence = PARAM_DEFAULT, .def = 1.05070102214813232421875},
};
/* What ceil_mode says, the output's dimensions say. */
static const struct param_def max_pool_params[] = {
    {.name = "kernel_shape", .dtype = DT_INT32, .presence = PARAM_REQUIRED, .is_tensor = true},
    {.name = "strides", .dtype = DT_INT32, .presence = PARAM_OPTIONAL, .is_tensor = true},
    {.name = "pads", .dtype = DT_INT32, .presence = PARAM_OPTIONAL, .is_tensor = true},
    {.name = "ceil_mode", .dtype = DT_INT32, .presence = PARAM_OPTIONAL},
};
#define ROW_OF_ONE(op_name, param_list)                                                                              \
    {                                                                                                                \
        .name = op_name, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1, .params = param_list, \
        .n_params = COUNT_OF(param_list), .permute = permute_any                                                     \
    }
static const struct composed all_composed[] = {
    {.row = ROW_OF_ONE("Selu", selu_params), .compose = compose_selu},
    {.row = ROW_OF_ONE("MaxPool", max_pool_params), .compose = compose_max_pool, .is_pool = true},
};

static const struct composed *find_composed(const char *type)
{
    for (size_t i = 0; i < COUNT_OF(all_composed); i++)
        if (strcmp(all_composed[i].row.name, type) == 0)
            return &all_composed[i];
    return NULL;
}

/* ---- signatures ---- */

static bool fits(const struct recipe_count *count, uint8_t least, uint8_t most)
{
    return count->least >= least && (most == VARIADIC || count->most <= most);
}

static const struct recipe_param *find_param(const struct recipe_signature *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_params; i++)
        if (strcmp(s->params[i].name, name) == 0)
            return &s->params[i];
    return NULL;
}

static enum recipe_form form_of(const struct param_def *def)
{
    if (def->is_tensor)
        return RECIPE_TENSOR;
    return def->dtype == DT_STRING ? RECIPE_STRING : RECIPE_NUMBER;
}

static const char *misfit_of_params(struct arena *arena, const struct op *row, const struct recipe_signature *s)
{
    for (uint32_t i = 0; i < s->n_params; i++) {
        const int place = op_param_index(row, s->params[i].name);
        if (place < 0 || row->params[place].supplemental)
            return arena_printf(arena, "has a param %s, and the native operator none", s->params[i].name);
        if (form_of(&row->params[place]) != s->params[i].form)
            return arena_printf(arena, "has another kind of param %s than the native operator", s->params[i].name);
    }
    for (uint32_t i = 0; i < row->n_params; i++) {
        const struct param_def *def = &row->params[i];
        const struct recipe_param *given = find_param(s, def->name);
        if (def->presence == PARAM_REQUIRED && !def->supplemental && (!given || given->optional))
            return arena_printf(arena, "does not always have the param %s, without which the native operator is not",
                                def->name);
    }
    return NULL;
}

/* Params such as `axis` count in the model's order, and images are computed channels-last. */
static const char *misfit_of_order(const struct op *row, const struct composed *composed,
                                   const struct recipe_signature *s)
{
    const bool images = row->images || row->spatial_axes > 0;
    if (composed && composed->is_pool)
        return s->order == ORDER_OTHER ? "declares no layout" : NULL;
    if (s->is_native)
        return NULL;
    if (images && s->order != ORDER_CHANNELS_LAST)
        return "does not declare the layout NHWC, in which the native operator takes images";
    if (!images && s->order == ORDER_CHANNELS_LAST && row->permute != permute_any)
        return "has the layout NHWC, in whose order the native operator would count axes";
    return NULL;
}

const char *recipe_misfit(struct arena *arena, const struct recipe_signature *s)
{
    const struct composed *composed = find_composed(s->type);
    const struct op *row = composed ? &composed->row : op_find(s->type);
    if (!row)
        return "has the name of no native operator";
    if (!fits(&s->inputs, row->min_inputs, row->max_inputs))
        return "has another number of inputs than the native operator";
    if (!fits(&s->outputs, row->min_outputs, row->max_outputs))
        return "has another number of outputs than the native operator";
    const char *params = misfit_of_params(arena, row, s);
    return params ? params : misfit_of_order(row, composed, s);
}

/* ---- nodes ---- */

static odlc_status refuse(const struct build *b, const struct recipe_op *op, const char *words, const char *what)
{
    return diag_error(b->diags, ODLC_ERR_INVALID, AT(.node = NULL), "reference", "%s: %s%s", op->type, words, what);
}

static const struct param *given_param(const struct recipe_op *op, const char *name)
{
    for (uint32_t i = 0; i < op->n_params; i++)
        if (strcmp(op->params[i].name, name) == 0)
            return &op->params[i];
    return NULL;
}

/* Axes may be counted from the end. */
static void count_from_start(struct build *b, enum param_id id, struct param *p, uint32_t rank)
{
    if (id == PARAM_axis && !p->is_tensor && p->i < 0)
        p->i += rank;
    if (id != PARAM_axes || !p->is_tensor)
        return;
    const uint64_t count = shape_count(&p->shape);
    int64_t *axes = arena_memdup(b->graph->arena, p->ints, count * sizeof *axes);
    for (uint64_t i = 0; i < count; i++)
        axes[i] += axes[i] < 0 ? rank : 0;
    p->ints = axes;
}

static odlc_status add_param(struct build *b, const struct recipe_op *op, const struct param *given, uint32_t rank)
{
    const struct op *row = b->pending.op;
    const struct param_def *def = &row->params[op_param_index(row, given->name)];
    if (def->is_tensor != given->is_tensor || (def->dtype == DT_STRING) != (given->dtype == DT_STRING))
        return refuse(b, op, "another kind of value is wanted for param ", given->name);
    struct param p = *given;
    p.set = true;
    p.usage = 1;
    p.dtype = def->dtype == DT_NONE ? DT_FLOAT32 : def->dtype;
    if (!p.is_tensor && !dtype_is_float(p.dtype) && p.dtype != DT_STRING && (double)p.i != p.f)
        return refuse(b, op, "an integer is wanted for param ", given->name);
    count_from_start(b, def->id, &p, rank);
    build_param(b, &p);
    return ODLC_OK;
}

static odlc_status compare(const struct build *b, const struct recipe_op *op, const struct type *made)
{
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const struct type *wanted = op->outputs + i;
        if (wanted->dtype == DT_NONE || (wanted->dtype == made[i].dtype && shape_equal(&wanted->shape, &made[i].shape)))
            continue;
        struct arena *arena = b->diags->arena;
        return refuse(b, op,
                      arena_printf(arena, "output %u is %s %s, and the native operator makes ", i,
                                   dtype_info(wanted->dtype)->name, shape_text(arena, &wanted->shape)),
                      arena_printf(arena, "%s %s", dtype_info(made[i].dtype)->name, shape_text(arena, &made[i].shape)));
    }
    return ODLC_OK;
}

static bool is_there(const struct recipe_op *op, uint32_t input)
{
    return input < op->n_inputs && op->inputs[input] != NO_TENSOR;
}

/* What shape rules rely on. */
static odlc_status check_operands(const struct build *b, const struct recipe_op *op, const struct op *row)
{
    const struct recipe_count in = {op->n_inputs, op->n_inputs}, out = {op->n_outputs, op->n_outputs};
    if (!fits(&in, row->min_inputs, row->max_inputs) || !fits(&out, row->min_outputs, row->max_outputs))
        return refuse(b, op, "another number of operands is wanted", "");
    for (uint32_t i = 0; i < row->min_inputs; i++)
        if (!is_there(op, i))
            return refuse(b, op, "an input is absent without which the operator is not", "");
    for (uint32_t i = 0; i < row->min_outputs; i++)
        if (op->outputs[i].dtype == DT_NONE)
            return refuse(b, op, "an output is absent without which the operator is not", "");
    return ODLC_OK;
}

static odlc_status check_params(const struct build *b, const struct recipe_op *op, const struct op *row)
{
    for (uint32_t i = 0; i < op->n_params; i++)
        if (op_param_index(row, op->params[i].name) < 0)
            return refuse(b, op, "there is no param ", op->params[i].name);
    for (uint32_t i = 0; i < row->n_params; i++)
        if (row->params[i].presence == PARAM_REQUIRED && !given_param(op, row->params[i].name))
            return refuse(b, op, "there has to be a param ", row->params[i].name);
    return ODLC_OK;
}

static odlc_status build_native(struct build *b, const struct recipe_op *op, const struct op *row, tensor_id *outs)
{
    const uint32_t rank = is_there(op, 0) ? build_rank(b, op->inputs[0]) : 0;
    build_row(b, row, op->type);
    for (uint32_t i = 0; i < op->n_inputs; i++)
        build_in(b, op->inputs[i]);
    for (uint32_t i = 0; i < op->n_params; i++)
        TRY(add_param(b, op, &op->params[i], rank));
    TRY(build_end_typed(b, NULL, op->outputs, op->n_outputs, outs));
    /* Some rules ask what the output is: only a node that is there can answer. */
    const node_id id = b->graph->order.data[b->graph->order.count - 1];
    struct type *made = arena_array(b->graph->arena, struct type, op->n_outputs);
    const struct infer infer = {.graph = b->graph, .node = graph_node(b->graph, id), .out = made, .diags = b->diags};
    TRY(row->infer(&infer));
    return compare(b, op, made);
}

odlc_status recipe_build(struct build *b, const struct recipe_op *op, tensor_id *outs)
{
    const struct composed *composed = find_composed(op->type);
    const struct op *row = composed ? &composed->row : op_find(op->type);
    if (!row)
        return diag_error(b->diags, ODLC_ERR_UNSUPPORTED, AT(.node = NULL), "reference",
                          "there is no native operator %s", op->type);
    TRY(check_operands(b, op, row));
    TRY(check_params(b, op, row));
    if (!composed)
        return build_native(b, op, row, outs);
    TRY(composed->compose(b, op, outs));
    return compare(b, op, build_type(b, outs[0]));
}

/* ---- Selu: gamma · Elu(x) ---- */

static double number_or(const struct recipe_op *op, const struct param_def *def)
{
    const struct param *p = given_param(op, def->name);
    return p && !p->is_tensor ? p->f : def->def;
}

static odlc_status compose_selu(struct build *b, const struct recipe_op *op, tensor_id *out)
{
    const tensor_id x = op->inputs[0];
    tensor_id elu;
    build_op(b, OP_Elu, "elu");
    build_in(b, x);
    build_float(b, PARAM_alpha, number_or(op, &selu_params[0]));
    TRY(build_end(b, NULL, &elu));
    const tensor_id gamma = build_const_scalar(b, "gamma", build_type(b, x)->dtype, number_or(op, &selu_params[1]));
    return build_binary(b, OP_ElementWiseMultiply, elu, gamma, "y", out);
}

/* ---- MaxPool: with padding at the end that makes as many windows as the output has ---- */

/* The elements of a list of so many; `absent` for all without one. */
static odlc_status read_list(const struct build *b, const struct recipe_op *op, const char *name, uint32_t count,
                             int64_t least, int64_t *values)
{
    const struct param *p = given_param(op, name);
    if (p && (!p->is_tensor || shape_count(&p->shape) != count))
        return refuse(b, op, "another number of elements is wanted in param ", name);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = p ? p->ints[i] : least;
        if (values[i] < least || values[i] > INT32_MAX)
            return refuse(b, op, "an element is out of range in param ", name);
    }
    return ODLC_OK;
}

static odlc_status compose_max_pool(struct build *b, const struct recipe_op *op, tensor_id *out)
{
    const bool first = op->order == ORDER_CHANNELS_FIRST;
    tensor_id image = op->inputs[0];
    const struct shape *x = &build_type(b, image)->shape, *y = &op->outputs->shape;
    const uint32_t axes = x->rank - 2;
    int64_t window[SPATIAL_MAX] = {0}, stride[SPATIAL_MAX] = {0}, pads[2 * SPATIAL_MAX] = {0}, amount[SPATIAL_MAX][2];
    if ((x->rank != 4 && x->rank != 5) || y->rank != x->rank)
        return refuse(b, op, "images have two or three spatial axes", "");
    TRY(read_list(b, op, "kernel_shape", axes, 1, window));
    TRY(read_list(b, op, "strides", axes, 1, stride));
    TRY(read_list(b, op, "pads", 2 * axes, 0, pads));
    for (uint32_t i = 0; i < axes; i++) {
        const int64_t in = x->dims[i + 1 + first], windows = y->dims[i + 1 + first];
        amount[i][0] = pads[i];
        amount[i][1] = max_i64(0, (windows - 1) * stride[i] + window[i] - in - pads[i]);
    }
    if (first)
        TRY(build_to_channels_last(b, image, &image));
    build_op(b, axes == 2 ? OP_PoolMax2d : OP_PoolMax3d, "pool");
    build_in(b, image);
    build_ints(b, PARAM_filter_size, window, axes);
    build_ints(b, PARAM_stride, stride, axes);
    build_tensor_ints(b, PARAM_pad_amount, &SHAPE(axes, 2), amount[0]);
    TRY(build_end(b, NULL, &image));
    *out = image;
    return first ? build_to_channels_first(b, image, "y", out) : ODLC_OK;
}
