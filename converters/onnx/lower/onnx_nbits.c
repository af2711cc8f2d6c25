/* SPDX-License-Identifier: Apache-2.0 */
/* MatMulNBits of ONNX Runtime: A · Wᵀ + bias, where blocks of W's rows are integers of few bits with a scale. */
#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/contrib.h"
#include "converters/onnx/lower/onnx_blocks.h"
#include "converters/onnx/lower/onnx_qlinear.h"
#include "converters/onnx/lower/onnx_rows.h"

struct nbits {
    struct lower *l;
    tensor_id x;
    int64_t rows, columns, bits, block, blocks; /* blocks: in a row */
    const uint8_t *packed;                      /* [rows, blocks, bytes of a block] */
    const double *scale;                        /* [rows, blocks] */
    double *zero;                               /* likewise */
    enum dtype zero_dtype;                      /* of floats that are given; DT_NONE: they are integers */
    const int64_t *group;                       /* of a column: whose scale it has; NULL: of the block it is in */
};

/* Number i of a line of bytes, the low bits of a byte first. */
static unsigned number(const uint8_t *line, int64_t i, int64_t bits)
{
    const int64_t at = i * bits;
    return (unsigned)line[at / 8] >> (at % 8) & ((1u << bits) - 1);
}

static odlc_status read_attributes(struct nbits *n)
{
    const struct lower *l = n->l;
    int64_t prepacked;
    TRY(lower_attr_int(l, "bits", 4, &n->bits));
    TRY(lower_attr_int(l, "weight_prepacked", 0, &prepacked));
    if (prepacked != 0)
        return lower_unsupported(l, "weight_prepacked", NULL, "weights in the order of a processor are not supported");
    TRY(contrib_block_sizes(l, &n->rows, &n->columns, &n->block));
    if (n->bits != 2 && n->bits != 4 && n->bits != 8)
        return lower_unsupported(l, "bits", NULL, "numbers of %lld bits are not supported", (long long)n->bits);
    n->blocks = n->columns / n->block + (n->columns % n->block > 0);
    return ODLC_OK;
}

static odlc_status read_zeros(struct nbits *n)
{
    struct lower *l = n->l;
    const int64_t bytes = (n->blocks * n->bits + 7) / 8;
    tensor_id id = lower_in(l, 3);
    uint64_t count;
    TRY(lower_table(l, (uint64_t)(n->rows * n->blocks), sizeof *n->zero, &n->zero));
    const bool packed = id != NO_TENSOR && build_type(l->b, id)->dtype == DT_UINT8;
    if (id != NO_TENSOR)
        TRY(contrib_known(l, 3, "zero_points", n->rows * (packed ? bytes : n->blocks), &id));
    if (id != NO_TENSOR && !packed && !dtype_is_float(build_type(l->b, id)->dtype))
        return lower_invalid(l, NULL, NULL, "the zero points are of type %s",
                             dtype_info(build_type(l->b, id)->dtype)->name);
    const uint8_t *lines = packed ? view_load(l->arena, graph_tensor(l->b->graph, id)->view, DT_UINT8) : NULL;
    const double *given = id == NO_TENSOR || packed ? NULL : build_const_as_floats(l->b, id, &count);
    n->zero_dtype = given ? build_type(l->b, id)->dtype : DT_NONE;
    for (int64_t i = 0; i < n->rows * n->blocks; i++)
        n->zero[i] = lines   ? number(lines + i / n->blocks * bytes, i % n->blocks, n->bits)
                     : given ? given[i]
                             : ldexp(1, (int)n->bits - 1);
    return ODLC_OK;
}

/* Columns may come in another order than that in which they were put into groups; those behind the last are padding. */
static odlc_status read_groups(struct nbits *n)
{
    const struct lower *l = n->l;
    tensor_id id = lower_in(l, 4);
    if (id == NO_TENSOR)
        return ODLC_OK;
    const struct type *type = build_type(l->b, id);
    const bool is_padded = shape_count(&type->shape) == (uint64_t)(n->blocks * n->block);
    if (type->dtype != DT_INT32)
        return lower_invalid(l, NULL, NULL, "g_idx is of type %s", dtype_info(type->dtype)->name);
    TRY(contrib_known(l, 4, "g_idx", is_padded ? n->blocks * n->block : n->columns, &id));
    uint64_t count;
    n->group = build_const_as_ints(l->b, id, &count);
    for (int64_t i = 0; i < n->columns; i++)
        if (n->group[i] < 0 || n->group[i] >= n->blocks)
            return lower_invalid(l, NULL, NULL, "g_idx has %lld, and there are %lld groups", (long long)n->group[i],
                                 (long long)n->blocks);
    return ODLC_OK;
}

static odlc_status read_operands(struct nbits *n)
{
    struct lower *l = n->l;
    tensor_id id;
    uint64_t count;
    TRY(lower_need(l, 0, "A", &n->x));
    const struct type *x = build_type(l->b, n->x);
    if (!dtype_is_float(x->dtype) || x->shape.rank == 0 || x->shape.dims[x->shape.rank - 1] != n->columns)
        return lower_invalid(l, NULL, NULL, "A %s does not have %lld columns of floats",
                             shape_text(l->diags->arena, &x->shape), (long long)n->columns);
    TRY(contrib_known(l, 1, "B", n->rows * n->blocks * (n->block * n->bits / 8), &id));
    if (build_type(l->b, id)->dtype != DT_UINT8)
        return lower_invalid(l, NULL, NULL, "B is of type %s", dtype_info(build_type(l->b, id)->dtype)->name);
    n->packed = view_load(l->arena, graph_tensor(l->b->graph, id)->view, DT_UINT8);
    TRY(contrib_known(l, 2, "scales", n->rows * n->blocks, &id));
    n->scale = build_const_as_floats(l->b, id, &count);
    TRY(read_groups(n));
    return read_zeros(n);
}

/* ---- weights ---- */

static unsigned weight(const struct nbits *n, int64_t row, int64_t column)
{
    const int64_t bytes = n->block * n->bits / 8;
    const uint8_t *line = n->packed + (row * n->blocks + column / n->block) * bytes;
    return number(line, column % n->block, n->bits);
}

/* A block is a row: integers that are still to be scaled, which can be stored as they are. */
static odlc_status weights_by_row(struct nbits *n, struct view *view)
{
    uint8_t *q;
    struct shape shape = SHAPE(n->rows, n->columns);
    TRY(lower_table(n->l, shape_count(&shape), sizeof *q, &q));
    for (int64_t i = 0; i < n->rows * n->columns; i++)
        q[i] = (uint8_t)weight(n, i / n->columns, i % n->columns);
    *view = view_of(q, DT_UINT8, &shape);
    view->scale = n->scale;
    view->zero = n->zero;
    view->scale_axis = 0;
    return ODLC_OK;
}

static odlc_status weights_by_block(struct nbits *n, struct view *view)
{
    float *w;
    struct shape shape = SHAPE(n->rows, n->columns);
    TRY(lower_table(n->l, shape_count(&shape), sizeof *w, &w));
    for (int64_t i = 0; i < n->rows * n->columns; i++) {
        const int64_t column = i % n->columns, group = n->group ? n->group[column] : column / n->block;
        const int64_t block = i / n->columns * n->blocks + group;
        w[i] = (float)((weight(n, i / n->columns, i % n->columns) - n->zero[block]) * n->scale[block]);
    }
    *view = view_of(w, DT_FLOAT32, &shape);
    note_float_blocks(n->l, n->block);
    return ODLC_OK;
}

/* ---- weights that stay stored as integers: --block_weights packed ---- */

/* As a constant; those of 2 bits are stored as those of 4. */
static odlc_status stored_integers(const struct nbits *n, tensor_id *out)
{
    const struct lower *l = n->l;
    const struct shape shape = SHAPE(n->rows, n->columns);
    const enum dtype dtype = n->bits == 8 ? DT_UINT8 : DT_UINT4;
    uint8_t *q;
    TRY(lower_table(l, shape_count(&shape), sizeof *q, &q));
    for (int64_t i = 0; i < n->rows * n->columns; i++)
        q[i] = (uint8_t)weight(n, i / n->columns, i % n->columns);
    const struct view view = view_of(q, dtype, &shape);
    *out = graph_add_constant(l->b->graph, graph_tensor(l->b->graph, l->in[1])->name, dtype, &view);
    return ODLC_OK;
}

/* The zero points of all blocks; NO_TENSOR, where one integer says them all. */
static tensor_id stored_zeros(struct emit *s, const struct nbits *n)
{
    const struct shape shape = SHAPE(n->rows, n->blocks);
    const enum dtype integer = n->bits == 8 ? DT_UINT8 : DT_UINT4;
    bool one = n->zero_dtype == DT_NONE;
    for (int64_t i = 1; i < n->rows * n->blocks; i++)
        one &= n->zero[i] == n->zero[0];
    return one ? NO_TENSOR : emit_constant(s, n->zero_dtype == DT_NONE ? integer : n->zero_dtype, &shape, n->zero);
}

static tensor_id stored_groups(const struct nbits *n)
{
    if (!n->group)
        return NO_TENSOR;
    const struct view view = view_of(n->group, DT_INT64, &SHAPE(n->columns));
    return graph_add_constant(n->l->b->graph, step_name(n->l, "groups"), DT_INT32, &view);
}

static odlc_status multiply_stored(struct nbits *n)
{
    struct lower *l = n->l;
    struct emit s = {.l = l};
    struct stored_blocks w = {.middle = n->zero[0], .granularity = {.axis = 1, .block = n->block}};
    const struct type x = *build_type(l->b, n->x);
    struct shape line = SHAPE(1, n->columns), result = x.shape;
    tensor_id bias = lower_in(l, 5);
    result.dims[result.rank - 1] = n->rows;
    TRY(stored_integers(n, &w.x));
    w.zero = stored_zeros(&s, n);
    w.groups = stored_groups(n);
    w.scale = emit_reshape(&s, l->in[2], &SHAPE(n->rows, n->blocks));
    const tensor_id weights = emit_cast(&s, emit_stored_blocks(&s, &w), x.dtype);
    const tensor_id rows = emit_reshape(&s, n->x, x.shape.rank == 1 ? &line : &x.shape);
    tensor_id y = emit_reshape(&s, emit_matmul(&s, rows, weights, false, true), &result);
    if (bias == NO_TENSOR)
        return emit_give(&s, 0, y);
    TRY(contrib_line(l, 5, "bias", n->rows, &bias));
    return emit_end_binary(&s, OP_ElementWiseAdd, y, bias);
}

odlc_status lower_matmul_nbits(struct lower *l)
{
    struct emit s = {.l = l};
    struct nbits n = {.l = l};
    struct view view;
    const struct perm swap = PERM(1, 0);
    TRY(read_attributes(&n));
    TRY(read_operands(&n));
    if (l->packs_blocks)
        return multiply_stored(&n);
    TRY(n.blocks == 1 ? weights_by_row(&n, &view) : weights_by_block(&n, &view));
    view_permute(&view, &swap);
    const enum dtype dtype = build_type(l->b, n.x)->dtype;
    const char *name = graph_tensor(l->b->graph, l->in[1])->name;
    tensor_id w = graph_add_constant(l->b->graph, name, dtype, &view), in[2] = {n.x, w}, y, bias = lower_in(l, 5);
    if (bias == NO_TENSOR)
        return qlinear_end(l, lower_matmul, in, 2);
    TRY(contrib_line(l, 5, "bias", n.rows, &bias));
    TRY(qlinear_step(l, lower_matmul, in, 2, &y));
    return emit_end_binary(&s, OP_ElementWiseAdd, y, bias);
}
