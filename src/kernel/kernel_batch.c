/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of an image as elements of the batch, and back, channels last. */
#include <string.h>

#include "kernel/kernels.h"
#include "op/batches.h"

/* Where the pixel at (row, column) of the wide side is on the other. */
static int64_t pixel_of(const struct batches *b, int64_t batch, int64_t row, int64_t column)
{
    int64_t y = row + b->before[0], x = column + b->before[1];
    int64_t image = ((y % b->block[0]) * b->block[1] + x % b->block[1]) * b->batch + batch;
    return (image * batches_along(b, 0) + y / b->block[0]) * batches_along(b, 1) + x / b->block[1];
}

/* All elements have 8 bytes here (COMPUTE_WIDE), so that padding is the number 0 in quantized tensors, too. */
static void move_pixels(const struct batches *b, bool to_wide, const char *from, char *to)
{
    size_t size = (size_t)b->depth * sizeof(double);
    int64_t wide = 0;
    for (int64_t i = 0; i < b->batch; i++)
        for (int64_t row = 0; row < b->in[0]; row++)
            for (int64_t column = 0; column < b->in[1]; column++, wide++) {
                int64_t at = pixel_of(b, i, row, column);
                memcpy(to + (size_t)(to_wide ? wide : at) * size, from + (size_t)(to_wide ? at : wide) * size, size);
            }
}

odlc_status kernel_space_to_batch(const struct kernel *k)
{
    struct batches b;
    if (batches_read_space(&b, k->node, &k->in[0].shape) || k->in[0].dtype == DT_STRING)
        return ODLC_ERR_INVALID;
    memset(k->out[0].data, 0, shape_count(&k->out[0].shape) * sizeof(double));
    move_pixels(&b, false, k->in[0].data, k->out[0].data);
    return ODLC_OK;
}

odlc_status kernel_batch_to_space(const struct kernel *k)
{
    struct batches b;
    if (batches_read_batch(&b, k->node, &k->in[0].shape) || k->in[0].dtype == DT_STRING)
        return ODLC_ERR_INVALID;
    move_pixels(&b, true, k->in[0].data, k->out[0].data);
    return ODLC_OK;
}
