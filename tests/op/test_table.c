/* SPDX-License-Identifier: Apache-2.0 */
/* The operator table as a whole: names are unique, rows are consistent, and names and params are those of the target's
 * master list, where that list is at hand (ODLC_SHARED). */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "op/families.h"

#define MAX_LINE 4096

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

START_TEST(names_are_unique)
{
    const struct op *a, *b;
    for (size_t i = 0; (a = op_at(i)); i++)
        for (size_t j = 0; j < i; j++) {
            b = op_at(j);
            ck_assert_msg(strcmp(a->name, b->name) != 0, "%s is listed twice", a->name);
            /* What the container says must lead to one row. */
            bool same_type = strcmp(a->dlc_type, b->dlc_type) == 0;
            ck_assert_msg(!same_type || (a->selector && same_text(a->selector, b->selector)),
                          "%s and %s are both %s in the container", a->name, b->name, a->dlc_type);
            ck_assert_msg(!same_type || !a->has_operation || !b->has_operation || a->operation != b->operation,
                          "%s and %s have the same operation number", a->name, b->name);
        }
}
END_TEST

START_TEST(rows_are_found_by_name_and_by_id)
{
    const struct op *op;
    size_t i;
    for (i = 0; (op = op_at(i)); i++) {
        ck_assert_ptr_eq(op_find(op->name), op);
        ck_assert_uint_eq(op->id, i + 1); /* op_ids.def lists them in the order of the rows */
        ck_assert_ptr_eq(op_row(op->id), op);
    }
    ck_assert_uint_gt(i, 50);
    ck_assert_ptr_null(op_at(i));
    ck_assert_ptr_null(op_find("NoSuchOp"));
}
END_TEST

START_TEST(rows_are_complete)
{
    const struct op *op;
    for (size_t i = 0; (op = op_at(i)); i++) {
        ck_assert_msg(op->infer != NULL, "%s has no shape rule", op->name);
        ck_assert_msg(kernel_of(op)->run != NULL && !op->own_kernel, "%s has no kernel in the table", op->name);
        ck_assert_msg(op->package == NULL && op->udo == NULL, "%s belongs to a package", op->name);
        ck_assert_msg(op->min_inputs <= op->max_inputs && op->min_outputs <= op->max_outputs, "%s arity", op->name);
        ck_assert_msg(op->max_outputs > 0, "%s has no output", op->name);
        ck_assert_msg(!op->selector || op_param_index(op, op->selector) < 0, "%s lists its selector", op->name);
    }
}
END_TEST

static const char *const param_names[] = {
    "",
#define PARAM_ID(name) #name,
#include "op/param_ids.def"
#undef PARAM_ID
};

START_TEST(params_are_unique_and_typed)
{
    const struct op *op;
    for (size_t i = 0; (op = op_at(i)); i++)
        for (uint32_t p = 0; p < op->n_params; p++) {
            const struct param_def *def = &op->params[p];
            ck_assert_msg(op_param_index(op, def->name) == (int)p, "%s: %s is listed twice", op->name, def->name);
            ck_assert_msg(def->id != PARAM_CUSTOM && strcmp(def->name, param_names[def->id]) == 0,
                          "%s: %s has the id of another param", op->name, def->name);
            ck_assert_msg(op_param_place(op, def->id) == (int)p, "%s: %s is not found", op->name, def->name);
            ck_assert_msg(def->dtype != DT_NONE || !def->is_tensor, "%s: %s has no type", op->name, def->name);
            ck_assert_msg(def->presence != PARAM_DEFAULT || (!def->is_tensor && def->dtype != DT_STRING),
                          "%s: only numbers have defaults, %s is none", op->name, def->name);
        }
}
END_TEST

/* ---- the master list ---- */

/* Columns: op, kind (in, out, param), index, name, role, required, dtype, ... */
enum { COLUMN_OP, COLUMN_KIND, COLUMN_INDEX, COLUMN_NAME, COLUMN_ROLE, COLUMN_REQUIRED, COLUMN_DTYPE, COLUMNS };

static bool split_line(char *line, char *columns[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = line;
        line = strchr(line, '\t');
        if (!line)
            return false;
        *line++ = '\0';
    }
    return true;
}

/* Looks an op (param NULL) or a param of it up; *known tells whether it is listed, dtype gets the param's type. */
static void look_up(FILE *list, const char *op, const char *param, bool *known, char dtype[MAX_LINE])
{
    char line[MAX_LINE], *columns[COLUMNS];
    *known = false;
    rewind(list);
    while (!*known && fgets(line, sizeof(line), list))
        if (split_line(line, columns) && strcmp(columns[COLUMN_OP], op) == 0 &&
            (!param || (strcmp(columns[COLUMN_KIND], "param") == 0 && strcmp(columns[COLUMN_NAME], param) == 0))) {
            *known = true;
            strcpy(dtype, columns[COLUMN_DTYPE]);
        }
}

/* The ops of a container type that the list also has as one op with an `operation`: HardSigmoid and Reciprocal are
 * there only so, and files give each Neuron the params that the list gives the common op, and
 * each Resize the flags of ResizeBilinear. */
static const char *common_op(const struct op *op)
{
    if (strcmp(op->dlc_type, "Neuron") == 0)
        return "ElementWiseNeuron";
    if (strcmp(op->dlc_type, "Resize") == 0)
        return "ResizeBilinear";
    return strcmp(op->dlc_type, "Eltwise_Unary") == 0 ? "ElementWiseUnary" : op->name;
}

static void look_up_either(FILE *list, const struct op *op, const char *param, bool *known, char dtype[MAX_LINE])
{
    look_up(list, op->name, param, known, dtype);
    if (!*known)
        look_up(list, common_op(op), param, known, dtype);
}

static FILE *open_master_list(void)
{
    char path[MAX_LINE];
    const char *shared = getenv("ODLC_SHARED");
    snprintf(path, sizeof(path), "%s/reference/qnn-ops.tsv", shared ? shared : SOURCE_ROOT "/../shared");
    FILE *list = fopen(path, "r");
    if (!list)
        printf("skipped: there is no %s\n", path);
    return list;
}

START_TEST(rows_follow_the_master_list)
{
    FILE *list = open_master_list();
    if (!list)
        return;
    const struct op *op;
    for (size_t i = 0; (op = op_at(i)); i++) {
        bool known;
        char dtype[MAX_LINE];
        look_up_either(list, op, NULL, &known, dtype);
        ck_assert_msg(known, "%s is not in the master list", op->name);
        for (uint32_t p = 0; p < op->n_params; p++) {
            const struct param_def *def = &op->params[p];
            if (def->supplemental)
                continue;
            look_up_either(list, op, def->name, &known, dtype);
            ck_assert_msg(known, "%s: %s is not in the master list", op->name, def->name);
            bool either = def->dtype == DT_NONE; /* float or integer, as it was set */
            ck_assert_msg(either || strcmp(dtype, "BACKEND") == 0 || strcmp(dtype, dtype_info(def->dtype)->udo) == 0,
                          "%s: %s is %s in the master list", op->name, def->name, dtype);
        }
    }
    fclose(list);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("table");
    TCase *table = tcase_create("table");
    tcase_add_test(table, names_are_unique);
    tcase_add_test(table, rows_are_found_by_name_and_by_id);
    tcase_add_test(table, rows_are_complete);
    tcase_add_test(table, params_are_unique_and_typed);
    tcase_add_test(table, rows_follow_the_master_list);
    suite_add_tcase(suite, table);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
