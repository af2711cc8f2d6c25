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
