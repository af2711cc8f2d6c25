/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of each op: the first whose signature fits and whose predicate does not say no. Layouts are the host's
 * choice: where a kernel asks for another one than its operand has, a conversion comes between. */
#include <string.h>

#include "base/map.h"
#include "plugin/calls.h"
#include "plugin/callback.h"
#include "plugin/blocked_layout.h"
#include "plugin/plugin_prepare.h"

struct choosing {
    struct preparation *p;
    struct map converted; /* conversions by what they convert */
    uint32_t cluster;     /* the ops that must have a kernel; 0: all */
};

/* What a signature asks of an operand, and what there is. */
struct operand {
    const QHPI_OutputDef *def;
    const QHPI_Tensor_Signature_v1 *signature; /* NULL: it asks nothing */
    const char *unfit;
    bool absent;
};

/* ---- signatures ---- */

static const char *layout_name(uint32_t layout)
{
    static const char *const names[] = {"any", "Flat4", "Crouton8", "Crouton16"};
    return names[layout];
}

/* The layout in which the kernel gets the operand, or a reason why none fits. */
static uint32_t layout_for(struct arena *arena, const struct operand *o, const char **reason)
{
    const uint32_t asked = o->signature ? o->signature->layout : (uint32_t)QHPI_LAYOUT_ANY,
                   bytes = element_bytes(o->def->type), rank = o->def->shape.rank;
    if (asked != QHPI_LAYOUT_ANY && rank != 4)
        *reason = arena_printf(arena, "layout: %s is of rank 4, and the tensor of rank %u", layout_name(asked), rank);
    else if (layout_is_blocked(asked) && bytes != (asked == QHPI_LAYOUT_CROUTON_8 ? 1 : 2))
        *reason = arena_printf(arena, "layout: %s is for elements of %u bits, and these have %u", layout_name(asked),
                               asked == QHPI_LAYOUT_CROUTON_8 ? 8 : 16, 8 * bytes);
    else if (!layout_is_blocked(asked) && o->signature && !(o->signature->storage & QHPI_STORAGE_DIRECT))
        *reason = "storage: this host has flat tensors in one block alone";
    return layout_is_blocked(asked) ? asked : (uint32_t)QHPI_LAYOUT_FLAT_4;
}

static const char *mismatch(struct arena *arena, const struct operand *o, uint32_t *layout)
{
    const char *reason = NULL;
    *layout = QHPI_LAYOUT_FLAT_4;
    if (o->absent)
        return NULL;
    if (o->unfit)
        return arena_printf(arena, "element_type: the tensor has %s, which plugins cannot be told of", o->unfit);
    if (o->signature && o->signature->element_type != QHPI_ELEMENT_TYPE_ANY &&
        o->signature->element_type != (uint32_t)o->def->type)
        return arena_printf(arena, "element_type: it asks for %s, and the tensor is %s",
                            element_type_name(o->signature->element_type), element_type_name(o->def->type));
    *layout = layout_for(arena, o, &reason);
    return reason;
}

/* The last one of the signature is that of all operands behind it. */
static const QHPI_Tensor_Signature_v1 *signature_of(const QHPI_Tensor_Signature_v1 *all, uint32_t count, uint32_t i)
{
    return count == 0 ? NULL : &all[i < count ? i : count - 1];
}

static const char *wrong_count(struct arena *arena, const char *side, uint32_t count, uint32_t least, bool more)
{
    if (count == least || (more && count > least))
        return NULL;
    return arena_printf(arena, "%ss: it takes %u%s, and the op has %u", side, least, more ? " or more" : "", count);
}

static struct operand operand_of(const QHPI_Op *op, const QHPI_Kernel_v1 *k, uint32_t i)
{
    if (i >= op->n_inputs)
        return (struct operand){.def = &op->outputs[i - op->n_inputs],
                                .signature = signature_of(k->output_signature, k->min_outputs, i - op->n_inputs)};
    const QHPI_OpRef ref = op_operand(op, i);
    return (struct operand){.def = ref_def(ref),
                            .signature = signature_of(k->input_signature, k->min_inputs, i),
                            .unfit = ref.op->unfit,
                            .absent = ref.op->kind == KIND_ABSENT};
}

/* ---- one op ---- */

static QHPI_Tensor told_tensor(const struct operand *o, uint32_t layout)
{
    QHPI_Tensor t = {.calls = &host_calls, .def = *o->def, .layout = layout};
    if (!layout_is_blocked(layout))
        return t;
    t.is_indirect = o->signature->storage & QHPI_STORAGE_INDIRECT;
    t.padded = layout_padded(&o->def->shape, element_bytes(o->def->type));
    t.n_blocks = (uint32_t)(layout_bytes(o->def, layout) / BLOCK_BYTES);
    return t;
}

static odlc_status ask_predicate(struct choosing *c, const QHPI_Op *op, const uint32_t *layouts, struct tried *tried)
{
    struct arena *arena = c->p->arena;
    const QHPI_Kernel_v1 *k = tried->kernel;
    if (!k->predicate)
        return ODLC_OK;
    QHPI_Tensor *tensors = arena_array(arena, QHPI_Tensor, op->n_inputs);
    const QHPI_Tensor **inputs = arena_array(arena, const QHPI_Tensor *, op->n_inputs);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const struct operand o = operand_of(op, k, i);
        tensors[i] = told_tensor(&o, layouts[i]);
        inputs[i] = &tensors[i];
    }
    callback_begin(op, arena_printf(arena, "predicate of kernel %s", k->function_name));
    const uint32_t answer = k->predicate(op, op->n_inputs, inputs);
    TRY(callback_end(op));
    tried->inputs = inputs;
    if (!answer)
        tried->reason = "predicate: it says no";
    return ODLC_OK;
}

/* tried->reason NULL: the kernel fits, and the layouts are those of its operands. */
static odlc_status try_kernel(struct choosing *c, const QHPI_Op *op, uint32_t *layouts, struct tried *tried)
{
    struct arena *arena = c->p->arena;
    const QHPI_Kernel_v1 *k = tried->kernel;
    const char **reason = &tried->reason;
    *reason = wrong_count(arena, "input", op->n_inputs, k->min_inputs, k->variable_inputs);
    if (!*reason)
        *reason = wrong_count(arena, "output", op->n_outputs, k->min_outputs, k->variable_outputs);
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs && !*reason; i++) {
        const struct operand o = operand_of(op, k, i);
        const bool is_input = i < op->n_inputs;
        *reason = mismatch(arena, &o, &layouts[i]);
        if (*reason)
            *reason = arena_printf(arena, "%s %u: %s", is_input ? "input" : "output", is_input ? i : i - op->n_inputs,
                                   *reason);
    }
    return *reason ? ODLC_OK : ask_predicate(c, op, layouts, tried);
}

static void note_signature(struct choice *choice, const QHPI_Op *op)
{
    for (uint32_t i = 0; i < op->n_inputs + op->n_outputs; i++) {
        const struct operand o = operand_of(op, choice->kernel, i);
        const uint32_t place = o.signature ? o.signature->mem_placement : (uint32_t)QHPI_MEM_LOC_DDR_OR_TCM;
        choice->indirect[i] = layout_is_blocked(choice->layouts[i]) && (o.signature->storage & QHPI_STORAGE_INDIRECT);
        choice->fast_alone[i] = place == QHPI_MEM_LOC_TCM_ONLY;
        choice->slow_alone[i] = place == QHPI_MEM_LOC_DDR_ONLY;
    }
}

static odlc_status no_kernel(const QHPI_Op *op, const struct choice *choice)
{
    struct arena *arena = op->graph->arena;
    text reasons = {0}, operands = {0};
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const QHPI_OutputDef *def = ref_def(op_operand(op, i));
        text_add(arena, &operands, "%s%s %s", i ? ", " : "", element_type_name(def->type),
                 qhpi_shape_text(arena, &def->shape));
    }
    text_add(arena, &reasons, "%s", "");
    for (uint32_t i = 0; i < choice->n_tried; i++)
        text_add(arena, &reasons, "; kernel %s: %s", choice->tried[i].kernel->function_name, choice->tried[i].reason);
    return callback_error(op, NULL, "plugin-no-kernel",
                          "a kernel is taken when each operand has what its signature says, and its predicate agrees",
                          "has no kernel for (%s)%s", operands.data ? operands.data : "", reasons.data);
}

static odlc_status choose(struct choosing *c, const QHPI_Op *op)
{
    struct arena *arena = c->p->arena;
    const QHPI_OpInfo_v1 *info = &op->plugin->info;
    const size_t n_operands = op->n_inputs + op->n_outputs;
    struct choice *choice = arena_new(arena, struct choice);
    choice->tried = arena_array(arena, struct tried, info->num_kernels);
    choice->layouts = arena_array(arena, uint32_t, n_operands);
    choice->indirect = arena_array(arena, bool, n_operands);
    choice->fast_alone = arena_array(arena, bool, n_operands);
    choice->slow_alone = arena_array(arena, bool, n_operands);
    for (uint32_t k = 0; k < info->num_kernels && !choice->kernel; k++) {
        struct tried *tried = &choice->tried[choice->n_tried++];
        tried->kernel = &info->kernels[k];
        TRY(try_kernel(c, op, choice->layouts, tried));
        if (!tried->reason)
            choice->kernel = tried->kernel;
    }
    const struct tiled *t = graph_tiled(op);
    if (!choice->kernel)
        return c->cluster && (!t || t->cluster != c->cluster) ? ODLC_OK : no_kernel(op, choice);
    note_signature(choice, op);
    c->p->choices[op->id] = choice;
    return ODLC_OK;
}

/* ---- conversions ---- */

static QHPI_OpRef in_layout(struct choosing *c, QHPI_OpRef ref, uint32_t layout)
{
    struct plugin_graph *g = c->p->graph;
    if (ref.op->kind == KIND_ABSENT || prepared_layout(c->p, ref) == layout)
        return ref;
    const char *key = arena_printf(g->arena, "%u.%u.%u", ref.op->id, ref.output_number, layout);
    const uint32_t known = map_get(&c->converted, key);
    if (known != MAP_NONE)
        return (QHPI_OpRef){g->ops.data[known], 0};
    QHPI_Op *op =
        graph_add(g, KIND_CONVERT, layout_is_blocked(layout) ? layout_name(layout) : "Flat4", 1, 1, ref_def(ref));
    op->inputs[0] = ref;
    op->layout = layout;
    op->label = ref.op->label;
    map_put(&c->converted, key, op->id);
    return (QHPI_OpRef){op, 0};
}

/* All that reads the op's inputs but kernels wants them flat. */
static void convert_inputs(struct choosing *c, QHPI_Op *op)
{
    const struct choice *choice = choice_of(c->p, op);
    for (uint32_t i = 0; i < op->n_inputs; i++)
        op->inputs[i] = in_layout(c, op_operand(op, i), choice ? choice->layouts[i] : (uint32_t)QHPI_LAYOUT_FLAT_4);
}

odlc_status prepare_kernels(struct preparation *p, uint32_t cluster)
{
    struct plugin_graph *g = p->graph;
    struct choosing c = {.p = p, .cluster = cluster};
    odlc_status status = ODLC_OK;
    map_init(&c.converted, p->arena);
    graph_settle(g);
    p->choices = arena_array(p->arena, struct choice *, g->ops.count);
    p->n_choices = g->ops.count;
    for (size_t i = 0; i < g->order.count && status == ODLC_OK; i++)
        if (g->order.data[i]->kind == KIND_PLUGIN)
            status = choose(&c, g->order.data[i]);
    TRY(status);
    const size_t n_ops = g->order.count;
    for (size_t i = 0; i < n_ops; i++)
        convert_inputs(&c, g->ops.data[g->order.data[i]->id]);
    for (size_t i = 0; i < g->results.count; i++)
        g->results.data[i].ref = in_layout(&c, graph_resolve(g->results.data[i].ref), QHPI_LAYOUT_FLAT_4);
    return ODLC_OK;
}
