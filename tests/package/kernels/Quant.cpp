// SPDX-License-Identifier: Apache-2.0
/* x as the nearest of the values that an integer of so many bits, a scale and a zero point give. */
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    const CustomOpTensorPtr_t x = operation->getInput(0);
    const float scale = *getTensorData<float>(operation->getInput(1)),
                zero = *getTensorData<float>(operation->getInput(2));
    const double bits = *getTensorData<float>(operation->getInput(3));
    const double is_signed = backend_utils::getScalarParam(operation->getParam("signed"));
    const double narrow = backend_utils::getScalarParam(operation->getParam("narrow"));
    const float least = static_cast<float>(is_signed != 0 ? -exp2(bits - 1) + narrow : 0);
    const float most = static_cast<float>(is_signed != 0 ? exp2(bits - 1) - 1 : exp2(bits) - 1 - narrow);
    QNN_CUSTOM_BE_ENSURE_EQ(strcmp(backend_utils::getStringParam(operation->getParam("rounding_mode")), "ROUND"), 0,
                            QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT)
    float *to = getTensorDataRef<float>(operation->getOutput(0));
    for (uint32_t i = 0; i < numTensorSize(x); i++) {
        const float step = rintf(getTensorData<float>(x)[i] / scale + zero);
        to[i] = (fmaxf(least, fminf(most, step)) - zero) * scale;
    }
    return QNN_SUCCESS;
}
