/* SPDX-License-Identifier: Apache-2.0 */
/* Passes: one file each, run by pass_run_all in the order of pass_list.def, each entry once.
 *
 * A pass leaves a valid graph: the runner validates it after each one, in release builds after the last one alone. It
 * may use the scratch arena freely (it is rewound after the pass); what stays in the graph is allocated in the graph's
 * arena. Operands of nodes are changed by graph_replace_… alone. */
#ifndef PASS_PASS_H
#define PASS_PASS_H

#include "base/progress.h"
#include "build/build.h"
#include "op/release.h"
#include "op/validate.h"

struct pass_options {
    bool no_batchnorm_folding; /* --disable_batchnorm_folding */
    bool channels_first;       /* the model's tensors of rank 3 and 4 are, where nothing else is known */
    bool model_layout;         /* --io_layout model: all graph inputs and outputs keep the model's order of axes */
    bool preserve_layout;      /* graph inputs and outputs keep the model's order of axes */
    bool preserve_dtype;       /* … and its dtypes */
    const struct map *preserve_names; /* restricts both to these names; NULL: all */
    const struct map *custom_io;      /* --custom_io: names whose layout and dtype are the user's; NULL: none */
    const struct map *input_layouts;  /* name → index of the layout (input_layout.h); NULL: none given */
    bool keep_disconnected;           /* --keep_disconnected_nodes */
    bool keep_quant_nodes;            /* --keep_quant_nodes */
    bool keep_integer_ops;            /* --keep_integer_ops */
    bool dequantize_weights;          /* --dequantize_weights */
    bool keep_encodings;              /* --qdq encodings */
    bool keep_int64_inputs;           /* --keep_int64_inputs */
    bool approximate_gelu;            /* --approximate_gelu */
    bool split_slices;                /* --split_slices */
    bool plain_products;              /* a definition replaces MatMul and has no params for transposed operands */
    bool halve_floats;                /* --float_bitwidth 16 */
    bool keep_float_biases;           /* --float_bias_bitwidth 32 */
    const char *const *no_fusions;    /* --no_fusion: passes fuse_NAME that are left out, or "all" */
    size_t n_no_fusions;
    uint32_t target_release; /* --target_release, by RELEASE */
    const char *dump_after;  /* name of the list: `dumped` gets the graph as text after it */
};

/* A pass whose place is in the list and whose function is the caller's: what it knows is not of this room. */
struct pass_hook {
    odlc_status (*run)(void *owner, struct graph *g); /* NULL: nothing is done */
    void *owner;
};

/* A Transpose that track_axes inserted for layout alone. */
struct layout_permute {
    tensor_id tensor;
    const char *name; /* of the tensor then, after which the Transpose is called: a graph output is renamed later */
    node_id reader;   /* the first one that wanted it; NO_NODE: a graph output */
    bool to_first;    /* NHWC → NCHW; else another way */
};

/* A Transpose that a UDO's layout costs; strings in the graph's arena. */
struct pass_permute {
    const char *node; /* the UDO's, as its diagnostics call it */
    const char *tensor, *reason;
    bool to_first; /* NHWC → NCHW; else NCHW → NHWC */
    bool after;    /* the UDO; else before it */
};

/* The operators that nodes of a graph have, or had. */
struct op_census {
    const struct graph *graph;
    size_t counted; /* nodes, from the first on */
    bool has[OP_IDS];
    bool layers, copies; /* some of them are layers, may give what they take */
};

struct pass_context {
    struct arena *scratch;
    struct diags *diags;
    const struct pass_options *options;
    const struct progress *progress;       /* counts passes; NULL: nobody wants to know */
    const char *dumped;                    /* in the graph's arena; NULL: no pass of that name has run */
    struct pass_hook replace_natives;      /* makes UDO nodes of native ones */
    struct pass_hook keep_declared_types;  /* notes at UDO nodes the types that their definitions declare */
    VEC(struct layout_permute) permutes;   /* all that track_axes inserted */
    VEC(struct pass_permute) udo_permutes; /* of these, those that a UDO's layout costs, by report_permutes */
    uint64_t swept;                        /* graph->changes + 1 when remove_dead had gone through it; 0: it has not */
    struct op_census census;               /* search.h: a pass whose operators no node has costs nothing */
};

/* A pass. Fails with ODLC_ERR_UNSUPPORTED for what no container can hold, and as the functions of build.h and the hooks
 * do; the reasons are reported, and the graph is of no use any more. */
typedef odlc_status pass_fn(struct pass_context *c, struct graph *g);

/* All passes. Fails as the first pass does that fails, with ODLC_ERR_INTERNAL when one leaves a graph that is not
 * valid, and with ODLC_ERR_STOPPED when progress says so. */
odlc_status pass_run_all(struct pass_context *c, struct graph *g) MUST_USE;
/* The names in the list, in order, for --dump_ir; each is there once. NULL past the end. */
const char *pass_name(size_t index);
/* Whether a name, or "all", is one that no_fusions takes. */
bool pass_is_fusion(const char *name);
/* The pass of that name alone, validated; for tests. ODLC_ERR_USAGE: there is none. */
odlc_status pass_run(struct pass_context *c, struct graph *g, const char *name) MUST_USE;

#endif
