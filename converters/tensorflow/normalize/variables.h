/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of a graph: the value in the checkpoint stands for a variable, its handle and what reads it. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_VARIABLES_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_VARIABLES_H

#include "converters/tensorflow/normalize/walk.h"
#include "converters/tensorflow/source/tf_source.h"

extern const struct stage restore_variables;

struct variables *variables_create(struct normalize *nz, const struct tf_source *source);

/* Whether nodes of the operator are variables, or handles of variables, for which their value stands. */
bool is_variable(const char *op);

/* The value of a variable of a saved program, by the attributes that lead to it. ODLC_ERR_INVALID: the checkpoint has
 * none, or is damaged. */
odlc_status variable_at_path(struct variables *v, const char *const *path, uint32_t n_path, const char *name,
                             struct view *out) MUST_USE;

/* Adds the paths of the files that were opened to those of the model. */
void variables_list_files(const struct variables *v);

#endif
