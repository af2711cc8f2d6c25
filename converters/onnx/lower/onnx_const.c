/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operators whose result is known at conversion: Constant, ConstantOfShape, Shape, Size, Range, EyeLike; and
 * Trilu, whose mask is. */
#include <math.h>

#include "converters/lowering/constants.h"
#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"

/* ---- Constant, ConstantOfShape ---- */

static struct view strings_view(const char *const *strings, const struct shape *shape)
{
    struct view view = view_of(NULL, DT_STRING, shape);
    view.strings = strings;
    return view;
}

odlc_status lower_constant(struct lower *l)
{
    static const char *const forms[] = {"value",      "value_float",  "value_floats",  "value_int",
                                        "value_ints", "value_string", "value_strings", "sparse_value"};
    const struct fw_attr *a = NULL;
    for (size_t i = 0; i < COUNT_OF(forms) && !a; i++)
        a = fw_find_attr(l->node, forms[i]);
    if (!a)
        return lower_invalid(l, "value", NULL, "there is no value");
    struct shape scalar = {.rank = 0}, list = SHAPE((int64_t)a->count);
    struct view view;
    switch (a->kind) {
    case FW_TENSOR:
    case FW_SPARSE:
        view = a->tensor->view;
        break;
    case FW_FLOAT:
        view = view_of(arena_memdup(l->arena, &a->f, sizeof a->f), DT_FLOAT32, &scalar);
        break;
    case FW_FLOATS:
        view = view_of((const uint8_t *)a->floats, DT_FLOAT32, &list);
        break;
    case FW_INT:
        view = view_of(arena_memdup(l->arena, &a->i, sizeof a->i), DT_INT64, &scalar);
        break;
    case FW_INTS:
        view = view_of((const uint8_t *)a->ints, DT_INT64, &list);
        break;
    case FW_STRING:
        view = strings_view(arena_memdup(l->arena, &a->s, sizeof a->s), &scalar);
        break;
    case FW_STRINGS:
        view = strings_view(a->strings, &list);
        break;
    default:
        return lower_invalid(l, a->name, NULL, "the attribute is of another kind than its name says");
    }
    lower_give_view(l, 0, &view);
    return ODLC_OK;
}

/* The one element of the attribute `value`; a float zero without it. */
static odlc_status fill_element(const struct lower *l, struct view *out)
{
    const struct fw_attr *a = fw_find_attr(l->node, "value");
    struct shape one = SHAPE(1);
    if (!a) {
        *out = view_splat_float(l->arena, DT_FLOAT32, &one, 0);
        return ODLC_OK;
    }
    if (a->kind != FW_TENSOR || shape_count(&a->tensor->view.shape) != 1)
        return lower_invalid(l, "value", NULL, "value is not a tensor of one element");
    *out = a->tensor->view;
    return ODLC_OK;
}

/* The elements are never written out: the view repeats one. */
odlc_status lower_constant_of_shape(struct lower *l)
{
    tensor_id in;
    const int64_t *dims;
    uint32_t count;
    struct view view;
    struct shape shape;
    l->takes_sizes = true;
    TRY(lower_need(l, 0, "input", &in));
    TRY(lower_const_ints(l, 0, "shape", &dims, &count));
    TRY(lower_shape_of(l, "shape", dims, count, &shape));
    TRY(fill_element(l, &view));
    lower_give_filled(l, 0, &view, &shape);
    lower_note_sizes(l, 0, in, 0);
    return ODLC_OK;
}

/* ---- Shape, Size ---- */

odlc_status lower_shape(struct lower *l)
{
    tensor_id in;
    int64_t start, end;
    TRY(lower_need(l, 0, "data", &in));
    int64_t rank = build_rank(l->b, in);
    TRY(lower_attr_int(l, "start", 0, &start));
    TRY(lower_attr_int(l, "end", rank, &end));
    start = max_i64(0, min_i64(start < 0 ? start + rank : start, rank));
    end = max_i64(start, min_i64(end < 0 ? end + rank : end, rank));
    lower_give_dims(l, 0, DT_INT64, in, (uint32_t)start, (uint32_t)end);
    return ODLC_OK;
}

odlc_status lower_size(struct lower *l)
{
    tensor_id in;
    TRY(lower_need(l, 0, "data", &in));
    lower_give_size(l, DT_INT64, in);
    return ODLC_OK;
}

/* ---- Range ---- */

static const char *const range_inputs[] = {"start", "limit", "delta"};

/* The range of ONNX Runtime can do without delta. */
static uint32_t range_operands(const struct lower *l)
{
    return l->variant && lower_in(l, 2) == NO_TENSOR ? 2 : 3;
}

static odlc_status range_of_floats(struct lower *l, enum dtype dtype)
{
    double v[3] = {0, 0, 1};
    for (uint32_t i = 0; i < range_operands(l); i++) {
        l->takes_sizes = i == 1;
        TRY(lower_one_float(l, i, range_inputs[i], &v[i]));
    }
    return lower_give_float_range(l, dtype, v, ceil((v[1] - v[0]) / v[2]));
}

static odlc_status range_of_ints(struct lower *l, enum dtype dtype)
{
    int64_t v[3] = {0, 0, 1};
    for (uint32_t i = 0; i < range_operands(l); i++) {
        l->takes_sizes = i == 1;
        TRY(lower_one_int(l, i, range_inputs[i], &v[i]));
    }
    return lower_give_range(l, dtype, v[0], v[1], v[2]);
}

odlc_status lower_range(struct lower *l)
{
    tensor_id start;
    TRY(lower_need(l, 0, "start", &start));
    enum dtype dtype = build_type(l->b, start)->dtype;
    TRY(dtype_is_float(dtype) ? range_of_floats(l, dtype) : range_of_ints(l, dtype));
    lower_note_sizes(l, 0, l->in[1], 0);
    return ODLC_OK;
}

/* ---- EyeLike, Trilu ---- */

odlc_status lower_eye_like(struct lower *l)
{
    tensor_id in;
    int64_t k;
    TRY(lower_need(l, 0, "input", &in));
    struct type type = *build_type(l->b, in);
    TRY(lower_attr_dtype(l, "dtype", type.dtype, &type.dtype));
    TRY(lower_attr_int(l, "k", 0, &k));
    if (type.shape.rank != 2 || dtype_size(type.dtype) == 0)
        return lower_invalid(l, NULL, NULL, "the input is not a matrix of numbers");
    uint32_t size = dtype_size(type.dtype);
    int64_t rows = type.shape.dims[0], columns = type.shape.dims[1], one = 1;
    uint8_t *elements;
    TRY(lower_table(l, shape_count(&type.shape), size, &elements));
    for (int64_t i = 0; i < rows; i++) {
        int64_t j;
        if (!ckd_add(&j, i, k) && j >= 0 && j < columns)
            convert_elements(elements + (uint64_t)(i * columns + j) * size, type.dtype, &one, DT_INT64, 1);
    }
    struct view view = view_of(elements, type.dtype, &type.shape);
    lower_give_view(l, 0, &view);
    return ODLC_OK;
}

/* A selection by a constant mask: a product would keep the NaN and infinity of the other half. */
odlc_status lower_trilu(struct lower *l)
{
    tensor_id in;
    const int64_t *k;
    uint32_t count;
    int64_t upper;
    TRY(lower_need(l, 0, "input", &in));
    TRY(lower_const_ints(l, 1, "k", &k, &count));
    TRY(lower_attr_int(l, "upper", 1, &upper));
    const struct type type = *build_type(l->b, in);
    if (type.shape.rank < 2 || count > 1)
        return lower_invalid(l, NULL, NULL, "the input is not a matrix or k not one number");
    struct shape matrix = SHAPE(type.shape.dims[type.shape.rank - 2], type.shape.dims[type.shape.rank - 1]);
    int64_t diagonal = count ? k[0] : 0;
    bool *kept;
    TRY(lower_table(l, shape_count(&matrix), sizeof *kept, &kept));
    for (int64_t i = 0, at = 0; i < matrix.dims[0]; i++)
        for (int64_t j = 0; j < matrix.dims[1]; j++)
            kept[at++] = upper ? j - i >= diagonal : j - i <= diagonal;
    struct view view = view_of(kept, DT_BOOL, &matrix);
    struct shape one = SHAPE(1);
    build_op(l->b, OP_ElementWiseSelect, fw_node_label(l->node));
    build_in(l->b, graph_add_constant(l->b->graph, step_name(l, "kept"), DT_BOOL, &view));
    build_in(l->b, in);
    build_in(l->b, lower_splat(l, step_name(l, "zero"), type.dtype, &one, 0));
    return build_end(l->b, lower_out_name(l, 0), &l->out[0]);
}
