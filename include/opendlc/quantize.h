/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizing a container of floats: it becomes one of fixed-point tensors, by ranges that are observed on inputs.
 *
 *     struct odlc_quantize_options options;
 *     odlc_quantizer *q = odlc_quantizer_new();
 *     odlc_quantize_defaults(&options, sizeof options);
 *     odlc_quantizer_open(q, "float.dlc", &options);
 *     int observes;
 *     while (odlc_quantizer_next(q, &observes) == ODLC_OK && observes)
 *         for each set of inputs:
 *             odlc_quantizer_set_floats(q, 0, image, count);
 *             odlc_quantizer_observe(q);
 *     odlc_quantizer_write(q, "fixed.dlc", "how");
 *     odlc_quantizer_free(q);
 *
 * An object quantizes one container. It may be used by one thread at a time, several objects by as many threads; the
 * container's file must not change meanwhile. Everything that is handed out belongs to the object. Every function here
 * that can fail returns ODLC_ERR_NOMEM when memory runs out, and leaves the object fit for odlc_quantizer_free only
 * then, ODLC_ERR_USAGE when it is called out of order, and ODLC_ERR_STOPPED when the progress function asked for it;
 * after that, too, the object is fit for odlc_quantizer_free only. */
#ifndef OPENDLC_QUANTIZE_H
#define OPENDLC_QUANTIZE_H

#include "opendlc/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct odlc_quantizer odlc_quantizer;

/* How a container is quantized: the members stand in opendlc/quantize_options.def, each with its meaning. The struct
 * grows at its end, as struct odlc_convert_options does. */
struct odlc_quantize_options {
    size_t struct_size; /* set by odlc_quantize_defaults */
#define ODLC_DECLARE(type, member, initial) type member;
#include "opendlc/quantize_options.def"
};

/* Sets all of a struct, whose size the caller gives, to the defaults. */
ODLC_API void odlc_quantize_defaults(struct odlc_quantize_options *options, size_t struct_size);
/* As odlc_convert_members. */
ODLC_API const struct odlc_member *odlc_quantize_members(size_t *count, size_t *size);

/* An object without a container, which belongs to the caller; NULL when memory runs out. */
ODLC_API odlc_quantizer *odlc_quantizer_new(void);
/* NULL is allowed. */
ODLC_API void odlc_quantizer_free(odlc_quantizer *quantizer);

/* Who is told how far the functions below are: total counts constants, steps of executions, or bytes that are written,
 * whatever the work is made of; may stop them. fn NULL: nobody. */
ODLC_API void odlc_quantizer_set_progress(odlc_quantizer *quantizer, odlc_work_fn *fn, void *user);

/* Opens a container of one graph, and gives its constants their encodings; once per object. Options are copied, but
 * for the bytes of buffers, which must last as long as the object; NULL: the defaults. ODLC_ERR_USAGE: options that
 * make no sense, or name what the graph does not have. ODLC_ERR_UNSUPPORTED: a container that is quantized already, of
 * other floats than Float_32 and Float_16, of version 3, of another number of graphs than one, or with ops that are
 * not known. ODLC_ERR_INVALID: the file is no container, or a damaged one; a constant holds NaN, or a parameter an
 * infinity; an encoding that is given is none, or is for a tensor that there is not. ODLC_ERR_IO: a file cannot be
 * read. ODLC_ERR_LIMIT: larger than docs/limits.md allows. */
ODLC_API odlc_status odlc_quantizer_open(odlc_quantizer *quantizer, const char *path,
                                         const struct odlc_quantize_options *options) ODLC_MUST_USE;
/* The same for a container in memory, whose bytes must stay as they are until odlc_quantizer_free. */
ODLC_API odlc_status odlc_quantizer_open_bytes(odlc_quantizer *quantizer, const struct odlc_bytes *bytes,
                                               const struct odlc_quantize_options *options) ODLC_MUST_USE;

/* The graph's inputs, in the container's order, as the observation takes them: those of Float_16 as Float_32. */
ODLC_API const struct odlc_io *odlc_quantizer_inputs(const odlc_quantizer *quantizer, size_t *count);

/* Begins what comes next. *observes: whether that is a pass over inputs, of which each set is given and observed before
 * the next call; 0: all is known, and the graph is quantized. One pass finds ranges; round_weights and correct_biases
 * take several before that, over the same inputs. Where nothing is unknown (all encodings are given, or float_fallback)
 * there is none. ODLC_ERR_USAGE: a pass was not observed, and ranges are unknown. ODLC_ERR_UNSUPPORTED: no backend
 * executes a node. */
ODLC_API odlc_status odlc_quantizer_next(odlc_quantizer *quantizer, int *observes) ODLC_MUST_USE;

/* Sets an input for the next observation, from floats or from elements of its own type, which are copied.
 * ODLC_ERR_USAGE: another count or size than the input's. ODLC_ERR_INVALID: a value that is not finite, or none of the
 * input's type. ODLC_ERR_UNSUPPORTED: an input of strings. */
ODLC_API odlc_status odlc_quantizer_set_floats(odlc_quantizer *quantizer, size_t input, const float *values,
                                               size_t count) ODLC_MUST_USE;
ODLC_API odlc_status odlc_quantizer_set_native(odlc_quantizer *quantizer, size_t input, const void *bytes,
                                               size_t size) ODLC_MUST_USE;
/* Executes the graph on the inputs that were set, and takes in what is seen; the inputs are forgotten. ODLC_ERR_USAGE:
 * an input was not set. ODLC_ERR_INVALID: a value that is not finite. */
ODLC_API odlc_status odlc_quantizer_observe(odlc_quantizer *quantizer) ODLC_MUST_USE;

/* Writes the container, after odlc_quantizer_next has said that all is known. `command` is kept in its metadata as the
 * quantizer's; NULL: none. The file appears when it is complete and verified. ODLC_ERR_IO: it cannot be written. */
ODLC_API odlc_status odlc_quantizer_write(odlc_quantizer *quantizer, const char *path,
                                          const char *command) ODLC_MUST_USE;
/* The same, to memory: *bytes belong to the object. */
ODLC_API odlc_status odlc_quantizer_write_bytes(odlc_quantizer *quantizer, const char *command, const void **bytes,
                                                size_t *size) ODLC_MUST_USE;

/* All diagnostics so far, oldest first. Valid until the next call that can fail. */
ODLC_API const struct odlc_diag *odlc_quantizer_diags(const odlc_quantizer *quantizer, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
