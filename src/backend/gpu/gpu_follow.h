/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise functions, on their own and behind what another kernel computes. */
#ifndef BACKEND_GPU_GPU_FOLLOW_H
#define BACKEND_GPU_GPU_FOLLOW_H

#include "backend/gpu/gpu_step.h"
#include "backend/gpu/kernels/codes.h"

/* Functions behind the head of a group, and functions of a kernel's result: heads may be up to two of their own. */
enum { GPU_FOLLOWERS = 2, GPU_LINKS = 4 };

struct gpu_function {
    int code;    /* of kernels/codes.h */
    double a, b; /* its numbers */
};

/* What an element-wise node computes of its operands; false: it is none. */
bool gpu_function_of(const struct node *n, struct gpu_function *out);

/* Adds to the group the element-wise nodes that read nothing but the result of the node before, and perhaps one other
 * tensor, as long as nobody else sees what stands between, and Reshapes before them. Two nodes are one function where
 * the second multiplies what the first computes by its operand (x * sigmoid(x)). */
void gpu_follow(const struct gpu *gpu, const struct claiming *c, struct group *group);

/* The followers of a kernel's result. */
struct gpu_chain {
    uint32_t count;
    struct gpu_link {
        struct gpu_function function;
        struct gpu_operand other; /* of a function of two */
        int64_t step, period;     /* its element at place i: i / step % period, or i with step 0 */
    } links[GPU_LINKS];
};

/* Adds a function of the result and another operand, which is broadcast by steps to its shape. */
void gpu_chain_add(struct gpu_chain *chain, int code, const struct gpu_operand *other, const struct shape *shape);
/* Adds nodes `first` and those behind it, node `first` being a function of the head's operand `operand`, or of the
 * result of the node before it (operand ignored with first > 0). */
odlc_status gpu_chain_read(struct gpu_making *m, uint32_t first, uint32_t operand, struct gpu_chain *chain) MUST_USE;
/* Whether functions are compiled into kernels. GPUs then execute less, and their drivers translate far less; on
 * processors, where a build takes longer than functions among the arguments do, one program is for all of them. */
bool gpu_specializes(const struct gpu_making *m);
/* The options of the kernel. */
void gpu_chain_options(struct gpu_making *m, const struct gpu_chain *chain);
/* The arguments for FOLLOW_PARAMS. */
void gpu_chain_args(struct gpu_making *m, struct gpu_call *call, const struct gpu_chain *chain);

#endif
