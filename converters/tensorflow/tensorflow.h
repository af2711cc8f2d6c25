/* SPDX-License-Identifier: Apache-2.0 */
/* Reading TensorFlow models into the framework graph: frozen graphs (.pb, .pbtxt), saved models (their folder, or the
 * saved_model.pb in it), and graphs with a checkpoint (.meta). */
#ifndef CONVERTERS_TENSORFLOW_TENSORFLOW_H
#define CONVERTERS_TENSORFLOW_TENSORFLOW_H

#include "converters/frontend/frontend.h"

/* `load` of struct frontend: what the outputs need, which are those of options->out_names, of the signature, or, when
 * neither is there, all nodes that nothing reads. Only what is needed must be sound. */
odlc_status tensorflow_load(const struct fw_memory *memory, struct diags *diags, const struct fw_load_options *options,
                            struct fw_model **out) MUST_USE;
/* The same for a frozen graph that is mapped already and stays so while the model is used. */
odlc_status tensorflow_load_file(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                                 const struct fw_load_options *options, struct fw_model **out) MUST_USE;

/* `load_tensor` of struct frontend: a file with a serialized TensorProto. */
odlc_status tensorflow_load_tensor(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                                   struct fw_tensor *out) MUST_USE;

#endif
