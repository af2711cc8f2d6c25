/* Opening files that a model names, without leaving the model's folder. */
#ifndef CONVERTERS_ONNX_EXTERNAL_H
#define CONVERTERS_ONNX_EXTERNAL_H

#include "converters/onnx/decode.h"

#define NAME_MAX_BYTES 255

/* Opens path, relative to the folder's descriptor, for reading; -1 and errno EXDEV or ELOOP when it leads out. Links
 * that stay inside are followed. */
int open_beneath(int folder, const char *path);
/* The same step by step for systems without openat2: follows no links at all. path must have no ".." and no empty
 * parts. */
int open_beneath_stepwise(int folder, const char *path);

#endif
