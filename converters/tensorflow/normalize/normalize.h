/* SPDX-License-Identifier: Apache-2.0 */
/* From a TensorFlow graph, a pool of nodes for training, saving and inference, to what its outputs need, in stages:
 *
 *     stage                 file             a value or node of it …        stands for, or becomes …
 *     inline calls          inline_calls.c   result or argument of a call   what the function returns, what the call
 * reads restore variables     variables.c      variable, handle of one        its value in the checkpoint, a constant
 *     While from loops      while_loops.c    Exit of a TensorFlow 1 loop    result of one While with graphs of its own
 *     Select from Merges    conditionals.c   Merge of a conditional         Merge with what decides and the sides
 *     prune                 walk.c           whatever outputs need          a node of the graph, in topological order
 *
 * Each takes what the one before it gives. They run on demand, a value at a time: the walk back from the outputs asks
 * the stages, in that order, what a value that a node reads stands for, and what its node becomes once all of its
 * operands are known. So only what is needed is looked at, and must be sound, and no graph is kept between two stages.
 *
 * Each file may use those above it alone:
 *
 *     frames.c         bodies of graph and functions, their limits, names of values
 *     inline_calls.c   from the name that an input says to the value
 *     conditions.c     when values are alive
 *     flat_graph.c     the graph that is being filled
 *     leaves.c         inputs and constants
 *     walk.c           prune; graphs inside of nodes
 *     variables.c      restore variables
 *     while_loops.c    While from loops
 *     conditionals.c   Select from Merges
 *     arguments.c      of a function that is the model
 *     served.c         the function that a signature serves
 *     state.c          refuses graphs that assign to their variables
 *     wanted.c         which inputs and outputs
 *     aliases.c        what options may call these
 *     normalize.c      all of it, in order
 *
 * Nodes inside of a call are "call/name", values "call/name:0". */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_NORMALIZE_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_NORMALIZE_H

#include "converters/frontend/frontend.h"
#include "converters/tensorflow/decode/tf_signature.h"
#include "converters/tensorflow/normalize/walk.h"
#include "converters/tensorflow/source/tf_source.h"

/* What of a model is wanted, and what is known of it. All of it is borrowed during the call. */
struct wanted {
    const struct fw_load_options *options; /* which outputs and inputs, and which operators UDOs claim */
    const struct tf_source *source;
    const struct tf_signature *signature;
};

/* The stages between inline calls and prune, in their order. */
extern const struct stage *const normalize_stages[];
extern const size_t normalize_n_stages;

/* The framework graph of a decoded model, without what its operators are described by (tf_describe_op). What is left
 * after fewer stages keeps the nodes of those that are missing. ODLC_ERR_INVALID for what is needed and unsound,
 * ODLC_ERR_UNSUPPORTED for what has no form here, ODLC_ERR_LIMIT for what expands to too much, ODLC_ERR_USAGE for
 * options that name nothing. */
odlc_status normalize_graph(struct tf_model *m, const struct wanted *wanted, const struct stage *const *stages,
                            size_t n_stages, struct fw_model **out) MUST_USE;

#endif
