/* SPDX-License-Identifier: Apache-2.0 */
/* Attribute defaults, with values from the operator documentation. */
#include <float.h>

#include "converters/onnx/schema/onnx_schema_defaults.h"
#include "onnx_model.h"

static struct param found(const char *op, int64_t version, const char *attr)
{
    struct param p = {0};
    ck_assert_msg(onnx_schema_default(op, version, attr, &p), "%s.%s", op, attr);
    ck_assert(p.set);
    ck_assert_str_eq(p.name, attr);
    return p;
}

static bool absent(const char *op, int64_t version, const char *attr)
{
    struct param p;
    return !onnx_schema_default(op, version, attr, &p);
}

START_TEST(test_scalars)
{
    struct param p = found("BatchNormalization", 9, "epsilon");
    ck_assert_int_eq(p.dtype, DT_FLOAT32);
    ck_assert(p.f == (double)1e-5f);
    ck_assert(!p.is_tensor);
    p = found("Conv", 11, "group");
    ck_assert_int_eq(p.dtype, DT_INT64);
    ck_assert_int_eq(p.i, 1);
    p = found("Conv", 11, "auto_pad");
    ck_assert_int_eq(p.dtype, DT_STRING);
    ck_assert_str_eq(p.s, "NOTSET");
    ck_assert(found("Selu", 6, "alpha").f == (double)1.67326319217681884765625f);
    ck_assert(found("Selu", 6, "gamma").f == (double)1.05070102214813232421875f);
    ck_assert(found("Selu", 5, "gamma").f == (double)1.0507f);
    ck_assert(found("GlobalLpPool", 1, "p").dtype == DT_FLOAT32);
    ck_assert(found("Adam", 1, "epsilon").f == (double)1e-6f);
    ck_assert(found("Clip", 6, "max").f == (double)FLT_MAX);
    ck_assert(found("Clip", 10, "min").f == -(double)FLT_MAX);
}
END_TEST

START_TEST(test_versions)
{
    ck_assert_int_eq(found("Softmax", 12, "axis").i, 1);
    ck_assert_int_eq(found("Softmax", 13, "axis").i, -1);
    ck_assert_int_eq(found("Softmax", 99, "axis").i, -1);
    ck_assert_int_eq(found("BatchNormalization", 7, "spatial").i, 1);
    ck_assert(absent("BatchNormalization", 9, "spatial"));
    ck_assert(absent("Clip", 11, "max"));
    ck_assert(absent("Relu", 14, "alpha"));
    ck_assert(absent("NoSuchOp", 14, "alpha"));
}
END_TEST

START_TEST(test_lists)
{
    struct param p = found("MeanVarianceNormalization", 13, "axes");
    ck_assert(p.is_tensor);
    ck_assert_uint_eq(p.shape.rank, 1);
    ck_assert_int_eq(p.shape.dims[0], 3);
    ck_assert_int_eq(p.ints[0], 0);
    ck_assert_int_eq(p.ints[1], 2);
    ck_assert_int_eq(p.ints[2], 3);
    p = found("RNN", 14, "activations");
    ck_assert_int_eq(p.dtype, DT_STRING);
    ck_assert_int_eq(p.shape.dims[0], 2);
    ck_assert_str_eq(p.strings[1], "Tanh");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("onnx attribute defaults");
    ADD_CASE(suite, "defaults", test_scalars, test_versions, test_lists);
    return run_suite(suite);
}
