/* SPDX-License-Identifier: Apache-2.0 */
/* A graph that has a bit of everything a container can say.
 *
 * x [1,2,3] ─ Blend (package MyPack; scalar, tensor and string params, static inputs of several types) ─ y [1,2,3],
 * spare [4] y ─ Transpose [0,2,1] ─ z [1,3,2] (graph output) unread [5]: a graph input that no op reads; y is
 * quantized. */
#ifndef TESTS_DLC_SAMPLE_H
#define TESTS_DLC_SAMPLE_H

#undef NDEBUG
#include <assert.h>

#include "dlc/record.h"
#include "op/op.h"
#include "op/params.h"
#include "op/registry.h"

static const struct param_def blend_params[] = {
    {.name = "offsets", .dtype = DT_INT32, .presence = PARAM_OPTIONAL, .is_tensor = true},
    {.name = "alpha", .dtype = DT_FLOAT32, .presence = PARAM_OPTIONAL},
    {.name = "modes", .dtype = DT_STRING, .presence = PARAM_OPTIONAL, .is_tensor = true},
    {.name = "count", .dtype = DT_INT64, .presence = PARAM_OPTIONAL},
    {.name = "label", .dtype = DT_STRING, .presence = PARAM_OPTIONAL, .supplemental = true},
    {.name = "weights", .dtype = DT_FLOAT16, .presence = PARAM_OPTIONAL, .is_tensor = true},
    {.name = "flag", .dtype = DT_BOOL, .presence = PARAM_OPTIONAL},
    {.name = "absent", .dtype = DT_FLOAT32, .presence = PARAM_OPTIONAL},
};
static const struct op blend = {.name = "Blend",
                                .dlc_type = "Blend",
                                .params = blend_params,
                                .n_params = COUNT_OF(blend_params),
                                .max_inputs = VARIADIC,
                                .max_outputs = VARIADIC,
                                .package = "MyPack"};

static const float sample_table[6] = {1.5f, -2, 3, 4, 5, 6.25f};
static const int64_t sample_offsets[4] = {-1, 0, 7, 2147483647};
static const double sample_weights[2] = {0.5, -1.25};
static const char *const sample_modes[2] = {"edge", "größer"};
static const char *const sample_words[3] = {"", "a", "zwei Wörter"};
static const struct encoding sample_encoding = {.bitwidth = 8, .min = -32, .max = 31.75, .scale = 0.25, .offset = -128};
static const struct quant sample_quant = {.count = 1, .encodings = &sample_encoding};

static inline tensor_id sample_constant(struct graph *g, const char *name, enum dtype as, struct view view)
{
    return graph_add_constant(g, name, as, &view);
}

static inline void set_param(struct graph *g, struct node *n, struct param p)
{
    int index = op_param_index(n->op, p.name);
    assert(index >= 0);
    p.set = true;
    p.usage = n->op->params[index].supplemental ? 2 : 1;
    p.dtype = n->op->params[index].dtype;
    p.is_tensor = n->op->params[index].is_tensor;
    node_set_param(g, n, (uint32_t)index, &p);
}

static inline struct graph *sample_graph(struct arena *arena)
{
    struct graph *g = graph_create(arena, "sample");
    struct type activation = {DT_FLOAT32, SHAPE(1, 2, 3)};
    tensor_id x = graph_add_tensor(g, "x", TENSOR_INPUT, &activation);
    tensor_id unread = graph_add_tensor(g, "unread", TENSOR_INPUT, &(struct type){DT_INT32, SHAPE(5)});
    tensor_id y = graph_add_tensor(g, "y", TENSOR_NATIVE, &activation);
    tensor_id spare = graph_add_tensor(g, "spare", TENSOR_NATIVE, &(struct type){DT_UINT8, SHAPE(4)});
    tensor_id z = graph_add_tensor(g, "z", TENSOR_OUTPUT, &(struct type){DT_FLOAT32, SHAPE(1, 3, 2)});
    graph_tensor(g, y)->quant = &sample_quant;
    struct view permuted = view_of(sample_table, DT_FLOAT32, &SHAPE(2, 3));
    view_permute(&permuted, &PERM(1, 0));
    struct view words = view_of(NULL, DT_STRING, &SHAPE(3));
    words.strings = sample_words;
    tensor_id inputs[] = {x,
                          sample_constant(g, "table", DT_FLOAT16, permuted),
                          NO_TENSOR,
                          sample_constant(g, "words", DT_STRING, words),
                          sample_constant(g, "ones", DT_INT32, view_splat_int(arena, DT_INT64, &SHAPE(2, 2), 1)),
                          sample_constant(g, "empty", DT_FLOAT32, view_of(NULL, DT_FLOAT32, &SHAPE(0)))};
    tensor_id outputs[] = {y, spare};
    node_id first = graph_add_node(g, &blend, blend.n_params, "blend", inputs, COUNT_OF(inputs), outputs, 2);
    struct node *n = graph_node(g, first);
    set_param(g, n, (struct param){.name = "offsets", .shape = SHAPE(2, 2), .ints = sample_offsets});
    set_param(g, n, (struct param){.name = "alpha", .f = 0.2});
    set_param(g, n, (struct param){.name = "modes", .shape = SHAPE(2), .strings = sample_modes});
    set_param(g, n, (struct param){.name = "count", .i = -5000000000});
    set_param(g, n, (struct param){.name = "label", .s = "a \"label\""});
    set_param(g, n, (struct param){.name = "weights", .shape = SHAPE(2), .floats = sample_weights});
    set_param(g, n, (struct param){.name = "flag", .i = 1});
    const struct op *transpose = op_find("Transpose");
    assert(transpose);
    node_id second = graph_add_node(g, transpose, transpose->n_params, "turn", &y, 1, &z, 1);
    const int64_t perm[] = {0, 2, 1};
    node_set_ints(g, graph_node(g, second), PARAM_perm, &SHAPE(3), perm);
    vec_push(arena, &g->order, first);
    vec_push(arena, &g->order, second);
    vec_push(arena, &g->inputs, x);
    vec_push(arena, &g->inputs, unread);
    vec_push(arena, &g->outputs, z);
    return g;
}

#endif
