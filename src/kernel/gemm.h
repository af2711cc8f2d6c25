/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of float operands accumulated in double: the inner loops of convolutions, MatMul and FullyConnected.
 *
 * A block of rows of the left operand is packed once into panels and then multiplied by the whole right operand. The
 * right operand is cut into segments of rows, so that a convolution can leave out the taps of its filter that do not
 * count. */
#ifndef KERNEL_GEMM_H
#define KERNEL_GEMM_H

#include "base/arena.h"
#include "ir/dtype.h"

#define GEMM_ROWS 4 /* rows per panel */
#define GEMM_COLS 4 /* columns per tile */

struct gemm {
    size_t k, n;                  /* the right operand is k × n */
    const float *const *segments; /* its rows, segment_k of them at a time */
    size_t segment_k;
    size_t k_stride, n_stride; /* elements between rows, between columns */
};

/* The number of rows to pack at once: as many panels of depth k as the second-level cache holds, at most `rows`
 * (rounded up to whole panels). */
size_t gemm_block_rows(size_t k, size_t rows);

/* Elements of the panels for `rows` rows, of the product, and of the tile that gemm_multiply works in. */
size_t gemm_panels_size(size_t k, size_t rows);
size_t gemm_tile_size(size_t k);

/* Where row r goes in the panels; its elements are GEMM_ROWS apart. */
static inline double *gemm_panel_row(double *panels, size_t k, size_t r)
{
    return panels + r / GEMM_ROWS * GEMM_ROWS * k + r % GEMM_ROWS;
}

/* Where sums of products go: floats, or doubles where all their bits are wanted. */
struct sums {
    float *floats;
    double *doubles; /* NULL: floats */
};

static inline struct sums sums_at(enum dtype dtype, void *data, int64_t first)
{
    return dtype == DT_FLOAT64 ? (struct sums){.doubles = (double *)data + first}
                               : (struct sums){.floats = (float *)data + first};
}

static inline void sums_store(const struct sums *sums, size_t i, double value)
{
    if (sums->doubles)
        sums->doubles[i] = value;
    else
        sums->floats[i] = (float)value;
}

/* product[rows][n] = panels × right operand. Rows that fill up the last panel need no values. */
void gemm_multiply(const struct gemm *g, const double *panels, size_t rows, double *tile, double *product);

#endif
