/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of ops: which row a container's op, or a name, means. */
#include <check.h>
#include <stdlib.h>

#include "kernel/kernel.h"
#include "op/graph_text.h"
#include "op/op.h"

static struct arena *arena;
static struct op_registry *registry;

static void start(void)
{
    arena = arena_create();
    registry = op_registry_new(arena);
}

static void end(void)
{
    arena_destroy(arena);
}

static const struct op *find(const char *package, const char *type, const char *selected, int64_t operation)
{
    return op_registry_find(
        registry, &(struct op_key){.package = package, .type = type, .selected = selected, .operation = operation});
}

static struct op row_of(const char *package, const char *type)
{
    return (struct op){.name = type, .dlc_type = type, .package = package, .max_inputs = 1, .max_outputs = 1};
}

START_TEST(native_rows)
{
    const struct op *op;
    for (size_t i = 0; (op = op_at(i)); i++) {
        ck_assert_ptr_eq(find(NULL, op->dlc_type, op->selector ? op->name : NULL, -1), op);
        if (op->has_operation)
            ck_assert_ptr_eq(find(NULL, op->dlc_type, NULL, op->operation), op);
    }
    ck_assert_ptr_null(find(NULL, "NoSuchOp", NULL, -1));
    ck_assert_ptr_null(find("P", "Relu", NULL, -1));
}
END_TEST

START_TEST(types_of_newer_files)
{
    ck_assert_ptr_eq(find(NULL, "ElementWiseNeuron", NULL, 4), op_row(OP_Relu));
    ck_assert_ptr_eq(find(NULL, "ElementWiseBinary", "ElementWiseAdd", -1), op_row(OP_ElementWiseAdd));
    ck_assert_ptr_eq(find(NULL, "PoolMax2d", NULL, -1), op_row(OP_PoolMax2d)); /* the type is the name */
}
END_TEST

START_TEST(added_rows)
{
    struct op row = row_of("P", "Warp"), other = row_of("Q", "Warp"), relu = row_of("P", "Relu");
    const struct op *first = op_registry_add(registry, &row), *second = op_registry_add(registry, &row);
    const struct op *third = op_registry_add(registry, &other), *own_relu = op_registry_add(registry, &relu);
    row.package = "changed"; /* the registry has a copy */
    ck_assert_ptr_ne(first, second);
    ck_assert_ptr_eq(find("P", "Warp", NULL, -1), first);
    ck_assert_ptr_eq(find("Q", "Warp", NULL, -1), third);
    ck_assert_ptr_eq(find("P", "Relu", NULL, -1), own_relu);
    ck_assert_ptr_eq(find(NULL, "Relu", NULL, -1), op_row(OP_Relu));
    ck_assert_ptr_null(find("R", "Warp", NULL, -1));
    ck_assert_ptr_null(find(NULL, "Warp", NULL, -1));
}
END_TEST

START_TEST(undescribed_rows)
{
    const struct param_def params[] = {{.name = "a", .dtype = DT_INT32}, {.name = "b", .dtype = DT_STRING}};
    const struct param_def again[] = {{.name = "a", .dtype = DT_INT32}, {.name = "b", .dtype = DT_STRING}};
    const struct param_def others[] = {{.name = "a", .dtype = DT_INT32}, {.name = "b", .dtype = DT_INT32}};
    const struct op *row = op_registry_undescribed(registry, "P", "Warp", params, 2);
    ck_assert_str_eq(row->name, "Warp");
    ck_assert_str_eq(row->dlc_type, "Warp");
    ck_assert_str_eq(row->package, "P");
    ck_assert_int_eq(row->id, OP_CUSTOM);
    ck_assert_ptr_eq(row->params, params);
    ck_assert(row->n_params == 2 && row->max_inputs == VARIADIC && row->max_outputs == VARIADIC && !row->own_kernel);
    ck_assert_ptr_eq(op_registry_undescribed(registry, "P", "Warp", again, 2), row);
    ck_assert_ptr_ne(op_registry_undescribed(registry, "P", "Warp", others, 2), row);
    ck_assert_ptr_ne(op_registry_undescribed(registry, "P", "Warp", params, 1), row);
    ck_assert_ptr_ne(op_registry_undescribed(registry, "Q", "Warp", params, 2), row);
    ck_assert_ptr_null(op_registry_undescribed(registry, NULL, "Warp", params, 2)->package);
    ck_assert_ptr_null(find("P", "Warp", NULL, -1));
}
END_TEST

START_TEST(text_with_an_added_row)
{
    static const struct param_def params[] = {{.name = "alpha", .dtype = DT_FLOAT32, .presence = PARAM_OPTIONAL}};
    static const char text[] = "graph \"g\"\ninput \"x\" float32[4]\n"
                               "node \"warp\" P::Warp (\"x\") {alpha=0.5} -> \"y\" float32[4]\noutput \"y\"\n";
    struct diags diags;
    struct graph *g;
    struct op row = row_of("P", "Warp");
    row.params = params;
    row.n_params = 1;
    diags_init(&diags, arena);
    ck_assert_int_eq(graph_parse(arena, &diags, registry, text, &g), ODLC_ERR_INVALID);
    const struct op *added = op_registry_add(registry, &row);
    ck_assert_int_eq(graph_parse(arena, &diags, registry, text, &g), ODLC_OK);
    ck_assert_ptr_eq(graph_node(g, g->order.data[0])->op, added);
    ck_assert_str_eq(graph_print(arena, g), text);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {native_rows, types_of_newer_files, added_rows, undescribed_rows,
                                  text_with_an_added_row};
    Suite *s = suite_create("registry");
    TCase *t = tcase_create("registry");
    tcase_add_checked_fixture(t, start, end);
    for (size_t i = 0; i < COUNT_OF(tests); i++)
        tcase_add_test(t, tests[i]);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
