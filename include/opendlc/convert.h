/* Converting a model to a DLC container.
 *
 *     struct odlc_convert_options options = {.input = "model.onnx", .output = "model.dlc"};
 *     struct odlc_conversion *conversion;
 *     odlc_status status = odlc_convert_onnx(&options, &conversion);
 *     … odlc_conversion_diags(conversion, &count) …
 *     odlc_conversion_free(conversion);
 */
#ifndef OPENDLC_CONVERT_H
#define OPENDLC_CONVERT_H

#include "opendlc/status.h"

#define ODLC_MAX_THREADS 16

#ifdef __cplusplus
extern "C" {
#endif

struct odlc_name_value {
    const char *name, *value;
};

/* Steps of a conversion, in their order. */
enum odlc_stage {
    ODLC_STAGE_READ,   /* the model is decoded; nothing is counted */
    ODLC_STAGE_CHECK,  /* options are applied, ops looked up; nothing is counted */
    ODLC_STAGE_LOWER,  /* nodes of the model become ops: counts nodes */
    ODLC_STAGE_PASSES, /* the graph is rewritten: counts passes */
    ODLC_STAGE_WRITE   /* counts bytes of the container's constants */
};

/* What a conversion is at. total is 0 where nothing is counted. */
struct odlc_progress {
    enum odlc_stage stage;
    uint64_t done, total;
};

/* Called when a stage begins, in short intervals while it lasts, and by no other thread than the one that converts.
 * Other than 0: the conversion ends with ODLC_ERR_STOPPED and leaves nothing behind. */
typedef int odlc_progress_fn(void *user, const struct odlc_progress *progress);

/* Zero and NULL mean "not given" everywhere. Strings are borrowed during the call. */
struct odlc_convert_options {
    const char *input;              /* the model */
    const char *output;             /* the container; NULL: none is written */
    const char *const *udo_configs; /* paths, JSON or XML */
    size_t n_udo_configs;
    const struct odlc_name_value *input_dims; /* graph input → "1,3,224,224" */
    size_t n_input_dims;
    const struct odlc_name_value *input_dtypes; /* graph input → "float32" */
    size_t n_input_dtypes;
    /* graph input → path of a file with its value, which makes it a constant: .npy, .pb (a TensorProto), or else raw
     * little-endian elements */
    const struct odlc_name_value *frozen_inputs;
    size_t n_frozen_inputs;
    const struct odlc_name_value *input_layouts; /* graph input → NCHW, NHWC or NONTRIVIAL */
    size_t n_input_layouts;
    const struct odlc_name_value *symbols; /* symbolic dimension → size */
    size_t n_symbols;
    const char *const *out_names; /* tensors or nodes where the graph is cut */
    size_t n_out_names;
    int64_t batch;                       /* > 0: the first dimension of every graph input */
    int dry_run;                         /* do all but writing; go on with other ops when one is unsupported */
    int preserve_layout, preserve_dtype; /* graph inputs and outputs keep the model's … */
    const char *const *preserve_names;   /* … only these; NULL: all */
    size_t n_preserve_names;
    int promote_static; /* --udo_promote_static */
    int no_batchnorm_folding, keep_disconnected_nodes;
    int keep_quant_nodes;  /* quantizing and dequantizing stay nodes; tensors between other nodes stay float */
    int keep_int64_inputs; /* graph inputs of int64 stay of that type */
    int netp;              /* parameters inline, in the older form */
    unsigned threads; /* that write weights, at most ODLC_MAX_THREADS; 0: one. The container does not depend on it */
    const char *model_version; /* at most 64 bytes */
    const char *model_copyright;
    const char *converter_command; /* for the container's metadata */
    const char *dump_ir_after;     /* name of a pass */
    /* A file in make syntax with the container's name and those of all files that it depends on. It appears just before
     * the container does, so a container is never there without it. */
    const char *depfile;
    /* Links in the model's folder may lead out of it, for folders of links that build systems make. Otherwise nothing
     * outside of the folder is read, whatever the model names. */
    int follow_links;
    const char *const *more_inputs; /* files that the caller read for this conversion, as that of model_copyright */
    size_t n_more_inputs;
    /* Of TensorFlow's saved models: which graph, by its tags with commas ("serve"), and which of its signatures says
     * what goes in and comes out ("serving_default"). */
    const char *saved_model_tag, *signature_key;
    /* Instead of a signature: a function of the saved program, by the attributes that lead to it ("encoder.call"), or
     * by its name in the model. */
    const char *saved_model_function;
    odlc_progress_fn *progress; /* NULL: nobody wants to know */
    void *progress_user;
};

/* An op is unsupported when nothing converts its operator, or when this one of its nodes was refused. */
enum odlc_op_status { ODLC_OP_NATIVE, ODLC_OP_UDO, ODLC_OP_UNSUPPORTED };

/* One node of the model, as the converter sees it. */
struct odlc_op_report {
    const char *node, *op_type, *domain; /* domain "" is ONNX's own */
    int64_t version;                     /* opset version of the domain */
    enum odlc_op_status status;
    const char *package; /* of a UDO */
};

/* How a UDO node came by one of its inputs or params, or by the shape of an output. */
enum odlc_udo_origin {
    ODLC_UDO_FAILED,     /* it did not: the errors say why */
    ODLC_UDO_DYNAMIC,    /* input: computed when the model runs */
    ODLC_UDO_STATIC,     /* input: data of the model, stored */
    ODLC_UDO_PROMOTED,   /* input: the same, though the definition does not mark it static */
    ODLC_UDO_NOT_STATIC, /* input: the same without promote_static, which is an error */
    ODLC_UDO_DEFAULT,    /* input, param: the definition's default */
    ODLC_UDO_ABSENT,     /* input, param, output: left out, as the definition allows */
    ODLC_UDO_ATTRIBUTE,  /* param: the node's attribute */
    ODLC_UDO_SCHEMA,     /* param: the default of the framework's own operator */
    ODLC_UDO_RULE,       /* output: the definition's shape rule */
    ODLC_UDO_DECLARED,   /* output: the model says it */
    ODLC_UDO_NATIVE,     /* output: the native operator of that name gives it */
    ODLC_UDO_LIKE_INPUT  /* output: nothing tells it; the only input's is taken */
};

/* One input, param or output of a UDO node. */
struct odlc_udo_value {
    const char *name;   /* in the definition; NULL: it has none */
    const char *tensor; /* the model's name of an input or output; NULL: none */
    enum odlc_udo_origin origin;
    const char *data_type; /* as stored; NULL: not known */
    const char *layout;    /* declared; NULL: none */
    int permuted;          /* static data is stored in another order of axes than the model's */
    int is_tensor;         /* 0: a scalar param */
    uint32_t rank;
    int64_t dims[8];  /* in the definition's own layout; meaningful unless data_type is NULL */
    const char *text; /* value of a param: "0.5", "[2, -2]", long ones cut; NULL: none */
};

/* A Transpose that a UDO's layout costs. */
struct odlc_udo_permute {
    const char *tensor;    /* what is permuted */
    const char *from, *to; /* "NHWC", "NCHW" */
    int after;             /* 0: before the UDO, 1: after it */
    const char *reason;    /* one sentence without a full stop */
};

/* A node that a definition claims. In a loop that is unrolled there is one for each time the node runs. */
struct odlc_udo_report {
    const char *node, *op_type, *domain; /* as in struct odlc_op_report */
    const char *package;
    const char *file; /* of the definition, with its place */
    uint32_t line, column;
    int failed; /* the node has errors; what comes below may be incomplete */
    size_t n_inputs, n_params, n_outputs, n_permutes;
    const struct odlc_udo_value *inputs, *params, *outputs;
    const struct odlc_udo_permute *permutes;
};

struct odlc_conversion;

/* Converts an ONNX model. *conversion is set whatever the status (NULL only with ODLC_ERR_NOMEM) and belongs to the
 * caller. The container appears under its name only when it is complete and verified. */
ODLC_API odlc_status odlc_convert_onnx(const struct odlc_convert_options *options,
                                       struct odlc_conversion **conversion) ODLC_MUST_USE;
/* The same for a TensorFlow model: a frozen graph (.pb, .pbtxt), the folder of a saved model, or the graph of a
 * checkpoint
 * (.meta, beside which its .index and data files lie). Names of values are a node's name, or "name:K" for its output K;
 * "name:0" means the first, too. A name of input_dims that is no input of the graph cuts it: the value becomes an
 * input. */
ODLC_API odlc_status odlc_convert_tensorflow(const struct odlc_convert_options *options,
                                             struct odlc_conversion **conversion) ODLC_MUST_USE;
ODLC_API void odlc_conversion_free(struct odlc_conversion *conversion);

ODLC_API const struct odlc_diag *odlc_conversion_diags(const struct odlc_conversion *conversion, size_t *count);
/* Every node of the model, after a dry run and a conversion alike. The list is made by the first call, which must not
 * run beside others for the same conversion; NULL and no count when memory runs out. */
ODLC_API const struct odlc_op_report *odlc_conversion_ops(const struct odlc_conversion *conversion, size_t *count);
/* The UDO nodes that were looked at, in the order of the graph. */
ODLC_API const struct odlc_udo_report *odlc_conversion_udo_nodes(const struct odlc_conversion *conversion,
                                                                 size_t *count);
/* The files that were read: the model, UDO configs, external data, frozen values, and those of more_inputs. */
ODLC_API const char *const *odlc_conversion_inputs(const struct odlc_conversion *conversion, size_t *count);
/* Nodes of a TensorFlow model that nothing which comes out needs, in the order of the file. */
ODLC_API const char *const *odlc_conversion_unconsumed(const struct odlc_conversion *conversion, size_t *count);
/* After a dry run: a UDO config to start from for the ops that are not supported, or NULL. */
ODLC_API const char *odlc_conversion_udo_stub(const struct odlc_conversion *conversion);
/* The graph as text after the pass that was asked for, or NULL. */
ODLC_API const char *odlc_conversion_dump(const struct odlc_conversion *conversion);

struct odlc_conversion_summary {
    uint32_t model_nodes, ops, udo_ops, permutes_inserted;
    uint64_t static_bytes; /* of constants in the container */
};
/* What a stage does, for people: "reading the model". Static storage. */
ODLC_API const char *odlc_stage_name(enum odlc_stage stage);
ODLC_API struct odlc_conversion_summary odlc_conversion_summary(const struct odlc_conversion *conversion);
/* Name of pass i in the order in which they run, or NULL: what dump_ir_after takes. */
ODLC_API const char *odlc_pass_name(size_t i);

#ifdef __cplusplus
}
#endif
#endif
