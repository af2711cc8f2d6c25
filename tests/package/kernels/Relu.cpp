// SPDX-License-Identifier: Apache-2.0
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    const CustomOpTensorPtr_t x = operation->getInput(0);
    const float *from = getTensorData<float>(x);
    float *to = getTensorDataRef<float>(operation->getOutput(0));
    for (uint32_t i = 0; i < numTensorSize(x); i++)
        to[i] = fmaxf(from[i], 0.0f);
    return QNN_SUCCESS;
}
