/* SPDX-License-Identifier: Apache-2.0 */
/* The trials of one op of a package. */
#ifndef TRIAL_KERNEL_TRIAL_H
#define TRIAL_KERNEL_TRIAL_H

#include "package/package.h"
#include "trial/contained.h"
#include "runtime/backend.h"
#include "udo/udo.h"

struct kernel_trial {
    struct arena *arena;
    struct udo_set *set;
    const struct udo_def *def;
    const char *library;          /* path of the registration library, or of the package */
    const char *provider;         /* … of which this function provides the interface; NULL: a registration library */
    const char *native;           /* NULL: it is compared with none */
    const struct backend *device; /* executes kernels for GPUs (device_trial.h) */
    bool compares_cores;          /* … whose results are compared with those of the package's kernel for the CPU */
};

/* The work of contained_run on a struct kernel_trial: loads the package and tries the op; findings go to c. */
void kernel_trial_work(struct contained *c, void *trial);

#endif
