/* SPDX-License-Identifier: Apache-2.0 */
/* A worker of net-run: a container opened to be executed, and the inferences that are its share. Several workers of one
 * process have nothing in common but the settings, which nobody writes to. */
#ifndef TOOLS_RUN_WORKER_H
#define TOOLS_RUN_WORKER_H

#include <pthread.h>

#include "opendlc/gpu.h"
#include "base/diag.h"
#include "tools/array_file.h"
#include "tools/input_list.h"

/* What an option names. */
struct run_names {
    const char *const *data;
    size_t count;
    bool given;
};

/* What the command line and the input list ask for. */
struct run_settings {
    struct input_list list;
    const char *container, *output_dir;
    struct run_names registrations, packages;  /* libraries: of registrations alone, and PATH:PROVIDER[:TARGET] */
    struct run_names backends, results, nodes; /* results: by tensors, or by the nodes that compute them */
    bool native_inputs, native_outputs;
    bool npy_outputs;   /* results are .npy files */
    bool debug;         /* each tensor is written as soon as it is computed */
    bool isolates;      /* executions are in a process of their own, and one that fails does not end the work */
    bool times_kernels; /* of a device */
    bool traces;        /* the time of each step of each execution is kept */
    int64_t iterations; /* of each inference, at least */
    int64_t duration;   /* of all inferences, in seconds, at least */
    int64_t isolate_seconds;
    struct run_names compared; /* the backends that all tensors are compared with */
    bool compares_containers;  /* … or, instead of them, one container of the same tensors, */
    bool compares_files;       /* … or a folder of files of results */
    const char *compare_json;  /* where that goes, too; NULL: nowhere */
    double tolerance;          /* of the comparison, in parts of a tensor's largest value */
    unsigned threads, jobs;
    int64_t tcm_size, slices; /* of plugins; 0: the default */
    bool explains;
    odlc_gpu *gpu; /* that all runs share */
};

/* When a step of an execution ran, or a kernel of it, in nanoseconds of the monotonic clock. */
struct run_span {
    const char *kernel; /* NULL: the step */
    uint32_t step;
    size_t number; /* of the inference */
    uint64_t begin, nanoseconds;
};

struct run_compare;
struct run_expected;

struct run_worker {
    const struct run_settings *settings;
    pthread_mutex_t *reading;      /* held while the files of an inference are mapped */
    bool holds;                    /* the worker has that lock */
    struct arena *arena, *scratch; /* scratch is rewound after each file */
    struct diags diags;
    odlc_run *run;
    size_t number;               /* of the inference at work */
    int64_t iteration;           /* of it */
    uint64_t *step_times;        /* per step: nanoseconds of all executions */
    struct odlc_kernel *kernels; /* of an execution, with the nanoseconds of all executions */
    size_t n_kernels;
    VEC(struct run_span) spans;    /* of all executions, where they are kept */
    struct run_compare *compare;   /* NULL: nothing is compared with what others compute */
    struct run_expected *expected; /* NULL: … or with files */
    size_t executed, failed;       /* inferences */
    uint64_t executions;           /* of those that were executed */
    odlc_status failure;           /* the first one's that did not end the work */
};

/* Opens a container for an object, with the packages, the threads and these backends. */
odlc_status run_open(struct run_worker *w, odlc_run *run, const char *container,
                     const struct run_names *backends) MUST_USE;

/* The arenas, whose recovery points are the caller's to set, and the object. False: there is no memory. */
bool run_worker_create(const struct run_settings *settings, pthread_mutex_t *reading, struct run_worker *out);
void run_worker_free(struct run_worker *w);

odlc_status run_worker_open(struct run_worker *w) MUST_USE;
/* Chooses the results of the container that was opened. */
odlc_status run_worker_prepare(struct run_worker *w) MUST_USE;
/* The inference of that number: reads its inputs, executes, and writes its results. */
odlc_status run_worker_infer(struct run_worker *w, size_t number) MUST_USE;

/* The tensor of a run as a file's reader takes it. */
struct array_wanted run_array_wanted(const struct odlc_io *io, bool is_native);
/* Reads the inputs of an inference into the object. */
odlc_status run_inputs_load(struct run_worker *w, odlc_run *run, const struct inference *inference) MUST_USE;

/* Two names that differ only in slashes would share a file. */
odlc_status run_results_check(struct run_worker *w) MUST_USE;
/* Writes the results of the inference at work. */
odlc_status run_results_write(struct run_worker *w) MUST_USE;
/* An odlc_see_fn for --debug; user is the worker. */
odlc_status run_results_show(void *user, const struct odlc_io *io, const void *values);

#endif
