/* SPDX-License-Identifier: Apache-2.0 */
/* Where the graph of a model is, and what the files around it say of it. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_TF_SOURCE_H
#define CONVERTERS_TENSORFLOW_SOURCE_TF_SOURCE_H

#include "converters/frontend/frontend.h"
#include "converters/frontend/model_folder.h"
#include "converters/frontend/wire.h"

/* What an argument of a function is that its callers do not give: something that it took from around it. */
struct tf_bound {
    enum { BOUND_OTHER, BOUND_VARIABLE, BOUND_CONSTANT } kind;
    const char *const *path; /* of a variable: from the saved program's root to it, attribute by attribute */
    uint32_t n_path;
    const char *node; /* of a constant */
};

struct tf_source {
    struct fw_memory memory;
    struct diags *diags;
    const struct file *file;     /* that the graph is in */
    const char *path;            /* that users know the model by */
    uint64_t from, to;           /* the GraphDef, in the file */
    struct sections meta;        /* of the graph's MetaGraphDef; nothing without one */
    struct wire_field ops;       /* the OpList that the model brings; of size 0: none */
    struct model_folder *folder; /* which the files of a checkpoint are in, or below it */
    const char *checkpoint;      /* prefix of the files with the values of variables, or NULL */
    const char *restore_op;      /* the node that would read them; "" when nothing says it */
    bool is_saved_model;
    struct wire_field signature; /* the SignatureDef that says what goes in and comes out; of size 0: none */
    const char *function;        /* that is the model, instead of the graph; or NULL */
    VEC(struct tf_bound) bound;  /* its last arguments */
};

/* Opens options->input, by what it is: a folder or a file of the name saved_model.pb or saved_model.pbtxt, a .meta
 * file, or a graph; each of them may be in text form. ODLC_ERR_USAGE for options that do not fit the model,
 * ODLC_ERR_INVALID for a file that is no model, ODLC_ERR_IO for one that cannot be read. */
odlc_status source_open(const struct fw_memory *memory, struct diags *diags, const struct fw_load_options *options,
                        struct tf_source *out) MUST_USE;
/* Of a saved model that is open: chooses the signature or the function that the options name, or the one that serves.
 * Nothing for other models. ODLC_ERR_USAGE where the model has none of that name. */
odlc_status source_choose(struct tf_source *s, const struct fw_load_options *options) MUST_USE;

#endif
