/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of 8-bit operands that filter each channel on its own, by a loop. */
#ifndef BACKEND_CPU_CPU_DEPTHWISE_FIXED_H
#define BACKEND_CPU_CPU_DEPTHWISE_FIXED_H

#include "backend/cpu/cpu_step.h"

/* As struct cpu_op has it. */
odlc_status depthwise_prepare_fixed(struct cpu_making *m) MUST_USE;

#endif
