/* Damaged containers: every truncation and every kind of flipped byte ends in an error or in a container that is still
 * whole. */
#include "dlc_fixture.h"

/* Reads from memory, as far as each step allows. */
static odlc_status try_bytes(const uint8_t *bytes, size_t size)
{
    struct arena *own = arena_create();
    struct diags found;
    struct dlc_file *dlc;
    struct graph *g;
    diags_init(&found, own);
    const char *path = in_folder("damaged.dlc");
    write_all(path, bytes, size);
    odlc_status status = dlc_read(own, &found, path, &dlc);
    if (status == ODLC_OK)
        status = dlc_verify(&found, dlc);
    if (status == ODLC_OK)
        status = dlc_to_ir(own, &found, dlc, 0, &g);
    ck_assert_int_eq(status != ODLC_OK, found.errors > 0);
    arena_destroy(own);
    return status;
}

/* As try_bytes, but goes on to the graph although the CRCs are wrong: what a careful attacker would have mended. */
static void read_regardless(const uint8_t *bytes, size_t size)
{
    struct arena *own = arena_create();
    struct diags found;
    struct dlc_file *dlc;
    struct graph *g;
    diags_init(&found, own);
    const char *path = in_folder("damaged.dlc");
    write_all(path, bytes, size);
    odlc_status status = dlc_read(own, &found, path, &dlc);
    if (status == ODLC_OK)
        status = dlc_to_ir(own, &found, dlc, 0, &g);
    ck_assert_int_eq(status != ODLC_OK, found.errors > 0);
    arena_destroy(own);
}

START_TEST(every_truncation)
{
    size_t size;
    const uint8_t *bytes = read_all(write_sample("whole.dlc", _i != 0), &size);
    for (size_t n = 0; n < size; n++)
        ck_assert_msg(try_bytes(bytes, n) != ODLC_OK, "%zu of %zu bytes were taken for a container", n, size);
    ck_assert_int_eq(try_bytes(bytes, size), ODLC_OK);
}
END_TEST

START_TEST(every_byte_changed)
{
    static const uint8_t masks[] = {0x01, 0x80, 0xFF};
    size_t size;
    uint8_t *bytes = read_all(write_sample("whole.dlc", _i != 0), &size);
    for (size_t at = 0; at < size; at++) {
        for (size_t m = 0; m < COUNT_OF(masks); m++) {
            bytes[at] ^= masks[m];
            read_regardless(bytes, size);
            bytes[at] ^= masks[m];
        }
    }
}
END_TEST

/* Any change of model or weights is noticed. */
START_TEST(changed_entries_are_refused)
{
    size_t size;
    struct dlc_file *dlc;
    const char *path = write_sample("whole.dlc", false);
    uint8_t *bytes = read_all(path, &size);
    ck_status_ok(dlc_read(arena, &diags, path, &dlc));
    for (uint32_t e = 0; e < dlc->n_entries; e++) {
        for (uint64_t i = 0; i < dlc->entries[e].size; i += 5) {
            bytes[dlc->entries[e].offset + i] ^= 0x10;
            ck_assert_int_ne(try_bytes(bytes, size), ODLC_OK);
            bytes[dlc->entries[e].offset + i] ^= 0x10;
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile");
    TCase *tc = tcase_create("hostile");
    tcase_add_checked_fixture(tc, fixture_start, fixture_end);
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, every_truncation, 0, 2);
    tcase_add_loop_test(tc, every_byte_changed, 0, 2);
    tcase_add_test(tc, changed_entries_are_refused);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
