/* SPDX-License-Identifier: Apache-2.0 */
/* Version 3 containers: layers and their parameters to records. */
#include "dlc/read.h"

#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

static odlc_status read_args(const struct dlc_reading *r, struct fb_vector list, const struct dlc_attr **out);

static void set_list(const struct dlc_reading *r, struct dlc_attr *a, enum dtype dtype, struct fb_vector v,
                     const char *const *strings)
{
    struct dlc_tensor *t = arena_new(r->arena, struct dlc_tensor);
    struct view *view = arena_new(r->arena, struct view);
    *t = (struct dlc_tensor){.name = a->name,
                             .kind = KIND_STATIC,
                             .shape = dlc_keep_shape(r, &SHAPE(v.count)),
                             .axis_format = AXIS_FORMAT_ANY,
                             .dtype = (uint8_t)dtype,
                             .source_dtype = (uint8_t)dtype,
                             .dtype_code = dtype_info(dtype)->dlc,
                             .source_dtype_code = dtype_info(dtype)->dlc,
                             .encoding = NO_ENCODING,
                             .view = view};
    *view = view_of(v.count && !strings ? fb_bytes(v) : NULL, dtype, t->shape);
    view->strings = strings;
    a->kind = DLC_TENSOR;
    a->dtype = (uint8_t)dtype;
    a->tensor = t;
}

static void set_int(struct dlc_attr *a, enum dlc_value_kind kind, enum dtype dtype, int64_t value)
{
    a->kind = (uint8_t)kind;
    a->dtype = (uint8_t)dtype;
    a->i = value;
}

static odlc_status read_arg(const struct dlc_reading *r, struct fb_table t, struct dlc_attr *a)
{
    a->name = dlc_text(v3_arg_name(t));
    switch (v3_arg_type(t)) {
    case ARG_IS_BOOL:
        set_int(a, DLC_BOOL, DT_BOOL, v3_arg_bool_value(t));
        break;
    case ARG_IS_INT:
        set_int(a, DLC_INT, DT_INT32, v3_arg_int_value(t));
        break;
    case ARG_IS_UINT:
        set_int(a, DLC_UINT, DT_UINT32, v3_arg_uint_value(t));
        break;
    case ARG_IS_FLOAT:
        a->kind = DLC_FLOAT;
        a->dtype = DT_FLOAT32;
        a->f = v3_arg_float_value(t);
        break;
    case ARG_IS_STRING:
        a->kind = DLC_STRING;
        a->dtype = DT_STRING;
        a->s = dlc_text(v3_arg_string_value(t));
        break;
    case ARG_IS_BYTES:
        set_list(r, a, DT_UINT8, v3_arg_bytes(t), NULL);
        break;
    case ARG_IS_INTS:
        set_list(r, a, DT_INT32, v3_arg_ints(t), NULL);
        break;
    case ARG_IS_UINTS:
        set_list(r, a, DT_UINT32, v3_arg_uints(t), NULL);
        break;
    case ARG_IS_FLOATS:
        set_list(r, a, DT_FLOAT32, v3_arg_floats(t), NULL);
        break;
    case ARG_IS_STRINGS:
        set_list(r, a, DT_STRING, v3_arg_strings(t), dlc_read_strings(r->arena, v3_arg_strings(t)));
        break;
    case ARG_IS_NESTED:
        a->kind = DLC_NESTED;
        a->n_nested = v3_arg_args(t).count;
        return read_args(r, v3_arg_args(t), &a->nested);
    default:
        return dlc_invalid(r, NULL, "argument %s is of the unknown type %u", a->name, v3_arg_type(t));
    }
    a->dtype_code = dtype_info((enum dtype)a->dtype)->dlc;
    return ODLC_OK;
}

/* Nesting is bounded by the verification before. */
static odlc_status read_args(const struct dlc_reading *r, struct fb_vector list, const struct dlc_attr **out)
{
    struct dlc_attr *args = arena_array(r->arena, struct dlc_attr, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        TRY(read_arg(r, fb_table_at(list, i), &args[i]));
    *out = args;
    return ODLC_OK;
}

/* A group of arguments, to look into. */
struct group {
    const struct dlc_attr *args;
    uint32_t count;
};

static const struct dlc_attr *find_arg(struct group g, const char *name)
{
    for (uint32_t i = 0; i < g.count; i++)
        if (strcmp(g.args[i].name, name) == 0)
            return &g.args[i]; /* cppcheck-suppress returnDanglingLifetime ; g holds a pointer to them */
    return NULL;
}

static struct group enter(struct group g, const char *name)
{
    const struct dlc_attr *a = find_arg(g, name);
    return a && a->kind == DLC_NESTED ? (struct group){a->nested, a->n_nested} : (struct group){NULL, 0};
}

static double number(struct group g, const char *name)
{
    const struct dlc_attr *a = find_arg(g, name);
    return !a ? 0 : a->kind == DLC_FLOAT ? a->f : (double)a->i;
}

/* ---- quantization ---- */

/* delta, min, max, offset; precision is a type code, whose low byte gives the bits in decimal digits (0x208: 8). */
static bool read_encoding(struct group g, struct encoding *out)
{
    if (!find_arg(g, "delta"))
        return false;
    double offset = number(g, "offset"), precision = number(g, "precision");
    uint32_t bits = precision > 0 && precision < 65536 ? (uint32_t)precision & 0xFF : 8;
    *out = (struct encoding){.bitwidth = (bits >> 4) * 10 + (bits & 0xF),
                             .min = number(g, "min"),
                             .max = number(g, "max"),
                             .scale = number(g, "delta"),
                             .offset = offset > INT32_MIN && offset < INT32_MAX ? (int32_t)offset : 0};
    return true;
}

/* The encoding of output `index` (tensors of model.params: 0). DataEncoding {"0": {DataEncodingElement {"0": {delta,
 * …}, …}, axis}} with one element, or one per channel along axis; FxpData of older files {"0": {delta, …}} or {delta,
 * …}. */
static const struct quant *read_quant(struct arena *arena, struct group args, const char *index,
                                      const struct shape *shape)
{
    struct group coded = enter(enter(args, "DataEncoding"), index), list = enter(coded, "DataEncodingElement");
    struct group old = enter(args, "FxpData");
    struct group flat = find_arg(old, "delta") ? old : enter(old, index);
    struct quant *quant = arena_new(arena, struct quant);
    struct encoding *encodings = arena_array(arena, struct encoding, list.count + 1);
    if (find_arg(flat, "delta"))
        quant->count += read_encoding(flat, &encodings[0]);
    for (uint32_t i = 0; i < list.count && quant->count == i; i++)
        quant->count += read_encoding((struct group){list.args[i].nested, list.args[i].n_nested}, &encodings[i]);
    double axis = number(coded, "axis");
    quant->encodings = encodings;
    quant->per_axis = quant->count > 1;
    quant->axis = axis > 0 && axis < MAX_RANK ? (uint32_t)axis : 0;
    bool matches = !quant->per_axis || (quant->axis < shape->rank && shape->dims[quant->axis] == quant->count);
    return quant->count && matches ? quant : NULL;
}

static enum dtype quantized_dtype(const struct quant *quant)
{
    switch (quant->encodings[0].bitwidth) {
    case 4:
        return DT_UFXP4;
    case 16:
        return DT_UFXP16;
    case 32:
        return DT_UFXP32;
    default:
        return DT_UFXP8;
    }
}

static void set_dtype(struct dlc_tensor *t, enum dtype dtype, enum dtype source)
{
    t->dtype = (uint8_t)dtype;
    t->source_dtype = (uint8_t)source;
    t->dtype_code = dtype_info(dtype)->dlc;
    t->source_dtype_code = dtype_info(source)->dlc;
    t->is_quantizable = dtype_is_float(source);
    t->encoding = t->quant ? t->quant->per_axis : NO_ENCODING;
}

/* ---- model.params: tensors by layer name ---- */

static odlc_status read_param(const struct dlc_reading *r, struct fb_table t, struct dlc_tensor *out)
{
    const struct dlc_attr *args;
    struct fb_vector arg_list = v3_tensor_args(t);
    struct fb_table data = v3_tensor_data(t);
    TRY(read_args(r, arg_list, &args));
    out->name = dlc_text(v3_tensor_name(t));
    out->kind = KIND_STATIC;
    TRY(dlc_read_shape(r, out->name, v3_tensor_dims(t), &out->shape));
    out->quant = read_quant(r->arena, (struct group){args, arg_list.count}, "0", out->shape);
    bool floats = v3_data_type(data) == ARG_IS_FLOATS;
    struct fb_vector bytes = floats ? v3_data_floats(data) : v3_data_bytes(data);
    set_dtype(out,
              floats       ? DT_FLOAT32
              : out->quant ? quantized_dtype(out->quant)
                           : DT_UINT8,
              out->quant || floats ? DT_FLOAT32 : DT_UINT8);
    const struct dlc_bytes payload =
        bytes.pos ? dlc_payload(r, bytes, (uint64_t)bytes.count * (floats ? 4 : 1)) : dlc_part(&r->params.whole, 0, 0);
    return dlc_attach(r, out, &payload);
}

struct layer_params {
    struct map index; /* layer name → position in the list */
    struct fb_vector list;
};

static odlc_status open_params(struct dlc_reading *r, struct layer_params *p)
{
    map_init(&p->index, r->arena);
    p->list = (struct fb_vector){.count = 0};
    if (!r->params.name)
        return ODLC_OK;
    if (strcmp(r->params.identifier, ID_PARAMS) != 0)
        return dlc_invalid(r, NULL, "entry model.params is not identified as " ID_PARAMS);
    TRY(dlc_verify_buffer(r, &r->params, &v3_params));
    r->dlc->params_format = ID_PARAMS;
    p->list = v3_params_layers(fb_root(&r->params.buffer));
    for (uint32_t i = 0; i < p->list.count; i++) {
        const char *name = dlc_text(v3_layer_params_name(fb_table_at(p->list, i)));
        if (map_add(&p->index, name, i) != MAP_NONE)
            return dlc_invalid(r, name, "model.params lists a layer twice");
    }
    return ODLC_OK;
}

static odlc_status read_layer_params(const struct dlc_reading *r, const struct layer_params *p, struct dlc_op *op)
{
    uint32_t index = map_get(&p->index, op->name);
    if (index == MAP_NONE)
        return ODLC_OK;
    struct fb_vector list = v3_layer_params_tensors(fb_table_at(p->list, index));
    struct dlc_tensor *params = arena_array(r->arena, struct dlc_tensor, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        TRY(read_param(r, fb_table_at(list, i), &params[i]));
    op->params = params;
    op->n_params = list.count;
    return ODLC_OK;
}

/* ---- layers and the tensors between them ---- */

static odlc_status read_layer(const struct dlc_reading *r, struct fb_table t, const struct layer_params *params,
                              struct dlc_op *op)
{
    struct fb_vector in = v3_layer_inputs(t), out = v3_layer_outputs(t), args = v3_layer_args(t);
    op->id = v3_layer_id(t);
    op->name = dlc_text(v3_layer_name(t));
    op->type = dlc_text(v3_layer_type(t));
    op->n_outputs = out.count;
    op->outputs = dlc_read_strings(r->arena, out);
    /* An Input layer lists its own output as input. */
    op->n_inputs = strcmp(op->type, "Input") == 0 ? 0 : in.count;
    op->inputs = dlc_read_strings(r->arena, in);
    op->n_attrs = args.count;
    TRY(read_args(r, args, &op->attrs));
    return read_layer_params(r, params, op);
}

/* OutputDims {"0": uints, "1": …} */
static odlc_status output_shape(const struct dlc_reading *r, const struct dlc_op *op, const char *index,
                                const struct shape **out)
{
    struct group args = {op->attrs, op->n_attrs};
    const struct dlc_attr *dims = find_arg(enter(args, "OutputDims"), index);
    if (!dims || dims->kind != DLC_TENSOR || dims->dtype != DT_UINT32)
        return dlc_invalid(r, op->name, "the layer does not say the dimensions of output %s", index);
    uint64_t count = shape_count(dims->tensor->shape);
    if (count > MAX_RANK)
        return dlc_invalid(r, op->name, "output %s has more than %d dimensions", index, MAX_RANK);
    struct shape shape = {.rank = (uint32_t)count};
    for (uint32_t i = 0; i < shape.rank; i++)
        convert_elements(&shape.dims[i], DT_INT64, dims->tensor->view->bytes + 4 * i, DT_UINT32, 1);
    *out = dlc_keep_shape(r, &shape);
    return shape_too_large(&shape) ? dlc_invalid(r, op->name, "output %s has impossible dimensions", index) : ODLC_OK;
}

/* The elements are those of the layer's parameters, whose dimensions may be said in another way. */
static odlc_status make_constant(const struct dlc_reading *r, const struct dlc_op *op, struct dlc_tensor *t)
{
    const struct dlc_tensor *from = &op->params[0];
    bool fits = from->quant && from->quant->per_axis ? shape_equal(from->shape, t->shape)
                                                     : shape_count(from->shape) == shape_count(t->shape);
    if (!fits)
        return dlc_invalid(r, op->name, "output %s has other dimensions than the layer's parameters", t->name);
    t->kind = KIND_STATIC;
    t->view = from->view;
    t->quant = from->quant;
    set_dtype(t, (enum dtype)from->dtype, (enum dtype)from->source_dtype);
    return ODLC_OK;
}

static odlc_status make_tensor(const struct dlc_reading *r, const struct dlc_op *op, uint32_t output,
                               struct dlc_tensor *t)
{
    const char *index = arena_printf(r->arena, "%u", output);
    t->name = op->outputs[output];
    TRY(output_shape(r, op, index, &t->shape));
    t->quant = read_quant(r->arena, (struct group){op->attrs, op->n_attrs}, index, t->shape);
    set_dtype(t, t->quant ? quantized_dtype(t->quant) : DT_FLOAT32, DT_FLOAT32);
    t->kind = KIND_APP_READ; /* until a layer reads it */
    if (strcmp(op->type, "Input") == 0)
        t->kind = KIND_APP_WRITE;
    return strcmp(op->type, "Const") == 0 && op->n_params == 1 ? make_constant(r, op, t) : ODLC_OK;
}

/* A layer that works in place writes a tensor again; it keeps its first record. */
static odlc_status make_tensors(const struct dlc_reading *r, struct dlc_graph *g)
{
    VEC(struct dlc_tensor) list = {0};
    for (uint32_t i = 0; i < g->n_ops; i++) {
        for (uint32_t k = 0; k < g->ops[i].n_outputs; k++) {
            struct dlc_tensor t = {.id = (uint32_t)list.count};
            TRY(make_tensor(r, &g->ops[i], k, &t));
            if (map_add(&g->tensor_index, t.name, t.id) == MAP_NONE)
                vec_push(r->arena, &list, t);
        }
    }
    for (uint32_t i = 0; i < g->n_ops; i++) {
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++) {
            uint32_t index = map_get(&g->tensor_index, g->ops[i].inputs[k]);
            if (index != MAP_NONE && list.data[index].kind == KIND_APP_READ)
                list.data[index].kind = KIND_NATIVE;
        }
    }
    g->tensors = list.data;
    g->n_tensors = (uint32_t)list.count;
    return ODLC_OK;
}

/* Params of layers that the model does not have: harmless to a reader, a finding for dlc_check. */
static void find_stray_params(const struct dlc_reading *r, const struct layer_params *p, const struct dlc_graph *g)
{
    struct map layers;
    VEC(const char *) stray = {0};
    map_init(&layers, r->arena);
    for (uint32_t i = 0; i < g->n_ops; i++)
        map_put(&layers, g->ops[i].name, i);
    for (uint32_t i = 0; i < p->list.count; i++) {
        const char *name = dlc_text(v3_layer_params_name(fb_table_at(p->list, i)));
        if (map_get(&layers, name) == MAP_NONE)
            vec_push(r->arena, &stray, name);
    }
    r->dlc->stray_params = stray.data;
    r->dlc->n_stray_params = stray.count;
}

odlc_status dlc_read_v3(struct dlc_reading *r)
{
    struct layer_params params;
    TRY(dlc_verify_buffer(r, &r->model, &v3_network));
    TRY(open_params(r, &params));
    struct fb_table network = fb_root(&r->model.buffer);
    struct fb_vector layers = v3_network_layers(network);
    struct dlc_graph *g = arena_new(r->arena, struct dlc_graph);
    struct dlc_op *ops = arena_array(r->arena, struct dlc_op, layers.count);
    for (uint32_t i = 0; i < layers.count; i++)
        TRY(read_layer(r, fb_table_at(layers, i), &params, &ops[i]));
    g->name = dlc_text(v3_network_name(network));
    g->ops = ops;
    g->n_ops = layers.count;
    find_stray_params(r, &params, g);
    map_init(&g->tensor_index, r->arena);
    TRY(make_tensors(r, g));
    r->dlc->graphs = g;
    r->dlc->n_graphs = 1;
    return ODLC_OK;
}
