/* Where the graph of a model is, and what the files around it say of it. */
#ifndef CONVERTERS_TENSORFLOW_SOURCE_TF_SOURCE_H
#define CONVERTERS_TENSORFLOW_SOURCE_TF_SOURCE_H

#include "converters/frontend/model_folder.h"
#include "converters/tensorflow/normalize/flatten.h"

/* An input or output of a signature. */
struct tf_end {
    const char *key;       /* in the signature */
    struct fw_value value; /* name canonical; dtype and shape as far as the signature says them */
};

/* What an argument of a function is that its callers do not give: something that it took from around it. */
struct tf_bound {
    enum { BOUND_OTHER, BOUND_VARIABLE, BOUND_CONSTANT } kind;
    const char *const *path; /* of a variable: from the saved program's root to it, attribute by attribute */
    uint32_t n_path;
    const char *node; /* of a constant */
};

struct tf_source {
    uint64_t from, to;           /* the GraphDef, in the model's file */
    const char *path;            /* that users know the model by */
    struct model_folder *folder; /* which the files of a checkpoint are in, or below it */
    const char *checkpoint;      /* prefix of the files with the values of variables, or NULL */
    const char *restore_op;      /* the node that would read them; "" when nothing says it */
    VEC(struct tf_end) inputs;   /* of the signature */
    VEC(struct tf_end) outputs;  /* sorted by key; none without a signature */
    const char *function;        /* that is the model, instead of the graph; or NULL */
    VEC(struct tf_bound) bound;  /* its last arguments */
};

/* Opens options->input, by what it is: a folder or a file of the name saved_model.pb or saved_model.pbtxt, a .meta
 * file, or a graph; each of them may be in text form. Sets m->file. */
odlc_status source_open(struct tf_model *m, const struct fw_load_options *options, struct tf_source *out) MUST_USE;

#endif
