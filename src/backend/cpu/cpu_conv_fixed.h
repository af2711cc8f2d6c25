/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of 8-bit operands, by the library. */
#ifndef BACKEND_CPU_CPU_CONV_FIXED_H
#define BACKEND_CPU_CPU_CONV_FIXED_H

#include "backend/cpu/cpu_step.h"

/* As struct cpu_op has it; of Int_32 operands. */
odlc_status conv_prepare_fixed(struct cpu_making *m) MUST_USE;
odlc_status conv_prepare_ints(struct cpu_making *m) MUST_USE;

#endif
