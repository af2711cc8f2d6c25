/* SPDX-License-Identifier: Apache-2.0 */
#include "op/params.h"
#include "random_graph.h"

#include <string.h>

enum { MAX_NODES = 12, MAX_OPERANDS = 6, MAX_COUNT = 64 };

struct source {
    const uint8_t *bytes;
    size_t size, at;
    struct arena *arena;
    struct graph *g;
};

static uint8_t take(struct source *s)
{
    return s->at < s->size ? s->bytes[s->at++] : 0;
}

static uint32_t take_below(struct source *s, uint32_t limit)
{
    return take(s) % limit;
}

/* ---- values ---- */

static const char *take_name(struct source *s)
{
    static const char *const names[] = {"x",      "y",    "a/b:0",    "a.1",    "a",           "a_perm", " ",
                                        "\"\\",   "\n",   "\xFF\xC0", "größer", "packageName", "0",      "x_axis",
                                        "x_axes", "\x01", "<b>&amp;", "%s%n",   "model"};
    uint32_t which = take_below(s, COUNT_OF(names) + 3);
    if (which < COUNT_OF(names))
        return names[which];
    char *name = arena_strdup(s->arena, "name....");
    for (size_t i = 4; i < 8; i++)
        name[i] = (char)(take(s) | 1); /* not NUL */
    return name;
}

static enum dtype take_dtype(struct source *s)
{
    enum dtype dtype;
    do
        dtype = (enum dtype)(1 + take_below(s, DT_COUNT - 1));
    while (!dtype_in_containers(dtype) && s->at < s->size);
    return dtype_in_containers(dtype) ? dtype : DT_FLOAT32;
}

static struct shape take_shape(struct source *s)
{
    struct shape shape = {.rank = take_below(s, MAX_RANK + 1)};
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dims[i] = take_below(s, 4);
    for (uint32_t i = 0; shape_count(&shape) > MAX_COUNT; i++)
        shape.dims[i] = 1;
    return shape;
}

static int64_t take_int(struct source *s, enum dtype dtype)
{
    static const int64_t special[] = {0, 1, -1, 2, 127, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    int64_t value = special[take_below(s, COUNT_OF(special))];
    keep_low_bits(&value, dtype, 1);
    return value;
}

/* Of those that every type of floats holds, and some that float64 alone does where that is allowed. */
static double take_real(struct source *s, bool wide)
{
    static const double special[] = {0, -0.0, 1, -1.5, 0.25, 1024, 1.0 / 0.0, -1.0 / 0.0, 0.1, 1e300};
    return special[take_below(s, wide ? COUNT_OF(special) : COUNT_OF(special) - 2)];
}

static const char *const *take_strings(struct source *s, uint64_t count)
{
    const char **strings = arena_array(s->arena, const char *, count);
    for (uint64_t i = 0; i < count; i++)
        strings[i] = take_below(s, 4) ? take_name(s) : "";
    return strings;
}

static const void *take_elements(struct source *s, enum dtype dtype, uint64_t count)
{
    uint8_t *bytes = arena_calloc(s->arena, count, dtype_size(dtype));
    for (uint64_t i = 0; i < count; i++) {
        double real = dtype_is_float(dtype) ? take_real(s, false) : 0;
        int64_t whole = dtype_is_float(dtype) ? 0 : take_int(s, dtype);
        convert_elements(bytes + i * dtype_size(dtype), dtype, dtype_is_float(dtype) ? (void *)&real : &whole,
                         dtype_is_float(dtype) ? DT_FLOAT64 : DT_INT64, 1);
    }
    return bytes;
}

/* ---- tensors ---- */

/* Containers keep these numbers as float32. */
static struct encoding take_encoding(struct source *s)
{
    return (struct encoding){.bitwidth = take(s),
                             .min = take_real(s, false),
                             .max = take_real(s, false),
                             .scale = take_real(s, false),
                             .offset = (int32_t)take_int(s, DT_INT32),
                             .symmetric = take(s) & 1};
}

static const struct quant *take_quant(struct source *s, const struct shape *shape)
{
    struct quant *quant = arena_new(s->arena, struct quant);
    quant->overridden = take(s) & 1;
    quant->per_axis = shape->rank && take_below(s, 2);
    quant->axis = quant->per_axis ? take_below(s, shape->rank) : 0;
    quant->count = quant->per_axis ? (uint32_t)shape->dims[quant->axis] : 1;
    struct encoding *encodings = arena_array(s->arena, struct encoding, quant->count);
    for (uint32_t i = 0; i < quant->count; i++)
        encodings[i] = take_encoding(s);
    quant->encodings = encodings;
    return quant;
}

static tensor_id take_tensor(struct source *s, enum tensor_kind kind)
{
    static const uint8_t formats[] = {0,
                                      AXIS_FORMAT_NCHW,
                                      AXIS_FORMAT_NHWC,
                                      AXIS_FORMAT_NCF,
                                      AXIS_FORMAT_NFC,
                                      AXIS_FORMAT_NF,
                                      AXIS_FORMAT_ANY,
                                      AXIS_FORMAT_NONTRIVIAL,
                                      AXIS_FORMAT_HWIO};
    struct type type = {take_dtype(s), take_shape(s)};
    tensor_id id = graph_add_tensor(s->g, take_name(s), kind, &type);
    struct tensor *t = graph_tensor(s->g, id);
    t->axis_format = formats[take_below(s, COUNT_OF(formats))];
    t->source_dtype = take_below(s, 3) ? DT_NONE : (uint8_t)take_dtype(s);
    if (t->source_dtype == type.dtype)
        t->source_dtype = DT_NONE;
    if (take_below(s, 3) == 0)
        t->quant = take_quant(s, &type.shape);
    return id;
}

/* Constants have work to do on them, as those of converters have: repeated elements, an order of axes. */
static tensor_id take_constant(struct source *s)
{
    tensor_id id = take_tensor(s, TENSOR_STATIC);
    const struct type *type = graph_tensor(s->g, id)->type;
    bool splat = take_below(s, 4) == 0, strings = type->dtype == DT_STRING;
    uint64_t count = splat ? 1 : shape_count(&type->shape);
    struct perm reversed = {.rank = type->shape.rank};
    for (uint32_t i = 0; i < reversed.rank; i++)
        reversed.axis[i] = (uint8_t)(reversed.rank - 1 - i);
    bool permuted = !strings && take_below(s, 4) == 0;
    struct shape shape = permuted ? perm_apply(&reversed, &type->shape) : type->shape;
    struct view view = view_of(strings ? NULL : take_elements(s, type->dtype, count), type->dtype, &shape);
    view.strings = strings ? take_strings(s, count) : NULL;
    view.splat = splat;
    if (permuted)
        view_permute(&view, &reversed);
    graph_set_view(s->g, id, &view);
    return id;
}

static tensor_id take_input(struct source *s, bool may_miss)
{
    const struct graph *g = s->g;
    uint32_t what = take_below(s, 8);
    if (what == 0 && may_miss)
        return NO_TENSOR;
    if (what < 4 && g->tensors.count)
        return take_below(s, (uint32_t)g->tensors.count);
    if (what < 6)
        return take_constant(s);
    tensor_id id = take_tensor(s, TENSOR_INPUT);
    vec_push(s->arena, &s->g->inputs, id);
    return id;
}

static tensor_id take_output(struct source *s)
{
    bool is_output = take_below(s, 3) == 0;
    tensor_id id = take_tensor(s, is_output ? TENSOR_OUTPUT : TENSOR_NATIVE);
    if (is_output)
        vec_push(s->arena, &s->g->outputs, id);
    return id;
}

/* ---- nodes ---- */

static struct param take_param(struct source *s, const struct param_def *def)
{
    enum dtype dtype = def->dtype == DT_NONE ? (take(s) & 1 ? DT_FLOAT32 : DT_INT32) : def->dtype;
    struct param p = {.set = true,
                      .is_tensor = def->is_tensor,
                      .usage = def->supplemental ? 2 : 1,
                      .name = def->name,
                      .dtype = dtype};
    if (!p.is_tensor) {
        p.i = dtype_is_float(dtype) || dtype == DT_STRING ? 0 : take_int(s, dtype);
        p.f = dtype_is_float(dtype) ? take_real(s, true) : 0;
        p.s = dtype == DT_STRING ? take_name(s) : NULL;
        return p;
    }
    p.shape = take_shape(s);
    uint64_t count = shape_count(&p.shape);
    double *floats = arena_array(s->arena, double, count);
    int64_t *ints = arena_array(s->arena, int64_t, count);
    for (uint64_t i = 0; i < count && dtype != DT_STRING; i++) {
        floats[i] = dtype_is_float(dtype) ? take_real(s, false) : 0;
        ints[i] = dtype_is_float(dtype) ? 0 : take_int(s, dtype);
    }
    p.floats = floats;
    p.ints = ints;
    p.strings = dtype == DT_STRING ? take_strings(s, count) : NULL;
    return p;
}

/* A user-defined operator: two of its params may have one name, which a container does not take. */
static const struct op *take_udo(struct source *s)
{
    struct op *row = arena_new(s->arena, struct op);
    struct param_def *params = arena_array(s->arena, struct param_def, 5);
    row->n_params = take_below(s, 6);
    for (uint32_t i = 0; i < row->n_params; i++)
        params[i] = (struct param_def){.name = take_name(s),
                                       .dtype = take_dtype(s),
                                       .presence = PARAM_OPTIONAL,
                                       .is_tensor = take(s) & 1,
                                       .supplemental = take(s) & 1};
    row->name = row->dlc_type = take_name(s);
    row->package = arena_printf(s->arena, "P%s", take_name(s));
    row->params = params;
    row->max_inputs = row->max_outputs = VARIADIC;
    return row;
}

static const struct op *take_op(struct source *s)
{
    uint32_t count = 0;
    while (op_at(count))
        count++;
    return take_below(s, 4) ? op_at(take_below(s, count)) : take_udo(s);
}

static uint32_t take_arity(struct source *s, uint8_t min, uint8_t max)
{
    uint32_t most = max == VARIADIC ? min + MAX_OPERANDS : max;
    return min + take_below(s, most - min + 1);
}

/* The first operands that a row asks for are there, and so are all of a list. */
static bool may_miss(uint32_t i, uint8_t min, uint8_t max)
{
    return i >= min && !(min && max == VARIADIC);
}

static void take_node(struct source *s)
{
    const struct op *op = take_op(s);
    uint32_t n_in = take_arity(s, op->min_inputs, op->max_inputs),
             n_out = take_arity(s, op->min_outputs, op->max_outputs);
    tensor_id *in = arena_array(s->arena, tensor_id, n_in), *out = arena_array(s->arena, tensor_id, n_out);
    for (uint32_t i = 0; i < n_in; i++)
        in[i] = take_input(s, may_miss(i, op->min_inputs, op->max_inputs));
    for (uint32_t i = 0; i < n_out; i++)
        out[i] = may_miss(i, op->min_outputs, op->max_outputs) && take_below(s, 8) == 0 ? NO_TENSOR : take_output(s);
    node_id id = graph_add_node(s->g, op, op->n_params, take_name(s), in, n_in, out, n_out);
    for (uint32_t i = 0; i < op->n_params; i++) {
        if (op->params[i].presence == PARAM_OPTIONAL && take_below(s, 3) == 0)
            continue;
        const struct param p = take_param(s, &op->params[i]);
        node_set_param(s->g, graph_node(s->g, id), i, &p);
    }
    vec_push(s->arena, &s->g->order, id);
}

struct graph *random_graph(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct source s = {.bytes = bytes, .size = size, .arena = arena};
    s.g = graph_create(arena, take_name(&s));
    for (uint32_t i = 0; i < MAX_NODES && s.at < s.size; i++)
        take_node(&s);
    return s.g;
}
