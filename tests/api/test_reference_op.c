/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels for packages: numbers computed by hand, what does not fit, several objects at once. */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "opendlc/reference.h"

enum { INT32 = 0x0032, FLOAT32 = 0x0232, UFXP8 = 0x0408 };

static odlc_reference *r;
static float x[64], y[64];
static int32_t places[4];
static void *in = x, *out = y, *at = places;

static void setup(void)
{
    r = NULL;
    memset(y, 0, sizeof y);
    for (size_t i = 0; i < 64; i++)
        x[i] = (float)i;
}

static void teardown(void)
{
    odlc_reference_free(r);
}

/* A node of one input and one output of float32. */
static void describe(const char *type, enum odlc_reference_order order, uint32_t rank, const uint32_t *in_dims,
                     const uint32_t *out_dims)
{
    r = odlc_reference_new(type, order);
    odlc_reference_input(r, FLOAT32, rank, in_dims, &in);
    odlc_reference_output(r, FLOAT32, rank, out_dims, &out);
}

static void executes(void)
{
    ck_assert_int_eq(odlc_reference_prepare(r), ODLC_OK);
    ck_assert_str_eq(odlc_reference_problem(r), "");
    ck_assert_int_eq(odlc_reference_execute(r), ODLC_OK);
}

static void refused(odlc_status status, const char *words)
{
    ck_assert_int_eq(odlc_reference_prepare(r), status);
    ck_assert_msg(strstr(odlc_reference_problem(r), words), "'%s' is not in: %s", words, odlc_reference_problem(r));
    ck_assert_int_eq(odlc_reference_execute(r), ODLC_ERR_USAGE);
    odlc_reference_free(r);
    r = NULL;
}

/* exp(0) and exp(ln 3) as parts of 4, along the axis before the last. */
START_TEST(softmax_along_an_axis_counted_from_the_end)
{
    const uint32_t dims[] = {1, 2, 2};
    describe("Softmax", ODLC_REFERENCE_AS_STORED, 3, dims, dims);
    odlc_reference_number(r, "axis", -2);
    x[0] = 0, x[1] = 5, x[2] = logf(3), x[3] = 5;
    executes();
    const float expected[] = {0.25f, 0.5f, 0.75f, 0.5f};
    for (size_t i = 0; i < 4; i++)
        ck_assert_float_eq_tol(y[i], expected[i], 1e-6f);
    /* elements may stand elsewhere in the next call */
    float others[] = {logf(9), 0, 0, 0}, results[4] = {0};
    in = others, out = results;
    ck_assert_int_eq(odlc_reference_execute(r), ODLC_OK);
    in = x, out = y;
    ck_assert_float_eq_tol(results[0], 0.9f, 1e-6f);
    ck_assert_float_eq_tol(results[2], 0.1f, 1e-6f);
    ck_assert_float_eq_tol(y[0], 0.25f, 1e-6f);
}
END_TEST

START_TEST(selu_of_given_constants_and_of_its_own)
{
    const uint32_t dims[] = {2};
    x[0] = -1, x[1] = 2;
    describe("Selu", ODLC_REFERENCE_AS_STORED, 1, dims, dims);
    odlc_reference_number(r, "alpha", 0.5);
    odlc_reference_number(r, "gamma", 3);
    executes();
    ck_assert_float_eq_tol(y[0], 1.5f * (expf(-1) - 1), 1e-6f);
    ck_assert_float_eq_tol(y[1], 6.0f, 1e-6f);
    odlc_reference_free(r);
    describe("Selu", ODLC_REFERENCE_AS_STORED, 1, dims, dims);
    executes();
    ck_assert_float_eq_tol(y[0], -1.1113307f, 1e-6f); /* 1.0507009873554805 · 1.6732632423543772 · (exp(-1) - 1) */
    ck_assert_float_eq_tol(y[1], 2.1014020f, 1e-6f);
}
END_TEST

static void add_list(const char *name, uint32_t count, const int32_t *values)
{
    odlc_reference_tensor(r, name, INT32, 1, &count, values);
}

/* Elements are their places; windows of 2 × 2 move by 2 over a row of padding and three rows. */
START_TEST(max_pool_in_both_orders)
{
    const uint32_t first[] = {1, 2, 3, 4}, first_out[] = {1, 2, 2, 2}, last[] = {1, 3, 4, 2}, last_out[] = {1, 2, 2, 2};
    const float in_first[] = {1, 3, 9, 11, 13, 15, 21, 23}, in_last[] = {2, 3, 6, 7, 18, 19, 22, 23};
    for (int order = 0; order < 2; order++) {
        describe("MaxPool", order ? ODLC_REFERENCE_CHANNELS_LAST : ODLC_REFERENCE_CHANNELS_FIRST, 4,
                 order ? last : first, order ? last_out : first_out);
        add_list("kernel_shape", 2, (int32_t[]){2, 2});
        add_list("strides", 2, (int32_t[]){2, 2});
        add_list("pads", 4, (int32_t[]){1, 0, 0, 0});
        odlc_reference_number(r, "ceil_mode", 0);
        executes();
        for (size_t i = 0; i < 8; i++)
            ck_assert_float_eq(y[i], order ? in_last[i] : in_first[i]);
        odlc_reference_free(r);
    }
    r = NULL;
}
END_TEST

/* Windows of 2 that move by 2 over five columns: the last one is cut, without strides and pads there are four. */
START_TEST(max_pool_of_cut_windows_and_defaults)
{
    const uint32_t dims[] = {1, 1, 1, 5}, cut[] = {1, 1, 1, 3}, all[] = {1, 1, 1, 4};
    describe("MaxPool", ODLC_REFERENCE_CHANNELS_FIRST, 4, dims, cut);
    add_list("kernel_shape", 2, (int32_t[]){1, 2});
    add_list("strides", 2, (int32_t[]){1, 2});
    odlc_reference_number(r, "ceil_mode", 1);
    executes();
    ck_assert_float_eq(y[1], 3);
    ck_assert_float_eq(y[2], 4);
    odlc_reference_free(r);
    describe("MaxPool", ODLC_REFERENCE_CHANNELS_FIRST, 4, dims, all);
    add_list("kernel_shape", 2, (int32_t[]){1, 2});
    executes();
    for (size_t i = 0; i < 4; i++)
        ck_assert_float_eq(y[i], (float)(i + 1));
}
END_TEST

/* Rows by index; an index past the axis ends a call, and the next one is right again. */
START_TEST(values_that_do_not_fit)
{
    const uint32_t rows[] = {4, 2}, two[] = {2}, found[] = {2, 2};
    r = odlc_reference_new("Gather", ODLC_REFERENCE_AS_STORED);
    odlc_reference_input(r, FLOAT32, 2, rows, &in);
    odlc_reference_input(r, INT32, 1, two, &at);
    odlc_reference_output(r, FLOAT32, 2, found, &out);
    odlc_reference_number(r, "axis", 0);
    ck_assert_int_eq(odlc_reference_prepare(r), ODLC_OK);
    ck_assert_int_eq(odlc_reference_prepare(r), ODLC_ERR_USAGE);
    for (int i = 0; i < 3; i++) {
        places[0] = 3, places[1] = 7;
        ck_assert_int_eq(odlc_reference_execute(r), ODLC_ERR_INVALID);
        ck_assert_ptr_nonnull(strstr(odlc_reference_problem(r), "Gather cannot be computed on these values"));
        places[1] = 1;
        ck_assert_int_eq(odlc_reference_execute(r), ODLC_OK);
        ck_assert_str_eq(odlc_reference_problem(r), "");
        ck_assert_float_eq(y[0], 6);
        ck_assert_float_eq(y[3], 3);
    }
}
END_TEST

/* Sums of a row by weights of 1 and of 2, without the optional bias. */
START_TEST(absent_operands)
{
    static float weights[6] = {1, 1, 1, 2, 2, 2};
    static void *w = weights;
    const uint32_t dims[] = {1, 3}, w_dims[] = {2, 3}, y_dims[] = {1, 2};
    r = odlc_reference_new("FullyConnected", ODLC_REFERENCE_AS_STORED);
    odlc_reference_input(r, FLOAT32, 2, dims, &in);
    odlc_reference_input(r, FLOAT32, 2, w_dims, &w);
    odlc_reference_input(r, 0, 0, NULL, NULL);
    odlc_reference_output(r, FLOAT32, 2, y_dims, &out);
    executes();
    ck_assert_float_eq(y[0], 3);
    ck_assert_float_eq(y[1], 6);
    odlc_reference_free(r);
    r = odlc_reference_new("FullyConnected", ODLC_REFERENCE_AS_STORED);
    odlc_reference_input(r, FLOAT32, 2, dims, &in);
    odlc_reference_input(r, 0, 0, NULL, NULL);
    odlc_reference_output(r, FLOAT32, 2, y_dims, &out);
    refused(ODLC_ERR_INVALID, "an input is absent");
}
END_TEST

static const uint32_t dims[] = {2, 3};

static void describe_softmax(void)
{
    describe("Softmax", ODLC_REFERENCE_AS_STORED, 2, dims, dims);
}

START_TEST(params_that_do_not_fit)
{
    describe_softmax();
    odlc_reference_number(r, "axes", 1);
    refused(ODLC_ERR_INVALID, "no param axes");
    describe_softmax();
    odlc_reference_text(r, "axis", "last");
    refused(ODLC_ERR_INVALID, "another kind of value is wanted for param axis");
    describe_softmax();
    odlc_reference_number(r, "axis", 0.5);
    refused(ODLC_ERR_INVALID, "an integer is wanted for param axis");
    describe_softmax();
    odlc_reference_number(r, "axis", -3);
    refused(ODLC_ERR_INVALID, "axis is not one of [2,3]");
    describe("LogSoftmax", ODLC_REFERENCE_AS_STORED, 2, dims, dims);
    refused(ODLC_ERR_INVALID, "has to be a param axis");
    describe("Elu", ODLC_REFERENCE_AS_STORED, 2, dims, dims);
    odlc_reference_tensor(r, "alpha", FLOAT32, 1, dims, NULL);
    refused(ODLC_ERR_INVALID, "no elements of param alpha");
}
END_TEST

START_TEST(operands_that_do_not_fit)
{
    const uint32_t other[] = {3, 2}, huge[] = {1u << 31, 1u << 31};
    describe("Softmaxx", ODLC_REFERENCE_AS_STORED, 2, dims, dims);
    refused(ODLC_ERR_UNSUPPORTED, "no native operator Softmaxx");
    describe("Softmax", ODLC_REFERENCE_AS_STORED, 2, dims, other);
    refused(ODLC_ERR_INVALID, "output 0 is float32 [3,2], and the native operator makes float32 [2,3]");
    describe("MatMul", ODLC_REFERENCE_AS_STORED, 2, dims, dims);
    refused(ODLC_ERR_INVALID, "another number of operands");
    describe("Relu", ODLC_REFERENCE_AS_STORED, 2, huge, huge);
    refused(ODLC_ERR_INVALID, "too large");
    describe("Relu", ODLC_REFERENCE_AS_STORED, 9, dims, dims);
    refused(ODLC_ERR_INVALID, "too many dimensions");
    r = odlc_reference_new("Relu", ODLC_REFERENCE_AS_STORED);
    odlc_reference_input(r, UFXP8, 2, dims, &in);
    odlc_reference_output(r, UFXP8, 2, dims, &out);
    refused(ODLC_ERR_UNSUPPORTED, "neither floats, integers nor booleans");
}
END_TEST

START_TEST(pools_that_do_not_fit)
{
    const uint32_t image[] = {1, 2, 2, 2};
    const struct {
        uint32_t rank, count;
        int32_t window[3];
        const char *words;
    } faults[] = {{4, 3, {2, 2, 2}, "number of elements is wanted in param kernel_shape"},
                  {4, 2, {2, 0}, "out of range in param kernel_shape"},
                  {4, 2, {2, 2}, "the native operator makes float32 [1,2,2,4]"},
                  {2, 2, {2, 2}, "two or three spatial axes"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        describe("MaxPool", ODLC_REFERENCE_CHANNELS_FIRST, faults[i].rank, image, image);
        add_list("kernel_shape", faults[i].count, faults[i].window);
        if (i == 2)
            add_list("strides", 2, (int32_t[]){1, 3});
        if (i == 2)
            add_list("pads", 4, (int32_t[]){0, 9, 0, 0});
        refused(ODLC_ERR_INVALID, faults[i].words);
    }
}
END_TEST

START_TEST(nothing_at_all)
{
    odlc_reference_number(NULL, "axis", 1);
    odlc_reference_text(NULL, "axis", "1");
    odlc_reference_input(NULL, FLOAT32, 0, NULL, &in);
    ck_assert_int_eq(odlc_reference_prepare(NULL), ODLC_ERR_NOMEM);
    ck_assert_int_eq(odlc_reference_execute(NULL), ODLC_ERR_USAGE);
    ck_assert_str_eq(odlc_reference_problem(NULL), "memory ran out");
    odlc_reference_free(NULL);
}
END_TEST

/* Each thread has objects of its own; y = -x of 8 elements, 200 times. */
static void *negate(void *seed)
{
    float from[8], to[8];
    void *source = from, *target = to;
    const uint32_t eight[] = {8};
    size_t wrong = 0;
    for (int k = 0; k < 200; k++) {
        odlc_reference *own = odlc_reference_new("ElementWiseNeg", ODLC_REFERENCE_AS_STORED);
        odlc_reference_input(own, FLOAT32, 1, eight, &source);
        odlc_reference_output(own, FLOAT32, 1, eight, &target);
        wrong += odlc_reference_prepare(own) != ODLC_OK;
        for (int i = 0; i < 8; i++)
            from[i] = (float)(*(int *)seed * 1000 + k + i);
        wrong += odlc_reference_execute(own) != ODLC_OK;
        for (int i = 0; i < 8; i++)
            wrong += to[i] != -from[i];
        odlc_reference_free(own);
    }
    return wrong ? seed : NULL;
}

START_TEST(several_threads)
{
    pthread_t threads[8];
    int seeds[8];
    for (int i = 0; i < 8; i++) {
        seeds[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, negate, &seeds[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference");
    TCase *tests = tcase_create("reference");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, softmax_along_an_axis_counted_from_the_end);
    tcase_add_test(tests, selu_of_given_constants_and_of_its_own);
    tcase_add_test(tests, max_pool_in_both_orders);
    tcase_add_test(tests, max_pool_of_cut_windows_and_defaults);
    tcase_add_test(tests, values_that_do_not_fit);
    tcase_add_test(tests, absent_operands);
    tcase_add_test(tests, params_that_do_not_fit);
    tcase_add_test(tests, operands_that_do_not_fit);
    tcase_add_test(tests, pools_that_do_not_fit);
    tcase_add_test(tests, nothing_at_all);
    tcase_add_test(tests, several_threads);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
