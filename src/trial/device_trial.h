/* SPDX-License-Identifier: Apache-2.0 */
/* The trial of one op of a package's library for GPUs. */
#ifndef TRIAL_DEVICE_TRIAL_H
#define TRIAL_DEVICE_TRIAL_H

#include "trial/kernel_trial.h"

/* For contained_run: builds the kernels of made nodes for the device, and executes them with operands between zones
 * that they must leave alone. Findings, and why nothing could be tried, go to c. user: a struct kernel_trial. */
void device_trial_work(struct contained *c, void *user);

#endif
