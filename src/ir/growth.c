#include "ir/growth.h"

uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t multiply_saturated(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t limit(uint64_t allowance, uint64_t size, uint64_t per_unit)
{
    return add_saturated(allowance, multiply_saturated(size, per_unit));
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
    uint64_t folded = add_saturated(growth->folded, bytes), worked = add_saturated(growth->worked, work);
    bool fits = folded <= limit(FOLD_ALLOWANCE, growth->model_bytes, FOLD_PER_BYTE) &&
                worked <= limit(WORK_ALLOWANCE, growth->model_bytes, WORK_PER_BYTE);
    if (bytes > FOLD_MOST || (!fits && (bytes > FOLD_ALWAYS || work > FOLD_ALWAYS)))
        return false;
    growth->folded = folded;
    growth->worked = worked;
    return true;
}
