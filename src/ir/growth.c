/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/growth.h"

static uint64_t limit(uint64_t allowance, uint64_t size, uint64_t per_unit)
{
    return sat_add(allowance, sat_mul(size, per_unit));
}

uint64_t growth_memory(const struct growth *growth)
{
    return limit(MEMORY_ALLOWANCE, growth->model_bytes, MEMORY_PER_BYTE);
}

uint64_t growth_payload(const struct growth *growth)
{
    return limit(PAYLOAD_ALLOWANCE, growth->model_bytes, PAYLOAD_PER_BYTE);
}

uint64_t growth_nodes(const struct growth *growth)
{
    return limit(NODES_ALLOWANCE, growth->model_nodes, NODES_PER_NODE);
}

bool growth_fold(struct growth *growth, uint64_t bytes, uint64_t work)
{
    uint64_t folded = sat_add(growth->folded, bytes), worked = sat_add(growth->worked, work);
    bool fits = folded <= limit(FOLD_ALLOWANCE, growth->model_bytes, FOLD_PER_BYTE) &&
                worked <= limit(WORK_ALLOWANCE, growth->model_bytes, WORK_PER_BYTE);
    if (!fits && (bytes > FOLD_ALWAYS || work > FOLD_ALWAYS))
        return false;
    growth->folded = folded;
    growth->worked = worked;
    return true;
}
