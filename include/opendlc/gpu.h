/* SPDX-License-Identifier: Apache-2.0 */
/* What runs on an OpenCL device share, and how the device is used (backend gpu, docs/gpu.md).
 *
 *     odlc_gpu *gpu = odlc_gpu_new();
 *     struct odlc_gpu_config config = {.struct_size = sizeof config, .kernel_repository = "kernels"};
 *     odlc_gpu_configure(gpu, &config);
 *     odlc_run_set_gpu(first, gpu);       (odlc_run_set_backends names gpu)
 *     odlc_run_set_gpu(second, gpu);
 *     ...
 *     odlc_run_free(first), odlc_run_free(second);
 *     odlc_gpu_close(gpu);
 *     odlc_gpu_free(gpu);
 *
 * A context has one device, the kernels that were built for it, and the weights that lie in its memory: each of them
 * once, however many runs use it. The device is opened by the first run that is prepared. Runs may use a context from
 * several threads at the same time; the functions here are for one thread at a time. Each that can fail returns
 * ODLC_ERR_NOMEM when memory runs out. */
#ifndef OPENDLC_GPU_H
#define OPENDLC_GPU_H

#include "opendlc/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct odlc_gpu odlc_gpu;

/* Types of reals in tensors that nobody sees. Graph inputs and outputs keep theirs. */
enum odlc_gpu_precision {
    ODLC_GPU_USER_PROVIDED, /* as the container says */
    ODLC_GPU_FP32,
    ODLC_GPU_FP16,  /* stored, and computed where the device can (cl_khr_fp16); else as ODLC_GPU_HYBRID, with the note
                       "gpu-precision", once for a context */
    ODLC_GPU_HYBRID /* stored as float16, computed as float32 */
};

/* How hard the device works, where its driver lets be asked (cl_khr_throttle_hints). */
enum odlc_gpu_performance { ODLC_GPU_HIGH, ODLC_GPU_NORMAL, ODLC_GPU_LOW };

/* Whose kernels come first on a device that several use, where its driver lets be asked (cl_khr_priority_hints). Where
 * it does not, another one than ODLC_GPU_PRIORITY_NORMAL is a note ("gpu-priority"), once for a context. */
enum odlc_gpu_priority { ODLC_GPU_PRIORITY_NORMAL, ODLC_GPU_PRIORITY_LOW, ODLC_GPU_PRIORITY_HIGH };

/* All zeros but the size: the defaults. */
struct odlc_gpu_config {
    size_t struct_size; /* sizeof(struct odlc_gpu_config) of the caller */
    /* Of the context. */
    const char *device;            /* a part of the device's or its platform's name; NULL: a GPU, or else any device */
    const char *kernel_repository; /* a folder where built kernels are kept for the next process; NULL: nowhere */
    enum odlc_gpu_performance performance;
    /* Of the graphs with these names; n_graph_names 0: of all. */
    const char *const *graph_names;
    size_t n_graph_names;
    enum odlc_gpu_precision precision;
    int disable_memory_optimizations; /* each tensor has memory of its own; results are the same bits */
    int disable_node_optimizations;   /* a kernel for each node: none is fused into another's */
    int disable_queue_recording;      /* kernels are enqueued one by one, and get all arguments in each execution */
    /* Of the context. */
    const char *context_cache; /* a file with what graphs are prepared to: taken from there, or written there by
                                  odlc_gpu_close where the file is absent or damaged; NULL: none */
    int rebuild_context_cache; /* the file counts as absent */
    uint32_t given;            /* enum odlc_gpu_given: what comes before the options in context_cache though it is 0 */
    const char *performance_cache; /* a folder with what tuning found, which is used, and kept there; NULL: nowhere */
    int tuning;                    /* what is not known by a cache is measured while graphs are prepared */
    int invalidate_performance_cache; /* what is in the folder for the device counts as absent, and is replaced */
    uint32_t tuning_budget;           /* milliseconds that measuring may take in all; 0: 60000 */
    enum odlc_gpu_priority priority;
};

/* Performance, precision and the three switches come from the context cache that is used, unless they are given: not 0,
 * or named here. */
enum odlc_gpu_given {
    ODLC_GPU_GIVEN_PERFORMANCE = 1,
    ODLC_GPU_GIVEN_PRECISION = 2,
    ODLC_GPU_GIVEN_MEMORY_OPTIMIZATIONS = 4,
    ODLC_GPU_GIVEN_NODE_OPTIMIZATIONS = 8,
    ODLC_GPU_GIVEN_QUEUE_RECORDING = 16
};

/* What a context has done so far. */
struct odlc_gpu_counts {
    uint64_t builds;      /* programs built from source */
    uint64_t loads;       /* … taken from the repository or the context cache */
    uint64_t uploads;     /* weights brought to the device */
    uint64_t conversions; /* … that were converted or packed before */
    uint64_t measured;    /* choices that were made by measuring */
    uint64_t skipped;     /* … that were not, because the time for it was over */
    uint64_t tuning_nanoseconds;
    uint64_t copies;  /* tensors that executions copied between the host's memory and the device's, one by one */
    uint64_t replays; /* recorded sequences of kernels that executions enqueued (cl_khr_command_buffer) */
};

/* What was chosen for a kernel in a case (options, sizes, arguments), because it was known or measured to be the
 * fastest. */
struct odlc_gpu_choice {
    const char *kernel, *in;                 /* "eltwise.apply"; the case */
    const char *choice, *usual;              /* the fastest, and what is taken without tuning */
    double microseconds, usual_microseconds; /* on the device */
    uint64_t uses;                           /* steps of runs that are prepared with it */
    int measured;                            /* by this context; else a cache knew it */
};

/* A context with the defaults, which belongs to the caller; NULL when memory runs out. In a build without the backend,
 * too: there odlc_run_set_backends has no gpu. */
ODLC_API odlc_gpu *odlc_gpu_new(void);
/* After all runs that use it. NULL is allowed. */
ODLC_API void odlc_gpu_free(odlc_gpu *gpu);

/* Replaces the configuration, whose strings are copied. ODLC_ERR_USAGE: no size, members that this library does not
 * know and that are not zero, or a value that is none of its enumeration; or a run was prepared already. */
ODLC_API odlc_status odlc_gpu_configure(odlc_gpu *gpu, const struct odlc_gpu_config *config) ODLC_MUST_USE;
/* The same from a JSON file of docs/gpu.md. ODLC_ERR_IO: it cannot be read. ODLC_ERR_INVALID: it is no JSON, a value
 * has a wrong type, or an option of graphs stands there without graph_names; diagnostics have the places. Unknown keys
 * are warnings. */
ODLC_API odlc_status odlc_gpu_configure_from_file(odlc_gpu *gpu, const char *path) ODLC_MUST_USE;
/* The configuration as it is now. Strings are the context's. */
ODLC_API struct odlc_gpu_config odlc_gpu_configuration(const odlc_gpu *gpu);
/* ODLC_ERR_USAGE: graph_names has one that is none of these. */
ODLC_API odlc_status odlc_gpu_check_graphs(odlc_gpu *gpu, const char *const *graphs, size_t count) ODLC_MUST_USE;

/* Writes what was built to the kernel repository, what was prepared to the context cache, and what was tuned to the
 * performance cache. Where that cannot be done, diagnostics have a warning, and the status
 * is ODLC_OK. May be called again; odlc_gpu_free writes nothing. */
ODLC_API odlc_status odlc_gpu_close(odlc_gpu *gpu) ODLC_MUST_USE;

/* All zeros before a run was prepared. */
ODLC_API struct odlc_gpu_counts odlc_gpu_count(odlc_gpu *gpu);

/* The choices that steps of runs use, newest first; where they are 0, the pointer may be NULL. Valid until the next
 * call. NULL also when memory runs out. */
ODLC_API const struct odlc_gpu_choice *odlc_gpu_choices(odlc_gpu *gpu, size_t *count);

/* All diagnostics so far, oldest first. Valid until the next call that can fail. */
ODLC_API const struct odlc_diag *odlc_gpu_diags(const odlc_gpu *gpu, size_t *count);

/* The run's steps of backend gpu use the context, which outlives the run, and its configuration. Without a call they
 * have a context of their own and the defaults; a run in a process of its own (odlc_run_isolate) has a context of its
 * own with that configuration, and drivers may find no device there if this process has opened one before. Called
 * before results are chosen, else ODLC_ERR_USAGE. What is wrong with the device is an error of the choice of results:
 * ODLC_ERR_UNSUPPORTED; so is a context cache of another container, device, driver or version: ODLC_ERR_INVALID. Code
 * in a context cache is executed: it is to be as trusted as a program. */
ODLC_API odlc_status odlc_run_set_gpu(odlc_run *run, odlc_gpu *gpu) ODLC_MUST_USE;

/* ---- OpenCL buffers of the caller's as inputs and results ----
 *
 *     struct odlc_gpu_opencl cl;
 *     odlc_gpu_open(gpu, &cl);
 *     cl_mem buffer = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, size, NULL, &error);
 *     struct odlc_gpu_descriptor d = {.struct_size = sizeof d, .type = ODLC_GPU_MEM_OPENCL, .buffer = buffer,
 *                                     .dtype = "Float_32", .rank = 2, .dims = dims};
 *     odlc_gpu_register(gpu, &d, 1, &memory);
 *     odlc_run_set_memory(run, "scores", memory);     (after results are chosen)
 *     odlc_run_execute(run);
 *     odlc_run_set_memory(run, "scores", NULL);       (or odlc_run_free)
 *     odlc_gpu_deregister(gpu, &memory, 1);
 *     clReleaseMemObject(buffer);
 *
 * An execution then reads or writes the buffer where it would copy between the host's memory and the device's. */

/* As cl_platform_id, cl_device_id and cl_context. */
struct odlc_gpu_opencl {
    void *platform, *device, *context;
};

/* Kinds of memory. */
enum odlc_gpu_memory_type {
    ODLC_GPU_MEM_NONE,  /* none: not to be registered */
    ODLC_GPU_MEM_OPENCL /* a cl_mem that clCreateBuffer or clCreateSubBuffer gave */
};

/* A buffer, and the tensor's elements in it: dense, the last dimension fastest, of the tensor's own type, whatever the
 * precision mode. Bytes of the buffer behind them are left alone. */
struct odlc_gpu_descriptor {
    size_t struct_size; /* sizeof(struct odlc_gpu_descriptor) of the caller; of an array, of each */
    enum odlc_gpu_memory_type type;
    void *buffer;      /* a cl_mem */
    const char *dtype; /* as in struct odlc_io */
    uint32_t rank;
    const int64_t *dims;
};

/* A registered buffer; the context's, until it is deregistered. */
typedef struct odlc_gpu_memory odlc_gpu_memory;

/* Opens the device, unless it is open, and gives the OpenCL context that buffers must be of; it is the object's, as
 * long as that lives. Afterwards the object cannot be configured any more. ODLC_ERR_UNSUPPORTED: there is no device, or
 * this build has no backend gpu. */
ODLC_API odlc_status odlc_gpu_open(odlc_gpu *gpu, struct odlc_gpu_opencl *out) ODLC_MUST_USE;

/* Registers buffers, one for each tensor that they will be, all or none: memories (count long, the caller's) are all
 * NULL unless the status is ODLC_OK. Opens the device as odlc_gpu_open. A buffer stays the caller's, and is not
 * released before it is deregistered. The diagnostic's code says what is wrong: ODLC_ERR_USAGE "gpu-memory-argument":
 * an array is NULL, nothing is to be registered, a descriptor has no size, members that this library does not know, no
 * buffer, no dimensions, or a type of elements that there is not; "gpu-memory-registered": the buffer is registered
 * already; "gpu-memory-context": it is of another OpenCL context; "gpu-memory-mapped": the host has it mapped.
 * ODLC_ERR_UNSUPPORTED "gpu-memory-type": it is no buffer, but an image or of another kind of memory. ODLC_ERR_INVALID
 * "gpu-memory-shape": a dimension is not 1 or more, or the elements need more bytes than it has. */
ODLC_API odlc_status odlc_gpu_register(odlc_gpu *gpu, const struct odlc_gpu_descriptor *descriptors, size_t count,
                                       odlc_gpu_memory **memories) ODLC_MUST_USE;
/* Ends registrations, all or none. ODLC_ERR_USAGE: one is not registered ("gpu-memory-argument"), or a run has it
 * ("gpu-memory-used"). odlc_gpu_free ends those that are left. */
ODLC_API odlc_status odlc_gpu_deregister(odlc_gpu *gpu, odlc_gpu_memory *const *memories, size_t count) ODLC_MUST_USE;

/* From the next execution on, an input that is needed, or a result, of the run lies in the memory; NULL: where it lay
 * before any call, and an input must be set again. After odlc_run_set_gpu with the memory's object and a choice of
 * results that are kept; until the next choice. What others enqueued that writes an input's buffer must be done when
 * odlc_run_execute is called, which returns when a result's buffer is written. Results are then not to be had by
 * odlc_run_get_floats (ODLC_ERR_USAGE) and odlc_run_native (NULL). A buffer may be a result of one run and an input of
 * another one. Nothing is copied unless a step of another backend reads the tensor as well. ODLC_ERR_USAGE: no such
 * tensor ("run-unknown-tensor"), memory of another object ("gpu-memory-context"), of another tensor of this run
 * ("gpu-memory-used"), or, made as CL_MEM_WRITE_ONLY or CL_MEM_READ_ONLY, memory that kernels may not use so
 * ("gpu-memory-flags"). ODLC_ERR_INVALID "gpu-memory-shape": the tensor has another type or other dimensions.
 * ODLC_ERR_UNSUPPORTED "gpu-memory-place": no step of backend gpu has the tensor, or the run is isolated. */
ODLC_API odlc_status odlc_run_set_memory(odlc_run *run, const char *tensor, odlc_gpu_memory *memory) ODLC_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
