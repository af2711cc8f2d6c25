/* What an execution asks of the GPU backend (struct backend_scope). */
#ifndef BACKEND_GPU_GPU_CONFIG_H
#define BACKEND_GPU_GPU_CONFIG_H

#include "base/base.h"

/* Types of tensors that nobody sees, and of what is computed from them. Graph inputs and outputs keep theirs. */
enum gpu_precision {
    GPU_PRECISION_USER_PROVIDED, /* as the graph says; float32 is computed */
    GPU_PRECISION_FP32,
    GPU_PRECISION_FP16,  /* float16 is stored and, where the device can, computed */
    GPU_PRECISION_HYBRID /* float16 is stored, float32 computed */
};

struct gpu_context; /* gpu_context.h */
struct gpu_profile; /* gpu_step.h */

/* All zeros: the defaults. */
struct gpu_config {
    struct gpu_context *context; /* outlives the execution; NULL: one for this execution alone */
    const char *device;          /* of a context of its own: part of the device's or platform's name; NULL: any */
    enum gpu_precision precision;
    bool no_fusion;                    /* a step for each node */
    bool specializes;                  /* on processors, too, products are built for what follows them */
    const struct gpu_profile *profile; /* NULL: no times are taken */
};

#endif
