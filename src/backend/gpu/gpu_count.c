/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a context. */
#include "backend/gpu/gpu_context.h"

void gpu_context_count(struct gpu_context *context, uint64_t *number)
{
    (void)pthread_mutex_lock(&context->lock);
    ++*number;
    (void)pthread_mutex_unlock(&context->lock);
}

uint64_t gpu_context_withdrawn(struct gpu_context *context)
{
    (void)pthread_mutex_lock(&context->lock);
    const uint64_t withdrawn = context->withdrawn;
    (void)pthread_mutex_unlock(&context->lock);
    return withdrawn;
}
