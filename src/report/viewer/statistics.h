/* SPDX-License-Identifier: Apache-2.0 */
/* The distribution of a tensor's elements. */
#ifndef REPORT_VIEWER_STATISTICS_H
#define REPORT_VIEWER_STATISTICS_H

#include "base/base.h"
#include "opendlc/container.h"

#define HISTOGRAM_BINS 32

struct statistics {
    uint64_t finite; /* elements that are numbers; the following are about these alone */
    uint64_t zeros;
    double min, max, mean, std;    /* std: of the population. 0 when there is no finite element */
    uint64_t bins[HISTOGRAM_BINS]; /* of equal width between min and max; all in the first when these are equal */
};

/* Of a readable tensor without strings. Fixed-point elements count as the real numbers that they stand for. Reads the
 * elements twice, in pieces, so memory does not grow with the tensor. */
struct statistics statistics_of(const struct odlc_tensor *tensor);

#endif
