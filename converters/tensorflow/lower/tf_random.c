/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow operators that give random numbers of a known range. */
#include <math.h>

#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/random.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"

/* The distance of neighbours in [1, 2): numbers in [0, 1) are made as such ones minus 1. */
static double spacing(enum dtype dtype)
{
    switch (dtype) {
    case DT_FLOAT16:
        return 0x1p-10;
    case DT_BFLOAT16:
        return 0x1p-7;
    case DT_FLOAT32:
        return 0x1p-23;
    default:
        return 0x1p-52;
    }
}

/* Uniform numbers in [0, 1). */
odlc_status tf_random_uniform(struct lower *l)
{
    const int64_t *dims;
    uint32_t count;
    struct random_range *range = arena_new(l->arena, struct random_range);
    tensor_id shape;
    TRY(lower_need(l, 0, "shape", &shape));
    TRY(lower_const_ints(l, 0, "shape", &dims, &count));
    TRY(lower_tf_dtype(l, "dtype", DT_FLOAT32, &range->type.dtype));
    if (!dtype_is_float(range->type.dtype) || dtype_is_small_float(range->type.dtype))
        return lower_invalid(l, "dtype", NULL, "%s numbers between 0 and 1", dtype_info(range->type.dtype)->name);
    TRY(lower_shape_of(l, "shape", dims, count, &range->type.shape));
    range->high = 1 - spacing(range->type.dtype);
    l->results[0] = (struct lower_value){.kind = VALUE_RANDOM, .range = range};
    return ODLC_OK;
}
