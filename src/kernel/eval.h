/* SPDX-License-Identifier: Apache-2.0 */
/* Executing a node with the reference kernel of its operator. */
#ifndef KERNEL_EVAL_H
#define KERNEL_EVAL_H

#include "kernel/buffer.h"

/* Runs the kernel: in/out buffers have the node's own dtypes and shapes; conversion to what the kernel wants and back
 * happens here. Outputs' data must be allocated; scratch is left as it was. ODLC_ERR_UNSUPPORTED, with a diagnostic,
 * when the operator has no kernel, or none for these types; ODLC_ERR_INVALID when the values do not fit. */
odlc_status eval_node(const struct node *n, const struct buffer *in, struct buffer *out, struct arena *scratch,
                      struct diags *diags) MUST_USE;

#endif
