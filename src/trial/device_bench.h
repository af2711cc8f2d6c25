/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of packages for GPUs on a device, with each operand between zones of memory that they must leave alone: also
 * static inputs and tensor params, which executions have elsewhere. */
#ifndef TRIAL_DEVICE_BENCH_H
#define TRIAL_DEVICE_BENCH_H

#include "runtime/device_ops.h"

/* What the zones hold: numbers far from those of operands, and from each other. */
enum { ZONE_A = 0x41, ZONE_B = 0xC2 };

struct device_bench {
    const struct backend *backend;
    void *state;
    struct diags diags; /* of the last call of the backend */
    struct arena *arena, *scratch;
};

/* ODLC_ERR_UNSUPPORTED: there is no device; bench->diags says so. */
odlc_status bench_open(struct arena *arena, const struct backend *backend, struct device_bench *bench);

/* An op whose kernels are built. */
struct bench_op {
    struct device_bench *bench;
    void *block, *step;
    struct bench_operand *operands; /* inputs, tensor params, and from `first_output` on outputs */
    uint32_t count, first_output;
    struct buffer *in, *out; /* of the step */
};

/* An input's elements are read from inputs[i].data. ODLC_ERR_INVALID and others: the kernels are not built, or do not
 * fit their arguments, as bench->diags say. */
odlc_status bench_make(struct device_bench *bench, const struct node *n, const struct device_op *op,
                       const struct buffer *inputs, struct bench_op *out);
void bench_give(struct bench_op *op);

/* What kernels wrote to beside the elements of outputs. */
struct bench_fault {
    const char *name;          /* "input 0"; NULL: nothing */
    uint64_t bytes;            /* how many were changed */
    int64_t first;             /* of them, from the operand's first byte */
    bool is_before, is_behind; /* neither: the input itself */
};

/* Executes on outputs of that fill and zones of that content, and copies the bytes of outputs, one after the other, to
 * `to`. Other statuses than ODLC_OK: the device fails, as bench->diags say. */
odlc_status bench_execute(struct bench_op *op, uint8_t fill, uint8_t zone, uint8_t *to, struct bench_fault *fault);
/* Executes on what is there, and waits for the end. */
odlc_status bench_execute_again(struct bench_op *op);
/* Replaces the first bytes of the first input. */
void bench_poke(struct bench_op *op, const void *bytes, size_t size);

#endif
