/* SPDX-License-Identifier: Apache-2.0 */
/* Mutations for fuzz_dlc: containers that stay of the version that DLC_MAJOR and DLC_MINOR say. */
#include "engine.h"
#include "mutate_container.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    static const struct container_version version = {DLC_MAJOR, DLC_MINOR};
    return mutate_container(bytes, size, max_size, seed, &version);
}
