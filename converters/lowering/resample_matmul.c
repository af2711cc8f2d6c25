/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/resample_matmul.h"

#include "converters/lowering/shapes.h"

/* Weights along one axis. */
#define TABLE_MAX ((int64_t)1 << 26)

bool resample_matmul_fits(int64_t in, int64_t out)
{
    return in <= TABLE_MAX / out;
}

/* The weights as a matrix [in, out], or [out, in] for the left side of a product. */
static tensor_id weight_matrix(struct lower *l, const struct resample_taps *taps, int64_t in, int64_t out,
                               enum dtype dtype, bool left)
{
    struct shape shape = left ? SHAPE(out, in) : SHAPE(in, out);
    int64_t out_step = left ? in : 1, in_step = left ? 1 : out;
    double *matrix = arena_array(l->arena, double, shape_count(&shape));
    for (int64_t o = 0; o < out; o++)
        for (int64_t i = o * taps->width; i < (o + 1) * taps->width; i++)
            matrix[o * out_step + taps->index[i] * in_step] += taps->weight[i];
    struct view view = view_of(matrix, DT_FLOAT64, &shape);
    return graph_add_constant(l->b->graph, step_name(l, "weights"), dtype, &view);
}

/* The last two axes are those of a matrix; others are exchanged with the last. */
odlc_status lower_resample_matmul(struct lower *l, tensor_id x, uint32_t axis, const struct resample_taps *taps,
                                  int64_t out, const char *out_name, tensor_id *result)
{
    const struct type type = *build_type(l->b, x);
    uint32_t rank = type.shape.rank;
    bool left = rank >= 2 && axis == rank - 2, exchanged = !left && axis != rank - 1;
    struct perm perm = perm_identity(rank);
    perm.axis[axis] = (uint8_t)(rank - 1);
    perm.axis[rank - 1] = (uint8_t)axis;
    if (exchanged)
        TRY(build_transpose(l->b, x, &perm, step_name(l, "exchanged"), &x));
    tensor_id weights = weight_matrix(l, taps, type.shape.dims[axis], out, type.dtype, left);
    build_op(l->b, OP_MatMul, fw_node_label(l->node));
    build_in(l->b, left ? weights : x);
    build_in(l->b, left ? x : weights);
    TRY(build_end(l->b, exchanged ? step_name(l, "resized") : out_name, result));
    return exchanged ? build_transpose(l->b, *result, &perm, out_name, result) : ODLC_OK;
}

/* Rows are long: a row of the image is an element of a matrix' column then. */
odlc_status lower_resample_image(struct lower *l, tensor_id x, const struct resample_taps taps[2], const int64_t out[2])
{
    const struct shape in = build_type(l->b, x)->shape;
    struct shape rows = SHAPE(in.dims[0], in.dims[1], in.dims[2] * in.dims[3]);
    struct shape resized = SHAPE(in.dims[0], out[0], in.dims[2], in.dims[3]);
    for (uint32_t i = 0; i < 2; i++)
        if (!resample_matmul_fits(in.dims[i + 1], out[i]))
            return lower_unsupported(l, NULL, NULL, "a table of %lld times %lld weights is too large",
                                     (long long)out[i], (long long)in.dims[i + 1]);
    TRY(build_reshape(l->b, x, &rows, step_name(l, "rows"), &x));
    TRY(lower_resample_matmul(l, x, 1, &taps[0], out[0], step_name(l, "height"), &x));
    TRY(build_reshape(l->b, x, &resized, step_name(l, "resized"), &x));
    return lower_resample_matmul(l, x, 2, &taps[1], out[1], lower_out_name(l, 0), &l->out[0]);
}

odlc_status lower_start_taps(const struct lower *l, int64_t width, int64_t out, struct resample_taps *taps)
{
    const uint64_t count = (uint64_t)width * (uint64_t)out;
    taps->width = width;
    TRY(lower_table(l, count, sizeof *taps->index, &taps->index));
    return lower_table(l, count, sizeof *taps->weight, &taps->weight);
}
