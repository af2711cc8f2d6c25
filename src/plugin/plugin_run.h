/* SPDX-License-Identifier: Apache-2.0 */
/* Executing what was prepared. */
#ifndef PLUGIN_PLUGIN_RUN_H
#define PLUGIN_PLUGIN_RUN_H

#include "plugin/plugin_prepare.h"

struct slice_pool;

/* Whether the kernel runs by what it computed before: where it may, it does, unless the options want otherwise. */
bool run_by_block(const struct preparation *p, const QHPI_Kernel_v1 *kernel);

/* Computes the results. `in` and `out` stand as in the group's step_io. ODLC_ERR_INVALID: a kernel gives an error. */
odlc_status plugin_run(struct preparation *p, const struct step_io *io, struct slice_pool *pool,
                       const struct backend_scope *scope, const struct buffer *in, struct buffer *out) MUST_USE;

#endif
