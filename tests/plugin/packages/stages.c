/* SPDX-License-Identifier: Apache-2.0 */
/* What happens in which order: while a package is loaded, rewritten, and its blocks are filled. */
#define PACKAGE Stages
#define OPS(OP)         \
    OP(First, 0, 1, 1)  \
    OP(Second, 0, 1, 1) \
    OP(Third, 0, 1, 1)  \
    OP(Sum, 0, 3, 1)    \
    OP(Blank, 0, 1, 1)  \
    OP(Uses, 0, 1, 1)
#include <stdlib.h>

#include "package.h"

static char told[256];

static void tell(const char *what)
{
    if (strlen(told) + strlen(what) + 2 < sizeof told)
        strcat(strcat(told, *told ? " " : ""), what);
}

static Qnn_ErrorHandle_t note_init(QnnOpPackage_GlobalInfrastructure_t infrastructure)
{
    tell("init");
    return init(infrastructure);
}

static Qnn_ErrorHandle_t note_info(const QnnOpPackage_Info_t **info)
{
    tell("getInfo");
    return get_info(info);
}

static Qnn_ErrorHandle_t note_log(QnnLog_Callback_t callback, QnnLog_Level_t level)
{
    (void)callback, (void)level;
    tell("logInitialize");
    return QNN_SUCCESS;
}

QNN_API Qnn_ErrorHandle_t NotedInterfaceProvider(QnnOpPackage_Interface_t *interface);

QNN_API Qnn_ErrorHandle_t NotedInterfaceProvider(QnnOpPackage_Interface_t *interface)
{
    StagesInterfaceProvider(interface);
    tell("provider");
    interface->v1_4.init = note_init;
    interface->v1_4.getInfo = note_info;
    interface->v1_4.logInitialize = note_log;
    return QNN_SUCCESS;
}

/* ---- First becomes Second becomes Third ---- */

static const QHPI_Op *renamed(const QHPI_Op *op, const char *name)
{
    const QHPI_OpRef input = qhpi_op_input(op, 0);
    const QHPI_OutputDef out = qhpi_op_output(op, 0);
    return qhpi_op_create(op, name, 1, &input, 1, &out);
}

static const QHPI_Op *to_second(const QHPI_Op *op)
{
    return renamed(op, "Stages::Second");
}

static const QHPI_Op *to_third(const QHPI_Op *op)
{
    return renamed(op, "Stages::Third");
}

static const QHPI_Tensor_Signature_v1 floats[] = {SIGNATURE(Float32)};

EXECUTE(third)
{
    const float *x = qhpi_tensor_raw_data(inputs[0]);
    float *y = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    for (uint64_t i = 0; i < count_of(outputs[0]); i++)
        y[i] = x[i] + 3;
    return QHPI_Success;
}

#define KERNEL(execute)                                                                                    \
    .function_name = "Stages::" #execute, .function = execute, .min_inputs = 1, .input_signature = floats, \
    .min_outputs = 1, .output_signature = floats

static const QHPI_Kernel_v1 third_kernels[] = {{KERNEL(third)}};

/* ---- Sum: of any number ---- */

EXECUTE(sum)
{
    float *y = qhpi_tensor_raw_data(outputs[0]);
    UNUSED;
    for (uint64_t i = 0; i < count_of(outputs[0]); i++)
        for (uint32_t k = 0; k < num_inputs; k++)
            y[i] += ((const float *)qhpi_tensor_raw_data(inputs[k]))[i];
    return QHPI_Success;
}

static const QHPI_Kernel_v1 sum_kernels[] = {{KERNEL(sum), .variable_inputs = true}};

/* ---- Blank: the block comes as zeros, once, before the first execution ---- */

struct block {
    uint8_t bytes[1000];
    const QHPI_Tensor *in;
    QHPI_Tensor *out;
    float fills, runs;
};

static uint32_t fill(void *data, uint32_t num_outputs, QHPI_Tensor **outputs, uint32_t num_inputs,
                     const QHPI_Tensor *const *inputs)
{
    struct block *b = data;
    (void)num_outputs, (void)num_inputs;
    for (size_t i = 0; i < sizeof b->bytes; i++)
        if (b->bytes[i])
            return 9;
    b->in = inputs[0];
    b->out = outputs[0];
    b->fills++;
    return QHPI_Success;
}

static uint32_t run(QHPI_RuntimeHandle *handle, void *data)
{
    struct block *b = data;
    float *y = qhpi_tensor_raw_data(b->out);
    if (qhpi_num_slices(handle) != 1 || qhpi_slice_number(handle) != 0)
        return 8;
    y[0] = b->fills;
    y[1] = ++b->runs;
    return QHPI_Success;
}

static const QHPI_Kernel_v1 blank_kernels[] = {
    {.function_name = "Stages::blank",
     .min_inputs = 1,
     .input_signature = floats,
     .min_outputs = 1,
     .output_signature = floats,
     .precomputed_data_size = sizeof(struct block),
     .do_precomputation_function = fill,
     .function_with_precomputed_data = run},
};

/* ---- Uses: what an op is told of the graph, as a constant that takes its place ---- */

static const QHPI_Op *count_uses(const QHPI_Op *op)
{
    const QHPI_OutputDef out = qhpi_op_output(op, 0);
    const QHPI_Op *from = qhpi_op_input(op, 0).op;
    int32_t flag = 7, unknown = 7;
    const int32_t known = qhpi_option_int(op, "relaxed_precision_flag", &flag),
                  other = qhpi_option_int(op, "nobody_knows", &unknown);
    const float values[] = {(float)qhpi_op_num_uses(from),
                            (float)qhpi_op_is_constant(from),
                            qhpi_op_constant_data(from) != NULL,
                            (float)qhpi_op_num_uses(op),
                            (float)known,
                            (float)flag,
                            other != QHPI_Success,
                            (float)unknown};
    return qhpi_op_create_constant(op, &out, sizeof values, values);
}

static const QHPI_OpInfo_v1 ops[] = {
    {.name = "Stages::First", .early_rewrite = to_second}, {.name = "Stages::Second", .early_rewrite = to_third},
    {.name = "Stages::Third", ONE_KERNEL(third_kernels)},  {.name = "Stages::Sum", ONE_KERNEL(sum_kernels)},
    {.name = "Stages::Blank", ONE_KERNEL(blank_kernels)},  {.name = "Stages::Uses", .early_rewrite = count_uses},
};

QNN_API const char *qhpi_init(void)
{
    tell("qhpi_init");
    for (uint32_t i = 0; i < N_OPS; i++)
        if (qhpi_register_ops_v1(1, &ops[i], "Stages") != QHPI_Success)
            return NULL;
    return getenv("TELL") ? told : "Stages";
}
