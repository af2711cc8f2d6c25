/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/calls.h"

#include <stdio.h>
#include <string.h>

#include "op/op.h"
#include "plugin/plugin_graph.h"
#include "plugin/tensor.h"

#define MOST_BYTES ((uint64_t)1 << 40)

/* What a callback did wrong is kept, without memory of the heap, until the callback has returned. */
static void misuse(const QHPI_Op *op, const char *format, ...) PRINTF_LIKE(2, 3);
static void misuse(const QHPI_Op *op, const char *format, ...)
{
    struct plugin_graph *g = op->graph;
    va_list args;
    if (g->misuse[0])
        return;
    va_start(args, format);
    vsnprintf(g->misuse, sizeof g->misuse, format, args);
    va_end(args);
}

/* ---- reading ops ---- */

static const char *op_name(const QHPI_Op *op)
{
    return op->name;
}

static uint32_t op_num_inputs(const QHPI_Op *op)
{
    return op->n_inputs;
}

static uint32_t op_num_outputs(const QHPI_Op *op)
{
    return op->n_outputs;
}

static uint32_t op_num_uses(const QHPI_Op *op)
{
    return op->uses;
}

static QHPI_OpRef op_input(const QHPI_Op *op, uint32_t index)
{
    if (index < op->n_inputs)
        return op_operand(op, index);
    misuse(op, "qhpi_op_input is called for input %u of op %s, which has %u", index, op->name, op->n_inputs);
    return (QHPI_OpRef){0};
}

static QHPI_OutputDef op_output(const QHPI_Op *op, uint32_t index)
{
    if (index < op->n_outputs)
        return op->outputs[index];
    misuse(op, "qhpi_op_output is called for output %u of op %s, which has %u", index, op->name, op->n_outputs);
    return (QHPI_OutputDef){0};
}

static QHPI_OpRef op_reference(const QHPI_Op *op, uint32_t output_number)
{
    if (output_number >= op->n_outputs)
        misuse(op, "qhpi_op_reference is called for output %u of op %s, which has %u", output_number, op->name,
               op->n_outputs);
    return (QHPI_OpRef){op, output_number};
}

static uint32_t op_is_constant(const QHPI_Op *op)
{
    return op->kind == KIND_CONSTANT;
}

static const void *op_constant_data(const QHPI_Op *op)
{
    return op->kind == KIND_CONSTANT ? op->data : NULL;
}

/* ---- making ops ---- */

static bool is_native_name(const char *name, const char **bare)
{
    static const char prefix[] = "qti.aisw::";
    *bare = strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
    return op_find(*bare) != NULL;
}

static bool is_op_of(struct package *p, const char *name, const char **type)
{
    const size_t length = strlen(package_name(p));
    *type = name + length + 2;
    return p->is_plugin && strncmp(name, package_name(p), length) == 0 && strncmp(name + length, "::", 2) == 0;
}

/* What the name means: fills in kind and row or package. */
static bool find_meaning(const struct plugin_graph *g, const char *name, QHPI_Op *out)
{
    const char *bare, *type;
    for (size_t i = 0; i < g->packages->packages.count; i++) {
        struct package *p = g->packages->packages.data[i];
        const struct plugin_op *op = is_op_of(p, name, &type) ? plugin_find(&p->plugin, type) : NULL;
        if (!op)
            continue;
        *out = (QHPI_Op){.kind = KIND_PLUGIN, .name = op->info.name, .package = p, .plugin = op};
        return true;
    }
    if (!is_native_name(name, &bare))
        return false;
    *out = (QHPI_Op){.kind = KIND_NATIVE, .name = op_find(bare)->name, .row = op_find(bare)};
    return true;
}

static bool is_ref(const struct plugin_graph *g, QHPI_OpRef ref)
{
    return graph_has(g, ref.op) && ref.output_number < ref.op->n_outputs;
}

/* Dimensions are padded to rank 4; false: no tensor can have them. */
static bool take_def(const QHPI_OutputDef *def, QHPI_OutputDef *out)
{
    if (def->shape.rank > ODLC_QHPI_MAX_RANK || element_bytes(def->type) == 0)
        return false;
    const struct shape shape = ir_shape_of(&def->shape);
    *out = *def;
    out->shape = qhpi_shape_of(&shape);
    for (uint32_t i = 0; i < out->shape.rank; i++)
        if (out->shape.dims[i] == 0)
            return false;
    return def_bytes(out) <= MOST_BYTES;
}

static bool take_outputs(const QHPI_Op *root, const char *name, uint32_t count, const QHPI_OutputDef *given,
                         QHPI_OutputDef *out)
{
    for (uint32_t i = 0; i < count; i++)
        if (!take_def(&given[i], &out[i])) {
            misuse(root, "qhpi_op_create of op %s: output %u has no type, or a shape that cannot be", name, i);
            return false;
        }
    return true;
}

/* What a call makes, with the arguments of that call. */
typedef QHPI_OpRef make_fn(const void *arguments);

/* Exhausted memory must not jump over frames of the package: the host acts on it behind the callback. */
static QHPI_OpRef make_guarded(struct plugin_graph *g, make_fn *make, const void *arguments)
{
    static const QHPI_OpRef none;
    jmp_buf exhausted, *const before = arena_divert(g->arena, &exhausted);
    if (setjmp(exhausted)) {
        g->exhausted = true;
        arena_divert(g->arena, before);
        return none;
    }
    const QHPI_OpRef made = make(arguments);
    arena_divert(g->arena, before);
    return made;
}

static bool has_room(const QHPI_Op *root)
{
    if (root->graph->ops.count < PLUGIN_MOST_OPS)
        return true;
    misuse(root, "the graph has more than %d ops", PLUGIN_MOST_OPS);
    return false;
}

struct creation {
    const QHPI_Op *root;
    QHPI_Op meaning;
    uint32_t num_inputs, num_outputs;
    const QHPI_OpRef *inputs;
    const QHPI_OutputDef *outputs;
    const char *name;
};

static QHPI_OpRef create(const void *arguments)
{
    const struct creation *c = arguments;
    struct plugin_graph *g = c->root->graph;
    QHPI_OutputDef *defs = arena_array(g->arena, QHPI_OutputDef, c->num_outputs);
    if (!take_outputs(c->root, c->name, c->num_outputs, c->outputs, defs))
        return (QHPI_OpRef){0};
    QHPI_Op *op = graph_add(g, c->meaning.kind, c->meaning.name, c->num_inputs, c->num_outputs, defs);
    op->row = c->meaning.row;
    op->plugin = c->meaning.plugin;
    op->package = c->meaning.package;
    op->label = c->root->label;
    op->ancestor = c->root;
    op->generation = c->root->generation + 1;
    for (uint32_t i = 0; i < c->num_inputs; i++)
        op->inputs[i] = c->inputs[i];
    return (QHPI_OpRef){op, 0};
}

static bool can_create(struct creation *c)
{
    const QHPI_Op *root = c->root;
    if (!has_room(root))
        return false;
    if (!c->name || (c->num_inputs && !c->inputs) || !c->num_outputs || !c->outputs ||
        c->num_inputs > PLUGIN_MOST_OPERANDS || c->num_outputs > PLUGIN_MOST_OPERANDS) {
        misuse(root, "qhpi_op_create is called without a name, inputs or outputs");
        return false;
    }
    if (!find_meaning(root->graph, c->name, &c->meaning)) {
        misuse(root,
               "qhpi_op_create is called for '%.100s', which is neither an op of a loaded package nor an operator",
               c->name);
        return false;
    }
    for (uint32_t i = 0; i < c->num_inputs; i++)
        if (!is_ref(root->graph, c->inputs[i])) {
            misuse(root, "qhpi_op_create of op %.100s: input %u is no output of an op of this graph", c->name, i);
            return false;
        }
    return true;
}

static const QHPI_Op *op_create(const QHPI_Op *root, const char *name, uint32_t num_inputs, const QHPI_OpRef *inputs,
                                uint32_t num_outputs, const QHPI_OutputDef *outputs)
{
    struct creation c = {.root = root,
                         .num_inputs = num_inputs,
                         .num_outputs = num_outputs,
                         .inputs = inputs,
                         .outputs = outputs,
                         .name = name};
    return can_create(&c) ? make_guarded(root->graph, create, &c).op : NULL;
}

struct constant {
    struct plugin_graph *graph;
    QHPI_OutputDef def;
    size_t bytes;
    const void *data;
};

static QHPI_OpRef create_constant(const void *arguments)
{
    const struct constant *c = arguments;
    QHPI_Op *op = graph_add(c->graph, KIND_CONSTANT, "Constant", 0, 1, &c->def);
    op->data = arena_memdup(c->graph->arena, c->data, c->bytes);
    op->bytes = c->bytes;
    return (QHPI_OpRef){op, 0};
}

static const QHPI_Op *op_create_constant(const QHPI_Op *root, const QHPI_OutputDef *out, size_t bytes, const void *data)
{
    struct constant c = {.graph = root->graph, .bytes = bytes, .data = data};
    if (!has_room(root))
        return NULL;
    if (out && data && take_def(out, &c.def) && def_bytes(&c.def) == bytes)
        return make_guarded(root->graph, create_constant, &c).op;
    misuse(root, "qhpi_op_create_constant is called for %zu bytes, which are not those of its output", bytes);
    return NULL;
}

struct shape_op {
    struct plugin_graph *graph;
    QHPI_OutputDef def;
};

static QHPI_OpRef create_shape(const void *arguments)
{
    const struct shape_op *s = arguments;
    return (QHPI_OpRef){graph_add(s->graph, KIND_SHAPE, "Shape", 0, 1, &s->def), 0};
}

static QHPI_OpRef op_create_shape(const QHPI_Op *root, const QHPI_Shape *shape)
{
    static const QHPI_OpRef none;
    if (!has_room(root))
        return none;
    if (shape && shape->rank <= ODLC_QHPI_MAX_RANK)
        return make_guarded(root->graph, create_shape,
                            &(struct shape_op){root->graph, {.type = QHPI_INT32, .shape = *shape}});
    misuse(root, "qhpi_op_create_shape is called without a shape");
    return none;
}

static bool is_within(const QHPI_Shape *whole, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    if (start->rank != whole->rank || extent->rank != whole->rank)
        return false;
    for (uint32_t d = 0; d < whole->rank; d++)
        if (!extent->dims[d] || extent->dims[d] > whole->dims[d] || start->dims[d] > whole->dims[d] - extent->dims[d])
            return false;
    return true;
}

struct slice {
    QHPI_OpRef of;
    const QHPI_Shape *start, *extent;
};

static QHPI_OpRef create_slice(const void *arguments)
{
    const struct slice *s = arguments;
    return graph_slice(s->of.op->graph, s->of, s->start, s->extent);
}

static QHPI_OpRef op_slice(QHPI_OpRef input, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    static const QHPI_OpRef none;
    if (!has_room(input.op))
        return none;
    if (start && extent && input.output_number < input.op->n_outputs &&
        is_within(&ref_def(graph_resolve(input))->shape, start, extent))
        return make_guarded(input.op->graph, create_slice, &(struct slice){graph_resolve(input), start, extent});
    misuse(input.op, "qhpi_op_slice is called for a part that is not within output %u of op %s", input.output_number,
           input.op->name);
    return none;
}

/* Graphs are computed in the precision that they have. */
static QHPI_StatusCode option_int(const QHPI_Op *op, const char *name, int32_t *value)
{
    (void)op;
    if (!name || !value || strcmp(name, "relaxed_precision_flag") != 0)
        return QHPI_ErrorFatal;
    *value = 0;
    return QHPI_SUCCESS;
}

/* ---- tensors and handles ---- */

static QHPI_Shape tensor_shape(const QHPI_Tensor *tensor)
{
    return tensor->def.shape;
}

static QHPI_Quant_Parameters tensor_quant_parameters(const QHPI_Tensor *tensor)
{
    return tensor->def.quant_parameters;
}

static void *tensor_raw_data(const QHPI_Tensor *tensor)
{
    return tensor->is_indirect ? NULL : tensor->data;
}

static void *const *tensor_block_table(const QHPI_Tensor *tensor)
{
    return tensor->data ? tensor->blocks : NULL;
}

static uint32_t tensor_block_table_length(const QHPI_Tensor *tensor)
{
    return tensor->n_blocks;
}

static QHPI_Shape tensor_padded_shape(const QHPI_Tensor *tensor)
{
    return tensor->n_blocks ? tensor->padded : tensor->def.shape;
}

static uint32_t tensor_is_indirect(const QHPI_Tensor *tensor)
{
    return tensor->is_indirect;
}

static QHPI_Element_Type tensor_element_type(const QHPI_Tensor *tensor)
{
    return tensor->def.type;
}

static uint32_t num_slices(QHPI_RuntimeHandle *handle)
{
    return handle->n_slices;
}

static uint32_t slice_number(QHPI_RuntimeHandle *handle)
{
    return handle->slice;
}

const struct host_calls host_calls = {
    .op_name = op_name,
    .op_num_inputs = op_num_inputs,
    .op_num_outputs = op_num_outputs,
    .op_num_uses = op_num_uses,
    .op_input = op_input,
    .op_output = op_output,
    .op_reference = op_reference,
    .op_is_constant = op_is_constant,
    .op_constant_data = op_constant_data,
    .op_create = op_create,
    .op_create_constant = op_create_constant,
    .op_create_shape = op_create_shape,
    .op_slice = op_slice,
    .option_int = option_int,
    .tensor_shape = tensor_shape,
    .tensor_quant_parameters = tensor_quant_parameters,
    .tensor_raw_data = tensor_raw_data,
    .tensor_block_table = tensor_block_table,
    .tensor_block_table_length = tensor_block_table_length,
    .tensor_padded_shape = tensor_padded_shape,
    .tensor_is_indirect = tensor_is_indirect,
    .tensor_element_type = tensor_element_type,
    .num_slices = num_slices,
    .slice_number = slice_number,
};
