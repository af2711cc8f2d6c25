/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/convert_model.h"
#include "converters/onnx/onnx_frontend.h"
#include "converters/tensorflow/tf_frontend.h"

odlc_status odlc_convert(enum odlc_framework framework, const struct odlc_convert_options *options,
                         struct odlc_conversion **conversion)
{
    static const struct frontend *const frontends[] = {
        [ODLC_ONNX] = &onnx_frontend, [ODLC_TENSORFLOW] = &tensorflow_frontend};
    const size_t i = (size_t)framework;
    return convert_model(i < COUNT_OF(frontends) ? frontends[i] : NULL, options, conversion);
}
