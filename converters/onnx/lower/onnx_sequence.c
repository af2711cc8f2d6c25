/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX sequences and optionals: what they hold is known while the graph is lowered, so they leave nothing in the
 * container. */
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

static odlc_status need_sequence(const struct lower *l, uint32_t i, const struct lower_value **out)
{
    if (i >= l->n_in || l->values[i].kind != VALUE_SEQUENCE)
        return lower_invalid(l, NULL, NULL, "input %u is not a sequence", i);
    *out = &l->values[i];
    return ODLC_OK;
}

static void give_sequence(struct lower *l, uint32_t i, const struct lower_value *items, size_t count)
{
    if (i < l->n_out)
        l->results[i] = (struct lower_value){.kind = VALUE_SEQUENCE, .items = items, .count = count};
}

/* The position that input i holds, in [0, end); `absent` when there is none. */
static odlc_status position(const struct lower *l, uint32_t i, int64_t count, int64_t end, int64_t absent, int64_t *out)
{
    const int64_t *value;
    uint32_t n;
    TRY(lower_const_ints(l, i, "position", &value, &n));
    if (value && n != 1)
        return lower_invalid(l, NULL, NULL, "input %u (position) has %u elements instead of one", i, n);
    *out = value ? value[0] < 0 ? value[0] + count : value[0] : absent;
    if (*out < 0 || *out >= end)
        return lower_invalid(l, NULL, NULL, "position %lld is outside a sequence of %lld", (long long)*out,
                             (long long)count);
    return ODLC_OK;
}

/* ---- making and changing ---- */

odlc_status lower_sequence_construct(struct lower *l)
{
    for (uint32_t i = 0; i < l->n_in; i++) {
        tensor_id tensor;
        TRY(lower_need(l, i, "inputs", &tensor));
    }
    give_sequence(l, 0, arena_memdup(l->arena, l->values, l->n_in * sizeof *l->values), l->n_in);
    return ODLC_OK;
}

odlc_status lower_sequence_empty(struct lower *l)
{
    give_sequence(l, 0, NULL, 0);
    return ODLC_OK;
}

odlc_status lower_sequence_insert(struct lower *l)
{
    const struct lower_value *from;
    tensor_id tensor;
    int64_t at;
    TRY(need_sequence(l, 0, &from));
    TRY(lower_need(l, 1, "tensor", &tensor));
    int64_t count = (int64_t)from->count;
    TRY(position(l, 2, count, count + 1, count, &at));
    struct lower_value *items = arena_array(l->arena, struct lower_value, from->count + 1);
    for (int64_t i = 0; i <= count; i++)
        items[i] = i == at ? l->values[1] : from->items[i - (i > at)];
    give_sequence(l, 0, items, from->count + 1);
    return ODLC_OK;
}

odlc_status lower_sequence_erase(struct lower *l)
{
    const struct lower_value *from;
    int64_t at;
    TRY(need_sequence(l, 0, &from));
    int64_t count = (int64_t)from->count;
    TRY(position(l, 1, count, count, count - 1, &at));
    struct lower_value *items = arena_array(l->arena, struct lower_value, from->count);
    for (int64_t i = 0; i < count - 1; i++)
        items[i] = from->items[i + (i >= at)];
    give_sequence(l, 0, items, from->count - 1);
    return ODLC_OK;
}

/* ---- reading ---- */

odlc_status lower_sequence_at(struct lower *l)
{
    const struct lower_value *from;
    int64_t at;
    TRY(need_sequence(l, 0, &from));
    TRY(position(l, 1, (int64_t)from->count, (int64_t)from->count, -1, &at));
    l->results[0] = from->items[at];
    return ODLC_OK;
}

static tensor_id known_scalar(const struct lower *l, enum dtype dtype, int64_t value)
{
    struct shape scalar = {.rank = 0};
    return build_const_ints(l->b, lower_out_name(l, 0), dtype, &scalar, &value);
}

odlc_status lower_sequence_length(struct lower *l)
{
    const struct lower_value *from;
    TRY(need_sequence(l, 0, &from));
    l->out[0] = known_scalar(l, DT_INT64, (int64_t)from->count);
    return ODLC_OK;
}

/* ---- tensors to sequences and back ---- */

/* The sizes of the parts; without a list they have one size, and the last what is left. */
static odlc_status part_sizes(const struct lower *l, int64_t dim, int64_t **sizes, uint32_t *count, bool *single)
{
    const int64_t *split;
    uint32_t n;
    TRY(lower_const_ints(l, 1, "split", &split, &n));
    *single = !split;
    if (split && build_rank(l->b, lower_in(l, 1)) == 1) {
        int64_t sum = 0;
        for (uint32_t i = 0; i < n; i++)
            sum = split[i] < 0 || split[i] > dim - sum ? INT64_MAX / 2 : sum + split[i];
        if (sum != dim)
            return lower_invalid(l, "split", NULL, "the parts do not add up to an axis of %lld", (long long)dim);
        *sizes = arena_memdup(l->arena, split, n * sizeof *split);
        *count = n;
        return ODLC_OK;
    }
    int64_t size = split ? split[0] : 1;
    if (size <= 0)
        return lower_invalid(l, "split", NULL, "parts of %lld elements are not possible", (long long)size);
    uint64_t parts = ((uint64_t)dim + (uint64_t)size - 1) / (uint64_t)size;
    TRY(lower_check_trips(l, "parts of a tensor", parts));
    TRY(lower_table(l, parts, sizeof **sizes, sizes));
    *count = (uint32_t)parts;
    for (uint32_t i = 0; i < *count; i++)
        (*sizes)[i] = min_i64(size, dim - (int64_t)i * size);
    return ODLC_OK;
}

odlc_status lower_split_to_sequence(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x;
    int64_t axis_attr, keep, *sizes, at = 0;
    uint32_t axis, count;
    bool single;
    TRY(lower_need(l, 0, "input", &x));
    TRY(lower_attr_int(l, "axis", 0, &axis_attr));
    TRY(lower_attr_int(l, "keepdims", 1, &keep));
    TRY(lower_axis(l, "axis", axis_attr, build_rank(l->b, x), &axis));
    TRY(part_sizes(l, build_type(l->b, x)->shape.dims[axis], &sizes, &count, &single));
    struct lower_value *items = arena_array(l->arena, struct lower_value, count);
    for (uint32_t i = 0; i < count; i++) {
        tensor_id piece = keep || !single ? emit_slice(&s, x, axis, at, at + sizes[i]) : emit_element(&s, x, axis, at);
        items[i] = (struct lower_value){.kind = VALUE_TENSOR, .tensor = piece};
        at += sizes[i];
    }
    give_sequence(l, 0, items, count);
    return s.status;
}

odlc_status lower_concat_from_sequence(struct lower *l)
{
    struct emit s = {.l = l};
    const struct lower_value *from;
    int64_t axis_attr, new_axis;
    uint32_t axis;
    TRY(need_sequence(l, 0, &from));
    TRY(lower_attr_int(l, "axis", 0, &axis_attr));
    TRY(lower_attr_int(l, "new_axis", 0, &new_axis));
    if (from->count == 0)
        return lower_unsupported(l, NULL, NULL, "the sequence is empty");
    tensor_id *parts = arena_array(l->arena, tensor_id, from->count);
    for (size_t i = 0; i < from->count; i++)
        parts[i] = from->items[i].tensor;
    TRY(lower_axis(l, "axis", axis_attr, build_rank(l->b, parts[0]) + (new_axis != 0), &axis));
    tensor_id joined = new_axis ? emit_stack(&s, parts, (uint32_t)from->count, axis)
                                : emit_concat(&s, parts, (uint32_t)from->count, axis);
    return emit_give(&s, 0, joined);
}

/* ---- SequenceMap ---- */

odlc_status lower_sequence_map(struct lower *l)
{
    const struct lower_value *first;
    const struct fw_graph *body;
    TRY(need_sequence(l, 0, &first));
    TRY(lower_attr_graph(l, "body", &body));
    size_t n_out = body->outputs.count, count = first->count;
    struct lower_value *values = arena_array(l->arena, struct lower_value, l->n_in);
    struct lower_value *results = arena_array(l->arena, struct lower_value, n_out);
    struct lower_value *items = arena_array(l->arena, struct lower_value, n_out * count);
    for (uint32_t k = 1; k < l->n_in; k++)
        if (l->values[k].kind == VALUE_SEQUENCE && l->values[k].count != count)
            return lower_invalid(l, NULL, NULL, "input %u has %zu items, input 0 has %zu", k, l->values[k].count,
                                 count);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < l->n_in; k++)
            values[k] = l->values[k].kind == VALUE_SEQUENCE ? l->values[k].items[i] : l->values[k];
        const char *prefix = arena_printf(l->arena, "%s/%zu", l->node->name, i);
        TRY(lower_subgraph(l, body, prefix, values, l->n_in, results));
        for (size_t k = 0; k < n_out; k++)
            items[k * count + i] = results[k];
    }
    for (uint32_t k = 0; k < l->n_out && k < n_out; k++)
        give_sequence(l, k, &items[k * count], count);
    return ODLC_OK;
}

/* ---- optionals ---- */

odlc_status lower_optional(struct lower *l)
{
    l->results[0] = l->n_in ? l->values[0] : (struct lower_value){.kind = VALUE_EMPTY};
    return ODLC_OK;
}

odlc_status lower_optional_has_element(struct lower *l)
{
    bool has = l->n_in && l->values[0].kind != VALUE_EMPTY;
    l->out[0] = known_scalar(l, DT_BOOL, has);
    return ODLC_OK;
}

odlc_status lower_optional_get_element(struct lower *l)
{
    if (!l->n_in || l->values[0].kind == VALUE_EMPTY)
        return lower_invalid(l, NULL, NULL, "the optional holds nothing");
    l->results[0] = l->values[0];
    return ODLC_OK;
}
