/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_source.h"

#include <string.h>

#include "base/hash.h"

const struct gpu_source *gpu_source_find(const char *name)
{
    const struct gpu_source *source = gpu_sources;
    while (strcmp(source->name, name) != 0)
        source++;
    return source;
}

uint64_t gpu_sources_hash(void)
{
    static const uint64_t key[2] = {0x6f70656e646c6333, 0x6770756b65726e33};
    uint64_t hash = 0;
    for (const struct gpu_source *s = gpu_sources; s->name; s++) {
        const uint64_t parts[] = {hash, hash_bytes(key, s->name, strlen(s->name)),
                                  hash_bytes(key, s->text, strlen(s->text))};
        hash = hash_bytes(key, parts, sizeof(parts));
    }
    return hash;
}
