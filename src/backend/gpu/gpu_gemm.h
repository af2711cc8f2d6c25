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
    cl_int out_row, out_size;
    cl_int bias_batch, bias_period;
    cl_int parts, part_depth;
    cl_int images, tap_depth;
};

/* out = x y + bias, followed by a chain, for each index of `batch`. */
struct gpu_gemm {
    struct gpu_operand x, y, bias, out;
    const struct gpu_chain *chain;
    struct gpu_gemm_shape shape; /* with parts 1 */
    struct shape batch;
    int64_t steps[3][MAX_RANK]; /* elements of x, y and out per index of a batch axis */
    bool is_image;              /* x is one, whose windows are the rows; else a matrix */
    struct gpu_window window;
    uint32_t y_input; /* y is that operand of the head, which the way of computing brings to the device */
};

/* The kernels that compute it, as calls of the step. */
odlc_status gpu_gemm_add(struct gpu_making *m, const struct gpu_gemm *p) MUST_USE;

/* ---- inside: two ways ---- */

/* The tiles that kernels/tiles.cl is built for. */
struct gpu_tile {
    int rows, columns, depth; /* of a work-group */
    int r, c;                 /* of a work-item */
    int slices;               /* of the depth, each for a set of work-items */
    double efficiency;        /* of its arithmetic, relative */
};

/* What an item of kernels/panels.cl computes: rows, and columns of a panel, in vectors. */
struct gpu_panel {
    int rows, columns, vector;
};

/* How a product is computed. */
struct gpu_gemm_way {
    const struct gpu_tile *tile; /* by work-groups with local memory, as GPUs do; NULL: in panels */
    int64_t parts;               /* into which the depth is cut, with tiles */
    struct gpu_panel panel;      /* by work-items that are loops over vectors, as CPUs do */
};

/* Ways that the device can go, the one that is expected to be the fastest first; how many. */
size_t gpu_gemm_tiles(const struct gpu_making *m, const struct gpu_gemm *p, struct gpu_gemm_way *ways, size_t most);
size_t gpu_gemm_panels(const struct gpu_making *m, const struct gpu_gemm *p, struct gpu_gemm_way *ways, size_t most);
odlc_status gpu_gemm_in_tiles(struct gpu_making *m, const struct gpu_gemm *p, const struct gpu_gemm_way *way) MUST_USE;
odlc_status gpu_gemm_in_panels(struct gpu_making *m, const struct gpu_gemm *p, const struct gpu_gemm_way *way) MUST_USE;

/* What kernels of both begin and end with: options of types, bias, windows, the chain; arguments x, y, bias, out,
 * shape, batches, window, chain. Without a chain where the results are parts. */
void gpu_gemm_options(struct gpu_making *m, const struct gpu_gemm *p, bool is_part);
void gpu_gemm_args(struct gpu_making *m, struct gpu_call *call, const struct gpu_gemm *p, bool is_part);

#endif
