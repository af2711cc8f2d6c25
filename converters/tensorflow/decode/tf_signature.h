/* SPDX-License-Identifier: Apache-2.0 */
/* A signature of a saved model: which values of its graph go in and come out. */
#ifndef CONVERTERS_TENSORFLOW_DECODE_TF_SIGNATURE_H
#define CONVERTERS_TENSORFLOW_DECODE_TF_SIGNATURE_H

#include "converters/tensorflow/decode/tf_model.h"

/* An input or output of a signature. */
struct tf_end {
    const char *key;       /* in the signature */
    struct fw_value value; /* name canonical; dtype and shape as far as the signature says them */
};

/* Both sorted by key. */
struct tf_signature {
    VEC(struct tf_end) inputs;
    VEC(struct tf_end) outputs;
};

/* Reads a SignatureDef; a field of size 0 has no inputs and no outputs. ODLC_ERR_UNSUPPORTED for a shape of too many
 * dimensions. The lists are in the model's scratch arena. */
odlc_status tf_decode_signature(struct tf_model *m, const struct wire_field *signature,
                                struct tf_signature *out) MUST_USE;

#endif
