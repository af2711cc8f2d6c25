/* SPDX-License-Identifier: Apache-2.0 */
/* Values of inputs that users give. */
#ifndef QUANTIZE_QUANT_INPUT_H
#define QUANTIZE_QUANT_INPUT_H

#include "base/diag.h"
#include "runtime/executor.h"

/* The graph input of that name, or for NULL the only one; `place` is where it is named. ODLC_ERR_USAGE: there is none.
 */
odlc_status quant_find_input(struct arena *arena, struct diags *diags, const struct graph *g, const char *name,
                             const struct odlc_diag *place, tensor_id *out) MUST_USE;
/* Fills the buffer of an input from floats, or (is_native) from elements of its own type. ODLC_ERR_INVALID: a value is
 * none of the input's type; ODLC_ERR_UNSUPPORTED: strings. A buffer without data stays without. */
odlc_status quant_fill_input(struct arena *scratch, struct diags *diags, const struct tensor *t, const void *values,
                             bool is_native, const struct odlc_diag *place, struct buffer *b) MUST_USE;
/* Whether each input that is needed was given since the last call. ODLC_ERR_USAGE: one was not. */
odlc_status quant_take_inputs(struct diags *diags, const struct executor *e, bool *is_given,
                              const struct odlc_diag *place) MUST_USE;

#endif
