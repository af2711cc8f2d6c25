/* SPDX-License-Identifier: Apache-2.0 */
/* Progress: what a conversion reports to its caller, that it can be stopped at each report, and the text of the line.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "tools/convert_progress.h"

enum { ENDLESS = 1000000 };

struct watch {
    int stop_at, calls;
    struct odlc_progress last;
    unsigned stages; /* bit by bit */
    bool backwards, beyond;
};

static char folder[64], output[96], depfile[96];

static void setup(void)
{
    strcpy(folder, "/tmp/odlc-progress-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(output, sizeof output, "%s/out.dlc", folder);
    snprintf(depfile, sizeof depfile, "%s/out.d", folder);
}

static void teardown(void)
{
    unlink(output);
    unlink(depfile);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else is there */
}

static int note(void *user, const struct odlc_progress *p)
{
    struct watch *w = user;
    bool same_stage = p->stage == w->last.stage;
    w->backwards |= p->stage < w->last.stage || (same_stage && p->done < w->last.done);
    w->beyond |= p->done > p->total;
    w->stages |= 1u << p->stage;
    w->last = *p;
    return w->calls++ == w->stop_at;
}

static odlc_status convert(struct watch *w, const char *code)
{
    const char *configs[] = {SOURCE_ROOT "/examples/ops.json"};
    struct odlc_convert_options options;
    odlc_convert_defaults(&options, sizeof options);
    options.input = SOURCE_ROOT "/examples/example.onnx";
    options.output = output;
    options.depfile = depfile;
    options.udo_configs = configs;
    options.n_udo_configs = 1;
    options.progress = note;
    options.progress_user = w;
    struct odlc_conversion *conversion;
    odlc_status status = odlc_convert(ODLC_ONNX, &options, &conversion);
    size_t count;
    const struct odlc_diag *diags = odlc_conversion_diags(conversion, &count);
    bool found = !code;
    for (size_t i = 0; i < count; i++)
        found |= code && strcmp(diags[i].code, code) == 0;
    ck_assert(found);
    odlc_conversion_free(conversion);
    return status;
}

START_TEST(every_stage_is_reported)
{
    struct watch w = {.stop_at = ENDLESS};
    ck_assert_int_eq(convert(&w, NULL), ODLC_OK);
    ck_assert_uint_eq(w.stages, (1u << (ODLC_STAGE_WRITE + 1)) - 1);
    ck_assert(!w.backwards);
    ck_assert(!w.beyond);
    ck_assert_int_eq(access(output, F_OK), 0);
    ck_assert_int_eq(access(depfile, F_OK), 0);
}
END_TEST

START_TEST(each_report_can_stop_it)
{
    struct watch all = {.stop_at = ENDLESS};
    ck_assert_int_eq(convert(&all, NULL), ODLC_OK);
    unlink(output);
    unlink(depfile);
    for (int i = 0; i < all.calls; i++) {
        struct watch w = {.stop_at = i};
        ck_assert_int_eq(convert(&w, "stopped"), ODLC_ERR_STOPPED);
        ck_assert_int_eq(w.calls, i + 1);
        ck_assert_int_ne(access(output, F_OK), 0);
        ck_assert_int_ne(access(depfile, F_OK), 0);
    }
    ck_assert_int_gt(all.calls, ODLC_STAGE_WRITE);
}
END_TEST

static void expect(const char *text, size_t columns, enum odlc_stage stage, uint64_t done, uint64_t total,
                   double seconds)
{
    char out[160];
    const struct work_progress p = convert_progress(&(struct odlc_progress){stage, done, total});
    progress_text(out, sizeof out, columns, &p, seconds);
    ck_assert_str_eq(out, text);
}

START_TEST(texts)
{
    expect("reading the model", 80, ODLC_STAGE_READ, 0, 0, 3);
    expect("checking ops", 80, ODLC_STAGE_CHECK, 0, 0, 3);
    expect("lowering: 250000 of 1000000 nodes, 25 %, 0:03 left", 80, ODLC_STAGE_LOWER, 250000, 1000000, 1);
    expect("passes: 3 of 10, 30 %", 80, ODLC_STAGE_PASSES, 3, 10, 0.1);
    expect("writing: 50.0 of 400.0 MB, 12 %, 100 MB/s, 0:04 left", 80, ODLC_STAGE_WRITE, 50000000, 400000000, 0.5);
    expect("writing: 0.5 of 3.0 GB, 17 %, 10 MB/s, 4:10 left", 80, ODLC_STAGE_WRITE, 500000000, 3000000000, 50);
    expect("writing: 1.0 of 90.0 GB, 1 %, 10 MB/s, 2:28:20 left", 80, ODLC_STAGE_WRITE, 1000000000, 90000000000, 100);
    expect("writing: 3.0 of 3.0 GB, 100 %, 3000 MB/s, 0:00 left", 80, ODLC_STAGE_WRITE, 3000000000, 3000000000, 1);
    expect("writing", 80, ODLC_STAGE_WRITE, 0, 0, 0);
}
END_TEST

START_TEST(rates_are_those_of_this_run)
{
    char out[160];
    struct work_progress p = {.stage = "calibrating", .unit = " inputs", .rate = "inputs/s", .done = 150, .total = 300};
    progress_text(out, sizeof out, 80, &p, 10);
    ck_assert_str_eq(out, "calibrating: 150 of 300 inputs, 50 %, 15 inputs/s, 0:10 left");
    p.before = 100;
    progress_text(out, sizeof out, 80, &p, 10);
    ck_assert_str_eq(out, "calibrating: 150 of 300 inputs, 50 %, 5.0 inputs/s, 0:30 left");
    p.before = 150;
    progress_text(out, sizeof out, 80, &p, 10);
    ck_assert_str_eq(out, "calibrating: 150 of 300 inputs, 50 %");
}
END_TEST

START_TEST(narrow_terminals_get_less)
{
    expect("writing: 50.0 of 400.0 MB, 12 %, 100 MB/s", 41, ODLC_STAGE_WRITE, 50000000, 400000000, 0.5);
    expect("writing: 50.0 of 400.0 MB, 12 %", 40, ODLC_STAGE_WRITE, 50000000, 400000000, 0.5);
    expect("writing", 24, ODLC_STAGE_WRITE, 50000000, 400000000, 0.5);
    expect("", 3, ODLC_STAGE_WRITE, 50000000, 400000000, 0.5);
    expect("", 0, ODLC_STAGE_WRITE, 50000000, 400000000, 0.5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("progress");
    TCase *tcase = tcase_create("progress");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, every_stage_is_reported);
    tcase_add_test(tcase, each_report_can_stop_it);
    tcase_add_test(tcase, texts);
    tcase_add_test(tcase, rates_are_those_of_this_run);
    tcase_add_test(tcase, narrow_terminals_get_less);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
