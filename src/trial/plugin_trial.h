/* SPDX-License-Identifier: Apache-2.0 */
/* The trial of one op of a plugin package: what the host may do with it must not change its results. */
#ifndef TRIAL_PLUGIN_TRIAL_H
#define TRIAL_PLUGIN_TRIAL_H

#include "trial/kernel_trial.h"

/* For contained_run: prepares and executes made nodes whole and in tiles, in one slice and in several, by one thread
 * and by four, in place and not, with and without what is computed before. user: a struct kernel_trial. */
void plugin_trial_work(struct contained *c, void *user);

/* Notes kernels that are never reached, and, unless the op was rewritten, those that no operand fits which the config
 * describes. */
void plugin_signatures(struct contained *c, const struct plugin_op *op, const struct udo_def *def, bool rewritten);

#endif
