/* SPDX-License-Identifier: Apache-2.0 */
/* MatMulBnb4 of ONNX Runtime: A · Wᵀ, where numbers of 4 bits choose weights from a table, and each block of W, row
 * after row, is scaled by its largest. */
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_qlinear.h"
#include "converters/onnx/lower/onnx_rows.h"

enum { FP4, NF4, ENTRIES = 16 };

/* FP4 is a sign, two bits of exponent and one of mantissa, divided by the largest such number, 12; the entry of the
 * smallest exponent is 1/192. NF4 are quantiles of the normal distribution (QLoRA, arXiv:2305.14314, appendix E). */
static const float table[][ENTRIES] = {
    [FP4] = {0, 1 / 192.0f, 2 / 3.0f, 1, 1 / 3.0f, 0.5f, 1 / 6.0f, 0.25f, 0, -1 / 192.0f, -2 / 3.0f, -1, -1 / 3.0f,
             -0.5f, -1 / 6.0f, -0.25f},
    [NF4] = {-1, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
             -0.18477343022823334f, -0.09105003625154495f, 0, 0.07958029955625534f, 0.16093020141124725f,
             0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f,
             1},
};

struct bnb4 {
    int64_t rows, columns, block, quantiles, transposes;
};

static odlc_status read_attributes(const struct lower *l, struct bnb4 *n)
{
    TRY(contrib_block_sizes(l, &n->rows, &n->columns, &n->block));
    TRY(lower_attr_int(l, "quant_type", -1, &n->quantiles));
    TRY(lower_attr_int(l, "transB", 1, &n->transposes));
    if (n->quantiles != FP4 && n->quantiles != NF4)
        return lower_invalid(l, "quant_type", NULL, "%lld is neither 0 (FP4) nor 1 (NF4)", (long long)n->quantiles);
    return ODLC_OK;
}

/* The weights [rows, columns]; the first number of a byte is in its high bits. */
static odlc_status read_weights(struct lower *l, const struct bnb4 *n, struct view *view)
{
    const struct shape shape = SHAPE(n->rows, n->columns);
    const int64_t elements = n->rows * n->columns;
    tensor_id packed, largest;
    uint64_t count;
    float *w;
    TRY(contrib_known(l, 1, "B", (elements + 1) / 2, &packed));
    TRY(contrib_known(l, 2, "absmax", (elements + n->block - 1) / n->block, &largest));
    if (build_type(l->b, packed)->dtype != DT_UINT8)
        return lower_invalid(l, NULL, NULL, "B is of type %s", dtype_info(build_type(l->b, packed)->dtype)->name);
    TRY(lower_table(l, shape_count(&shape), sizeof *w, &w));
    const uint8_t *bytes = view_load(l->scratch, graph_tensor(l->b->graph, packed)->view, DT_UINT8);
    const double *scale = build_const_as_floats(l->b, largest, &count);
    for (int64_t i = 0; i < elements; i++) {
        const unsigned number = i % 2 ? bytes[i / 2] & 15u : bytes[i / 2] >> 4;
        w[i] = table[n->quantiles][number] * (float)scale[i / n->block];
    }
    *view = view_of(w, DT_FLOAT32, &shape);
    return ODLC_OK;
}

odlc_status lower_matmul_bnb4(struct lower *l)
{
    const struct perm swap = PERM(1, 0);
    struct bnb4 n;
    struct view view;
    tensor_id in[2];
    TRY(lower_need(l, 0, "A", &in[0]));
    TRY(read_attributes(l, &n));
    TRY(read_weights(l, &n, &view));
    if (n.transposes)
        view_permute(&view, &swap);
    const char *name = graph_tensor(l->b->graph, l->in[1])->name;
    in[1] = graph_add_constant(l->b->graph, name, build_type(l->b, in[0])->dtype, &view);
    return qlinear_end(l, lower_matmul, in, COUNT_OF(in));
}
