/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "report/viewer/viewer.h"

bool viewer_is_udo(const struct odlc_op *op)
{
    return op->package && strcmp(op->package, "qti.aisw") != 0;
}
