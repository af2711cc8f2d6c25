/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a group as ops that packages see. */
#include <string.h>

#include "base/foreign.h"
#include "op/op.h"
#include "op/params.h"
#include "package/log_sink.h"
#include "package/op_node.h"
#include "package/status_text.h"
#include "plugin/callback.h"
#include "plugin/calls.h"
#include "plugin/plugin_prepare.h"
#include "udo/udo.h"

struct importing {
    struct preparation *p;
    const struct step_io *io;
    QHPI_OpRef *refs; /* per tensor of the IR graph; op NULL: not yet */
};

/* ---- tensors ---- */

static QHPI_OutputDef def_of(const struct tensor *t, const char **unfit)
{
    QHPI_OutputDef def = {.type = element_type_of(t->type->dtype), .shape = qhpi_shape_of(&t->type->shape)};
    if (def.type == QHPI_ELEMENT_TYPE_ANY)
        *unfit = dtype_info(t->type->dtype)->name;
    if (t->quant && t->quant->per_axis && t->quant->count > 1)
        *unfit = "an encoding for each channel";
    else if (t->quant)
        def.quant_parameters =
            (QHPI_Quant_Parameters){-t->quant->encodings[0].offset, (float)t->quant->encodings[0].scale};
    return def;
}

/* All of a tensor, in memory that is the group's own. */
static const QHPI_Op *copy_of(const QHPI_Op *of)
{
    QHPI_Op *op = graph_add(of->graph, KIND_SLICE, NAME_SLICE, 1, 1, of->outputs);
    op->inputs[0] = (QHPI_OpRef){of, 0};
    op->starts = arena_new(of->graph->arena, QHPI_Shape);
    op->starts->rank = of->outputs[0].shape.rank;
    op->unfit = of->unfit;
    return op;
}

static QHPI_OpRef import_tensor(struct importing *m, tensor_id id)
{
    struct plugin_graph *g = m->p->graph;
    const struct tensor *t = graph_tensor(m->p->scope->graph, id);
    const char *unfit = NULL;
    if (m->refs[id].op)
        return m->refs[id];
    const QHPI_OutputDef def = def_of(t, &unfit);
    const bool is_static = t->kind == TENSOR_STATIC;
    QHPI_Op *op = graph_add(g, is_static ? KIND_CONSTANT : KIND_INPUT, is_static ? "Constant" : "Input", 0, 1, &def);
    op->tensor = id;
    op->label = t->name;
    op->unfit = unfit;
    if (is_static) {
        op->data = m->p->scope->constants[id].data;
        op->bytes = def_bytes(&def);
    }
    m->refs[id] = (QHPI_OpRef){!is_static && m->p->options.copies ? copy_of(op) : op, 0};
    return m->refs[id];
}

static QHPI_OpRef absent(struct importing *m)
{
    const QHPI_OutputDef def = {0};
    return (QHPI_OpRef){graph_add(m->p->graph, KIND_ABSENT, "Absent", 0, 1, &def), 0};
}

/* ---- params ---- */

/* 64-bit numbers are told in 32 bits. */
static enum dtype told_dtype(enum dtype dtype)
{
    return dtype == DT_FLOAT64 ? DT_FLOAT32 : dtype == DT_INT64 || dtype == DT_UINT64 ? DT_INT32 : dtype;
}

static const void *param_data(struct arena *arena, const struct param *param, const struct shape *shape)
{
    struct buffer wide = {.shape = *shape}, out = {.dtype = told_dtype(param->dtype), .shape = *shape};
    const bool real = dtype_is_float(param->dtype);
    wide.dtype = real ? DT_FLOAT64 : DT_INT64;
    wide.data = real ? (void *)param->floats : (void *)param->ints;
    if (!param->is_tensor)
        wide.data =
            real ? arena_memdup(arena, &param->f, sizeof param->f) : arena_memdup(arena, &param->i, sizeof param->i);
    out.data = arena_calloc(arena, shape_count(shape), dtype_size(out.dtype));
    buffer_narrow(&wide, &out);
    return out.data;
}

/* A string is its bytes; one of several, which packages could not tell apart, is none that they can be told of. */
static QHPI_OpRef import_param(struct importing *m, const struct param *param)
{
    struct plugin_graph *g = m->p->graph;
    const bool is_text = param->dtype == DT_STRING && !param->is_tensor;
    const struct shape shape = is_text ? SHAPE((int64_t)strlen(param->s)) : param->is_tensor ? param->shape : SHAPE(1);
    QHPI_OutputDef def = {.type = is_text ? QHPI_QUINT8 : element_type_of(told_dtype(param->dtype)),
                          .shape = qhpi_shape_of(&shape)};
    QHPI_Op *op = graph_add(g, KIND_CONSTANT, "Constant", 0, 1, &def);
    op->label = param->name;
    op->bytes = def_bytes(&def);
    if (def.type == QHPI_ELEMENT_TYPE_ANY)
        op->unfit = dtype_info(param->dtype)->name;
    else
        op->data = is_text ? param->s : param_data(g->arena, param, &shape);
    return (QHPI_OpRef){op, 0};
}

/* ---- nodes ---- */

struct package *plugin_package_of(const struct package_set *set, const struct op *op)
{
    for (size_t i = 0; op->package && i < set->packages.count; i++) {
        struct package *p = set->packages.data[i];
        if (p->is_plugin && package_is_named(p, op->package) && plugin_find(&p->plugin, op->name))
            return p;
    }
    return NULL;
}

/* The params that the node may have, as indices into its row, in the order of the op's definition; -1: one that no
 * node of the container has. */
struct param_order {
    VEC(int) list;
};

static bool is_param(const struct node *n, uint32_t i)
{
    return !n->op->params[i].supplemental && node_get_param(n, i).usage != 2;
}

/* Of a container that does not say, the params are in its own order. */
static void add_as_stored(struct arena *arena, const struct node *n, struct param_order *order)
{
    for (uint32_t i = 0; i < n->op->n_params; i++)
        if (is_param(n, i))
            vec_push(arena, &order->list, (int)i);
}

static struct param_order order_params(struct arena *arena, const struct node *n)
{
    struct param_order order = {0};
    const int at = op_param_index(n->op, UDO_PARAM_ORDER);
    const struct param names = at < 0 ? (struct param){.set = false} : node_get_param(n, (uint32_t)at);
    text name = {0};
    if (!names.set || names.dtype != DT_STRING) {
        add_as_stored(arena, n, &order);
        return order;
    }
    for (const char *c = names.s;; c++) {
        const bool escaped = *c == '\\' && c[1];
        c += escaped;
        if (!escaped && (*c == ',' || !*c)) {
            vec_push(arena, &order.list, name.count ? op_param_index(n->op, name.data) : -1);
            name.count = 0;
            if (!*c)
                return order;
            continue;
        }
        text_add(arena, &name, "%c", *c);
    }
}

static odlc_status import_outputs(const struct importing *m, const struct node *n, QHPI_OutputDef *defs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct tensor *t = node_output(m->p->scope->graph, n, i);
        const char *unfit = NULL;
        if (t)
            defs[i] = def_of(t, &unfit);
        else
            defs[i] = (QHPI_OutputDef){.type = QHPI_FLOAT32, .shape = {.rank = 4, .dims = {1, 1, 1, 1}}};
        if (unfit)
            return diag_error(m->p->diags, ODLC_ERR_UNSUPPORTED, AT(.node = n->name), "plugin-type",
                              "output %u of op %s has %s, which plugins cannot be told of", i, n->op->name, unfit);
    }
    return ODLC_OK;
}

static void import_operands(struct importing *m, const struct node *n, QHPI_Op *op, uint32_t n_regular,
                            const struct param_order *order)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < n_regular; i++)
        op->inputs[at++] = i < n->n_inputs && n->inputs[i] != NO_TENSOR ? import_tensor(m, n->inputs[i]) : absent(m);
    for (size_t i = 0; i < order->list.count; i++) {
        const int index = order->list.data[i];
        const struct param param = index < 0 ? (struct param){.set = false} : node_get_param(n, (uint32_t)index);
        op->inputs[at++] = param.set ? import_param(m, &param) : absent(m);
    }
}

/* How many inputs the op declares, where all its kernels agree on that; nothing else tells of optional ones at the end,
 * which a node leaves out. */
static uint32_t declared_inputs(const struct plugin_op *op, const struct node *n, uint32_t n_params)
{
    const QHPI_OpInfo_v1 *info = &op->info;
    const uint32_t all = info->num_kernels ? info->kernels[0].min_inputs : 0;
    for (uint32_t k = 0; k < info->num_kernels; k++)
        if (info->kernels[k].variable_inputs || info->kernels[k].min_inputs != all)
            return n->n_inputs;
    return all > n->n_inputs + n_params && all - n_params <= PLUGIN_MOST_OPERANDS ? all - n_params : n->n_inputs;
}

/* The node as validateOpConfig gets it, with so many inputs. */
static struct op_node *config_view(const struct preparation *p, const struct node *n, const char *package,
                                   uint32_t n_inputs)
{
    SnpeUdo_OperationInfo_t registered = {.numOfInputs = n_inputs, .numOfOutputs = n->n_outputs};
    registered.inputInfos = arena_array(p->arena, SnpeUdo_TensorInfo_t, n_inputs);
    registered.outputInfos = arena_array(p->arena, SnpeUdo_TensorInfo_t, n->n_outputs);
    struct op_node *view = op_node_make(p->arena, p->scope->graph, n, package, &registered, p->scope->constants);
    op_node_config_as_stored(p->arena, p->scope->graph, n, view);
    return view;
}

static odlc_status ask_package(const struct preparation *p, const QHPI_Op *op, const struct node *n, uint32_t n_inputs,
                               Qnn_ErrorHandle_t *answer)
{
    struct op_node *view = config_view(p, n, package_name(op->package), n_inputs);
    callback_begin(op, "validateOpConfig");
    *answer = op->package->functions.validateOpConfig(view->config);
    return callback_end(op);
}

/* How many inputs the package takes the node with: those that it declares, or else those that the node has. */
static odlc_status count_inputs(const struct preparation *p, const QHPI_Op *op, const struct node *n, uint32_t n_params,
                                uint32_t *count)
{
    Qnn_ErrorHandle_t answer;
    *count = declared_inputs(op->plugin, n, n_params);
    TRY(ask_package(p, op, n, *count, &answer));
    if (answer != QNN_SUCCESS && *count != n->n_inputs) {
        *count = n->n_inputs;
        TRY(ask_package(p, op, n, *count, &answer));
    }
    if (answer == QNN_SUCCESS)
        return ODLC_OK;
    return callback_error(op, "validateOpConfig", "plugin-op-refused", NULL, "gives %s",
                          qnn_error_text(p->arena, answer));
}

static odlc_status import_node(struct importing *m, node_id id)
{
    struct preparation *p = m->p;
    const struct node *n = graph_node(p->scope->graph, id);
    const struct param_order order = order_params(p->arena, n);
    const uint32_t n_params = (uint32_t)order.list.count;
    QHPI_OutputDef *defs = arena_array(p->arena, QHPI_OutputDef, n->n_outputs);
    uint32_t n_regular;
    TRY(import_outputs(m, n, defs, n->n_outputs));
    QHPI_Op *op = graph_add(p->graph, KIND_PLUGIN, "", 0, n->n_outputs, defs);
    op->package = plugin_package_of(p->graph->packages, n->op);
    op->plugin = plugin_find(&op->package->plugin, n->op->name);
    op->name = op->plugin->info.name;
    op->label = n->name;
    TRY(count_inputs(p, op, n, n_params, &n_regular));
    op->n_inputs = n_regular + n_params;
    op->inputs = arena_array(p->arena, QHPI_OpRef, op->n_inputs);
    import_operands(m, n, op, n_regular, &order);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i] != NO_TENSOR)
            m->refs[n->outputs[i]] = (QHPI_OpRef){op, i};
    return ODLC_OK;
}

odlc_status prepare_import(struct preparation *p, const struct step_io *io)
{
    struct importing m = {.p = p, .io = io};
    m.refs = arena_array(p->scope->scratch, QHPI_OpRef, p->scope->graph->tensors.count);
    for (size_t i = 0; i < p->group->nodes.count; i++)
        TRY(import_node(&m, p->group->nodes.data[i]));
    for (uint32_t i = 0; i < io->n_outputs; i++)
        vec_push(p->arena, &p->graph->results, (struct plugin_result){m.refs[io->outputs[i]], io->outputs[i]});
    return ODLC_OK;
}
