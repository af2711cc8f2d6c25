/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of TensorFlow's operators: numbers and types of outputs, defaults of attributes. Expected values are
 * from TensorFlow's documentation of the operators. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converters/tensorflow/decode/op_defs.h"
#include "converters/tensorflow/source/pbtxt.h"
#include "converters/tensorflow/tensorflow.h"
#include "tensorflow.pb-c.h"

/* ---- numbers and types of outputs ---- */

static struct fw_attr integer(const char *name, int64_t value)
{
    return (struct fw_attr){.name = name, .kind = FW_INT, .i = value};
}

/* The number of the output, or -1 where there is none and -2 where the operator is not known. */
static int64_t number(const char *op, const struct fw_attr *attrs, size_t n_attrs, const char *arg, uint32_t index)
{
    uint32_t out = UINT32_MAX;
    enum tf_found found = tf_output_index(tf_find_op(op), attrs, n_attrs, arg, index, &out);
    ck_assert_uint_eq(out == UINT32_MAX, found != TF_FOUND);
    return found == TF_FOUND ? (int64_t)out : found == TF_NOT_FOUND ? -1 : -2;
}

START_TEST(test_outputs_have_numbers)
{
    ck_assert_int_eq(number("Relu", NULL, 0, "activations", 0), 0);
    ck_assert_int_eq(number("Relu", NULL, 0, "activations", 1), -1);
    ck_assert_int_eq(number("Relu", NULL, 0, "output", 0), -1);
    ck_assert_int_eq(number("TopKV2", NULL, 0, "values", 0), 0);
    ck_assert_int_eq(number("TopKV2", NULL, 0, "indices", 0), 1);
    ck_assert_int_eq(number("FusedBatchNormV3", NULL, 0, "y", 0), 0);
    ck_assert_int_eq(number("FusedBatchNormV3", NULL, 0, "batch_variance", 0), 2);
    ck_assert_int_eq(number("FusedBatchNormV3", NULL, 0, "reserve_space_3", 0), 5);
    ck_assert_int_eq(number("BlockLSTM", NULL, 0, "h", 0), 6);
    ck_assert_int_eq(number("NoSuchOperator", NULL, 0, "y", 0), -2);
    ck_assert_int_eq(number("", NULL, 0, "y", 0), -2);
}
END_TEST

START_TEST(test_attributes_count_outputs)
{
    const struct fw_attr three = integer("num_split", 3), none = integer("num_split", 0);
    ck_assert_int_eq(number("Split", &three, 1, "output", 2), 2);
    ck_assert_int_eq(number("Split", &three, 1, "output", 3), -1);
    ck_assert_int_eq(number("Split", &none, 1, "output", 0), -1);
    ck_assert_int_eq(number("Split", NULL, 0, "output", 0), -1);
    const struct fw_attr huge = integer("num_split", INT64_MAX), negative = integer("num_split", -1);
    ck_assert_int_eq(number("Split", &huge, 1, "output", 0), -1);
    ck_assert_int_eq(number("Split", &negative, 1, "output", 0), -1);
    const struct fw_attr text = {.name = "num_split", .kind = FW_STRING, .s = "3"};
    ck_assert_int_eq(number("Split", &text, 1, "output", 0), -1);
    const struct fw_attr given = {.name = "num_split", .ref = "n", .kind = FW_INT};
    ck_assert_int_eq(number("Split", &given, 1, "output", 0), -1);
    /* sparse_indices, sparse_values and sparse_shapes of two features each, then three dense values */
    static const int64_t sparse[] = {9, 1}, dense[] = {1, 9, 1};
    const struct fw_attr parse[] = {integer("Nsparse", 2),
                                    {.name = "sparse_types", .kind = FW_INTS, .count = 2, .ints = sparse},
                                    {.name = "Tdense", .kind = FW_INTS, .count = 3, .ints = dense}};
    ck_assert_int_eq(number("ParseExample", parse, COUNT_OF(parse), "sparse_values", 1), 3);
    ck_assert_int_eq(number("ParseExample", parse, COUNT_OF(parse), "sparse_shapes", 0), 4);
    ck_assert_int_eq(number("ParseExample", parse, COUNT_OF(parse), "dense_values", 2), 8);
    ck_assert_int_eq(number("ParseExample", parse, COUNT_OF(parse), "dense_values", 3), -1);
    ck_assert_int_eq(number("ParseExample", parse, 1, "dense_values", 0), -1);
    ck_assert_int_eq(tf_output_dtype("ParseExample", parse, COUNT_OF(parse), 1), DT_INT64);
    ck_assert_int_eq(tf_output_dtype("ParseExample", parse, COUNT_OF(parse), 3), DT_FLOAT32);
    ck_assert_int_eq(tf_output_dtype("ParseExample", parse, COUNT_OF(parse), 7), DT_INT64);
    ck_assert_int_eq(tf_output_dtype("ParseExample", parse, COUNT_OF(parse), 9), DT_NONE);
}
END_TEST

START_TEST(test_counts_that_add_up_to_too_many)
{
    const struct fw_attr parse[] = {integer("Ncontext_sparse", INT32_MAX),
                                    {.name = "context_sparse_types", .kind = FW_INTS, .count = INT32_MAX},
                                    {.name = "Tcontext_dense", .kind = FW_INTS, .count = INT32_MAX}};
    ck_assert_int_eq(number("ParseSingleSequenceExample", parse, 3, "context_sparse_values", 1),
                     (int64_t)INT32_MAX + 1);
    ck_assert_int_eq(number("ParseSingleSequenceExample", parse, 3, "context_dense_values", 0), -1);
}
END_TEST

START_TEST(test_outputs_have_types)
{
    const struct fw_attr half = integer("T", 19), out = integer("output_type", 3), complex = integer("T", 8);
    ck_assert_int_eq(tf_output_dtype("Relu", &half, 1, 0), DT_FLOAT16);
    ck_assert_int_eq(tf_output_dtype("Relu", &half, 1, 1), DT_NONE);
    ck_assert_int_eq(tf_output_dtype("Relu", NULL, 0, 0), DT_NONE);
    ck_assert_int_eq(tf_output_dtype("Neg", &complex, 1, 0), DT_NONE);
    ck_assert_int_eq(tf_output_dtype("Greater", &half, 1, 0), DT_BOOL);
    ck_assert_int_eq(tf_output_dtype("ArgMax", &half, 1, 0), DT_INT64);
    ck_assert_int_eq(tf_output_dtype("ArgMax", &out, 1, 0), DT_INT32);
    ck_assert_int_eq(tf_output_dtype("Unique", &half, 1, 0), DT_FLOAT16);
    ck_assert_int_eq(tf_output_dtype("Unique", &half, 1, 1), DT_INT32);
    ck_assert_int_eq(tf_output_dtype("FusedBatchNormV3", &half, 1, 0), DT_FLOAT16);
    ck_assert_int_eq(tf_output_dtype("Placeholder", NULL, 0, 0), DT_NONE);
    ck_assert_int_eq(tf_output_dtype("VarHandleOp", NULL, 0, 0), DT_NONE);
    ck_assert_int_eq(tf_output_dtype("NoSuchOperator", &half, 1, 0), DT_NONE);
}
END_TEST

/* ---- defaults ---- */

static struct param found(const char *op, const char *attr)
{
    struct param p = {0};
    ck_assert_msg(tensorflow_schema_default(op, 0, attr, &p), "%s.%s", op, attr);
    ck_assert(p.set);
    ck_assert_str_eq(p.name, attr);
    return p;
}

static bool absent(const char *op, const char *attr)
{
    struct param p;
    return !tensorflow_schema_default(op, 0, attr, &p);
}

START_TEST(test_defaults_are_scalars)
{
    struct param p = found("LeakyRelu", "alpha");
    ck_assert_int_eq(p.dtype, DT_FLOAT32);
    ck_assert(p.f == (double)0.2f);
    ck_assert(!p.is_tensor);
    p = found("MatMul", "transpose_a");
    ck_assert_int_eq(p.dtype, DT_BOOL);
    ck_assert_int_eq(p.i, 0);
    ck_assert_int_eq(found("FusedBatchNormV3", "is_training").i, 1);
    p = found("Conv2D", "data_format");
    ck_assert_int_eq(p.dtype, DT_STRING);
    ck_assert_str_eq(p.s, "NHWC");
    ck_assert_str_eq(found("Conv3D", "data_format").s, "NDHWC");
    p = found("LRN", "depth_radius");
    ck_assert_int_eq(p.dtype, DT_INT64);
    ck_assert_int_eq(p.i, 5);
    ck_assert(found("LRN", "beta").f == 0.5);
    ck_assert(found("FusedBatchNormV3", "epsilon").f == (double)1e-4f);
    ck_assert_int_eq(found("ArgMax", "output_type").i, 9);
    ck_assert_int_eq(found("OneHot", "axis").i, -1);
    ck_assert_str_eq(found("PrintV2", "end").s, "\n");
}
END_TEST

START_TEST(test_defaults_are_lists)
{
    struct param p = found("Conv2D", "dilations");
    ck_assert(p.is_tensor);
    ck_assert_uint_eq(p.shape.rank, 1);
    ck_assert_int_eq(p.shape.dims[0], 4);
    ck_assert_int_eq(p.ints[0], 1);
    ck_assert_int_eq(p.ints[3], 1);
    p = found("Conv2D", "explicit_paddings");
    ck_assert(p.is_tensor);
    ck_assert_int_eq(p.dtype, DT_INT64);
    ck_assert_int_eq(p.shape.dims[0], 0);
}
END_TEST

START_TEST(test_what_has_no_default)
{
    ck_assert(absent("Conv2D", "strides"));
    ck_assert(absent("Conv2D", "no_such_attribute"));
    ck_assert(absent("NoSuchOperator", "T"));
    ck_assert(absent("Placeholder", "shape")); /* of unknown rank */
    ck_assert(absent("Zeta", "zzz"));
}
END_TEST

/* ---- inputs within functions ---- */

static struct arena *arena;
static struct fw_memory memory;
static struct diags diags;

static void setup(void)
{
    arena = arena_create();
    memory = (struct fw_memory){.kept = arena, .graph = arena_create(), .scratch = arena_create()};
    diags_init(&diags, arena);
}

static void teardown(void)
{
    arena_destroy(memory.scratch);
    arena_destroy(memory.graph);
    arena_destroy(arena);
}

/* Loads a graph whose node "end" reads what a function's body gives: `nodes` of it, and `ret`. */
static odlc_status load_function(const char *nodes, const char *ret, struct fw_model **out)
{
    const char *text = arena_printf(
        arena,
        "node { name: 'in' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
        "node { name: 'call' op: 'PartitionedCall' input: 'in' attr { key: 'f' value { func { name: 'f' } } } }\n"
        "node { name: 'end' op: 'Identity' input: 'call' attr { key: 'T' value { type: DT_FLOAT } } }\n"
        "library { function {\n"
        "  signature { name: 'f' input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } }\n"
        "  %s\n"
        "  ret { key: 'y' value: '%s' } } }\n",
        nodes, ret);
    struct file *wire;
    const struct file *file = file_of_memory(arena, "graph.pbtxt", text, strlen(text));
    ck_assert_int_eq(pbtxt_to_wire(arena, &diags, file, &tensorflow__graph_def__descriptor, &wire), ODLC_OK);
    const struct fw_load_options options = {.input = "graph.pbtxt"};
    *out = NULL;
    return tensorflow_load_file(&memory, &diags, wire, &options, out);
}

/* What the node reads. */
static const char *read_by(const struct fw_model *m, const char *name)
{
    for (size_t i = 0; i < m->graph.nodes.count; i++)
        if (strcmp(m->graph.nodes.data[i].name, name) == 0)
            return m->graph.nodes.data[i].inputs[0];
    ck_abort_msg("there is no node %s", name);
}

static const char *read_by_end(const char *nodes, const char *ret)
{
    struct fw_model *m;
    odlc_status status = load_function(nodes, ret, &m);
    ck_assert_msg(status == ODLC_OK, "%s", diags.errors ? diags.list.data[0].message : "");
    return read_by(m, "end");
}

START_TEST(test_functions_name_outputs_by_argument)
{
    static const char top[] = "node_def { name: 'top' op: 'TopKV2' input: 'x' input: 'x' }";
    static const char split[] = "node_def { name: 's' op: 'Split' input: 'x' input: 'x' "
                                "attr { key: 'num_split' value { i: 3 } } }";
    ck_assert_str_eq(read_by_end(top, "top:values:0"), "call/top:0");
    ck_assert_str_eq(read_by_end(top, "top:indices:0"), "call/top:1");
    ck_assert_str_eq(read_by_end(split, "s:output:2"), "call/s:2");
    ck_assert_str_eq(read_by_end("node_def { name: 'a' op: 'MyOwn' input: 'x' }", "a:anything:1"), "call/a:1");
}
END_TEST

START_TEST(test_outputs_that_are_not_there_are_refused)
{
    static const char top[] = "node_def { name: 'top' op: 'TopKV2' input: 'x' input: 'x' }";
    static const char *const wrong[] = {"top:values:1", "top:index:0", "top:indices:1"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct fw_model *m;
        size_t before = diags.list.count;
        ck_assert_int_eq(load_function(top, wrong[i], &m), ODLC_ERR_INVALID);
        ck_assert_uint_eq(diags.list.count, before + 1);
        ck_assert_str_eq(diags.list.data[before].code, "tensorflow-input");
        const char *part = arena_printf(arena, "reads %s, which is no output of its operator", wrong[i]);
        ck_assert_msg(strstr(diags.list.data[before].message, part), "%s", diags.list.data[before].message);
    }
}
END_TEST

/* A user's operator whose outputs only the saved model's own list of definitions tells apart: one, a list of three, and
 * one. */
static const char saved_model[] =
    "meta_graphs {\n"
    "  meta_info_def { tags: 'serve' stripped_op_list {\n"
    "    op { name: 'MyOwn' input_arg { name: 'x' type_attr: 'T' } output_arg { name: 'a' type_attr: 'T' }\n"
    "         output_arg { name: 'b' number_attr: 'N' type: DT_FLOAT } output_arg { name: 'c' type: DT_INT32 } }\n"
    "    op { name: 'Relu' output_arg { name: 'wrong' type: DT_INT32 } } } }\n"
    "  graph_def {\n"
    "    node { name: 'in' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
    "    node { name: 'call' op: 'PartitionedCall' input: 'in' attr { key: 'f' value { func { name: 'f' } } } }\n"
    "    library { function {\n"
    "      signature { name: 'f' input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } }\n"
    "      node_def { name: 'own' op: 'MyOwn' input: 'x' attr { key: 'N' value { i: 3 } } }\n"
    "      node_def { name: 'end' op: 'Relu' input: 'own:%s' }\n"
    "      ret { key: 'y' value: 'end:activations:0' } } } }\n"
    "  signature_def { key: 'serving_default' value { outputs { key: 'y' value { name: 'call:0' dtype: DT_FLOAT } } } "
    "} }";

static odlc_status load_saved_model(const char *output, struct fw_model **out)
{
    char folder[] = "/tmp/test_op_defs_XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    const char *path = arena_printf(arena, "%s/saved_model.pbtxt", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, saved_model, output);
    fclose(file);
    const struct fw_load_options options = {.input = folder};
    *out = NULL;
    odlc_status status = tensorflow_load(&memory, &diags, &options, out);
    remove(path);
    remove(folder);
    return status;
}

START_TEST(test_saved_models_define_operators)
{
    static const struct {
        const char *output, *read;
    } cases[] = {{"a:0", "own:0"}, {"b:0", "own:1"}, {"b:2", "own:3"}, {"c:0", "own:4"}};
    struct fw_model *m;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        odlc_status status = load_saved_model(cases[i].output, &m);
        ck_assert_msg(status == ODLC_OK, "%s", diags.errors ? diags.list.data[0].message : "");
        ck_assert_str_eq(read_by(m, "end"), cases[i].read);
    }
    ck_assert_int_eq(load_saved_model("b:3", &m), ODLC_ERR_INVALID);
    ck_assert_int_eq(load_saved_model("d:0", &m), ODLC_ERR_INVALID);
    ck_assert_uint_eq(diags.errors, 2);
}
END_TEST

START_TEST(test_nodes_have_names_that_inputs_can_say)
{
    static const char *const names[] = {"a:b", "a:0", "^a"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct fw_model *m;
        size_t before = diags.list.count;
        const char *node = arena_printf(arena, "node_def { name: '%s' op: 'Relu' input: 'x' }", names[i]);
        ck_assert_int_eq(load_function(node, "x", &m), ODLC_ERR_INVALID);
        ck_assert_uint_eq(diags.list.count, before + 1);
        ck_assert_str_eq(diags.list.data[before].code, "tensorflow-node");
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("op_defs");
    const TTest *const tests[] = {
        test_outputs_have_numbers,
        test_attributes_count_outputs,
        test_counts_that_add_up_to_too_many,
        test_outputs_have_types,
        test_defaults_are_scalars,
        test_defaults_are_lists,
        test_what_has_no_default,
        test_functions_name_outputs_by_argument,
        test_outputs_that_are_not_there_are_refused,
        test_saved_models_define_operators,
        test_nodes_have_names_that_inputs_can_say,
    };
    TCase *tests_of = tcase_create("op_defs");
    tcase_add_checked_fixture(tests_of, setup, teardown);
    for (size_t i = 0; i < COUNT_OF(tests); i++)
        tcase_add_test(tests_of, tests[i]);
    suite_add_tcase(suite, tests_of);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
