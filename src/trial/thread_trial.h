/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads that execute ops of one package at once. */
#ifndef TRIAL_THREAD_TRIAL_H
#define TRIAL_THREAD_TRIAL_H

#include "trial/instance.h"

/* Four threads, each with an op of the node and inputs of its own: results must be those that each op gives alone. */
void thread_trial(struct arena *arena, struct contained *c, struct package *package, const struct made_node *made);

#endif
