/* SPDX-License-Identifier: Apache-2.0 */
/* TensorArrays and TensorLists: what they hold is known while the graph is lowered, so they leave nothing in the
 * container. A TensorArray is what its flow says; its handle is there for the model alone. */
#include "converters/lowering/constants.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/lower/list.h"
#include "converters/tensorflow/lower/tf_lowerings.h"
#include "converters/tensorflow/lower/type_attribute.h"

/* ---- operands ---- */

static odlc_status need_list(const struct lower *l, uint32_t i, const struct lower_value **out)
{
    if (i >= l->n_in || l->values[i].kind != VALUE_SEQUENCE)
        return lower_invalid(l, NULL, NULL, "input %u is no list of tensors", i);
    *out = &l->values[i];
    return ODLC_OK;
}

/* The flow of a TensorArray is the last input. */
static odlc_status need_flow(const struct lower *l, const struct lower_value **out)
{
    return need_list(l, l->n_in ? l->n_in - 1 : 0, out);
}

static odlc_status check_length(const struct lower *l, int64_t length)
{
    if (length < 0)
        return lower_invalid(l, NULL, NULL, "a list cannot have %lld items", (long long)length);
    return lower_check_trips(l, "items of a list", (uint64_t)length);
}

/* Integers of input i, which must be known: places in a list. */
static odlc_status places(const struct lower *l, uint32_t i, const char *what, int64_t end, const int64_t **out,
                          uint32_t *count)
{
    tensor_id x;
    TRY(lower_need(l, i, what, &x));
    TRY(lower_const_ints(l, i, what, out, count));
    for (uint32_t k = 0; k < *count; k++)
        if ((*out)[k] < 0 || (*out)[k] >= end)
            return lower_invalid(l, NULL, NULL, "item %lld is outside of a list of %lld", (long long)(*out)[k],
                                 (long long)end);
    return ODLC_OK;
}

static odlc_status place(const struct lower *l, uint32_t i, int64_t end, size_t *out)
{
    const int64_t *value;
    uint32_t count;
    TRY(places(l, i, "index", end, &value, &count));
    if (count != 1)
        return lower_invalid(l, NULL, NULL, "input %u (index) has %u elements instead of one", i, count);
    *out = (size_t)value[0];
    return ODLC_OK;
}

/* A shape that items may have: false where a part of it is not known. */
static bool whole_shape(const int64_t *dims, uint64_t rank, struct shape *out)
{
    bool whole = rank <= MAX_RANK;
    *out = (struct shape){.rank = (uint32_t)rank};
    for (uint64_t i = 0; whole && i < rank; i++) {
        out->dims[i] = dims[i];
        whole = dims[i] >= 0;
    }
    return whole && !shape_too_large(out);
}

/* That of input i: a vector, or -1 for an unknown rank. */
static bool shape_operand(const struct lower *l, uint32_t i, struct shape *out)
{
    tensor_id x = lower_in(l, i);
    uint64_t rank;
    if (x == NO_TENSOR || !build_is_const(l->b, x) || build_rank(l->b, x) != 1)
        return false;
    const int64_t *dims = build_const_as_ints(l->b, x, &rank);
    return whole_shape(dims, rank, out);
}

static bool shape_attr(const struct lower *l, struct shape *out)
{
    const struct fw_attr *a = fw_find_attr(l->node, "element_shape");
    return a && a->kind == FW_INTS && whole_shape(a->ints, a->count, out);
}

/* ---- items ---- */

static struct lower_value tensor_value(tensor_id id)
{
    return (struct lower_value){.kind = VALUE_TENSOR, .tensor = id};
}

/* What a list has where nothing was written: zeros, when their shape is known. */
static odlc_status nothing_written(const struct lower *l, const char *dtype_attr, bool known, const struct shape *shape,
                                   struct lower_value *out)
{
    enum dtype dtype;
    *out = (struct lower_value){.kind = VALUE_EMPTY};
    if (!known)
        return ODLC_OK;
    TRY(lower_tf_dtype(l, dtype_attr, DT_NONE, &dtype));
    if (dtype != DT_STRING)
        *out = tensor_value(lower_splat(l, step_name(l, "zeros"), dtype, shape, 0));
    return ODLC_OK;
}

/* Tensors in a list of items, for operators that read: one that was never written is of zeros, if the operator, or
 * another item, says its shape. */
static odlc_status read_items(const struct lower *l, const char *dtype_attr, bool known, struct shape shape,
                              const struct lower_value *const *items, size_t count, tensor_id *out)
{
    struct lower_value zeros = {.kind = VALUE_EMPTY};
    for (size_t i = 0; i < count && !known; i++) {
        known = items[i]->kind == VALUE_TENSOR;
        if (known)
            shape = build_type(l->b, items[i]->tensor)->shape;
    }
    for (size_t i = 0; i < count; i++) {
        if (items[i]->kind != VALUE_TENSOR && zeros.kind == VALUE_EMPTY)
            TRY(nothing_written(l, dtype_attr, known, &shape, &zeros));
        const struct lower_value *item = items[i]->kind == VALUE_TENSOR ? items[i] : &zeros;
        if (item->kind != VALUE_TENSOR)
            return lower_unsupported(l, NULL, NULL, "it reads what was never written, and whose shape is not known");
        out[i] = item->tensor;
    }
    return ODLC_OK;
}

static const struct lower_value **all_items(const struct lower *l, const struct lower_value *list, size_t *count)
{
    *count = list_length(list);
    const struct lower_value **items = arena_array(l->arena, const struct lower_value *, *count);
    for (size_t i = 0; i < *count; i++)
        items[i] = list_at(list, i);
    return items;
}

/* One item, as output `out`. */
static odlc_status give_item(struct lower *l, const struct lower_value *list, size_t at, const char *dtype_attr,
                             bool known, const struct shape *shape, uint32_t out)
{
    struct emit s = {.l = l};
    const struct lower_value *item = list_at(list, at), *first = list_first(list);
    const struct shape *said = known || !first ? shape : &build_type(l->b, first->tensor)->shape;
    tensor_id tensor;
    TRY(read_items(l, dtype_attr, known || first, *said, &item, 1, &tensor));
    return out < l->n_out ? emit_give(&s, out, tensor) : ODLC_OK;
}

/* Items along a new first axis, as output 0. */
static odlc_status give_stack(struct lower *l, const struct lower_value *const *items, size_t count,
                              const char *dtype_attr, bool known, const struct shape *shape)
{
    struct emit s = {.l = l};
    enum dtype dtype;
    tensor_id *tensors = arena_array(l->arena, tensor_id, count);
    TRY(read_items(l, dtype_attr, known, *shape, items, count, tensors));
    if (count)
        return emit_give(&s, 0, emit_stack(&s, tensors, (uint32_t)count, 0));
    struct shape none = {.rank = shape->rank + 1};
    if (!known || none.rank > MAX_RANK)
        return lower_unsupported(l, NULL, NULL, "the list is empty, and the shape of its items is not known");
    for (uint32_t i = 0; i < shape->rank; i++)
        none.dims[i + 1] = shape->dims[i];
    TRY(lower_tf_dtype(l, dtype_attr, DT_NONE, &dtype));
    return emit_give(&s, 0, lower_splat(l, step_name(l, "nothing"), dtype, &none, 0));
}

/* The parts of x along its first axis: without it, or of the lengths. */
static odlc_status take_apart(struct lower *l, tensor_id x, const int64_t *lengths, uint32_t n_lengths,
                              struct lower_value **out, size_t *count)
{
    struct emit s = {.l = l};
    int64_t at = 0;
    if (build_rank(l->b, x) == 0)
        return lower_invalid(l, NULL, NULL, "a tensor without dimensions cannot be taken apart");
    int64_t dim = build_type(l->b, x)->shape.dims[0];
    TRY(check_length(l, lengths ? n_lengths : dim));
    *count = lengths ? n_lengths : (size_t)dim;
    *out = arena_array(l->arena, struct lower_value, *count);
    for (size_t i = 0; i < *count; i++) {
        int64_t length = lengths ? lengths[i] : 1;
        if (length < 0 || length > dim - at)
            return lower_invalid(l, NULL, NULL, "the parts do not add up to an axis of %lld", (long long)dim);
        tensor_id part = lengths ? emit_slice(&s, x, 0, at, at + length) : emit_element(&s, x, 0, (int64_t)i);
        (*out)[i] = tensor_value(part);
        at += length;
    }
    if (at != dim)
        return lower_invalid(l, NULL, NULL, "the parts do not add up to an axis of %lld", (long long)dim);
    return s.status;
}

/* The parts of a tensor at places of a list. */
static odlc_status scatter(struct lower *l, const struct lower_value *list, tensor_id x, uint32_t indices,
                           struct lower_value *out)
{
    const int64_t *at;
    struct lower_value *items;
    size_t n_items, length = list_length(list);
    uint32_t count;
    TRY(places(l, indices, "indices", LOWER_MAX_EXPANSION, &at, &count));
    TRY(take_apart(l, x, NULL, 0, &items, &n_items));
    if (n_items != count)
        return lower_invalid(l, NULL, NULL, "%u places for %zu items", count, n_items);
    for (uint32_t i = 0; i < count; i++)
        length = (size_t)at[i] < length ? length : (size_t)at[i] + 1;
    const struct lower_value empty = {.kind = VALUE_EMPTY};
    *out = list_resized(l->arena, list, length, &empty);
    for (uint32_t i = 0; i < count; i++)
        *out = list_with(l->arena, out, (size_t)at[i], &items[i]);
    return ODLC_OK;
}

static void give_list(struct lower *l, uint32_t i, struct lower_value list)
{
    if (i < l->n_out)
        l->results[i] = list;
}

/* Output 0 is the list with input 2 at that place, and nothing in between where that is behind its end. */
static odlc_status set_item(struct lower *l, const struct lower_value *list, size_t at)
{
    const struct lower_value empty = {.kind = VALUE_EMPTY};
    struct lower_value longer = *list;
    if (at > list_length(list))
        longer = list_resized(l->arena, list, at, &empty);
    give_list(l, 0, list_with(l->arena, &longer, at, &l->values[2]));
    return ODLC_OK;
}

static odlc_status give_number(struct lower *l, size_t number)
{
    const struct shape scalar = {.rank = 0};
    const int64_t value = (int64_t)number;
    lower_give_ints(l, 0, DT_INT32, &scalar, &value);
    return ODLC_OK;
}

/* A list of that many items which are not written. */
static odlc_status new_list(struct lower *l, int64_t length, const char *dtype_attr, bool known,
                            const struct shape *shape, struct lower_value *out)
{
    struct lower_value item;
    const struct lower_value none = list_of(l->arena, NULL, 0);
    TRY(check_length(l, length));
    TRY(nothing_written(l, dtype_attr, known && length > 0, shape, &item));
    *out = list_resized(l->arena, &none, (size_t)length, &item);
    return ODLC_OK;
}

/* All items one after another along the first axis, and how long each is. */
static odlc_status give_joined(struct lower *l, const struct lower_value *list, const char *dtype_attr, bool known,
                               const struct shape *shape)
{
    struct emit s = {.l = l};
    size_t count;
    const struct lower_value **items = all_items(l, list, &count);
    tensor_id *tensors = arena_array(l->arena, tensor_id, count);
    int64_t *lengths = arena_array(l->arena, int64_t, count);
    TRY(read_items(l, dtype_attr, known, *shape, items, count, tensors));
    if (count == 0)
        return lower_unsupported(l, NULL, NULL, "the list is empty");
    for (size_t i = 0; i < count; i++) {
        if (build_rank(l->b, tensors[i]) == 0)
            return lower_invalid(l, NULL, NULL, "item %zu has no dimensions", i);
        lengths[i] = build_type(l->b, tensors[i])->shape.dims[0];
    }
    const struct shape vector = SHAPE((int64_t)count);
    if (l->n_out > 1)
        lower_give_ints(l, 1, DT_INT64, &vector, lengths);
    return emit_give(&s, 0, emit_concat(&s, tensors, (uint32_t)count, 0));
}

/* ---- TensorArray: handle, …, flow ---- */

odlc_status tf_array(struct lower *l)
{
    struct shape shape = {0};
    struct lower_value list;
    int64_t length;
    TRY(lower_one_int(l, 0, "size", &length));
    bool known = shape_attr(l, &shape);
    TRY(new_list(l, length, "dtype", known, &shape, &list));
    give_list(l, 0, list);
    give_list(l, 1, list);
    return ODLC_OK;
}

odlc_status tf_array_read(struct lower *l)
{
    const struct lower_value *list;
    const struct shape none = {0};
    size_t at;
    TRY(need_flow(l, &list));
    TRY(place(l, 1, (int64_t)list_length(list), &at));
    return give_item(l, list, at, "dtype", false, &none, 0);
}

odlc_status tf_array_write(struct lower *l)
{
    const struct lower_value *list;
    tensor_id x;
    size_t at;
    TRY(need_flow(l, &list));
    TRY(lower_need(l, 2, "value", &x));
    TRY(place(l, 1, LOWER_MAX_EXPANSION, &at));
    return set_item(l, list, at);
}

odlc_status tf_array_scatter(struct lower *l)
{
    const struct lower_value *list;
    struct lower_value result;
    tensor_id x;
    TRY(need_flow(l, &list));
    TRY(lower_need(l, 2, "value", &x));
    TRY(scatter(l, list, x, 1, &result));
    give_list(l, 0, result);
    return ODLC_OK;
}

static odlc_status gather(struct lower *l, const struct lower_value *list, const char *dtype_attr, bool known,
                          const struct shape *shape)
{
    const int64_t *at;
    uint32_t count;
    TRY(places(l, 1, "indices", (int64_t)list_length(list), &at, &count));
    const struct lower_value **items = arena_array(l->arena, const struct lower_value *, count);
    for (uint32_t i = 0; i < count; i++)
        items[i] = list_at(list, (size_t)at[i]);
    return give_stack(l, items, count, dtype_attr, known, shape);
}

odlc_status tf_array_gather(struct lower *l)
{
    const struct lower_value *list;
    struct shape shape = {0};
    TRY(need_flow(l, &list));
    bool known = shape_attr(l, &shape);
    return gather(l, list, "dtype", known, &shape);
}

odlc_status tf_array_concat(struct lower *l)
{
    const struct lower_value *list;
    const struct shape none = {0};
    TRY(need_flow(l, &list));
    return give_joined(l, list, "dtype", false, &none);
}

static odlc_status split(struct lower *l, uint32_t value, uint32_t lengths)
{
    const int64_t *sizes;
    struct lower_value *items;
    size_t n_items;
    uint32_t count;
    tensor_id x;
    TRY(lower_need(l, value, "value", &x));
    TRY(lower_const_ints(l, lengths, "lengths", &sizes, &count));
    TRY(take_apart(l, x, sizes, count, &items, &n_items));
    give_list(l, 0, list_of(l->arena, items, n_items));
    return ODLC_OK;
}

odlc_status tf_array_split(struct lower *l)
{
    return split(l, 1, 2);
}

odlc_status tf_array_size(struct lower *l)
{
    const struct lower_value *list;
    TRY(need_flow(l, &list));
    return give_number(l, list_length(list));
}

/* ---- TensorList ---- */

odlc_status tf_list_empty(struct lower *l)
{
    give_list(l, 0, list_of(l->arena, NULL, 0));
    return ODLC_OK;
}

odlc_status tf_list_reserve(struct lower *l)
{
    struct shape shape = {0};
    struct lower_value list;
    int64_t length;
    TRY(lower_one_int(l, 1, "num_elements", &length));
    bool known = shape_operand(l, 0, &shape);
    TRY(new_list(l, length, "element_dtype", known, &shape, &list));
    give_list(l, 0, list);
    return ODLC_OK;
}

odlc_status tf_list_from_tensor(struct lower *l)
{
    struct lower_value *items;
    tensor_id x;
    size_t count;
    TRY(lower_need(l, 0, "tensor", &x));
    TRY(take_apart(l, x, NULL, 0, &items, &count));
    give_list(l, 0, list_of(l->arena, items, count));
    return ODLC_OK;
}

odlc_status tf_list_get(struct lower *l)
{
    const struct lower_value *list;
    struct shape shape = {0};
    size_t at;
    TRY(need_list(l, 0, &list));
    TRY(place(l, 1, (int64_t)list_length(list), &at));
    bool known = shape_operand(l, 2, &shape);
    return give_item(l, list, at, "element_dtype", known, &shape, 0);
}

odlc_status tf_list_set(struct lower *l)
{
    const struct lower_value *list;
    tensor_id x;
    size_t at;
    bool grows;
    TRY(need_list(l, 0, &list));
    TRY(lower_need(l, 2, "item", &x));
    TRY(lower_attr_bool(l, "resize_if_index_out_of_bounds", false, &grows));
    TRY(place(l, 1, grows ? LOWER_MAX_EXPANSION : (int64_t)list_length(list), &at));
    return set_item(l, list, at);
}

odlc_status tf_list_push(struct lower *l)
{
    const struct lower_value *list;
    tensor_id x;
    TRY(need_list(l, 0, &list));
    TRY(lower_need(l, 1, "tensor", &x));
    TRY(check_length(l, (int64_t)list_length(list) + 1));
    give_list(l, 0, list_with(l->arena, list, list_length(list), &l->values[1]));
    return ODLC_OK;
}

odlc_status tf_list_pop(struct lower *l)
{
    const struct lower_value *list;
    const struct lower_value empty = {.kind = VALUE_EMPTY};
    struct shape shape = {0};
    TRY(need_list(l, 0, &list));
    size_t count = list_length(list);
    if (count == 0)
        return lower_invalid(l, NULL, NULL, "the list is empty");
    bool known = shape_operand(l, 1, &shape);
    give_list(l, 0, list_resized(l->arena, list, count - 1, &empty));
    return give_item(l, list, count - 1, "element_dtype", known, &shape, 1);
}

odlc_status tf_list_resize(struct lower *l)
{
    const struct lower_value *list;
    const struct lower_value empty = {.kind = VALUE_EMPTY};
    int64_t length;
    TRY(need_list(l, 0, &list));
    TRY(lower_one_int(l, 1, "size", &length));
    TRY(check_length(l, length));
    give_list(l, 0, list_resized(l->arena, list, (size_t)length, &empty));
    return ODLC_OK;
}

odlc_status tf_list_length(struct lower *l)
{
    const struct lower_value *list;
    TRY(need_list(l, 0, &list));
    return give_number(l, list_length(list));
}

odlc_status tf_list_stack(struct lower *l)
{
    const struct lower_value *list;
    struct shape shape = {0};
    size_t count;
    TRY(need_list(l, 0, &list));
    bool known = shape_operand(l, 1, &shape);
    const struct lower_value **items = all_items(l, list, &count);
    return give_stack(l, items, count, "element_dtype", known, &shape);
}

odlc_status tf_list_gather(struct lower *l)
{
    const struct lower_value *list;
    struct shape shape = {0};
    TRY(need_list(l, 0, &list));
    bool known = shape_operand(l, 2, &shape);
    return gather(l, list, "element_dtype", known, &shape);
}

odlc_status tf_list_concat(struct lower *l)
{
    const struct lower_value *list;
    struct shape shape = {0};
    TRY(need_list(l, 0, &list));
    bool known = l->n_in > 1 ? shape_operand(l, 1, &shape) : shape_attr(l, &shape);
    return give_joined(l, list, "element_dtype", known, &shape);
}

odlc_status tf_list_split(struct lower *l)
{
    return split(l, 0, 2);
}

odlc_status tf_list_join(struct lower *l)
{
    const struct lower_value *a, *b;
    TRY(need_list(l, 0, &a));
    TRY(need_list(l, 1, &b));
    size_t first = list_length(a), count = first + list_length(b);
    TRY(check_length(l, (int64_t)count));
    struct lower_value *items = arena_array(l->arena, struct lower_value, count);
    for (size_t i = 0; i < count; i++)
        items[i] = i < first ? *list_at(a, i) : *list_at(b, i - first);
    give_list(l, 0, list_of(l->arena, items, count));
    return ODLC_OK;
}

/* Of a new list, as long as the operator says: -1 and a missing input stand for what the indices need. */
odlc_status tf_list_scatter(struct lower *l)
{
    struct lower_value list, result;
    struct shape shape = {0};
    int64_t length = -1;
    tensor_id x;
    TRY(lower_need(l, 0, "tensor", &x));
    if (l->n_in > 3)
        TRY(lower_one_int(l, 3, "num_elements", &length));
    bool known = shape_operand(l, 2, &shape);
    TRY(new_list(l, length < 0 ? 0 : length, "element_dtype", known, &shape, &list));
    TRY(scatter(l, &list, x, 1, &result));
    give_list(l, 0, result);
    return ODLC_OK;
}

odlc_status tf_list_scatter_into(struct lower *l)
{
    const struct lower_value *list;
    struct lower_value result;
    tensor_id x;
    TRY(need_list(l, 0, &list));
    TRY(lower_need(l, 1, "tensor", &x));
    TRY(scatter(l, list, x, 2, &result));
    give_list(l, 0, result);
    return ODLC_OK;
}

odlc_status tf_list_element_shape(struct lower *l)
{
    const struct lower_value *list;
    enum dtype dtype;
    TRY(need_list(l, 0, &list));
    TRY(lower_tf_dtype(l, "shape_type", DT_INT32, &dtype));
    for (size_t i = 0; i < list_length(list); i++) {
        if (list_at(list, i)->kind != VALUE_TENSOR)
            continue;
        const struct shape shape = build_type(l->b, list_at(list, i)->tensor)->shape, vector = SHAPE(shape.rank);
        lower_give_ints(l, 0, dtype, &vector, shape.dims);
        return ODLC_OK;
    }
    return lower_unsupported(l, NULL, NULL, "the shape of the items of an empty list is not known");
}
