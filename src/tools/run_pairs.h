/* SPDX-License-Identifier: Apache-2.0 */
/* net-run --compare FILE.dlc: tensors of two containers, one of floats and one quantized, summed over all inferences.
 */
#ifndef TOOLS_RUN_PAIRS_H
#define TOOLS_RUN_PAIRS_H

#include "base/diag.h"
#include "base/map.h"
#include "opendlc/run.h"
#include "quantize/quant_error.h"

struct run_pair {
    const char *tensor, *node, *op, *dtype; /* as the worker's container has them */
    struct quant_error error;
};

struct run_pairs {
    const char *container, *compared; /* the worker's, and the other one */
    size_t inferences;
    struct map places; /* name → index */
    VEC(struct run_pair) list;
};

/* A tensor as it should be, and as the worker's container has it. */
void run_pairs_add(struct run_pairs *p, struct arena *arena, const struct odlc_io *tensor, const float *should,
                   const float *is);
void run_pairs_print(const struct run_pairs *p, struct arena *arena);
/* Writes JSON to the path. ODLC_ERR_NOMEM, and as out_create. */
odlc_status run_pairs_write(const struct run_pairs *p, struct arena *arena, struct diags *diags,
                            const char *path) MUST_USE;

#endif
