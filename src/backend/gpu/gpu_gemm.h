/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices, and convolutions as such: which kernel computes one, in which tiles. */
#ifndef BACKEND_GPU_GPU_GEMM_H
#define BACKEND_GPU_GPU_GEMM_H

#include "backend/gpu/gpu_follow.h"
#include "backend/gpu/gpu_window.h"

/* As gemm_shape in kernels/common.cl. */
struct gpu_gemm_shape {
    cl_int rows, columns, depth;
    cl_int x_row, x_step;
    cl_int y_column, y_step;
    cl_int out_batch, out_row;
    cl_int out_size, bias_batch;
    cl_int parts, part_depth;
    cl_int images, tap_depth;
};

/* out = x y + bias, followed by a chain, for each index of `batch`. */
struct gpu_gemm {
    struct gpu_operand x, y, bias, out;
    const struct gpu_chain *chain;
    struct gpu_gemm_shape shape; /* with parts 1 */
    struct shape batch;
    int64_t steps[2][MAX_RANK]; /* elements of x and y per index of a batch axis */
    bool is_image;              /* x is one, whose windows are the rows; else a matrix */
    struct gpu_window window;
    const float *y_constant; /* the elements of y where it is a constant, in the scope's scratch, else NULL */
};

/* The product's right operand: the head's operand i, which is uploaded only if the device computes with it as it is. */
odlc_status gpu_gemm_right(struct gpu_making *m, uint32_t i, struct gpu_gemm *p) MUST_USE;
/* The kernels that compute it, as calls of the step. */
odlc_status gpu_gemm_add(struct gpu_making *m, const struct gpu_gemm *p) MUST_USE;

/* ---- inside: two ways ---- */

/* Work-groups with local memory: GPUs. */
odlc_status gpu_gemm_in_tiles(struct gpu_making *m, const struct gpu_gemm *p) MUST_USE;
/* Work-items that are loops over vectors: CPUs. */
odlc_status gpu_gemm_in_panels(struct gpu_making *m, const struct gpu_gemm *p) MUST_USE;

/* What kernels of both begin and end with: options of types, bias, windows, the chain; arguments x, y, bias, out,
 * shape, batches, window, chain. Without a chain where the results are parts. */
void gpu_gemm_options(struct gpu_making *m, const struct gpu_gemm *p, bool is_part);
void gpu_gemm_args(struct gpu_making *m, struct gpu_call *call, const struct gpu_gemm *p, bool is_part);

#endif
