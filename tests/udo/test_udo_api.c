/* SPDX-License-Identifier: Apache-2.0 */
/* The public face: configs loaded and listed through opendlc/udo.h alone. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opendlc/udo.h"

static char path[] = "/tmp/odlc-udo-XXXXXX";

static void write_config(const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static const char good[] =
    "{\"A\": {\"UDO_PACKAGE_NAME\": \"P\", \"Operators\": [\n"
    " {\"type\": \"T\", \"domain\": \"d\", \"inputs\": [{\"name\": \"x\", \"data_type\": \"FLOAT_16\", "
    "\"tensor_layout\": \"NCHW\"},\n"
    "   {\"static\": true, \"default_value\": 1}, {\"optional\": true, \"repeated\": true}], \"outputs\": [{}],\n"
    "  \"scalar_params\": [{\"name\": \"a\", \"data_type\": \"INT_32\"}], \"core_types\": [\"GPU\", \"CPU\"]},\n"
    " {\"type\": \"U\", \"inputs\": [{}], \"outputs\": [{}]}]}}\n";

START_TEST(listing)
{
    write_config(good);
    odlc_udo *u = odlc_udo_new();
    ck_assert_ptr_nonnull(u);
    ck_assert_int_eq(odlc_udo_load(u, path), ODLC_OK);
    size_t count;
    const struct odlc_udo_definition *d = odlc_udo_definitions(u, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(d[0].package, "P");
    ck_assert_str_eq(d[0].type, "T");
    ck_assert_str_eq(d[0].domain, "d");
    ck_assert_str_eq(d[0].file, path);
    ck_assert_uint_eq(d[0].line, 2);
    ck_assert_uint_eq(d[0].column, 2);
    ck_assert_str_eq(d[0].core_types, "CPU,GPU");
    ck_assert_ptr_null(d[0].dsp_arch_types);
    ck_assert_uint_eq(d[0].n_inputs, 3);
    ck_assert_str_eq(d[0].inputs[0].name, "x");
    ck_assert_str_eq(d[0].inputs[0].data_type, "FLOAT_16");
    ck_assert_str_eq(d[0].inputs[0].layout, "NCHW");
    ck_assert(d[0].inputs[1].is_static && d[0].inputs[1].has_default && !d[0].inputs[1].data_type);
    ck_assert(d[0].inputs[2].is_optional && d[0].inputs[2].is_repeated);
    ck_assert_str_eq(d[0].scalar_params[0].name, "a");
    ck_assert_ptr_null(d[1].domain);
    (void)odlc_udo_diags(u, &count);
    ck_assert_uint_eq(count, 0);
    odlc_udo_free(u);
}
END_TEST

START_TEST(faults)
{
    write_config("{\"A\": {\"UDO_PACKAGE_NAME\": \"P\", \"Operators\": [\n {\"type\": 1, \"inputs\": [{}], "
                 "\"outputs\": [{}]}]}}");
    odlc_udo *u = odlc_udo_new();
    ck_assert_int_eq(odlc_udo_load(u, path), ODLC_ERR_INVALID);
    size_t count;
    (void)odlc_udo_definitions(u, &count);
    ck_assert_uint_eq(count, 0);
    const struct odlc_diag *d = odlc_udo_diags(u, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(d->severity, ODLC_ERROR);
    ck_assert_uint_eq(d->line, 2);
    ck_assert_uint_eq(d->column, 11);
    ck_assert_str_eq(d->pointer, "/A/Operators/0/type");
    ck_assert_int_eq(odlc_udo_load(u, "/no/such/file.json"), ODLC_ERR_IO);
    odlc_udo_free(u);
    odlc_udo_free(NULL);
}
END_TEST

int main(void)
{
    int descriptor = mkstemp(path);
    if (descriptor < 0)
        return EXIT_FAILURE;
    close(descriptor);
    Suite *s = suite_create("udo_api");
    TCase *t = tcase_create("api");
    tcase_add_test(t, listing);
    tcase_add_test(t, faults);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    unlink(path);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
