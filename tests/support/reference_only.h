/* SPDX-License-Identifier: Apache-2.0 */
/* Options of an execution by the reference backend alone. */
#ifndef SUPPORT_REFERENCE_ONLY_H
#define SUPPORT_REFERENCE_ONLY_H

#include "backend/reference/reference.h"
#include "runtime/executor.h"

static const struct backend *const reference_list[] = {&reference_backend, NULL};
static const struct executor_options reference_only = {.backends = reference_list};

#endif
