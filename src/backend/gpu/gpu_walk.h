/* SPDX-License-Identifier: Apache-2.0 */
/* How a kernel finds elements of its operands by the place in the result. */
#ifndef BACKEND_GPU_GPU_WALK_H
#define BACKEND_GPU_GPU_WALK_H

#include "backend/gpu/gpu_step.h"

enum { GPU_WALK_OPERANDS = 3 };

/* As `walk` in kernels/common.cl: the kernel's argument. */
struct gpu_walk {
    cl_int rank;
    cl_int dims[MAX_RANK], strides[GPU_WALK_OPERANDS][MAX_RANK], base[GPU_WALK_OPERANDS];
};

/* Over the dims of a shape with these strides, in elements, of each operand. Axes that all operands pass over alike
 * become one. */
struct gpu_walk gpu_walk_over(const struct shape *shape, uint32_t operands, int64_t (*strides)[MAX_RANK]);
/* The strides of an operand that is broadcast to the shape: 0 where it is repeated. */
void gpu_broadcast_strides(const struct shape *operand, const struct shape *shape, int64_t strides[MAX_RANK]);

/* An operand that is broadcast to the shape has element i / step % count at place i, or element i where *step is 0.
 * False: it takes a walk. */
bool gpu_broadcast_is_run(const struct shape *operand, const struct shape *shape, int64_t *step, int64_t *count);

/* Reals that are moved are float32 on their way, other elements integers. */
void gpu_move_math(struct gpu_making *m, const struct gpu_operand *x);
/* The option for an operand that is moved: of other elements than reals the integer type that has as many bytes. */
void gpu_move_type(struct gpu_making *m, const char *name, const struct gpu_operand *operand);
/* All that a kernel has to know which moves elements of x to `out`. */
void gpu_move_types(struct gpu_making *m, const struct gpu_operand *x, const struct gpu_operand *out);
/* In kernels/common.cl `walk`: a call of "move.move", which brings elements of x at the walk's first places to y at the
 * second ones. */
odlc_status gpu_move(struct gpu_making *m, const struct gpu_operand *x, const struct gpu_operand *y,
                     const struct gpu_walk *walk) MUST_USE;

/* Stands in `text` of operators that move elements: what is moved as it is stored (struct gpu_op, is_raw). Reals may
 * change their type on the way. */
const char *gpu_refuse_move(const struct gpu *gpu, const struct graph *g, const struct node *n);
bool gpu_moves_raw(const struct graph *g, const struct node *n);
/* Whether elements of one are the same numbers in the other as they are stored. */
bool gpu_is_alike(const struct tensor *a, const struct tensor *b);
/* Whether kernels load and store the elements as numbers: float32, float16, bools, and integers of 8 to 63 bits, such
 * as fixed-point tensors have. Others can be moved. */
bool gpu_is_number(const struct tensor *t);

#endif
