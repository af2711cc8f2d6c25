/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged containers: every truncation and every kind of flipped byte ends in an error or in a container that is still
 * whole. */
#include "dlc_fixture.h"

#include <sys/mman.h>

#include "dlc/read.h"

/* Reads bytes as a container, from a file without a name. `strict`: stops at a wrong CRC; otherwise it goes on to the
 * graph, as with a file whose CRCs an attacker has mended. */
static odlc_status try_bytes(const uint8_t *bytes, size_t size, bool strict)
{
    struct arena *own = arena_create();
    struct diags found;
    struct file *file;
    struct dlc_file *dlc;
    struct graph *g;
    int fd = memfd_create("damaged", MFD_CLOEXEC);
    diags_init(&found, own);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    ck_status_ok(file_map_fd(own, &found, "damaged.dlc", fd, &file));
    odlc_status status = dlc_read_file(own, &found, file, &dlc);
    if (status == ODLC_OK && strict)
        status = dlc_verify(&found, dlc, NULL);
    if (status == ODLC_OK)
        status = dlc_to_ir(own, &found, op_registry_new(own), dlc, 0, &g);
    ck_assert_int_eq(status != ODLC_OK, found.errors > 0);
    arena_destroy(own);
    return status;
}

START_TEST(every_truncation)
{
    size_t size;
    const uint8_t *bytes = read_all(write_sample("whole.dlc", _i != 0), &size);
    for (size_t n = 0; n < size; n++)
        ck_assert_msg(try_bytes(bytes, n, true) != ODLC_OK, "%zu of %zu bytes were taken for a container", n, size);
    ck_assert_int_eq(try_bytes(bytes, size, true), ODLC_OK);
}
END_TEST

START_TEST(every_byte_changed)
{
    size_t size;
    uint8_t *bytes = read_all(write_sample("whole.dlc", _i != 0), &size);
    for (size_t at = 0; at < size; at++) {
        const uint8_t masks[] = {(uint8_t)(1u << at % 8), 0xFF};
        for (size_t m = 0; m < COUNT_OF(masks); m++) {
            odlc_status status;
            bytes[at] ^= masks[m];
            status = try_bytes(bytes, size, false);
            bytes[at] ^= masks[m];
            ck_assert_int_ne(status, ODLC_ERR_INTERNAL);
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
            ck_assert_int_ne(try_bytes(bytes, size, true), ODLC_OK);
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
