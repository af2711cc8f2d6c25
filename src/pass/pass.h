/* Passes: one file each, listed once in pass_list.def, run in that order by pass_run_all.
 *
 * A pass leaves a valid graph: the runner validates it after each one, in release builds after the last one alone. It
 * may use the scratch arena freely (it is rewound after the pass); what stays in the graph is allocated in the graph's
 * arena. */
#ifndef PASS_PASS_H
#define PASS_PASS_H

#include "base/progress.h"
#include "build/build.h"
#include "op/validate.h"

/* What a graph input means (--input_layout); values of pass_options.input_layouts. */
enum input_layout { INPUT_NCHW, INPUT_NHWC, INPUT_NONTRIVIAL };

struct pass_options {
    bool no_batchnorm_folding;        /* --disable_batchnorm_folding */
    bool fold_bias;                   /* the model's layers have no bias of their own */
    bool preserve_layout;             /* graph inputs and outputs keep the model's order of axes */
    bool preserve_dtype;              /* … and its dtypes */
    const struct map *preserve_names; /* restricts both to these names; NULL: all */
    const struct map *input_layouts;  /* name → enum input_layout; NULL: none given */
    bool keep_disconnected;           /* --keep_disconnected_nodes */
    bool keep_quant_nodes;            /* --keep_quant_nodes */
    bool keep_int64_inputs;           /* --keep_int64_inputs */
    const char *dump_after;           /* pass name: `dumped` gets the graph as text after it */
};

/* A Transpose that a UDO's layout costs; strings in the graph's arena. */
struct pass_permute {
    const char *node; /* the UDO's, as its diagnostics call it */
    const char *tensor, *reason;
    bool to_first; /* NHWC → NCHW; else NCHW → NHWC */
    bool after;    /* the UDO; else before it */
};

struct pass_context {
    struct arena *scratch;
    struct diags *diags;
    const struct pass_options *options;
    const struct progress *progress; /* counts passes; NULL: nobody wants to know */
    const char *dumped;
    uint32_t permutes_inserted;            /* by track_axes: Transposes that exist for layout alone */
    VEC(struct pass_permute) udo_permutes; /* of these, those that a UDO's layout costs */
};

typedef odlc_status pass_fn(struct pass_context *c, struct graph *g, bool *progress);

odlc_status pass_run_all(struct pass_context *c, struct graph *g) MUST_USE;
/* The names of the passes in order, for --dump_ir; NULL past the end. */
const char *pass_name(size_t index);
/* One pass by name, validated; for tests. */
odlc_status pass_run(struct pass_context *c, struct graph *g, const char *name, bool *progress) MUST_USE;

#endif
