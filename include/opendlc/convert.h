/* SPDX-License-Identifier: Apache-2.0 */
/* Converting a model to a DLC container.
 *
 *     struct odlc_convert_options options;
 *     struct odlc_conversion *conversion;
 *     odlc_convert_defaults(&options, sizeof options);
 *     options.input = "model.onnx";
 *     options.output = "model.dlc";
 *     odlc_status status = odlc_convert(ODLC_ONNX, &options, &conversion);
 *     … odlc_conversion_diags(conversion, &count) …
 *     odlc_conversion_free(conversion);
 *
 * Conversions share nothing, so any number of threads may convert at a time. One conversion's results may be read by
 * several threads, but for odlc_conversion_ops. */
#ifndef OPENDLC_CONVERT_H
#define OPENDLC_CONVERT_H

#include "opendlc/status.h"

#define ODLC_MAX_THREADS 16

#ifdef __cplusplus
extern "C" {
#endif

/* Steps of a conversion, in their order. */
enum odlc_stage {
    ODLC_STAGE_READ,   /* the model is decoded; nothing is counted */
    ODLC_STAGE_CHECK,  /* options are applied, ops looked up; nothing is counted */
    ODLC_STAGE_LOWER,  /* nodes of the model become ops: counts nodes */
    ODLC_STAGE_PASSES, /* the graph is rewritten: counts passes */
    ODLC_STAGE_WRITE   /* counts bytes of the container's constants */
};

/* The stage that a conversion is at, and how much of the stage is done. total is 0 where nothing is counted. */
struct odlc_progress {
    enum odlc_stage stage;
    uint64_t done, total;
};

/* Called when a stage begins, and in short intervals while the stage lasts, by the thread alone that converts. A result
 * other than 0 ends the conversion with ODLC_ERR_STOPPED; nothing is left behind. */
typedef int odlc_progress_fn(void *user, const struct odlc_progress *progress);

/* What is to be converted, and how: the members stand in opendlc/convert_options.def, each with its meaning. Strings
 * and lists belong to the caller and are borrowed until odlc_convert returns.
 *
 * The struct grows at its end from version to version. struct_size says how much of the struct the caller knows: what
 * an older program lacks is set to its default, and what a newer one has beyond this library is accepted while it is 0.
 */
struct odlc_convert_options {
    size_t struct_size; /* set by odlc_convert_defaults */
#define ODLC_DECLARE(type, member, initial) type member;
#include "opendlc/convert_options.def"
};

/* Sets all of a struct, whose size the caller gives, to the defaults: 1 thread, and else 0 and NULL for "not given". */
ODLC_API void odlc_convert_defaults(struct odlc_convert_options *options, size_t struct_size);
/* The members of the struct behind struct_size, in their order, as this library knows them; *size is that of its
 * struct. Static storage; any thread may call this. */
ODLC_API const struct odlc_member *odlc_convert_members(size_t *count, size_t *size);

/* What a model is made with. */
enum odlc_framework {
    /* A model file of ONNX. */
    ODLC_ONNX = 1,
    /* A frozen graph (.pb, .pbtxt), the folder of a saved model, or the graph of a checkpoint (.meta, beside which its
     * .index and data files lie). Names of values are a node's name, or "name:K" for the node's output K; "name:0"
     * means the first, too. A name of input_dims that is no input of the graph cuts the graph: the value becomes an
     * input. */
    ODLC_TENSORFLOW = 2
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
    ODLC_UDO_FAILED,     /* there is none: the errors say why */
    ODLC_UDO_DYNAMIC,    /* input: computed when the model runs */
    ODLC_UDO_STATIC,     /* input: data of the model, stored */
    ODLC_UDO_PROMOTED,   /* input: the same, though the definition does not mark it static */
    ODLC_UDO_NOT_STATIC, /* input: the same without promote_static, which is an error */
    ODLC_UDO_DEFAULT,    /* input, param: the definition's default */
    ODLC_UDO_ABSENT,     /* input, param, output: left out, as the definition allows */
    ODLC_UDO_ATTRIBUTE,  /* param: the node's attribute */
    ODLC_UDO_SCHEMA,     /* param: the default of the framework's own operator */
    ODLC_UDO_RULE,       /* output: the definition's shape rule */
    ODLC_UDO_DECLARED,   /* output: the model's declaration */
    ODLC_UDO_NATIVE,     /* output: the shape rule of the native operator of that name */
    ODLC_UDO_LIKE_INPUT, /* output: the shape of the only input, as nothing else tells one */
    ODLC_UDO_LIBRARY     /* output: the shape that a library of inference_libraries tells */
};

/* One input, param or output of a UDO node. */
struct odlc_udo_value {
    const char *name;   /* in the definition; NULL: none */
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
    const char *tensor;    /* that is permuted */
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

/* Converts a model. *conversion is set whatever the status is (NULL only with ODLC_ERR_NOMEM), has the diagnostics, and
 * belongs to the caller, who gives it to odlc_conversion_free. The container appears under its name only when it is
 * complete and verified; after any other status than ODLC_OK what was there before is as it was.
 *
 * ODLC_ERR_USAGE: options that contradict each other or the model, a name that the model does not have, a framework or
 * a struct_size that makes no sense. ODLC_ERR_IO: a file could not be read or written, or changed meanwhile.
 * ODLC_ERR_INVALID: the model or a UDO config breaks its format's rules. ODLC_ERR_UNSUPPORTED: a node that nothing
 * converts. ODLC_ERR_LIMIT: the model asks for more than docs/limits.md allows. ODLC_ERR_STOPPED: the caller's progress
 * function asked for it. ODLC_ERR_INTERNAL: a defect of OpenDLC. */
ODLC_API odlc_status odlc_convert(enum odlc_framework framework, const struct odlc_convert_options *options,
                                  struct odlc_conversion **conversion) ODLC_MUST_USE;
/* NULL is allowed. All that the functions below handed out goes with the conversion. */
ODLC_API void odlc_conversion_free(struct odlc_conversion *conversion);

/* All errors, warnings and notes, in the order in which they were found. */
ODLC_API const struct odlc_diag *odlc_conversion_diags(const struct odlc_conversion *conversion, size_t *count);
/* Every node of the model, after a dry run and a conversion alike. The list is made by the first call, which must not
 * run beside others for the same conversion; NULL and a count of 0 when memory runs out. */
ODLC_API const struct odlc_op_report *odlc_conversion_ops(const struct odlc_conversion *conversion, size_t *count);
/* The UDO nodes that were looked at, in the order of the graph. */
ODLC_API const struct odlc_udo_report *odlc_conversion_udo_nodes(const struct odlc_conversion *conversion,
                                                                 size_t *count);
/* The files that were read: the model, UDO configs, external data, frozen values, and those of more_inputs. */
ODLC_API const char *const *odlc_conversion_inputs(const struct odlc_conversion *conversion, size_t *count);
/* Nodes of a TensorFlow model that no output needs, in the order of the file. */
ODLC_API const char *const *odlc_conversion_unconsumed(const struct odlc_conversion *conversion, size_t *count);
/* After a dry run: a UDO config to start from for the ops that are not supported, or NULL. */
ODLC_API const char *odlc_conversion_udo_stub(const struct odlc_conversion *conversion);
/* Where targets are given: a UDO config, in XML, to start from, whose definitions replace the native ops that a list of
 * theirs does not have, or of which no list speaks; NULL: there are none, or no targets. */
ODLC_API const char *odlc_conversion_target_stub(const struct odlc_conversion *conversion);
/* The graph as text after the pass that the options name, or NULL. */
ODLC_API const char *odlc_conversion_dump(const struct odlc_conversion *conversion);

/* The container of a conversion that succeeded with in_memory, `size` bytes; NULL and 0: there is none. */
ODLC_API const void *odlc_conversion_container(const struct odlc_conversion *conversion, size_t *size);

struct odlc_conversion_summary {
    uint32_t model_nodes, ops, udo_ops, permutes_inserted;
    uint64_t static_bytes; /* of constants in the container */
};
/* Numbers of a conversion that succeeded; 0 where it did not come so far. */
ODLC_API struct odlc_conversion_summary odlc_conversion_summary(const struct odlc_conversion *conversion);
/* The work of a stage, for people: "reading the model". Static storage. */
ODLC_API const char *odlc_stage_name(enum odlc_stage stage);
/* Name of pass i in the order in which they run, which dump_ir_after takes; NULL behind the last. Static storage. */
ODLC_API const char *odlc_pass_name(size_t i);

#ifdef __cplusplus
}
#endif
#endif
