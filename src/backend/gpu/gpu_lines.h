/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of elements that kernels take as a whole (kernels/reduce.cl). */
#ifndef BACKEND_GPU_GPU_LINES_H
#define BACKEND_GPU_GPU_LINES_H

#include "backend/gpu/gpu_walk.h"

struct gpu_lines {
    int64_t lines, count; /* how many, and of how many elements each */
    size_t group;         /* work-items that share one */
    struct gpu_walk kept, along;
};

/* Lines along the axes of the mask. */
struct gpu_lines gpu_lines_along(const struct gpu_making *m, const struct shape *shape, uint32_t axes);
/* The same with one more operand, which has these strides along the axes of the shape. */
struct gpu_lines gpu_lines_with(const struct gpu_making *m, const struct shape *shape, uint32_t axes,
                                const int64_t *other);
/* Whether elements of a line are neighbours. */
bool gpu_lines_are_runs(const struct gpu_lines *l);

/* A call of a function of kernels/reduce.cl, with options given before. Arguments begin with the caller's `operands`,
 * then come the numbers of lines and elements; the caller goes on with its own, and ends with gpu_lines_end. */
odlc_status gpu_lines_begin(struct gpu_making *m, const struct gpu_lines *l, const char *function,
                            const struct gpu_operand *const *operands, uint32_t n_operands,
                            struct gpu_call **out) MUST_USE;
/* The arguments of the walks; those of followers come behind. */
void gpu_lines_walks(struct gpu_call *call, const struct gpu_lines *l);
odlc_status gpu_lines_end(struct gpu_making *m, struct gpu_call *call, const struct gpu_lines *l) MUST_USE;

#endif
