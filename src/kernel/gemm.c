/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/gemm.h"

#include <string.h>

/* Panels of one block stay within the second-level cache while the right operand passes by. */
#define BLOCK_BYTES ((size_t)512 * 1024)
#define MIN_BLOCK_ROWS 64

/* Two doubles are what every processor that runs this has in one register; compilers without the extension do not exist
 * among those that are supported (gcc, clang). */
typedef double pair __attribute__((vector_size(16)));

static size_t whole_panels(size_t rows)
{
    return (rows + GEMM_ROWS - 1) / GEMM_ROWS * GEMM_ROWS;
}

size_t gemm_block_rows(size_t k, size_t rows)
{
    size_t fit = BLOCK_BYTES / sizeof(double) / (k ? k : 1) / GEMM_ROWS * GEMM_ROWS;
    if (fit < MIN_BLOCK_ROWS)
        fit = MIN_BLOCK_ROWS;
    size_t all = whole_panels(rows);
    return fit < all ? fit : all;
}

size_t gemm_panels_size(size_t k, size_t rows)
{
    return whole_panels(rows) * k;
}

size_t gemm_tile_size(size_t k)
{
    return GEMM_COLS * k;
}

/* Columns [first, first + columns) of the right operand as doubles, GEMM_COLS to a row; missing columns are 0. */
static void pack_tile(const struct gemm *g, size_t first, size_t columns, double *tile)
{
    memset(tile, 0, gemm_tile_size(g->k) * sizeof *tile);
    const float *const *segment = g->segments;
    for (size_t k = 0; k < g->k; segment++)
        for (size_t i = 0; i < g->segment_k && k < g->k; i++, k++) {
            const float *row = *segment + i * g->k_stride + first * g->n_stride;
            for (size_t j = 0; j < columns; j++)
                tile[k * GEMM_COLS + j] = row[j * g->n_stride];
        }
}

/* sum[r][c] = Σ panel[k][r] · tile[k][c], in registers. */
static void multiply_tile(size_t depth, const double *restrict panel, const double *restrict tile,
                          double sum[GEMM_ROWS][GEMM_COLS])
{
    pair acc[GEMM_ROWS][2] = {{{0}}};
    for (size_t k = 0; k < depth; k++) {
        const double *a = panel + k * GEMM_ROWS, *b = tile + k * GEMM_COLS;
        pair b0 = {b[0], b[1]}, b1 = {b[2], b[3]};
        pair x0 = {a[0], a[0]}, x1 = {a[1], a[1]}, x2 = {a[2], a[2]}, x3 = {a[3], a[3]};
        /* Written out: compilers keep the sums in registers only when no loop indexes them. */
        acc[0][0] += x0 * b0;
        acc[0][1] += x0 * b1;
        acc[1][0] += x1 * b0;
        acc[1][1] += x1 * b1;
        acc[2][0] += x2 * b0;
        acc[2][1] += x2 * b1;
        acc[3][0] += x3 * b0;
        acc[3][1] += x3 * b1;
    }
    memcpy(sum, acc, sizeof acc);
}

void gemm_multiply(const struct gemm *g, const double *panels, size_t rows, double *tile, double *product)
{
    double sum[GEMM_ROWS][GEMM_COLS];
    for (size_t first = 0; first < g->n; first += GEMM_COLS) {
        size_t columns = g->n - first < GEMM_COLS ? g->n - first : GEMM_COLS;
        pack_tile(g, first, columns, tile);
        for (size_t row = 0; row < rows; row += GEMM_ROWS) {
            size_t count = rows - row < GEMM_ROWS ? rows - row : GEMM_ROWS;
            multiply_tile(g->k, panels + row * g->k, tile, sum);
            for (size_t r = 0; r < count; r++)
                memcpy(&product[(row + r) * g->n + first], sum[r], columns * sizeof(double));
        }
    }
}
