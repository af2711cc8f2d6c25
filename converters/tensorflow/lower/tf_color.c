/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow's operators that change colors: between red, green and blue and hue, saturation and value, in the last
 * axis of a tensor. */
#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* Tensors with one element in the last axis. */
struct color {
    tensor_id channels[3];
    tensor_id value, range; /* the largest channel, and how far from the smallest one */
    uint32_t axis;
};

static odlc_status read_color(struct emit *s, uint32_t least_rank, struct color *c)
{
    const struct lower *l = s->l;
    tensor_id in;
    TRY(lower_need(l, 0, "images", &in));
    const struct shape shape = build_type(l->b, in)->shape;
    if (shape.rank < least_rank || shape.dims[shape.rank - 1] != 3)
        return lower_invalid(l, NULL, NULL, "the input %s is not of %u axes or more with 3 colors in the last one",
                             shape_text(l->diags->arena, &shape), least_rank);
    c->axis = shape.rank - 1;
    in = emit_cast(s, in, DT_FLOAT32);
    for (uint32_t i = 0; i < 3; i++)
        c->channels[i] = emit_slice(s, in, c->axis, i, i + 1);
    return s->status;
}

static tensor_id of_all(struct emit *s, enum op_id op, const struct color *c)
{
    return emit_binary(s, op, emit_binary(s, op, c->channels[0], c->channels[1]), c->channels[2]);
}

static void measure(struct emit *s, struct color *c)
{
    c->value = of_all(s, OP_ElementWiseMaximum, c);
    c->range = emit_binary(s, OP_ElementWiseSubtract, c->value, of_all(s, OP_ElementWiseMinimum, c));
}

/* (a − b) / range + offset; grey has a range of 0, and a hue of 0 by a divisor of 1. */
static tensor_id sector(struct emit *s, const struct color *c, tensor_id divisor, uint32_t a, double offset)
{
    tensor_id far = emit_binary(s, OP_ElementWiseSubtract, c->channels[a], c->channels[(a + 1) % 3]);
    tensor_id hue = emit_binary(s, OP_ElementWiseDivide, far, divisor);
    return offset == 0 ? hue : emit_binary(s, OP_ElementWiseAdd, hue, emit_scalar(s, hue, offset));
}

/* In [0, 6): the sector of the largest channel, the first of equal ones. */
static tensor_id hue_of(struct emit *s, const struct color *c)
{
    tensor_id zero = emit_scalar(s, c->range, 0), one = emit_scalar(s, c->range, 1);
    tensor_id is_grey = emit_binary(s, OP_ElementWiseEqual, c->range, zero);
    tensor_id divisor = emit_select(s, is_grey, one, c->range);
    tensor_id red = sector(s, c, divisor, 1, 0), green = sector(s, c, divisor, 2, 2);
    tensor_id is_green = emit_binary(s, OP_ElementWiseEqual, c->channels[1], c->value);
    tensor_id hue = emit_select(s, is_green, green, sector(s, c, divisor, 0, 4));
    hue = emit_select(s, emit_binary(s, OP_ElementWiseEqual, c->channels[0], c->value), red, hue);
    tensor_id around = emit_binary(s, OP_ElementWiseAdd, hue, emit_scalar(s, hue, 6));
    return emit_select(s, emit_binary(s, OP_ElementWiseLess, hue, zero), around, hue);
}

/* range / value, and 0 for black. */
static tensor_id saturation_of(struct emit *s, const struct color *c)
{
    tensor_id zero = emit_scalar(s, c->value, 0);
    tensor_id is_bright = emit_binary(s, OP_ElementWiseGreater, c->value, zero);
    tensor_id divisor = emit_select(s, is_bright, c->value, emit_scalar(s, c->value, 1));
    return emit_select(s, is_bright, emit_binary(s, OP_ElementWiseDivide, c->range, divisor), zero);
}

/* How much of a channel a hue has, from 0 to 1: sign · |hue − center| + offset. */
static tensor_id share(struct emit *s, tensor_id hue, double center, double sign, double offset)
{
    tensor_id far =
        emit_unary(s, OP_ElementWiseAbs, emit_binary(s, OP_ElementWiseSubtract, hue, emit_scalar(s, hue, center)));
    if (sign < 0)
        far = emit_unary(s, OP_ElementWiseNeg, far);
    return emit_clamp(s, emit_binary(s, OP_ElementWiseAdd, far, emit_scalar(s, hue, offset)), 0, 1);
}

/* Output 0: the colors of hues in [0, 6], from base up to base + range. */
static odlc_status give_colors(struct emit *s, uint32_t axis, tensor_id hue, tensor_id base, tensor_id range)
{
    TRY(s->status);
    const enum dtype dtype = build_type(s->l->b, s->l->in[0])->dtype;
    tensor_id shares[] = {share(s, hue, 3, 1, -1), NO_TENSOR, NO_TENSOR};
    shares[1] = share(s, hue, 2, -1, 2);
    shares[2] = share(s, hue, 4, -1, 2);
    tensor_id all = emit_binary(s, OP_ElementWiseMultiply, emit_concat(s, shares, 3, axis), range);
    return emit_give(s, 0, emit_cast(s, emit_binary(s, OP_ElementWiseAdd, all, base), dtype));
}

odlc_status tf_rgb_to_hsv(struct lower *l)
{
    struct emit s = {.l = l};
    struct color c;
    TRY(read_color(&s, 1, &c));
    measure(&s, &c);
    tensor_id hue = hue_of(&s, &c);
    hue = emit_binary(&s, OP_ElementWiseDivide, hue, emit_scalar(&s, hue, 6));
    const tensor_id parts[] = {hue, saturation_of(&s, &c), c.value};
    TRY(s.status);
    return emit_give(&s, 0, emit_cast(&s, emit_concat(&s, parts, 3, c.axis), build_type(l->b, l->in[0])->dtype));
}

odlc_status tf_hsv_to_rgb(struct lower *l)
{
    struct emit s = {.l = l};
    struct color c;
    TRY(read_color(&s, 1, &c));
    const tensor_id hue = c.channels[0], saturation = c.channels[1], value = c.channels[2];
    tensor_id range = emit_binary(&s, OP_ElementWiseMultiply, saturation, value);
    tensor_id base = emit_binary(&s, OP_ElementWiseSubtract, value, range);
    return give_colors(&s, c.axis, emit_binary(&s, OP_ElementWiseMultiply, hue, emit_scalar(&s, hue, 6)), base, range);
}

/* Input 1, one number. */
static odlc_status read_factor(struct emit *s, const char *what, tensor_id *out)
{
    TRY(lower_need(s->l, 1, what, out));
    if (shape_count(&build_type(s->l->b, *out)->shape) != 1)
        return lower_invalid(s->l, what, NULL, "input 1 (%s) is not one number", what);
    *out = emit_reshape(s, *out, &(struct shape){.rank = 0});
    return s->status;
}

/* Hues move by a part of the whole circle. */
odlc_status tf_adjust_hue(struct lower *l)
{
    struct emit s = {.l = l};
    struct color c;
    tensor_id delta;
    TRY(read_color(&s, 3, &c));
    TRY(read_factor(&s, "delta", &delta));
    measure(&s, &c);
    tensor_id six = emit_scalar(&s, delta, 6), by = emit_binary(&s, OP_ElementWiseMultiply, delta, six);
    tensor_id hue = emit_binary(&s, OP_ElementWiseAdd, hue_of(&s, &c), by);
    tensor_id base = emit_binary(&s, OP_ElementWiseSubtract, c.value, c.range);
    return give_colors(&s, c.axis, emit_binary(&s, OP_ElementWiseMod, hue, six), base, c.range);
}

odlc_status tf_adjust_saturation(struct lower *l)
{
    struct emit s = {.l = l};
    struct color c;
    tensor_id scale;
    TRY(read_color(&s, 3, &c));
    TRY(read_factor(&s, "scale", &scale));
    measure(&s, &c);
    tensor_id saturation = emit_binary(&s, OP_ElementWiseMultiply, saturation_of(&s, &c), scale);
    tensor_id range = emit_binary(&s, OP_ElementWiseMultiply, emit_clamp(&s, saturation, 0, 1), c.value);
    tensor_id base = emit_binary(&s, OP_ElementWiseSubtract, c.value, range);
    return give_colors(&s, c.axis, hue_of(&s, &c), base, range);
}
