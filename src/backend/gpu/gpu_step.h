/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the GPU backend, and how rows of its table make them. */
#ifndef BACKEND_GPU_GPU_STEP_H
#define BACKEND_GPU_GPU_STEP_H

#include "backend/gpu/gpu_config.h"
#include "backend/gpu/gpu_kernels.h"
#include "runtime/backend.h"

struct gpu_call;
struct gpu_step;

/* Sees every kernel that is enqueued, with its event (the callee retains it to read its times later). */
struct gpu_profile {
    void *object;
    void (*see)(void *object, const struct gpu_step *step, const struct gpu_call *call, cl_event event);
};

/* Memory for what a step computes on its way. */
struct gpu_room {
    uint64_t size; /* bytes: the most that a step needs of it */
    cl_mem buffer; /* made at the first run */
};

/* One execution's state. */
struct gpu {
    struct gpu_context *context;
    bool owns_context;
    cl_command_queue queue;            /* in order */
    cl_command_queue measuring;        /* of kernels while steps are prepared; NULL: nothing was measured */
    struct gpu_recordings *recordings; /* gpu_record.h; NULL: kernels are enqueued one by one */
    const struct gpu_config *config;
    const struct backend_scope *scope;
    struct diags *diags;
    VEC(struct gpu_room) rooms; /* the steps', one after the other */
    cl_mem fault;               /* an int: 0, or which of `watched` met what it cannot compute with; NULL without any */
    VEC(const struct node *) watched;
};

/* Reports a failure of the driver: ODLC_ERR_LIMIT where room is missing, else ODLC_ERR_INTERNAL. */
odlc_status gpu_check(const struct gpu *gpu, const char *failed, cl_int error) MUST_USE;

/* ODLC_ERR_INVALID: a kernel reported a fault since the last call. Waits for all kernels. */
odlc_status gpu_check_faults(struct gpu *gpu) MUST_USE;

/* ---- steps ---- */

/* Where a call finds a buffer, beside the places of step_io (inputs, then outputs). */
#define GPU_FIXED UINT32_MAX  /* it is `buffer` */
#define GPU_ROOM_0 (1U << 24) /* room k: GPU_ROOM_0 + k; below GPU_FIXED */

/* A buffer of a call. Operands of a node have types and shapes as well. */
struct gpu_operand {
    uint32_t place;
    cl_mem buffer;    /* GPU_FIXED: the buffer, NULL where the operand is absent */
    enum dtype dtype; /* of the elements there; DT_NONE: absent */
    struct shape shape;
    const struct quant *quant;
};

/* An argument whose buffer is known when the step runs. */
struct gpu_binding {
    cl_uint index;
    uint32_t place;
    uint64_t size;      /* bytes that it has at least */
    cl_mem last;        /* that the kernel has now */
    uint64_t withdrawn; /* the context's, when it got that */
};

/* An argument that a kernel gets when it is there. */
struct gpu_argument {
    cl_uint index;
    size_t size;
    const void *value; /* NULL: local memory, or no buffer */
};

/* A kernel with its arguments. While its program is built, it has none yet, and arguments wait for it. */
struct gpu_call {
    /* The rest of the call, which depends on the kernel: called by gpu_call_settle, when the kernel has its arguments,
     * or has not taken one (error). NULL: there is none, and an argument that is not taken is the driver's error. */
    odlc_status (*finish)(const struct gpu *gpu, struct gpu_call *call);
    const void *object; /* of finish */
    struct gpu_program *program;
    cl_kernel kernel;     /* NULL: until gpu_call_settle */
    const char *name;     /* "matmul.product": source and function */
    const char *function; /* of the source */
    const char *options;  /* of its build, in the scope's scratch while it is prepared */
    struct arena *arena;
    VEC(struct gpu_argument) waiting;
    uint64_t arguments; /* a hash of those that are no buffers */
    cl_uint n_args, dims;
    cl_int error;    /* the first of setting arguments */
    cl_uint refused; /* … and which argument had it */
    size_t global[3], local[3];
    VEC(struct gpu_binding) bindings;
};

struct gpu_step {
    struct gpu *gpu;
    struct step_io io;
    const struct node *node;      /* the head of the group */
    VEC(struct gpu_call *) calls; /* in this order */
    uint32_t n_rooms;
};

/* Gives the kernel the buffers of its bindings. */
odlc_status gpu_bind(const struct gpu *gpu, struct gpu_call *call, const cl_mem *buffers) MUST_USE;

/* ---- operators ---- */

/* What kernels compute with. */
enum gpu_math {
    GPU_MATH_REAL,     /* float, or half in precision mode fp16 */
    GPU_MATH_FLOAT,    /* float: where reals are moved, and may stay float32 */
    GPU_MATH_DOUBLE,   /* where results become integers: these are then the reference's */
    GPU_MATH_INT,      /* integers of 64 bits */
    GPU_MATH_SHORT_INT /* … of 32 bits */
};

/* A step while it is prepared. */
struct gpu_making {
    struct gpu *gpu;
    enum gpu_math math;
    bool is_trial;         /* the calls are measured, and taken back */
    bool raw;              /* operands are taken and given as they are stored */
    bool is_fixed_product; /* operands are integers, the result is sums of their products (gpu_product.h) */
    const struct backend_scope *scope;
    const struct group *group;
    uint32_t head; /* where that stands in the group, behind Transposes of its operands (gpu_view.h) */
    struct gpu_step *step;
    text options;              /* of the next kernel */
    struct gpu_operand *reals; /* per output of the last node: what stands for a fixed-point one, or DT_NONE */
};

struct gpu_op {
    /* NULL: the node is taken; else why not, as struct group says a reason. */
    const char *(*refuse)(const struct gpu *gpu, const struct graph *g, const struct node *n);
    odlc_status (*prepare)(struct gpu_making *m);
    enum sharing sharing; /* of a node on its own */
    /* Whether a node that is taken gets its operands as they are stored. Others get fixed-point ones as reals, and give
     * reals in the place of such results. NULL: no node does. */
    bool (*is_raw)(const struct graph *g, const struct node *n);
    bool is_product; /* of its first two inputs, and a bias: by integers where kernel/fixed_product.h has it so */
    bool fuses;      /* element-wise ops behind the node can be part of its step (gpu_follow.h) */
};

/* The node k of the group from its head on, which is 0; how many there are. */
const struct node *gpu_node(const struct gpu_making *m, uint32_t k);
uint32_t gpu_node_count(const struct gpu_making *m);
/* Operand i of node k. Constants of reals are brought to the device in the type that the precision mode gives inner
 * tensors, others as they are stored. What a Transpose before the head gives is the operand of that. Absent: dtype
 * DT_NONE and a buffer NULL. */
odlc_status gpu_input(struct gpu_making *m, uint32_t k, uint32_t i, struct gpu_operand *out) MUST_USE;
/* Output i of the head, or, of a head with one output, the result of the last node of the group, as the head's shape
 * has its elements. */
struct gpu_operand gpu_output(struct gpu_making *m, uint32_t i);
/* Whether node k reads constant i; its elements as float32, in the scope's scratch: for rows that pack weights. */
bool gpu_is_constant(const struct gpu_making *m, uint32_t k, uint32_t i);
struct buffer gpu_constant(const struct gpu_making *m, uint32_t k, uint32_t i);
/* A buffer with these bytes in the device's memory, which the step has as long as it lives. */
odlc_status gpu_weights(struct gpu_making *m, const void *bytes, uint64_t size, cl_mem *out) MUST_USE;
/* Before and after the row's own work: what it takes for granted of fixed-point operands. */
void gpu_begin_reals(struct gpu_making *m);
odlc_status gpu_end_reals(struct gpu_making *m) MUST_USE;
/* Where the step's kernels report an operand whose elements they cannot compute with: they store *number there. */
odlc_status gpu_watch(struct gpu_making *m, struct gpu_operand *fault, int *number) MUST_USE;
/* One more room, whose contents go with the step's run. */
struct gpu_operand gpu_room(struct gpu_making *m, enum dtype dtype, const struct shape *shape);
/* The type in which inner tensors keep elements of that type, by the precision mode. */
enum dtype gpu_inner_type(const struct gpu *gpu, enum dtype dtype);

/* ---- calls ---- */

/* Adds to the options of the next kernel. */
void gpu_option(struct gpu_making *m, const char *format, ...) PRINTF_LIKE(2, 3);
/* The element type of an operand: -DX=half. Without the option it is float. */
void gpu_option_type(struct gpu_making *m, const char *name, const struct gpu_operand *operand);

/* A call of function `function` of kernels/<source>.cl with the options, which are forgotten then. Arguments follow in
 * the kernel's order, then gpu_call_end. */
odlc_status gpu_call_begin(struct gpu_making *m, const char *source, const char *function,
                           struct gpu_call **out) MUST_USE;
/* The same of any source, with the name that it has for profiles. */
odlc_status gpu_call_add(struct gpu_making *m, const struct gpu_source *source, const char *function,
                         const char *options, const char *name, struct gpu_call **out) MUST_USE;
/* The kernel with the arguments that it has so far: waits for its program, reports why there is none, finishes the
 * call. Without effect on a call that has its kernel. */
odlc_status gpu_call_settle(const struct gpu *gpu, struct gpu_call *call) MUST_USE;
void gpu_arg(struct gpu_making *m, struct gpu_call *call, const struct gpu_operand *operand);
void gpu_arg_int(struct gpu_call *call, int64_t value);                         /* as cl_int */
void gpu_arg_number(struct gpu_making *m, struct gpu_call *call, double value); /* as `number` */
void gpu_arg_bytes(struct gpu_call *call, const void *bytes, size_t size);      /* a structure */
void gpu_arg_local(struct gpu_call *call, size_t size);
/* So many work-items at least, in groups of gpu_group_size: the kernel looks whether it has something to do. */
odlc_status gpu_call_end(struct gpu_making *m, struct gpu_call *call, cl_uint dims, const size_t *items) MUST_USE;
/* The same in groups of that size, which the kernel was written or built for. */
odlc_status gpu_call_end_groups(struct gpu_making *m, struct gpu_call *call, cl_uint dims, const size_t *items,
                                const size_t *group) MUST_USE;

/* That size alone. */
void gpu_call_size(struct gpu_call *call, cl_uint dims, const size_t *items, const size_t *group);

/* The work-group of a kernel with so many work-items: the one place where it is chosen. */
void gpu_group_size(const struct gpu *gpu, const struct gpu_call *call, cl_uint dims, const size_t *items,
                    size_t *group);

/* ---- what rows ask of operands ---- */

/* float32 or float16. */
bool gpu_is_real(const struct tensor *t);
/* Fixed point that steps get as reals: 8 and 16 bits, encodings of the whole tensor, on devices with doubles. */
bool gpu_is_fixed(const struct gpu *gpu, const struct tensor *t);
/* The refusal of nodes whose operands are not all reals or fixed point, or have no or too many elements; NULL: all are.
 */
const char *gpu_refuse_types(const struct gpu *gpu, const struct graph *g, const struct node *n);
/* The same of sizes alone. */
const char *gpu_refuse_sizes(const struct graph *g, const struct node *n);

#endif
