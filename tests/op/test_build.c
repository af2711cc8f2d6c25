/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are built wrongly: an internal error, told with the operator, and no node. */
#include "node_fixture.h"

static void expect(struct fixture *f, uint32_t n_outputs, const char *code, const char *message)
{
    tensor_id out[4];
    size_t nodes = f->graph->nodes.count;
    ck_assert_int_eq(build_end_n(&f->build, NULL, n_outputs, out), ODLC_ERR_INTERNAL);
    const struct odlc_diag *d = &f->diags.list.data[f->diags.list.count - 1];
    ck_assert_str_eq(d->code, code);
    ck_assert_str_eq(d->message, message);
    ck_assert_str_eq(d->node, "n");
    ck_assert_uint_eq(f->graph->nodes.count, nodes);
}

START_TEST(wrong_nodes)
{
    struct fixture *f = fixture_start(1);
    tensor_id x = input_of(f, DT_FLOAT32, SHAPE(2, 3));
    build_op(&f->build, OP_Transpose, "n");
    build_in(&f->build, x);
    expect(f, 1, "missing-param", "Transpose: perm");
    build_op(&f->build, OP_Relu, "n");
    expect(f, 1, "arity", "Relu: wrong number of inputs");
    build_op(&f->build, OP_Relu, "n");
    build_in(&f->build, x);
    build_in(&f->build, x);
    expect(f, 1, "arity", "Relu: wrong number of inputs");
    build_op(&f->build, OP_Relu, "n");
    build_in(&f->build, x);
    expect(f, 2, "arity", "Relu: wrong number of outputs");
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("build");
    TCase *tcase = tcase_create("build");
    tcase_add_test(tcase, wrong_nodes);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
