/* SPDX-License-Identifier: Apache-2.0 */
/* Params of the container's Resize, which all frameworks' resizes of images become. */
#ifndef CONVERTERS_LOWERING_RESIZE_PARAMS_H
#define CONVERTERS_LOWERING_RESIZE_PARAMS_H

#include "converters/lowering/lower.h"
#include "kernel/resample.h"

/* Sets the params of the Resize being built. `scales` are those of height and width, out / in; NULL for other inputs
 * than images. */
void lower_resize_params(struct build *b, const struct resample *how, const float *scales);

#endif
