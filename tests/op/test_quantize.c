/* SPDX-License-Identifier: Apache-2.0 */
/* Quantize, Dequantize and Convert against the formulas written out, and the axis rule with one encoding and with one
 * per index.
 */
#include <math.h>

#include "float_fixture.h"
#include "ir/quant.h"

enum { ROUNDS = 40 };

/* The node's one operand and result, of which one is quantized. */
static struct node *add(struct fixture *f, enum op_id op, tensor_id in, enum dtype out, const struct quant *quant)
{
    struct type type = {.dtype = out, .shape = graph_tensor(f->graph, in)->type->shape};
    tensor_id id;
    const char *name = "out";
    build_op(&f->build, op, op_row(op)->name);
    build_in(&f->build, in);
    ck_assert_int_eq(build_end_typed(&f->build, &name, &type, 1, &id), ODLC_OK);
    graph_tensor(f->graph, id)->quant = quant;
    return producer_of(f, id);
}

static void run_quantized(struct fixture *f, const struct node *n, void *out_elements)
{
    const struct tensor *in = node_input(f->graph, n, 0), *out = node_output(f->graph, n, 0);
    struct buffer from = {
        .dtype = in->type->dtype, .shape = in->type->shape, .data = f->data[n->inputs[0]], .quant = in->quant};
    struct buffer to = {
        .dtype = out->type->dtype, .shape = out->type->shape, .data = out_elements, .quant = out->quant};
    ck_assert_int_eq(eval_node(n, &from, &to, f->arena, &f->diags), ODLC_OK);
}

static const struct quant *draw_encodings(struct fixture *f, enum dtype dtype, const struct shape *shape, bool per_axis)
{
    uint32_t axis = per_axis ? (uint32_t)draw(f, 0, shape->rank - 1) : 0;
    uint32_t count = per_axis ? (uint32_t)shape->dims[axis] : 1;
    double scale[8], zero[8];
    for (uint32_t i = 0; i < count; i++) {
        scale[i] = (double)(float)(0.001 * (double)draw(f, 1, 2000));
        zero[i] = (double)draw(f, 0, 7);
    }
    const struct quant *quant = quant_create(f->arena, dtype, scale, zero, count, per_axis, axis);
    ck_assert_ptr_nonnull(quant);
    return quant;
}

static const struct encoding *encoding_of(const struct quant *q, const struct shape *shape, uint64_t i)
{
    int64_t at[MAX_RANK];
    unravel(i, shape, at);
    return &q->encodings[q->per_axis ? at[q->axis] : 0];
}

START_TEST(quantize)
{
    static const struct {
        enum dtype dtype;
        double low, high;
    } types[] = {{DT_UFXP8, 0, 255}, {DT_SFXP8, -128, 127}, {DT_UFXP16, 0, 65535}, {DT_SFXP4, -8, 7}};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round);
        size_t k = round % COUNT_OF(types);
        tensor_id x = floats(f, draw_shape(f, 3, 6));
        float *values = f->data[x];
        const struct shape shape = *shape_of(f, x);
        const struct quant *quant = draw_encodings(f, types[k].dtype, &shape, draw(f, 0, 1) != 0);
        for (uint64_t i = 0; i < shape_count(&shape); i++)
            values[i] = (float)draw(f, -600, 600) / 4;
        values[0] = INFINITY;
        struct node *n = add(f, OP_Quantize, x, types[k].dtype, quant);
        uint8_t *out = arena_calloc(f->arena, shape_count(&shape), 2);
        run_quantized(f, n, out);
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            const struct encoding *e = encoding_of(quant, &shape, i);
            double found, expected = (double)nearbyintf(values[i] / (float)e->scale) - e->offset;
            convert_elements(&found, DT_FLOAT64, out + i * dtype_size(types[k].dtype), types[k].dtype, 1);
            ck_assert_double_eq(found, fmin(fmax(expected, types[k].low), types[k].high));
        }
        fixture_end(f);
    }
}
END_TEST

START_TEST(dequantize)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round);
        struct shape shape = draw_shape(f, 3, 6);
        tensor_id x = input_of(f, DT_SFXP8, shape);
        const int8_t *q = f->data[x];
        graph_tensor(f->graph, x)->quant = draw_encodings(f, DT_SFXP8, &shape, draw(f, 0, 1) != 0);
        struct node *n = add(f, OP_Dequantize, x, DT_FLOAT32, NULL);
        float *out = arena_array(f->arena, float, shape_count(&shape));
        run_quantized(f, n, out);
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            const struct encoding *e = encoding_of(graph_tensor(f->graph, x)->quant, &shape, i);
            ck_assert_float_eq(out[i], (float)(q[i] + e->offset) * (float)e->scale);
        }
        fixture_end(f);
    }
}
END_TEST

/* Reals of float32 in between. */
START_TEST(convert)
{
    static const struct {
        enum dtype from, to;
        double low, high;
    } types[] = {{DT_UFXP8, DT_UFXP16, 0, 65535}, {DT_UFXP16, DT_UFXP8, 0, 255}, {DT_SFXP16, DT_SFXP8, -128, 127},
                 {DT_SFXP8, DT_UFXP8, 0, 255},    {DT_UFXP8, DT_FLOAT32, 0, 0},  {DT_FLOAT32, DT_UFXP16, 0, 65535}};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct fixture *f = fixture_start(round);
        const size_t k = round % COUNT_OF(types);
        const enum dtype from = types[k].from, to = types[k].to;
        const tensor_id x =
            from == DT_FLOAT32 ? floats(f, draw_shape(f, 3, 6)) : input_of(f, from, draw_shape(f, 3, 6));
        const struct shape shape = *shape_of(f, x);
        const struct quant *before = from == DT_FLOAT32 ? NULL : draw_encodings(f, from, &shape, draw(f, 0, 1) != 0);
        const struct quant *after = to == DT_FLOAT32 ? NULL : draw_encodings(f, to, &shape, draw(f, 0, 1) != 0);
        graph_tensor(f->graph, x)->quant = before;
        struct node *n = add(f, OP_Convert, x, to, after);
        uint8_t *out = arena_calloc(f->arena, shape_count(&shape), 4);
        run_quantized(f, n, out);
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            double real, found;
            convert_elements(&real, DT_FLOAT64, (uint8_t *)f->data[x] + i * dtype_size(from), from, 1);
            const struct encoding *e = before ? encoding_of(before, &shape, i) : NULL;
            real = e ? (double)((float)(real + e->offset) * (float)e->scale) : real;
            convert_elements(&found, DT_FLOAT64, out + i * dtype_size(to), to, 1);
            const struct encoding *o = after ? encoding_of(after, &shape, i) : NULL;
            const double steps = o ? (double)nearbyintf((float)real / (float)o->scale) - o->offset : real;
            ck_assert_double_eq(found, o ? fmin(fmax(steps, types[k].low), types[k].high) : steps);
        }
        fixture_end(f);
    }
}
END_TEST

START_TEST(axes_move_with_one_encoding_only)
{
    struct fixture *f = fixture_start(1);
    struct shape shape = SHAPE(2, 3, 4);
    struct perm perm = PERM(2, 0, 1), out;
    tensor_id x = floats(f, shape);
    struct node *n = add(f, OP_Quantize, x, DT_UFXP8, draw_encodings(f, DT_UFXP8, &shape, false));
    ck_assert(n->op->permute(f->graph, n, &perm, &out));
    ck_assert(perm_equal(&perm, &out));
    graph_tensor(f->graph, n->outputs[0])->quant = draw_encodings(f, DT_UFXP8, &shape, true);
    ck_assert(!n->op->permute(f->graph, n, &perm, &out));
    fixture_end(f);
}
END_TEST

START_TEST(encodings)
{
    struct fixture *f = fixture_start(1);
    const double scale[] = {0.5, 2}, zero[] = {128, 3}, bad = -1;
    const struct quant *q = quant_create(f->arena, DT_UFXP8, scale, zero, 2, true, 1);
    ck_assert_int_eq(q->encodings[0].offset, -128);
    ck_assert_double_eq(q->encodings[0].min, -64);
    ck_assert_double_eq(q->encodings[1].max, 504);
    ck_assert_uint_eq(q->encodings[1].bitwidth, 8);
    ck_assert(!q->encodings[0].symmetric);
    ck_assert(quant_create(f->arena, DT_SFXP4, scale, NULL, 1, false, 0)->encodings[0].symmetric);
    ck_assert_ptr_null(quant_create(f->arena, DT_SFXP8, scale, zero, 1, false, 0)); /* 128 is no int8 */
    ck_assert_ptr_null(quant_create(f->arena, DT_SFXP8, &bad, NULL, 1, false, 0));
    ck_assert(quant_equal(q, quant_create(f->arena, DT_UFXP8, scale, zero, 2, true, 1)));
    ck_assert(!quant_equal(q, quant_create(f->arena, DT_UFXP8, scale, zero, 2, true, 0)));
    ck_assert(!quant_equal(q, NULL));
    ck_assert_int_eq(quant_dtype(DT_UINT16), DT_UFXP16);
    ck_assert_int_eq(quant_dtype(DT_INT64), DT_NONE);
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantize");
    TCase *tc = tcase_create("quantize");
    tcase_add_test(tc, quantize);
    tcase_add_test(tc, dequantize);
    tcase_add_test(tc, convert);
    tcase_add_test(tc, axes_move_with_one_encoding_only);
    tcase_add_test(tc, encodings);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
