/* SPDX-License-Identifier: Apache-2.0 */
/* What dlc-quantize reads: files, raw or .npy, that a list names, for graphs of floats. */
#ifndef TOOLS_QUANTIZE_INPUTS_H
#define TOOLS_QUANTIZE_INPUTS_H

#include "ir/graph.h"
#include "tools/input_list.h"

/* Gets the values of an input, which are there during the call. */
typedef odlc_status quantize_give_fn(void *user, tensor_id input, const void *values, bool is_native,
                                     const struct odlc_diag *place);

/* ODLC_ERR_USAGE: the list names no inputs, or chooses results; and as input_list_read. */
odlc_status quantize_list_read(struct arena *arena, struct diags *diags, const char *path,
                               struct input_list *out) MUST_USE;
/* Opens the files of the lines [first, end), without reading elements: those that are missing or do not fit the inputs
 * are named, ten lines of them with a count of the others. Statuses are those of the first. */
odlc_status quantize_inputs_check(struct arena *scratch, struct diags *diags, const struct graph *g,
                                  const struct input_list *list, size_t first, size_t end, bool is_native) MUST_USE;
/* Passes the status on. Where it is an error whose place is not in the list, a note names the line of the inputs. */
odlc_status quantize_line_failed(struct diags *diags, odlc_status status, const struct odlc_diag *place) MUST_USE;
/* Reads the files of one line and gives each to `give`; the graph is that of the container of floats. */
odlc_status quantize_inputs_give(struct arena *scratch, struct diags *diags, const struct graph *g,
                                 const struct inference *inference, bool is_native, const struct odlc_diag *place,
                                 quantize_give_fn *give, void *user) MUST_USE;

#endif
