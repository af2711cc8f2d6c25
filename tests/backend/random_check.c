/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/backend/random_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/reference/reference.h"
#include "op/op.h"
#include "runtime/executor.h"
#include "tests/backend/random_ops.h"

struct tally {
    const struct random_check *check;
    uint64_t nodes, taken, failures;
    double worst;
};

/* The elements of a tensor as reals. */
static double *results(struct making *m, const struct executor *e, tensor_id id, uint64_t *count)
{
    const struct buffer *b = &e->buffers[id];
    *count = shape_count(&b->shape);
    double *wide = arena_array(m->arena, double, *count);
    convert_elements(wide, DT_FLOAT64, b->data, b->dtype, *count);
    return wide;
}

static void fill(struct making *m, void *data, const struct type *type)
{
    const uint64_t count = shape_count(&type->shape);
    double *reals = arena_array(m->arena, double, count);
    /* Few integers, of which some are equal; as many as a byte has; or more. */
    const int64_t low = draw(m, -300, 100), windows[] = {6, 255, 255, 600};
    const int64_t window = windows[draw(m, 0, 3)], least = window == 6 ? -3 : low;
    for (uint64_t i = 0; i < count; i++)
        reals[i] = dtype_is_float(type->dtype) ? 3 * draw_real(m)
                   : type->dtype == DT_BOOL    ? (double)draw(m, 0, 1)
                   : type->dtype == DT_INT32   ? (double)draw(m, least, least + window)
                                               : (double)draw(m, -32768, 65535);
    convert_elements(data, type->dtype, reals, DT_FLOAT64, count);
}

static struct executor *execute(struct making *m, struct executor_options options, const tensor_id *wanted,
                                size_t n_wanted, uint64_t seed)
{
    struct arena *scratch = arena_create();
    struct executor *e = NULL;
    const uint64_t before = m->seed;
    arena_defer(m->arena, (void (*)(void *))arena_destroy, scratch);
    if (executor_create(m->arena, scratch, &m->diags, m->graph, wanted, n_wanted, &options, &e) != ODLC_OK)
        return NULL;
    m->seed = seed;
    for (tensor_id id = 0; id < m->graph->tensors.count; id++)
        if (graph_tensor(m->graph, id)->kind == TENSOR_INPUT && e->buffers[id].data)
            fill(m, e->buffers[id].data, graph_tensor(m->graph, id)->type);
    m->seed = before;
    return executor_run(e) == ODLC_OK ? e : NULL;
}

double random_tolerance(const struct graph *g, enum dtype dtype)
{
    if (dtype == DT_FLOAT16)
        return g->order.count > 1 ? 1e-2 : 2e-3;
    return dtype == DT_FLOAT32 ? 1e-5 : 0;
}

/* The largest real that the reference computed on its way; of clipped results, what was clipped counts. */
static double largest_of(struct making *m, const struct executor *e)
{
    double largest = 0;
    for (size_t i = 0; i < m->graph->order.count; i++) {
        uint64_t count;
        const double *reals = results(m, e, graph_node(m->graph, m->graph->order.data[i])->outputs[0], &count);
        for (uint64_t k = 0; k < count; k++)
            largest = fmax(largest, fabs(reals[k]));
    }
    return largest > 0 ? largest : 1;
}

static const char *label_of(const struct making *m, uint64_t seed)
{
    const struct graph *g = m->graph;
    text label = {0};
    for (size_t i = 0; i < g->order.count; i++)
        text_add(m->arena, &label, "%s%s", i ? " + " : "", graph_node(g, g->order.data[i])->op->name);
    const enum dtype dtype = graph_tensor(g, graph_node(g, g->order.data[0])->inputs[0])->type->dtype;
    text_add(m->arena, &label, ", seed %llu, %s", (unsigned long long)seed, dtype_info(dtype)->name);
    return label.data;
}

static void compare(struct making *m, tensor_id out, const struct executor *ours, const struct executor *theirs,
                    struct tally *t, uint64_t seed, double inner_tolerance)
{
    uint64_t count;
    const double *a = results(m, ours, out, &count), *b = results(m, theirs, out, &count);
    const enum dtype dtype = theirs->buffers[out].dtype;
    double apart = 0;
    for (uint64_t i = 0; i < count; i++) {
        const double difference = a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]) ? 0 : fabs(a[i] - b[i]);
        apart = difference == difference ? fmax(apart, difference) : INFINITY;
    }
    if (dtype_is_float(dtype))
        apart /= largest_of(m, theirs);
    t->worst = fmax(t->worst, apart);
    const double most = random_tolerance(m->graph, dtype);
    if (apart <= (dtype_is_float(dtype) ? fmax(most, inner_tolerance) : most))
        return;
    t->failures++;
    printf("FAILED %s: the results are %g apart\n", label_of(m, seed), apart);
}

static bool is_taken(const struct executor *e)
{
    return e->claims.list.data[0].backend == 0;
}

/* Nobody follows results of other types. */
static bool is_alone(struct making *m, tensor_id out)
{
    const enum op_id op = graph_node(m->graph, m->graph->order.data[0])->op->id;
    return draw(m, 0, 1) || op == OP_Quantize || op == OP_Dequantize || op == OP_Convert ||
           graph_tensor(m->graph, out)->type->dtype != DT_FLOAT32;
}

/* Builds the graph; false: what was drawn is no graph with nodes. */
static bool make(struct making *m, enum op_id op, uint32_t types, tensor_id *out)
{
    const enum reals drawn = (enum reals)draw(m, 0, REALS_KINDS - 1);
    const enum reals reals = types >> drawn & 1 ? drawn : REALS_FLOAT32;
    if (make_node(m, op, out) != ODLC_OK || m->graph->order.count == 0 ||
        (!is_alone(m, *out) && make_followers(m, out) != ODLC_OK))
        return false;
    make_types(m, reals);
    return true;
}

/* The reference's results of all nodes. */
static struct executor *judge_of(struct making *m, uint64_t seed)
{
    static const struct backend *const judge[] = {&reference_backend, NULL};
    const struct executor_options options = {.backends = judge};
    const size_t count = m->graph->order.count;
    tensor_id *wanted = arena_array(m->arena, tensor_id, count);
    for (size_t i = 0; i < count; i++)
        wanted[i] = graph_node(m->graph, m->graph->order.data[i])->outputs[0];
    return execute(m, options, wanted, count, seed);
}

static void try_node(enum op_id op, uint64_t seed, struct tally *t)
{
    const struct backend *const backends[] = {t->check->backend, &reference_backend, NULL};
    struct executor_options options = {.backends = backends};
    struct arena *arena = arena_create();
    struct making *m = arena_new(arena, struct making);
    *m = (struct making){
        .arena = arena, .seed = seed * 2654435761u + (uint64_t)op, .graph = graph_create(arena, "random")};
    diags_init(&m->diags, arena);
    build_init(&m->build, m->graph, &m->diags);
    tensor_id out;
    const struct executor *theirs = make(m, op, t->check->types(op), &out) ? judge_of(m, seed) : NULL;
    if (theirs) {
        t->check->choose(&options, op, seed);
        const struct executor *ours = execute(m, options, &out, 1, seed);
        t->nodes++;
        t->taken += ours && is_taken(ours);
        t->failures += !ours;
        if (ours)
            compare(m, out, ours, theirs, t, seed, t->check->inner_tolerance(&options));
        else
            printf("FAILED %s: it is not executed: %s\n", label_of(m, seed),
                   m->diags.list.count ? m->diags.list.data[0].message : "");
    }
    arena_destroy(arena);
}

int random_check(const struct random_check *check, int argc, char **argv)
{
    const char *longer = getenv("ODLC_LONG");
    const uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : longer && *longer ? check->longer : check->usual;
    const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t failures = 0, passed = 0;
    for (size_t i = 0; i < check->n_ops; i++) {
        const char *name = op_row(check->ops[i])->name;
        struct tally t = {.check = check};
        if (argc > 3 && strcmp(argv[3], name) != 0)
            continue;
        for (uint64_t seed = first; t.nodes < wanted && seed < first + 20 * wanted; seed++)
            try_node(check->ops[i], seed, &t);
        printf("%-28s %5llu nodes, %5llu taken, at most %.2g apart\n", name, (unsigned long long)t.nodes,
               (unsigned long long)t.taken, t.worst);
        if (t.nodes < wanted || t.taken < wanted / 4) {
            printf("FAILED %s: only %llu nodes, %llu of them taken\n", name, (unsigned long long)t.nodes,
                   (unsigned long long)t.taken);
            t.failures++;
        }
        failures += t.failures;
        passed += t.nodes;
    }
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)(passed - failures),
           (unsigned long long)failures);
    return failures > 0;
}
