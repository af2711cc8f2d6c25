/* Reading TensorFlow models into the framework graph: frozen graphs (.pb, .pbtxt), saved models (their folder, or the
 * saved_model.pb in it), and graphs with a checkpoint (.meta). */
#ifndef CONVERTERS_TENSORFLOW_TENSORFLOW_H
#define CONVERTERS_TENSORFLOW_TENSORFLOW_H

#include "converters/frontend/frontend.h"
#include "opendlc/convert.h"

/* Reads what the outputs need: those of options->out_names, of the signature, or, when neither is there, all nodes that
 * nothing reads. Names in the options are canonical. Only what is needed must be sound. */
odlc_status tensorflow_load(const struct fw_memory *memory, struct diags *diags,
                            const struct odlc_convert_options *options, fw_claims_fn *claims, void *user,
                            struct fw_model **out) MUST_USE;
/* The same for a frozen graph that is mapped already, and stays so while the model is used. */
odlc_status tensorflow_load_file(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                                 const struct odlc_convert_options *options, fw_claims_fn *claims, void *user,
                                 struct fw_model **out) MUST_USE;

/* Reads a file that holds one tensor (a serialized TensorProto). It must stay mapped while the tensor is used. */
odlc_status tensorflow_load_tensor(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                                   struct fw_tensor *out) MUST_USE;

#endif
