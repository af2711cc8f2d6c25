/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow graphs are changed along their schema, because other bytes seldom get past the decoder. */
#include "engine.h"
#include "tf_words.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    return seed % 16 ? mutate_wire(bytes, size, max_size, seed, &tf_graph_language)
                     : LLVMFuzzerMutate(bytes, size, max_size);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *bytes, size_t size, const uint8_t *others, size_t others_size,
                                 uint8_t *out, size_t max_size, unsigned seed)
{
    return cross_wire(bytes, size, others, others_size, out, max_size, seed, &tf_graph_language);
}
