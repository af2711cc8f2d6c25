/* SPDX-License-Identifier: Apache-2.0 */
/* Einsum, which is one operator in all frameworks. */
#ifndef CONVERTERS_LOWERING_EINSUM_H
#define CONVERTERS_LOWERING_EINSUM_H

#include "converters/lowering/lower.h"

/* A row's function: any number of inputs, and the attribute `equation`. ODLC_ERR_UNSUPPORTED: a product on the way has
 * more axes than a tensor may have. */
lower_fn lower_einsum;

#endif
