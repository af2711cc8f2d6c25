/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_bytes.h"

#include <math.h>

#include "backend/cpu/cpu_fixed.h"
#include "backend/cpu/cpu_threads.h"
#include "backend/cpu/cpu_vector.h"
#include "op/op.h"

enum {
    BLOCK = 1024,            /* elements whose integers are there at once */
    LEAST_ELEMENTS = 1 << 14 /* fewer are not worth another thread */
};

/* An operand's integers as unsigned ones: signed ones are these less 128. */
struct side {
    uint8_t flip;
    int32_t offset;
    float scale;
};

struct bytes {
    struct side a, b, y;
    uint32_t b_place; /* among the step's tensors: both operands may be one */
    float low, high;  /* of the result's integers, as they are stored */
    enum op_id op;
    float a_factor, b_factor; /* of sums: what a step of an operand is in steps of the result; of products the first */
    float sure;               /* how far from an integer a quotient by these may be (cpu_vector.h) */
    void (*round)(const struct bytes *s, const uint8_t *a, const uint8_t *b, int64_t count, int32_t *integers);
    const uint8_t *row; /* NULL: b is computed; else a constant for each element of the last axis … */
    int64_t length;     /* … of that axis */
    /* Of a run, or of a row of it. */
    const uint8_t *a_data, *b_data;
    uint8_t *y_data;
};

#define ROUND(name, expr)                                                                                        \
    static CLONED void round_##name(const struct bytes *s, const uint8_t *restrict a, const uint8_t *restrict b, \
                                    int64_t count, int32_t *restrict integers)                                   \
    {                                                                                                            \
        const uint8_t a_flip = s->a.flip, b_flip = s->b.flip;                                                    \
        const int32_t a_offset = s->a.offset, b_offset = s->b.offset;                                            \
        const float a_scale = s->a.scale, b_scale = s->b.scale, scale = s->y.scale, offset = (float)s->y.offset; \
        const float low = s->low, high = s->high;                                                                \
        for (int64_t i = 0; i < count; i++) {                                                                    \
            const float x = (float)((a[i] ^ a_flip) + a_offset) * a_scale;                                       \
            const float y = (float)((b[i] ^ b_flip) + b_offset) * b_scale;                                       \
            float integer = rintf((expr) / scale) - offset;                                                      \
            integer = integer < high ? integer : high;                                                           \
            integer = integer > low ? integer : low;                                                             \
            integers[i] = (int32_t)integer;                                                                      \
        }                                                                                                        \
    }
ROUND(sum, x + y)
ROUND(difference, x - y)
ROUND(product, (x * y))

static CLONED void store(const int32_t *restrict integers, int64_t count, uint8_t *restrict to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (uint8_t)integers[i];
}

static void round_block(const struct bytes *s, int64_t i, int64_t count)
{
    int32_t integers[BLOCK];
    s->round(s, s->a_data + i, s->b_data + i, count, integers);
    store(integers, count, s->y_data + i);
}

#if defined(__x86_64__) && defined(__GNUC__)
VECTORS_INLINE __m512i read_vector(const struct side *side, const uint8_t *from)
{
    const __m128i bytes = _mm_xor_si128(_mm_loadu_si128((const __m128i *)from), _mm_set1_epi8((char)side->flip));
    return _mm512_add_epi32(_mm512_cvtepu8_epi32(bytes), _mm512_set1_epi32(side->offset));
}

/* QUADs from element i on, to the first unsure ones. */
VECTORS_INLINE struct unsure round_on(const struct bytes *s, int64_t i, int64_t last, bool product)
{
    const __m512 a_factor = _mm512_set1_ps(s->a_factor), b_factor = _mm512_set1_ps(s->b_factor);
    const __m512 sure = _mm512_set1_ps(s->sure), term = _mm512_set1_ps(-(float)s->y.offset);
    for (; i + QUAD <= last; i += QUAD) {
        __m512i v[4];
        __mmask16 unsure[4];
        for (int k = 0; k < 4; k++) {
            const __m512i a = read_vector(&s->a, s->a_data + i + k * LANES);
            const __m512i b = read_vector(&s->b, s->b_data + i + k * LANES);
            const __m512 quotient = product
                                        ? _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_mullo_epi32(a, b)), a_factor, term)
                                        : _mm512_fmadd_ps(_mm512_cvtepi32_ps(a), a_factor,
                                                          _mm512_fmadd_ps(_mm512_cvtepi32_ps(b), b_factor, term));
            v[k] = vector_round(quotient, sure, &unsure[k]);
        }
        vector_store(v, s->low < 0, s->y_data + i);
        const uint64_t lanes = vector_lanes(unsure);
        if (lanes)
            return (struct unsure){i, lanes};
    }
    return (struct unsure){i, 0};
}

VECTORS static struct unsure round_sums_on(const struct bytes *s, int64_t i, int64_t last)
{
    return round_on(s, i, last, false);
}

VECTORS static struct unsure round_products_on(const struct bytes *s, int64_t i, int64_t last)
{
    return round_on(s, i, last, true);
}

/* Gives where whole QUADs end. */
static int64_t round_vectors(const struct bytes *s, int64_t first, int64_t last)
{
    struct unsure unsure = {.i = first};
    while (s->sure > 0 && has_vectors() && unsure.i + QUAD <= last) {
        unsure =
            s->op == OP_ElementWiseMultiply ? round_products_on(s, unsure.i, last) : round_sums_on(s, unsure.i, last);
        if (unsure.lanes) {
            round_block(s, unsure.i, QUAD);
            unsure.i += QUAD;
        }
    }
    return unsure.i;
}
#else
static int64_t round_vectors(const struct bytes *s, int64_t first, int64_t last)
{
    (void)s, (void)last;
    return first;
}
#endif

static void compute(const struct bytes *s, int64_t first, int64_t last)
{
    for (int64_t i = round_vectors(s, first, last); i < last; i += BLOCK)
        round_block(s, i, min_i64(BLOCK, last - i));
}

static void compute_part(void *user, int64_t first, int64_t last)
{
    compute(user, first, last);
}

/* Rows [first, last). */
static void compute_rows(void *user, int64_t first, int64_t last)
{
    const struct bytes *s = user;
    struct bytes row = *s;
    row.b_data = s->row;
    for (int64_t i = first; i < last; i++) {
        row.a_data = s->a_data + i * s->length;
        row.y_data = s->y_data + i * s->length;
        compute(&row, 0, s->length);
    }
}

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    struct bytes s = *(const struct bytes *)step->prepared;
    (void)scope;
    s.a_data = in[0].data;
    s.y_data = out[0].data;
    const int64_t count = (int64_t)shape_count(&out[0].shape);
    if (s.row) {
        threads_share(count / s.length, LEAST_ELEMENTS / s.length + 1, compute_rows, &s);
        return ODLC_OK;
    }
    s.b_data = in[s.b_place].data;
    threads_share(count, LEAST_ELEMENTS, compute_part, &s);
    return ODLC_OK;
}

static bool is_bytes(const struct tensor *t, const struct shape *shape)
{
    return t && t->kind != TENSOR_STATIC && dtype_is_fixed(t->type->dtype) && dtype_size(t->type->dtype) == 1 &&
           shape_equal(&t->type->shape, shape);
}

/* A constant with an element for each of the last axis. */
static bool is_row(const struct tensor *t, const struct shape *shape)
{
    if (!t || t->kind != TENSOR_STATIC || dtype_size(t->type->dtype) != 1 || shape->rank == 0 ||
        !fixed_is_taken(t->type->dtype, t->quant))
        return false;
    const struct shape *own = &t->type->shape;
    const int64_t length = shape->dims[shape->rank - 1];
    return length > 0 && own->rank > 0 && own->rank <= shape->rank && own->dims[own->rank - 1] == length &&
           shape_count(own) == (uint64_t)length;
}

bool bytes_is(const struct graph *g, const struct node *n)
{
    const struct shape *shape = &node_output(g, n, 0)->type->shape;
    const bool known =
        node_is(n, OP_ElementWiseAdd) || node_is(n, OP_ElementWiseSubtract) || node_is(n, OP_ElementWiseMultiply);
    return known && is_bytes(node_input(g, n, 0), shape) && is_bytes(node_output(g, n, 0), shape) &&
           (is_bytes(node_input(g, n, 1), shape) || is_row(node_input(g, n, 1), shape));
}

static struct side side_of(const struct tensor *t)
{
    const struct encoding *e = &t->quant->encodings[0];
    const bool is_signed = t->type->dtype == DT_SFXP8;
    return (struct side){
        .flip = is_signed ? 0x80 : 0, .offset = e->offset - (is_signed ? 128 : 0), .scale = (float)e->scale};
}

/* The largest |q + o| of an operand. */
static float reach(const struct side *side)
{
    return fmaxf(fabsf((float)side->offset), fabsf((float)(UINT8_MAX + side->offset)));
}

/* Of a sum, both quotients' parts, the quotient and what the definition rounds are at most six parts of 2^-24 of both;
 * of a product, as many of the quotient, which is at most 256 more than the offset where the result is not saturated.
 */
static void set_factors(struct bytes *s)
{
    const bool product = s->op == OP_ElementWiseMultiply;
    const double a = (double)s->a.scale / (double)s->y.scale, b = (double)s->b.scale / (double)s->y.scale;
    s->a_factor = (float)(product ? a * (double)s->b.scale : a);
    s->b_factor = (float)(s->op == OP_ElementWiseSubtract ? -b : b);
    const float parts = product ? 0 : s->a_factor * reach(&s->a) + (float)b * reach(&s->b);
    s->sure = 0.5F - (parts + 256 + fabsf((float)s->y.offset)) * 0x1p-21F;
    if (product && reach(&s->a) * reach(&s->b) >= 0x1p24F)
        s->sure = 0; /* products of integers that float32 does not have */
}

odlc_status bytes_prepare(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const struct tensor *y = node_output(g, n, 0);
    const bool is_signed = y->type->dtype == DT_SFXP8;
    struct bytes *s = arena_new(m->scope->arena, struct bytes);
    *s = (struct bytes){.op = n->op->id,
                        .a = side_of(node_input(g, n, 0)),
                        .b = side_of(node_input(g, n, 1)),
                        .y = {.offset = y->quant->encodings[0].offset, .scale = (float)y->quant->encodings[0].scale},
                        .b_place = making_input(m, 0, 1), /* of a constant, none */
                        .low = is_signed ? -128 : 0,
                        .high = is_signed ? 127 : 255,
                        .round = node_is(n, OP_ElementWiseMultiply)   ? round_product
                                 : node_is(n, OP_ElementWiseSubtract) ? round_difference
                                                                      : round_sum};
    if (node_input(g, n, 1)->kind == TENSOR_STATIC) {
        s->row = m->scope->constants[n->inputs[1]].data;
        s->length = y->type->shape.dims[y->type->shape.rank - 1];
    }
    set_factors(s);
    m->step->prepared = s;
    m->step->loop = run;
    return ODLC_OK;
}
