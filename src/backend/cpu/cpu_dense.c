/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices. */
#include "backend/cpu/cpu_dense_fixed.h"

#include "backend/cpu/cpu_fixed_product.h"
#include "backend/cpu/cpu_follow.h"
#include "backend/cpu/cpu_ints.h"
#include "op/op.h"

/* ---- FullyConnected ---- */

static const char *refuse_fully_connected(const struct graph *g, const struct node *n)
{
    const struct tensor *x = node_input(g, n, 0), *y = node_output(g, n, 0);
    if (!cpu_is_real(x) || !cpu_is_real(y))
        return "it takes and gives float32, float16, and 8- and 16-bit fixed-point tensors alone";
    if (!cpu_is_constant(g, n, 1) || (node_input(g, n, 2) && !cpu_is_constant(g, n, 2)))
        return "weights and bias are no constants";
    if (shape_count(&x->type->shape) == 0 || shape_count(&y->type->shape) == 0)
        return "a tensor has no elements";
    return cpu_refuse_fixed_product(g, n, node_input(g, n, 1)->type->shape.dims[1]);
}

static struct dnnl_axes matrix(int64_t rows, int64_t columns)
{
    return (struct dnnl_axes){.rank = 2, .dims = {rows, columns}, .strides = {columns, 1}};
}

static odlc_status prepare_fully_connected(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const struct buffer weights = making_constant(m, 1), bias = making_constant(m, 2);
    const int64_t out = weights.shape.dims[0], in = weights.shape.dims[1];
    const int64_t rows = (int64_t)shape_count(&node_input(g, n, 0)->type->shape) / in;
    const struct dnnl_axes x_axes = matrix(rows, in), w_axes = matrix(out, in), y_axes = matrix(rows, out);
    const struct dnnl_axes b_axes = {.rank = 1, .dims = {out}, .strides = {1}};
    const dnnl_memory_desc_t x = desc_of(&x_axes), y = desc_of(&y_axes), b = desc_of(&b_axes);
    const dnnl_memory_desc_t plain = desc_of(&w_axes), any = desc_any(&w_axes, dnnl_f32);
    dnnl_inner_product_desc_t operation;
    dnnl_primitive_desc_t description;
    struct cpu_call *call;
    TRY_DNNL(m, dnnl_inner_product_forward_desc_init(&operation, dnnl_forward_inference, &x, &any,
                                                     bias.data ? &b : NULL, &y));
    TRY(make_main_call(m, &(struct main_call){&operation, y_axes, .image = false}, &description, &call));
    TRY(call_place(m, call, DNNL_ARG_SRC, &x, making_input(m, 0, 0)));
    if (bias.data)
        TRY(call_fixed(m, call, DNNL_ARG_BIAS, &b,
                       arena_memdup(m->scope->arena, bias.data, (size_t)out * sizeof(float))));
    return call_packed(m, call, DNNL_ARG_WEIGHTS, description, 0, &plain, weights.data);
}

static odlc_status prepare_fully_connected_fixed(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const int64_t *weights = node_input(g, n, 1)->type->shape.dims;
    const int64_t rows = (int64_t)shape_count(&node_input(g, n, 0)->type->shape) / weights[1];
    const struct product p = {.m = rows, .k = weights[1], .n = weights[0], .b_row = 1, .b_column = weights[1]};
    return dense_prepare_fixed(m, &p);
}

const struct cpu_op cpu_fully_connected = {.refuse = refuse_fully_connected,
                                           .prepare = prepare_fully_connected,
                                           .fuses = true,
                                           .is_fixed = cpu_is_fixed_product,
                                           .prepare_fixed = prepare_fully_connected_fixed};

/* ---- MatMul ---- */

static const char *read_product(const struct graph *g, const struct node *n, struct product *p)
{
    const struct tensor *a = node_input(g, n, 0), *b = node_input(g, n, 1), *bias = node_input(g, n, 2);
    return product_read(p, n, &a->type->shape, &b->type->shape, bias ? &bias->type->shape : NULL);
}

/* Whether all batches of a dense left operand meet one right operand. */
static bool meets_one_matrix(const struct product *p, const struct shape *right)
{
    return shape_count_range(right, 0, right->rank - 2) == 1 && p->a_column == 1 && p->a_row == p->k;
}

static bool is_tall(const struct product *p, const struct tensor *right)
{
    return right->kind == TENSOR_STATIC && meets_one_matrix(p, &right->type->shape);
}

/* Both have one encoding. */
static bool are_computed(const struct graph *g, const struct node *n)
{
    const struct tensor *a = node_input(g, n, 0), *b = node_input(g, n, 1);
    return a->kind != TENSOR_STATIC && b->kind != TENSOR_STATIC && !a->quant->per_axis && !b->quant->per_axis;
}

static const char *refuse_matmul(const struct graph *g, const struct node *n)
{
    struct product p;
    if (ints_is(g, n) && !read_product(g, n, &p))
        return is_tall(&p, node_input(g, n, 1)) ? ints_refuse(g, n, p.k) : "its right operand is no constant matrix";
    const char *types = cpu_refuse_types(g, n);
    if (types)
        return types;
    if (read_product(g, n, &p))
        return "its operands do not fit";
    if (p.m == 0 || p.k == 0 || p.n == 0)
        return "a tensor has no elements";
    if (node_input(g, n, 2) && !cpu_is_constant(g, n, 2))
        return "the bias is no constant";
    if (cpu_is_fixed_product(g, n) && !is_tall(&p, node_input(g, n, 1)) && !are_computed(g, n))
        return "constant fixed-point operands are the reference's, unless they are the right one, a matrix";
    return cpu_refuse_fixed_product(g, n, p.k);
}

/* A left operand whose batches all meet the same right one is one tall matrix. */
static void merge_batches(struct product *p, const struct shape *right)
{
    if (!meets_one_matrix(p, right))
        return;
    p->m *= (int64_t)shape_count(&p->batch);
    p->batch.rank = 0;
}

static odlc_status prepare_matmul(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    const struct buffer bias = making_constant(m, 2);
    const uint32_t right = making_input(m, 0, 1), left = making_input(m, 0, 0);
    struct product p;
    if (read_product(g, n, &p))
        return ODLC_ERR_INTERNAL;
    merge_batches(&p, &node_input(g, n, 1)->type->shape);
    const struct dnnl_axes a_axes = dense_operand(&p, p.a_step, p.m, p.k, p.a_row, p.a_column);
    const struct dnnl_axes b_axes = dense_operand(&p, p.b_step, p.k, p.n, p.b_row, p.b_column);
    const struct dnnl_axes y_axes = dense_operand(&p, NULL, p.m, p.n, p.n, 1);
    struct dnnl_axes bias_axes = {.rank = y_axes.rank};
    for (int i = 0; i < bias_axes.rank; i++) {
        bias_axes.dims[i] = i == bias_axes.rank - 1 ? p.n : 1;
        bias_axes.strides[i] = i == bias_axes.rank - 1 ? 1 : p.n;
    }
    const dnnl_memory_desc_t a = desc_of(&a_axes), y = desc_of(&y_axes), with = desc_of(&bias_axes);
    const dnnl_memory_desc_t plain = desc_of(&b_axes),
                             b = right == PLACE_CONSTANT ? desc_any(&b_axes, dnnl_f32) : plain;
    dnnl_matmul_desc_t operation;
    dnnl_primitive_desc_t description;
    struct cpu_call *call;
    TRY_DNNL(m, dnnl_matmul_desc_init(&operation, &a, &b, bias.data ? &with : NULL, &y));
    TRY(make_main_call(m, &(struct main_call){&operation, y_axes, .image = false}, &description, &call));
    TRY(left == PLACE_CONSTANT ? call_fixed(m, call, DNNL_ARG_SRC, &a, making_kept_constant(m, n->inputs[0]).data)
                               : call_place(m, call, DNNL_ARG_SRC, &a, left));
    if (bias.data)
        TRY(call_fixed(m, call, DNNL_ARG_BIAS, &with,
                       arena_memdup(m->scope->arena, bias.data, (size_t)p.n * sizeof(float))));
    if (right == PLACE_CONSTANT)
        return call_packed(m, call, DNNL_ARG_WEIGHTS, description, 0, &plain, making_constant(m, 1).data);
    return call_place(m, call, DNNL_ARG_WEIGHTS, &plain, right);
}

static odlc_status prepare_matmul_fixed(struct cpu_making *m)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    struct product p;
    if (read_product(g, n, &p))
        return ODLC_ERR_INTERNAL;
    merge_batches(&p, &node_input(g, n, 1)->type->shape);
    if (ints_is(g, n))
        return dense_prepare_ints(m, &p);
    return node_input(g, n, 1)->kind == TENSOR_STATIC ? dense_prepare_fixed(m, &p) : dense_prepare_computed(m, &p);
}

static bool is_integer(const struct graph *g, const struct node *n)
{
    return ints_is(g, n) || cpu_is_fixed_product(g, n);
}

const struct cpu_op cpu_matmul = {.refuse = refuse_matmul,
                                  .prepare = prepare_matmul,
                                  .fuses = true,
                                  .is_fixed = is_integer,
                                  .prepare_fixed = prepare_matmul_fixed};
