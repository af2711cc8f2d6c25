/* Variables of a graph, which have their values in a checkpoint. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_VARIABLES_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_VARIABLES_H

#include "converters/tensorflow/normalize/flatten.h"
#include "converters/tensorflow/source/tf_source.h"

struct variables;

struct variables *variables_create(struct flatten *f, const struct tf_source *source);

/* Whether nodes of the operator are variables, or handles of variables, for which their value stands. */
bool is_variable(const char *op);

/* The value of the variable that the node is: that which the graph's own nodes would read into it, or else that of its
 * name. The checkpoint is opened when the first one is asked for. */
odlc_status variable_value(struct variables *v, const struct source *node, struct view *out) MUST_USE;

/* The same for a variable of a saved program, by the attributes that lead to it. */
odlc_status variable_at_path(struct variables *v, const char *const *path, uint32_t n_path, const char *name,
                             struct view *out) MUST_USE;

/* Adds the paths of the files that were opened to those of the model. */
void variables_list_files(const struct variables *v);

#endif
