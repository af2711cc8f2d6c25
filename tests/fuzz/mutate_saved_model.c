/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a saved model are changed by what knows them: the graph along its schema, the checkpoint so that its
 * checksums stay right. */
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"
#include "engine.h"
#include "mend_bundle.h"
#include "tf_words.h"

enum { HEAD = 5 }; /* a byte of options, the length of the model */

/* The checkpoint moves with the end of the model. */
static size_t mutate_model(uint8_t *bytes, size_t size, size_t max_size, size_t model, unsigned seed)
{
    size_t rest = size - HEAD - model;
    uint8_t *checkpoint = malloc(rest + 1);
    if (!checkpoint)
        abort();
    memcpy(checkpoint, bytes + HEAD + model, rest);
    model = mutate_wire(bytes + HEAD, model, max_size - HEAD - rest, seed, &tf_saved_model_language);
    memcpy(bytes + HEAD + model, checkpoint, rest);
    store_le(bytes + 1, 4, model);
    free(checkpoint);
    return HEAD + model + rest;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    if (size < HEAD || seed % 32 == 0)
        return LLVMFuzzerMutate(bytes, size, max_size);
    size_t model = (size_t)min_u64(load_le(bytes + 1, 4), size - HEAD);
    if (seed % 32 == 1)
        bytes[0] = (uint8_t)(seed >> 5);
    else if (seed % 4 || max_size == HEAD + model)
        return mutate_model(bytes, size, max_size, model, seed / 32);
    size_t rest = LLVMFuzzerMutate(bytes + HEAD + model, size - HEAD - model, max_size - HEAD - model);
    if (seed / 32 % 8)
        mend_bundle(bytes + HEAD + model, rest);
    return HEAD + model + rest;
}
