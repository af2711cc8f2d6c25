/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the executor's memory: never two at once, and little more memory than is taken at once. */
#include <check.h>
#include <stdlib.h>

#include "runtime/pool.h"

static struct arena *arena;
static struct pool pool;

static void setup(void)
{
    arena = arena_create();
    pool_init(&pool, arena);
}

static void teardown(void)
{
    arena_destroy(arena);
}

START_TEST(neighbours_that_are_given_back_become_one)
{
    uint32_t a = pool_take(&pool, 64), b = pool_take(&pool, 128), c = pool_take(&pool, 64);
    ck_assert_uint_eq(pool_offset(&pool, a), 0);
    ck_assert_uint_eq(pool_offset(&pool, b), 64);
    ck_assert_uint_eq(pool_offset(&pool, c), 192);
    pool_give(&pool, a);
    pool_give(&pool, b);
    ck_assert_uint_eq(pool_offset(&pool, pool_take(&pool, 192)), 0);
    ck_assert_uint_eq(pool.size, 256);
}
END_TEST

START_TEST(the_end_grows_where_it_is_free)
{
    uint32_t a = pool_take(&pool, 64), b = pool_take(&pool, 64);
    pool_give(&pool, b);
    ck_assert_uint_eq(pool_offset(&pool, pool_take(&pool, 640)), 64);
    ck_assert_uint_eq(pool.size, 704);
    pool_give(&pool, a);
    ck_assert_uint_eq(pool_offset(&pool, pool_take(&pool, 64)), 0);
}
END_TEST

START_TEST(whole_parts_are_neither_cut_nor_joined)
{
    pool.is_whole = true;
    uint32_t a = pool_take(&pool, 64), b = pool_take(&pool, 256);
    pool_give(&pool, a);
    pool_give(&pool, b);
    ck_assert_uint_eq(pool_offset(&pool, pool_take(&pool, 128)), 64);
    ck_assert_uint_eq(pool_size(&pool, b), 256);
    ck_assert_uint_eq(pool_offset(&pool, pool_take(&pool, 64)), 0);
    ck_assert_uint_eq(pool_offset(&pool, pool_take(&pool, 64)), 320);
    ck_assert_uint_eq(pool.size, 384);
}
END_TEST

struct place {
    uint32_t part;
    uint64_t offset, size;
};

enum { SLOTS = 200, ROUNDS = 20000 };

/* Check notes every assertion that it passes in a pipe: inside of long loops findings are counted. */
static void check_apart(const struct place *places, size_t one)
{
    const struct place *p = &places[one];
    uint32_t overlaps = 0;
    for (size_t i = 0; i < SLOTS; i++)
        if (i != one && places[i].size)
            overlaps += places[i].offset + places[i].size > p->offset && p->offset + p->size > places[i].offset;
    ck_assert(overlaps == 0 && p->offset + p->size <= pool.size);
}

START_TEST(random_places_never_overlap)
{
    struct place places[SLOTS] = {{0}};
    uint64_t taken = 0, most = 0, state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t slot = (size_t)(state >> 33) % SLOTS;
        struct place *p = &places[slot];
        taken -= p->size;
        if (p->size)
            pool_give(&pool, p->part);
        p->size = (state >> 50 & 1) ? 64 * (1 + (state >> 40) % 1000) : 0;
        if (!p->size)
            continue;
        p->part = pool_take(&pool, p->size);
        p->offset = pool_offset(&pool, p->part);
        check_apart(places, slot);
        taken += p->size;
        most = taken > most ? taken : most;
    }
    ck_assert_uint_lt(pool.size, most * 3 / 2);
}
END_TEST

/* With a search among all that are taken, this would not end. */
START_TEST(a_million_places_at_once)
{
    enum { COUNT = 1000000 };
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        wrong += pool_take(&pool, 64) != i;
    for (uint32_t i = 0; i < COUNT; i += 2)
        pool_give(&pool, i);
    for (uint32_t i = 0; i < COUNT / 2; i++)
        wrong += pool_offset(&pool, pool_take(&pool, 64)) >= 64ull * COUNT;
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(pool.size, 64ull * COUNT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool");
    TCase *tcase = tcase_create("pool");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, neighbours_that_are_given_back_become_one);
    tcase_add_test(tcase, the_end_grows_where_it_is_free);
    tcase_add_test(tcase, whole_parts_are_neither_cut_nor_joined);
    tcase_add_test(tcase, random_places_never_overlap);
    tcase_add_test(tcase, a_million_places_at_once);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
