/* The front ends that there are: onnx/onnx_frontend.c and tensorflow/tf_frontend.c. */
#ifndef CONVERTERS_FRONTENDS_H
#define CONVERTERS_FRONTENDS_H

#include "converters/driver/driver.h"

struct frontend onnx_frontend(void);
struct frontend tensorflow_frontend(void);

#endif
