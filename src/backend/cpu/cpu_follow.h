/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise ops that are computed together with the op before them. */
#ifndef BACKEND_CPU_CPU_FOLLOW_H
#define BACKEND_CPU_CPU_FOLLOW_H

#include "backend/cpu/cpu_call.h"

/* Adds to the group the element-wise nodes that read nothing but the result of the node before, and perhaps one other
 * tensor, as long as nobody else sees what stands between. */
void follow(const struct claiming *c, struct group *group);

/* A step's main operation as its row describes it. */
struct main_call {
    const_dnnl_op_desc_t operation;
    struct dnnl_axes result;
    bool image; /* the axes of the result are in the order of images */
    bool alone; /* the library would compute followers slowly */
};

/* Makes the call of the main operation with the group's followers: inside of it where the library has code for that,
 * otherwise as calls behind it that work in place. The result's operand and the followers' are added; the caller adds
 * the others. */
odlc_status make_main_call(const struct cpu_making *m, const struct main_call *main, dnnl_primitive_desc_t *description,
                           struct cpu_call **out) MUST_USE;

#endif
