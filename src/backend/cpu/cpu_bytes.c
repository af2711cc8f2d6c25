#include "backend/cpu/cpu_bytes.h"

#include <math.h>

#include "backend/cpu/cpu_threads.h"
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
    void (*round)(const struct bytes *s, const uint8_t *a, const uint8_t *b, int64_t count, int32_t *integers);
    /* Of a run. */
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

static void compute_part(void *user, int64_t first, int64_t last)
{
    const struct bytes *s = user;
    int32_t integers[BLOCK];
    for (int64_t i = first; i < last; i += BLOCK) {
        const int64_t count = min_i64(BLOCK, last - i);
        s->round(s, s->a_data + i, s->b_data + i, count, integers);
        store(integers, count, s->y_data + i);
    }
}

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    struct bytes s = *(const struct bytes *)step->prepared;
    (void)scope;
    s.a_data = in[0].data;
    s.b_data = in[s.b_place].data;
    s.y_data = out[0].data;
    threads_share((int64_t)shape_count(&out[0].shape), LEAST_ELEMENTS, compute_part, &s);
    return ODLC_OK;
}

static bool is_bytes(const struct tensor *t, const struct shape *shape)
{
    return t && t->kind != TENSOR_STATIC && dtype_is_fixed(t->type->dtype) && dtype_size(t->type->dtype) == 1 &&
           shape_equal(&t->type->shape, shape);
}

bool bytes_is(const struct graph *g, const struct node *n)
{
    const struct shape *shape = &node_output(g, n, 0)->type->shape;
    const bool known =
        node_is(n, OP_ElementWiseAdd) || node_is(n, OP_ElementWiseSubtract) || node_is(n, OP_ElementWiseMultiply);
    return known && is_bytes(node_input(g, n, 0), shape) && is_bytes(node_input(g, n, 1), shape) &&
           is_bytes(node_output(g, n, 0), shape);
}

static struct side side_of(const struct tensor *t)
{
    const struct encoding *e = &t->quant->encodings[0];
    const bool is_signed = t->type->dtype == DT_SFXP8;
    return (struct side){
        .flip = is_signed ? 0x80 : 0, .offset = e->offset - (is_signed ? 128 : 0), .scale = (float)e->scale};
}

odlc_status bytes_prepare(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const struct tensor *y = node_output(g, n, 0);
    const bool is_signed = y->type->dtype == DT_SFXP8;
    struct bytes *s = arena_new(m->scope->arena, struct bytes);
    *s = (struct bytes){.a = side_of(node_input(g, n, 0)),
                        .b = side_of(node_input(g, n, 1)),
                        .y = {.offset = y->quant->encodings[0].offset, .scale = (float)y->quant->encodings[0].scale},
                        .b_place = making_input(m, 0, 1),
                        .low = is_signed ? -128 : 0,
                        .high = is_signed ? 127 : 255,
                        .round = node_is(n, OP_ElementWiseMultiply)   ? round_product
                                 : node_is(n, OP_ElementWiseSubtract) ? round_difference
                                                                      : round_sum};
    m->step->prepared = s;
    m->step->loop = run;
    return ODLC_OK;
}
