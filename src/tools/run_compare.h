/* SPDX-License-Identifier: Apache-2.0 */
/* net-run --compare: every tensor of an inference, as the chosen backends compute it and as others do. */
#ifndef TOOLS_RUN_COMPARE_H
#define TOOLS_RUN_COMPARE_H

#include "tools/run_worker.h"

struct run_compare;

/* How far the elements of a tensor are apart at most, in parts of the largest of theirs; INFINITY: where one is
 * infinite or no number alone, or theirs are 0. */
double run_distance(const struct odlc_io *tensor, const float *ours, const float *theirs);

/* Two more objects of the worker's container, in which no nodes are computed together: one as the worker's own, one
 * executed by the backends that --compare names. */
odlc_status run_compare_prepare(struct run_worker *w, struct run_compare **out) MUST_USE;
void run_compare_free(struct run_compare *c);

/* Executes the inference in both, compares all tensors and the worker's own results, and prints what came of it. */
odlc_status run_compare_infer(struct run_compare *c, const struct inference *inference) MUST_USE;

/* After all inferences: an error when some of them differed. */
odlc_status run_compare_end(struct run_compare *c) MUST_USE;

#endif
