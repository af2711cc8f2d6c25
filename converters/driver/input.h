/* SPDX-License-Identifier: Apache-2.0 */
/* The input of a conversion: the model, and what options, files and the model itself say about it. */
#ifndef CONVERTERS_DRIVER_INPUT_H
#define CONVERTERS_DRIVER_INPUT_H

#include "base/map.h"
#include "converters/driver/context.h"

struct value_types;

struct input {
    struct fw_model *model; /* NULL when it has been lowered */
    bool *live;             /* per node of the model: needed for an output */
    bool dims_overridden;   /* an option changed a dimension that the model fixes */
    struct input_names {
        struct map index; /* name → graph.inputs of the model */
        bool known;       /* the index is filled, which happens when it is asked for */
    } names;
    struct input_symbols {  /* of dimensions, as the graph inputs fix them */
        struct map index;   /* name → sizes */
        VEC(int64_t) sizes; /* DIM_OPEN: inputs contradict each other */
    } symbols;
    struct input_files {
        VEC(const char *) paths; /* of all files that the conversion reads */
        struct map known;
    } files;
    const struct value_types *types; /* of the model's values; NULL until they are asked for */
    const char *const *unconsumed;   /* nodes of the model that no output needs, where the front end says */
    size_t n_unconsumed;
};

#endif
