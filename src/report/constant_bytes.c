/* SPDX-License-Identifier: Apache-2.0 */
#include "report/constant_bytes.h"

static uint64_t bytes_of(const struct odlc_tensor *tensors, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += tensors[i].data_size;
    return bytes;
}

uint64_t constant_bytes(const odlc_container *container)
{
    size_t count;
    uint64_t bytes = 0;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &count);
    for (size_t i = 0; i < count; i++) {
        bytes += bytes_of(graphs[i].tensors, graphs[i].n_tensors);
        for (size_t k = 0; k < graphs[i].n_ops; k++)
            bytes += bytes_of(graphs[i].ops[k].params, graphs[i].ops[k].n_params);
    }
    return bytes;
}
