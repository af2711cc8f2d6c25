/* SPDX-License-Identifier: Apache-2.0 */
/* The native operator that a kernel is compared with. */
#ifndef TRIAL_NATIVE_TWIN_H
#define TRIAL_NATIVE_TWIN_H

#include "trial/instance.h"

#define TWIN_TOLERANCE 1e-5 /* of an element, times its size where that is more than 1 */

/* Executes the native operator of that name on the instance's inputs, with the params that both have by name, and
 * notes a finding in c where its results differ from those of the instance. */
void native_twin_compare(struct arena *arena, struct contained *c, const struct instance *instance, const char *native);

#endif
