/* SPDX-License-Identifier: Apache-2.0 */
#include "package/device_package.h"

#include <string.h>

#include "base/foreign.h"
#include "package/log_sink.h"
#include "package/op_create.h"
#include "package/status_text.h"
#include "sdk/QNN/GPU/QnnGpuOpPackage.h"

/* More than any op has. */
enum { MAX_KERNELS = 1024, MAX_ARGS = 4096 };

/* A node on its way to an op. */
struct making {
    const struct backend_scope *scope;
    struct package *package;
    const struct node *node;
    const SnpeUdo_OperationInfo_t *registered; /* NULL: nothing is known */
    struct op_node *op;
    struct device_op *out;
    uint32_t n_inputs, n_outputs; /* as the package gets them */
};

/* ---- whose node is it ---- */

static odlc_status open_packages(const struct backend_scope *scope)
{
    struct package *device;
    for (size_t i = 0; scope->packages && i < scope->packages->packages.count; i++)
        TRY(package_load_device(scope->diags, scope->packages->packages.data[i], &device));
    return ODLC_OK;
}

static struct package *device_of(struct package *package)
{
    return package->is_device ? package : package->device;
}

static struct package *find_package(const struct backend_scope *scope, const struct op *op)
{
    for (size_t i = 0; scope->packages && i < scope->packages->packages.count; i++) {
        struct package *package = device_of(scope->packages->packages.data[i]);
        if (package && package_is_named(package, op->package) && package_has_op(package, op->name))
            return package;
    }
    return NULL;
}

static const char *refuse(const struct backend_scope *scope, const struct node *n)
{
    if (find_package(scope, n->op))
        return NULL;
    for (size_t i = 0; scope->packages && i < scope->packages->packages.count; i++) {
        struct package *package = scope->packages->packages.data[i];
        if (package_is_named(package, n->op->package) && !package->is_plugin)
            return arena_printf(scope->arena,
                                device_of(package) ? "the GPU library of package %s has no op %s"
                                                   : "package %s, which implements op %s, has no GPU library here",
                                package_name(package), n->op->name);
    }
    return arena_printf(scope->arena, "package %s, which implements op %s, is not loaded", n->op->package, n->op->name);
}

/* ---- operands ---- */

/* Reals are given as the registration library has them for the GPU; other elements as they are. */
static enum dtype wanted_type(const SnpeUdo_TensorInfo_t *infos, uint32_t count, uint32_t i, enum dtype stored)
{
    if ((!dtype_is_fixed(stored) && stored != DT_FLOAT32 && stored != DT_FLOAT16) || !infos || count == 0)
        return stored;
    const SnpeUdo_TensorInfo_t *info = &infos[i < count ? i : count - 1];
    for (uint32_t k = 0; k < info->numOfPerCoreDatatypes; k++) {
        if (info->perCoreDatatypes[k].coreType != SNPE_UDO_CORETYPE_GPU)
            continue;
        if (info->perCoreDatatypes[k].dataType == SNPE_UDO_DATATYPE_FLOAT_16)
            return DT_FLOAT16;
        if (info->perCoreDatatypes[k].dataType == SNPE_UDO_DATATYPE_FLOAT_32)
            return DT_FLOAT32;
    }
    return stored;
}

static struct buffer as_type(const struct backend_scope *scope, const struct buffer *b, enum dtype dtype)
{
    if (b->dtype == dtype || !b->data) {
        struct buffer out = *b;
        out.quant = b->dtype == dtype ? b->quant : NULL;
        out.dtype = dtype;
        return out;
    }
    const struct buffer wide = buffer_widen(b, DT_FLOAT32, scope->scratch);
    struct buffer out = {.dtype = dtype, .shape = b->shape};
    const uint64_t count = shape_count(&b->shape);
    out.data = arena_calloc(scope->arena, count, dtype_size(dtype));
    convert_elements(out.data, dtype, wide.data, DT_FLOAT32, count);
    return out;
}

static struct buffer *describe(const struct making *m, const tensor_id *ids, uint32_t n_ids,
                               const SnpeUdo_TensorInfo_t *infos, uint32_t n_infos)
{
    const struct backend_scope *scope = m->scope;
    struct buffer *out = arena_array(scope->arena, struct buffer, n_ids);
    for (uint32_t i = 0; i < n_ids; i++) {
        out[i] = (struct buffer){.dtype = DT_NONE};
        if (ids[i] == NO_TENSOR)
            continue;
        const struct buffer *b = &scope->constants[ids[i]];
        const bool is_static = graph_tensor(scope->graph, ids[i])->kind == TENSOR_STATIC;
        const struct buffer stored = {
            .dtype = b->dtype, .shape = b->shape, .quant = b->quant, .data = is_static ? b->data : NULL};
        out[i] = as_type(scope, &stored, wanted_type(infos, n_infos, i, b->dtype));
    }
    return out;
}

/* Tensors of the config get the type that kernels do. */
static void set_config(Qnn_Tensor_t *tensors, const struct buffer *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].dtype == DT_NONE)
            continue;
        Qnn_TensorV1_t *t = &tensors[i].v1;
        t->dataType = (Qnn_DataType_t)dtype_info(operands[i].dtype)->dlc;
        t->clientBuf.data = operands[i].data;
        t->clientBuf.dataSize =
            operands[i].data ? (uint32_t)(shape_count(&operands[i].shape) * dtype_size(operands[i].dtype)) : 0;
        if (!operands[i].quant)
            t->quantizeParams = (Qnn_QuantizeParams_t)QNN_QUANTIZE_PARAMS_INIT;
    }
}

/* One for each operand of the config: those behind the node's are absent. */
static QnnGpu_MemoryObject_t *objects(struct arena *arena, const Qnn_Tensor_t *tensors, uint32_t count)
{
    QnnGpu_MemoryObject_t *out = arena_array(arena, QnnGpu_MemoryObject_t, count);
    for (uint32_t i = 0; i < count; i++) {
        const Qnn_TensorV1_t *t = &tensors[i].v1;
        const bool is_there = t->type != QNN_TENSOR_TYPE_NULL;
        out[i] =
            (QnnGpu_MemoryObject_t){.type = is_there ? ODLC_GPU_MEM_OBJ_TYPE_BUFFER : QNN_GPU_MEM_OBJ_TYPE_UNCLAIMED,
                                    .dataType = is_there ? t->dataType : QNN_DATATYPE_UNDEFINED,
                                    .dimensions = is_there ? t->dimensions : NULL,
                                    .numDimensions = is_there ? t->rank : 0};
    }
    return out;
}

/* Elements of tensor params, by their place. */
static struct buffer *describe_params(const struct making *m)
{
    const Qnn_OpConfigV1_t *config = &m->op->config.v1;
    struct buffer *out = arena_array(m->scope->arena, struct buffer, config->numOfParams);
    for (uint32_t i = 0; i < config->numOfParams; i++) {
        const Qnn_TensorV1_t *t = &config->params[i].tensorParam.v1;
        out[i] = (struct buffer){.dtype = DT_NONE};
        if (config->params[i].paramType != QNN_PARAMTYPE_TENSOR)
            continue;
        out[i].dtype = dtype_from_dlc((uint32_t)t->dataType);
        out[i].data = t->clientBuf.data;
        out[i].shape.rank = t->rank;
        for (uint32_t k = 0; k < t->rank; k++)
            out[i].shape.dims[k] = t->dimensions[k];
    }
    return out;
}

/* ---- what the package describes ---- */

static odlc_status bad_op(const struct making *m, const char *format, ...) PRINTF_LIKE(2, 3);

static odlc_status bad_op(const struct making *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *what = arena_vprintf(m->scope->diags->arena, format, args);
    va_end(args);
    return diag_error(m->scope->diags, ODLC_ERR_INVALID, AT(.file = m->package->library.path, .node = m->node->name),
                      "package-op-kernels", "op %s of package %s: %s", m->node->op->name, package_name(m->package),
                      what);
}

static size_t scalar_size(Qnn_DataType_t type)
{
    const enum dtype dtype = dtype_from_dlc((uint32_t)type);
    return dtype == DT_NONE || dtype == DT_STRING || dtype == DT_FLOAT16 ? 0 : dtype_size(dtype);
}

static odlc_status read_arg(const struct making *m, const QnnGpu_Kernel_t *k, uint32_t i, struct device_arg *out)
{
    const QnnGpu_KernelArg_t *arg = &k->args[i];
    const uint32_t n_params = m->op->config.v1.numOfParams;
    *out = (struct device_arg){.index = arg->index, .size = arg->index};
    switch (arg->type) {
    case ODLC_GPU_ARG_INPUT:
        out->kind = DEVICE_ARG_INPUT;
        return arg->index < m->n_inputs ? ODLC_OK
                                        : bad_op(m, "argument %u of kernel %s is input %u, and there are %u", i,
                                                 k->name, arg->index, m->n_inputs);
    case ODLC_GPU_ARG_OUTPUT:
        out->kind = DEVICE_ARG_OUTPUT;
        return arg->index < m->n_outputs ? ODLC_OK
                                         : bad_op(m, "argument %u of kernel %s is output %u, and there are %u", i,
                                                  k->name, arg->index, m->n_outputs);
    case ODLC_GPU_ARG_PARAM:
        out->kind = DEVICE_ARG_PARAM;
        return arg->index < n_params && m->out->params[arg->index].dtype != DT_NONE &&
                       m->out->params[arg->index].dtype != DT_STRING
                   ? ODLC_OK
                   : bad_op(m, "argument %u of kernel %s is param %u, which is no tensor of numbers", i, k->name,
                            arg->index);
    case ODLC_GPU_ARG_LOCAL:
        out->kind = DEVICE_ARG_LOCAL;
        return arg->index ? ODLC_OK : bad_op(m, "argument %u of kernel %s is local memory of no bytes", i, k->name);
    case ODLC_GPU_ARG_SCALAR:
        out->kind = DEVICE_ARG_NUMBER;
        out->size = scalar_size(arg->scalar.dataType);
        memcpy(out->bytes, &arg->scalar.uint64Value, sizeof(out->bytes));
        return out->size ? ODLC_OK : bad_op(m, "argument %u of kernel %s is no number", i, k->name);
    }
    return bad_op(m, "argument %u of kernel %s is of no known kind", i, k->name);
}

static odlc_status read_sizes(const struct making *m, const QnnGpu_Kernel_t *k, struct device_kernel *out)
{
    out->dims = k->numWorkDimensions;
    if (out->dims < 1 || out->dims > ODLC_GPU_MAX_WORK_DIMENSIONS)
        return bad_op(m, "kernel %s has %u work dimensions, and there are 1 to 3", k->name, out->dims);
    for (uint32_t i = 0; i < out->dims; i++) {
        out->global[i] = k->globalWorkSizes[i];
        out->local[i] = k->localWorkSizes[i];
        if (out->global[i] == 0)
            return bad_op(m, "kernel %s has no work-items along dimension %u", k->name, i);
        if ((out->local[i] == 0) != (out->local[0] == 0))
            return bad_op(m, "kernel %s has a size of work-groups along some dimensions alone", k->name);
        if (out->local[i] && out->global[i] % out->local[i])
            return bad_op(m, "kernel %s has %zu work-items along dimension %u, which groups of %zu do not divide",
                          k->name, out->global[i], i, out->local[i]);
    }
    return ODLC_OK;
}

static odlc_status read_kernel(const struct making *m, const QnnGpu_Kernel_t *k, uint32_t i, struct device_kernel *out)
{
    struct arena *arena = m->scope->arena;
    if (!k->name || !k->source || (k->numArgs && !k->args) || k->numArgs > MAX_ARGS)
        return bad_op(m, "kernel %u has no name, no source, or counts arguments that it does not list", i);
    TRY(read_sizes(m, k, out));
    struct device_arg *args = arena_array(arena, struct device_arg, k->numArgs);
    for (uint32_t a = 0; a < k->numArgs; a++)
        TRY(read_arg(m, k, a, &args[a]));
    out->name = arena_strdup(arena, k->name);
    out->source = arena_strdup(arena, k->source);
    out->options = k->buildOptions ? arena_strdup(arena, k->buildOptions) : "";
    out->args = args;
    out->n_args = k->numArgs;
    return ODLC_OK;
}

/* Outputs lie as the node has them. */
static odlc_status check_claims(const struct making *m, const QnnGpu_Operation_t *o)
{
    for (uint32_t i = 0; o->outputClaims && i < m->n_outputs; i++) {
        const QnnGpu_MemoryObject_t *claim = &o->outputClaims[i];
        const Qnn_TensorV1_t *t = &m->op->config.v1.outputTensors[i].v1;
        bool is_same = claim->type == QNN_GPU_MEM_OBJ_TYPE_UNCLAIMED ||
                       (claim->type == ODLC_GPU_MEM_OBJ_TYPE_BUFFER && claim->dataType == t->dataType &&
                        claim->numDimensions == t->rank && claim->dimensions && !claim->offsets);
        for (uint32_t k = 0; is_same && claim->dimensions && k < t->rank && k < claim->numDimensions; k++)
            is_same = claim->dimensions[k] == t->dimensions[k];
        if (!is_same)
            return bad_op(m, "output %u is to lie otherwise than the node has it, which is not possible here", i);
    }
    return ODLC_OK;
}

static odlc_status read_operation(const struct making *m, const QnnGpu_Operation_t *o)
{
    if (o->numKernels < 1 || o->numKernels > MAX_KERNELS || !o->kernels)
        return bad_op(m, "there are no kernels, or more than %d", MAX_KERNELS);
    TRY(check_claims(m, o));
    struct device_kernel *kernels = arena_array(m->scope->arena, struct device_kernel, o->numKernels);
    for (uint32_t i = 0; i < o->numKernels; i++)
        TRY(read_kernel(m, &o->kernels[i], i, &kernels[i]));
    m->out->kernels = kernels;
    m->out->n_kernels = o->numKernels;
    return ODLC_OK;
}

/* ---- creating ---- */

struct created {
    struct package *package;
    QnnOpPackage_OpImpl_t impl; /* NULL: not created */
};

static void free_op(void *object)
{
    const struct created *c = object;
    if (!c->impl)
        return;
    pthread_mutex_lock(&c->package->lock);
    foreign_begin("giving back an op of a package");
    (void)c->package->functions.freeOpImpl(c->impl);
    foreign_end();
    pthread_mutex_unlock(&c->package->lock);
}

/* Allocates nothing. False: the package refuses the node. */
static bool create_op(const struct making *m, const QnnGpuOpPackage_Node_t *node, struct created *c,
                      struct op_refusal *why)
{
    if (!op_validate(m->package, m->op, why))
        return false;
    *why = (struct op_refusal){"createOpImpl", &m->package->library, 0, false};
    why->error = m->package->functions.createOpImpl(NULL, (QnnOpPackage_Node_t)node, &c->impl);
    return why->error == QNN_SUCCESS && c->impl;
}

/* The op is the package's until the execution goes. */
static odlc_status call_package(const struct making *m, const QnnGpuOpPackage_Node_t *node)
{
    const struct backend_scope *scope = m->scope;
    struct package *p = m->package;
    const char *call = arena_printf(scope->arena, "node '%s': op %s of package %s, library %s,", m->node->name,
                                    m->node->op->name, package_name(p), p->library.path);
    struct created *c = arena_new(scope->arena, struct created);
    struct op_refusal why;
    *c = (struct created){.package = p};
    arena_defer(scope->arena, free_op, c);
    pthread_mutex_lock(&p->lock);
    log_sink_begin();
    foreign_begin(call);
    const bool is_created = create_op(m, node, c, &why);
    foreign_end();
    pthread_mutex_unlock(&p->lock);
    log_sink_end(scope->diags, AT(.file = p->library.path, .node = m->node->name));
    return is_created ? read_operation(m, (const QnnGpu_Operation_t *)(const void *)c->impl)
                      : op_refused(scope->diags, m->node, p, &why);
}

static odlc_status make_op(struct making *m)
{
    const struct backend_scope *scope = m->scope;
    const SnpeUdo_OperationInfo_t *r = m->registered;
    const struct node *n = m->node;
    struct package *p = m->package;
    m->op = op_node_make(scope->arena, scope->graph, n, package_name(p), r, scope->constants);
    if (r)
        TRY(op_check_counts(scope, p, n, m->op, r));
    op_node_config_as_stored(scope->arena, scope->graph, n, m->op);
    Qnn_OpConfigV1_t *config = &m->op->config.v1;
    const struct buffer *inputs = describe(m, n->inputs, n->n_inputs, r ? r->inputInfos : NULL, r ? r->numOfInputs : 0);
    const struct buffer *outputs =
        describe(m, n->outputs, n->n_outputs, r ? r->outputInfos : NULL, r ? r->numOfOutputs : 0);
    set_config(config->inputTensors, inputs, n->n_inputs);
    set_config(config->outputTensors, outputs, n->n_outputs);
    m->n_inputs = config->numOfInputs;
    m->n_outputs = config->numOfOutputs;
    m->out->inputs = inputs;
    m->out->outputs = outputs;
    m->out->params = describe_params(m);
    const QnnGpuOpPackage_Node_t node = {.opConfig = &m->op->config,
                                         .inputs = objects(scope->arena, config->inputTensors, config->numOfInputs),
                                         .outputs = objects(scope->arena, config->outputTensors, config->numOfOutputs)};
    return call_package(m, &node);
}

static odlc_status create(const struct backend_scope *scope, const struct node *n, struct device_op **out)
{
    struct package *p = find_package(scope, n->op);
    const QnnGpuOpPackage_PackageInfo_t *told = p->info->packageInfo;
    struct making m = {.scope = scope,
                       .package = p,
                       .node = n,
                       .registered = registration_operation(&p->registration, n->op->name),
                       .out = arena_new(scope->arena, struct device_op)};
    TRY(op_check_types(scope, p, n));
    *m.out = (struct device_op){.package = package_name(p),
                                .library = p->library.path,
                                .hash = told && told->kernelRepoHash ? told->kernelRepoHash : ""};
    TRY(make_op(&m));
    *out = m.out;
    return ODLC_OK;
}

const struct device_ops package_device_ops = {.open = open_packages, .refuse = refuse, .create = create};
