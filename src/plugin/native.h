/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the reference among plugin ops: what a rewrite may make beside ops of packages. Their operands are the
 * operator's inputs, then all its params in the order of its row, as constants; or no params at all, for their
 * defaults. */
#ifndef PLUGIN_NATIVE_H
#define PLUGIN_NATIVE_H

#include "plugin/plugin_graph.h"

struct native_call {
    const struct node *node;
    uint32_t n_inputs, n_outputs;
    struct buffer *in, *out; /* without data */
};

/* ODLC_ERR_INVALID: a param is no constant, or operands do not fit, or the op's outputs are none that the operator
 * gives for its inputs. */
odlc_status native_prepare(const QHPI_Op *op, struct arena *arena, struct diags *diags,
                           const struct native_call **out) MUST_USE;
/* data: of the inputs, then of the outputs; flat. */
odlc_status native_run(const struct native_call *call, void *const *data, struct arena *scratch,
                       struct diags *diags) MUST_USE;

#endif
