/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_ints.h"

#include <string.h>

#include "backend/cpu/cpu_call.h"
#include "backend/cpu/cpu_fixed_product.h"
#include "backend/cpu/cpu_loop.h"
#include "ir/view.h"
#include "kernel/eval.h"

/* ---- which nodes ---- */

static bool is_int(const struct tensor *t)
{
    return t && t->type->dtype == DT_INT32;
}

bool ints_is(const struct graph *g, const struct node *n)
{
    return is_int(node_input(g, n, 0)) && is_int(node_input(g, n, 1)) && is_int(node_output(g, n, 0));
}

static bool has_byte_weights(const struct tensor *w)
{
    struct arena *scratch = arena_create();
    const bool fits = w->kind == TENSOR_STATIC && view_fits(scratch, w->view, DT_INT8, NULL);
    arena_destroy(scratch);
    return fits;
}

const char *ints_refuse(const struct graph *g, const struct node *n, int64_t depth)
{
    const struct tensor *bias = node_input(g, n, 2), *x = node_input(g, n, 0);
    if (!has_byte_weights(node_input(g, n, 1)))
        return "products of Int_32 tensors are the reference's, unless the right one is a constant of 8-bit values";
    if (bias && (!is_int(bias) || bias->kind != TENSOR_STATIC))
        return "the bias is no constant";
    if (x->kind == TENSOR_STATIC || shape_count(&x->type->shape) == 0 ||
        shape_count(&node_output(g, n, 0)->type->shape) == 0)
        return "its input is constant or has no elements";
    if (!cpu_has_byte_products())
        return "the processor has no instructions for sums of products of 8-bit integers (VNNI)";
    return depth > INT32_MAX / (UINT8_MAX * -INT8_MIN) ? "its sums may have more than 32 bits" : NULL;
}

/* ---- running ---- */

enum { LEAST_ELEMENTS = 1 << 14 }; /* fewer are not worth another thread */

struct ints {
    int64_t inputs, results;
    const uint32_t *weights; /* per result: under its window */
    const uint32_t *bias;    /* per channel; NULL: none */
    int64_t channels;
    /* Of a run. */
    int32_t low;
    bool fits;
    const int32_t *x;
    uint8_t *bytes;
    uint32_t *sums;
};

struct extremes {
    int32_t low, high;
};

static CLONED void find_extremes(const int32_t *restrict x, int64_t count, struct extremes *e)
{
    int32_t low = x[0], high = x[0];
    for (int64_t i = 0; i < count; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    *e = (struct extremes){low, high};
}

static CLONED void narrow_ints(const struct ints *j, int64_t first, int64_t last)
{
    const int32_t *restrict x = j->x, low = j->low;
    uint8_t *restrict bytes = j->bytes;
    for (int64_t i = first; i < last; i++)
        bytes[i] = (uint8_t)(x[i] - low);
}

static void narrow_part(void *user, int64_t first, int64_t last)
{
    narrow_ints(user, first, last);
}

static odlc_status run_before(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                              struct buffer *out)
{
    struct ints *j = step->prepared;
    struct extremes e;
    (void)scope;
    j->x = in[0].data;
    j->bytes = cpu_sums(step);
    j->sums = out[0].data;
    find_extremes(j->x, j->inputs, &e);
    j->fits = (int64_t)e.high - e.low <= UINT8_MAX;
    j->low = j->fits ? e.low : 0;
    threads_share(j->inputs, LEAST_ELEMENTS, narrow_part, j);
    return ODLC_OK;
}

/* Wraps, as sums of Int_32 do. */
static CLONED void correct_sums(const struct ints *j, int64_t first, int64_t last)
{
    const uint32_t *restrict weights = j->weights, low = (uint32_t)j->low;
    uint32_t *restrict sums = j->sums;
    for (int64_t i = first; i < last; i++)
        sums[i] += low * weights[i];
}

static CLONED void add_bias(uint32_t *restrict sums, const uint32_t *restrict bias, int64_t channels)
{
    for (int64_t c = 0; c < channels; c++)
        sums[c] += bias[c];
}

/* Rows of channels. */
static void correct_part(void *user, int64_t first, int64_t last)
{
    const struct ints *j = user;
    correct_sums(j, first * j->channels, last * j->channels);
    for (int64_t row = first; j->bias && row < last; row++)
        add_bias(j->sums + row * j->channels, j->bias, j->channels);
}

static odlc_status run_behind(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                              struct buffer *out)
{
    struct ints *j = step->prepared;
    if (!j->fits) {
        const struct loop_operands o = loop_operands(step, scope, in, out);
        return eval_node(step->node, o.in, o.out, scope->scratch, scope->diags);
    }
    threads_share(j->results / j->channels, LEAST_ELEMENTS / j->channels + 1, correct_part, j);
    return ODLC_OK;
}

/* ---- preparing ---- */

int8_t *ints_weights(const struct cpu_making *m)
{
    const struct buffer *w = &m->scope->constants[making_node(m)->inputs[1]];
    const uint64_t count = shape_count(&w->shape);
    int8_t *bytes = arena_array(m->scope->scratch, int8_t, count);
    convert_elements(bytes, DT_INT8, w->data, w->dtype, count);
    return bytes;
}

odlc_status ints_finish(struct cpu_making *m, struct cpu_call *call)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const struct shape *y = &node_output(g, n, 0)->type->shape;
    struct ints *j = arena_new(m->scope->arena, struct ints);
    *j = (struct ints){.inputs = (int64_t)shape_count(&node_input(g, n, 0)->type->shape),
                       .results = (int64_t)shape_count(y),
                       .channels = y->dims[y->rank - 1]};
    if (n->n_inputs > 2 && n->inputs[2] != NO_TENSOR)
        j->bias = m->scope->constants[n->inputs[2]].data;
    uint8_t *ones = arena_alloc(m->scope->scratch, (size_t)j->inputs);
    uint32_t *sums = arena_array(m->scope->arena, uint32_t, (size_t)j->results);
    memset(ones, 1, (size_t)j->inputs);
    TRY(call_now(m, call, ones, sums));
    j->weights = sums;
    TRY(loop_prepare_plain(m, run_behind));
    m->step->before = run_before;
    m->step->prepared = j;
    return ODLC_OK;
}
