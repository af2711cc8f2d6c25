/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of a conversion: their options out of the caller's, and what is reported of them. */
#ifndef CONVERTERS_DRIVER_RUN_PASSES_H
#define CONVERTERS_DRIVER_RUN_PASSES_H

#include "converters/driver/context.h"
#include "converters/driver/custom_io.h"
#include "converters/driver/outcome.h"
#include "udo/udo.h"

/* Runs the passes over the graph, puts UDOs in place of native ops where configs ask for that, and fills in out->dumped
 * and the summary; the permutes that passes inserted for UDO nodes go into their reports. ODLC_ERR_USAGE: an option
 * names a layout that there is none of; else the statuses of pass_run_all and udo_replace_natives. */
odlc_status run_passes(const struct context *c, struct udo_set *udos, const struct custom_io *io, struct graph *graph,
                       struct outcome *out) MUST_USE;

#endif
