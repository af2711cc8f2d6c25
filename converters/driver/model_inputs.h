/* SPDX-License-Identifier: Apache-2.0 */
/* The graph inputs of a model by their names, as options say them. */
#ifndef CONVERTERS_DRIVER_MODEL_INPUTS_H
#define CONVERTERS_DRIVER_MODEL_INPUTS_H

#include "converters/driver/input.h"

typedef VEC(const char *) name_list;

/* What users are told that the graph inputs are called, without frozen ones, in c->scratch. */
name_list model_input_names(const struct context *c, const struct input *in);
/* The same for the graph outputs. */
name_list model_output_names(const struct context *c, const struct input *in);

/* The graph input of that name. NULL: the model has none, which an error says that lists those that there are; `option`
 * is the one that named the input. */
struct fw_value *find_model_input(const struct context *c, struct input *in, const char *name, const char *option);

/* Whether an option names a value that the model has and no output needs: the option does no harm, and a note says that
 * it has no effect. */
bool is_unneeded_input(const struct context *c, struct input *in, const char *name, const char *option);

/* ODLC_ERR_USAGE, with an error for a name in an option that is none of the known ones, which are `listed_as`. */
odlc_status report_unknown_name(const struct context *c, const struct input *in, const char *code, const char *message,
                                const char *name, const name_list *known, const char *listed_as);

#endif
