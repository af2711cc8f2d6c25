/* SPDX-License-Identifier: Apache-2.0 */
/* Products of fixed-point operands (kernel/fixed_product.h). The kernels are those of reals, with integers: gpu_input
 * gives a product's operands as q + o and no bias, gpu_constant likewise, gpu_output takes the sums; what makes
 * elements of them follows. */
#ifndef BACKEND_GPU_GPU_PRODUCT_H
#define BACKEND_GPU_GPU_PRODUCT_H

#include "backend/gpu/gpu_step.h"

/* Whether the formula is the node's, by the types of its tensors. */
bool gpu_is_fixed_product(const struct graph *g, const struct node *n);
/* Why such a node is not taken; NULL: it is. */
const char *gpu_refuse_fixed_product(const struct gpu *gpu, const struct graph *g, const struct node *n);

/* Whether a product is one of Int_32 tensors, whose sums wrap. */
bool gpu_is_int_product(const struct graph *g, const struct node *n);
/* The refusal of products but for those of fixed-point operands; NULL: the types have kernels. */
const char *gpu_refuse_product(const struct gpu *gpu, const struct graph *g, const struct node *n);

/* With is_fixed_product: operand i (0 or 1) from its place, the room of the sums, and what makes the result of them. */
odlc_status gpu_product_input(struct gpu_making *m, const struct gpu_operand *stored, struct gpu_operand *out) MUST_USE;
struct gpu_operand gpu_product_sums(struct gpu_making *m, const struct shape *shape);
odlc_status gpu_product_result(struct gpu_making *m, const struct gpu_operand *sums,
                               const struct gpu_operand *result) MUST_USE;
/* The type of operands as integers, and what sums need. */
enum dtype gpu_product_dtype(const struct gpu_making *m);
enum gpu_math gpu_product_math(const struct gpu_making *m);

#endif
