/* SPDX-License-Identifier: Apache-2.0 */
/* Mutations for fuzz_round_trip: the bytes of a graph have no structure to keep; containers are changed as fuzz_dlc's.
 */
#include "engine.h"
#include "mutate_container.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    static const struct container_version version = {4, 0};
    if (size > 2 && bytes[0] == 'P' && bytes[1] == 'K')
        return mutate_container(bytes, size, max_size, seed, &version);
    return LLVMFuzzerMutate(bytes, size, max_size);
}
