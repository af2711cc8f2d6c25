/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/decode/tensor_shape.h"

#include "converters/tensorflow/schema/tf_fields.h"

static int64_t dim_size(const struct tf_model *m, const struct wire_field *dim)
{
    struct wire w = wire_in(m->file, dim);
    struct wire_field f;
    int64_t size = 0;
    while (wire_next_of(&w, DIM_SIZE, &f))
        size = (int64_t)f.value;
    return size;
}

odlc_status tf_decode_shape(struct tf_model *m, const struct wire_field *shape, const char *node, struct fw_value *v)
{
    struct wire w = wire_in(m->file, shape);
    struct wire_field f;
    VEC(int64_t) dims = {0};
    v->has_shape = true;
    while (wire_next(&w, &f)) {
        if (f.number == SHAPE_UNKNOWN_RANK && f.value)
            v->has_shape = false;
        if (f.number != SHAPE_DIM)
            continue;
        int64_t size = dim_size(m, &f);
        vec_push(m->memory.graph, &dims, size < 0 ? DIM_OPEN : size);
    }
    if (dims.count > MAX_RANK)
        return diag_error(m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(m), .node = node), "tensorflow-rank",
                          "a shape has %zu dimensions, more than %d", dims.count, MAX_RANK);
    v->rank = (uint8_t)dims.count;
    v->dims = dims.data;
    return ODLC_OK;
}
