/* SPDX-License-Identifier: Apache-2.0 */
/* The backend that executes user-defined ops by the kernels of loaded packages (backend_scope.packages). */
#ifndef PACKAGE_PACKAGE_BACKEND_H
#define PACKAGE_PACKAGE_BACKEND_H

#include "runtime/backend.h"

extern const struct backend package_backend;

#endif
