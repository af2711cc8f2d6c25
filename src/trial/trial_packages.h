/* SPDX-License-Identifier: Apache-2.0 */
/* Packages against the configs that describe their ops. */
#ifndef TRIAL_TRIAL_PACKAGES_H
#define TRIAL_TRIAL_PACKAGES_H

#include "trial/contained.h"
#include "base/vec.h"
#include "base/diag.h"

struct backend; /* runtime/backend.h */

struct trial_options {
    const char *const *configs, *const *libraries; /* registration libraries */
    size_t n_configs, n_libraries;
    const char *const *packages; /* "libMine.so:MineInterfaceProvider", or with ":TARGET" */
    size_t n_packages;
    const char *const *against; /* "Softmax" or "MyOp=Softmax" */
    size_t n_against;
    double seconds;               /* for each op */
    const struct backend *device; /* executes kernels for GPUs; NULL: this build has none */
};

/* An op that a config describes and a package implements. */
struct tried_op {
    const char *type, *package, *library;
    const char *core;              /* whose kernel it is: "CPU", "GPU", "HTP" */
    const char *native;            /* NULL: it was compared with none */
    const struct contained *trial; /* its findings */
};

struct tried_ops {
    VEC(struct tried_op) ops;
};

/* Tries all ops; findings are errors of diags as well, with the op's place in the config. ODLC_ERR_INVALID: there are
 * findings. The configs are without errors. */
odlc_status trial_packages(struct arena *arena, struct diags *diags, const struct trial_options *options,
                           struct tried_ops *out);

#endif
