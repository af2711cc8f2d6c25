/* SPDX-License-Identifier: Apache-2.0 */
/* What TensorFlow's own definitions of its operators say: names, counts and types of outputs, and what attributes are
 * when a node leaves them out. */
#ifndef CONVERTERS_TENSORFLOW_DECODE_OP_DEFS_H
#define CONVERTERS_TENSORFLOW_DECODE_OP_DEFS_H

#include "converters/frontend/fw_graph.h"

enum tf_found {
    TF_FOUND,
    TF_NOT_FOUND,  /* the operator has no such output */
    TF_UNKNOWN_OP, /* nothing is known of the operator's outputs: it is a function, a user's, or of no use here */
};

/* An argument: one operand or several. */
struct tf_arg_def {
    const char *name;
    const char *count;     /* the attribute that says how many there are, or NULL: one */
    const char *type;      /* the attribute that says their type, or NULL */
    const char *type_list; /* the attribute that has one type for each of them, or NULL */
    int32_t code;          /* their type without such an attribute */
};

struct tf_op_def {
    const char *op;
    const struct tf_arg_def *outputs;
    size_t n_outputs;
    const struct tf_arg_def *inputs; /* of the model's own definitions */
    size_t n_inputs;
};

/* The definition of one of TensorFlow's operators, or NULL. */
const struct tf_op_def *tf_find_op(const char *op);

/* What inputs of nodes in functions name: of "node:arg:index", the number of that output among all that the node has.
 * def is the definition of the node's operator, or NULL; attrs are the node's attributes. */
enum tf_found tf_output_index(const struct tf_op_def *def, const struct fw_attr *attrs, size_t n_attrs, const char *arg,
                              uint32_t index, uint32_t *out);

/* The element type of an output, by its number; DT_NONE where the operator is unknown, has no such output, or gives
 * something that has no type here (a resource, complex numbers). */
enum dtype tf_output_dtype(const char *op, const struct fw_attr *attrs, size_t n_attrs, uint32_t output);

/* What is known of such an operator's inputs, for fw_op.types; NULL: nothing. */
const void *tf_types_of(const char *op);
/* How many inputs the node must have; UINT32_MAX where the definition or an attribute that says it is not known. */
uint32_t tf_input_count(const struct fw_node *n);
/* What the definition of the node's operator, TensorFlow's or else the model's, says of the types of inputs and outputs
 * that are DT_NONE. */
void tf_operand_types(const struct fw_node *n, uint8_t *in, uint8_t *out);
/* What type attributes of a node whose operator nobody defines suggest for its outputs, by the names that are usual;
 * where they suggest nothing `out` stays as it is. */
void tf_likely_types(const struct fw_node *n, uint8_t *out);

/* The attribute's default, in the form of a param; false when there is none, or none that a param could be. Types are
 * TensorFlow's numbers of them. There is one version of each operator. */
bool tensorflow_schema_default(const char *op_type, int64_t version, const char *attr, struct param *out);

#endif
