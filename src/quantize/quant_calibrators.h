/* SPDX-License-Identifier: Apache-2.0 */
/* From what was seen of a tensor to the range that its integers are to have. A calibrator is a function and a row of
 * quant_calibrators.def. */
#ifndef QUANTIZE_QUANT_CALIBRATORS_H
#define QUANTIZE_QUANT_CALIBRATORS_H

#include "ir/graph.h"
#include "quantize/quant_histogram.h"
#include "quantize/quantize.h"

/* Which integers stand for a range. */
enum quant_grid {
    GRID_RANGE,  /* unsigned ones, from its least to its greatest real */
    GRID_MIDDLE, /* unsigned ones, the middle one is zero */
    GRID_AROUND  /* signed ones, 0 is zero */
};

struct quant_range {
    double min, max;
};

struct calibration {
    const struct histogram *histogram; /* of at least one value; NULL where the calibrator takes none */
    struct quant_range seen;           /* with zero */
    enum quant_grid grid;
    uint32_t bits; /* 4, 8 or 16 */
    double percentile;
};

/* Whether the calibrator takes a histogram for integers of so many bits. */
bool calibrator_takes_histogram(enum quantize_calibrator calibrator, uint32_t bits);
/* The range of the seen one that is to have integers; around zero for the grids that are. Scratch is left as it was. */
struct quant_range calibrate(enum quantize_calibrator calibrator, const struct calibration *c, struct arena *scratch);
/* The encoding of a range with zero. */
struct encoding quant_grid_encoding(enum quant_grid grid, uint32_t bits, struct quant_range range);

#endif
