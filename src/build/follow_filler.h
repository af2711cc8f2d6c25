/* SPDX-License-Identifier: Apache-2.0 */
/* How filler (build.h) goes from the operands of a node to its results. */
#ifndef BUILD_FOLLOW_FILLER_H
#define BUILD_FOLLOW_FILLER_H

#include "build/build.h"

/* Notes the axes of the results, and warns of a node that combines rows with filler: `padded-rows`. */
void follow_filler_axes(struct build *b, const struct node *n);
/* Of a node that was folded: which elements of its results depend on sizes. */
void follow_filler_sizes(struct build *b, const struct node *n);
/* ODLC_ERR_UNSUPPORTED for a node at run time that an operand of sizes gets to. */
odlc_status refuse_filler_sizes(const struct build *b, const struct node *n) MUST_USE;

#endif
