/* SPDX-License-Identifier: Apache-2.0 */
/* The building of one UDO node at its site: the state that the steps of udo_build and udo_replace_natives share. Steps
 * give no status: each reports all errors that it finds through site_error, which counts them. */
#ifndef UDO_SITE_H
#define UDO_SITE_H

#include "udo/told.h"

struct site_build {
    struct udo_set *set;
    const struct udo_def *def; /* that claims the node */
    struct udo_use *use;
    struct build *b;
    const struct udo_site *site;
    struct arena *arena, *scratch; /* the graph's, the site's */
    uint32_t n_in, n_out;          /* operands that the node has, or the definition asks for */
    size_t errors, param_errors;   /* of this node; those of its params */
    const struct udo_answer *told; /* what a library tells of the outputs; NULL: nothing, or it was not asked */
    struct odlc_udo_report *report;
    struct odlc_udo_value *inputs, *params, *outputs; /* of the report */
};

/* The operands that the node takes; arrays of count entries. */
struct site_operands {
    tensor_id *ids;       /* NO_TENSOR for absent ones */
    struct shape *shapes; /* in the definition's own layout */
    bool *known;          /* whether there is an operand */
    uint32_t count;
    struct operand_form *forms;
    const struct shape *model_shapes; /* in the model's order */
};

/* ---- the steps ---- */
/* An error for each entry of the definition that no backend makes concrete. */
void site_check_definition(struct site_build *s);
/* Matches the node's inputs with the definition's: brings them into the declared layout and type, and fills in
 * defaults.
 */
void site_take_inputs(struct site_build *s, struct site_operands *in);
/* The params of the row, row->n_params entries, from attributes and defaults; .set says which the node has. */
void site_fill_params(struct site_build *s, struct param *params);
/* Asks the libraries, where neither definition nor model tells all shapes and types; before this, all that a node has
 * but its outputs. */
void site_ask(struct site_build *s, const struct site_operands *in, const struct param *params, uint32_t total);
/* What was told of output j: the shape in the definition's own layout, and the type in the model's terms. False: it
 * makes no sense, or contradicts what is known. */
bool told_shape(struct site_build *s, uint32_t j, const char *label, struct shape *shape);
bool told_type(struct site_build *s, uint32_t j, const char *label, const struct udo_demand *demand, enum dtype *dtype);
/* An error in the shape that was told, in words that follow the function's name. */
void told_shape_error(struct site_build *s, const char *message);
/* Whether output j is an optional one that the model does not ask for. A node gives at least its first. */
bool site_output_absent(const struct site_build *s, uint32_t j);
/* Whether neither definition nor model tells the shape of output j; whether the model does not tell its type. */
bool site_shape_open(const struct site_build *s, uint32_t j);
bool site_type_open(const struct site_build *s, uint32_t j);
/* Whether the definition has a type that suits what the framework computes. */
bool site_declares(const struct udo_tensor *t, enum dtype model);
/* The types of all outputs, total of them, in the definition's own layout; DT_NONE for absent ones. */
void site_output_types(struct site_build *s, const struct site_operands *in, struct type *types, uint32_t total);

/* ---- the report of the node (site_report.c) ---- */
/* Begins the report, before any step. */
void report_begin(struct site_build *s);
/* Adds the report to the set's, after the last step. */
void report_end(struct site_build *s);
/* Make the report's entries (total of them), with names and layouts of the definition. */
void report_inputs(struct site_build *s, uint32_t total);
void report_outputs(struct site_build *s, uint32_t total);
void report_params(struct site_build *s);
/* Fills in the operands of a native op that becomes the UDO. */
void report_native(struct site_build *s, const struct node *n);
/* Fill in the type of an operand in its own layout, and the value of a param. */
void report_type(struct odlc_udo_value *value, enum dtype dtype, const struct shape *shape);
void report_param(struct site_build *s, struct odlc_udo_value *value, enum odlc_udo_origin origin,
                  const struct param *param);

/* ---- diagnostics at the node ---- */
void site_error(struct site_build *s, const char *operand, const char *hint, const char *code, const char *format, ...)
    PRINTF_LIKE(5, 6);
void site_warn(struct site_build *s, const char *operand, const char *hint, const char *code, const char *format, ...)
    PRINTF_LIKE(5, 6);
/* True the first time that `what` is said of `name` about the definition. */
bool site_first(struct site_build *s, const char *what, const char *name);
/* "ops.json:12:9" */
const char *site_place(struct site_build *s, const struct udo_place *place);

/* ---- operands of definitions ---- */
/* How many outputs the node has: all that the definition lists, but for optional ones at the end that the model does
 * not use; more if one is repeated. */
uint32_t site_count_outputs(const struct udo_def *def, const struct udo_site *site);
/* The index of the entry that is repeated, or count. */
uint32_t repeated_of(const struct udo_tensor *tensors, uint32_t count);
/* The entry that describes operand i of total: the repeated one stands for all that the others leave over. NULL: none.
 */
const struct udo_tensor *operand_of(const struct udo_tensor *tensors, uint32_t count, uint32_t total, uint32_t i);
const struct udo_tensor *site_input(const struct site_build *s, uint32_t i);
const struct udo_tensor *site_output(const struct site_build *s, uint32_t j);
/* "input 1 ('scale')" */
const char *operand_label(struct site_build *s, const char *kind, uint32_t i, const struct udo_tensor *t);
/* The attribute of that name, and the framework's default for it; NULL: there is none. */
const struct param *site_attr(const struct site_build *s, const char *name);
const struct param *site_default(const struct site_build *s, const char *name);

/* ---- layouts ---- */
/* The permutation from the model's order to the declared one; false when they are the same. */
bool layout_perm(const struct udo_site *site, enum udo_layout layout, uint32_t rank, struct perm *out);
/* The form of the operand, which has that rank, for passes. */
struct operand_form form_of(const struct udo_site *site, const struct udo_tensor *t, uint32_t rank);
const char *layout_suffix(enum udo_layout layout, uint32_t rank); /* "nhwc" */
/* The rank that the definition itself tells, or -1. */
int declared_rank(const struct udo_tensor *t);
/* Whether the layout says something of tensors of that rank. */
bool layout_fits(enum udo_layout layout, uint32_t rank);

#endif
