/* SPDX-License-Identifier: Apache-2.0 */
/* One op of a package for a made node, with operands in guarded memory of its own. */
#ifndef TRIAL_INSTANCE_H
#define TRIAL_INSTANCE_H

#include "package/op_create.h"
#include "trial/contained.h"
#include "trial/guarded.h"
#include "trial/made_node.h"
#include "trial/outputs.h"

struct instance {
    struct package *package;
    const struct made_node *made;
    struct op_node *op;
    struct guarded **inputs, **outputs; /* NULL: absent */
    struct buffer *in, *out;            /* the same as buffers, of what the kernel gets; DT_NONE: absent */
    struct outputs gives;
    QnnOpPackage_OpImpl_t impl;
};

/* False: the package refuses the node, as *why says. */
bool instance_make(struct arena *arena, struct package *package, const struct made_node *made, uint64_t seed,
                   bool at_end, struct instance *out, struct op_refusal *why);
void instance_free(struct instance *instance);

/* Fills the outputs with a byte and executes. */
Qnn_ErrorHandle_t instance_execute(struct instance *instance, uint8_t fill);
/* Gives the inputs that are activations their made values. */
void instance_fill_inputs(struct instance *instance, uint64_t seed);

/* The outputs one after the other. */
void instance_copy_outputs(const struct instance *instance, uint8_t *to);

/* Memory requests of this thread: begins to count, and gives the number since. False: nothing counts them. */
bool allocations_begin(void);
uint64_t allocations_end(void);

#endif
