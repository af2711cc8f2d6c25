/* SPDX-License-Identifier: Apache-2.0 */
/* The contract between the runtime and a backend, which executes groups of a graph's nodes.
 *
 * The backends of an execution are asked in the caller's order, each for every node that is still free. A backend that
 * takes a node answers with a group: that node alone, or with others that it computes in one step (a layer and what is
 * fused into it, a chain that is tiled). A step is executed where the last node of its group stands. Which tensors of a
 * group can be seen from outside is the plan's decision, never the backend's: a tensor that is wanted, or that another
 * group reads, is an output of the step; all others are the step's own and have no buffer. */
#ifndef RUNTIME_BACKEND_H
#define RUNTIME_BACKEND_H

#include "kernel/buffer.h"

/* A kind of memory other than the host's. The plan lays tensors out in one block, and inserts copies where a tensor is
 * written in one kind of memory and read in another. `state` is the backend's. */
struct memory {
    const char *name;
    uint64_t alignment; /* of places in the block: a power of two */
    bool is_apart;      /* places are the same or have nothing in common, so that they can be blocks of their own */
    /* A block of that many bytes; NULL when there is no room. */
    void *(*take)(void *state, uint64_t size);
    void (*give)(void *state, void *block);
    /* The handle of a part of the block (with is_apart, all of the part at that offset), which stands in buffer.data
     * where the host's address would. It goes with the block. NULL: there is none. */
    void *(*place)(void *state, void *block, uint64_t offset, uint64_t size);
    /* The handle of a part of a place, at an offset that is aligned as places are. It goes with the block. NULL: there
     * is no room. Steps see it as a place of its own; for trials of kernels alone. NULL: there are no such parts. */
    void *(*part)(void *state, void *block, void *place, uint64_t offset, uint64_t size);
    /* A run begins: what a run before that failed did not bring to its end is forgotten. NULL: there is nothing to do.
     */
    void (*begin)(void *state);
    /* `lasting`: the host's bytes stay as they are until results of this run have been downloaded, so that the copy
     * need not be over when the function returns. */
    odlc_status (*upload)(void *state, void *place, const void *host, uint64_t size, bool lasting);
    odlc_status (*download)(void *state, void *host, const void *place, uint64_t size);
    /* All that steps of this run do is done, and was done without a fault. Called where places are the caller's. */
    odlc_status (*finish)(void *state);
};

struct package_set; /* package/package.h */
struct device_ops;  /* runtime/device_ops.h */
struct gpu_config;  /* backend/gpu/gpu_config.h */

/* The surroundings of a backend during one execution of a graph. The arena lives as long as the steps; scratch is
 * rewound after every call. */
struct backend_scope {
    struct arena *arena, *scratch;
    struct diags *diags;
    const struct graph *graph;
    const struct buffer
        *constants; /* per tensor: the elements of constants in the host's memory, others without data but with types */
    uint32_t threads;                    /* 1 or more */
    const struct package_set *packages;  /* with kernels of user-defined ops; NULL: none */
    const struct device_ops *device_ops; /* user-defined ops for devices; NULL: none */
    const struct gpu_config *gpu;        /* what the GPU backend is asked for; NULL: its defaults */
    uint64_t fast_memory;                /* bytes that backends which simulate a target have there; 0: their default */
    uint32_t slices;                     /* into which these divide a kernel's work; 0: their default */
    bool has_own_places;                 /* the plan gives each tensor a place that no other has */
};

/* How a backend says what it decided. */
enum explanation { EXPLAIN_TEXT, EXPLAIN_JSON };

/* What claims are decided by. */
struct claiming {
    const struct backend_scope *scope;
    const struct uses *uses; /* among the nodes that are executed */
    const bool *wanted;      /* per tensor: the caller or the observer sees it */
    const bool *is_free;     /* per node: it is executed, and nobody has it yet */
};

/* Whether the only output of a group may lie where the group's first input lies. */
enum sharing {
    SHARING_NONE,
    SHARING_ELEMENTS, /* they are the same bytes: the step has nothing to do when both have one place */
    SHARING_PLACE /* the step reads an element of that input before it writes the same element of the output, so that
                     it may work in place when nobody needs the input any more */
};

struct group {
    VEC(node_id) nodes; /* in execution order; the one that was asked for is among them */
    enum sharing sharing;
    const char *reason; /* why a node is not taken: a sentence, static or in the scope's arena */
};

/* Where a step finds an operand of its nodes: among its inputs (below n_inputs), among its outputs (from n_inputs on),
 * or: */
#define PLACE_ABSENT UINT32_MAX         /* an optional operand that is not there */
#define PLACE_CONSTANT (UINT32_MAX - 1) /* scope->constants of the tensor */
#define PLACE_INNER (UINT32_MAX - 2)    /* the step's own */

/* The tensors that a group exchanges with others, each once, in the order in which its nodes name them. */
struct step_io {
    const tensor_id *inputs, *outputs; /* inputs are no constants: those are in the scope */
    uint32_t n_inputs, n_outputs;
    const uint32_t *places; /* of each node's inputs and then outputs, node by node */
};

/* Whether steps take and give float32 where the graph says float16: buffers say what it is. A tensor that nobody sees
 * is float32 when all backends that touch it can do with it, and one of them is faster. */
enum width { WIDTH_STORED, WIDTH_ANY, WIDTH_FLOAT32 };

struct backend {
    const char *name;            /* as --backend takes it */
    const struct memory *memory; /* in which its steps read and write; NULL: the host's */
    enum width width;
    /* In which type the backend keeps elements of that type in tensors that nobody sees and no other backend touches:
     * buffers say what it is. NULL: as the graph says. */
    enum dtype (*inner_type)(void *state, enum dtype dtype);
    /* Once for an execution, before anything is claimed; NULL: there is no state. ODLC_ERR_UNSUPPORTED when what the
     * backend needs is not there (a device), with a diagnostic. */
    odlc_status (*open)(const struct backend_scope *scope, void **state);
    void (*close)(void *state);
    /* Whether the node is taken. Adds the group's nodes, or says the reason why not. */
    bool (*claim)(void *state, const struct claiming *c, node_id node, struct group *group);
    /* All work that is the same for every run: packing weights, compiling kernels, sizing scratch. */
    odlc_status (*prepare)(void *state, const struct backend_scope *scope, const struct group *group,
                           const struct step_io *io, void **step);
    /* Once for each step, in their order, when all are prepared: ends what goes on since then, such as builds of
     * kernels, and says what came of it. NULL: nothing goes on. */
    odlc_status (*settle)(void *step);
    /* Computes out from in, which stand as in step_io. Allocates nothing but scratch. */
    odlc_status (*run)(void *step, const struct backend_scope *scope, const struct buffer *in, struct buffer *out);
    void (*release)(void *step); /* NULL: all of the step is the scope's */
    /* What was decided for a prepared step: lines of text, or a JSON object; the scope's. NULL: nothing is to be said.
     */
    const char *(*explain)(void *step, const struct backend_scope *scope, enum explanation form);
};

#endif
