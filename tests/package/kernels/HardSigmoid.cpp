// SPDX-License-Identifier: Apache-2.0
/* y = max(0, min(1, alpha * x + beta)) */
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    const CustomOpTensorPtr_t x = operation->getInput(0);
    const float alpha = static_cast<float>(backend_utils::getScalarParam(operation->getParam("alpha")));
    const float beta = static_cast<float>(backend_utils::getScalarParam(operation->getParam("beta")));
    const float *from = getTensorData<float>(x);
    float *to = getTensorDataRef<float>(operation->getOutput(0));
    for (uint32_t i = 0; i < numTensorSize(x); i++)
        to[i] = fmaxf(0.0f, fminf(1.0f, alpha * from[i] + beta));
    return QNN_SUCCESS;
}
