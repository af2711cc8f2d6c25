/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are computed in parts (src/build/fold_parts.h) give the bits that they give as a whole: nodes at random of
 * the operators that random_ops.c can make, and texts for the others. Their operands are constants with work pending.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/fold_parts.h"
#include "kernel/eval.h"
#include "op/axes.h"
#include "op/graph_text.h"
#include "op/op.h"
#include "tests/backend/random_ops.h"

enum { NODES = 40, OPS = OP_IDS };

static const char *const texts[] = {
    "input \"x\" float32[6,5,4]\n"
    "node \"y\" Pad (\"x\") {scheme=0, pad_amount=[3,2]{1, 2, 0, 0, 0, 3}} -> \"y\" float32[9,5,7]\n",
    "input \"x\" float32[6,5,4]\n"
    "node \"y\" Pad (\"x\") {scheme=1, pad_amount=[3,2]{0, 0, 2, 2, 1, 0}} -> \"y\" float32[6,9,5]\n",
    "input \"x\" float32[6,5,4]\n"
    "node \"y\" StridedSlice (\"x\") {ranges=[3,3]{1, 6, 2, 0, 5, 1, 3, 0, -1}} -> \"y\" float32[3,5,3]\n",
    "input \"x\" float32[6,5,4]\n"
    "node \"y\" StridedSlice (\"x\") {ranges=[3,3]{5, -1, -1, 0, 5, 1, 0, 4, 1}} -> \"y\" float32[6,5,4]\n",
    "input \"x\" float32[2,7]\n"
    "node \"y\" Tile (\"x\") {multiples=[2]{3, 1}} -> \"y\" float32[6,7]\n",
    "input \"x\" float32[6,7]\nconst \"i\" int32[2,2] {0, 5, 3, 3}\n"
    "node \"y\" Gather (\"x\", \"i\") {axis=0} -> \"y\" float32[2,2,7]\n",
    "input \"x\" float32[4,6,7]\nconst \"i\" int32[] {5}\n"
    "node \"y\" Gather (\"x\", \"i\") {axis=1} -> \"y\" float32[4,7]\n",
    "input \"x\" float32[1,6,7]\nconst \"i\" int32[3] {5, 0, 1}\n"
    "node \"y\" Gather (\"x\", \"i\") {axis=1} -> \"y\" float32[1,3,7]\n",
    "input \"x\" float32[6,7]\n"
    "node \"y\" Split (\"x\") {axis=0, split_index=[2]{2, 3}} -> \"y\" float32[2,7], \"z\" float32[1,7], \"t\" "
    "float32[3,7]\n",
    "input \"x\" float32[6,7]\n"
    "node \"y\" CumulativeSum (\"x\") {axis=1, exclusive=0, reverse=1} -> \"y\" float32[6,7]\n",
    "input \"x\" float32[6,7]\n"
    "node \"y\" CumulativeSum (\"x\") {axis=0, exclusive=1, reverse=0} -> \"y\" float32[6,7]\n",
    "input \"x\" float32[5,6,7]\n"
    "node \"y\" ReduceSumSquare (\"x\") {axes=[2]{0, 2}, keep_dims=0} -> \"y\" float32[6]\n",
    "input \"x\" float32[5,6,7]\n"
    "node \"y\" ReduceProd (\"x\") {axes=[1]{1}, keep_dims=0} -> \"y\" float32[5,7]\n",
};

struct tally {
    uint64_t nodes[OPS], cuts[OPS], pairs[OPS], failures;
};

/* ---- constants ---- */

/* Elements as they would be in a file: of another type, in another order, still to be scaled, or one for all. */
static void make_constant(struct making *m, struct tensor *t, tensor_id id)
{
    const struct shape shape = t->type->shape;
    const uint64_t count = shape_count(&shape);
    const bool is_float = t->type->dtype == DT_FLOAT32;
    const enum dtype dtype = is_float && toss(m) ? DT_INT8 : t->type->dtype;
    double *values = arena_array(m->arena, double, count), *scale = arena_array(m->arena, double, count);
    for (uint64_t i = 0; i < count; i++) {
        values[i] = dtype_is_float(dtype) ? 3 * draw_real(m) : (double)draw(m, 0, dtype == DT_BOOL ? 1 : 9);
        scale[i] = draw_real(m);
    }
    void *bytes = arena_alloc(m->arena, count * dtype_size(dtype));
    convert_elements(bytes, dtype, values, DT_FLOAT64, count);
    struct perm perm = perm_identity(shape.rank);
    for (uint32_t i = shape.rank; i-- > 1;) {
        const uint32_t k = (uint32_t)draw(m, 0, i);
        const uint8_t axis = perm.axis[i];
        perm.axis[i] = perm.axis[k];
        perm.axis[k] = axis;
    }
    const struct perm back = perm_inverse(&perm);
    const struct shape source = perm_apply(&back, &shape);
    struct view view = view_of(bytes, dtype, &source);
    view.perm = perm;
    view.splat = draw(m, 0, 5) == 0;
    if (is_float && shape.rank > 0 && toss(m)) {
        view.scale = scale;
        view.scale_axis = toss(m) ? SCALE_WHOLE : (uint32_t)draw(m, 0, shape.rank - 1);
        view.zero = toss(m) ? values : NULL;
    }
    t->kind = TENSOR_STATIC;
    graph_set_view(m->graph, id, &view);
}

/* ---- both ways ---- */

static bool compute_whole(struct making *m, const struct node *n, struct buffer *out)
{
    struct buffer *in = arena_array(m->arena, struct buffer, n->n_inputs);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(m->graph, n, i);
        if (t)
            in[i] = (struct buffer){.dtype = t->type->dtype,
                                    .shape = t->type->shape,
                                    .quant = t->quant,
                                    .data = (void *)(uintptr_t)view_load(m->arena, t->view, t->type->dtype)};
    }
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(m->graph, n, i);
        if (!t)
            continue;
        out[i] = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
        out[i].data = arena_calloc(m->arena, shape_count(&out[i].shape), dtype_size(out[i].dtype));
    }
    return eval_node(n, in, out, m->arena, &m->diags) == ODLC_OK;
}

static void compare(struct making *m, const struct node *n, const struct buffer *whole, uint64_t most, struct tally *t)
{
    struct cut cut;
    struct view views[8];
    if (!cut_node(m->graph, n, most, &cut))
        return;
    bool same = fold_cut(m->graph, n, &cut, &m->diags, views) == ODLC_OK;
    for (uint32_t i = 0; same && i < n->n_outputs; i++)
        if (whole[i].data)
            same = memcmp(views[i].bytes, whole[i].data, view_size(&views[i], whole[i].dtype)) == 0;
    t->cuts[n->op->id] += cut.step < cut.extent;
    t->failures += !same;
    if (!same)
        printf("FAILED %s, axis %u, %lld of %lld:\n%s", n->op->name, cut.axis, (long long)cut.step,
               (long long)cut.extent, graph_print(m->arena, m->graph));
}

static bool fold_one(struct making *m, const struct node *n, struct view *out, bool *cuts)
{
    struct cut cut;
    *cuts = cut_node(m->graph, n, 1 << 17, &cut);
    return !*cuts || fold_cut(m->graph, n, &cut, &m->diags, out) == ODLC_OK;
}

/* What acts along several axes, one axis behind the others. */
static void compare_two(struct making *m, const struct node *n, const struct buffer *whole, struct tally *t)
{
    struct node first, last;
    struct view view;
    bool cuts;
    if (!split_axes(m->graph, n, &first, &last))
        return;
    bool same = fold_one(m, &first, &view, &cuts);
    if (same && cuts) {
        graph_tensor(m->graph, first.outputs[0])->kind = TENSOR_STATIC;
        graph_set_view(m->graph, first.outputs[0], &view);
        same = fold_one(m, &last, &view, &cuts);
    }
    same = same && (!cuts || memcmp(view.bytes, whole[0].data, view_size(&view, whole[0].dtype)) == 0);
    t->pairs[n->op->id] += cuts;
    t->failures += !same;
    if (!same)
        printf("FAILED %s in two steps:\n%s", n->op->name, graph_print(m->arena, m->graph));
}

static void try_node(struct making *m, struct tally *t)
{
    const struct node *n = graph_node(m->graph, m->graph->order.data[0]);
    struct buffer whole[8] = {0};
    for (tensor_id id = 0; id < m->graph->tensors.count; id++)
        if (graph_tensor(m->graph, id)->kind == TENSOR_INPUT)
            make_constant(m, graph_tensor(m->graph, id), id);
    if (n->n_outputs > COUNT_OF(whole) || !compute_whole(m, n, whole))
        return;
    const char *folder = getenv("TMPDIR");
    m->graph->spill =
        spill_beside(m->arena, &m->diags, arena_printf(m->arena, "%s/test-cut", folder && *folder ? folder : "/tmp"));
    t->nodes[n->op->id]++;
    for (uint64_t most = 64; most < 1 << 17; most *= 2)
        compare(m, n, whole, most, t);
    if (whole[0].data)
        compare_two(m, n, whole, t);
}

static struct making *start(struct arena *arena, uint64_t seed)
{
    struct making *m = arena_new(arena, struct making);
    *m = (struct making){.arena = arena, .seed = seed, .graph = graph_create(arena, "cut")};
    diags_init(&m->diags, arena);
    build_init(&m->build, m->graph, &m->diags);
    return m;
}

static void try_random(enum op_id op, uint64_t seed, struct tally *t)
{
    struct arena *arena = arena_create();
    struct making *m = start(arena, seed * 2654435761u + (uint64_t)op);
    tensor_id out;
    if (make_node(m, op, &out) == ODLC_OK && m->graph->order.count == 1) {
        make_types(m, (enum reals)draw(m, 0, REALS_KINDS - 1));
        try_node(m, t);
    }
    arena_destroy(arena);
}

static void try_text(const char *text, uint64_t seed, struct tally *t)
{
    struct arena *arena = arena_create();
    struct making *m = start(arena, seed);
    const char *whole = arena_printf(arena, "graph \"cut\"\n%soutput \"y\"\n", text);
    if (graph_parse(arena, &m->diags, op_registry_new(arena), whole, &m->graph) == ODLC_OK) {
        try_node(m, t);
    } else {
        printf("FAILED %s%s\n", text, m->diags.list.data[0].message);
        t->failures++;
    }
    arena_destroy(arena);
}

int main(void)
{
    static struct tally t;
    uint64_t passed = 0;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        for (uint64_t seed = 1; seed <= NODES; seed++)
            try_text(texts[i], seed, &t);
    for (size_t i = 0; op_at(i); i++) {
        const enum op_id op = op_at(i)->id;
        for (uint64_t seed = 1; op_at(i)->cut && seed <= 2 * NODES; seed++)
            try_random(op, seed, &t);
        if (op_at(i)->cut && op_at(i)->cut != cut_broadcast && (t.nodes[op] < NODES / 2 || t.cuts[op] < NODES / 2)) {
            printf("FAILED %s: only %llu nodes, cut %llu times\n", op_at(i)->name, (unsigned long long)t.nodes[op],
                   (unsigned long long)t.cuts[op]);
            t.failures++;
        }
        if (op_at(i)->along && t.pairs[op] < NODES / 2) {
            printf("FAILED %s: only %llu in two steps\n", op_at(i)->name, (unsigned long long)t.pairs[op]);
            t.failures++;
        }
        passed += t.nodes[op];
    }
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)passed, (unsigned long long)t.failures);
    return t.failures > 0;
}
