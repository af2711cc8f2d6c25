/* SPDX-License-Identifier: Apache-2.0 */
/* The backend that executes ops of plugin packages (backend_scope.packages). */
#ifndef PLUGIN_PLUGIN_BACKEND_H
#define PLUGIN_PLUGIN_BACKEND_H

#include "runtime/backend.h"

extern const struct backend plugin_backend;

#endif
