/* The families of the operator table: one array of rows per file. A new file adds its line here. */
#ifndef OP_FAMILIES_H
#define OP_FAMILIES_H

#include "op/op.h"

#define OP_FAMILIES(X) \
    X(eltwise)         \
    X(unary)           \
    X(neuron)          \
    X(quantize)        \
    X(recurrent)       \
    X(reduce)          \
    X(softmax)         \
    X(norm)            \
    X(conv)            \
    X(pool)            \
    X(matmul)          \
    X(resize)          \
    X(shape)           \
    X(slice)           \
    X(index)           \
    X(sample)          \
    X(roi)             \
    X(patch)           \
    X(batch)

#define DECLARE_FAMILY(name)                 \
    extern const struct op op_rows_##name[]; \
    extern const size_t op_rows_##name##_count;
OP_FAMILIES(DECLARE_FAMILY)
#undef DECLARE_FAMILY

#endif
