/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/fixed_product.h"

#include <math.h>

#include "op/op.h"
#include "op/params.h"

/* q + o of operands is exact in float32 below. */
#define MOST_OFFSET (1 << 22)

/* Of the weights: the axis whose indices are the output's channels. */
static uint32_t channel_axis(const struct node *n, const struct shape *weights)
{
    if (n->op->id == OP_FullyConnected)
        return 0;
    const bool transposed = n->op->id == OP_MatMul && node_int(n, PARAM_transpose_in1, 0) != 0;
    return weights->rank - (transposed && weights->rank > 1 ? 2 : 1);
}

/* Whether the encodings are those of the tensor, or of indices of the axis. */
static bool has_encodings(const struct buffer *b, uint32_t axis)
{
    if (!dtype_is_fixed(b->dtype) || !b->quant || b->quant->count == 0)
        return false;
    const struct quant *q = b->quant;
    return !q->per_axis || (b->shape.rank > 0 && q->axis == axis && q->count == (uint64_t)b->shape.dims[axis]);
}

static bool has_small_integers(const struct buffer *b)
{
    if (dtype_size(b->dtype) > sizeof(int16_t))
        return false;
    for (uint32_t i = 0; i < (b->quant->per_axis ? b->quant->count : 1); i++)
        if (b->quant->encodings[i].offset > MOST_OFFSET || b->quant->encodings[i].offset < -MOST_OFFSET)
            return false;
    return true;
}

bool fixed_product_is(const struct node *n, const struct buffer *in, const struct buffer *out)
{
    const struct buffer *x = &in[0], *w = &in[1], *y = &out[0];
    return x->quant && !x->quant->per_axis && has_encodings(x, 0) && w->shape.rank > 0 &&
           has_encodings(w, channel_axis(n, &w->shape)) && y->shape.rank > 0 && has_encodings(y, y->shape.rank - 1) &&
           has_small_integers(x) && has_small_integers(w);
}

/* One of a quant's encodings. */
static const struct encoding *encoding_of(const struct quant *q, uint64_t channel)
{
    return &q->encodings[q->per_axis ? channel % q->count : 0];
}

/* The bias as reals, which are not rounded to float32. */
static const double *read_bias(const struct buffer *b, struct arena *arena)
{
    const uint64_t count = shape_count(&b->shape);
    double *reals = arena_array(arena, double, count);
    convert_elements(reals, DT_FLOAT64, b->data, b->dtype, count);
    for (uint64_t i = 0; b->quant && dtype_is_fixed(b->dtype) && i < count; i++) {
        const struct encoding *e = buffer_encoding(b, i);
        reals[i] = (reals[i] + e->offset) * e->scale;
    }
    return reals;
}

struct fixed_product fixed_product_read(const struct node *n, const struct buffer *in, const struct buffer *out,
                                        struct arena *arena)
{
    return (struct fixed_product){
        .x_scale = in[0].quant->encodings[0].scale,
        .weights = in[1].quant,
        .result = out[0].quant,
        .bias = n->n_inputs > 2 && in[2].data ? read_bias(&in[2], arena) : NULL,
        .channels = (uint64_t)out[0].shape.dims[out[0].shape.rank - 1],
    };
}

struct buffer fixed_product_operand(const struct buffer *b, struct arena *arena)
{
    struct buffer wide = *b;
    const uint64_t count = shape_count(&b->shape);
    float *q = arena_array(arena, float, count);
    convert_elements(q, DT_FLOAT32, b->data, b->dtype, count);
    for (uint64_t i = 0; i < count; i++)
        q[i] += (float)buffer_encoding(b, i)->offset;
    wide.dtype = DT_FLOAT32;
    wide.data = q;
    return wide;
}

const struct encoding *fixed_product_weight(const struct fixed_product *p, uint64_t channel)
{
    return encoding_of(p->weights, channel);
}

double fixed_product_element(const struct fixed_product *p, uint64_t channel, double sum)
{
    const struct encoding *y = encoding_of(p->result, channel);
    const double real = sum * p->x_scale * fixed_product_weight(p, channel)->scale + (p->bias ? p->bias[channel] : 0);
    return rint(real / y->scale) - y->offset;
}

/* So many elements are saturated at once. */
enum { BLOCK = 512 };

void fixed_product_narrow(const struct fixed_product *p, const double *sums, struct buffer *out)
{
    const uint64_t count = shape_count(&out->shape);
    double q[BLOCK];
    for (uint64_t done = 0, n; done < count; done += n) {
        n = min_u64(BLOCK, count - done);
        for (uint64_t i = 0; i < n; i++)
            q[i] = fixed_product_element(p, (done + i) % p->channels, sums[done + i]);
        convert_elements((uint8_t *)out->data + done * dtype_size(out->dtype), out->dtype, q, DT_FLOAT64, n);
    }
}
