/* SPDX-License-Identifier: Apache-2.0 */
/* What packages call. */
#ifndef PLUGIN_CALLS_H
#define PLUGIN_CALLS_H

#include "plugin/host_calls.h"

extern const struct host_calls host_calls;

/* Most ops of a prepared graph: a package that makes more does not end. */
enum { PLUGIN_MOST_OPS = 1 << 20 };
/* Most inputs, or outputs, of an op. */
enum { PLUGIN_MOST_OPERANDS = 65535 };

#endif
