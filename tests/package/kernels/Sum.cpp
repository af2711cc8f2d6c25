// SPDX-License-Identifier: Apache-2.0
/* Of as many inputs as the node has. */
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    const CustomOpTensorPtr_t y = operation->getOutput(0);
    for (uint32_t input = 0; input < operation->numInput(); input++)
        for (uint32_t i = 0; i < numTensorSize(y); i++)
            getTensorDataRef<float>(y)[i] += getTensorData<float>(operation->getInput(input))[i];
    return QNN_SUCCESS;
}
