/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two matrices that are stored transposed: flags of the MatMul say so, and no Transpose is needed. */
#ifndef PASS_TRACK_PRODUCT_H
#define PASS_TRACK_PRODUCT_H

#include "pass/track.h"

/* Whether the order is the model's, but for the last two axes, which are swapped. */
bool swaps_matrices(const struct perm *order);
/* Whether the node is a product that can read either operand with its last two axes swapped. Constants stay what layers
 * are made of. */
bool product_takes_swapped(const struct track *t, const struct node *n);
/* Stores the product's result, and takes its operands, with swapped axes where that saves a Transpose. False, with
 * nothing changed: nothing is swapped. Else *status says whether it has been done. */
bool track_product(struct track *t, node_id id, odlc_status *status);

#endif
