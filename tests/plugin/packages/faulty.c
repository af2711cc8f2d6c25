/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin with one defect, which the file defect.txt names; without one it copies its input. */
#define PACKAGE Faulty
#define OPS(OP)     \
    OP(Op, 0, 1, 1) \
    OP(Other, 0, 1, 1)
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "package.h"

/* Whether what was asked for before this was larger: the same when it is asked again at once, and not later. */
static int after_larger(uint64_t key)
{
    static uint64_t now, before;
    if (key != now) {
        before = now;
        now = key;
    }
    return before > now;
}

/* ---- callbacks of preparation ---- */

static const QHPI_Op *made(const QHPI_Op *op, const char *name, QHPI_OpRef input)
{
    const QHPI_OutputDef out = qhpi_op_output(op, 0);
    return qhpi_op_create(op, name, 1, &input, 1, &out);
}

static const QHPI_Op *early(const QHPI_Op *op)
{
    static int no_op;
    const int other = strcmp(qhpi_op_name(op), "Faulty::Other") == 0;
    QHPI_OutputDef out = qhpi_op_output(op, 0);
    const QHPI_OpRef input = qhpi_op_input(op, 0);
    if (is("rewrite circle"))
        return made(op, other ? "Faulty::Op" : "Faulty::Other", input);
    if (is("rewrite endless"))
        return made(op, "Faulty::Op", qhpi_op_reference(made(op, "ElementWiseNeg", input), 0));
    if (is("rewrite NULL"))
        return NULL;
    if (is("rewrite root"))
        return qhpi_op_create(NULL, "Faulty::Other", 1, &input, 1, &out);
    if (is("rewrite constant root"))
        return qhpi_op_create_constant(NULL, &out, sizeof no_op, &no_op);
    if (is("rewrite shape root"))
        return qhpi_op_create_shape(NULL, &out.shape).op;
    if (is("rewrite stranger"))
        return (const QHPI_Op *)&no_op;
    if (is("rewrite shape")) {
        out.shape.dims[1]++;
        return qhpi_op_create(op, "Faulty::Other", 1, &input, 1, &out);
    }
    if (is("rewrite self"))
        return made(op, "Faulty::Other", qhpi_op_reference(op, 0));
    if (is("rewrite unknown op"))
        return made(op, "Nobody::Knows", input);
    if (is("rewrite input"))
        return made(op, "Faulty::Other", qhpi_op_input(op, 7));
    if (is("rewrite constant"))
        return qhpi_op_create_constant(op, &out, 1, &no_op);
    if (is("rewrite native shape") && !other) {
        const QHPI_OpRef inputs[] = {input};
        const QHPI_OutputDef wrong = {out.type, out.quant_parameters, {4, {1, 1, 1, 3}}};
        const QHPI_OpRef narrow = qhpi_op_reference(qhpi_op_create(op, "Relu", 1, inputs, 1, &wrong), 0);
        return qhpi_op_create(op, "Faulty::Other", 1, &narrow, 1, &out);
    }
    if (is("rewrite crash"))
        raise(11);
    if (is("rewrite remembers") && !other && after_larger(out.shape.dims[1]))
        return made(op, "Faulty::Other", input);
    return op;
}

static QHPI_Shape required(const QHPI_Op *op)
{
    const QHPI_Shape shape = qhpi_op_output(op, 0).shape;
    if (is("required rank"))
        return (QHPI_Shape){2, {1, 1}};
    if (is("required large"))
        return (QHPI_Shape){4, {0, 0, shape.dims[2] + 1, 0}};
    return (QHPI_Shape){0, {0}};
}

static QHPI_Shape legal(const QHPI_Op *op, const QHPI_Shape *candidate)
{
    QHPI_Shape shape = *candidate;
    if (is("legalized zero"))
        shape.dims[1] = 0;
    if (is("legalized remembers") && after_larger(shape.dims[1]))
        shape = qhpi_op_output(op, 0).shape;
    return shape;
}

static const QHPI_Op *tile(const QHPI_Op *op, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    QHPI_Shape at = *start, size = *extent;
    QHPI_OutputDef out = qhpi_op_output(op, 0);
    if (is("tile whole later") && start->dims[1])
        return op;
    if (is("tile NULL"))
        return NULL;
    if (is("tile slice"))
        at.dims[1] += 1000;
    if (is("tile gap"))
        size.dims[1] = size.dims[1] > 1 ? size.dims[1] - 1 : 1;
    if (is("tile overlap"))
        size.dims[1] += start->dims[1] ? 0 : 1;
    if (is("tile type"))
        out.type = QHPI_INT32;
    out.shape = size;
    const QHPI_OpRef input = qhpi_op_slice(qhpi_op_input(op, 0), &at, &size);
    if (is("tile outputs")) {
        const QHPI_OutputDef outputs[] = {out, out};
        return qhpi_op_create(op, qhpi_op_name(op), 1, &input, 2, outputs);
    }
    const int other = is("tile remembers") && after_larger(start->dims[1] * 100 + start->dims[2] + 1);
    return qhpi_op_create(op, other ? "Faulty::Other" : qhpi_op_name(op), 1, &input, 1, &out);
}

static const QHPI_Op *late(const QHPI_Op *op)
{
    if (is("late operator") && strcmp(qhpi_op_name(op), "Faulty::Op") == 0)
        return made(op, "Faulty::Other", qhpi_op_reference(made(op, "Relu", qhpi_op_input(op, 0)), 0));
    if (is("late remembers") && strcmp(qhpi_op_name(op), "Faulty::Op") == 0 && after_larger((uintptr_t)op))
        return made(op, "Faulty::Other", qhpi_op_input(op, 0));
    return op;
}

/* ---- kernels ---- */

static uint32_t execute(QHPI_RuntimeHandle *handle, uint32_t num_outputs, QHPI_Tensor **outputs, uint32_t num_inputs,
                        const QHPI_Tensor *const *inputs)
{
    const size_t bytes = count_of(outputs[0]) * sizeof(float);
    char *to = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    if (is("kernel error"))
        return 17;
    if (is("kernel crash"))
        raise(11);
    if (is("kernel exit"))
        exit(3);
    if (is("kernel hang"))
        sleep(1000);
    memcpy(to, qhpi_tensor_raw_data(inputs[0]), bytes);
    if (is("writes behind"))
        to[bytes] = 1;
    if (is("writes input"))
        *(char *)qhpi_tensor_raw_data(inputs[0]) = 1;
    if (is("leaves out"))
        to[bytes - 1] = to[bytes - 2] = 0;
    if (is("slices differ") && qhpi_num_slices(handle) > 1)
        memset(to, 0, 4);
    if (is("destructive lies") && to == qhpi_tensor_raw_data(inputs[0]))
        memset(to, 0, 4);
    if (is("tiles differ") && qhpi_tensor_shape(outputs[0]).dims[1] < 8)
        memset(to, 0, 4);
    return QHPI_SUCCESS;
}

static float cost(const uint32_t num_inputs, const QHPI_Tensor *const *inputs)
{
    (void)num_inputs;
    if (is("cost remembers") && after_larger((uintptr_t)inputs[0]))
        return 2000.0f;
    return is("cost NaN") ? NAN : 1000.0f;
}

static uint32_t predicate(const QHPI_Op *op, const uint32_t num_inputs, const QHPI_Tensor *const *inputs)
{
    static uint32_t calls;
    (void)num_inputs;
    if (is("predicate remembers") && after_larger((uintptr_t)op))
        return 0;
    if (is("predicate lies"))
        return calls++ % 2 == 0;
    if (is("predicate data"))
        return *(const uint8_t *)qhpi_tensor_raw_data(inputs[0]) == 0;
    return !is("predicate never");
}

struct block {
    const QHPI_Tensor *in;
    QHPI_Tensor *out;
};

static uint32_t precompute(void *data, uint32_t num_outputs, QHPI_Tensor **outputs, uint32_t num_inputs,
                           const QHPI_Tensor *const *inputs)
{
    (void)num_outputs, (void)num_inputs;
    *(struct block *)data = (struct block){inputs[0], outputs[0]};
    return is("precomputation error") ? 5 : QHPI_SUCCESS;
}

static uint32_t precomputed(QHPI_RuntimeHandle *handle, void *data)
{
    struct block *b = data;
    const uint32_t status = execute(handle, 1, &b->out, 1, &b->in);
    if (is("precomputed differs"))
        memset(qhpi_tensor_raw_data(b->out), 0, 4);
    return status;
}

/* ---- registration ---- */

static const QHPI_Tensor_Signature_v1 floats[] = {SIGNATURE(Float32), SIGNATURE(Float32)},
                                      bytes[] = {SIGNATURE(QUInt8)},
                                      wrong[] = {{QHPI_FLOAT32, 77, QHPI_STORAGE_DIRECT, QHPI_MEM_LOC_DDR_OR_TCM}};

static QHPI_Kernel_v1 kernel_of(const char *name)
{
    QHPI_Kernel_v1 k = {.function_name = name,
                        .function = execute,
                        .resources = QHPI_RESOURCE_HVX,
                        .min_inputs = 1,
                        .input_signature = floats,
                        .min_outputs = 1,
                        .output_signature = floats,
                        .cost_function = cost,
                        .multithreaded = is("slices differ"),
                        .source_destructive = is("destructive lies"),
                        .predicate = predicate};
    if (is("precomputation error") || is("precomputed differs")) {
        k.precomputed_data_size = sizeof(struct block);
        k.do_precomputation_function = precompute;
        k.function_with_precomputed_data = precomputed;
    }
    return k;
}

static void break_kernel(QHPI_Kernel_v1 *k)
{
    if (is("kernel without name"))
        k->function_name = NULL;
    if (is("kernel without function"))
        k->function = NULL;
    if (is("size without functions"))
        k->precomputed_data_size = 8;
    if (is("functions without size"))
        k->do_precomputation_function = precompute;
    if (is("inputs without signature"))
        k->input_signature = NULL;
    if (is("signature"))
        k->output_signature = wrong;
    if (is("no outputs"))
        k->min_outputs = 0;
    if (is("resources"))
        k->resources = 1u << 20;
    if (is("never matches"))
        k->input_signature = bytes;
    if (is("wrong counts"))
        k->min_inputs = 2;
}

QNN_API const char *qhpi_init(void)
{
    static QHPI_Kernel_v1 kernels[3];
    static QHPI_OpInfo_v1 ops[3];
    uint32_t n_ops = 2;
    kernels[0] = kernel_of("Faulty::copy");
    kernels[1] = kernel_of("Faulty::other");
    kernels[2] = kernel_of(is("name twice") ? "Faulty::copy" : "Faulty::second");
    break_kernel(&kernels[0]);
    ops[0] = (QHPI_OpInfo_v1){"Faulty::Op", 1, kernels, early, required, legal, tile, late};
    ops[1] = (QHPI_OpInfo_v1){"Faulty::Other", 1, kernels + 1, early, required, legal, tile, late};
    if (is("name twice") || is("unreachable")) {
        kernels[1] = kernels[2];
        kernels[0].predicate = kernels[1].predicate = NULL;
        ops[0].num_kernels = 2;
        ops[1].kernels = kernels + 2;
        if (is("unreachable")) {
            kernels[2].function_name = "Faulty::other";
            kernels[2].predicate = predicate;
        }
    }
    if (is("predicate remembers")) { /* the second kernel takes what the first one leaves */
        kernels[1].predicate = kernels[2].predicate = NULL;
        ops[0].num_kernels = 2;
        ops[1].kernels = kernels + 2;
    }
    if (is("op without package"))
        ops[0].name = "Op";
    if (is("op NULL"))
        ops[0].name = NULL;
    if (is("op unknown"))
        ops[0].name = "Faulty::Unknown";
    if (is("op twice"))
        ops[n_ops++] = ops[0];
    if (is("op missing"))
        n_ops = 1;
    if (is("no kernels"))
        ops[0] = (QHPI_OpInfo_v1){.name = "Faulty::Op"};
    if (is("kernels NULL"))
        ops[0].kernels = NULL;
    if (is("init crash"))
        raise(11);
    if (is("nothing"))
        return "Faulty";
    qhpi_register_ops_v1(is("no ops") ? 0 : n_ops, ops, is("register name") ? "Other" : "Faulty");
    return is("init name") ? "Other" : is("init NULL") ? NULL : "Faulty";
}
