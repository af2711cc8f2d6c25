/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_fixed_product.h"

#include <stdlib.h>

#include "backend/cpu/cpu_fixed.h"
#include "ir/view.h"

/* ---- which nodes ---- */

static struct buffer header(const struct tensor *t)
{
    return t ? (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant}
             : (struct buffer){.dtype = DT_NONE};
}

bool cpu_is_fixed_product(const struct graph *g, const struct node *n)
{
    const struct buffer in[] = {header(node_input(g, n, 0)), header(node_input(g, n, 1))};
    const struct buffer out = header(node_output(g, n, 0));
    return fixed_product_is(n, in, &out);
}

bool cpu_has_byte_products(void)
{
    const dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    return (isa & dnnl_cpu_isa_avx512_core_vnni) == dnnl_cpu_isa_avx512_core_vnni ||
           (isa & dnnl_cpu_isa_avx2_vnni) == dnnl_cpu_isa_avx2_vnni;
}

/* The largest |q + o|. */
static int64_t reach(const struct tensor *t)
{
    int64_t low, high, most = 0;
    integer_range(t->type->dtype, &low, &high);
    for (uint32_t i = 0; i < (t->quant->per_axis ? t->quant->count : 1); i++) {
        const int64_t offset = t->quant->encodings[i].offset;
        most = max_i64(most, max_i64(llabs(low + offset), llabs(high + offset)));
    }
    return most;
}

const char *cpu_refuse_fixed_product(const struct graph *g, const struct node *n, int64_t depth)
{
    const struct tensor *x = node_input(g, n, 0), *w = node_input(g, n, 1), *y = node_output(g, n, 0);
    if (!cpu_is_fixed_product(g, n))
        return NULL;
    if ((x->type->dtype != DT_UFXP8 && x->type->dtype != DT_SFXP8) || dtype_size(w->type->dtype) != 1)
        return "products of fixed-point operands of more than 8 bits are the reference's";
    if (!fixed_is_stored(y->type->dtype) || y->quant->per_axis)
        return "its fixed-point result is none of 8 or 16 bits with one encoding";
    if (!cpu_has_byte_products())
        return "the processor has no instructions for sums of products of 8-bit integers (VNNI)";
    if (reach(x) > INT16_MAX || reach(w) > INT16_MAX)
        return "its zero points are far from its integers";
    /* Partial sums, which are of q' at most 128 and of q' + z, stay within int32. */
    if (depth > INT32_MAX / 2 / (max_i64(reach(x), 255) * max_i64(reach(w), 128)))
        return "its sums may have more than 32 bits";
    return NULL;
}

bool cpu_has_zero_points(const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *w = node_input(g, n, 1);
    const int32_t middle = w->type->dtype == DT_UFXP8 ? -128 : 0;
    bool found = x->quant->encodings->offset != 0;
    for (uint32_t i = 0; i < (w->quant->per_axis ? w->quant->count : 1); i++)
        found |= w->quant->encodings[i].offset != middle;
    return found;
}

/* ---- preparing ---- */

static struct fixed_weights read_weights(const struct cpu_making *m, const struct fixed_product *p)
{
    const struct node *n = making_node(m);
    const struct buffer *w = &m->scope->constants[n->inputs[1]];
    const uint64_t count = shape_count(&w->shape);
    const int32_t shift = w->dtype == DT_UFXP8 ? 128 : 0;
    int8_t *q = shift ? arena_array(m->scope->scratch, int8_t, count) : w->data;
    int32_t *zero = arena_array(m->scope->arena, int32_t, p->channels);
    bool even = true;
    for (uint64_t i = 0; shift && i < count; i++)
        q[i] = (int8_t)(((const uint8_t *)w->data)[i] - shift);
    for (uint64_t c = 0; c < p->channels; c++) {
        zero[c] = fixed_product_weight(p, c)->offset + shift;
        even = even && zero[c] == 0;
    }
    return (struct fixed_weights){q, even ? NULL : zero};
}

struct fixed_making fixed_product_of_computed(const struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const struct buffer bias = n->n_inputs > 2 && n->inputs[2] != NO_TENSOR ? m->scope->constants[n->inputs[2]]
                                                                            : (struct buffer){.data = NULL};
    const struct buffer in[] = {header(node_input(g, n, 0)), header(node_input(g, n, 1)), bias};
    const struct buffer out = header(node_output(g, n, 0));
    struct fixed_making f = {.product = fixed_product_read(n, in, &out, m->scope->arena),
                             .x_type = in[0].dtype == DT_UFXP8 ? dnnl_u8 : dnnl_s8,
                             .x_zero = -in[0].quant->encodings[0].offset,
                             .groups = 1};
    f.channels = f.pitch = (int64_t)f.product.channels;
    return f;
}

struct fixed_making fixed_product_make(const struct cpu_making *m, int64_t groups)
{
    struct fixed_making f = fixed_product_of_computed(m);
    f.groups = groups;
    f.weights = read_weights(m, &f.product);
    f.channels = (int64_t)f.product.channels / groups;
    f.pitch = f.channels + (f.weights.zero != NULL);
    return f;
}

struct requantize fixed_product_requantize(const struct cpu_making *m, const struct fixed_making *f)
{
    const struct tensor *y = node_output(m->scope->graph, making_node(m), 0);
    /* Groups without an element of their own behind their channels are one. */
    const int64_t groups = f->weights.zero ? f->groups : 1;
    struct requantize r = requantize_make(&f->product, y->type->dtype, groups, m->scope->arena);
    r.pitch = f->weights.zero ? f->pitch : r.channels;
    r.last_factor = f->weights.zero;
    return r;
}

/* ---- running ---- */

struct finish {
    struct requantize requantize;
    int64_t rows;
};

static odlc_status run_finish(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                              struct buffer *out)
{
    const struct finish *f = step->prepared;
    (void)scope, (void)in;
    requantize(&f->requantize, cpu_sums(step), out[0].data, f->rows);
    return ODLC_OK;
}

void fixed_product_finish(const struct cpu_making *m, const struct fixed_making *f, const int32_t *constant,
                          int64_t rows)
{
    struct finish *finish = arena_new(m->scope->arena, struct finish);
    *finish = (struct finish){fixed_product_requantize(m, f), rows};
    finish->requantize.constant = constant;
    m->step->loop = run_finish;
    m->step->prepared = finish;
}
