/* Lowering: one framework node becomes IR nodes. A lowering function reads attributes and inputs, emits through
 * op/build.h and sets out[]. */
#ifndef CONVERTERS_LOWER_H
#define CONVERTERS_LOWER_H

#include "converters/frontend.h"
#include "op/build.h"

struct lower {
    struct build *b;
    struct arena *arena; /* the graph's */
    struct diags *diags;
    const char *path; /* the model's, for diagnostics */
    const struct fw_node *node;
    int64_t version;     /* of the node's domain */
    const char *arg;     /* the row's */
    const tensor_id *in; /* NO_TENSOR for absent ones; n_in counts trailing absent ones out */
    uint32_t n_in;
    tensor_id *out; /* to set; n_out entries, as the node lists them */
    uint32_t n_out;
};

typedef odlc_status lower_fn(struct lower *l);

/* A row of a front end's table: which function lowers (domain, op) for versions lo … hi. */
struct lower_row {
    const char *domain, *op;
    int64_t lo, hi; /* inclusive; LATEST: no upper end */
    lower_fn *fn;
    const char *arg; /* IR op or variant for functions that serve several rows, or NULL */
};
#define LATEST INT64_MAX

/* The name the model gives output i, for build_end (NULL when it has none). */
const char *lower_out_name(const struct lower *l, uint32_t i);
/* Input i, or NO_TENSOR when it is absent. */
tensor_id lower_in(const struct lower *l, uint32_t i);
/* Fails with a diagnostic when input i is absent. */
odlc_status lower_need(const struct lower *l, uint32_t i, const char *what, tensor_id *out) MUST_USE;

/* ---- attributes: a value of another kind than asked for is an error with the attribute's name ---- */
odlc_status lower_attr_int(const struct lower *l, const char *name, int64_t absent, int64_t *out) MUST_USE;
odlc_status lower_attr_float(const struct lower *l, const char *name, double absent, double *out) MUST_USE;
odlc_status lower_attr_string(const struct lower *l, const char *name, const char *absent, const char **out) MUST_USE;
/* *out NULL and *count 0 when it is absent. */
odlc_status lower_attr_ints(const struct lower *l, const char *name, const int64_t **out, uint32_t *count) MUST_USE;
odlc_status lower_attr_floats(const struct lower *l, const char *name, const float **out, uint32_t *count) MUST_USE;
bool lower_has_attr(const struct lower *l, const char *name);

/* ---- constant inputs ---- */
/* The values of input i, which must be known at conversion; `what` names it in the error ("shape", "pads"), whose hint
 * says which graph input to freeze. An absent input gives *out NULL and *count 0. */
odlc_status lower_const_ints(const struct lower *l, uint32_t i, const char *what, const int64_t **out,
                             uint32_t *count) MUST_USE;
odlc_status lower_const_floats(const struct lower *l, uint32_t i, const char *what, const double **out,
                               uint32_t *count) MUST_USE;

/* Fails unless input i, which is there, is known at conversion: `why` says what needs it to be, the hint what to
 * freeze. */
odlc_status lower_need_const(const struct lower *l, uint32_t i, const char *what, const char *why) MUST_USE;

/* Zeroed memory in *out for a constant that the model implies without holding it (positions, masks, weights of a
 * filter). A few bytes can ask for any number of elements: more than 256 MiB is an error at the node. */
odlc_status lower_table(const struct lower *l, uint64_t count, size_t size, void *out) MUST_USE;

/* An error at the node: what is wrong, and what would help (hint may be NULL). */
odlc_status lower_invalid(const struct lower *l, const char *attribute, const char *hint, const char *format, ...)
    PRINTF_LIKE(4, 5) MUST_USE;
odlc_status lower_unsupported(const struct lower *l, const char *attribute, const char *hint, const char *format, ...)
    PRINTF_LIKE(4, 5) MUST_USE;

#endif
