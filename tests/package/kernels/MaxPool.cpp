// SPDX-License-Identifier: Apache-2.0
static const int32_t *list(CustomOp *operation, const char *name)
{
    return getTensorData<int32_t>(backend_utils::getTensorParam(operation->getParam(name)));
}

/* The largest element of a window that begins at (top, left), which may lie outside of the image. */
static float largest(const float *image, int height, int width, int top, int left, const int32_t *window)
{
    float found = -INFINITY;
    for (int y = top < 0 ? 0 : top; y < height && y < top + window[0]; y++)
        for (int x = left < 0 ? 0 : left; x < width && x < left + window[1]; x++)
            found = fmaxf(found, image[y * width + x]);
    return found;
}

/* Images are NCHW. The output's dimensions say how many windows there are, and thereby whether they were rounded up. */
Qnn_ErrorHandle_t execute(CustomOp *operation)
{
    const CustomOpTensorPtr_t x = operation->getInput(0), y = operation->getOutput(0);
    const int32_t *window = list(operation, "kernel_shape"), *strides = list(operation, "strides");
    const int32_t *pads = list(operation, "pads");
    const int height = static_cast<int>(x->currentDimensions[2]), width = static_cast<int>(x->currentDimensions[3]);
    const uint32_t rows = y->currentDimensions[2], columns = y->currentDimensions[3];
    QNN_CUSTOM_BE_ENSURE(x->rank == 4 && y->currentDimensions[1] == x->currentDimensions[1],
                         QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE)
    float *to = getTensorDataRef<float>(y);
    for (uint32_t i = 0; i < numTensorSize(y); i++) {
        const float *image = getTensorData<float>(x) + i / (rows * columns) * x->currentDimensions[2] * width;
        to[i] = largest(image, height, width, static_cast<int>(i / columns % rows) * strides[0] - pads[0],
                        static_cast<int>(i % columns) * strides[1] - pads[1], window);
    }
    return QNN_SUCCESS;
}
