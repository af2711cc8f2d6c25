/* SPDX-License-Identifier: Apache-2.0 */
/* Post-training quantization: a container of floats becomes one of fixed-point tensors.
 *
 *     struct quantizer *q;
 *     TRY(quantizer_open(arena, scratch, diags, "float.dlc", &options, &q));    constants have their encodings
 *     TRY(quantizer_improve(q, backends, threads, &observes));                 … better ones, by what is observed
 *     TRY(quantizer_calibrate(q, backends, threads));                          … and stand for what they will be
 *     for each set of inputs:
 *         TRY(quantizer_give(q, input, floats, false, &place));
 *         TRY(quantizer_observe(q, &place));
 *     TRY(quantizer_finish(q));                                                all tensors have theirs
 *     TRY(quantizer_write(q, "fixed.dlc", "how", NULL, NULL, NULL));
 *
 * What gets which encoding is in docs/quantizing.md. */
#ifndef QUANTIZE_QUANTIZE_H
#define QUANTIZE_QUANTIZE_H

#include "dlc/record.h"
#include "runtime/backend.h"

enum quantize_schema {
    SCHEMA_ASYMMETRIC,        /* unsigned integers of the range */
    SCHEMA_SYMMETRIC,         /* the middle integer, or for channels the integer 0, is zero */
    SCHEMA_UNSIGNED_SYMMETRIC /* symmetric where a value is negative, else asymmetric */
};

/* Bits of options.improvements. */
enum quantize_improvement {
    IMPROVE_EQUALIZE = 1, /* channels between layers are scaled where less is lost so, before anything else */
    IMPROVE_ROUND = 2,    /* weights go to the integers that change results least */
    IMPROVE_CORRECT = 4   /* biases take back what weights do to the mean of results */
};

/* How a range is found. */
enum quantize_calibrator {
#define CALIBRATOR(id, name, function, takes_histogram) CALIBRATOR_##id,
#include "quantize/quant_calibrators.def"
};

struct quantize_options {
    uint32_t act_bits;     /* of what is computed, graph inputs, and constants that are no parameters: 8 or 16 */
    uint32_t weights_bits; /* of layers' parameters: 4, 8 or 16 */
    uint32_t bias_bits;    /* 8 or 32 */
    bool per_channel;      /* an encoding for each output channel of convolutions … */
    bool per_row;          /* … and for each output feature of FullyConnected and MatMul */
    enum quantize_schema act_schema, weights_schema;
    enum quantize_calibrator act_calibrator, weights_calibrator; /* biases have that of all values */
    double percentile;                                           /* of CALIBRATOR_PERCENTILE: above 50, 100 at most */
    uint32_t improvements;                                       /* enum quantize_improvement */
    bool ignore_encodings;                                       /* those that the container carries are not kept */
    const char *overrides;                                       /* a file of encodings; NULL: none */

    /* What stays float: nodes by their names or the types of their ops; where ranges are unknown, nodes that need them;
       graph inputs and outputs by their names, or all of them. */
    const char *const *keep_float;
    size_t n_keep_float;
    bool float_fallback;
    const char *const *keep_io;
    size_t n_keep_io;
    bool keeps_all_io;
    uint32_t float_bits;      /* of what stays float: 32 or 16; 0: 32 */
    uint32_t float_bias_bits; /* of the biases of such layers; 0: as the layer */
    bool fixed_weights;       /* layers that stay float have quantized weights all the same */
    bool float_weights;       /* parameters get encodings, and stay float */

    const struct package_set *packages; /* kernels of user-defined ops; NULL: none. They outlive the quantizer */
    const char *udo_core;               /* whose types operands of user-defined ops have: "DSP"; NULL: that */
    bool fixed_ranges;                  /* what Softmax, Sigmoid and Tanh give has the range of the function */
    bool product_bias;                  /* biases have the product of the scales of what the layer multiplies */
    bool per_row_bias;                  /* biases of FullyConnected and MatMul have an encoding per row, with per_row */
    int32_t least_step, greatest_step;  /* of symmetric weights; both 0: those of the width */
    /* Nodes, by their names or the types of their ops, that read and give 16 bits; whose weights have 16. */
    const char *const *widen;
    size_t n_widen;
    const char *const *widen_weights;
    size_t n_widen_weights;
    bool wide_products;              /* the second operand of a MatMul has 16 bits, too, where its result has these */
    bool packs_4_bits;               /* two integers of four bits are stored in a byte */
    const struct progress *progress; /* counts constants, steps and bytes, one piece of work after the other; NULL */
};

struct quantizer;

/* Reads the container, gives constants their encodings and the integers that these make of them. All memory is the
 * arena's; scratch is left as it was. `options` must outlive the quantizer. ODLC_ERR_UNSUPPORTED: a container that is
 * quantized already, of other floats than Float_32 and Float_16, or with ops that are not known; ODLC_ERR_INVALID: a
 * constant holds NaN or an infinity, or an encoding is none, or is for a tensor that there is not; and as
 * dlc_open_graph and encoding_file_read. */
odlc_status quantizer_open(struct arena *arena, struct arena *scratch, struct diags *diags, const char *path,
                           const struct quantize_options *options, struct quantizer **out) MUST_USE;
const struct graph *quantizer_graph(const struct quantizer *q);
/* The number of tensors whose ranges have to be observed. */
size_t quantizer_unknown(const struct quantizer *q);

/* What goes over all inputs before the ranges are observed: while *observes, the caller gives and observes each set of
 * inputs, and calls again. Fails as executor_create. */
odlc_status quantizer_improve(struct quantizer *q, const struct backend *const *backends, unsigned threads,
                              bool *observes) MUST_USE;
/* Prepares the float graph, computed through the constants as they will be. The backends end with NULL, and outlive the
 * quantizer. Fails as executor_create. */
odlc_status quantizer_calibrate(struct quantizer *q, const struct backend *const *backends, unsigned threads) MUST_USE;
/* The graph input of that name, or for NULL the only one; `place` is where it is named. ODLC_ERR_USAGE: there is
 * none. */
odlc_status quantizer_find_input(struct quantizer *q, const char *name, const struct odlc_diag *place,
                                 tensor_id *out) MUST_USE;
/* The values of an input for the next observation: floats, or elements of its own type. ODLC_ERR_INVALID: a value is
 * not finite, or none of the input's type; ODLC_ERR_UNSUPPORTED: strings. */
odlc_status quantizer_give(struct quantizer *q, tensor_id input, const void *values, bool is_native,
                           const struct odlc_diag *place) MUST_USE;
/* Computes the graph and widens the ranges by what is seen. ODLC_ERR_USAGE: an input was not given; ODLC_ERR_INVALID: a
 * value is not finite; the error names layer and place. */
odlc_status quantizer_observe(struct quantizer *q, const struct odlc_diag *place) MUST_USE;

/* A part of the observations of a list, which a file of statistics is of. */
struct quantizer_work {
    const char *options;  /* " a=b c=d": those that ranges depend on */
    uint64_t list, total; /* hash of the list, and the number of its inputs */
    uint64_t first, end;  /* inputs [first, end) of it were observed */
};
/* Writes what was observed. Fails as out_create, out_write and out_commit do. */
odlc_status quantizer_save(struct quantizer *q, const struct quantizer_work *work, const char *path) MUST_USE;
/* Adds what a file has to what was observed; work->options are given, the rest is the file's. The hint is for files
 * that are refused. ODLC_ERR_IO: the file cannot be read; ODLC_ERR_INVALID: it is damaged, or of another container,
 * other options or another version. */
odlc_status quantizer_load(struct quantizer *q, const char *path, const char *hint,
                           struct quantizer_work *work) MUST_USE;
/* The hash of a file's bytes that files of statistics name it by. Fails as file_map. */
odlc_status quantizer_file_hash(struct arena *scratch, struct diags *diags, const char *path, uint64_t *out) MUST_USE;
/* The number of sets of inputs that were observed, here or in what was loaded. */
size_t quantizer_observed(const struct quantizer *q);

/* Makes the graph one of fixed-point tensors. ODLC_ERR_USAGE: ranges are unknown, or improvements wanted, and nothing
 * was observed. */
odlc_status quantizer_finish(struct quantizer *q) MUST_USE;
/* Writes the graph; the command is for the metadata, and `kept`, `ready` and its user are those of dlc_write_options.
 * Fails as dlc_write. */
odlc_status quantizer_write(struct quantizer *q, const char *path, const char *command, struct file **kept,
                            odlc_status (*ready)(void *user), void *user) MUST_USE;

#endif
