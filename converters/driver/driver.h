/* The road from a framework graph to a container: one driver for all front ends. */
#ifndef CONVERTERS_DRIVER_DRIVER_H
#define CONVERTERS_DRIVER_DRIVER_H

#include "converters/lowering/lower.h"
#include "opendlc/convert.h"
#include "pass/pass.h"
#include "udo/udo.h"

/* Among element types: some float. */
enum { TYPE_REAL = DT_COUNT };

/* What a front end is to the driver. */
struct frontend {
    /* Reads the model that options->input names. The rest of the options is the driver's to apply, but for what it
     * takes to find the graph in the file, and to leave out what is beyond the ends that they name. */
    odlc_status (*load)(const struct fw_memory *memory, struct diags *diags, const struct odlc_convert_options *options,
                        fw_claims_fn *claims, void *user, struct fw_model **out);
    /* Reads a file that holds one tensor in the framework's own form. */
    odlc_status (*load_tensor)(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                               struct fw_tensor *out);
    const struct lower_row *rows; /* sorted by domain, op, lo */
    size_t n_rows;
    const char *(*refusal)(const char *domain, const char *op); /* why no row converts it, or NULL */
    bool (*takes_strings)(const char *domain, const char *op);  /* as elements of some input */
    bool (*schema_default)(const char *op_type, int64_t version, const char *attr, struct param *out);
    /* Whether an integer attribute says yes or no, and is 1 or 0; NULL: the framework has a kind of its own for those.
     */
    bool (*is_flag)(const char *op_type, int64_t version, const char *attr);
    /* The one spelling that values have in the model, of a name in any; NULL: there is one only. */
    const char *(*canonical_name)(struct arena *arena, const char *name);
    /* Fills in the element types of a node's inputs and outputs that are DT_NONE, as far as the framework's definition
     * of its operator tells them; those that are known may say what others are. */
    void (*operand_types)(const struct fw_node *n, uint8_t *in, uint8_t *out);
    /* What the attributes of a node whose operator nothing defines suggest for its outputs, which are DT_NONE before.
     * NULL: models have no such attributes. */
    void (*likely_types)(const struct fw_node *n, uint8_t *out);
    const char *(*type_name)(int64_t number); /* of the number in an attribute: "DT_FLOAT"; NULL: it has no such ones */
    bool channels_first; /* the framework's spatial tensors are NCHW; otherwise fw_model.channels_first may say so */
    bool bias_apart;     /* the framework's layers have no bias: operators of their own add it */
    bool has_opsets;     /* operators are of domains and versions, which messages name */
};

/* Where a tensor's axes come from: axis i of the tensor is axis moved.axis[i] of a tensor that is channels-last, or of
 * which nothing is known. */
struct layout_origin {
    struct perm moved;
    bool last;
};

/* A node for the reports: its name, and its operator in the list of those. */
struct op_note {
    const char *node;
    uint32_t op;
    bool refused; /* the operator is known, but this node cannot be converted */
};

struct conversion {
    struct arena *arena, *scratch;
    struct arena *model_arena; /* the framework graph and what lowering knows of it; NULL when it has been lowered */
    struct diags diags;
    const struct frontend *frontend;
    const struct odlc_convert_options *options;
    struct fw_model *model; /* NULL when it has been lowered */
    struct op_registry *registry;
    struct udo_set udos;
    struct graph *graph;
    struct map input_index; /* of the model: name → graph.inputs, filled when it is asked for */
    bool knows_inputs;
    struct map symbols;                    /* of dimensions, fixed by the graph inputs: name → symbol_sizes */
    VEC(int64_t) symbol_sizes;             /* DIM_OPEN: inputs contradict each other */
    bool dims_overridden;                  /* an option changed a dimension that the model fixes */
    bool *live;                            /* per node of the model: needed for an output */
    VEC(struct op_note) notes;             /* of all nodes that were looked at */
    struct odlc_op_report *op_reports;     /* per operator of the model, without a node */
    struct odlc_op_report **ops;           /* per note, made when they are asked for */
    VEC(const struct fw_node *) missing;   /* the nodes that nothing can convert */
    uint64_t expanded;                     /* nodes that subgraphs were lowered to */
    struct arena_budget memory;            /* of the three arenas together */
    const char *at_node;                   /* the one that is being lowered, or was last */
    VEC(struct layout_origin) origins;     /* per tensor of the graph, as far as they were asked for */
    size_t n_followed;                     /* nodes of the graph that they were found for */
    const struct value_types *value_types; /* of the model, when they were asked for */
    const char *const *unconsumed;         /* nodes of the model that no output needs, where the front end says */
    size_t n_unconsumed;
    VEC(const char *) inputs; /* paths of the files that were read */
    struct map known_inputs;
    struct out_file *depfile; /* written, not yet under its name; NULL: none is wanted */
    enum odlc_stage stage;
    struct progress progress; /* of the stage */
    const char *udo_stub, *dumped;
    struct odlc_conversion_summary summary;
};

/* Where the model is loaded to. */
static inline struct fw_memory model_memory(const struct conversion *c)
{
    return (struct fw_memory){.kept = c->arena, .graph = c->model_arena, .scratch = c->scratch};
}

/* The row for a node: NULL when there is none for its domain, op and version. */
const struct lower_row *find_row(const struct frontend *frontend, const char *domain, const char *op, int64_t version);

/* prepare.c: applies -d, --batch, --define_symbol, --input_dtype, --freeze_input and --out_node to the model, gives
 * unnamed nodes a name, finds the live nodes. */
odlc_status prepare_model(struct conversion *c) MUST_USE;
/* An error for each graph input whose type or dimensions are not known. */
odlc_status check_inputs(struct conversion *c) MUST_USE;
/* The graph input of that name, or NULL and an error that lists them; option names the option that asked. */
struct fw_value *find_model_input(struct conversion *c, const char *name, const char *option);
/* Takes note of the symbols that an input with known dimensions fixes. */
void note_symbols(struct conversion *c, const struct fw_value *input);
/* freeze.c: the inputs of --freeze_input become constants. */
odlc_status freeze_inputs(struct conversion *c) MUST_USE;
/* The value that a file has for an input, checked to be one of the input's type and dimensions. */
odlc_status read_frozen(struct conversion *c, const struct fw_value *input, const struct file *file,
                        struct view *out) MUST_USE;
/* check_support.c: says what converts each operator, and notes all nodes, those in subgraphs included; an error for
 * each op type that is neither native nor claimed, but for those in branches, which may not be taken. */
odlc_status check_support(struct conversion *c) MUST_USE;
/* Notes which nodes their lowering refused. */
void note_refusals(struct conversion *c);
/* The error for one node of such a type. */
odlc_status report_missing_op(struct conversion *c, const struct fw_node *n) MUST_USE;
/* The config that a user can start from for the unsupported ops, or NULL. */
const char *write_udo_template(struct conversion *c);
/* files.c: collects the paths of all files that the conversion reads; those that are found later are added. */
void list_inputs(struct conversion *c);
void add_input(struct conversion *c, const char *path);
/* What these files have in bytes. */
uint64_t input_bytes(const struct conversion *c);
/* An error when a file that will be written is one that is read. Writes the depfile without giving it its name. */
odlc_status check_outputs(struct conversion *c) MUST_USE;
/* For dlc_write, once the container is complete; user is the conversion. */
odlc_status commit_depfile(void *user) MUST_USE;
/* lower_graph.c: the model as an IR graph. */
odlc_status lower_graph(struct conversion *c) MUST_USE;
/* layout_origin.c: while the graph is lowered. */
struct layout_origin tensor_layout_origin(struct conversion *c, tensor_id id);
/* value_types.c: the element type of a value by what declares or gives it, or DT_NONE. */
enum dtype given_type(struct conversion *c, fw_name name);
/* What else tells the type of a node's output. */
struct udo_demand demand_for(struct conversion *c, fw_name name);
/* The most likely type by all of that, or DT_NONE. */
enum dtype known_type(struct conversion *c, fw_name name);
/* bind_udo.c: a node that a UDO claims; declared is what the model says of each of its outputs, or NULL. */
odlc_status lower_claimed(struct conversion *c, struct lower *l, const struct udo_def *def,
                          const struct fw_value *const *declared) MUST_USE;

/* adopt_options.c: c->options become the caller's, with defaults for what an older caller does not know, and names as
 * the model spells them. ODLC_ERR_USAGE: no version's struct has that size, or a newer one asks for what is not known
 * here. */
odlc_status adopt_options(struct conversion *c, const struct odlc_convert_options *given) MUST_USE;

/* convert_model.c: the whole road, behind odlc_convert. frontend: NULL for a framework that there is none for. */
odlc_status convert_model(const struct frontend *frontend, const struct odlc_convert_options *options,
                          struct odlc_conversion **out) MUST_USE;

#endif
