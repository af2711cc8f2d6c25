/* SPDX-License-Identifier: Apache-2.0 */
/* Reports and pages of containers, and that long work is told and stopped. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "opendlc/diff.h"
#include "opendlc/report.h"

static odlc_container *container, *other;

static const char *code_of_last(const odlc_container *c)
{
    size_t count;
    const struct odlc_diag *diags = odlc_container_diags(c, &count);
    ck_assert_uint_gt(count, 0);
    return diags[count - 1].code;
}

static void setup(void)
{
    container = odlc_container_new();
    other = odlc_container_new();
    ck_assert_int_eq(odlc_container_open(container, TESTDATA "/nr64.dlc"), ODLC_OK);
    ck_assert_int_eq(odlc_container_open(other, TESTDATA "/netp.dlc"), ODLC_OK);
}

static void teardown(void)
{
    odlc_container_free(container);
    odlc_container_free(other);
}

/* ---- who is told ---- */

struct told {
    unsigned calls, stop_at; /* the call that asks for the end; 0: none */
    uint64_t done, total;    /* of the last call */
};

static int tell(void *user, uint64_t done, uint64_t total)
{
    struct told *told = user;
    ck_assert_uint_le(done, total);
    told->done = done;
    told->total = total;
    return ++told->calls == told->stop_at;
}

static uint64_t bytes_with_crcs(const odlc_container *c)
{
    const struct odlc_summary *s = odlc_container_summary(c);
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->n_entries; i++)
        bytes += s->entries[i].crc ? s->entries[i].size : 0;
    return bytes;
}

START_TEST(verification_tells_and_stops)
{
    struct told told = {0};
    odlc_container_set_progress(container, tell, &told);
    ck_assert_int_eq(odlc_container_verify(container), ODLC_OK);
    ck_assert_uint_ge(told.calls, 2);
    ck_assert_uint_gt(told.total, 0);
    ck_assert_uint_eq(told.total, bytes_with_crcs(container));
    ck_assert_uint_eq(told.done, told.total);
    for (unsigned at = 1; at <= 2; at++) {
        told = (struct told){.stop_at = at};
        ck_assert_int_eq(odlc_container_verify(container), ODLC_ERR_STOPPED);
        ck_assert_uint_eq(told.calls, at);
        ck_assert_str_eq(code_of_last(container), "stopped");
    }
    odlc_container_set_progress(container, NULL, NULL);
    ck_assert_int_eq(odlc_container_verify(container), ODLC_OK);
}
END_TEST

START_TEST(comparison_tells_and_stops)
{
    struct told told = {0};
    struct odlc_diff_options options = {.struct_size = sizeof options, .progress = tell, .progress_user = &told};
    odlc_diff *diff = NULL;
    ck_assert_int_eq(odlc_diff_new(container, other, &options, &diff), ODLC_OK);
    ck_assert_uint_ge(told.calls, 2);
    ck_assert_uint_eq(told.done, told.total);
    odlc_diff_free(diff);
    diff = NULL;
    for (unsigned at = 1; at <= 2; at++) {
        told = (struct told){.stop_at = at};
        ck_assert_int_eq(odlc_diff_new(container, other, &options, &diff), ODLC_ERR_STOPPED);
        ck_assert_uint_eq(told.calls, at);
        ck_assert_ptr_null(diff);
    }
}
END_TEST

START_TEST(pages_tell_and_stop)
{
    const struct odlc_page_options options = {.struct_size = sizeof options, .before = other};
    struct told told = {0};
    char *page = NULL;
    size_t size;
    odlc_container_set_progress(container, tell, &told);
    ck_assert_int_eq(odlc_container_page(container, &options, &page, &size), ODLC_OK);
    ck_assert_uint_ge(told.calls, 3); /* of the comparison, and of the page */
    odlc_text_free(page);
    page = NULL;
    const unsigned calls = told.calls;
    for (unsigned at = 1; at <= calls; at++) {
        told = (struct told){.stop_at = at};
        ck_assert_int_eq(odlc_container_page(container, &options, &page, &size), ODLC_ERR_STOPPED);
        ck_assert_uint_eq(told.calls, at);
        ck_assert_ptr_null(page);
    }
}
END_TEST

/* ---- texts ---- */

static void has(const char *text, size_t size, const char *word, bool expected)
{
    ck_assert_uint_eq(strlen(text), size);
    ck_assert_msg((strstr(text, word) != NULL) == expected, "%s", word);
}

START_TEST(reports_have_what_is_asked)
{
    struct odlc_report_options options = {.struct_size = sizeof options, .memory = 1};
    char *text;
    size_t size;
    ck_assert_int_eq(odlc_container_text(container, &options, &text, &size), ODLC_OK);
    has(text, size, "DLC info of: " TESTDATA "/nr64.dlc\n", true);
    has(text, size, "Est. Steady-State Memory", true);
    has(text, size, "\x1b[1m", false);
    odlc_text_free(text);
    options = (struct odlc_report_options){.struct_size = sizeof options, .width = 70, .compact = 1, .colours = 1};
    ck_assert_int_eq(odlc_container_text(container, &options, &text, &size), ODLC_OK);
    has(text, size, "Est. Steady-State Memory", false);
    has(text, size, "\x1b[1m", true);
    odlc_text_free(text);
    ck_assert_int_eq(odlc_container_csv(container, NULL, &text, &size), ODLC_OK);
    ck_assert_int_eq(strncmp(text, "Id,Name,Type,Inputs,Outputs,Out Dims,Runtimes,Parameters\r\n", 58), 0);
    odlc_text_free(text);
    options = (struct odlc_report_options){.struct_size = sizeof options, .nodes = "no such node"};
    ck_assert_int_eq(odlc_container_csv(container, &options, &text, &size), ODLC_OK);
    ck_assert_uint_eq(size, 58); /* the headers alone */
    odlc_text_free(text);
}
END_TEST

/* The sample's table is 1.5, 4, -2, 5, 3, 6.25 in half precision, whose mean is 17.75 / 6. */
START_TEST(tensors_in_detail)
{
    const struct odlc_report_options options = {.struct_size = sizeof options, .colours = 1};
    char *text;
    size_t size;
    ck_assert_int_eq(odlc_container_tensor_json(container, "table", &text, &size), ODLC_OK);
    has(text, size, "\"schema\": \"opendlc.dlc-tensor\"", true);
    has(text, size, "\"min\": -2,", true);
    has(text, size, "\"max\": 6.25,", true);
    has(text, size, "\"mean\": 2.9583333333333335,", true);
    odlc_text_free(text);
    ck_assert_int_eq(odlc_container_tensor_text(container, "table", NULL, &text, &size), ODLC_OK);
    has(text, size, "First stored values: 1.5, 4, -2, 5, 3, 6.25\n", true);
    has(text, size, "\x1b[1m", false);
    odlc_text_free(text);
    ck_assert_int_eq(odlc_container_tensor_text(container, "table", &options, &text, &size), ODLC_OK);
    has(text, size, "\x1b[1m", true);
    odlc_text_free(text);
    text = NULL;
    ck_assert_int_eq(odlc_container_tensor_json(container, "tabel", &text, &size), ODLC_ERR_INVALID);
    ck_assert_str_eq(code_of_last(container), "info-tensor");
    ck_assert_int_eq(odlc_container_tensor_text(container, "table", &(struct odlc_report_options){0}, &text, &size),
                     ODLC_ERR_USAGE);
    ck_assert_ptr_null(text);
}
END_TEST

START_TEST(findings_of_what_was_opened)
{
    const struct odlc_report_options coloured = {.struct_size = sizeof coloured, .colours = 1};
    odlc_container *none = odlc_container_new();
    char *text = NULL;
    size_t size;
    ck_assert_int_eq(odlc_container_findings_json(none, &text, &size), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_container_findings_text(none, NULL, &text, &size), ODLC_ERR_USAGE);
    ck_assert_ptr_null(text);
    ck_assert_int_eq(odlc_container_open_bytes(none, &(struct odlc_bytes){"no.dlc", "text", 4}), ODLC_ERR_INVALID);
    ck_assert_int_eq(odlc_container_findings_json(none, &text, &size), ODLC_OK);
    has(text, size, "\"file\": \"no.dlc\"", true);
    has(text, size, "\"intact\": false", true);
    has(text, size, "\"code\": \"dlc-not-a-container\"", true);
    odlc_text_free(text);
    ck_assert_int_eq(odlc_container_findings_text(none, &coloured, &text, &size), ODLC_OK);
    has(text, size, "no.dlc: \x1b[1;31m1 finding\x1b[0m\n", true);
    odlc_text_free(text);
    odlc_container_free(none);
    ck_assert_int_eq(odlc_container_verify(container), ODLC_OK);
    ck_assert_int_eq(odlc_container_tensor_json(container, "no tensor", &text, &size),
                     ODLC_ERR_INVALID); /* no finding */
    ck_assert_int_eq(odlc_container_findings_text(container, NULL, &text, &size), ODLC_OK);
    has(text, size, TESTDATA "/nr64.dlc: nothing found (3 entries, 2 ops, 9 tensors, 28 bytes of constants)\n", true);
    odlc_text_free(text);
}
END_TEST

START_TEST(differences_as_text_and_csv)
{
    const struct odlc_report_options options = {.struct_size = sizeof options};
    odlc_diff *diff;
    char *text;
    size_t size, count;
    ck_assert_int_eq(odlc_diff_new(container, other, NULL, &diff), ODLC_OK);
    (void)odlc_diff_list(diff, &count);
    ck_assert_uint_gt(count, 0);
    ck_assert_int_eq(odlc_diff_text(diff, &options, &text, &size), ODLC_OK);
    has(text, size, "DLC diff of: 1: " TESTDATA "/nr64.dlc\n", true);
    has(text, size, "The containers differ in what was compared.\n", true);
    odlc_text_free(text);
    ck_assert_int_eq(odlc_diff_csv(diff, &text, &size), ODLC_OK);
    ck_assert_int_eq(strncmp(text, "Graph,Layer,Compared,What,In 1,In 2,Difference\r\n", 48), 0);
    size_t records = 0;
    for (const char *at = text; (at = strstr(at, "\r\n")); at += 2)
        records++;
    ck_assert_uint_eq(records, count + 1);
    odlc_text_free(text);
    odlc_diff_free(diff);
}
END_TEST

START_TEST(pages_hold_all_they_need)
{
    const struct odlc_page_options options = {.struct_size = sizeof options, .before = other};
    char *text;
    size_t size;
    ck_assert_int_eq(odlc_container_page(container, NULL, &text, &size), ODLC_OK);
    has(text, size, "<!DOCTYPE html>", true);
    has(text, size, "\"graphs\":", true);
    has(text, size, "\"compared\":", false);
    has(text, size, "@MODEL@", false);
    odlc_text_free(text);
    ck_assert_int_eq(odlc_container_page(container, &options, &text, &size), ODLC_OK);
    has(text, size, "\"compared\":", true);
    odlc_text_free(text);
    ck_assert_int_eq(odlc_container_dot(container, NULL, &text, &size), ODLC_OK);
    ck_assert_int_eq(strncmp(text, "digraph \"", 9), 0);
    odlc_text_free(text);
}
END_TEST

/* ---- what is refused ---- */

static void refuses_page(const struct odlc_page_options *options, odlc_status expected, const char *code)
{
    char *text = NULL;
    size_t size;
    ck_assert_int_eq(odlc_container_page(container, options, &text, &size), expected);
    ck_assert_str_eq(code_of_last(container), code);
    ck_assert_ptr_null(text);
}

START_TEST(pages_refuse)
{
    const struct odlc_bytes no_json = {"r.json", "<html>", 6}, no_report = {"r.json", "{\"layers\": []}", 14};
    odlc_container *closed = odlc_container_new();
    const size_t size = sizeof(struct odlc_page_options);
    refuses_page(&(struct odlc_page_options){.struct_size = size, .graph = "no such graph"}, ODLC_ERR_USAGE,
                 "unknown-graph");
    refuses_page(&(struct odlc_page_options){.struct_size = size, .before = other, .report = &no_report},
                 ODLC_ERR_USAGE, "usage");
    refuses_page(&(struct odlc_page_options){.struct_size = size, .before = closed}, ODLC_ERR_USAGE, "usage");
    refuses_page(&(struct odlc_page_options){.struct_size = size, .report = &no_report}, ODLC_ERR_INVALID,
                 "viewer-report");
    refuses_page(&(struct odlc_page_options){.struct_size = size, .explanation = &no_report}, ODLC_ERR_INVALID,
                 "viewer-explain");
    refuses_page(&(struct odlc_page_options){.struct_size = 0}, ODLC_ERR_USAGE, "usage");
    char *text = NULL;
    size_t length;
    ck_assert_int_eq(odlc_container_page(container,
                                         &(struct odlc_page_options){.struct_size = size, .report = &no_json}, &text,
                                         &length),
                     ODLC_ERR_INVALID);
    ck_assert_int_eq(odlc_container_page(closed, NULL, &text, &length), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_container_dot(closed, NULL, &text, &length), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_container_text(closed, NULL, &text, &length), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_container_tensor_json(closed, "table", &text, &length), ODLC_ERR_USAGE);
    odlc_container_free(closed);
}
END_TEST

/* Of a program that was compiled with fewer members, and of one that knows more. */
START_TEST(structures_of_other_versions)
{
    struct {
        struct odlc_report_options known;
        uint64_t more;
    } newer = {.known.struct_size = sizeof newer};
    const struct odlc_report_options older = {.struct_size = offsetof(struct odlc_report_options, targets),
                                              .nodes = "no such node",
                                              .targets = 1u << 31}; /* behind its end */
    char *text = NULL;
    size_t size;
    ck_assert_int_eq(odlc_container_csv(container, &older, &text, &size), ODLC_OK);
    ck_assert_uint_eq(size, 58);
    odlc_text_free(text);
    ck_assert_int_eq(odlc_container_csv(container, &newer.known, &text, &size), ODLC_OK);
    odlc_text_free(text);
    newer.more = 1;
    ck_assert_int_eq(odlc_container_csv(container, &newer.known, &text, &size), ODLC_ERR_USAGE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reports");
    TCase *tests = tcase_create("reports");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, verification_tells_and_stops);
    tcase_add_test(tests, comparison_tells_and_stops);
    tcase_add_test(tests, pages_tell_and_stop);
    tcase_add_test(tests, reports_have_what_is_asked);
    tcase_add_test(tests, tensors_in_detail);
    tcase_add_test(tests, findings_of_what_was_opened);
    tcase_add_test(tests, differences_as_text_and_csv);
    tcase_add_test(tests, pages_hold_all_they_need);
    tcase_add_test(tests, pages_refuse);
    tcase_add_test(tests, structures_of_other_versions);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
