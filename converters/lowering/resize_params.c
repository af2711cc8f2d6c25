/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/lowering/resize_params.h"

/* What is not about the interpolation at hand, or is the op's default, is left out. */
void lower_resize_params(struct build *b, const struct resample *how, const float *scales)
{
    bool is_cubic = how->interpolation == INTERPOLATE_CUBIC;
    build_int(b, PARAM_align_corners, how->position == POSITION_ALIGN_CORNERS);
    build_int(b, PARAM_half_pixel_centers,
              how->position == POSITION_HALF_PIXEL || how->position == POSITION_PYTORCH_HALF_PIXEL);
    build_int(b, PARAM_transformation_mode, how->position);
    build_int(b, PARAM_interpolation_mode, how->interpolation);
    if (how->interpolation == INTERPOLATE_NEAREST && how->nearest != NEAREST_PREFER_FLOOR)
        build_int(b, PARAM_nearest_mode, how->nearest);
    if (is_cubic)
        build_float(b, PARAM_cubic_coeff, (double)how->cubic_coeff);
    if (is_cubic && how->exclude_outside)
        build_int(b, PARAM_exclude_outside, 1);
    if (!scales)
        return;
    build_float(b, PARAM_scale_height, (double)scales[0]);
    build_float(b, PARAM_scale_width, (double)scales[1]);
}
