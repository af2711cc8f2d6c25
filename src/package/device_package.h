/* SPDX-License-Identifier: Apache-2.0 */
/* User-defined ops by the kernels of packages for GPUs. */
#ifndef PACKAGE_DEVICE_PACKAGE_H
#define PACKAGE_DEVICE_PACKAGE_H

#include "runtime/device_ops.h"

/* Of the packages of a scope. */
extern const struct device_ops package_device_ops;

#endif
