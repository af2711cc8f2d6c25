/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor as kernels, predicates and cost functions get it, and the handle of a call. */
#ifndef PLUGIN_TENSOR_H
#define PLUGIN_TENSOR_H

#include "plugin/host_calls.h"

struct QHPI_Tensor {
    const struct host_calls *calls;
    QHPI_OutputDef def;
    uint32_t layout;   /* QHPI_LAYOUT_FLAT_4, or one of the blocked ones */
    bool is_indirect;  /* its blocks are where the table says */
    void *data;        /* NULL: there is none yet */
    void **blocks;     /* of a blocked layout */
    uint32_t n_blocks; /* 0: the layout is flat */
    QHPI_Shape padded; /* whole blocks */
};

struct QHPI_RuntimeHandle {
    const struct host_calls *calls;
    uint32_t n_slices, slice;
};

#endif
