/* The public API of conversions, where it says more than the commands ask for. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

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

START_TEST(inputs_are_the_files_that_were_read)
{
    const char *model = SOURCE_ROOT "/examples/example.onnx", *configs[] = {SOURCE_ROOT "/examples/ops.json"};
    const struct odlc_convert_options options = {
        .input = model, .udo_configs = configs, .n_udo_configs = 1, .dry_run = 1};
    struct odlc_conversion *conversion;
    size_t count;
    ck_assert_int_eq(odlc_convert_onnx(&options, &conversion), ODLC_OK);
    const char *const *inputs = odlc_conversion_inputs(conversion, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(inputs[0], model);
    ck_assert_str_eq(inputs[1], configs[0]);
    odlc_conversion_free(conversion);
}
END_TEST

START_TEST(a_model_is_needed)
{
    const struct odlc_convert_options options = {.dry_run = 1};
    odlc_status (*const convert[])(const struct odlc_convert_options *,
                                   struct odlc_conversion **) = {odlc_convert_onnx, odlc_convert_tensorflow};
    struct odlc_conversion *conversion;
    size_t count;
    ck_assert_int_eq(convert[_i](&options, &conversion), ODLC_ERR_USAGE);
    const struct odlc_diag *diags = odlc_conversion_diags(conversion, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(diags[0].message, "no model is given");
    odlc_conversion_free(conversion);
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
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
