/* One framework node at a definition: what the steps of udo_build share. */
#ifndef UDO_CALL_H
#define UDO_CALL_H

#include "udo/udo.h"

struct site {
    struct udo_set *set;
    const struct udo_def *def;
    struct udo_use *use;
    struct build *b;
    const struct udo_call *call;
    struct arena *arena, *scratch; /* the graph's, the call's */
    uint32_t n_in, n_out;          /* operands that the node has, or the definition asks for */
    size_t errors;                 /* of this node */
    struct odlc_udo_report *report;
    struct odlc_udo_value *inputs, *params, *outputs; /* of the report */
};

/* What the node's operands come to. */
struct operands {
    tensor_id *ids;       /* as the node takes them; NO_TENSOR for absent ones */
    struct shape *shapes; /* in the definition's own layout */
    bool *known;          /* whether there is an operand */
    uint32_t count;
    struct operand_form *forms;
    const struct shape *model_shapes; /* in the model's order */
};

/* Each reports everything it finds through site_error. */
/* What the definition leaves open: an error for a node. */
void call_definition(struct site *s);
void call_inputs(struct site *s, struct operands *in);
void call_params(struct site *s, struct param *params); /* row.n_params entries */
/* Whether output j is an optional one that the model does not ask for. A node gives at least its first. */
bool output_absent(const struct site *s, uint32_t j);
/* Types in the definition's own layout; total of them. DT_NONE for absent ones. */
void call_output_types(struct site *s, const struct operands *in, struct type *types, uint32_t total);

/* ---- the report (report.c) ---- */
/* Begins the report of a node whose errors are yet to come. */
void report_begin(struct site *s);
/* Adds it to the set's. */
void report_end(struct site *s);
/* The entries (total of them), with what the definition says. */
void report_inputs(struct site *s, uint32_t total);
void report_outputs(struct site *s, uint32_t total);
void report_params(struct site *s);
/* The operands of a native op that becomes the UDO. */
void report_native(struct site *s, const struct node *n);
/* What an operand, in its own layout, or a param came to. */
void report_type(struct odlc_udo_value *value, enum dtype dtype, const struct shape *shape);
void report_param(struct site *s, struct odlc_udo_value *value, enum odlc_udo_origin origin, const struct param *param);

/* ---- diagnostics at the node ---- */
void site_error(struct site *s, const char *operand, const char *hint, const char *code, const char *format, ...)
    PRINTF_LIKE(5, 6);
void site_warn(struct site *s, const char *operand, const char *hint, const char *code, const char *format, ...)
    PRINTF_LIKE(5, 6);
/* True the first time that this is said about the definition. */
bool site_first(struct site *s, const char *what, const char *name);
/* "ops.json:12:9" */
const char *site_place(struct site *s, const struct udo_place *place);

/* ---- operands of definitions ---- */
/* How many outputs the node has: all that the definition lists, but for optional ones at the end that the model does
 * not use; more if one is repeated. */
uint32_t site_count_outputs(const struct udo_def *def, const struct udo_call *call);
/* The entry that is repeated, or count. */
uint32_t repeated_of(const struct udo_tensor *tensors, uint32_t count);
/* The entry that describes operand i of total: the repeated one stands for all that the others leave over. NULL: none.
 */
const struct udo_tensor *operand_of(const struct udo_tensor *tensors, uint32_t count, uint32_t total, uint32_t i);
const struct udo_tensor *site_input(const struct site *s, uint32_t i);
const struct udo_tensor *site_output(const struct site *s, uint32_t j);
/* "input 1 ('scale')" */
const char *operand_label(struct site *s, const char *kind, uint32_t i, const struct udo_tensor *t);
/* The attribute of that name, and the framework's default for it; NULL: there is none. */
const struct param *site_attr(const struct site *s, const char *name);
const struct param *site_default(const struct site *s, const char *name);

/* ---- layouts ---- */
/* The permutation from the model's order to the declared one; false when they are the same. */
bool layout_perm(const struct udo_call *call, enum udo_layout layout, uint32_t rank, struct perm *out);
/* What passes must know of the operand, which has that rank. */
struct operand_form form_of(const struct udo_call *call, const struct udo_tensor *t, uint32_t rank);
const char *layout_suffix(enum udo_layout layout); /* ".nhwc" */
/* The rank that the definition itself tells, or -1. */
int declared_rank(const struct udo_tensor *t);
/* Whether a layout says something of tensors of that rank. */
bool layout_fits(enum udo_layout layout, uint32_t rank);

#endif
