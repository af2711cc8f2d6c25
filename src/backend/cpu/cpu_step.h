/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the CPU backend, and how rows of its table make them. */
#ifndef BACKEND_CPU_CPU_STEP_H
#define BACKEND_CPU_CPU_STEP_H

#include <oneapi/dnnl/dnnl.h>

#include "runtime/backend.h"

/* Parts of the workspace begin at multiples of it. */
#define CPU_ALIGNMENT 64
size_t cpu_aligned(size_t size);

/* One execution's state. */
struct cpu {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    size_t workspace_size; /* bytes: the most that a step needs */
    void *workspace;       /* the steps', one after the other: made at the first run */
};

/* ---- calls ---- */

/* Where a call finds an operand, beside the places of step_io. */
#define CPU_FIXED UINT32_MAX            /* the memory has its handle */
#define CPU_SCRATCHPAD (UINT32_MAX - 1) /* in the workspace */
#define CPU_SUMS (UINT32_MAX - 2)       /* likewise: a fixed-point product's sums, or what a loop before it makes */
#define CPU_BYTES (UINT32_MAX - 3)      /* likewise: an operand that such a loop makes beside sums */

struct cpu_place {
    uint32_t place;   /* of step_io (inputs, then outputs), or one of the above */
    const void *data; /* what the memory has as its handle; setting it costs more than to look */
};

/* A primitive with its operands. */
struct cpu_call {
    dnnl_primitive_t primitive;
    VEC(dnnl_exec_arg_t) args;
    VEC(struct cpu_place) places; /* of each */
};

struct cpu_step;

/* A loop that is no primitive. Its operands are in step_io's places. */
typedef odlc_status cpu_loop_fn(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                                struct buffer *out);

struct cpu_step {
    struct cpu *cpu;
    uint32_t threads;
    struct step_io io;
    /* Bytes of the workspace: operands that are computed as float32, then sums; scratchpads follow. */
    size_t reals_size, sums_size;
    size_t bytes_at;              /* of the sums' part: where the bytes are */
    cpu_loop_fn *before;          /* the calls; NULL: none */
    VEC(struct cpu_call *) calls; /* in this order */
    cpu_loop_fn *loop;            /* behind them; NULL: none */
    const struct node *node;
    struct buffer *constants; /* of loops: per input of the node, where it is a constant */
    void *prepared;           /* of the loop */
};

/* A step while it is prepared. */
struct cpu_making {
    struct cpu *cpu;
    const struct backend_scope *scope;
    const struct group *group;
    struct cpu_step *step;
};

/* Where a step's sums and bytes are while it runs. */
void *cpu_sums(const struct cpu_step *step);
void *cpu_bytes(const struct cpu_step *step);
/* Where its calls' scratchpad is. */
void *cpu_scratchpad(const struct cpu_step *step);

/* ---- operators ---- */

struct cpu_op {
    /* NULL: the node is taken; else why not, as struct group says a reason. */
    const char *(*refuse)(const struct graph *g, const struct node *n);
    odlc_status (*prepare)(struct cpu_making *m);
    enum sharing sharing; /* of a node on its own */
    bool fuses;           /* element-wise ops behind the node can be part of its step (cpu_follow.h) */
    /* Whether a node that is taken gets its operands as they are stored, and not as float32: products of integers, and
     * what only moves elements. NULL: no node does. */
    bool (*is_fixed)(const struct graph *g, const struct node *n);
    odlc_status (*prepare_fixed)(struct cpu_making *m);
};

/* The step's calls need so many bytes of scratchpad. */
void making_need(const struct cpu_making *m, size_t scratchpad);
/* The step has so many int32 sums, and so many bytes beside them. Before any call is made. */
void making_need_sums(const struct cpu_making *m, uint64_t count);
void making_need_bytes(const struct cpu_making *m, uint64_t sums, uint64_t bytes);
/* The head of the group, and the place of one of its operands: input i, or output i. */
const struct node *making_node(const struct cpu_making *m);
uint32_t making_input(const struct cpu_making *m, uint32_t node, uint32_t i);
/* The place of the step's only output. */
uint32_t making_result(const struct cpu_making *m);
/* The constant that is the head's input i, as float32; data NULL: the operand is absent. In the scope's scratch. */
struct buffer making_constant(const struct cpu_making *m, uint32_t i);
/* The same of any constant tensor; lasts as long as the step. */
struct buffer making_kept_constant(const struct cpu_making *m, tensor_id id);

/* ---- what rows ask of operands ---- */

/* float32, or float16 or fixed point, which steps get as float32. */
bool cpu_is_real(const struct tensor *t);
bool cpu_is_constant(const struct graph *g, const struct node *n, uint32_t i); /* of real numbers */
/* Whether no result is rounded to integers. */
bool cpu_gives_floats(const struct graph *g, const struct node *n);
/* The refusal of nodes with other operands; NULL: all are. */
const char *cpu_refuse_types(const struct graph *g, const struct node *n);

#endif
