/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of TensorFlow 1, which are cycles in the graph:
 *
 *     Enter → Merge → Switch → … → NextIteration → Merge        a variable of the loop
 *                        ↘ Exit                                 what it is after the loop
 *
 * A LoopCond decides for the Switch of each variable. Other values come in by an Enter that is constant. Such a loop
 * becomes one While with graphs for its condition and its body. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_WHILE_LOOPS_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_WHILE_LOOPS_H

#include <string.h>

#include "converters/tensorflow/normalize/walk.h"

extern const struct stage while_from_loops;

/* Goes on from the parts of a loop to what they stand for: to the Merge for a variable inside, to the loop for one
 * behind it, to what enters for constants. ODLC_ERR_INVALID: they make no loop, or something reads what only its next
 * trip may. */
odlc_status see_through_loops(struct normalize *nz, struct source *s, const char *reader) MUST_USE;
static inline bool is_loop_cond(const struct frame *frame, uint32_t node)
{
    return node != MAP_NONE && op_is(frame->body->nodes.data[node].op, "LoopCond");
}

#endif
