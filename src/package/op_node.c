/* SPDX-License-Identifier: Apache-2.0 */
#include "package/op_node.h"

#include "op/params.h"
#include "package/static_params.h"
#include "udo/udo.h"

enum { USAGE_SUPPLEMENTAL = 2 };

enum dtype op_node_activation(enum dtype dtype)
{
    return dtype_is_fixed(dtype) || dtype == DT_FLOAT16 ? DT_FLOAT32 : dtype;
}

static uint32_t *dimensions(struct arena *arena, const struct shape *shape)
{
    uint32_t *dims = arena_array(arena, uint32_t, shape->rank + 1);
    for (uint32_t i = 0; i < shape->rank; i++)
        dims[i] = (uint32_t)shape->dims[i];
    return dims;
}

/* ---- encodings ---- */

static Qnn_QuantizeParams_t encodings(struct arena *arena, const struct quant *quant)
{
    Qnn_QuantizeParams_t out = QNN_QUANTIZE_PARAMS_INIT;
    if (!quant)
        return out;
    out.encodingDefinition = QNN_DEFINITION_DEFINED;
    Qnn_ScaleOffset_t *all = arena_array(arena, Qnn_ScaleOffset_t, quant->count);
    for (uint32_t i = 0; i < quant->count; i++)
        all[i] = (Qnn_ScaleOffset_t){(float)quant->encodings[i].scale, quant->encodings[i].offset};
    out.quantizationEncoding =
        quant->per_axis ? QNN_QUANTIZATION_ENCODING_AXIS_SCALE_OFFSET : QNN_QUANTIZATION_ENCODING_SCALE_OFFSET;
    if (quant->per_axis)
        out.axisScaleOffsetEncoding = (Qnn_AxisScaleOffset_t){(int32_t)quant->axis, quant->count, all};
    else
        out.scaleOffsetEncoding = all[0];
    return out;
}

/* ---- operands ---- */

static QnnCpuOpPackage_Tensor_t operand(struct arena *arena, const struct tensor *t, const struct buffer *constant)
{
    const bool is_static = t->kind == TENSOR_STATIC;
    const enum dtype dtype = is_static ? t->type->dtype : op_node_activation(t->type->dtype);
    uint32_t *dims = dimensions(arena, &t->type->shape);
    return (QnnCpuOpPackage_Tensor_t){
        .dataType = (Qnn_DataType_t)dtype_info(dtype)->dlc,
        .rank = t->type->shape.rank,
        .maxDimensions = dims,
        .currentDimensions = arena_memdup(arena, dims, t->type->shape.rank * sizeof *dims),
        .data = is_static ? constant->data : NULL,
        .quantizeParams = is_static ? encodings(arena, t->quant) : (Qnn_QuantizeParams_t)QNN_QUANTIZE_PARAMS_INIT,
    };
}

static QnnCpuOpPackage_Tensor_t *operands(struct arena *arena, const struct graph *g, const tensor_id *ids,
                                          uint32_t n_ids, uint32_t count, const struct buffer *constants)
{
    QnnCpuOpPackage_Tensor_t *out = arena_array(arena, QnnCpuOpPackage_Tensor_t, count);
    for (uint32_t i = 0; i < count; i++) {
        out[i] =
            (QnnCpuOpPackage_Tensor_t){.dataType = QNN_DATATYPE_UNDEFINED, .quantizeParams = QNN_QUANTIZE_PARAMS_INIT};
        if (i < n_ids && ids[i] != NO_TENSOR)
            out[i] = operand(arena, graph_tensor(g, ids[i]), &constants[ids[i]]);
    }
    return out;
}

static QnnCpuOpPackage_Tensor_t **pointers_to(struct arena *arena, QnnCpuOpPackage_Tensor_t *tensors, uint32_t count)
{
    QnnCpuOpPackage_Tensor_t **out = arena_array(arena, QnnCpuOpPackage_Tensor_t *, count);
    for (uint32_t i = 0; i < count; i++)
        out[i] = &tensors[i];
    return out;
}

/* ---- params ---- */

static double number(const struct param *p)
{
    return dtype_is_float(p->dtype) ? p->f : (double)p->i;
}

/* The elements in the param's own type. */
static void *elements(struct arena *arena, const struct param *p)
{
    const uint64_t count = shape_count(&p->shape);
    if (p->dtype == DT_STRING)
        return arena_memdup(arena, p->strings, count * sizeof *p->strings);
    struct buffer wide = {.shape = p->shape}, out = {.dtype = p->dtype, .shape = p->shape};
    wide.dtype = dtype_is_float(p->dtype) ? DT_FLOAT64 : DT_INT64;
    wide.data = dtype_is_float(p->dtype) ? (void *)p->floats : (void *)p->ints;
    out.data = arena_calloc(arena, count, dtype_size(p->dtype));
    buffer_narrow(&wide, &out);
    return out.data;
}

static QnnCpuOpPackage_Tensor_t *tensor_param(struct arena *arena, const struct param *p)
{
    QnnCpuOpPackage_Tensor_t *t = arena_new(arena, QnnCpuOpPackage_Tensor_t);
    uint32_t *dims = dimensions(arena, &p->shape);
    *t = (QnnCpuOpPackage_Tensor_t){.dataType = (Qnn_DataType_t)dtype_info(p->dtype)->dlc,
                                    .rank = p->shape.rank,
                                    .maxDimensions = dims,
                                    .currentDimensions = arena_memdup(arena, dims, p->shape.rank * sizeof *dims),
                                    .data = elements(arena, p),
                                    .quantizeParams = QNN_QUANTIZE_PARAMS_INIT};
    return t;
}

static QnnCpuOpPackage_Param_t cpu_param(struct arena *arena, const struct param *p)
{
    QnnCpuOpPackage_Param_t out = {.name = p->name};
    if (p->is_tensor) {
        out.type = ODLC_CPU_PARAM_TENSOR;
        out.tensorParam = tensor_param(arena, p);
    } else if (p->dtype == DT_STRING) {
        out.type = ODLC_CPU_PARAM_STRING;
        out.stringParam = p->s;
    } else {
        out.type = ODLC_CPU_PARAM_SCALAR;
        out.scalarParam = number(p);
    }
    return out;
}

bool op_node_gives(const struct param *p)
{
    return p->set && p->usage != USAGE_SUPPLEMENTAL;
}

static void add_params(struct arena *arena, const struct node *n, struct op_node *out)
{
    QnnCpuOpPackage_Param_t **all = arena_array(arena, QnnCpuOpPackage_Param_t *, n->op->n_params);
    for (uint32_t i = 0; i < n->op->n_params; i++) {
        const struct param p = node_get_param(n, i);
        if (!op_node_gives(&p))
            continue;
        QnnCpuOpPackage_Param_t *param = arena_new(arena, QnnCpuOpPackage_Param_t);
        *param = cpu_param(arena, &p);
        all[out->node.numOfParams++] = param;
    }
    out->node.params = all;
}

/* ---- the config for validateOpConfig ---- */

static Qnn_Tensor_t config_tensor(const char *name, Qnn_TensorType_t type, const QnnCpuOpPackage_Tensor_t *t)
{
    Qnn_Tensor_t out = QNN_TENSOR_INIT;
    out.v1.name = name;
    out.v1.type = type;
    out.v1.dataType = t->dataType;
    out.v1.quantizeParams = t->quantizeParams;
    out.v1.rank = t->rank;
    out.v1.dimensions = t->currentDimensions;
    out.v1.clientBuf.data = t->data;
    return out;
}

static Qnn_Tensor_t *config_operands(struct arena *arena, const struct graph *g, const tensor_id *ids, uint32_t n_ids,
                                     const QnnCpuOpPackage_Tensor_t *tensors, uint32_t count)
{
    static const Qnn_TensorType_t types[] = {[TENSOR_NATIVE] = QNN_TENSOR_TYPE_NATIVE,
                                             [TENSOR_INPUT] = QNN_TENSOR_TYPE_APP_WRITE,
                                             [TENSOR_OUTPUT] = QNN_TENSOR_TYPE_APP_READ,
                                             [TENSOR_STATIC] = QNN_TENSOR_TYPE_STATIC};
    Qnn_Tensor_t *out = arena_array(arena, Qnn_Tensor_t, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct tensor *t = i < n_ids && ids[i] != NO_TENSOR ? graph_tensor(g, ids[i]) : NULL;
        out[i] = config_tensor(t ? t->name : "", t ? types[t->kind] : QNN_TENSOR_TYPE_NULL, &tensors[i]);
    }
    return out;
}

static Qnn_Scalar_t config_scalar(const struct param *p)
{
    Qnn_Scalar_t out = QNN_SCALAR_INIT;
    out.dataType = (Qnn_DataType_t)dtype_info(p->dtype)->dlc;
    switch (p->dtype) {
    case DT_STRING:
        out.stringValue = p->s;
        break;
    case DT_FLOAT64:
        out.doubleValue = p->f;
        break;
    case DT_FLOAT32:
    case DT_FLOAT16:
        out.floatValue = (float)p->f;
        break;
    default: /* integers and booleans: the bytes of the narrower ones are the first ones of the widest */
        out.int64Value = p->i;
    }
    return out;
}

static void add_config_params(struct arena *arena, const struct node *n, struct op_node *out)
{
    Qnn_Param_t *all = arena_array(arena, Qnn_Param_t, out->node.numOfParams);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->op->n_params; i++) {
        const struct param p = node_get_param(n, i);
        if (!op_node_gives(&p))
            continue;
        const QnnCpuOpPackage_Param_t *cpu = out->node.params[count];
        Qnn_Param_t *param = &all[count++];
        param->name = p.name;
        param->paramType = p.is_tensor ? QNN_PARAMTYPE_TENSOR : QNN_PARAMTYPE_SCALAR;
        if (p.is_tensor)
            param->tensorParam = config_tensor(p.name, QNN_TENSOR_TYPE_STATIC, cpu->tensorParam);
        else
            param->scalarParam = config_scalar(&p);
    }
    out->config.v1.numOfParams = count;
    out->config.v1.params = all;
}

/* ---- counts ---- */

/* Those at the end that a node leaves out are not in the container. */
static uint32_t count_with(uint32_t given, uint32_t declared, bool repeated)
{
    return repeated || given > declared ? given : declared;
}

static uint32_t defined_count(uint32_t given, const struct udo_tensor *declared, uint32_t count)
{
    bool repeated = false;
    for (uint32_t i = 0; i < count; i++)
        repeated |= declared[i].repeated;
    return count_with(given, count, repeated);
}

bool op_node_repeats(const SnpeUdo_TensorInfo_t *registered, uint32_t count)
{
    bool repeated = false;
    for (uint32_t i = 0; i < count; i++)
        repeated |= registered[i].repeatable;
    return repeated;
}

static uint32_t registered_count(uint32_t given, const SnpeUdo_TensorInfo_t *registered, uint32_t count)
{
    return count_with(given, count, op_node_repeats(registered, count));
}

static void count_operands(const struct node *n, const SnpeUdo_OperationInfo_t *registered, QnnCpuOpPackage_Node_t *out)
{
    const struct udo_def *def = n->op->udo;
    out->numOfInputs = n->n_inputs;
    out->numOfOutputs = n->n_outputs;
    if (def) {
        out->numOfInputs = defined_count(n->n_inputs, def->inputs, def->n_inputs);
        out->numOfOutputs = defined_count(n->n_outputs, def->outputs, def->n_outputs);
    } else if (registered) {
        out->numOfInputs = registered_count(n->n_inputs, registered->inputInfos, registered->numOfInputs);
        out->numOfOutputs = registered_count(n->n_outputs, registered->outputInfos, registered->numOfOutputs);
    }
}

static void as_stored(struct arena *arena, const struct graph *g, const tensor_id *ids, uint32_t n_ids,
                      Qnn_Tensor_t *tensors)
{
    for (uint32_t i = 0; i < n_ids; i++) {
        if (ids[i] == NO_TENSOR)
            continue;
        const struct tensor *t = graph_tensor(g, ids[i]);
        tensors[i].v1.dataType = (Qnn_DataType_t)dtype_info(t->type->dtype)->dlc;
        tensors[i].v1.quantizeParams = encodings(arena, t->quant);
    }
}

void op_node_config_as_stored(struct arena *arena, const struct graph *g, const struct node *n, struct op_node *node)
{
    as_stored(arena, g, n->inputs, n->n_inputs, node->config.v1.inputTensors);
    as_stored(arena, g, n->outputs, n->n_outputs, node->config.v1.outputTensors);
}

struct op_node *op_node_make(struct arena *arena, const struct graph *g, const struct node *n, const char *package,
                             const SnpeUdo_OperationInfo_t *registered, const struct buffer *constants)
{
    struct op_node *out = arena_new(arena, struct op_node);
    QnnCpuOpPackage_Node_t *node = &out->node;
    Qnn_OpConfigV1_t *config = &out->config.v1;
    count_operands(n, registered, node);
    out->inputs = operands(arena, g, n->inputs, n->n_inputs, node->numOfInputs, constants);
    out->outputs = operands(arena, g, n->outputs, n->n_outputs, node->numOfOutputs, constants);
    config->name = node->name = n->name;
    config->packageName = node->packageName = package;
    config->typeName = node->typeName = n->op->name;
    node->inputs = pointers_to(arena, out->inputs, node->numOfInputs);
    node->outputs = pointers_to(arena, out->outputs, node->numOfOutputs);
    add_params(arena, n, out);
    out->config.version = QNN_OPCONFIG_VERSION_1;
    config->numOfInputs = node->numOfInputs;
    config->inputTensors = config_operands(arena, g, n->inputs, n->n_inputs, out->inputs, node->numOfInputs);
    config->numOfOutputs = node->numOfOutputs;
    config->outputTensors = config_operands(arena, g, n->outputs, n->n_outputs, out->outputs, node->numOfOutputs);
    add_config_params(arena, n, out);
    out->static_params = static_params_make(arena, n, node, registered, &out->n_static_params);
    return out;
}
