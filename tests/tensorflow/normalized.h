/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the stages of converters/tensorflow/normalize: a GraphDef as text goes in, the graph that is there after
 * some of the stages comes out as text (tests/support/fw_text.h). */
#ifndef TESTS_TENSORFLOW_NORMALIZED_H
#define TESTS_TENSORFLOW_NORMALIZED_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "converters/tensorflow/decode/tf_graph.h"
#include "converters/tensorflow/normalize/normalize.h"
#include "converters/tensorflow/schema/tf_names.h"
#include "converters/tensorflow/schema/tf_schema.h"
#include "converters/tensorflow/source/pbtxt.h"
#include "tensorflow.pb-c.h"
#include "tests/support/fw_text.h"

/* How many of normalize_stages run between inline calls and prune. */
enum { UP_TO_CALLS, UP_TO_VARIABLES, UP_TO_LOOPS, UP_TO_CONDITIONALS };

/* Pieces of a GraphDef. */
#define NODE(name, op, rest) "node { name: '" name "' op: '" op "' " rest "}\n"
#define NODE_DEF(name, op, rest) "node_def { name: '" name "' op: '" op "' " rest "}\n"
#define IN(name) "input: '" name "' "
#define ATTR(name, value) "attr { key: '" name "' value { " value " } } "
#define PLACEHOLDER(name, type) \
    NODE(name, "Placeholder", ATTR("dtype", "type: " type) ATTR("shape", "shape { dim { size: 2 } }"))
#define SCALAR(type, value) ATTR("value", "tensor { dtype: " type " tensor_shape { } " value " }")
#define FUNCTION(name, args, results, body) "function { signature { name: '" name "' " args results "}\n" body "}\n"
#define ARG(name) "input_arg { name: '" name "' type: DT_FLOAT } "
#define RESULT(name) "output_arg { name: '" name "' type: DT_FLOAT } "
#define RET(name, value) "ret { key: '" name "' value: '" value "' } "

static struct arena *arena;
static struct fw_memory memory;
static struct diags diags;
static const char *claimed; /* the operator that a UDO claims, or NULL */

static void setup(void)
{
    arena = arena_create();
    memory = (struct fw_memory){.kept = arena, .graph = arena_create(), .scratch = arena_create()};
    diags_init(&diags, arena);
    claimed = NULL;
}

static void teardown(void)
{
    arena_destroy(memory.scratch);
    arena_destroy(memory.graph);
    arena_destroy(arena);
}

static bool claims(void *user, const char *op_type, const char *domain)
{
    (void)user, (void)domain;
    return claimed && strcmp(op_type, claimed) == 0;
}

/* What is converted. */
struct example {
    const char *graph;
    size_t n_stages;
    const char *outputs[4]; /* up to the first NULL; none: the nodes that nothing reads */
    const char *cut;        /* a value that an option makes an input; or NULL */
    const char *checkpoint; /* prefix of its files; or NULL */
};

static odlc_status normalized_model(const struct example *e, struct fw_model **out)
{
    struct file *wire;
    const struct file *from = file_of_memory(arena, "graph.pbtxt", e->graph, strlen(e->graph));
    ck_assert_int_eq(pbtxt_to_wire(arena, &diags, from, &tensorflow__graph_def__descriptor, &wire), ODLC_OK);
    ck_assert_int_eq(wire_check(&diags, wire, &tensorflow_schema, &tensorflow__graph_def__descriptor), ODLC_OK);
    struct tf_model m = {.memory = memory, .diags = &diags, .file = wire};
    names_init(&m.names, memory.kept, memory.scratch);
    ck_assert_int_eq(tf_decode_graph(&m, 0, wire->size), ODLC_OK);
    const char *outputs[COUNT_OF(e->outputs)], *cut = e->cut ? tensorflow_canonical_name(arena, e->cut) : NULL;
    struct fw_load_options options = {
        .out_names = outputs, .cut_inputs = &cut, .n_cut_inputs = e->cut != NULL, .claims = claims};
    for (; e->outputs[options.n_out_names]; options.n_out_names++)
        outputs[options.n_out_names] = tensorflow_canonical_name(arena, e->outputs[options.n_out_names]);
    const struct tf_source source = {.path = wire->path,
                                     .restore_op = "",
                                     .checkpoint = e->checkpoint,
                                     .folder = model_folder_of(arena, e->checkpoint ? e->checkpoint : "", false)};
    const struct tf_signature signature = {0};
    const struct wanted wanted = {.options = &options, .source = &source, .signature = &signature};
    return normalize_graph(&m, &wanted, normalize_stages, e->n_stages, out);
}

static void expect_graph(const struct example *e, const char *expected)
{
    struct fw_model *m;
    text t = {0};
    odlc_status status = normalized_model(e, &m);
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "no message");
    fw_text_graph(arena, &t, &m->graph, 0);
    ck_assert_msg(strcmp(t.data, expected) == 0, "is:\n%s\nnot:\n%s", t.data, expected);
}

/* One error, at a node, whose message contains the text. */
static inline void expect_error(const struct example *e, odlc_status status, const char *code, const char *node,
                                const char *message)
{
    struct fw_model *m = NULL;
    ck_assert_int_eq(normalized_model(e, &m), status);
    ck_assert_ptr_null(m);
    ck_assert_uint_eq(diags.list.count, 1);
    ck_assert_str_eq(diags.list.data[0].code, code);
    ck_assert_str_eq(diags.list.data[0].node ? diags.list.data[0].node : "", node);
    ck_assert_msg(strstr(diags.list.data[0].message, message), "%s", diags.list.data[0].message);
}

static int run_tests(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *cases = tcase_create(name);
    tcase_add_checked_fixture(cases, setup, teardown);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
