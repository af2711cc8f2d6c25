/* SPDX-License-Identifier: Apache-2.0 */
/* Executing a container.
 *
 *     odlc_run *r = odlc_run_new();
 *     odlc_run_open(r, "model.dlc");
 *     odlc_run_want_outputs(r);
 *     odlc_run_set_floats(r, 0, image, count);
 *     odlc_run_execute(r);
 *     odlc_run_get_floats(r, 0, scores, n_scores);
 *     odlc_run_free(r);
 *
 * Only the nodes that the wanted tensors depend on are executed, so the part of a graph before a user-defined op
 * without an implementation can be run.
 *
 * Everything that is handed out belongs to the object. An object may be used by one thread at a time, several objects
 * by as many threads; the container's file must not change meanwhile. Every function here that can fail returns
 * ODLC_ERR_NOMEM when memory runs out, and leaves the object fit for odlc_run_free only then, and ODLC_ERR_USAGE when
 * it is called out of order. */
#ifndef OPENDLC_RUN_H
#define OPENDLC_RUN_H

#include "opendlc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct odlc_run odlc_run;

/* A tensor that goes in or comes out. */
struct odlc_io {
    const char *name;
    const char *dtype; /* "Float_32", as dlc-info prints it */
    uint32_t rank;
    const int64_t *dims;
    uint64_t count;        /* elements: the product of dims */
    uint64_t native_size;  /* bytes in the container's own type; 0 for strings */
    const char *node, *op; /* that compute the tensor; NULL for the graph's inputs */
    int needed;            /* inputs: the wanted tensors depend on it */
};

/* A step of an execution: a group of nodes that one backend computes together, or a copy between kinds of memory. */
struct odlc_step {
    const char *node, *op; /* of the group's last node, which gives the result; a copied tensor, and "Copy" */
    const char *backend;
    size_t n_nodes;       /* in the group; 0: a copy */
    uint64_t begin;       /* of the last execution: nanoseconds of CLOCK_MONOTONIC */
    uint64_t nanoseconds; /* … and how long the step took */
};

/* A kernel that a step ran on a device (backend gpu). */
struct odlc_kernel {
    size_t step; /* index into odlc_run_steps */
    const char *name;
    uint64_t begin;       /* nanoseconds of CLOCK_MONOTONIC, as near as the device's clock tells */
    uint64_t nanoseconds; /* by the device's clock */
};

/* Why a backend left a node to the next one. */
struct odlc_refusal {
    const char *node, *op, *backend, *reason;
};

/* The forms of an explanation. */
enum odlc_explanation {
    ODLC_EXPLAIN_TEXT, /* lines for people */
    ODLC_EXPLAIN_JSON  /* an object: a step's "plugin" of docs/net-run-explain.schema.json */
};

/* How the elements of a tensor are handed out. */
enum odlc_form {
    ODLC_FLOATS, /* float; fixed-point ones are dequantized */
    ODLC_NATIVE  /* the tensor's own type, little-endian */
};

/* Sees a tensor during an execution. values holds tensor->count elements of the form that was asked for, and is valid
 * during the call, in which the run must not be used. Anything but ODLC_OK ends the execution with that status. */
typedef odlc_status odlc_see_fn(void *user, const struct odlc_io *tensor, const void *values);

/* An object without a container, which belongs to the caller; NULL when memory runs out. */
ODLC_API odlc_run *odlc_run_new(void);
/* NULL is allowed. */
ODLC_API void odlc_run_free(odlc_run *run);

/* Opens a container of one graph; once per object. The whole file is compared with its CRCs. ODLC_ERR_IO: the file
 * cannot be read. ODLC_ERR_INVALID: the file is no container, or a damaged one. ODLC_ERR_UNSUPPORTED: a container of
 * version 3, of another number of graphs than one, or with an op that cannot be represented. ODLC_ERR_LIMIT: larger
 * than docs/limits.md allows. */
ODLC_API odlc_status odlc_run_open(odlc_run *run, const char *path) ODLC_MUST_USE;

/* The same for a container in memory, as odlc_container_open_bytes. */
ODLC_API odlc_status odlc_run_open_bytes(odlc_run *run, const struct odlc_bytes *bytes) ODLC_MUST_USE;

/* Who is told how far odlc_run_open, in bytes of the file, and a choice of results (which prepares steps) and an
 * execution are, in steps; may stop them: ODLC_ERR_STOPPED. fn NULL: nobody. In a process of its own (odlc_run_isolate)
 * steps are not counted: total is 0. The function and its user must last as long as it is set. */
ODLC_API void odlc_run_set_progress(odlc_run *run, odlc_work_fn *fn, void *user);

/* The name of the container's graph; NULL before odlc_run_open. */
ODLC_API const char *odlc_run_graph_name(const odlc_run *run);

/* The backends of this build, in no order; NULL at the end. Static storage. Any thread may call this. */
ODLC_API const char *const *odlc_backend_names(void);
/* Chooses who executes: each node is offered to the named backends in this order. Without a call: cpu where this build
 * has it, reference, package, plugin. The names need not outlive the call. Called before a choice of results.
 * ODLC_ERR_USAGE for a name that this build does not have, for a backend that is named twice, and when nothing is
 * named. A backend whose device is not there (gpu) makes the choice of results ODLC_ERR_UNSUPPORTED. */
ODLC_API odlc_status odlc_run_set_backends(odlc_run *run, const char *const *names, size_t count) ODLC_MUST_USE;
/* Threads that backends may use for one execution: 1 without a call; ODLC_ERR_USAGE for 0. The reference uses one. They
 * are libgomp's, which wait for each other busily: where other work runs, too, that makes executions many times slower.
 * A program that asks for more than one sets GOMP_SPINCOUNT=1000 (or OMP_WAIT_POLICY=passive) in the environment that
 * it is started in; the library reads it when it is loaded. */
ODLC_API odlc_status odlc_run_set_threads(odlc_run *run, unsigned threads) ODLC_MUST_USE;

/* How ops of plugin packages are prepared and executed: bytes of the fast memory of the simulated target, into which
 * tiles are made to fit (0, and without a call: 8 MiB), and slices into which kernels that allow it divide their work
 * (0, and without a call: 4). As many of them at the same time as there are threads. Called before a choice of results.
 */
ODLC_API odlc_status odlc_run_set_plugins(odlc_run *run, uint64_t tcm_size, unsigned slices) ODLC_MUST_USE;
/* Backends say what they decide: odlc_run_explanation. Called before a choice of results. */
ODLC_API odlc_status odlc_run_set_explained(odlc_run *run) ODLC_MUST_USE;

/* Executes in a process of its own, which this one forks when results are chosen: code of packages that crashes, calls
 * exit, or does not return within `seconds` (0: however long it takes) is an error of odlc_run_want… or
 * odlc_run_execute (ODLC_ERR_INVALID, code "isolated-process") that names the node and the package; the next execution
 * begins with a new process. Packages that are added to the object are loaded there, when results are chosen, and then
 * have the errors of odlc_run_add_op_package. The process has no thread but the caller's. Called before packages are
 * added and results chosen, else ODLC_ERR_USAGE. */
ODLC_API odlc_status odlc_run_isolate(odlc_run *run, unsigned seconds) ODLC_MUST_USE;

/* Makes the ops of a package available to this object: path and provider as in odlc_add_op_package (opendlc/package.h),
 * which says the statuses. The package is given back with the object. Called before a choice of results; packages of
 * the object are asked in the order of the calls, those of the process after them. */
ODLC_API odlc_status odlc_run_add_op_package(odlc_run *run, const char *path, const char *provider) ODLC_MUST_USE;

/* All diagnostics so far, oldest first: those of a failed call are at the end. Valid until the next call that can fail.
 */
ODLC_API const struct odlc_diag *odlc_run_diags(const odlc_run *run, size_t *count);

/* Tensors of TensorFlow models are called "node:0". Where a call names a tensor, "node" means the same, unless the
 * graph has a tensor of that very name; and "node:0" means "node" where that is all there is. */
/* The next five choose the results of odlc_run_execute, and with that the inputs that are needed; called after
 * odlc_run_open and before inputs are set. A later choice replaces an earlier one and forgets the inputs that were set.
 * ODLC_ERR_USAGE: a name that the graph does not have. ODLC_ERR_UNSUPPORTED: no backend executes a node that is needed.
 * ODLC_ERR_INVALID: types that contradict an op. ODLC_ERR_LIMIT: tensors that do not fit in the address space, or in
 * the memory of a backend. */
/* The graph's outputs. */
ODLC_API odlc_status odlc_run_want_outputs(odlc_run *run) ODLC_MUST_USE;
/* Tensors by name, in this order. */
ODLC_API odlc_status odlc_run_want(odlc_run *run, const char *const *names, size_t count) ODLC_MUST_USE;
/* All tensors that nodes compute, in execution order. */
ODLC_API odlc_status odlc_run_want_all(odlc_run *run) ODLC_MUST_USE;
/* All tensors that nodes compute, in execution order, each shown as soon as it is computed; none is kept, so memory is
 * that of a plain execution. odlc_run_results lists them, and odlc_run_get_floats and odlc_run_native have none of
 * them. During odlc_run_execute the form ODLC_FLOATS of a tensor of strings is ODLC_ERR_UNSUPPORTED. */
ODLC_API odlc_status odlc_run_want_each(odlc_run *run, enum odlc_form form, odlc_see_fn *see, void *user) ODLC_MUST_USE;
/* The outputs of the named nodes. */
ODLC_API odlc_status odlc_run_want_nodes(odlc_run *run, const char *const *names, size_t count) ODLC_MUST_USE;

/* The graph's inputs, in the container's order. */
ODLC_API const struct odlc_io *odlc_run_inputs(const odlc_run *run, size_t *count);
/* The index of the input of that name; ODLC_ERR_USAGE with a diagnostic when there is none. */
ODLC_API odlc_status odlc_run_find_input(odlc_run *run, const char *name, size_t *index) ODLC_MUST_USE;

/* Sets an input from floats, which are copied: quantized for fixed-point inputs (saturating, as quantization does),
 * rounded for narrower floats. ODLC_ERR_USAGE: another count than the input's. ODLC_ERR_INVALID: a value that an
 * integer or boolean input cannot hold exactly. ODLC_ERR_UNSUPPORTED: an input of strings. */
ODLC_API odlc_status odlc_run_set_floats(odlc_run *run, size_t input, const float *values, size_t count) ODLC_MUST_USE;
/* Sets an input from elements of its own type, little-endian, which are copied. ODLC_ERR_USAGE: another size than the
 * input's. */
ODLC_API odlc_status odlc_run_set_native(odlc_run *run, size_t input, const void *bytes, size_t size) ODLC_MUST_USE;

/* Computes the results. Inputs keep their values for the next execution. ODLC_ERR_USAGE: a needed input is not set.
 * Other statuses are those of kernels: ODLC_ERR_INVALID for values that an op cannot take. */
ODLC_API odlc_status odlc_run_execute(odlc_run *run) ODLC_MUST_USE;

/* The chosen results, in the order of the choice; empty before there is one. Valid until the next choice. */
ODLC_API const struct odlc_io *odlc_run_results(const odlc_run *run, size_t *count);
/* The index of the result of that name; ODLC_ERR_USAGE with a diagnostic when it was not chosen. */
ODLC_API odlc_status odlc_run_find_result(odlc_run *run, const char *name, size_t *index) ODLC_MUST_USE;
/* After odlc_run_execute, the result of an index: copied as floats (fixed-point ones are dequantized), or its elements
 * as they are, which stay until the next execution or choice. ODLC_ERR_USAGE, and NULL: before an execution, for an
 * index beyond the results, and for another count than the result's. ODLC_ERR_UNSUPPORTED: a result of strings. */
ODLC_API odlc_status odlc_run_get_floats(odlc_run *run, size_t result, float *values, size_t count) ODLC_MUST_USE;
ODLC_API const void *odlc_run_native(const odlc_run *run, size_t result);

/* The steps that compute the results, in the order of their execution, with their times; empty before a choice of
 * results, and valid until the next one. */
ODLC_API const struct odlc_step *odlc_run_steps(const odlc_run *run, size_t *count);
/* What the backend decided for the step of that index; NULL without odlc_run_set_explained, of a step that does not
 * exist, and where there is nothing to be said (backend plugin has something). Valid until the next choice. */
ODLC_API const char *odlc_run_explanation(const odlc_run *run, size_t step, enum odlc_explanation form);
/* Whether the next choice of results has kernels' times taken, which costs some microseconds a kernel; not in a process
 * of its own. ODLC_ERR_USAGE after a choice. */
ODLC_API odlc_status odlc_run_time_kernels(odlc_run *run, int on) ODLC_MUST_USE;
/* The kernels of the last execution, in the order of their start, if their times are taken; valid until the next
 * execution or choice. */
ODLC_API const struct odlc_kernel *odlc_run_kernels(const odlc_run *run, size_t *count);
/* The needed nodes that a backend left to the next one, each with the reason; valid until the next choice of results.
 */
ODLC_API const struct odlc_refusal *odlc_run_refusals(const odlc_run *run, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
