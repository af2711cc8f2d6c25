/* Loops of TensorFlow 1, which are cycles in the graph:
 *
 *     Enter → Merge → Switch → … → NextIteration → Merge        a variable of the loop
 *                        ↘ Exit                                 what it is after the loop
 *
 * A LoopCond decides for the Switch of each variable. Other values come in by an Enter that is constant. Such a loop
 * becomes one node with graphs for its condition and its body. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_LOOPS_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_LOOPS_H

#include <string.h>

#include "converters/tensorflow/normalize/flatten.h"

struct loop_variable {
    uint32_t merge;
    const char *first, *next; /* what gives its first value, and the next one, as inputs of nodes say it */
};

struct loop {
    uint32_t cond; /* the LoopCond's node */
    const char *frame_name;
    uint32_t n_variables, n_reads;
    const struct loop_variable *variables; /* that what is read of the loop needs */
    const char **reads;                    /* from around it: the variables' first values, then the others */
    bool scanned;
    uint32_t *exits; /* that are needed */
    size_t n_exits;
};

/* Goes on from the parts of a loop to what they stand for: to the Merge for a variable inside, to the loop for one
 * behind it, to what enters for constants. */
odlc_status see_through_loops(struct flatten *f, struct source *s, const char *reader) MUST_USE;
/* An Exit reads a loop, which s is. */
odlc_status check_exit(const struct flatten *f, const struct frame *frame, uint32_t node,
                       const struct source *s) MUST_USE;
/* The loop of a LoopCond that see_through_loops led to. */
const struct loop *find_loop(const struct frame *frame, uint32_t cond);
/* The number of the node that an input names, in the body; MAP_NONE for arguments, and for what is not there. */
uint32_t body_node(const struct flatten *f, const struct frame *frame, const char *input);
/* Of the nodes whose names are what stands before a slash in `name`, within its first *length bytes, the one with the
 * longest name, whose length *length becomes; MAP_NONE: there is none. Names of values inside of calls begin so. */
uint32_t holding_node(const struct flatten *f, const struct frame *frame, const char *name, size_t *length);
static inline bool is_loop_cond(const struct frame *frame, uint32_t node)
{
    return node != MAP_NONE && strcmp(frame->body->nodes.data[node].op, "LoopCond") == 0;
}

#endif
