/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices, as shape rule and kernel of MatMul read them (op_matmul.c). */
#ifndef OP_PRODUCT_H
#define OP_PRODUCT_H

#include "op/params.h"

/* One product per index of the batch axes; a step of 0 repeats an operand. */
struct product {
    int64_t m, k, n;
    struct shape batch;                         /* broadcast batch axes of the result */
    int64_t a_step[MAX_RANK], b_step[MAX_RANK]; /* elements per index of a batch axis */
    int64_t a_row, a_column, b_row, b_column;   /* elements between rows (columns) of each operand */
};

/* Of a and b; bias may be NULL. Gives NULL, or what is wrong. */
const char *product_read(struct product *p, const struct node *n, const struct shape *a, const struct shape *b,
                         const struct shape *bias);

#endif
