/* SPDX-License-Identifier: Apache-2.0 */
/* The native operator that a kernel is compared with. */
#ifndef TRIAL_NATIVE_TWIN_H
#define TRIAL_NATIVE_TWIN_H

#include "trial/made_node.h"
#include "trial/outputs.h"

#define TWIN_TOLERANCE 1e-5 /* of an element, times its size where that is more than 1 */

/* What a kernel got and gave for a made node. */
struct twin_of {
    const struct made_node *made;
    const struct buffer *inputs; /* per input of the node; DT_NONE: absent */
    struct outputs gives;        /* … with their elements */
    struct tolerance tolerance;
};

/* Executes the native operator of that name on the inputs, with the params that both have by name, and notes a finding
 * in c where its results differ from those of the kernel. */
void native_twin_compare(struct arena *arena, struct contained *c, const struct twin_of *of, const char *native);

#endif
