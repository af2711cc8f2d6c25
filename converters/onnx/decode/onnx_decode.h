/* What the files of the ONNX decoder share: one decoding at work. */
#ifndef CONVERTERS_ONNX_DECODE_ONNX_DECODE_H
#define CONVERTERS_ONNX_DECODE_ONNX_DECODE_H

#include "converters/frontend/names.h"
#include "converters/onnx/schema/onnx_fields.h"
#include "converters/onnx/decode/onnx.h"
#include "converters/frontend/wire.h"

#define ONNX_MIN_IR 1
#define ONNX_MAX_IR 13
#define ONNX_MAX_OPSET 28

/* Files of older IR versions do not say which opset they use: there was only the first. */
#define ONNX_FIRST_IR_WITH_OPSETS 3

/* Errors after this many are counted, not kept. */
#define DECODE_MAX_ERRORS 100

/* The opsets that a model or a function imports: domain → version. */
struct opsets {
    struct map index;
    VEC(int64_t) versions;
    uint32_t number; /* one list of imports from another */
};

/* A local function: its body is kept as the model has it, names unresolved. */
struct function {
    const char *domain, *name, *overload;
    const fw_name *inputs, *outputs;
    size_t n_inputs, n_outputs;
    const fw_name *attributes; /* names of those without a default value */
    size_t n_attributes;
    const struct fw_attr *defaults; /* attributes with a default value */
    size_t n_defaults;
    const struct fw_node *nodes;
    size_t n_nodes;
    const struct fw_value *values; /* value_info */
    size_t n_values;
    bool active; /* its expansion is under way */
};

struct decode {
    struct fw_memory memory;
    struct diags *diags;
    const struct file *file;
    struct external *external;
    struct fw_model *model;
    struct fw_names names;
    struct map ops;     /* domain, type and overload, in one list of opsets → model->ops */
    uint32_t n_opsets;  /* lists of imports read so far */
    odlc_status status; /* of the first error */
    size_t unreported;  /* errors beyond DECODE_MAX_ERRORS */
    bool in_function;   /* a function's body is being decoded */
    bool warned_opset;  /* the one warning about newer opsets was given */
    bool missed_opset;  /* the one error about the missing default domain was given */
};

/* A place in the model that is being decoded:  AT(IN_MODEL(d), .node = name) */
#define IN_MODEL(d) .file = (d)->file->path

/* Reports an error and goes on; the decoding as a whole then fails with the status of its first error. Returns status.
 */
odlc_status decode_error(struct decode *d, odlc_status status, const struct odlc_diag *place, const char *code,
                         const char *format, ...) PRINTF_LIKE(5, 6);
/* Takes note of an error that was reported already, by a function of another room. Returns status. */
odlc_status decode_failed(struct decode *d, odlc_status status);

/* The text in a field: as a name, whose text is kept once however often the name occurs; and as a text of its own. */
fw_name decode_name(struct decode *d, const struct wire_field *f);
const char *decode_text(struct decode *d, const struct wire_field *f);
/* The names in all fields of that number. */
const fw_name *decode_names(struct decode *d, const struct sections *s, uint32_t number);

/* onnx_tensor.c: the tensor in a field; *out gets the name and a view; place says where the tensor is. On failure the
 * error was reported, and *out has the name alone. ODLC_ERR_INVALID: elements, type and shape do not fit each other;
 * ODLC_ERR_UNSUPPORTED: the type, or how the elements are stored; else the statuses of external_bytes. */
odlc_status decode_tensor(struct decode *d, const struct wire_field *tensor, const struct odlc_diag *place,
                          struct fw_tensor *out) MUST_USE;

/* onnx_sparse.c: a sparse tensor with all zeros (empty strings) written out, under the name of its values. Statuses as
 * above; ODLC_ERR_LIMIT: the zeros take too much memory. */
odlc_status decode_sparse(struct decode *d, const struct wire_field *sparse, const struct odlc_diag *place,
                          struct fw_tensor *out) MUST_USE;

/* onnx_attr.c: the attributes in the fields of that number; node is for diagnostics. */
const struct fw_attr *decode_attrs(struct decode *d, const struct sections *s, uint32_t number, const char *node,
                                   const struct opsets *opsets);
/* An error for attributes of a node that have one name. */
void check_attr_names(struct decode *d, const struct fw_node *n);

/* onnx_graph.c: the opsets in the fields of that number, each for one domain. */
void decode_opsets(struct decode *d, const struct sections *s, uint32_t number, struct opsets *out);
/* As if the default domain were imported in that version. */
void assume_opset(struct decode *d, int64_t version, struct opsets *out);
int64_t opsets_version(const struct opsets *opsets, const char *domain); /* 0: not imported */
void decode_graph(struct decode *d, const struct wire_field *graph, const struct opsets *opsets, struct fw_graph *out);
struct function *decode_functions(struct decode *d, const struct sections *model);
/* The domain by one name: "" for each name of the default domain. */
const char *decode_domain(const char *domain);

/* onnx_functions.c: replaces calls of local functions by their bodies, everywhere in the graph. */
void inline_functions(struct decode *d, struct function *functions, size_t count, const struct fw_load_options *options,
                      struct fw_graph *graph);

/* check_names.c: puts nodes in topological order; an error for a value that is defined twice, or read and never
 * defined.
 */
void check_names(struct decode *d, struct fw_graph *graph);

/* external_data.c: the files beside the model, which the arena closes. */
struct external *external_create(struct arena *arena, struct diags *diags, const char *model_path, bool follow_links);
/* Adds the paths of the files that were opened to those of the model. */
void external_list(const struct external *x, struct fw_model *model);
/* The elements of a tensor that the model keeps in another file: `size` bytes, mapped as long as the arena of
 * external_create. ODLC_ERR_IO: the file cannot be read; ODLC_ERR_INVALID: the file has no such bytes, or its name is
 * none of a file in the model's folder. */
odlc_status external_bytes(struct decode *d, const struct wire_field *tensor, uint64_t size,
                           const struct odlc_diag *place, const uint8_t **bytes, const struct file **file) MUST_USE;

#endif
