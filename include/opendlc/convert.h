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

#ifdef __cplusplus
extern "C" {
#endif

struct odlc_name_value {
    const char *name, *value;
};

/* Zero and NULL mean "not given" everywhere. Strings are borrowed during the call. */
struct odlc_convert_options {
    const char *input;              /* the model */
    const char *output;             /* the container; NULL with dry_run */
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
    int dry_run;                         /* look at every op, write nothing */
    int preserve_layout, preserve_dtype; /* graph inputs and outputs keep the model's … */
    const char *const *preserve_names;   /* … only these; NULL: all */
    size_t n_preserve_names;
    int promote_static; /* --udo_promote_static */
    int no_batchnorm_folding, keep_disconnected_nodes;
    int keep_quant_nodes;      /* quantizing and dequantizing stay nodes; tensors between other nodes stay float */
    int keep_int64_inputs;     /* graph inputs of int64 stay of that type */
    int netp;                  /* parameters inline, in the older form */
    const char *model_version; /* at most 64 bytes */
    const char *model_copyright;
    const char *converter_command; /* for the container's metadata */
    const char *dump_ir_after;     /* name of a pass */
};

enum odlc_op_status { ODLC_OP_NATIVE, ODLC_OP_UDO, ODLC_OP_UNSUPPORTED };

/* One node of the model, as the converter sees it. */
struct odlc_op_report {
    const char *node, *op_type, *domain; /* domain "" is ONNX's own */
    int64_t version;                     /* opset version of the domain */
    enum odlc_op_status status;
    const char *package; /* of a UDO */
};

struct odlc_conversion;

/* Converts an ONNX model. *conversion is set whatever the status (NULL only with ODLC_ERR_NOMEM) and belongs to the
 * caller. The container appears under its name only when it is complete and verified. */
ODLC_API odlc_status odlc_convert_onnx(const struct odlc_convert_options *options,
                                       struct odlc_conversion **conversion) ODLC_MUST_USE;
ODLC_API void odlc_conversion_free(struct odlc_conversion *conversion);

ODLC_API const struct odlc_diag *odlc_conversion_diags(const struct odlc_conversion *conversion, size_t *count);
/* Every node of the model (filled by a dry run and a conversion alike). */
ODLC_API const struct odlc_op_report *odlc_conversion_ops(const struct odlc_conversion *conversion, size_t *count);
/* The files that were read: the model, UDO configs, external data. For dependency files of build systems. */
ODLC_API const char *const *odlc_conversion_inputs(const struct odlc_conversion *conversion, size_t *count);
/* After a dry run: a UDO config to start from for the ops that are not supported, or NULL. */
ODLC_API const char *odlc_conversion_udo_stub(const struct odlc_conversion *conversion);
/* The graph as text after the pass that was asked for, or NULL. */
ODLC_API const char *odlc_conversion_dump(const struct odlc_conversion *conversion);

struct odlc_conversion_summary {
    uint32_t model_nodes, ops, udo_ops, permutes_inserted;
    uint64_t static_bytes; /* of constants in the container */
};
ODLC_API struct odlc_conversion_summary odlc_conversion_summary(const struct odlc_conversion *conversion);
/* Name of pass i in the order in which they run, or NULL: what dump_ir_after takes. */
ODLC_API const char *odlc_pass_name(size_t i);

#ifdef __cplusplus
}
#endif
#endif
