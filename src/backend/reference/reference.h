/* SPDX-License-Identifier: Apache-2.0 */
/* The reference backend: a node a step, by the kernel of its row, on one thread. Mapped weights are read where they
 * lie. The other backends are judged by its numbers. */
#ifndef BACKEND_REFERENCE_REFERENCE_H
#define BACKEND_REFERENCE_REFERENCE_H

#include "runtime/backend.h"

extern const struct backend reference_backend;

#endif
