/* SPDX-License-Identifier: Apache-2.0 */
/* The reference kernels, which kernels.def names (kernel_fn, kernel/kernel.h). */
#ifndef KERNEL_KERNELS_H
#define KERNEL_KERNELS_H

#include "kernel/kernel.h"

#define KERNEL(op, compute, function) kernel_fn function;
#include "kernel/kernels.def"
#undef KERNEL

#endif
