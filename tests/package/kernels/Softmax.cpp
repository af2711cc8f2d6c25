// SPDX-License-Identifier: Apache-2.0
/* exp(x) as a part of its sum along an axis, which may be counted from the end. */
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    const CustomOpTensorPtr_t x = operation->getInput(0);
    int axis = static_cast<int>(backend_utils::getScalarParam(operation->getParam("axis")));
    axis += axis < 0 ? static_cast<int>(x->rank) : 0;
    QNN_CUSTOM_BE_ENSURE(axis >= 0 && axis < static_cast<int>(x->rank), QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    uint32_t stride = 1;
    for (uint32_t i = static_cast<uint32_t>(axis) + 1; i < x->rank; i++)
        stride *= x->currentDimensions[i];
    const uint32_t count = x->currentDimensions[axis], size = numTensorSize(x);
    for (uint32_t first = 0; first < size; first += (first + 1) % stride ? 1 : stride * (count - 1) + 1) {
        const float *from = getTensorData<float>(x) + first;
        float *to = getTensorDataRef<float>(operation->getOutput(0)) + first;
        float largest = from[0];
        double sum = 0;
        for (uint32_t i = 1; i < count; i++)
            largest = fmaxf(largest, from[i * stride]);
        for (uint32_t i = 0; i < count; i++)
            sum += exp(static_cast<double>(from[i * stride]) - largest);
        for (uint32_t i = 0; i < count; i++)
            to[i * stride] = static_cast<float>(exp(static_cast<double>(from[i * stride]) - largest) / sum);
    }
    return QNN_SUCCESS;
}
