#include "converters/driver/driver.h"
#include "converters/frontends.h"

odlc_status odlc_convert(enum odlc_framework framework, const struct odlc_convert_options *options,
                         struct odlc_conversion **conversion)
{
    const struct frontend onnx = onnx_frontend(), tensorflow = tensorflow_frontend();
    const struct frontend *const frontends[] = {[ODLC_ONNX] = &onnx, [ODLC_TENSORFLOW] = &tensorflow};
    const size_t i = (size_t)framework;
    return convert_model(i < COUNT_OF(frontends) ? frontends[i] : NULL, options, conversion);
}
