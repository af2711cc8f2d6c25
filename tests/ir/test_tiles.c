/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels against their twins and against plain loops; tiles of views in memory and in files. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/tiles.h"

enum { MAPPED = 4 << 20 }; /* bytes */

static struct arena *arena;
static struct diags diags;

static void start(void)
{
    arena = arena_create();
    diags_init(&diags, arena);
    srand(7);
}

static void stop(void)
{
    arena_destroy(arena);
}

static void fill(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)rand();
}

static struct perm random_perm(uint32_t rank)
{
    struct perm p = perm_identity(rank);
    for (uint32_t i = rank; i-- > 1;) {
        uint32_t k = (uint32_t)rand() % (i + 1);
        uint8_t axis = p.axis[i];
        p.axis[i] = p.axis[k];
        p.axis[k] = axis;
    }
    return p;
}

/* Where element `index` of the box comes from, in elements. */
static int64_t source_of(const struct box *box, uint64_t index)
{
    int64_t at = 0;
    for (uint32_t i = box->rank; i-- > 0; index /= (uint64_t)box->extent[i])
        at += (int64_t)(index % (uint64_t)box->extent[i]) * box->strides[i];
    return at;
}

/* A box out of a larger random source: extents of 1 to `most`, odd ones too. */
static struct box random_box(uint32_t rank, uint32_t size, int64_t most, uint64_t *source_count)
{
    struct shape source = {.rank = rank};
    struct perm perm = random_perm(rank);
    struct box box = {.rank = rank, .size = size};
    int64_t strides[MAX_RANK];
    for (uint32_t i = 0; i < rank; i++)
        source.dims[i] = 1 + rand() % most;
    shape_strides(&source, strides);
    for (uint32_t i = 0; i < rank; i++) {
        box.strides[i] = strides[perm.axis[i]];
        box.extent[i] = 1 + rand() % source.dims[perm.axis[i]];
    }
    *source_count = shape_count(&source);
    return box;
}

START_TEST(boxes_are_permuted_alike_by_vectors_scalars_and_plain_loops)
{
    static const int64_t most[] = {0, 3000, 90, 40, 20, 9, 7, 5, 4}; /* by rank */
    for (int round = 0; round < 1200; round++) {
        uint64_t source_count, count = 1;
        uint32_t rank = 1 + (uint32_t)round % MAX_RANK, size = 1u << (round / MAX_RANK % 4);
        struct box box = random_box(rank, size, most[rank], &source_count);
        for (uint32_t i = 0; i < rank; i++)
            count *= (uint64_t)box.extent[i];
        uint32_t shift = (uint32_t)rand() % 8; /* neither side is aligned */
        uint8_t *source = (uint8_t *)arena_alloc(arena, source_count * size + 8) + shift;
        uint8_t *out[PERMUTE_WIDEST + 1];
        fill(source, source_count * size);
        for (int i = 0; i <= PERMUTE_WIDEST; i++) {
            out[i] = (uint8_t *)arena_alloc(arena, count * size + 32) + 7 - shift;
            memset(out[i] + count * size, 0xA5, 16);
        }
        for (int i = 0; i <= PERMUTE_WIDEST; i++) {
            permute_box_by(&box, out[i], source, (enum permute_kernel)i);
            ck_assert_mem_eq(out[0], out[i], count * size + 16); /* nothing behind the box is touched */
        }
        for (uint64_t i = 0; i < count; i++)
            if (memcmp(out[0] + i * size, source + source_of(&box, i) * size, size) != 0)
                ck_abort_msg("element %llu is another one", (unsigned long long)i);
        ck_assert_uint_eq(out[0][count * size], 0xA5);
        arena_destroy(arena);
        arena = arena_create();
    }
}
END_TEST

/* ---- tiles ---- */

struct collected {
    uint8_t *bytes, *seen;
    uint64_t size;
    size_t largest; /* piece */
};

static odlc_status collect(void *user, uint64_t offset, const void *bytes, size_t size)
{
    struct collected *c = user;
    ck_assert_uint_le(offset + size, c->size);
    memcpy(c->bytes + offset, bytes, size);
    ck_assert_msg(!memchr(c->seen + offset, 1, size), "bytes come twice");
    memset(c->seen + offset, 1, size);
    c->largest = size > c->largest ? size : c->largest;
    return ODLC_OK;
}

/* All tiles of a view, the last one first. */
static struct collected collect_tiles(const struct view *view, enum dtype as, uint64_t mapped, uint64_t *tiles_count)
{
    struct view_tiles tiles;
    view_tiles_start(view, as, mapped, &tiles);
    struct tile_space space = tile_space_new(arena, view_size(view, as) / dtype_size(as));
    struct collected c = {.size = view_size(view, as)};
    c.bytes = arena_alloc(arena, c.size);
    c.seen = arena_alloc(arena, c.size);
    for (uint64_t i = tiles.count; i-- > 0;)
        ck_assert_int_eq(view_tile(&tiles, i, &space, collect, &c), ODLC_OK);
    ck_assert_msg(!memchr(c.seen, 0, c.size), "bytes are missing");
    *tiles_count = tiles.count;
    return c;
}

/* A file of floats 0, 1, 2, …, mapped; behind one byte, so that they are not aligned. */
static struct view floats_in_file(const struct shape *shape)
{
    uint64_t count = shape_count(shape);
    char path[] = "/tmp/test-tiles-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "wb");
    struct file *file;
    ck_assert_ptr_nonnull(f);
    float *values = arena_array(arena, float, count);
    for (uint64_t i = 0; i < count; i++)
        values[i] = (float)i;
    fputc('x', f);
    ck_assert_uint_eq(fwrite(values, sizeof *values, count, f), count);
    fclose(f);
    ck_assert_int_eq(file_map(arena, &diags, path, &file), ODLC_OK);
    unlink(path);
    struct view view = view_of(file->data + 1, DT_FLOAT32, shape);
    view.file = file;
    return view;
}

/* Values up to 2^24 are exact as floats; element i of the result comes from element `from` of the source. */
static void check_values(const struct view *view, const struct collected *c, const double *factors)
{
    struct shape shape = view_shape(view);
    struct box box = {.rank = shape.rank, .size = 4};
    int64_t strides[MAX_RANK];
    shape_strides(&view->shape, strides);
    for (uint32_t i = 0; i < shape.rank; i++) {
        box.extent[i] = shape.dims[i];
        box.strides[i] = strides[view->perm.axis[i]];
    }
    for (uint64_t i = 0; i < shape_count(&shape); i++) {
        int64_t from = source_of(&box, i);
        double want = (double)(float)from;
        if (factors)
            want *= factors[from / strides[view->scale_axis] % view->shape.dims[view->scale_axis]];
        float got;
        memcpy(&got, c->bytes + 4 * i, 4);
        if ((float)want != got)
            ck_abort_msg("element %llu: %g, not %g", (unsigned long long)i, (double)got, want);
    }
}

START_TEST(tiles_of_mapped_views_cover_the_value_once)
{
    static const struct {
        struct shape shape;
        struct perm perm;
        uint64_t least_tiles;
    } cases[] = {
        {{4, {512, 130, 3, 3}}, {4, {2, 3, 1, 0}}, 2}, /* OIHW → HWIO, mapped */
        {{4, {300, 400, 3, 3}}, {4, {2, 3, 1, 0}}, 4}, /* the same, too large to be mapped */
        {{2, {1201, 1103}}, {2, {1, 0}}, 6},           /* a transposed matrix */
        {{2, {3, 700001}}, {2, {1, 0}}, 8},            /* few lanes */
        {{2, {700001, 3}}, {2, {1, 0}}, 8},            /* short runs */
        {{4, {2, 3, 701, 503}}, {4, {0, 2, 3, 1}}, 8}, /* NCHW → NHWC */
        {{3, {1301, 7, 211}}, {3, {1, 0, 2}}, 7},      /* rows stay together */
        {{5, {3, 1, 1500, 401, 1}}, {5, {0, 1, 2, 3, 4}}, 7},
        {{5, {3, 1, 1500, 401, 1}}, {5, {1, 0, 4, 2, 3}}, 7}, /* only axes of one element move */
        {{1, {40000}}, {1, {0}}, 1},
        {{1, {1023}}, {1, {0}}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct view view = floats_in_file(&cases[i].shape);
        uint64_t tiles;
        view_permute(&view, &cases[i].perm);
        struct collected c = collect_tiles(&view, DT_FLOAT32, MAPPED, &tiles);
        ck_assert_uint_ge(tiles, cases[i].least_tiles);
        ck_assert_uint_le(c.largest, 1 << 20);
        check_values(&view, &c, NULL);
        double *factors = arena_array(arena, double, 1501);
        for (int k = 0; k < 1501; k++)
            factors[k] = 1.0 / (k + 3);
        view.scale_axis = view.shape.dims[0] <= 1501 ? 0 : 1;
        if (view.scale_axis < view.shape.rank && view.shape.dims[view.scale_axis] <= 1501) {
            view.scale = factors;
            c = collect_tiles(&view, DT_FLOAT32, MAPPED, &tiles);
            check_values(&view, &c, factors);
        }
        arena_destroy(arena);
        arena = arena_create();
        diags_init(&diags, arena);
    }
}
END_TEST

START_TEST(tiles_that_are_read_grow_with_the_room)
{
    struct shape shape = SHAPE(1201, 5003);
    struct perm perm = PERM(1, 0);
    struct view view = floats_in_file(&shape);
    uint64_t few, many;
    view_permute(&view, &perm);
    struct collected c = collect_tiles(&view, DT_FLOAT32, 20 << 20, &few);
    check_values(&view, &c, NULL);
    ck_assert_uint_le(c.largest, 4 << 20);
    c = collect_tiles(&view, DT_FLOAT32, 1 << 20, &many);
    check_values(&view, &c, NULL);
    ck_assert_uint_le(c.largest, 1 << 20);
    ck_assert_uint_ge(many, 3 * few);
}
END_TEST

/* A large view is read into the space, then it shrinks for one that is mapped: what is beyond that one's tiles is given
 * back, and tiles are right before, between and after. */
START_TEST(a_space_that_shrinks_makes_the_same_tiles)
{
    enum { TILE_BYTES = 1 << 20 };
    struct shape shapes[] = {SHAPE(1201, 5003), SHAPE(300, 400)};
    struct perm perm = PERM(1, 0);
    struct tile_space space = tile_space_new(arena, shape_count(&shapes[0]));
    ck_assert_uint_eq(space.size, 4 * TILE_BYTES);
    for (int i = 0; i < 4; i++) {
        struct view view = floats_in_file(&shapes[i % 2]);
        struct view_tiles tiles;
        view_permute(&view, &perm);
        view_tiles_start(&view, DT_FLOAT32, 20 << 20, &tiles);
        ck_assert_int_eq(tiles.reads, i % 2 == 0);
        struct collected c = {.size = view_size(&view, DT_FLOAT32)};
        c.bytes = arena_alloc(arena, c.size);
        c.seen = arena_alloc(arena, c.size);
        if (i % 2) {
            memset(space.source, 7, space.size);
            memset(space.ordered, 7, space.size);
            tile_space_shrink(&space, &tiles);
            for (int k = 0; k < 2; k++) {
                const uint8_t *bytes = k ? space.ordered : space.source;
                ck_assert_uint_eq(bytes[TILE_BYTES - 1], 7);
                ck_assert_uint_eq(bytes[TILE_BYTES + 64 * 1024], 0);
                ck_assert_uint_eq(bytes[space.size - 64 * 1024], 0);
            }
        }
        for (uint64_t t = 0; t < tiles.count; t++)
            ck_assert_int_eq(view_tile(&tiles, t, &space, collect, &c), ODLC_OK);
        check_values(&view, &c, NULL);
    }
}
END_TEST

START_TEST(a_source_that_became_shorter_is_an_error)
{
    struct shape shape = SHAPE(300, 400, 3, 3);
    struct perm perm = PERM(2, 3, 1, 0);
    struct view view = floats_in_file(&shape);
    struct view_tiles tiles;
    view_permute(&view, &perm);
    struct tile_space space = tile_space_new(arena, shape_count(&shape));
    struct collected c = {.size = view_size(&view, DT_FLOAT32)};
    c.bytes = arena_alloc(arena, c.size);
    c.seen = arena_alloc(arena, c.size);
    view_tiles_start(&view, DT_FLOAT32, MAPPED, &tiles);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", view.file->fd);
    ck_assert_int_eq(truncate(path, 1000), 0);
    ck_assert_int_eq(view_tile(&tiles, 0, &space, collect, &c), ODLC_ERR_IO);
}
END_TEST

START_TEST(empty_views_have_no_tiles)
{
    struct shape shape = SHAPE(3, 0, 5);
    struct perm perm = PERM(2, 0, 1);
    struct view view = view_of("", DT_FLOAT32, &shape);
    struct view_tiles tiles;
    view_permute(&view, &perm);
    view_tiles_start(&view, DT_INT32, MAPPED, &tiles);
    ck_assert_uint_eq(tiles.count, 0);
}
END_TEST

/* ---- conversion ---- */

START_TEST(all_halves_are_converted_as_one_by_one)
{
    enum { ALL = 65536 };
    uint16_t *bits = arena_array(arena, uint16_t, ALL);
    float *halves = arena_array(arena, float, ALL), *bfloats = arena_array(arena, float, ALL);
    for (uint32_t i = 0; i < ALL; i++)
        bits[i] = (uint16_t)i;
    convert_elements(halves, DT_FLOAT32, bits, DT_FLOAT16, ALL);
    convert_elements(bfloats, DT_FLOAT32, bits, DT_BFLOAT16, ALL);
    for (uint32_t i = 0; i < ALL; i++) {
        float half = half_to_float((uint16_t)i), bfloat = bfloat16_to_float((uint16_t)i);
        ck_assert_mem_eq(&halves[i], &half, 4);
        ck_assert_mem_eq(&bfloats[i], &bfloat, 4);
    }
}
END_TEST

START_TEST(narrowed_integers_saturate_wherever_they_stand)
{
    static const int64_t edges[] = {INT32_MAX, INT32_MIN,  (int64_t)INT32_MAX + 1, (int64_t)INT32_MIN - 1, INT64_MAX,
                                    INT64_MIN, UINT32_MAX, (int64_t)UINT32_MAX + 1};
    for (size_t e = 0; e < sizeof edges / sizeof edges[0]; e++)
        for (size_t at = 0; at < 1100; at += 137) {
            int64_t from[1100] = {0};
            int32_t to[1100];
            uint32_t unsigned_to[1100];
            from[at] = edges[e];
            convert_elements(to, DT_INT32, from, DT_INT64, 1100);
            convert_elements(unsigned_to, DT_UINT32, from, DT_UINT64, 1100);
            int64_t want = edges[e] > INT32_MAX ? INT32_MAX : edges[e] < INT32_MIN ? INT32_MIN : edges[e];
            uint64_t bits = (uint64_t)edges[e], unsigned_want = bits > UINT32_MAX ? UINT32_MAX : bits;
            for (size_t i = 0; i < 1100; i++) {
                ck_assert_int_eq(to[i], i == at ? want : 0);
                ck_assert_uint_eq(unsigned_to[i], i == at ? unsigned_want : 0);
            }
        }
}
END_TEST

START_TEST(scaled_floats_are_rounded_once)
{
    enum { N = 1001 };
    float from[N], to[N];
    double factor[N], zero[N];
    for (int i = 0; i < N; i++) {
        from[i] = (float)(rand() - RAND_MAX / 2) / 65537;
        factor[i] = (rand() + 1.0) / 1234567;
        zero[i] = rand() % 100 / 8.0;
    }
    from[0] = -0.0f;
    zero[0] = 0;
    for (int with_zero = 0; with_zero < 2; with_zero++)
        for (int each = 0; each < 2; each++) {
            struct scaling s = {.factor = factor, .zero = with_zero ? zero : NULL, .each = each};
            scale_elements(to, DT_FLOAT32, from, DT_FLOAT32, N, &s);
            for (int i = 0; i < N; i++) {
                double z = with_zero ? zero[each ? i : 0] : 0;
                float want = (float)(((double)from[i] - z) * factor[each ? i : 0]);
                ck_assert_mem_eq(&to[i], &want, sizeof want);
            }
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tiles");
    TCase *t = tcase_create("tiles");
    tcase_add_checked_fixture(t, start, stop);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, boxes_are_permuted_alike_by_vectors_scalars_and_plain_loops);
    tcase_add_test(t, tiles_of_mapped_views_cover_the_value_once);
    tcase_add_test(t, tiles_that_are_read_grow_with_the_room);
    tcase_add_test(t, a_space_that_shrinks_makes_the_same_tiles);
    tcase_add_test(t, a_source_that_became_shorter_is_an_error);
    tcase_add_test(t, empty_views_have_no_tiles);
    tcase_add_test(t, all_halves_are_converted_as_one_by_one);
    tcase_add_test(t, narrowed_integers_saturate_wherever_they_stand);
    tcase_add_test(t, scaled_floats_are_rounded_once);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
