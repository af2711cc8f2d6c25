/* SPDX-License-Identifier: Apache-2.0 */
/* What each package of the tests has beside its kernels: the functions of the interface. PACKAGE is its name, and
 * OPS(OP) is OP(type, params, inputs, outputs) of each op. */
#ifndef TEST_PACKAGE_H
#define TEST_PACKAGE_H

#include <stdio.h>
#include <string.h>

#include "HTP/core/qhpi.h"
#include "QnnOpPackage.h"
#include "QnnSdkBuildId.h"

#define NAME_OF_(name) #name
#define NAME_OF(name) NAME_OF_(name)
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)

#define OP_NAME(type, params, inputs, outputs) #type,
static const char *names[] = {OPS(OP_NAME)};
#define OP_COUNTS(type, params, inputs, outputs) {params, inputs, outputs},
static const uint32_t counts[][3] = {OPS(OP_COUNTS)};
enum { N_OPS = sizeof names / sizeof *names };

static Qnn_ErrorHandle_t init(QnnOpPackage_GlobalInfrastructure_t infrastructure)
{
    (void)infrastructure;
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t terminate(void)
{
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t get_info(const QnnOpPackage_Info_t **info)
{
    static QnnOpPackage_Info_t package = QNN_OP_PACKAGE_INFO_INIT;
    package.packageName = NAME_OF(PACKAGE);
    package.operationNames = names;
    package.numOperations = N_OPS;
    package.sdkBuildId = QNN_SDK_BUILD_ID;
    *info = &package;
    return QNN_SUCCESS;
}

static Qnn_ErrorHandle_t validate(Qnn_OpConfig_t config)
{
    for (uint32_t i = 0; i < N_OPS; i++)
        if (strcmp(config.v1.typeName, names[i]) == 0)
            return config.v1.numOfParams == counts[i][0] && config.v1.numOfInputs == counts[i][1] &&
                           config.v1.numOfOutputs == counts[i][2]
                       ? QNN_SUCCESS
                       : QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE;
    return QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE;
}

QNN_API Qnn_ErrorHandle_t JOINED(PACKAGE, InterfaceProvider)(QnnOpPackage_Interface_t *interface);

QNN_API Qnn_ErrorHandle_t JOINED(PACKAGE, InterfaceProvider)(QnnOpPackage_Interface_t *interface)
{
    interface->interfaceVersion = (Qnn_Version_t)QNN_OP_PACKAGE_API_VERSION_1_4_0;
    interface->v1_4.init = init;
    interface->v1_4.terminate = terminate;
    interface->v1_4.getInfo = get_info;
    interface->v1_4.validateOpConfig = validate;
    return QNN_SUCCESS;
}

/* Whether the file defect.txt of the working folder says so. */
static inline int is(const char *defect)
{
    static char given[64];
    FILE *file = *given ? NULL : fopen("defect.txt", "r");
    if (!*given && (!file || fscanf(file, "%63[^\n]", given) != 1))
        strcpy(given, "none");
    if (file)
        fclose(file);
    return strcmp(given, defect) == 0;
}

/* A tile of an op whose output is computed element by element: the same part of each input of that shape. */
static inline const QHPI_Op *tile_of_elements(const QHPI_Op *op, const QHPI_Shape *start, const QHPI_Shape *extent)
{
    const QHPI_Shape whole = qhpi_op_output(op, 0).shape;
    QHPI_OpRef inputs[4];
    QHPI_OutputDef outputs[2];
    for (uint32_t i = 0; i < qhpi_op_num_inputs(op); i++) {
        const QHPI_OpRef ref = qhpi_op_input(op, i);
        const QHPI_Shape shape = qhpi_op_output(ref.op, ref.output_number).shape;
        inputs[i] = memcmp(&shape, &whole, sizeof whole) == 0 ? qhpi_op_slice(ref, start, extent) : ref;
    }
    for (uint32_t i = 0; i < qhpi_op_num_outputs(op); i++) {
        outputs[i] = qhpi_op_output(op, i);
        outputs[i].shape = *extent;
    }
    return qhpi_op_create(op, qhpi_op_name(op), qhpi_op_num_inputs(op), inputs, qhpi_op_num_outputs(op), outputs);
}

/* ---- short forms for kernels ---- */

#define EXECUTE(name)                                                                                                  \
    static uint32_t name(QHPI_RuntimeHandle *handle, uint32_t num_outputs, QHPI_Tensor **outputs, uint32_t num_inputs, \
                         const QHPI_Tensor *const *inputs)
#define UNUSED (void)handle, (void)num_outputs, (void)outputs, (void)num_inputs, (void)inputs

static inline uint64_t count_of(const QHPI_Tensor *tensor)
{
    const QHPI_Shape shape = qhpi_tensor_shape(tensor);
    uint64_t count = 1;
    for (uint32_t i = 0; i < shape.rank; i++)
        count *= shape.dims[i];
    return count;
}

/* The calling slice's share of `count`. */
static inline uint64_t share_begin(QHPI_RuntimeHandle *handle, uint64_t count)
{
    return count * qhpi_slice_number(handle) / qhpi_num_slices(handle);
}

static inline uint64_t share_end(QHPI_RuntimeHandle *handle, uint64_t count)
{
    return count * (qhpi_slice_number(handle) + 1) / qhpi_num_slices(handle);
}

#define SIGNATURE(element)                                                             \
    {                                                                                  \
        QHPI_##element, QHPI_Layout_Flat4, QHPI_Storage_Direct, QHPI_MemLoc_DDR_OR_TCM \
    }
#define ONE_KERNEL(kernel) .num_kernels = sizeof(kernel) / sizeof *(kernel), .kernels = (kernel)

#endif
