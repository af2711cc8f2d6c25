/* SPDX-License-Identifier: Apache-2.0 */
/* Integers whose scales belong to blocks, stored as integers (--block_weights packed). */
#ifndef CONVERTERS_ONNX_LOWER_ONNX_BLOCKS_H
#define CONVERTERS_ONNX_LOWER_ONNX_BLOCKS_H

#include "converters/onnx/lower/onnx_quantized.h"

struct stored_blocks {
    tensor_id x;     /* known integers of 4 or 8 bits (is_storable) */
    tensor_id scale; /* known floats: one per block along the axis, where `groups` says so per group */
    tensor_id zero;  /* likewise, or integers of the type of x; NO_TENSOR: `middle` for all */
    double middle;   /* a value of the type of x */
    struct granularity granularity;
    tensor_id groups; /* known positions: the block whose scale an index of the axis has; NO_TENSOR: the one it is in */
};

/* Whether the option asks for it, and the integers are known and of a type with a fixed-point twin of 4 or 8 bits. */
bool is_storable(const struct lower *l, tensor_id x);
/* The constant, called `name`, as fixed-point elements of the scale 1: an element stands for the integer less `zero`.
 */
tensor_id emit_stored(struct emit *s, tensor_id integers, const char *name, double zero);
/* The reals that fixed-point elements stand for, as float32; of a constant, too, they are computed where the container
 * runs. */
tensor_id emit_reals(struct emit *s, tensor_id fixed);
/* (x - zero) · scale as float32, of the shape of x: steps that are computed where the container runs. */
tensor_id emit_stored_blocks(struct emit *s, const struct stored_blocks *w);
/* A note that blocks of so many integers become floats, and which option keeps them. */
void note_float_blocks(const struct lower *l, int64_t block);

#endif
