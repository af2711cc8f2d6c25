/* SPDX-License-Identifier: Apache-2.0 */
/* Executes what strangers' containers hold. An input is a graph as text (docs/graphs-and-passes.md), which is put into
 * a container, read, planned and executed with made-up inputs; or a container, which is executed as net-run does. The
 * types of results are those that the text gives, or what follows from the operands, so that kernels are reached with
 * params that nobody would write. Work is bounded by the dims and the MACs of the graph, not by time. */
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reader.h"
#include "dlc/record.h"
#include "engine.h"
#include "file_of_bytes.h"
#include "op/graph_text.h"
#include "op/infer.h"
#include "opendlc/run.h"
#include "runtime/executor.h"
#include "tests/support/reference_only.h"

/* Elements of all tensors, multiply-accumulates of all nodes. Some kernels compare each element with all others. */
enum { MAX_ELEMENTS = 1 << 14, MAX_MACS = 1 << 21 };

static void check_status(odlc_status status, size_t errors)
{
    if (status == ODLC_ERR_INTERNAL || (status != ODLC_OK && status != ODLC_ERR_NOMEM && !errors))
        abort();
}

static uint64_t elements_of(const struct graph *g)
{
    uint64_t elements = 0;
    for (tensor_id t = 0; t < g->tensors.count; t++)
        elements = sat_add(elements, shape_count(&graph_tensor(g, t)->type->shape));
    return elements;
}

/* The graph was read: its ops have as many operands as they take. */
static bool affordable(const struct graph *g)
{
    uint64_t macs = 0;
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        macs = sat_add(macs, n->op->macs && node_output(g, n, 0) ? n->op->macs(g, n) : 0);
        macs = sat_add(macs, n->op->work && node_output(g, n, 0) ? n->op->work(g, n) : 0);
    }
    return elements_of(g) <= MAX_ELEMENTS && macs <= MAX_MACS;
}

/* ---- inputs ---- */

/* Most are small, as indices and counts are; some are none of what a kernel expects. */
static void fill(struct buffer *b, uint32_t seed)
{
    static const double reals[] = {0, 1, -1, 0.5, 2.5, -3.25, 7, 1e30, -1e30, 1.0 / 0.0, 0.0 / 0.0};
    static const int64_t ints[] = {0, 1, 2, 3, 0, 1, -1, 5, INT32_MAX, INT64_MIN};
    uint64_t count = shape_count(&b->shape);
    bool tame = seed & 1;
    for (uint64_t i = 0; i < count && b->dtype != DT_STRING; i++) {
        uint8_t *element = (uint8_t *)b->data + i * dtype_size(b->dtype);
        seed = seed * 1664525u + 1013904223u;
        if (dtype_is_float(b->dtype))
            convert_elements(element, b->dtype, &reals[(seed >> 8) % (tame ? 7 : COUNT_OF(reals))], DT_FLOAT64, 1);
        else
            convert_elements(element, b->dtype, &ints[(seed >> 8) % (tame ? 6 : COUNT_OF(ints))], DT_INT64, 1);
    }
    for (uint64_t i = 0; i < count && b->dtype == DT_STRING; i++)
        ((const char **)b->data)[i] = i % 2 ? "text" : "";
}

/* ---- a graph as text ---- */

static struct graph *through_container(struct arena *arena, struct diags *diags, const struct graph *g)
{
    const char *path = path_of_output();
    const struct dlc_write_options options = {.netp = g->tensors.count % 2};
    struct dlc_file *dlc;
    struct graph *read;
    struct arena *scratch = arena_create();
    if (!scratch)
        abort();
    odlc_status status = ODLC_ERR_NOMEM;
    if (setjmp(*arena_catch(scratch)) == 0)
        status = dlc_write(scratch, diags, g, path, &options);
    check_status(status, diags->errors);
    arena_destroy(scratch);
    if (status != ODLC_OK)
        return NULL;
    status = dlc_read(arena, diags, path, &dlc);
    if (status == ODLC_OK)
        status = dlc_verify(diags, dlc, NULL);
    unlink(path);
    if (status != ODLC_OK) /* what is written can be read, and is in order */
        abort();
    return dlc_to_ir(arena, diags, op_registry_new(arena), dlc, 0, &read) == ODLC_OK ? read : NULL;
}

/* Results get the types that follow from the operands, as far as they do. */
static void infer_types(struct arena *arena, struct diags *diags, struct graph *g)
{
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        struct type *types = arena_array(arena, struct type, n->n_outputs);
        const struct infer infer = {.graph = g, .node = n, .out = types, .diags = diags};
        if (!n->op->infer || n->op->infer(&infer) != ODLC_OK)
            continue;
        for (uint32_t k = 0; k < n->n_outputs; k++) {
            if (n->outputs[k] == NO_TENSOR || shape_too_large(&types[k].shape))
                continue;
            graph_set_shape(g, n->outputs[k], &types[k].shape);
            graph_set_dtype(g, n->outputs[k], types[k].dtype);
        }
    }
}

static void execute(struct arena *arena, struct arena *scratch, struct diags *diags, const struct graph *g,
                    uint32_t seed)
{
    struct executor *e;
    diags_init(diags, arena);
    odlc_status status =
        executor_create(arena, scratch, diags, g, g->outputs.data, g->outputs.count, &reference_only, &e);
    for (size_t i = 0; status == ODLC_OK && i < g->inputs.count; i++)
        if (e->buffers[g->inputs.data[i]].data)
            fill(&e->buffers[g->inputs.data[i]], seed);
    if (status == ODLC_OK)
        status = executor_run(e);
    check_status(status, diags->errors);
}

static void run_text(struct arena *arena, struct arena *scratch, const uint8_t *bytes, size_t size)
{
    struct diags diags;
    struct graph *g;
    uint32_t seed = libdeflate_crc32(0, bytes, size);
    diags_init(&diags, arena);
    if (graph_parse(arena, &diags, op_registry_new(arena), arena_strndup(arena, (const char *)bytes, size), &g) !=
            ODLC_OK ||
        elements_of(g) > MAX_ELEMENTS)
        return;
    struct graph *read = through_container(arena, &diags, g);
    if (!read)
        return;
    if (seed >> 8 & 3)
        infer_types(arena, &diags, read);
    if (affordable(read))
        execute(arena, scratch, &diags, read, seed);
}

/* ---- a container ---- */

static bool container_affordable(struct arena *arena, const char *path)
{
    struct diags diags;
    struct dlc_file *dlc;
    struct graph *g;
    diags_init(&diags, arena);
    return dlc_read(arena, &diags, path, &dlc) == ODLC_OK &&
           dlc_to_ir(arena, &diags, op_registry_new(arena), dlc, 0, &g) == ODLC_OK && affordable(g);
}

static odlc_status set_inputs(odlc_run *run, struct arena *arena, uint32_t seed)
{
    size_t count;
    const struct odlc_io *inputs = odlc_run_inputs(run, &count);
    for (size_t i = 0; i < count; i++) {
        float *values = arena_array(arena, float, inputs[i].count);
        for (uint64_t k = 0; k < inputs[i].count; k++)
            values[k] = (float)((seed >> k % 24) & 3);
        TRY(odlc_run_set_floats(run, i, values, inputs[i].count));
    }
    return ODLC_OK;
}

static odlc_status run_opened(odlc_run *run, struct arena *arena, const char *path, uint32_t seed)
{
    size_t count;
    TRY(odlc_run_open(run, path));
    if (seed >> 30)
        TRY(odlc_run_want_outputs(run));
    else
        TRY(odlc_run_want_all(run));
    TRY(set_inputs(run, arena, seed));
    TRY(odlc_run_execute(run));
    const struct odlc_io *results = odlc_run_results(run, &count);
    for (size_t i = 0; i < count; i++)
        TRY(odlc_run_get_floats(run, i, arena_array(arena, float, results[i].count), results[i].count));
    return ODLC_OK;
}

static void run_container(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *path = file_of_bytes(bytes, size);
    size_t count, errors = 0;
    if (!container_affordable(arena, path))
        return;
    odlc_run *run = odlc_run_new();
    if (!run)
        abort();
    odlc_status status = run_opened(run, arena, path, libdeflate_crc32(0, bytes, size));
    const struct odlc_diag *diags = odlc_run_diags(run, &count);
    for (size_t i = 0; i < count; i++)
        errors += diags[i].severity == ODLC_ERROR;
    check_status(status, errors);
    odlc_run_free(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct arena *arena = arena_create(), *scratch = arena_create();
    if (!arena || !scratch)
        abort();
    if (setjmp(*arena_catch(arena)) == 0 && setjmp(*arena_catch(scratch)) == 0) {
        if (size >= 4 && load_le(bytes, 4) == 0x04034B50)
            run_container(arena, bytes, size);
        else
            run_text(arena, scratch, bytes, size);
    }
    arena_destroy(scratch);
    arena_destroy(arena);
    return 0;
}
