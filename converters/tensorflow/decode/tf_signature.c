/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/decode/tf_signature.h"

#include <stdlib.h>
#include <string.h>

#include "converters/tensorflow/decode/tensor_shape.h"
#include "converters/tensorflow/schema/tf_fields.h"
#include "converters/tensorflow/schema/tf_names.h"
#include "converters/tensorflow/schema/tf_types.h"

static const char *only_text(const struct tf_model *m, const struct sections *s, uint32_t number)
{
    const struct wire_field f = wire_only(m->file, s, number);
    return tf_text(m, &f);
}

static odlc_status add_end(struct tf_model *m, const struct wire_field *entry, struct tf_end *out)
{
    const struct sections s = wire_sections_of(m->file, entry);
    struct wire_field value = wire_only(m->file, &s, ENTRY_VALUE);
    const struct sections info = wire_sections_of(m->file, &value);
    struct wire_field dtype = wire_only(m->file, &info, TENSOR_INFO_DTYPE),
                      shape = wire_only(m->file, &info, TENSOR_INFO_SHAPE);
    *out = (struct tf_end){.key = only_text(m, &s, ENTRY_KEY)};
    out->value.name = tensorflow_canonical_name(m->memory.kept, only_text(m, &info, TENSOR_INFO_NAME));
    out->value.dtype = tf_dtype((int64_t)dtype.value);
    out->value.not_a_tensor = !*out->value.name;
    if (info.of[TENSOR_INFO_SHAPE].count)
        TRY(tf_decode_shape(m, &shape, out->value.name, &out->value));
    return ODLC_OK;
}

static int compare_ends(const void *a, const void *b)
{
    return strcmp(((const struct tf_end *)a)->key, ((const struct tf_end *)b)->key);
}

odlc_status tf_decode_signature(struct tf_model *m, const struct wire_field *signature, struct tf_signature *out)
{
    struct wire w = wire_in(m->file, signature);
    struct wire_field f;
    struct tf_end end;
    *out = (struct tf_signature){0};
    while (wire_next(&w, &f)) {
        if (f.number != SIGNATURE_INPUTS && f.number != SIGNATURE_OUTPUTS)
            continue;
        TRY(add_end(m, &f, &end));
        if (f.number == SIGNATURE_INPUTS)
            vec_push(m->memory.scratch, &out->inputs, end);
        else
            vec_push(m->memory.scratch, &out->outputs, end);
    }
    if (out->outputs.count)
        qsort(out->outputs.data, out->outputs.count, sizeof *out->outputs.data, compare_ends);
    if (out->inputs.count)
        qsort(out->inputs.data, out->inputs.count, sizeof *out->inputs.data, compare_ends);
    return ODLC_OK;
}
