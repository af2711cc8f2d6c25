/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that make sense in TensorFlow's messages, for mutate_wire. */
#ifndef FUZZ_TF_WORDS_H
#define FUZZ_TF_WORDS_H

#include "mutate_wire.h"

extern const struct wire_language tf_graph_language, tf_saved_model_language;

#endif
