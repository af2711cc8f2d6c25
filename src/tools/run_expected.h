/* SPDX-License-Identifier: Apache-2.0 */
/* net-run --compare FOLDER: results of inferences beside files that say what they should be. */
#ifndef TOOLS_RUN_EXPECTED_H
#define TOOLS_RUN_EXPECTED_H

#include "tools/run_worker.h"

struct run_expected;

void run_expected_prepare(struct run_worker *w, struct run_expected **out);

/* Compares each result of the inference at work with FOLDER/Result_<n>/<tensor>.raw (float32) or .npy, or, where there
 * is one inference, with the file of that name in the folder itself. ODLC_ERR_IO: there is no such file.
 * ODLC_ERR_INVALID: the file holds another number of elements, or dimensions. */
odlc_status run_expected_infer(struct run_expected *e) MUST_USE;

/* After all inferences: prints the table of errors, and gives an error when a result is beyond the tolerance. */
odlc_status run_expected_end(struct run_expected *e) MUST_USE;

#endif
