/* SPDX-License-Identifier: Apache-2.0 */
/* The interface between a front end and the driver: what the driver asks a framework's front end for. Each front end is
 * one constant of struct frontend; it sees neither the driver nor the public options. */
#ifndef CONVERTERS_FRONTEND_FRONTEND_H
#define CONVERTERS_FRONTEND_FRONTEND_H

#include "base/file.h"
#include "converters/frontend/fw_graph.h"

struct lower_table;
struct signature;

/* Whether a UDO claims nodes of that operator: a front end leaves such nodes whole. */
typedef bool fw_claims_fn(void *user, const char *op_type, const char *domain);

/* What a front end is told of the model to load. Texts and lists belong to the caller and outlive the model. */
struct fw_load_options {
    const char *input;             /* path of the model's file or folder */
    const char *const *out_names;  /* values or nodes that the graph is to end at; none: where the model says */
    const char *const *cut_inputs; /* values that may become graph inputs, as their dimensions are given */
    size_t n_out_names, n_cut_inputs;
    /* Which of a saved model's graphs, signatures and functions; NULL: the one that serves. */
    const char *saved_model_tag, *signature_key, *saved_model_function;
    bool follow_links;    /* files of the model may be reached by links out of its folder (model_folder.h) */
    fw_claims_fn *claims; /* NULL: no operator is claimed */
    void *claims_user;
};

/* An entry of a list of element types, beside those: some floating-point type. */
enum { TYPE_REAL = DT_COUNT };

struct frontend {
    /* Reads the model and reports all problems of one kind that the model has. The names in `options` are canonical.
     * *out is set on ODLC_OK alone. ODLC_ERR_IO: a file cannot be read; ODLC_ERR_INVALID: a file is no sound model of
     * the framework; ODLC_ERR_UNSUPPORTED, ODLC_ERR_LIMIT: the model is sound, but not for this front end;
     * ODLC_ERR_USAGE: the model has not what the options name. */
    odlc_status (*load)(const struct fw_memory *memory, struct diags *diags, const struct fw_load_options *options,
                        struct fw_model **out);
    /* Reads a file that holds one tensor in the framework's own form; the file stays mapped while the tensor is used.
     * ODLC_ERR_INVALID or ODLC_ERR_UNSUPPORTED: such a tensor cannot be had of the file. */
    odlc_status (*load_tensor)(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                               struct fw_tensor *out);
    const struct lower_table *table; /* which function lowers which operator (converters/lowering/lower_table.h) */
    const char *(*refusal)(const char *domain, const char *op); /* why no row converts the operator, or NULL */
    bool (*takes_strings)(const char *domain, const char *op);  /* as elements of some input */
    /* The default of an attribute that a node may leave out; false: the framework defines none. */
    bool (*schema_default)(const char *op_type, int64_t version, const char *attr, struct param *out);
    /* What nodes of the operator may have (signature.h), or NULL; NULL as a whole: the front end has checked them. */
    const struct signature *(*signature)(const char *domain, const char *op, int64_t version);
    /* How many inputs the node must have, UINT32_MAX where that is not known; NULL: signatures say the most. */
    uint32_t (*input_count)(const struct fw_node *n);
    /* Whether an attribute that the signature does not have is left out, with a warning; others are errors. */
    bool (*leaves_out)(const struct fw_op *op, const char *attribute);
    /* Whether an integer attribute says yes or no, and is 1 or 0; NULL: the framework has a kind of its own for those.
     */
    bool (*is_flag)(const char *op_type, int64_t version, const char *attr);
    /* The spelling that a value has in the model, for a name in any spelling; NULL: values have one spelling only. */
    const char *(*canonical_name)(struct arena *arena, const char *name);
    /* What users call the value of that spelling; NULL: the same. */
    const char *(*short_name)(struct arena *arena, const char *name);
    /* Fills in the element types of a node's inputs and outputs that are DT_NONE, as far as the framework's definition
     * of the node's operator tells them; types that are known may say what others are. */
    void (*operand_types)(const struct fw_node *n, uint8_t *in, uint8_t *out);
    /* Fills in what the attributes of a node whose operator nothing defines suggest for the types of the outputs, which
     * are DT_NONE before. NULL: models have no such attributes. */
    void (*likely_types)(const struct fw_node *n, uint8_t *out);
    /* The name of an element type by its number in attributes: "DT_FLOAT"; NULL: the framework has no such names. */
    const char *(*type_name)(int64_t number);
    bool channels_first;  /* the framework's spatial tensors are NCHW; otherwise fw_model.channels_first may say so */
    bool ends_at_outputs; /* what is loaded ends at options->out_names already */
    bool has_opsets;      /* operators are of domains and versions, which messages name */
};

#endif
