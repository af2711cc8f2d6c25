/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that go in or come out, as the public API tells of them. */
#ifndef API_TENSOR_IO_H
#define API_TENSOR_IO_H

#include "ir/graph.h"
#include "opendlc/run.h"

/* All but `needed`; names and dimensions are the graph's. */
struct odlc_io tensor_io(const struct graph *g, tensor_id id);
/* "the input takes 12 values (Float_32 [3,4]), not 11"; ODLC_OK when both counts are the same. */
odlc_status tensor_io_check(struct diags *diags, const char *path, const struct odlc_io *io, uint64_t given,
                            uint64_t wanted, const char *unit) MUST_USE;

#endif
