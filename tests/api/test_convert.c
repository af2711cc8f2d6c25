/* SPDX-License-Identifier: Apache-2.0 */
/* The public API of conversions, where it says more than the commands ask for. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opendlc/convert.h"

START_TEST(statuses_have_names)
{
    static const struct {
        odlc_status status;
        const char *name;
    } all[] = {{ODLC_OK, "success"},
               {ODLC_ERR_USAGE, "wrong usage"},
               {ODLC_ERR_IO, "input or output failed"},
               {ODLC_ERR_INVALID, "invalid input"},
               {ODLC_ERR_UNSUPPORTED, "not supported"},
               {ODLC_ERR_LIMIT, "over a limit"},
               {ODLC_ERR_NOMEM, "out of memory"},
               {ODLC_ERR_INTERNAL, "internal error"},
               {ODLC_ERR_STOPPED, "stopped"},
               {(odlc_status)99, "unknown status"}};
    ck_assert_str_eq(odlc_status_name(all[_i].status), all[_i].name);
}
END_TEST

START_TEST(passes_are_listed_to_the_end)
{
    size_t count = 0;
    ck_assert_str_eq(odlc_pass_name(0), "remove_dead");
    while (odlc_pass_name(count))
        count++;
    ck_assert_str_eq(odlc_pass_name(count - 1), "keep_declared_types");
    ck_assert_ptr_null(odlc_pass_name(count));
    ck_assert_ptr_null(odlc_pass_name(SIZE_MAX));
}
END_TEST

static const char model[] = SOURCE_ROOT "/examples/example.onnx";
static const char *const configs[] = {SOURCE_ROOT "/examples/ops.json"};

/* The options of a conversion that succeeds. */
static struct odlc_convert_options good_options(void)
{
    struct odlc_convert_options options;
    odlc_convert_defaults(&options, sizeof options);
    options.input = model;
    options.udo_configs = configs;
    options.n_udo_configs = 1;
    return options;
}

/* The conversion of options of any size. It is refused with one diagnostic, which has that code, or code is NULL. */
static void expect(enum odlc_framework framework, const void *options, const char *code)
{
    struct odlc_conversion *conversion;
    size_t count;
    odlc_status status = odlc_convert(framework, options, &conversion);
    const struct odlc_diag *diags = odlc_conversion_diags(conversion, &count);
    ck_assert_int_eq(status, code ? ODLC_ERR_USAGE : ODLC_OK);
    if (code) {
        ck_assert_uint_eq(count, 1);
        ck_assert_str_eq(diags[0].code, code);
    }
    odlc_conversion_free(conversion);
}

START_TEST(inputs_are_the_files_that_were_read)
{
    struct odlc_convert_options options = good_options();
    struct odlc_conversion *conversion;
    size_t count;
    options.dry_run = 1;
    ck_assert_int_eq(odlc_convert(ODLC_ONNX, &options, &conversion), ODLC_OK);
    const char *const *inputs = odlc_conversion_inputs(conversion, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(inputs[0], model);
    ck_assert_str_eq(inputs[1], configs[0]);
    odlc_conversion_free(conversion);
}
END_TEST

START_TEST(a_model_is_needed)
{
    static const enum odlc_framework frameworks[] = {ODLC_ONNX, ODLC_TENSORFLOW};
    struct odlc_convert_options options = good_options();
    options.input = NULL;
    expect(frameworks[_i], &options, "no-input");
}
END_TEST

START_TEST(frameworks_that_do_not_exist)
{
    const struct odlc_convert_options options = good_options();
    expect((enum odlc_framework)0, &options, "no-framework");
    expect((enum odlc_framework)3, &options, "no-framework");
    expect((enum odlc_framework) - 1, &options, "no-framework");
}
END_TEST

START_TEST(numbers_of_threads)
{
    struct odlc_convert_options options = good_options();
    ck_assert_int_eq(options.threads, 0);
    options.threads = ODLC_MAX_THREADS;
    expect(ODLC_ONNX, &options, NULL);
    options.threads = ODLC_MAX_THREADS + 1;
    expect(ODLC_ONNX, &options, "threads");
    options.threads = -1;
    expect(ODLC_ONNX, &options, "threads");
}
END_TEST

/* ---- structs of other versions ---- */

/* What a program knows that was compiled when the struct ended here; its members lie where they lie now. */
struct older_options {
    size_t struct_size;
    const char *input, *saved_model_tag, *signature_key, *saved_model_function, *output;
    const char *const *udo_configs;
    size_t n_udo_configs;
};

#define SAME_PLACE(member) \
    _Static_assert(offsetof(struct older_options, member) == offsetof(struct odlc_convert_options, member), #member)
SAME_PLACE(struct_size);
SAME_PLACE(input);
SAME_PLACE(saved_model_tag);
SAME_PLACE(signature_key);
SAME_PLACE(saved_model_function);
SAME_PLACE(output);
SAME_PLACE(udo_configs);
SAME_PLACE(n_udo_configs);

struct newer_options {
    struct odlc_convert_options known;
    int64_t number;
    const char *text;
};

START_TEST(defaults_of_a_shorter_struct)
{
    struct {
        struct older_options options;
        unsigned char behind[sizeof(struct odlc_convert_options)];
    } older;
    memset(&older, 0xA5, sizeof older);
    odlc_convert_defaults((struct odlc_convert_options *)&older.options, sizeof older.options);
    ck_assert_uint_eq(older.options.struct_size, sizeof(struct older_options));
    ck_assert_ptr_null(older.options.input);
    ck_assert_uint_eq(older.options.n_udo_configs, 0);
    for (size_t i = 0; i < sizeof older.behind; i++)
        ck_assert_uint_eq(older.behind[i], 0xA5);
}
END_TEST

/* What lies behind it is not looked at; 1 thread and all else are the defaults. */
START_TEST(a_shorter_struct_converts)
{
    struct {
        struct older_options options;
        unsigned char behind[sizeof(struct odlc_convert_options)];
    } older;
    char output[] = "/tmp/odlc-convert-XXXXXX.dlc";
    close(mkstemps(output, 4));
    memset(&older, 0xA5, sizeof older);
    odlc_convert_defaults((struct odlc_convert_options *)&older.options, sizeof older.options);
    older.options.input = model;
    older.options.output = output;
    older.options.udo_configs = configs;
    older.options.n_udo_configs = 1;
    expect(ODLC_ONNX, &older.options, NULL);
    struct stat st;
    ck_assert_int_eq(stat(output, &st), 0);
    ck_assert_int_gt(st.st_size, 0);
    unlink(output);
    older.options.input = NULL;
    expect(ODLC_ONNX, &older.options, "no-input");
}
END_TEST

START_TEST(a_longer_struct_converts_while_its_tail_is_zero)
{
    struct newer_options newer;
    memset(&newer, 0xA5, sizeof newer);
    odlc_convert_defaults(&newer.known, sizeof newer);
    ck_assert_uint_eq(newer.known.struct_size, sizeof newer);
    ck_assert_int_eq(newer.number, 0);
    ck_assert_ptr_null(newer.text);
    newer.known.input = model;
    newer.known.udo_configs = configs;
    newer.known.n_udo_configs = 1;
    expect(ODLC_ONNX, &newer, NULL);
    newer.number = 1;
    expect(ODLC_ONNX, &newer, "struct-size");
    newer.number = 0;
    newer.text = "new";
    expect(ODLC_ONNX, &newer, "struct-size");
}
END_TEST

/* 0 is what a caller has who never called odlc_convert_defaults. */
START_TEST(sizes_that_no_version_has)
{
    static const size_t sizes[] = {0, 1, sizeof(size_t), sizeof(struct odlc_convert_options) - 1};
    struct odlc_convert_options options = good_options();
    options.struct_size = sizes[_i];
    expect(ODLC_ONNX, &options, "struct-size");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convert");
    TCase *tc = tcase_create("convert");
    tcase_add_loop_test(tc, statuses_have_names, 0, 10);
    tcase_add_test(tc, passes_are_listed_to_the_end);
    tcase_add_test(tc, inputs_are_the_files_that_were_read);
    tcase_add_loop_test(tc, a_model_is_needed, 0, 2);
    tcase_add_test(tc, frameworks_that_do_not_exist);
    tcase_add_test(tc, numbers_of_threads);
    tcase_add_test(tc, defaults_of_a_shorter_struct);
    tcase_add_test(tc, a_shorter_struct_converts);
    tcase_add_test(tc, a_longer_struct_converts_while_its_tail_is_zero);
    tcase_add_loop_test(tc, sizes_that_no_version_has, 0, 4);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
