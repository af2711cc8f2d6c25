/* Published configs and those of the real cases load without a complaint. */
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
    size_t definitions;
} configs[] = {
    {"corpus/udo-cases/espcn-brevitas-quant/quant.udo.json", "BrevitasUdoPackage", "Quant", 1},
    {"corpus/udo-cases/ppocr-hardsigmoid/hardsigmoid.udo.json", "HardSigmoidUdoPackage", "HardSigmoid", 1},
    {"corpus/udo-cases/transformer-softmax-two-packages/ops.udo.json", "SoftmaxUdoPackage", "Softmax", 3},
    {"corpus/udo-cases/yunet-maxpool-nchw/maxpool.udo.json", "PoolUdoPackage", "MaxPool", 1},
    {"corpus/udo-configs/globaledgesoft__Selu.json", "SeluUdoPackage", "Selu", 1},
    {"corpus/udo-configs/qidk__Selu.json", "SeluUdoPackage", "Selu", 1},
    {"corpus/udo-configs/rtmdet__Hardsigmoid.json", "HardSigmodUdoPackage", "HardSigmoid", 1},
};

START_TEST(config)
{
    struct fixture f;
    fixture_start(&f);
    const char *path = arena_printf(f.arena, "%s/%s", shared(), configs[_i].path);
    ck_assert_msg(udo_load(&f.set, path) == ODLC_OK, "%s", all_diags(&f));
    ck_assert_uint_eq(f.diags.list.count, 0);
    ck_assert_uint_eq(f.set.defs.count, configs[_i].definitions);
    ck_assert_str_eq(f.set.defs.data[0]->package, configs[_i].package);
    ck_assert_str_eq(f.set.defs.data[0]->type, configs[_i].type);
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
    tcase_add_test(t, selu_twice);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
