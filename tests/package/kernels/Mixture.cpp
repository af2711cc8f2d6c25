// SPDX-License-Identifier: Apache-2.0
enum Mode { MODE_SUM, MODE_PRODUCT, MODE_LARGEST };

static double combine(int mode, double a, double b)
{
    return mode == MODE_SUM ? a + b : mode == MODE_PRODUCT ? a * b : fmax(a, b);
}

/* mix = gain * combine(parts[0] * a, parts[1] * b) + shift * bias, whose bias is one for each element of the last
 * dimension, or none; "absolute" takes its sign, a limit is its largest value. totals are the sums of its rows, where
 * somebody wants them. */
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    const CustomOpTensorPtr_t a = operation->getInput(0), b = operation->getInput(1), bias = operation->getInput(2);
    const float *parts = getTensorData<float>(backend_utils::getTensorParam(operation->getParam("parts")));
    const double gain = backend_utils::getScalarParam(operation->getParam("gain"));
    const double shift = backend_utils::getScalarParam(operation->getParam("shift"));
    const int mode = static_cast<int>(backend_utils::getScalarParam(operation->getParam("mode")));
    const bool absolute = strcmp(backend_utils::getStringParam(operation->getParam("sign")), "absolute") == 0;
    const CustomOpParamPtr_t most = operation->getParam("limit");
    const double limit = most ? backend_utils::getScalarParam(most) : INFINITY;
    const uint32_t columns = a->currentDimensions[a->rank - 1];
    float *mix = getTensorDataRef<float>(operation->getOutput(0));
    float *totals = getTensorDataRef<float>(operation->getOutput(1));
    for (uint32_t i = 0; i < numTensorSize(a); i++) {
        const double value =
            gain * combine(mode, parts[0] * getTensorData<float>(a)[i], parts[1] * getTensorData<float>(b)[i]);
        const double sum = value + (bias->data ? shift * getTensorData<float>(bias)[i % columns] : 0);
        mix[i] = static_cast<float>(fmin(absolute ? fabs(sum) : sum, limit));
        if (totals)
            totals[i / columns] += mix[i];
    }
    return QNN_SUCCESS;
}
