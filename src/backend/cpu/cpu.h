/* SPDX-License-Identifier: Apache-2.0 */
/* The fast backend for the CPU: float32 and 8-bit integers by oneDNN, and by loops of its own where a library's would
 * not be faster.
 *
 * An operator is a row of cpu_ops.def. Its `refuse` says whether a node is taken, its `prepare` makes the calls of the
 * step: primitives of oneDNN with their operands, weights packed. */
#ifndef BACKEND_CPU_CPU_H
#define BACKEND_CPU_CPU_H

#include "runtime/backend.h"

extern const struct backend cpu_backend;

#endif
