/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of ai.onnx.ml that prepare features: Scaler, Normalizer, Imputer, FeatureVectorizer, OneHotEncoder,
 * LabelEncoder. Features are the elements of the last axis of [features] or [rows, features]. */
#include <math.h>
#include <stdlib.h>

#include "converters/lowering/emit.h"
#include "converters/lowering/shapes.h"
#include "converters/onnx/lower/classic.h"
#include "converters/onnx/lower/onnx_rows.h"

enum { LARGEST_LOOKUP = 64 * 1024 * 1024 }; /* comparisons of elements with keys */

/* Values of a list attribute: one for all features, or one for each of them. */
static odlc_status check_list(const struct lower *l, const char *name, uint32_t count, const struct shape *x)
{
    if (count == 1)
        return ODLC_OK;
    if (x->rank < 1 || x->rank > 2)
        return lower_unsupported(l, name, NULL, "an input %s is not made of rows of features",
                                 shape_text(l->diags->arena, x));
    if ((int64_t)count != x->dims[x->rank - 1])
        return lower_invalid(l, name, NULL, "%s has %u values for %lld features", name, count,
                             (long long)x->dims[x->rank - 1]);
    return ODLC_OK;
}

/* A list attribute as a constant of the dtype. */
static odlc_status list_constant(struct emit *s, const char *name, tensor_id x, tensor_id *out)
{
    const float *values;
    uint32_t count;
    TRY(lower_attr_floats(s->l, name, &values, &count));
    if (count == 0)
        return lower_invalid(s->l, name, NULL, "%s is missing", name);
    TRY(check_list(s->l, name, count, &build_type(s->l->b, x)->shape));
    *out = classic_floats(s, &SHAPE((int64_t)count), values);
    return s->status;
}

/* ---- Scaler: (x − offset) · scale ---- */

odlc_status lower_scaler(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, offset, scale;
    TRY(lower_need(l, 0, "X", &x));
    TRY(list_constant(&s, "offset", x, &offset));
    TRY(list_constant(&s, "scale", x, &scale));
    x = emit_cast(&s, x, DT_FLOAT32);
    x = emit_binary(&s, OP_ElementWiseSubtract, x, offset);
    return emit_end_binary(&s, OP_ElementWiseMultiply, x, scale);
}

/* ---- Normalizer: a row divided by its maximum or norm, where that is not 0 ---- */

enum { BY_MAX, BY_L1, BY_L2 };

odlc_status lower_normalizer(struct lower *l)
{
    static const struct choice norms[] = {{"MAX", BY_MAX}, {"L1", BY_L1}, {"L2", BY_L2}};
    struct emit s = {.l = l};
    tensor_id x, size;
    int norm;
    TRY(lower_choose(l, "norm", "MAX", norms, COUNT_OF(norms), &norm));
    TRY(lower_need(l, 0, "X", &x));
    const struct shape shape = build_type(l->b, x)->shape;
    const int64_t last = (int64_t)shape.rank - 1;
    if (shape.rank < 1 || shape.rank > 2)
        return lower_invalid(l, NULL, NULL, "an input %s is not made of rows of features",
                             shape_text(l->diags->arena, &shape));
    x = emit_cast(&s, x, DT_FLOAT32);
    if (norm == BY_L1)
        size = emit_unary(&s, OP_ElementWiseAbs, x);
    else
        size = norm == BY_L2 ? emit_binary(&s, OP_ElementWiseMultiply, x, x) : x;
    size = emit_reduce(&s, norm == BY_MAX ? OP_ReduceMax : OP_ReduceSum, size, &last, 1, true);
    if (norm == BY_L2)
        size = emit_unary(&s, OP_ElementWiseSquareRoot, size);
    TRY(s.status);
    tensor_id none = emit_binary(&s, OP_ElementWiseEqual, size, emit_scalar(&s, size, 0));
    TRY(s.status);
    size = emit_select(&s, none, emit_scalar(&s, size, 1), size);
    return emit_end_binary(&s, OP_ElementWiseDivide, x, size);
}

/* ---- Imputer: x where it is not the value to replace, which may be NaN ---- */

static odlc_status imputed_ints(struct emit *s, tensor_id x, tensor_id *other, tensor_id *found)
{
    const int64_t *values;
    uint32_t count;
    int64_t replaced;
    const enum dtype dtype = build_type(s->l->b, x)->dtype;
    TRY(lower_attr_ints(s->l, "imputed_value_int64s", &values, &count));
    TRY(lower_attr_int(s->l, "replaced_value_int64", 0, &replaced));
    if (count == 0)
        return lower_invalid(s->l, "imputed_value_int64s", NULL, "imputed_value_int64s is missing");
    TRY(classic_check_int(s->l, "replaced_value_int64", replaced));
    for (uint32_t i = 0; i < count; i++)
        TRY(classic_check_int(s->l, "imputed_value_int64s", values[i]));
    TRY(check_list(s->l, "imputed_value_int64s", count, &build_type(s->l->b, x)->shape));
    *other = build_const_ints(s->l->b, step_name(s->l, "imputed"), dtype, &SHAPE((int64_t)count), values);
    tensor_id from =
        build_const_ints(s->l->b, step_name(s->l, "replaced"), dtype, &(struct shape){.rank = 0}, &replaced);
    *found = emit_binary(s, OP_ElementWiseEqual, x, from);
    return s->status;
}

static odlc_status imputed_floats(struct emit *s, tensor_id x, tensor_id *other, tensor_id *found)
{
    double replaced;
    TRY(lower_attr_float(s->l, "replaced_value_float", 0, &replaced));
    TRY(list_constant(s, "imputed_value_floats", x, other));
    *other = emit_cast(s, *other, build_type(s->l->b, x)->dtype);
    *found = isnan(replaced) ? emit_binary(s, OP_ElementWiseNotEqual, x, x)
                             : emit_binary(s, OP_ElementWiseEqual, x, emit_scalar(s, x, replaced));
    return s->status;
}

odlc_status lower_imputer(struct lower *l)
{
    struct emit s = {.l = l};
    tensor_id x, other, found;
    TRY(lower_need(l, 0, "X", &x));
    TRY(dtype_is_float(build_type(l->b, x)->dtype) ? imputed_floats(&s, x, &other, &found)
                                                   : imputed_ints(&s, x, &other, &found));
    return emit_end_select(&s, found, other, x);
}

/* ---- FeatureVectorizer: inputs side by side, each cut or filled with zeros to its size ---- */

static tensor_id sized(struct emit *s, tensor_id x, int64_t size)
{
    struct shape shape = build_type(s->l->b, x)->shape;
    const int64_t rows = shape.dims[0], features = shape.dims[1];
    x = emit_slice(s, emit_cast(s, x, DT_FLOAT32), 1, 0, features < size ? features : size);
    if (features >= size || s->status != ODLC_OK)
        return x;
    tensor_id zeros = lower_splat(s->l, step_name(s->l, "zeros"), DT_FLOAT32, &SHAPE(rows, size - features), 0);
    return emit_concat(s, (tensor_id[]){x, zeros}, 2, 1);
}

odlc_status lower_feature_vectorizer(struct lower *l)
{
    struct emit s = {.l = l};
    const int64_t *sizes;
    uint32_t count, n_parts = 0;
    TRY(lower_attr_ints(l, "inputdimensions", &sizes, &count));
    if (count != l->n_in)
        return lower_invalid(l, "inputdimensions", NULL, "%u sizes for %u inputs", count, l->n_in);
    tensor_id *parts = arena_array(l->arena, tensor_id, count);
    for (uint32_t i = 0; i < count; i++) {
        tensor_id x;
        TRY(lower_need(l, i, "X", &x));
        if (sizes[i] < 0 || sizes[i] > INT32_MAX)
            return lower_invalid(l, "inputdimensions", NULL, "the size %lld", (long long)sizes[i]);
        TRY(classic_rows(&s, &x));
        if (sizes[i] > 0 && build_type(l->b, x)->shape.dims[1] > 0)
            parts[n_parts++] = sized(&s, x, sizes[i]);
        else if (sizes[i] > 0)
            return lower_unsupported(l, "inputdimensions", NULL, "an input without features");
        TRY(s.status);
    }
    if (n_parts == 0)
        return lower_invalid(l, "inputdimensions", NULL, "there are no features");
    return emit_give(&s, 0, emit_concat(&s, parts, n_parts, 1));
}

/* ---- elements among keys ---- */

struct keys {
    enum dtype dtype; /* of the comparison */
    const double *values;
    uint32_t count;
    bool knows_nan; /* a NaN is the same as a NaN */
};

/* One more axis at the end, with 1 where the element is that key, in bool. */
static odlc_status compare_keys(struct emit *s, tensor_id x, const struct keys *k, tensor_id *out)
{
    struct shape shape = build_type(s->l->b, x)->shape;
    const uint64_t elements = shape_count(&shape);
    bool has_nan = false;
    if (shape.rank == MAX_RANK)
        return lower_unsupported(s->l, NULL, NULL, "an input of %u axes", shape.rank);
    if (elements > LARGEST_LOOKUP / k->count)
        return lower_unsupported(s->l, NULL, NULL, "%llu elements and %u keys: more than %d comparisons",
                                 (unsigned long long)elements, k->count, LARGEST_LOOKUP);
    shape.dims[shape.rank++] = 1;
    for (uint32_t i = 0; i < k->count; i++)
        has_nan |= isnan(k->values[i]);
    x = emit_reshape(s, x, &shape);
    tensor_id list = emit_constant(s, k->dtype, &SHAPE((int64_t)k->count), k->values);
    *out = emit_binary(s, OP_ElementWiseEqual, x, list);
    if (has_nan && k->knows_nan) {
        tensor_id is_nan = emit_binary(s, OP_ElementWiseNotEqual, list, list);
        is_nan = emit_binary(s, OP_ElementWiseAnd, emit_binary(s, OP_ElementWiseNotEqual, x, x), is_nan);
        *out = emit_binary(s, OP_ElementWiseOr, *out, is_nan);
    }
    return s->status;
}

/* ---- OneHotEncoder ---- */

struct category {
    int64_t value;
    uint32_t place;
};

static int by_value(const void *a, const void *b)
{
    const struct category *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* 1 where a category is listed for the last time; NULL: none is listed twice. */
static const double *last_of_each(const struct lower *l, const int64_t *values, uint32_t count)
{
    struct category *sorted = arena_array(l->scratch, struct category, count);
    double *last = arena_array(l->arena, double, count);
    bool repeats = false;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct category){values[i], i};
    qsort(sorted, count, sizeof *sorted, by_value);
    for (uint32_t i = 0; i < count; i++) {
        const bool again = i + 1 < count && sorted[i].value == sorted[i + 1].value;
        last[sorted[i].place] = again ? 0 : 1;
        repeats |= again;
    }
    return repeats ? last : NULL;
}

/* A category that is listed twice is the last one. Floats are cut to whole numbers first. Elements that are no
 * category, of which the operator fails without `zeros`, give zeros. */
odlc_status lower_one_hot_encoder(struct lower *l)
{
    struct emit s = {.l = l};
    const int64_t *given;
    struct keys keys = {.dtype = DT_INT32};
    tensor_id x, hot;
    TRY(lower_need(l, 0, "X", &x));
    if (lower_has_attr(l, "cats_strings"))
        return lower_unsupported(l, "cats_strings", NULL, "strings cannot be compared in the container");
    TRY(lower_attr_ints(l, "cats_int64s", &given, &keys.count));
    if (keys.count == 0)
        return lower_invalid(l, "cats_int64s", NULL, "there are no categories");
    double *values = arena_array(l->arena, double, keys.count);
    for (uint32_t i = 0; i < keys.count; i++) {
        TRY(classic_check_int(l, "cats_int64s", given[i]));
        values[i] = (double)given[i];
    }
    keys.values = values;
    TRY(compare_keys(&s, emit_cast(&s, x, DT_INT32), &keys, &hot));
    hot = emit_cast(&s, hot, DT_FLOAT32);
    const double *last = last_of_each(l, given, keys.count);
    if (!last)
        return emit_give(&s, 0, hot);
    return emit_end_binary(&s, OP_ElementWiseMultiply, hot,
                           emit_constant(&s, DT_FLOAT32, &SHAPE((int64_t)keys.count), last));
}

/* ---- LabelEncoder ---- */

/* One of the lists that say the keys, or the values: `kind` is "keys" or "values". */
struct label_list {
    const char *name;
    enum dtype dtype;
    const double *numbers; /* NULL: strings */
    uint32_t count;
};

static odlc_status read_label_list(struct lower *l, const char *kind, struct label_list *out)
{
    static const char *const forms[] = {"int64s", "floats", "strings", "tensor"};
    const struct fw_attr *a = NULL;
    for (size_t i = 0; i < COUNT_OF(forms) && !a; i++)
        a = fw_find_attr(l->node, out->name = arena_printf(l->arena, "%s_%s", kind, forms[i]));
    if (!a)
        return lower_invalid(l, kind, NULL, "the %s are missing", kind);
    out->numbers = NULL;
    out->dtype = DT_STRING;
    if (a->kind == FW_STRINGS || (a->kind == FW_TENSOR && a->tensor->view.dtype == DT_STRING)) {
        out->count = (uint32_t)(a->kind == FW_STRINGS ? a->count : shape_count(&a->tensor->view.shape));
        return ODLC_OK;
    }
    if (a->kind != FW_INTS && a->kind != FW_FLOATS && a->kind != FW_TENSOR)
        return lower_invalid(l, out->name, NULL, "the attribute is of another kind than its name says");
    const struct shape list = SHAPE((int64_t)a->count);
    const struct view view = a->kind == FW_TENSOR ? a->tensor->view
                             : a->kind == FW_INTS ? view_of(a->ints, DT_INT64, &list)
                                                  : view_of(a->floats, DT_FLOAT32, &list);
    out->dtype = view.dtype;
    return classic_numbers(l, out->name, &view, &out->numbers, &out->count);
}

static odlc_status default_of(struct lower *l, const struct label_list *values, double *out)
{
    const struct fw_attr *a = fw_find_attr(l->node, "default_tensor");
    int64_t number;
    if (a && a->kind == FW_TENSOR && a->tensor->view.dtype == values->dtype) {
        const double *numbers;
        uint32_t count;
        TRY(classic_numbers(l, "default_tensor", &a->tensor->view, &numbers, &count));
        if (count != 1)
            return lower_invalid(l, "default_tensor", NULL, "the default has %u values", count);
        *out = numbers[0];
        return ODLC_OK;
    }
    if (dtype_is_float(values->dtype))
        return lower_attr_float(l, "default_float", -0.0, out);
    TRY(lower_attr_int(l, "default_int64", -1, &number));
    TRY(classic_check_int(l, "default_int64", number));
    *out = (double)number;
    return ODLC_OK;
}

/* The place of the first key that an element is, counted from 1 (0: none), picks from the values behind the default. */
static odlc_status look_up(struct emit *s, tensor_id x, const struct keys *keys, const double *table, enum dtype dtype)
{
    struct lower *l = s->l;
    double *places = arena_array(l->arena, double, keys->count);
    tensor_id same;
    TRY(compare_keys(s, x, keys, &same));
    for (uint32_t i = 0; i < keys->count; i++)
        places[i] = (double)(keys->count - i);
    const int64_t last = build_rank(l->b, same) - 1;
    tensor_id list = emit_constant(s, DT_INT32, &SHAPE((int64_t)keys->count), places);
    tensor_id place = emit_binary(s, OP_ElementWiseMultiply, emit_cast(s, same, DT_INT32), list);
    place = emit_reduce(s, OP_ReduceMax, place, &last, 1, false);
    tensor_id values = emit_constant(s, dtype, &SHAPE((int64_t)keys->count + 1), table);
    return emit_give(s, 0, emit_gather(s, values, place, 0));
}

odlc_status lower_label_encoder(struct lower *l)
{
    struct emit s = {.l = l};
    struct label_list from, to;
    tensor_id x;
    double other;
    TRY(lower_need(l, 0, "X", &x));
    TRY(read_label_list(l, "keys", &from));
    TRY(read_label_list(l, "values", &to));
    if (from.count != to.count || from.count == 0)
        return lower_invalid(l, to.name, NULL, "%u values for %u keys", to.count, from.count);
    if (!from.numbers)
        return lower_unsupported(l, from.name, NULL, "strings cannot be compared in the container");
    if (!to.numbers) {
        classic_give_text(l, 0);
        return ODLC_OK;
    }
    if (build_type(l->b, x)->dtype != from.dtype)
        return lower_invalid(l, from.name, NULL, "keys of %s for elements of %s", dtype_info(from.dtype)->name,
                             dtype_info(build_type(l->b, x)->dtype)->name);
    TRY(default_of(l, &to, &other));
    double *table = arena_array(l->arena, double, (size_t)to.count + 1);
    table[0] = other;
    for (uint32_t i = 0; i < to.count; i++) /* in the order of places that grow */
        table[i + 1] = to.numbers[to.count - 1 - i];
    const struct keys keys = {from.dtype, from.numbers, from.count, l->version >= 4};
    return look_up(&s, x, &keys, table, to.dtype);
}
