/* SPDX-License-Identifier: Apache-2.0 */
/* What the CPU backend takes, the GPU backend takes: both are asked for nodes at random of each operator of the CPU's
 * table, in all types that operands can have. Nothing is executed.
 *
 * Prints a line for each operator and types that the CPU backend alone takes, with the GPU's reason: none is what
 * docs/gpu.md says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/gpu/gpu.h"
#include "backend/gpu/gpu_config.h"
#include "backend/gpu/gpu_context.h"
#include "ir/quant.h"
#include "op/op.h"
#include "runtime/check_types.h"
#include "tests/backend/random_ops.h"

static const enum dtype all_types[] = {DT_BOOL,   DT_INT8,   DT_INT16,   DT_INT32,   DT_INT64,   DT_UINT8,
                                       DT_UINT16, DT_UINT32, DT_UINT64,  DT_FLOAT16, DT_FLOAT32, DT_FLOAT64,
                                       DT_SFXP4,  DT_SFXP8,  DT_SFXP16,  DT_SFXP32,  DT_UFXP4,   DT_UFXP8,
                                       DT_UFXP16, DT_UFXP32, DT_BFLOAT16};

struct asking {
    struct backend_scope scope;
    struct opened cpu, gpu;
    uint64_t taken;         /* by the CPU backend */
    VEC(const char *) said; /* lines that have been printed; the scope's */
};

/* NULL: the backend takes the first node of the graph; else why not. */
static const char *refusal(const struct asking *a, const struct opened *by, const struct making *m)
{
    bool is_free = true;
    const tensor_id tensors = (tensor_id)m->graph->tensors.count;
    const struct uses uses = graph_uses(a->scope.scratch, m->graph);
    const struct claiming c = {.scope = &a->scope,
                               .uses = &uses,
                               .wanted = arena_calloc(a->scope.scratch, tensors, sizeof(bool)),
                               .is_free = &is_free};
    struct group group = {.reason = NULL};
    return by->backend->claim(by->state, &c, m->graph->order.data[0], &group) ? NULL : group.reason;
}

/* "Float_32, Int_32 to Bool_8" */
static const char *types_of(const struct asking *a, const struct graph *g, const struct node *n)
{
    text types = {0};
    for (uint32_t i = 0; i < n->n_inputs; i++)
        text_add(a->scope.arena, &types, "%s%s", i ? ", " : "",
                 node_input(g, n, i) ? dtype_info(node_input(g, n, i)->type->dtype)->display : "none");
    for (uint32_t i = 0; i < n->n_outputs; i++)
        text_add(a->scope.arena, &types, "%s%s", i ? ", " : " to ",
                 node_output(g, n, i) ? dtype_info(node_output(g, n, i)->type->dtype)->display : "none");
    return types.data;
}

/* Says each line once. */
static void say(struct asking *a, const char *line)
{
    for (size_t i = 0; i < a->said.count; i++)
        if (strcmp(a->said.data[i], line) == 0)
            return;
    vec_push(a->scope.arena, &a->said, line);
    printf("FAILED %s\n", line);
}

/* Of the graph's one node, as its tensors are typed now. */
static void ask(struct asking *a, struct making *m)
{
    const struct graph *g = m->graph;
    const struct needed needed = {.nodes = g->order.data, .n_nodes = 1};
    const struct node *n = graph_node(g, g->order.data[0]);
    const struct arena_mark mark = arena_mark(a->scope.scratch);
    struct diags diags;
    diags_init(&diags, a->scope.scratch);
    a->scope.graph = g;
    if (plan_check(a->scope.scratch, &diags, g, &needed) == ODLC_OK && !refusal(a, &a->cpu, m)) {
        const char *reason = refusal(a, &a->gpu, m);
        text line = {0};
        a->taken++;
        if (reason) {
            text_add(a->scope.arena, &line, "%s of %s: %s", n->op->name, types_of(a, g, n), reason);
            say(a, line.data);
        }
    }
    arena_rewind(a->scope.scratch, mark);
}

/* ---- types ---- */

/* Operands that get types together. */
struct operands {
    tensor_id ids[32];
    uint32_t count;
};

/* Those inputs of a node that have one type, constants or others; index operands and conditions have another. */
static struct operands inputs_of(const struct graph *g, const struct node *n, enum dtype dtype, bool constants)
{
    struct operands inputs = {.count = 0};
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(g, n, i);
        if (t && t->type->dtype == dtype && (t->kind == TENSOR_STATIC) == constants)
            inputs.ids[inputs.count++] = n->inputs[i];
    }
    return inputs;
}

static struct operands outputs_of(const struct graph *g, const struct node *n)
{
    struct operands outputs = {.count = 0};
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (node_output(g, n, i))
            outputs.ids[outputs.count++] = n->outputs[i];
    return outputs;
}

static void retype(struct making *m, const struct operands *operands, enum dtype dtype)
{
    static const double scale = 0.125;
    for (uint32_t i = 0; i < operands->count; i++) {
        struct tensor *t = graph_tensor(m->graph, operands->ids[i]);
        const struct shape shape = t->type->shape;
        graph_set_dtype(m->graph, operands->ids[i], dtype);
        t->quant = dtype_is_fixed(dtype) ? quant_create(m->arena, dtype, &scale, NULL, 1, false, 0) : NULL;
        if (t->kind == TENSOR_STATIC) {
            const void *zeros = arena_calloc(m->arena, shape_count(&shape), sizeof(uint64_t));
            const struct view view = view_of(zeros, dtype, &shape);
            graph_set_view(m->graph, operands->ids[i], &view);
        }
    }
}

static void ask_in_all_types(struct asking *a, struct making *m)
{
    static const enum dtype constant_types[] = {DT_NONE, DT_FLOAT32, DT_INT32, DT_UFXP8, DT_SFXP32};
    const struct node *n = graph_node(m->graph, m->graph->order.data[0]);
    const enum dtype drawn = node_input(m->graph, n, n->op->id == OP_ElementWiseSelect ? 1 : 0)->type->dtype;
    const struct operands inputs = inputs_of(m->graph, n, drawn, false);
    const struct operands constants = inputs_of(m->graph, n, drawn, true), outputs = outputs_of(m->graph, n);
    for (size_t i = 0; i < COUNT_OF(all_types); i++)
        for (size_t k = 0; k < (constants.count ? COUNT_OF(constant_types) : 1); k++) {
            retype(m, &inputs, all_types[i]);
            retype(m, &constants, constant_types[k] ? constant_types[k] : all_types[i]);
            for (size_t o = 0; o < COUNT_OF(all_types); o++) {
                retype(m, &outputs, all_types[o]);
                ask(a, m);
            }
        }
}

/* The operator's nodes with these seeds: as random checks type them, and in all types. */
static void ask_for(struct asking *a, enum op_id op, uint64_t usual, uint64_t in_all)
{
    for (uint64_t seed = 1; seed <= usual; seed++) {
        struct arena *arena = arena_create();
        struct making *m = arena_new(arena, struct making);
        tensor_id out;
        *m = (struct making){
            .arena = arena, .seed = seed * 2654435761u + (uint64_t)op, .graph = graph_create(arena, "random")};
        diags_init(&m->diags, arena);
        build_init(&m->build, m->graph, &m->diags);
        if (make_node(m, op, &out) == ODLC_OK && m->graph->order.count == 1) {
            make_types(m, (enum reals)(seed % REALS_KINDS));
            ask(a, m);
            if (seed <= in_all)
                ask_in_all_types(a, m);
        }
        arena_destroy(arena);
    }
}

static odlc_status open_both(struct asking *a, struct gpu_config *config)
{
    config->no_fusion = true;
    a->scope.gpu = config;
    a->cpu.backend = &cpu_backend;
    a->gpu.backend = &gpu_backend;
    TRY(cpu_backend.open(&a->scope, &a->cpu.state));
    const odlc_status status = gpu_backend.open(&a->scope, &a->gpu.state);
    if (status != ODLC_OK)
        cpu_backend.close(a->cpu.state);
    return status;
}

int main(void)
{
    static const enum op_id ops[] = {
#define CPU_OP(op, family) OP_##op,
#include "backend/cpu/cpu_ops.def"
#undef CPU_OP
    };
    const char *longer = getenv("ODLC_LONG");
    const bool is_long = longer && *longer;
    struct arena *arena = arena_create(), *scratch = arena_create();
    struct diags diags;
    struct gpu_config config = {.context = NULL};
    struct asking a = {.scope = {.arena = arena, .scratch = scratch, .diags = &diags, .threads = 1}};
    uint64_t failures = 1;
    diags_init(&diags, arena);
    if (open_both(&a, &config) == ODLC_OK) {
        failures = 0;
        for (size_t i = 0; i < COUNT_OF(ops); i++) {
            a.taken = 0;
            ask_for(&a, ops[i], is_long ? 20000 : 200, is_long ? 200 : 10);
            if (a.taken == 0)
                printf("FAILED %s: the CPU backend took no node\n", op_row(ops[i])->name);
            failures += a.taken == 0;
        }
        failures += a.said.count;
        gpu_backend.close(a.gpu.state);
        cpu_backend.close(a.cpu.state);
    }
    printf("%zu passed, %llu failed, 0 skipped\n", COUNT_OF(ops), (unsigned long long)failures);
    arena_destroy(arena);
    arena_destroy(scratch);
    return failures > 0;
}
