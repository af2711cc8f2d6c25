/* SPDX-License-Identifier: Apache-2.0 */
/* Published configs and those of the real cases load; what is odd in them, or left open, is a warning. */
#include "udo_fixture.h"

#include <stdlib.h>
#include <unistd.h>

static const char *shared(void)
{
    const char *given = getenv("ODLC_SHARED");
    return given ? given : SOURCE_ROOT "/../shared";
}

static const struct {
    const char *path, *package, *type;
    size_t definitions, warnings;
} configs[] = {
    {"corpus/udo-cases/espcn-brevitas-quant/quant.udo.json", "BrevitasUdoPackage", "Quant", 1, 0},
    {"corpus/udo-cases/ppocr-hardsigmoid/hardsigmoid.udo.json", "HardSigmoidUdoPackage", "HardSigmoid", 1, 0},
    {"corpus/udo-cases/transformer-softmax-two-packages/ops.udo.json", "SoftmaxUdoPackage", "Softmax", 3, 0},
    {"corpus/udo-cases/yunet-maxpool-nchw/maxpool.udo.json", "PoolUdoPackage", "MaxPool", 1, 0},
    {"corpus/udo-configs/globaledgesoft__Selu.json", "SeluUdoPackage", "Selu", 1, 0},
    {"corpus/udo-configs/qidk__Selu.json", "SeluUdoPackage", "Selu", 1, 0},
    {"corpus/udo-configs/rtmdet__Hardsigmoid.json", "HardSigmodUdoPackage", "HardSigmoid", 1, 1},
};

START_TEST(config)
{
    struct fixture f;
    fixture_start(&f);
    const char *path = arena_printf(f.arena, "%s/%s", shared(), configs[_i].path);
    ck_assert_msg(udo_load(&f.set, path) == ODLC_OK, "%s", all_diags(&f));
    ck_assert_msg(f.diags.list.count == configs[_i].warnings, "%s", all_diags(&f));
    ck_assert_uint_eq(count_diags(&f, "udo-no-architecture"), configs[_i].warnings);
    ck_assert_uint_eq(f.set.defs.count, configs[_i].definitions);
    ck_assert_str_eq(f.set.defs.data[0]->package, configs[_i].package);
    ck_assert_str_eq(f.set.defs.data[0]->type, configs[_i].type);
    fixture_end(&f);
}
END_TEST

/* What published XML files must come to. Warnings are about what a file leaves open. */
static const struct {
    const char *file, *package, *type; /* the first definition's */
    size_t definitions, warnings;
    uint32_t cores, n_inputs, n_outputs, n_scalars, n_tensors;
    enum dtype first;
    uint64_t several; /* other types of the first input */
    bool qhpi;
} xml_configs[] = {
    {"executorch__example_op_package_htp", "ExampleOpPackage", "ExampleCustomOp", 1, 0, 1u << UDO_DSP, 1, 1, 0, 0,
     DT_FLOAT32, DTYPE_BIT(DT_UFXP8), false},
    {"executorch__fastgelu_op_package_htp", "FastGeluOpPackage", "FastGelu", 1, 0, 1u << UDO_DSP, 1, 1, 0, 0,
     DT_FLOAT32, DTYPE_BIT(DT_UFXP8), false},
    {"executorch__split_custom_op_package", "SplitCustomOpPackage", "SplitCustomOp", 1, 0, 1u << UDO_DSP, 1, 2, 0, 0,
     DT_FLOAT32, DTYPE_BIT(DT_UFXP8), false},
    {"litert__d0b884__htp_example_custom_op", "ExampleOpPackage", "ExampleCustomOp", 1, 0, 1u << UDO_DSP, 1, 1, 1, 0,
     DT_FLOAT32, 0, true},
    {"litert__e7b93f__htp_example_custom_op", "ExampleOpPackage", "ExampleCustomOp", 1, 0, 1u << UDO_DSP, 1, 1, 0, 1,
     DT_FLOAT32, 0, true},
    {"made__LargePackageHtp", "LargePackage", "MadeOp0", 21, 0, 1u << UDO_DSP, 1, 1, 0, 0, DT_UFXP8,
     DTYPE_BIT(DT_FLOAT32), false},
    {"ortqnn__IncrementOpPackageCpu", "IncrementOpPackage", "Increment", 1, 0, 1u << UDO_CPU, 1, 1, 1, 0, DT_FLOAT32, 0,
     false},
    {"ortqnn__MyAddOpPackageCpu", "MyAddOpPackage", "MyAdd", 1, 0, 1u << UDO_CPU, 1, 1, 1, 0, DT_FLOAT32, 0, false},
    {"ortqnn__MyAddOpPackageHtp", "MyAddOpPackage", "MyAdd", 1, 0, 1u << UDO_DSP, 1, 1, 1, 0, DT_UFXP8, 0, false},
    {"qidk__RandomNormalLikeCPU", "RandomNormalLike", "RandomNormalLike", 1, 0, 1u << UDO_CPU, 1, 1, 0, 0, DT_FLOAT32,
     0, false},
    {"qidk__input_pack", "qhci", "InputPack", 1, 1, 1u << UDO_DSP, 2, 1, 0, 0, DT_FLOAT32, DTYPE_BIT(DT_UFXP8), false},
    {"rwkv__RwkvWkvOpPackage_CPU_latest", "RwkvWkvOpPackage", "wkv6", 4, 0, 1u << UDO_CPU, 6, 2, 0, 0, DT_FLOAT32,
     DTYPE_BIT(DT_FLOAT16), false},
};

START_TEST(xml_config)
{
    struct fixture f;
    fixture_start(&f);
    const char *path = arena_printf(f.arena, "%s/corpus/udo-configs/%s.xml", shared(), xml_configs[_i].file);
    ck_assert_msg(udo_load(&f.set, path) == ODLC_OK, "%s", all_diags(&f));
    ck_assert_msg(f.diags.list.count == xml_configs[_i].warnings, "%s", all_diags(&f));
    ck_assert_uint_eq(f.set.defs.count, xml_configs[_i].definitions);
    const struct udo_def *def = f.set.defs.data[0];
    ck_assert_str_eq(def->package, xml_configs[_i].package);
    ck_assert_str_eq(def->type, xml_configs[_i].type);
    ck_assert_uint_eq(def->cores, xml_configs[_i].cores);
    ck_assert_uint_eq(def->n_inputs, xml_configs[_i].n_inputs);
    ck_assert_uint_eq(def->n_outputs, xml_configs[_i].n_outputs);
    ck_assert_uint_eq(def->n_scalar_params, xml_configs[_i].n_scalars);
    ck_assert_uint_eq(def->n_tensor_params, xml_configs[_i].n_tensors);
    ck_assert_int_eq(def->inputs[0].dtype, xml_configs[_i].first);
    ck_assert_uint_eq(def->inputs[0].several & ~DTYPE_BIT(def->inputs[0].dtype), xml_configs[_i].several);
    ck_assert_int_eq(def->use_qhpi, xml_configs[_i].qhpi);
    ck_assert(!def->inputs[0].is_static);
    fixture_end(&f);
}
END_TEST

/* The same definition by two publishers, in different white space, is no conflict. */
START_TEST(selu_twice)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(udo_load(&f.set, arena_printf(f.arena, "%s/%s", shared(), configs[4].path)), ODLC_OK);
    ck_assert_int_eq(udo_load(&f.set, arena_printf(f.arena, "%s/%s", shared(), configs[5].path)), ODLC_OK);
    ck_assert_uint_eq(f.set.defs.count, 1);
    ck_assert_uint_eq(f.diags.list.count, 0);
    fixture_end(&f);
}
END_TEST

int main(void)
{
    if (access(shared(), R_OK) != 0) {
        printf("skipped: no real data at %s (set ODLC_SHARED)\n", shared());
        return 77;
    }
    Suite *s = suite_create("udo_corpus");
    TCase *t = tcase_create("configs");
    tcase_add_loop_test(t, config, 0, COUNT_OF(configs));
    tcase_add_loop_test(t, xml_config, 0, COUNT_OF(xml_configs));
    tcase_add_test(t, selu_twice);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
