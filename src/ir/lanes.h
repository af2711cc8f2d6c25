/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel runs of a source that become the columns of a result (permute.c), and the kernels that move them. */
#ifndef IR_LANES_H
#define IR_LANES_H

#include <stdbool.h>
#include <stdint.h>

/* Lanes of a run: element k of lane l is at source + l * step + k * size, and goes to out + places[k] + l * size. */
struct lanes {
    uint8_t *out;
    const uint8_t *source;
    const int64_t *places;
    int64_t n, count; /* elements of the run, lanes */
    int64_t step;     /* bytes */
};

typedef void lanes_fn(const struct lanes *l);

/* Elements of 4 bytes, in squares of 16 or 8; `rest` moves what is left beside them. Only for processors that have the
 * instructions. */
void lanes_avx512_4(const struct lanes *l, lanes_fn *rest);
void lanes_avx2_4(const struct lanes *l, lanes_fn *rest);
bool lanes_have_avx512(void);
bool lanes_have_avx2(void);

#endif
