/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/kernels.h"

#include "op/op.h"

#define KERNEL(op, compute, function) [OP_##op] = {compute, function},
static const struct reference_kernel kernels[] = {
#include "kernel/kernels.def"
};
#undef KERNEL

#define KERNEL(op, compute, function) +1
_Static_assert(
#include "kernel/kernels.def"
    == OP_IDS - 1, "each native operator has one kernel");
#undef KERNEL

const struct reference_kernel *kernel_of(const struct op *op)
{
    return op->id == OP_CUSTOM ? op->own_kernel : &kernels[op->id];
}
