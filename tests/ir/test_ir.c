/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph.h"

static struct arena *arena;

static void start(void)
{
    arena = arena_create();
}

static void stop(void)
{
    arena_destroy(arena);
}

/* ---- types ---- */

START_TEST(every_half_survives_the_round_trip)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        float value = half_to_float((uint16_t)bits);
        uint16_t back = float_to_half(value);
        if (isnan(value))
            ck_assert(isnan(half_to_float(back)));
        else
            ck_assert_uint_eq(back, bits);
    }
}
END_TEST

START_TEST(halves_round_to_nearest_even)
{
    ck_assert_uint_eq(float_to_half(1.0f), 0x3C00);
    ck_assert_uint_eq(float_to_half(65504.0f), 0x7BFF);
    ck_assert_uint_eq(float_to_half(65520.0f), 0x7C00); /* half way to 65536 rounds up, to infinity */
    ck_assert_uint_eq(float_to_half(65519.996f), 0x7BFF);
    ck_assert_uint_eq(float_to_half(0x1p-24f), 0x0001);                 /* the smallest subnormal */
    ck_assert_uint_eq(float_to_half(0x1p-25f), 0x0000);                 /* half of it: ties to even */
    ck_assert_uint_eq(float_to_half(0x1.8p-24f), 0x0002);               /* 1.5 of it: ties to even */
    ck_assert_uint_eq(float_to_half(1.0f + 0x1p-11f), 0x3C00);          /* tie, even below */
    ck_assert_uint_eq(float_to_half(1.0f + 0x1.8p-10f), 0x3C02);        /* tie, even above */
    ck_assert_uint_eq(double_to_half(1.0 + 0x1p-11 + 0x1p-40), 0x3C01); /* float on the way would have made it a tie */
    ck_assert_uint_eq(float_to_half(-2.0f), 0xC000);
    ck_assert_uint_eq(float_to_bfloat16(1.0f + 0x1p-8f), 0x3F80); /* tie to even */
    ck_assert_uint_eq(float_to_bfloat16(1.0f + 0x1.8p-7f), 0x3F82);
}
END_TEST

START_TEST(small_floats_have_their_published_values)
{
    static const struct {
        enum dtype dtype;
        uint8_t bits;
        float value;
    } known[] = {
        {DT_FLOAT4E2M1, 0x1, 0.5f},      {DT_FLOAT4E2M1, 0x7, 6.0f},           {DT_FLOAT4E2M1, 0xA, -1.0f},
        {DT_FLOAT8E4M3FN, 0x7E, 448.0f}, {DT_FLOAT8E4M3FN, 0x01, 0x1p-9f},     {DT_FLOAT8E4M3FN, 0xB8, -1.0f},
        {DT_FLOAT8E4M3FN, 0x7F, NAN},    {DT_FLOAT8E4M3FNUZ, 0x7F, 240.0f},    {DT_FLOAT8E4M3FNUZ, 0x80, NAN},
        {DT_FLOAT8E5M2, 0x7B, 57344.0f}, {DT_FLOAT8E5M2, 0xFC, -INFINITY},     {DT_FLOAT8E5M2, 0x7D, NAN},
        {DT_FLOAT8E5M2, 0x01, 0x1p-16f}, {DT_FLOAT8E5M2FNUZ, 0xFF, -57344.0f}, {DT_FLOAT8E5M2FNUZ, 0x01, 0x1p-17f},
        {DT_FLOAT8E5M2FNUZ, 0x80, NAN},  {DT_FLOAT8E8M0, 0x00, 0x1p-127f},     {DT_FLOAT8E8M0, 0xFE, 0x1p127f},
        {DT_FLOAT8E8M0, 0xFF, NAN},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        float found = small_float_to_float(known[i].dtype, known[i].bits), converted;
        convert_elements(&converted, DT_FLOAT32, &known[i].bits, known[i].dtype, 1);
        if (isnan(known[i].value))
            ck_assert(isnan(found) && isnan(converted));
        else
            ck_assert_msg(found == known[i].value && converted == found, "%s 0x%02x is %g",
                          dtype_info(known[i].dtype)->name, known[i].bits, (double)found);
    }
}
END_TEST

START_TEST(type_names_and_codes_are_unique)
{
    for (int i = DT_NONE + 1; i < DT_COUNT; i++) {
        const struct dtype_info *info = dtype_info((enum dtype)i);
        ck_assert_int_eq(dtype_from_name(info->name), i);
        if (info->udo)
            ck_assert_int_eq(dtype_from_udo(info->udo), i);
        if (info->dlc != UINT32_MAX)
            ck_assert_int_eq(dtype_from_dlc(info->dlc), i);
    }
    ck_assert_int_eq(dtype_from_dlc(0x0232), DT_FLOAT32);
    ck_assert_int_eq(dtype_from_dlc(0x0408), DT_UFXP8);
    ck_assert_int_eq(dtype_from_dlc(0x9999), DT_NONE);
}
END_TEST

START_TEST(conversion_saturates_and_keeps_exact_values)
{
    const double values[] = {1.9, -1.9, 300, -300, NAN, 0x1p40};
    int8_t bytes[6];
    uint8_t flags[6];
    convert_elements(bytes, DT_INT8, values, DT_FLOAT64, 6);
    const int8_t expected[] = {1, -1, 127, -128, 0, 127};
    ck_assert_mem_eq(bytes, expected, 6);
    convert_elements(flags, DT_BOOL, values, DT_FLOAT64, 6);
    const uint8_t truths[] = {1, 1, 1, 1, 1, 1};
    ck_assert_mem_eq(flags, truths, 6);
    const int64_t big[] = {INT64_MAX, (1ll << 53) + 1, -5};
    int32_t narrow[3];
    convert_elements(narrow, DT_INT32, big, DT_INT64, 3);
    ck_assert_int_eq(narrow[0], INT32_MAX);
    ck_assert_int_eq(narrow[2], -5);
    int64_t same[3];
    convert_elements(same, DT_INT64, big, DT_INT64, 3);
    ck_assert_mem_eq(same, big, sizeof big);
    const uint64_t huge = UINT64_MAX;
    int32_t clamped;
    convert_elements(&clamped, DT_INT32, &huge, DT_UINT64, 1);
    ck_assert_int_eq(clamped, INT32_MAX);
}
END_TEST

/* ---- shapes ---- */

START_TEST(permutations_compose_and_invert)
{
    struct perm last = perm_channels_last(4), first = perm_channels_first(4), nothing = perm_compose(&last, &first);
    const uint8_t nhwc[] = {0, 2, 3, 1}, nchw[] = {0, 3, 1, 2};
    ck_assert_mem_eq(last.axis, nhwc, 4);
    ck_assert_mem_eq(first.axis, nchw, 4);
    ck_assert(perm_is_identity(&nothing));
    struct shape shape = SHAPE(1, 3, 240, 320), stored = perm_apply(&last, &shape), expected = SHAPE(1, 240, 320, 3);
    ck_assert(shape_equal(&stored, &expected));
    struct perm pair = perm_channels_last(2);
    ck_assert(perm_is_identity(&pair));
    struct perm broken = PERM(0, 0, 1);
    ck_assert(!perm_is_valid(&broken));
}
END_TEST

START_TEST(broadcasting_follows_numpy)
{
    struct shape a = SHAPE(8, 1, 6, 1), b = SHAPE(7, 1, 5), out, expected = SHAPE(8, 7, 6, 5), c = SHAPE(2, 1);
    ck_assert(shape_broadcast(&a, &b, &out));
    ck_assert(shape_equal(&out, &expected));
    ck_assert(shape_broadcast(&b, &a, &out));
    ck_assert(shape_equal(&out, &expected));
    struct shape bad = SHAPE(3, 5);
    ck_assert(!shape_broadcast(&bad, &c, &out));
    struct shape two = SHAPE(2, 5);
    ck_assert(!shape_broadcast(&bad, &two, &out));
}
END_TEST

START_TEST(too_large_shapes_are_seen)
{
    struct shape fine = SHAPE(1 << 20, 1 << 20), huge = SHAPE(1ll << 31, 1ll << 31), empty = SHAPE(1 << 14, 0, 1 << 14),
                 long_empty = SHAPE(0, (1 << 28) + 1), negative = SHAPE(2, -1);
    ck_assert(!shape_too_large(&fine));
    ck_assert(shape_too_large(&huge));
    ck_assert(!shape_too_large(&empty));
    ck_assert(shape_too_large(&long_empty));
    ck_assert(shape_too_large(&negative));
}
END_TEST

/* ---- views ---- */

/* The naive meaning of a view: element by element, by index arithmetic alone. */
static double naive_value(const struct view *v, const float *source, uint64_t index)
{
    struct shape out = view_shape(v);
    int64_t at[MAX_RANK], offset = 0;
    for (uint32_t i = out.rank; i-- > 0; index /= (uint64_t)out.dims[i])
        at[i] = (int64_t)(index % (uint64_t)out.dims[i]);
    int64_t in_source[MAX_RANK];
    for (uint32_t i = 0; i < out.rank; i++)
        in_source[v->perm.axis[i]] = at[i];
    for (uint32_t i = 0; i < out.rank; i++)
        offset = offset * v->shape.dims[i] + in_source[i];
    double value = (double)source[v->splat ? 0 : offset];
    return v->scale ? value * v->scale[in_source[v->scale_axis]] : value;
}

static struct perm random_perm(uint32_t rank)
{
    struct perm p = perm_identity(rank);
    for (uint32_t i = rank; i > 1; i--) {
        uint32_t k = (uint32_t)rand() % i;
        uint8_t swap = p.axis[k];
        p.axis[k] = p.axis[i - 1];
        p.axis[i - 1] = swap;
    }
    return p;
}

START_TEST(views_load_what_they_mean)
{
    srand(7);
    for (int round = 0; round < 200; round++) {
        struct shape shape = {.rank = 1 + (uint32_t)rand() % 5};
        for (uint32_t i = 0; i < shape.rank; i++)
            shape.dims[i] = 1 + rand() % (i ? 7 : 40);
        uint64_t count = shape_count(&shape);
        float *source = arena_array(arena, float, count);
        for (uint64_t i = 0; i < count; i++)
            source[i] = (float)(rand() % 2000 - 1000) / 8;
        /* Element sizes of 1, 2, 4 and 8 bytes; the values are multiples of 1/8 only where the type holds them. */
        static const enum dtype dtypes[] = {DT_FLOAT32, DT_INT8, DT_FLOAT16, DT_FLOAT64};
        enum dtype dtype = dtypes[round % 4];
        for (uint64_t i = 0; dtype == DT_INT8 && i < count; i++)
            source[i] = (float)(rand() % 200 - 100);
        void *bytes = arena_calloc(arena, count, 8);
        convert_elements(bytes, dtype, source, DT_FLOAT32, count);
        struct view v = view_of(bytes, dtype, &shape);
        struct perm perm = random_perm(shape.rank);
        view_permute(&v, &perm);
        v.splat = round % 5 == 0;
        double factors[40];
        for (int i = 0; i < 40; i++)
            factors[i] = (double)(rand() % 16) / 4;
        if (round % 3 == 0) {
            v.scale = factors;
            v.scale_axis = (uint32_t)rand() % shape.rank;
        }
        const double *loaded = view_load(arena, &v, DT_FLOAT64);
        for (uint64_t i = 0; i < count; i++)
            if (loaded[i] != naive_value(&v, source, i)) /* an assertion for each would write to a file */
                ck_abort_msg("element %llu is %g", (unsigned long long)i, loaded[i]);
    }
}
END_TEST

START_TEST(large_permuted_views_are_streamed_in_tiles)
{
    struct shape shape = SHAPE(61, 67, 89); /* more than one tile, no round numbers */
    uint64_t count = shape_count(&shape);
    float *source = arena_array(arena, float, count);
    for (uint64_t i = 0; i < count; i++)
        source[i] = (float)i;
    struct view v = view_of(source, DT_FLOAT32, &shape);
    struct perm perm = PERM(2, 0, 1);
    view_permute(&v, &perm);
    const int32_t *loaded = view_load(arena, &v, DT_INT32);
    for (int64_t a = 0; a < 89; a++)
        for (int64_t b = 0; b < 61; b++)
            for (int64_t c = 0; c < 67; c++)
                if (loaded[(a * 61 + b) * 67 + c] != (b * 67 + c) * 89 + a)
                    ck_abort_msg("element %d, %d, %d", (int)a, (int)b, (int)c);
}
END_TEST

START_TEST(fitting_names_the_first_element_that_does_not)
{
    const int64_t values[] = {1, 2, 1ll << 40};
    const float reals[] = {1, 2.5f, 70000};
    struct shape shape = SHAPE(3);
    uint64_t bad = 99;
    struct view ints = view_of(values, DT_INT64, &shape), floats = view_of(reals, DT_FLOAT32, &shape);
    ck_assert(!view_fits(arena, &ints, DT_INT32, &bad));
    ck_assert_uint_eq(bad, 2);
    ck_assert(!view_fits(arena, &floats, DT_INT32, &bad));
    ck_assert_uint_eq(bad, 1);
    ck_assert(!view_fits(arena, &floats, DT_FLOAT16, &bad));
    ck_assert_uint_eq(bad, 2);
    ck_assert(view_fits(arena, &floats, DT_FLOAT64, &bad));
    ck_assert(view_fits(arena, &ints, DT_INT64, &bad));
    const int64_t edges[] = {1 << 24, (1 << 24) + 1, INT64_MAX};
    struct view wide = view_of(edges, DT_INT64, &shape);
    ck_assert(!view_fits(arena, &wide, DT_FLOAT32, &bad));
    ck_assert_uint_eq(bad, 1);
    wide.bytes = (const uint8_t *)&edges[2];
    wide.shape.dims[0] = 1;
    ck_assert(!view_fits(arena, &wide, DT_FLOAT32, &bad));
    ck_assert(!view_fits(arena, &wide, DT_FLOAT64, &bad));
}
END_TEST

/* A few bytes of a model can ask for that many elements. */
START_TEST(fitting_looks_at_one_of_elements_that_are_the_same)
{
    struct shape vast = SHAPE(1 << 20, 1 << 20, 1 << 10), none = SHAPE(0, 5);
    uint64_t bad = 99;
    struct view small = view_splat_int(arena, DT_INT64, &vast, 7);
    struct view large = view_splat_int(arena, DT_INT64, &vast, 1ll << 40);
    struct view empty = view_splat_int(arena, DT_INT64, &none, 1ll << 40);
    ck_assert(view_fits(arena, &small, DT_INT32, &bad));
    ck_assert(!view_fits(arena, &large, DT_INT32, &bad));
    ck_assert_uint_eq(bad, 0);
    ck_assert(view_fits(arena, &empty, DT_INT32, &bad));
}
END_TEST

/* ---- graph ---- */

START_TEST(names_are_made_unique)
{
    struct graph *g = graph_create(arena, "g");
    struct type type = {.dtype = DT_FLOAT32, .shape = SHAPE(1)};
    tensor_id a = graph_add_tensor(g, "x", TENSOR_NATIVE, &type), b = graph_add_tensor(g, "x", TENSOR_NATIVE, &type);
    tensor_id c = graph_add_tensor(g, "x", TENSOR_NATIVE, &type);
    ck_assert_str_eq(graph_tensor(g, a)->name, "x");
    ck_assert_str_eq(graph_tensor(g, b)->name, "x.1");
    ck_assert_str_eq(graph_tensor(g, c)->name, "x.2");
    ck_assert_uint_eq(graph_find_tensor(g, "x.1"), b);
    ck_assert_uint_eq(graph_find_tensor(g, "y"), NO_TENSOR);
    graph_rename_tensor(g, a, "y");
    ck_assert_uint_eq(graph_find_tensor(g, "y"), a);
    ck_assert_uint_eq(graph_find_tensor(g, "x"), NO_TENSOR);
}
END_TEST

START_TEST(uses_list_readers_in_order)
{
    struct graph *g = graph_create(arena, "g");
    struct type type = {.dtype = DT_FLOAT32, .shape = SHAPE(1)};
    tensor_id x = graph_add_tensor(g, "x", TENSOR_INPUT, &type), y = graph_add_tensor(g, "y", TENSOR_NATIVE, &type);
    tensor_id z = graph_add_tensor(g, "z", TENSOR_OUTPUT, &type);
    const struct op *op = (const struct op *)arena; /* any non-null row: uses does not look into it */
    tensor_id twice[] = {x, x}, both[] = {y, x};
    node_id first = graph_add_node(g, op, 0, "first", twice, 2, &y, 1);
    node_id second = graph_add_node(g, op, 0, "second", both, 2, &z, 1);
    vec_push(arena, &g->order, first);
    vec_push(arena, &g->order, second);
    vec_push(arena, &g->outputs, z);
    struct uses u = graph_uses(arena, g);
    ck_assert_uint_eq(u.count[x], 3);
    ck_assert_uint_eq(u.count[y], 1);
    ck_assert_uint_eq(u.count[z], 1);
    ck_assert_uint_eq(u.first[x + 1] - u.first[x], 3);
    ck_assert_uint_eq(u.nodes[u.first[x]], first);
    ck_assert_uint_eq(u.nodes[u.first[x] + 2], second);
    ck_assert_uint_eq(u.nodes[u.first[y]], second);
    ck_assert_uint_eq(u.first[z + 1] - u.first[z], 0);
}
END_TEST

static struct graph *chain_of_two(node_id *first, node_id *second, tensor_id *x, tensor_id *y, tensor_id *z)
{
    struct graph *g = graph_create(arena, "g");
    struct type type = {.dtype = DT_FLOAT32, .shape = SHAPE(1)};
    const struct op *op = (const struct op *)arena; /* any non-null row: the graph does not look into it */
    *x = graph_add_tensor(g, "x", TENSOR_INPUT, &type);
    *y = graph_add_tensor(g, "y", TENSOR_NATIVE, &type);
    *z = graph_add_tensor(g, "z", TENSOR_OUTPUT, &type);
    const tensor_id twice[] = {*y, *y};
    *first = graph_add_node(g, op, 0, "first", x, 1, y, 1);
    *second = graph_add_node(g, op, 0, "second", twice, 2, z, 1);
    vec_push(arena, &g->inputs, *x);
    vec_push(arena, &g->order, *first);
    vec_push(arena, &g->order, *second);
    vec_push(arena, &g->outputs, *z);
    return g;
}

START_TEST(replacing_keeps_producers_and_kinds)
{
    node_id first, second;
    tensor_id x, y, z;
    struct graph *g = chain_of_two(&first, &second, &x, &y, &z);
    graph_replace_input(g, second, 1, x);
    ck_assert_uint_eq(graph_node(g, second)->inputs[0], y);
    ck_assert_uint_eq(graph_node(g, second)->inputs[1], x);
    graph_replace_input(g, second, 1, NO_TENSOR);
    ck_assert_uint_eq(graph_node(g, second)->inputs[1], NO_TENSOR);
    graph_remove_node(g, second);
    graph_replace_output(g, first, 0, z);
    ck_assert_uint_eq(graph_node(g, first)->outputs[0], z);
    ck_assert_uint_eq(graph_tensor(g, z)->producer, first);
    ck_assert_uint_eq(graph_tensor(g, y)->producer, NO_NODE);
    graph_replace_result(g, 0, y);
    ck_assert_uint_eq(g->outputs.data[0], y);
    ck_assert_int_eq(graph_tensor(g, y)->kind, TENSOR_OUTPUT);
    ck_assert_int_eq(graph_tensor(g, z)->kind, TENSOR_NATIVE);
    graph_replace_result(g, 0, x);
    ck_assert_int_eq(graph_tensor(g, x)->kind, TENSOR_INPUT);
}
END_TEST

START_TEST(all_uses_are_replaced)
{
    node_id first, second;
    tensor_id x, y, z;
    struct graph *g = chain_of_two(&first, &second, &x, &y, &z);
    const struct uses uses = graph_uses(arena, g);
    graph_replace_uses(g, &uses, y, x);
    ck_assert_uint_eq(graph_node(g, second)->inputs[0], x);
    ck_assert_uint_eq(graph_node(g, second)->inputs[1], x);
    ck_assert_uint_eq(graph_node(g, first)->inputs[0], x);
    ck_assert_uint_eq(graph_node(g, first)->outputs[0], y);
    graph_replace_uses(g, &uses, z, x); /* a graph output alone */
    ck_assert_uint_eq(g->outputs.data[0], z);
}
END_TEST

START_TEST(views_of_quantized_integers)
{
    struct arena *arena = arena_create();
    static const int8_t q[] = {1, 2, 3, -4, -5, -6};
    static const double scale[] = {0.5, 2}, zero[] = {1, -4};
    struct shape shape = SHAPE(2, 3), image = SHAPE(2, 1, 3), flat = SHAPE(6);
    struct perm swap = PERM(1, 0);
    struct view v = view_of(q, DT_INT8, &shape);
    v.scale = scale;
    v.zero = zero;
    const float rows[] = {0, 0.5f, 1, 0, -2, -4}, columns[] = {0, 0, 0.5f, -2, 1, -4};
    ck_assert_mem_eq(view_load(arena, &v, DT_FLOAT32), rows, sizeof rows);
    ck_assert(!view_reshape(&v, &flat)); /* the scaled axis would be gone */
    ck_assert(view_reshape(&v, &image));
    ck_assert_mem_eq(view_load(arena, &v, DT_FLOAT32), rows, sizeof rows);
    const struct shape added = SHAPE(1, 2, 3), apart = SHAPE(1, 2, 3, 1);
    ck_assert(view_reshape(&v, &added)); /* the scaled axis is another one now */
    ck_assert_uint_eq(v.scale_axis, 1);
    ck_assert(view_reshape(&v, &apart));
    ck_assert_mem_eq(view_load(arena, &v, DT_FLOAT32), rows, sizeof rows);
    ck_assert(!view_reshape(&v, &SHAPE(1, 3, 2)));
    ck_assert(view_reshape(&v, &shape));
    ck_assert_uint_eq(v.scale_axis, 0);
    view_permute(&v, &swap);
    ck_assert_mem_eq(view_load(arena, &v, DT_FLOAT32), columns, sizeof columns);
    const float whole[] = {0, 0.5f, 1, -2.5f, -3, -3.5f};
    v = view_of(q, DT_INT8, &shape);
    v.scale = scale;
    v.zero = zero;
    v.scale_axis = SCALE_WHOLE;
    ck_assert(view_reshape(&v, &flat));
    ck_assert_mem_eq(view_load(arena, &v, DT_FLOAT32), whole, sizeof whole);
    v.zero = NULL;
    ck_assert_float_eq(((const float *)view_load(arena, &v, DT_FLOAT32))[5], -3);
    arena_destroy(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ir");
    TCase *t = tcase_create("ir");
    tcase_add_checked_fixture(t, start, stop);
    tcase_add_test(t, every_half_survives_the_round_trip);
    tcase_add_test(t, halves_round_to_nearest_even);
    tcase_add_test(t, small_floats_have_their_published_values);
    tcase_add_test(t, views_of_quantized_integers);
    tcase_add_test(t, type_names_and_codes_are_unique);
    tcase_add_test(t, conversion_saturates_and_keeps_exact_values);
    tcase_add_test(t, permutations_compose_and_invert);
    tcase_add_test(t, broadcasting_follows_numpy);
    tcase_add_test(t, too_large_shapes_are_seen);
    tcase_add_test(t, views_load_what_they_mean);
    tcase_add_test(t, large_permuted_views_are_streamed_in_tiles);
    tcase_add_test(t, fitting_names_the_first_element_that_does_not);
    tcase_add_test(t, fitting_looks_at_one_of_elements_that_are_the_same);
    tcase_add_test(t, names_are_made_unique);
    tcase_add_test(t, uses_list_readers_in_order);
    tcase_add_test(t, replacing_keeps_producers_and_kinds);
    tcase_add_test(t, all_uses_are_replaced);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
