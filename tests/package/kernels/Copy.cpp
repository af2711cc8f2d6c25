// SPDX-License-Identifier: Apache-2.0
/* Numbers in the order in which they are added, as far as there is room. */
struct Report {
    float *out;
    uint32_t room, count;

    void add(double value)
    {
        if (count < room)
            out[count] = static_cast<float>(value);
        count++;
    }
};

/* The last two digits of a type are those of its bits, in decimal. */
static uint32_t elementSize(Qnn_DataType_t type)
{
    const uint32_t bits = static_cast<uint32_t>(type) & 0xFF;
    return bits == 0x08 ? 1 : bits == 0x16 ? 2 : 4;
}

static void addTensor(Report &report, CustomOpTensorPtr_t tensor)
{
    report.add(tensor->data != nullptr);
    report.add(tensor->rank);
    for (uint32_t i = 0; i < tensor->rank; i++)
        report.add(tensor->currentDimensions[i] == tensor->maxDimensions[i] ? tensor->currentDimensions[i] : -1.0);
    report.add(tensor->dataType);
    if (tensor->quantizeParams.encodingDefinition == QNN_DEFINITION_DEFINED) {
        report.add(tensor->quantizeParams.scaleOffsetEncoding.scale);
        report.add(tensor->quantizeParams.scaleOffsetEncoding.offset);
    }
}

static double element(CustomOpTensorPtr_t tensor, uint32_t i)
{
    switch (tensor->dataType) {
    case QNN_DATATYPE_FLOAT_32:
        return getTensorData<float>(tensor)[i];
    case QNN_DATATYPE_INT_8:
        return getTensorData<int8_t>(tensor)[i];
    case QNN_DATATYPE_INT_16:
        return getTensorData<int16_t>(tensor)[i];
    case QNN_DATATYPE_INT_32:
        return getTensorData<int32_t>(tensor)[i];
    case QNN_DATATYPE_UINT_8:
    case QNN_DATATYPE_BOOL_8:
        return getTensorData<uint8_t>(tensor)[i];
    case QNN_DATATYPE_UFIXED_POINT_8:
        return tensor->quantizeParams.scaleOffsetEncoding.scale *
               (getTensorData<uint8_t>(tensor)[i] + tensor->quantizeParams.scaleOffsetEncoding.offset);
    case QNN_DATATYPE_UINT_16:
        return getTensorData<uint16_t>(tensor)[i];
    case QNN_DATATYPE_UINT_32:
        return getTensorData<uint32_t>(tensor)[i];
    default:
        return 0;
    }
}

/* y: the elements of x as floats; bytes: those of x; told: what else the op was handed. */
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    static const char *const numbers[] = {"f32", "f16", "i8", "i16", "i32",  "u8",
                                          "u16", "u32", "b8", "i64", "left", "kind"};
    static const char *const tensors[] = {"t_f32", "t_f16", "t_i8",  "t_i16", "t_i32",
                                          "t_u8",  "t_u16", "t_u32", "t_b8",  "table"};
    static const char *const strings[] = {"word", "blank"};
    const CustomOpTensorPtr_t x = operation->getInput(0), told = operation->getOutput(2);
    Report report = {getTensorDataRef<float>(told), numTensorSize(told), 0};
    for (uint32_t i = 0; i < numTensorSize(x); i++)
        getTensorDataRef<float>(operation->getOutput(0))[i] = static_cast<float>(element(x, i));
    const uint32_t size = numTensorSize(x) * elementSize(x->dataType);
    QNN_CUSTOM_BE_ENSURE_EQ(numTensorSize(operation->getOutput(1)), size, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    memcpy(operation->getOutput(1)->data, x->data, size);
    for (uint32_t i = 0; i < operation->numInput(); i++)
        addTensor(report, operation->getInput(i));
    for (uint32_t i = 0; i < operation->numOutput(); i++)
        addTensor(report, operation->getOutput(i));
    for (const char *name : numbers)
        report.add(backend_utils::getScalarParam(operation->getParam(name)));
    for (const char *name : strings) {
        const char *text = backend_utils::getStringParam(operation->getParam(name));
        for (size_t i = 0; i <= strlen(text); i++)
            report.add(static_cast<unsigned char>(text[i]));
    }
    for (const char *name : tensors) {
        const CustomOpTensorPtr_t tensor = backend_utils::getTensorParam(operation->getParam(name));
        addTensor(report, tensor);
        for (uint32_t i = 0; i < numTensorSize(tensor) * elementSize(tensor->dataType); i++)
            report.add(getTensorData<uint8_t>(tensor)[i]);
    }
    QNN_CUSTOM_BE_ENSURE_EQ(report.count, report.room, QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    return QNN_SUCCESS;
}
