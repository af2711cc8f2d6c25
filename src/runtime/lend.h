/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the caller's in the place of tensors: a backend that has a memory of its own reads and writes it, so that
 * the graph's inputs and results need not be copied. */
#ifndef RUNTIME_LEND_H
#define RUNTIME_LEND_H

#include "runtime/executor.h"

/* From the next run on a tensor lies in `handle`, which stands in buffers as those of struct memory do; NULL: where the
 * plan has it, again. An input is then what lies there, whatever the host's buffer holds; a result is brought to the
 * host's memory only where another step reads it. A handle is lent for one tensor, and must not be used by others while
 * the executor runs; runs end when all that was enqueued is done. False: no step reads or writes the tensor in that
 * memory. */
bool executor_lend(struct executor *e, const struct memory *memory, tensor_id id, void *handle) MUST_USE;

/* ---- for the executor ---- */

/* Whether the step has nothing to do. */
bool lending_is_idle(const struct executor *e, size_t step);
/* Before the first step and behind the last one. */
odlc_status lending_begin(struct executor *e) MUST_USE;
odlc_status lending_end(struct executor *e) MUST_USE;

#endif
