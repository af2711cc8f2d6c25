/* SPDX-License-Identifier: Apache-2.0 */
/* User-defined operations: definitions as configs (JSON, and XML OpDefs) have them, and how a framework node becomes a
 * UDO node. docs/udo-config.md says what each key and element of a config means. */
#ifndef UDO_UDO_H
#define UDO_UDO_H

#include "build/build.h"
#include "op/registry.h"
#include "opendlc/convert.h"

enum udo_layout { UDO_LAYOUT_NONE, UDO_LAYOUT_NHWC, UDO_LAYOUT_NCHW };
enum udo_core { UDO_CPU, UDO_GPU, UDO_DSP, UDO_CORES };

#define UDO_MAX_DEFINITIONS 65536
#define UDO_MAX_OPERANDS 254 /* inputs, and outputs, of a definition: an op row counts them in a byte */
/* What the builder holds, less the supplemental params that describe the definition. */
#define UDO_SUPPLEMENTAL 6
#define UDO_MAX_PARAMS (COUNT_OF(((struct build *)NULL)->pending_params) - UDO_SUPPLEMENTAL)

/* Supplemental string params of a UDO node, for inspection; present when the config says something. */
#define UDO_PARAM_CORES "udo_core_types"          /* "CPU,DSP" */
#define UDO_PARAM_ARCHS "udo_dsp_arch_types"      /* "v68,v73" */
#define UDO_PARAM_TYPES "udo_per_core_data_types" /* "in0: CPU=FLOAT_32,DSP=UINT_8; out0: …; param w: …" */

#define UDO_PARAM_QHPI "udo_use_qhpi" /* "true" */
#define UDO_PARAM_ORDER                                                                           \
    "udo_param_order" /* with it: all params as the config has them, "perm,alpha"; \\, is a comma \
                       */
#define UDO_PARAM_DECLARED "udo_data_types" /* of one node: "in0: UINT_8; out0: FLOAT_16", where it has other types */

/* The place of a definition, or of a part of one, in its config. */
struct udo_place {
    const char *file;
    uint32_t line, column;
    const char *pointer;         /* JSON pointer; NULL in XML */
    const struct source *source; /* text/source.h */
};

/* Of places in one file. */
static inline bool udo_stands_before(const struct udo_place *a, const struct udo_place *b)
{
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

/* The words of a hint for the form that the config has. */
static inline const char *udo_words_of(const struct udo_place *place, const char *json, const char *xml)
{
    return place->pointer ? json : xml;
}

struct source;   /* text/source.h */
struct udo_expr; /* udo/expr.h */

/* The names of an enumeration's values, which count from 0. */
struct udo_words {
    const char *const *words;
    uint32_t count; /* 0: no enumeration */
};

/* An input, an output or a tensor param of a definition. */
struct udo_tensor {
    struct udo_place place;
    const char *name; /* NULL when not given (inputs and outputs) */
    /* What the operation takes: `data_type`, or from the per-core table the CPU's entry, else the first. Data is stored
     * in it, 64-bit types in 32 bits; activations have the model's. DT_NONE: not given. */
    enum dtype dtype;
    uint64_t several; /* mask of DTYPE_BIT: what else the operation takes, with dtype; 0: dtype alone */
    bool per_core;    /* the config gave per_core_data_types */
    enum dtype core_dtypes[UDO_CORES]; /* DT_NONE where the table has no entry */
    bool is_static;
    bool optional, repeated;
    const char *unresolved; /* NULL, or what of it no backend makes concrete: no node can be built */
    bool unused_default;    /* the config has a default, but says that the model must give a value */
    enum udo_layout layout;
    const char *quantization_mode;     /* NULL: not given */
    const struct param *default_value; /* NULL: none; converted to dtype already */
    const struct param *only_value;    /* the same, also where the model must give a value, for those in: */
    const char *only_default;          /* "CPU, DSP (HTP)": cores that take just the default; NULL: none */
    bool same_as;                      /* shape is "same_as in<same_as_input>" */
    uint32_t same_as_input;
    const struct udo_expr **shape; /* one expression per dimension; NULL: no rule */
    uint32_t shape_rank;
    struct udo_words enumeration;  /* of a param */
    const char *rank, *shape_text; /* "4D" and a remark, as written; NULL: not given */
};

/* A scalar param of a definition. */
struct udo_scalar {
    struct udo_place place;
    const char *name;
    enum dtype dtype;
    uint64_t several;                  /* as in struct udo_tensor */
    bool per_core;                     /* as in struct udo_tensor, from XML */
    enum dtype core_dtypes[UDO_CORES]; /* as in struct udo_tensor */
    bool optional, unused_default;     /* as in struct udo_tensor */
    const char *unresolved;            /* as in struct udo_tensor */
    const struct param *default_value; /* NULL: none; converted to dtype already */
    const struct param *only_value;    /* as in struct udo_tensor */
    const char *only_default;          /* as in struct udo_tensor */
    struct udo_words enumeration;
};

/* The definition of one operation; in the arena of its set. */
struct udo_def {
    struct udo_place place;
    const char *package, *type;
    const char *domain; /* NULL: any; "" is ONNX's default domain */
    const struct udo_tensor *inputs, *outputs, *tensor_params;
    const struct udo_scalar *scalar_params;
    uint32_t n_inputs, n_outputs, n_tensor_params, n_scalar_params;
    uint32_t cores;                    /* mask of 1 << enum udo_core */
    uint32_t backends;                 /* mask of 1 << enum udo_backend; 0 in JSON */
    const char *const *dsp_arch_types; /* as written */
    uint32_t n_dsp_arch_types;
    bool use_qhpi;
    bool replaces_native; /* type is a native op, which it replaces after the translation, and no operator of the model
                           */
    /* Filled by udo_add. The registry's row: name = dlc_type = type, params in config order (scalars, then tensors,
     * then the supplemental ones), no kernel. */
    const struct op *row;
    const struct param *supplemental; /* the last of the row's params, which every node has */
    uint32_t n_supplemental;
    uint32_t index; /* in the set */
    struct map
        *domains; /* of the first definition of a type, when it names a domain: domain → definition of the type */
};

/* Nodes of the model, by the names that diagnostics use. */
struct udo_nodes {
    VEC(const char *) labels;
};

/* What the nodes showed about a definition, for the reports that come once. */
struct udo_use {
    uint32_t nodes;               /* claimed so far */
    VEC(const char *) types;      /* operands of which nodes have other types than declared, in words */
    bool contradicted;            /* by some of these, which no processor's type could stand for */
    bool unmatched;               /* the model has no such operator, which has been said */
    VEC(const char *) unnamed;    /* attributes that the definition does not name */
    struct udo_nodes *not_static; /* per input: the nodes that have data for it although it is not static */
};

struct udo_oracle; /* udo/told.h */

/* A number of a param, and its text. */
struct told_number {
    const char *text; /* NULL: none */
    uint64_t bits;    /* of the int64_t, or, where it is real, of the double */
    bool real;
};

/* All definitions of a conversion. */
struct udo_set {
    struct arena *arena;
    struct diags *diags;
    struct op_registry *registry;
    VEC(struct udo_def *) defs;
    VEC(struct udo_use) uses;            /* one per definition */
    struct map types;                    /* type → the first definition of that type */
    struct map natives;                  /* the same for those that replace native ops */
    struct map said;                     /* what has been warned about once */
    bool promote_static;                 /* --udo_promote_static */
    const struct udo_oracle *oracle;     /* udo/told.h; NULL: there are no libraries to ask */
    VEC(struct odlc_udo_report) reports; /* what was found at each node, without permutes */
    struct told_number told[16];         /* by value: numbers of these reports that come more than once, as text */
};

/* Definitions get their rows in the registry; what these point to is in the arena, which must last as long. */
void udo_set_init(struct udo_set *set, struct arena *arena, struct diags *diags, struct op_registry *registry);

/* Reads a config, JSON or XML by what its text begins with, and adds its definitions. ODLC_ERR_IO: the file cannot be
 * read; ODLC_ERR_LIMIT: it is larger than SOURCE_MAX_BYTES; ODLC_ERR_INVALID: it has errors, all of which are reported.
 * The set then holds those definitions that had none, so that further problems can be found, but must not be converted
 * with. */
odlc_status udo_load(struct udo_set *set, const char *path) MUST_USE;
/* The same for a text in memory, which must last as long as the set; path is for diagnostics. */
odlc_status udo_parse(struct udo_set *set, const char *path, const char *text, size_t size) MUST_USE;
odlc_status udo_parse_json(struct udo_set *set, const char *path, const char *text, size_t size) MUST_USE;
odlc_status udo_parse_xml(struct udo_set *set, const char *path, const char *text, size_t size) MUST_USE;

/* Warns about what is odd in a definition without being wrong. dsp: its cores have the DSP by that name. */
void udo_advise(struct udo_set *set, struct source *source, const struct udo_def *def, bool dsp);

/* Whether the container itself has a param of that name, so that no definition may. */
bool udo_name_is_reserved(const char *name);

/* The place as diagnostics have it, with its line of the config; hint may be NULL. */
struct odlc_diag udo_at(const struct udo_place *place, const char *hint);

/* Whether two definitions of a type say the same. */
bool udo_same_definition(const struct udo_def *a, const struct udo_def *b);

/* Adds a definition and fills its row, supplemental, index and domains. A second definition of a type is dropped when
 * it says the same, and added when both name a domain and these differ; otherwise it is ODLC_ERR_INVALID.
 * ODLC_ERR_LIMIT: the set has UDO_MAX_DEFINITIONS already. */
odlc_status udo_add(struct udo_set *set, struct udo_def *def) MUST_USE;

/* The definition that claims nodes of that type in that domain; NULL: none. */
const struct udo_def *udo_find(const struct udo_set *set, const char *op_type, const char *domain);

/* What else tells the type of an output, where the model does not say it. */
struct udo_demand {
    enum dtype dtype;   /* what the readers take, as the framework has it; DT_NONE: nothing tells */
    bool real;          /* some float, if nothing tells which */
    const char *reader; /* a node of these */
    enum dtype likely;  /* what the node's own attributes suggest; DT_NONE: nothing */
};

/* An operator of the model. */
struct udo_operator {
    const char *type, *domain;
};

/* Warns about definitions that no operator of the model matches, whatever comes of the conversion. */
void udo_match(struct udo_set *set, const struct udo_operator *operators, size_t count);

/* A framework node that a definition claims, with all that the model and its framework say of it. Arrays and strings
 * are the caller's; elements of params, and names, must last as long as the graph. */
struct udo_site {
    struct arena *scratch; /* of the node: the caller rewinds it */
    const char *path;      /* of the model */
    const char *label;     /* node name for diagnostics */
    const char *op_type, *domain;
    const tensor_id *in; /* NO_TENSOR for absent ones */
    uint32_t n_in;
    /* Scalar ints as DT_INT64, floats as DT_FLOAT32, strings; lists are rank-1 tensors; tensors as they are. */
    const struct param *attrs;
    uint32_t n_attrs;
    const char *const *out_names; /* of the model; "" for an unused one */
    const struct type *declared;  /* the model's own shape information, one per output; dtype DT_NONE: not known */
    const bool *declared_shape;   /* whether declared[i].shape is known */
    const struct shape *partial;  /* of the others: what the model says of it, open dimensions -1; rank 0: nothing */
    const struct udo_demand *demands; /* one per output that has no declared type; NULL: nothing is known of readers */
    uint32_t n_out;
    bool outputs_open;            /* the model tells only which outputs it reads: the node may have more */
    bool channels_first;          /* the model's tensors are NCHW here: always those of ONNX */
    const struct param *defaults; /* of the framework, for attributes that the node leaves out */
    uint32_t n_defaults;
    /* Types of the outputs by the native rule of the operator of that name, n_out of them, for when udo_needs_native;
     * NULL: there is no such rule. */
    const struct type *native;
};

/* Whether definition and model leave the shape or the type of an output open, so that site->native is asked for: to
 * find it costs a trial. */
bool udo_needs_native(const struct udo_def *def, const struct udo_site *site);

/* Classifies inputs and params and adds the UDO node to b's graph; outs[i] gets the tensors in the model's own order of
 * axes (with layout-only Transposes for NHWC definitions). ODLC_ERR_INVALID: the node does not fit the definition; all
 * its problems are reported. Data for an input that is not static does not fail the node: udo_finish lists such nodes
 * once per input. */
odlc_status udo_build(struct udo_set *set, const struct udo_def *def, struct build *b, const struct udo_site *site,
                      tensor_id *outs) MUST_USE;

/* Makes UDO nodes of the native nodes that definitions replace; for the graph as it will be written. ODLC_ERR_INVALID:
 * some do not fit their definitions; all problems of all nodes are reported. */
odlc_status udo_replace_natives(struct udo_set *set, struct graph *g) MUST_USE;

/* For the graph as it will be written: nodes keep the types that their definitions declare where activations have
 * others, and one warning a definition lists these operands. */
void udo_keep_types(struct udo_set *set, struct graph *g);

/* After all nodes: the reports that come once per definition. Warns about attributes that are not serialised and about
 * definitions that matched nothing. ODLC_ERR_INVALID: the model has data for inputs that are not static (a warning with
 * promote_static). */
odlc_status udo_finish(struct udo_set *set) MUST_USE;

#endif
