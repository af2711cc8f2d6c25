/* SPDX-License-Identifier: Apache-2.0 */
/* Reshapes of stored orders: whatever is said to be possible gives the elements that a Reshape in the own order gives.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ir/view.h"
#include "pass/regroup.h"

static bool orders(const struct shape *from, struct perm from_order, const struct shape *to, const struct perm *wish,
                   struct perm expected)
{
    struct perm order;
    if (!regroup(from, &from_order, to, wish, &order))
        return false;
    return perm_equal(&order, &expected);
}

START_TEST(known_orders)
{
    const struct shape image = SHAPE(1, 6, 4, 5), shuffled = SHAPE(1, 2, 3, 4, 5), flat = SHAPE(1, 120);
    const struct shape pairs = SHAPE(3, 2, 20), line = SHAPE(1, 6, 20), row = SHAPE(1, 6, 1, 20),
                       scaled = SHAPE(6, 1, 1);
    const struct perm last = perm_channels_last(4), row_last = perm_channels_last(4), wish = PERM(0, 3, 1, 2);
    struct perm order;
    ck_assert(orders(&image, last, &shuffled, NULL, PERM(0, 3, 4, 1, 2))); /* channels are split */
    ck_assert(orders(&image, last, &pairs, NULL, PERM(2, 0, 1)));          /* and positions merged */
    ck_assert(orders(&image, last, &line, NULL, PERM(0, 2, 1)));
    ck_assert(orders(&shuffled, PERM(0, 3, 4, 1, 2), &image, NULL, PERM(0, 2, 3, 1)));
    ck_assert(!regroup(&image, &last, &flat, NULL, &order));                    /* channels and positions in one axis */
    ck_assert(!regroup(&shuffled, &PERM(0, 3, 4, 2, 1), &image, NULL, &order)); /* the wrong way round */
    ck_assert(orders(&image, perm_identity(4), &flat, NULL, perm_identity(2)));
    /* Axes of one element go where they are wished, else where channels-last has them. */
    ck_assert(orders(&line, PERM(0, 2, 1), &row, &wish, wish));
    ck_assert(orders(&line, PERM(0, 2, 1), &row, NULL, row_last));
    ck_assert(orders(&scaled, PERM(1, 2, 0), &SHAPE(1, 6), NULL, perm_identity(2)));
    const struct shape none = SHAPE(1, 0, 2), nothing = SHAPE(0, 3);
    ck_assert(!regroup(&none, &PERM(0, 2, 1), &nothing, NULL, &order));
}
END_TEST

static struct shape random_split(uint64_t count)
{
    struct shape out = {.rank = 1 + (uint32_t)(rand() % 6)};
    for (uint32_t i = 0; i < out.rank; i++)
        out.dims[i] = 1;
    for (uint64_t factor = 2; count > 1; factor++)
        for (; count % factor == 0; count /= factor)
            out.dims[rand() % (int)out.rank] *= (int64_t)factor;
    return out;
}

static struct perm random_order(uint32_t rank)
{
    struct perm out = perm_identity(rank);
    for (uint32_t i = rank; i > 1; i--) {
        int k = rand() % (int)i;
        uint8_t held = out.axis[i - 1];
        out.axis[i - 1] = out.axis[k];
        out.axis[k] = held;
    }
    return out;
}

START_TEST(elements_stay_where_they_belong)
{
    static const uint64_t counts[] = {1, 8, 24, 36, 60};
    struct arena *arena = arena_create();
    int possible = 0;
    srand(5);
    for (int round = 0; round < 20000; round++) {
        struct arena_mark mark = arena_mark(arena);
        uint64_t count = counts[rand() % 5];
        struct shape from = random_split(count), to = random_split(count);
        struct perm from_order = random_order(from.rank), wish = random_order(to.rank), order;
        if (regroup(&from, &from_order, &to, rand() % 2 ? &wish : NULL, &order)) {
            int32_t *elements = arena_array(arena, int32_t, count);
            for (uint64_t i = 0; i < count; i++)
                elements[i] = (int32_t)i;
            ck_assert(perm_is_valid(&order) && order.rank == to.rank);
            struct view stored = view_of(elements, DT_INT32, &from), result = view_of(elements, DT_INT32, &to);
            view_permute(&stored, &from_order);
            view_permute(&result, &order);
            ck_assert(memcmp(view_load(arena, &stored, DT_INT32), view_load(arena, &result, DT_INT32),
                             count * sizeof *elements) == 0);
            possible++;
        }
        arena_rewind(arena, mark);
    }
    ck_assert_int_gt(possible, 5000);
    arena_destroy(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("regroup");
    TCase *orders_case = tcase_create("orders");
    tcase_add_test(orders_case, known_orders);
    tcase_add_test(orders_case, elements_stay_where_they_belong);
    suite_add_tcase(suite, orders_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
