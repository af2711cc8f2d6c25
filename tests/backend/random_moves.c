/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements. */
#include "tests/backend/random_moves.h"

#include "op/op.h"

static odlc_status make_blocks(struct making *m, enum op_id op, tensor_id *out)
{
    const int64_t block[] = {draw(m, 1, 3), draw(m, 1, 3)}, channels = draw(m, 1, 12);
    const bool deep = op == OP_DepthToSpace;
    struct shape image = draw_image(m, 2, deep ? channels * block[0] * block[1] : channels);
    for (int i = 0; !deep && i < 2; i++)
        image.dims[i + 1] *= block[i];
    const tensor_id x = real(m, image);
    start(m, op);
    build_in(&m->build, x);
    give(m, PARAM_block_size, block, 2, false);
    build_int(&m->build, PARAM_mode, draw(m, 0, 1));
    return build_end(&m->build, NULL, out);
}

static odlc_status make_shuffle(struct making *m, enum op_id op, tensor_id *out)
{
    struct shape shape = draw_long_shape(m);
    const int64_t axis = draw(m, 0, shape.rank - 1), groups = draw(m, 1, 4);
    shape.dims[axis] *= groups;
    const tensor_id x = real(m, shape);
    start(m, op);
    build_in(&m->build, x);
    build_int(&m->build, PARAM_num_groups, groups);
    build_int(&m->build, PARAM_axis, axis);
    return build_end(&m->build, NULL, out);
}

static odlc_status make_transpose(struct making *m, enum op_id op, tensor_id *out)
{
    const uint32_t rank = (uint32_t)draw(m, 1, 5);
    int64_t perm[5] = {0, 1, 2, 3, 4};
    const tensor_id x = real(m, draw_shape(m, rank, rank > 3 ? 6 : 20));
    for (uint32_t i = rank; i > 1; i--) {
        const int64_t j = draw(m, 0, i - 1), axis = perm[i - 1];
        perm[i - 1] = perm[j];
        perm[j] = axis;
    }
    start(m, op);
    build_in(&m->build, x);
    give(m, PARAM_perm, perm, rank, false);
    return build_end(&m->build, NULL, out);
}

odlc_status make_rearrangement(struct making *m, enum op_id op, tensor_id *out)
{
    return op == OP_Transpose        ? make_transpose(m, op, out)
           : op == OP_ChannelShuffle ? make_shuffle(m, op, out)
                                     : make_blocks(m, op, out);
}

odlc_status make_concat(struct making *m, enum op_id op, tensor_id *out)
{
    struct shape shape = draw_long_shape(m);
    const int64_t axis = draw(m, 0, shape.rank - 1), count = draw(m, 1, 4);
    tensor_id in[4];
    for (int64_t i = 0; i < count; i++) {
        shape.dims[axis] = draw(m, 1, draw(m, 0, 7) ? 12 : 300);
        in[i] = operand(m, shape);
    }
    start(m, op);
    for (int64_t i = 0; i < count; i++)
        build_in(&m->build, in[i]);
    build_int(&m->build, PARAM_axis, axis);
    return build_end(&m->build, NULL, out);
}

odlc_status make_split(struct making *m, enum op_id op, tensor_id *out)
{
    struct shape shape = draw_long_shape(m);
    const int64_t axis = draw(m, 0, shape.rank - 1), parts = draw(m, 1, 4);
    int64_t ends[4] = {0};
    tensor_id outs[4];
    for (int64_t i = 1; i < parts; i++)
        ends[i] = ends[i - 1] + draw(m, 1, 5);
    shape.dims[axis] = ends[parts - 1] + draw(m, 1, 5);
    const tensor_id x = real(m, shape);
    start(m, op);
    build_in(&m->build, x);
    build_int(&m->build, PARAM_axis, axis);
    give(m, PARAM_split_index, ends + 1, (uint32_t)parts - 1, false);
    TRY(build_end_n(&m->build, (const char *[]){"", "", "", ""}, (uint32_t)parts, outs));
    *out = outs[draw(m, 0, parts - 1)];
    return ODLC_OK;
}

odlc_status make_tile(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_shape(m, (uint32_t)draw(m, 1, 4), 8);
    int64_t times[MAX_RANK];
    for (uint32_t i = 0; i < shape.rank; i++)
        times[i] = draw(m, 1, 3);
    const tensor_id x = real(m, shape);
    start(m, op);
    build_in(&m->build, x);
    give(m, PARAM_multiples, times, shape.rank, false);
    return build_end(&m->build, NULL, out);
}

/* Ranges forwards and backwards. */
odlc_status make_slice(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_long_shape(m);
    int64_t ranges[3 * MAX_RANK];
    for (uint32_t i = 0; i < shape.rank; i++) {
        const int64_t first = draw(m, 0, shape.dims[i] - 1), last = draw(m, first, shape.dims[i] - 1);
        const bool back = draw(m, 0, 3) == 0 && first > 0;
        ranges[3 * i] = back ? last : first;
        ranges[3 * i + 1] = back ? first - 1 : last + 1;
        ranges[3 * i + 2] = draw(m, 1, 3) * (back ? -1 : 1);
    }
    const tensor_id x = real(m, shape);
    const struct shape rows = {.rank = 2, .dims = {shape.rank, 3}};
    start(m, op);
    build_in(&m->build, x);
    build_tensor_ints(&m->build, PARAM_ranges, &rows, ranges);
    build_int(&m->build, PARAM_shrink_axes, draw(m, 0, 1));
    return build_end(&m->build, NULL, out);
}

odlc_status make_pad(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_shape(m, (uint32_t)draw(m, 1, 4), 9);
    const int64_t scheme = draw(m, 0, 3);
    int64_t amount[2 * MAX_RANK];
    for (uint32_t i = 0; i < 2 * shape.rank; i++)
        amount[i] = draw(m, 0, scheme == 0 ? 3 : shape.dims[i / 2] - 1);
    const tensor_id x = real(m, shape);
    start(m, op);
    build_in(&m->build, x);
    build_int(&m->build, PARAM_scheme, scheme);
    give(m, PARAM_pad_amount, amount, 2 * shape.rank, true);
    if (scheme == 0 && toss(m))
        build_float(&m->build, PARAM_pad_constant_value, draw_real(m));
    return build_end(&m->build, NULL, out);
}

/* Indices are constants: others would have to be drawn in their range. */
odlc_status make_gather(struct making *m, enum op_id op, tensor_id *out)
{
    const struct shape shape = draw_long_shape(m), of = draw_shape(m, (uint32_t)draw(m, 1, 2), 6);
    const int64_t axis = draw(m, 0, shape.rank - 1), dim = shape.dims[axis];
    int64_t indices[36];
    for (uint64_t i = 0; i < shape_count(&of); i++)
        indices[i] = draw(m, -dim, dim - 1);
    const tensor_id x = real(m, shape);
    const tensor_id at = build_const_ints(&m->build, "indices", DT_INT32, &of, indices);
    start(m, op);
    build_in(&m->build, x);
    build_in(&m->build, at);
    build_int(&m->build, PARAM_axis, axis);
    return build_end(&m->build, NULL, out);
}
