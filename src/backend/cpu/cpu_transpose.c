/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes, and others that rearrange elements: of matrices with few rows or columns by loops, of others by the
 * library's copies from one layout to another. Elements are moved as they are; float16 tensors come as float32. */
#include "backend/cpu/cpu_call.h"
#include "backend/cpu/cpu_loop.h"
#include "ir/quant.h"
#include "op/op.h"
#include "op/rearrange.h"

static const char *refuse(const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *y = node_output(g, n, 0);
    if (!x || x->type->dtype == DT_STRING || x->kind == TENSOR_STATIC || shape_count(&x->type->shape) == 0 ||
        x->type->shape.rank == 0)
        return "it takes tensors of numbers with elements alone";
    if (x->type->dtype != y->type->dtype || (x->quant && x->quant->per_axis) || !quant_equal(x->quant, y->quant))
        return "its operands differ in type or encoding";
    return NULL;
}

/* Neighbours of the input that stay neighbours become one axis. */
static struct dnnl_axes joined(const struct rearrangement *r)
{
    const struct perm *perm = &r->perm;
    const struct dnnl_axes from = axes_of(&r->parts);
    struct dnnl_axes axes = {.rank = 0};
    for (uint32_t i = 0; i < perm->rank; i++) {
        const int64_t dim = from.dims[perm->axis[i]], stride = from.strides[perm->axis[i]];
        const int last = axes.rank - 1;
        if (dim == 1 && i + 1 < perm->rank)
            continue;
        if (last >= 0 && axes.strides[last] == dim * stride) {
            axes.dims[last] *= dim;
            axes.strides[last] = stride;
        } else {
            axes.dims[axes.rank] = dim;
            axes.strides[axes.rank++] = stride;
        }
    }
    return axes;
}

/* ---- matrices of two to four rows or columns ---- */

enum { MOST = 4 };

struct matrix {
    int64_t rows, columns; /* of the input */
    const uint32_t *x;
    uint32_t *y;
};

/* Rows of the input become columns of the result, and the other way round, in positions [first, last). */
#define LOOPS(count)                                                                                \
    static CLONED void rows_to_columns_##count(const struct matrix *m, int64_t first, int64_t last) \
    {                                                                                               \
        const uint32_t *restrict x = m->x;                                                          \
        uint32_t *restrict y = m->y;                                                                \
        const int64_t columns = m->columns;                                                         \
        for (int64_t i = first; i < last; i++)                                                      \
            for (int64_t k = 0; k < (count); k++)                                                   \
                y[i * (count) + k] = x[k * columns + i];                                            \
    }                                                                                               \
    static CLONED void columns_to_rows_##count(const struct matrix *m, int64_t first, int64_t last) \
    {                                                                                               \
        const uint32_t *restrict x = m->x;                                                          \
        uint32_t *restrict y = m->y;                                                                \
        const int64_t rows = m->rows;                                                               \
        for (int64_t i = first; i < last; i++)                                                      \
            for (int64_t k = 0; k < (count); k++)                                                   \
                y[k * rows + i] = x[i * (count) + k];                                               \
    }
LOOPS(2)
LOOPS(3)
LOOPS(4)

static void transpose_part(void *user, int64_t first, int64_t last)
{
    static void (*const from_rows[])(const struct matrix *, int64_t, int64_t) = {rows_to_columns_2, rows_to_columns_3,
                                                                                 rows_to_columns_4};
    static void (*const from_columns[])(const struct matrix *, int64_t,
                                        int64_t) = {columns_to_rows_2, columns_to_rows_3, columns_to_rows_4};
    const struct matrix *m = user;
    if (m->rows <= MOST)
        from_rows[m->rows - 2](m, first, last);
    else
        from_columns[m->columns - 2](m, first, last);
}

enum { LEAST_POSITIONS = 1 << 13 }; /* fewer are not worth another thread */

static odlc_status run_matrix(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                              struct buffer *out)
{
    struct matrix m = *(const struct matrix *)step->prepared;
    (void)scope;
    m.x = in[0].data;
    m.y = out[0].data;
    threads_share(m.rows <= MOST ? m.columns : m.rows, LEAST_POSITIONS, transpose_part, &m);
    return ODLC_OK;
}

/* Whether the axes of the result are a transposed matrix of such a kind. */
static bool is_narrow(const struct dnnl_axes *axes, struct matrix *m)
{
    *m = (struct matrix){.rows = axes->dims[1], .columns = axes->dims[0]};
    return axes->rank == 2 && axes->strides[0] == 1 && axes->strides[1] == m->columns && m->rows > 1 &&
           m->columns > 1 && (m->rows <= MOST || m->columns <= MOST);
}

/* ---- others ---- */

/* Elements of 2 and 8 bytes are pairs, along an axis of their own. */
static struct dnnl_axes with_pairs(struct dnnl_axes axes)
{
    for (int i = 0; i < axes.rank; i++)
        axes.strides[i] *= 2;
    axes.dims[axes.rank] = 2;
    axes.strides[axes.rank++] = 1;
    return axes;
}

static odlc_status prepare(struct cpu_making *m)
{
    const struct node *n = making_node(m);
    const struct type *type = node_input(m->scope->graph, n, 0)->type;
    const size_t size = type->dtype == DT_FLOAT16 ? sizeof(float) : dtype_size(type->dtype);
    struct rearrangement r;
    if (rearrangement_read(&r, n, &type->shape))
        return ODLC_ERR_INVALID;
    struct dnnl_axes from_axes = joined(&r);
    struct matrix *matrix = arena_new(m->scope->arena, struct matrix);
    if (size == sizeof(uint32_t) && is_narrow(&from_axes, matrix)) {
        m->step->loop = run_matrix;
        m->step->prepared = matrix;
        return ODLC_OK;
    }
    if (size == 2 || size == 8)
        from_axes = with_pairs(from_axes);
    struct shape shape = {.rank = (uint32_t)from_axes.rank};
    for (int i = 0; i < from_axes.rank; i++)
        shape.dims[i] = from_axes.dims[i];
    const struct dnnl_axes to_axes = axes_of(&shape);
    const dnnl_data_type_t element = size < sizeof(float) ? dnnl_s8 : dnnl_f32;
    const dnnl_memory_desc_t from = desc_typed(&from_axes, element), to = desc_typed(&to_axes, element);
    struct cpu_call *call;
    TRY(make_reorder(m, &from, &to, &call));
    TRY(call_place(m, call, DNNL_ARG_FROM, &from, making_input(m, 0, 0)));
    return call_place(m, call, DNNL_ARG_TO, &to, making_result(m));
}

/* Whether elements are moved in the type that the graph says. */
static bool is_stored(const struct graph *g, const struct node *n)
{
    return node_input(g, n, 0)->type->dtype != DT_FLOAT16;
}

const struct cpu_op cpu_transpose = {
    .refuse = refuse, .prepare = prepare, .is_fixed = is_stored, .prepare_fixed = prepare};
