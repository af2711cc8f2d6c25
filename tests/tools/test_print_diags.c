/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics and JSON as they are printed. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/json_out.h"
#include "tools/print_diags.h"

/* What print_diag writes. */
static void printed(char out[2048], const struct odlc_diag *diag, enum diag_format format)
{
    FILE *stream = fmemopen(out, 2048, "w");
    print_diag(stream, "tool", diag, format);
    fclose(stream);
}

static void expect(const struct odlc_diag *diag, enum diag_format format, const char *wanted)
{
    char found[2048];
    printed(found, diag, format);
    ck_assert_str_eq(found, wanted);
}

START_TEST(place_excerpt_and_hint)
{
    expect(&(struct odlc_diag){.severity = ODLC_ERROR,
                               .code = "json-string",
                               .file = "config.json",
                               .line = 14,
                               .column = 12,
                               .message = "unterminated string",
                               .excerpt = "\t\"type\":  \"Selu",
                               .hint = "close it"},
           DIAG_TEXT,
           "config.json:14:12: error: unterminated string\n"
           "    \t\"type\":  \"Selu\n"
           "    \t          ^\n"
           "  hint: close it\n");
}
END_TEST

/* C1 controls, marks of direction, characters without width, bytes that are no UTF-8; what can be seen stays. */
START_TEST(hidden_characters_are_shown)
{
    expect(
        &(struct odlc_diag){.severity = ODLC_ERROR,
                            .code = "c",
                            .file = "a\x1b[2Jb",
                            .node = "\xc2\x9b"
                                    "1m\xe2\x80\xae"
                                    "nozilla\xe2\x80\x8b\xef\xbb\xbf",
                            .attribute = "caf\xc3\xa9 \xe5\xb1\x82 \xf0\x9f\x98\x80",
                            .message = "\x9b"
                                       "3m \xed\xa0\x80 \xc0\xaf \xf3\xa0\x80\xa1 end\xe2"},
        DIAG_TEXT,
        "a\\x1b[2Jb: error: node '\\u009b1m\\u202enozilla\\u200b\\ufeff', 'caf\xc3\xa9 \xe5\xb1\x82 \xf0\x9f\x98\x80': "
        "\\x9b3m \\xed\\xa0\\x80 \\xc0\\xaf \\U000e0021 end\\xe2\n");
}
END_TEST

START_TEST(caret_stands_behind_escapes)
{
    expect(&(struct odlc_diag){.severity = ODLC_ERROR,
                               .code = "c",
                               .file = "f",
                               .line = 1,
                               .column = 5,
                               .message = "m",
                               .excerpt = "a\xe2\x80\xae"
                                          "b"},
           DIAG_TEXT,
           "f:1:5: error: m\n"
           "    a\\u202eb\n"
           "           ^\n");
}
END_TEST

START_TEST(caret_counts_characters_not_bytes)
{
    expect(
        &(struct odlc_diag){.severity = ODLC_WARNING,
                            .code = "c",
                            .file = "f",
                            .line = 1,
                            .column = 5,
                            .message = "m",
                            .excerpt = "\"\xC3\xA4\" x"}, /* column 5 is the blank after the two-byte letter's quote */
        DIAG_TEXT,
        "f:1:5: warning: m\n"
        "    \"\xC3\xA4\" x\n"
        "       ^\n");
}
END_TEST

START_TEST(long_lines_are_cut_around_the_caret)
{
    char line[1001];
    memset(line, 'a', 1000);
    line[1000] = '\0';
    line[500] = 'X';
    char found[2048];
    const struct odlc_diag diag = {
        .severity = ODLC_ERROR, .code = "c", .file = "f", .line = 1, .column = 501, .message = "m", .excerpt = line};
    printed(found, &diag, DIAG_TEXT);
    const char *second = strchr(found, '\n') + 1, *third = strchr(second, '\n') + 1;
    ck_assert_int_eq(third - second, 4 + 100 + 1);
    ck_assert_int_eq(strchr(second, 'X') - second, strchr(third, '^') - third);
}
END_TEST

START_TEST(node_pointer_and_offset)
{
    expect(&(struct odlc_diag){.severity = ODLC_ERROR,
                               .code = "c",
                               .node = "conv1",
                               .attribute = "pads",
                               .message = "too many pads",
                               .offset = 77,
                               .has_offset = 1},
           DIAG_TEXT, "tool: error: node 'conv1', 'pads', byte 77: too many pads\n");
    expect(
        &(struct odlc_diag){
            .severity = ODLC_NOTE, .code = "c", .file = "c.json", .pointer = "/UdoPackage_0", .message = "here"},
        DIAG_TEXT, "c.json: note: here (at /UdoPackage_0)\n");
}
END_TEST

START_TEST(control_bytes_do_not_reach_the_terminal)
{
    expect(&(struct odlc_diag){.severity = ODLC_ERROR, .code = "c", .node = "a\x1b[2Jb", .message = "m"}, DIAG_TEXT,
           "tool: error: node 'a\\x1b[2Jb': m\n");
}
END_TEST

START_TEST(json_lines)
{
    expect(&(struct odlc_diag){.severity = ODLC_WARNING,
                               .code = "udo-unused",
                               .file = "a\"b.json",
                               .line = 3,
                               .column = 4,
                               .message = "tab\there",
                               .node = "\xff\xc3\xa4\x01"},
           DIAG_JSON,
           "{\"severity\":\"warning\",\"code\":\"udo-unused\",\"message\":\"tab\\there\",\"file\":\"a\\\"b.json\","
           "\"node\":\"\\ufffd\xc3\xa4\\u0001\",\"line\":3,\"column\":4}\n");
}
END_TEST

START_TEST(json_layout_and_numbers)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&bytes, &size);
    struct json_out j = json_out_to(stream, false);
    json_object(&j, NULL);
    json_double(&j, "tenth", 0.1);
    json_double(&j, "float", (double)0.1F);
    json_double(&j, "nan", (double)NAN);
    json_double(&j, "low", (double)-INFINITY);
    json_int(&j, "least", INT64_MIN);
    json_uint(&j, "most", UINT64_MAX);
    json_string(&j, "none", NULL);
    json_array(&j, "empty");
    json_end_array(&j);
    json_array_inline(&j, "dims");
    json_int(&j, NULL, 1);
    json_object(&j, NULL);
    json_bool(&j, "in", true);
    json_end_object(&j);
    json_end_array(&j);
    json_end_object(&j);
    fclose(stream);
    ck_assert_str_eq(bytes, "{\n"
                            "  \"tenth\": 0.1,\n"
                            "  \"float\": 0.10000000149011612,\n"
                            "  \"nan\": \"nan\",\n"
                            "  \"low\": \"-inf\",\n"
                            "  \"least\": -9223372036854775808,\n"
                            "  \"most\": 18446744073709551615,\n"
                            "  \"none\": null,\n"
                            "  \"empty\": [],\n"
                            "  \"dims\": [1, {\"in\": true}]\n"
                            "}\n");
    free(bytes);
}
END_TEST

START_TEST(json_strings_are_always_utf8)
{
    /* overlong, surrogate, beyond U+10FFFF, cut short; and the valid neighbours of each */
    static const struct {
        const char *in, *out;
    } cases[] = {{"\xc0\x80", "\"\\ufffd\\ufffd\""},
                 {"\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\""},
                 {"\xe0\xa0\x80", "\"\xe0\xa0\x80\""},
                 {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
                 {"\xed\x9f\xbf", "\"\xed\x9f\xbf\""},
                 {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
                 {"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""},
                 {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
                 {"\xe2\x82", "\"\\ufffd\\ufffd\""},
                 {"\xf0\x9f\x98", "\"\\ufffd\\ufffd\\ufffd\""},
                 {"\xf0\x9f\x98x", "\"\\ufffd\\ufffd\\ufffdx\""}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *bytes = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&bytes, &size);
        struct json_out j = json_out_to(stream, true);
        json_string(&j, NULL, cases[i].in);
        fclose(stream);
        ck_assert_str_eq(bytes, cases[i].out);
        free(bytes);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("print_diags");
    TCase *tcase = tcase_create("print_diags");
    tcase_add_test(tcase, place_excerpt_and_hint);
    tcase_add_test(tcase, hidden_characters_are_shown);
    tcase_add_test(tcase, caret_stands_behind_escapes);
    tcase_add_test(tcase, caret_counts_characters_not_bytes);
    tcase_add_test(tcase, long_lines_are_cut_around_the_caret);
    tcase_add_test(tcase, node_pointer_and_offset);
    tcase_add_test(tcase, control_bytes_do_not_reach_the_terminal);
    tcase_add_test(tcase, json_lines);
    tcase_add_test(tcase, json_layout_and_numbers);
    tcase_add_test(tcase, json_strings_are_always_utf8);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
