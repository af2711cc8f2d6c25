/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder on models made by others (see ODLC_SHARED in CONTRIBUTING); skipped where they are not there. Expected
 * numbers were read with the onnx Python package. */
#include <fts.h>
#include <stdio.h>

#include "base/reader.h"
#include "onnx_model.h"

static const char *corpus(const char *name)
{
    const char *shared = getenv("ODLC_SHARED");
    return arena_printf(arena, "%s/corpus/%s", shared ? shared : SOURCE_ROOT "/../shared", name);
}

static struct fw_model *load_path(const char *path)
{
    struct fw_model *m = NULL;
    odlc_status status = onnx_load(&memory, &diags, &(struct fw_load_options){.input = path}, &m);
    ck_assert_msg(status == ODLC_OK, "%s: %s", path, diags.errors ? diags.list.data[0].message : "");
    return m;
}

static const struct counts {
    const char *name;
    int ir, opset;
    size_t nodes, initializers, inputs, outputs, values, warnings;
} models[] = {
    {"first/blazeface-nhwc", 7, 12, 104, 71, 1, 4, 89, 0},
    {"first/fastestdet", 6, 11, 211, 195, 1, 1, 210, 0},
    {"first/magika", 8, 15, 95, 36, 1, 1, 0, 0},
    {"first/mnist", 3, 7, 12, 8, 1, 1, 11, 0},
    {"first/ppocr-cls", 8, 9, 471, 0, 1, 1, 0, 0},
    {"first/ppocrv4-det", 8, 11, 672, 0, 1, 1, 0, 0},
    {"first/ppocrv4-rec-en", 8, 14, 629, 0, 1, 1, 0, 0},
    {"first/rfb320", 4, 9, 110, 112, 1, 2, 108, 0},
    {"first/transformer-mlm", 7, 12, 242, 12, 3, 1, 0, 0},
    {"first/yunet", 6, 11, 115, 124, 1, 12, 103, 0},
    {"second/bert-toy", 4, 12, 384, 94, 3, 2, 1, 1}, /* not in order */
    {"second/bidi-lstm-uint8", 6, 9, 27, 13, 1, 1, 0, 0},
    {"second/espcn-float", 6, 11, 8, 7, 1, 1, 0, 0},
    {"second/gpt2-past", 6, 11, 3069 - 48, 368, 13, 13, 0, 2}, /* not in order; 48 constants are overridden */
    {"second/qdq-mobilenet-part", 7, 13, 39, 54, 1, 2, 114, 0},
    {"second/random-decoder", 7, 12, 241, 14, 3, 1, 0, 0},
    {"second/retinaface-mnet025", 7, 12, 172, 287, 1, 9, 0, 0},
    {"second/self-attention-mnist", 7, 13, 50, 33, 1, 1, 49, 0},
    {"second/silero-vad-v5", 8, 16, 5, 0, 3, 2, 0, 0},
    {"second/squeezenet-fp16", 3, 7, 66, 52, 1, 1, 65, 0},
    {"second/tfbert-qa", 6, 11, 3836, 1344, 3, 2, 0, 0},
};

START_TEST(test_counts)
{
    const struct counts *c = &models[_i];
    const struct fw_model *m = load_path(corpus(arena_printf(arena, "onnx/%s/model.onnx", c->name)));
    ck_assert_int_eq(m->ir_version, c->ir);
    ck_assert_int_eq(m->opset, c->opset);
    ck_assert_uint_eq(m->graph.nodes.count, c->nodes);
    ck_assert_uint_eq(m->graph.initializers.count, c->initializers);
    ck_assert_uint_eq(m->graph.inputs.count, c->inputs);
    ck_assert_uint_eq(m->graph.outputs.count, c->outputs);
    ck_assert_uint_eq(m->graph.values.count, c->values);
    ck_assert_uint_eq(diags.warnings, c->warnings);
}
END_TEST

static double float_at(const struct view *v, uint64_t i)
{
    float f;
    memcpy(&f, v->bytes + 4 * i, 4);
    return f;
}

static double float_sum(const struct view *v)
{
    double sum = 0;
    for (uint64_t i = 0; i < shape_count(&v->shape); i++)
        sum += float_at(v, i);
    return sum;
}

START_TEST(test_weights)
{
    const struct fw_graph *g = &load_path(corpus("onnx/first/rfb320/model.onnx"))->graph;
    const struct fw_tensor *t = &g->initializers.data[0];
    ck_assert_str_eq(t->name, "classification_headers.0.0.bias");
    ck_assert_uint_eq(t->view.shape.rank, 1);
    ck_assert_int_eq(t->view.shape.dims[0], 64);
    ck_assert_double_eq(float_at(&t->view, 0), -0.06365496665239334);
    ck_assert_double_eq_tol(float_sum(&t->view), -3.7738351209429766, 1e-9);
    t = &g->initializers.data[111];
    ck_assert_str_eq(t->name, "457");
    ck_assert_int_eq(t->view.dtype, DT_INT64);
    ck_assert_int_eq((int64_t)load_le(t->view.bytes, 8), 1);
    ck_assert_int_eq((int64_t)load_le(t->view.bytes + 8, 8), -1);
    ck_assert_int_eq((int64_t)load_le(t->view.bytes + 16, 8), 4);

    g = &load_path(corpus("onnx/first/transformer-mlm/model.onnx"))->graph;
    ck_assert_str_eq(g->initializers.data[11].name, "onnx::MatMul_270");
    ck_assert_double_eq_tol(float_sum(&g->initializers.data[11].view), 154.30569592118263, 1e-7);
}
END_TEST

START_TEST(test_constant_nodes)
{
    const struct fw_graph *g = &load_path(corpus("onnx/first/ppocr-cls/model.onnx"))->graph;
    const struct fw_node *n = &g->nodes.data[0];
    ck_assert_str_eq(n->op->type, "Constant");
    ck_assert_str_eq(n->outputs[0], "batch_norm_0.b_0");
    const struct fw_attr *a = fw_find_attr(n, "value");
    ck_assert_int_eq(a->kind, FW_TENSOR);
    ck_assert_int_eq(a->tensor->view.shape.dims[0], 8);
    ck_assert_double_eq_tol(float_at(&a->tensor->view, 0), 2.3099253, 1e-6);
    const struct fw_value *x = &g->inputs.data[0];
    ck_assert_str_eq(x->symbols[0], "p2o.DynamicDimension.0");
    ck_assert_int_eq(x->dims[0], DIM_OPEN);
    ck_assert_int_eq(x->dims[1], 3);
}
END_TEST

/* What is wrong with the others of the folder (types, shapes, unknown operators) is for later steps to find. */
static const struct {
    const char *name, *code, *part;
} hostile[] = {
    {"bad_graph_with_dup_value_info.onnx", "onnx-duplicate-value", "value 'inp' is defined twice"},
    {"bad_graph_with_no_import_domains.onnx", "onnx-opset", "no version of that is imported"},
    {"corrupt-model.onnx", "model-wire", "not an ONNX model"},
    {"test_arbitrary_external_file.onnx", "onnx-external-path", "leads out of the model's folder"},
    {"test_evil_weights.onnx", "onnx-external", "cannot open external data '*/_ORT_MEM_ADDR_/*'"},
};

START_TEST(test_hostile)
{
    struct fw_model *m;
    const char *path = corpus(arena_printf(arena, "hostile/%s", hostile[_i].name));
    ck_assert_int_ne(onnx_load(&memory, &diags, &(struct fw_load_options){.input = path}, &m), ODLC_OK);
    ck_assert_str_eq(diags.list.data[0].code, hostile[_i].code);
    ck_assert_msg(strstr(diags.list.data[0].message, hostile[_i].part), "%s", diags.list.data[0].message);
}
END_TEST

/* All of ONNX's own test models load, but for element types and opsets that are not supported. */
START_TEST(test_backend)
{
    char *roots[] = {(char *)(uintptr_t)corpus("onnx-backend"), NULL};
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    size_t loaded = 0, refused = 0;
    for (FTSENT *entry = fts_read(tree); entry; entry = fts_read(tree)) {
        if (entry->fts_info != FTS_F || strcmp(entry->fts_name, "model.onnx") != 0)
            continue;
        const struct fw_memory own = {.kept = arena_create(), .graph = arena_create(), .scratch = arena_create()};
        struct diags said;
        struct fw_model *m;
        diags_init(&said, own.kept);
        odlc_status status = onnx_load(&own, &said, &(struct fw_load_options){.input = entry->fts_path}, &m);
        loaded += status == ODLC_OK;
        refused += status != ODLC_OK;
        for (size_t i = 0; i < said.list.count; i++) {
            const char *code = said.list.data[i].code;
            ck_assert_msg(strcmp(code, "onnx-dtype") == 0 || strcmp(code, "onnx-opset") == 0, "%s: %s", entry->fts_path,
                          said.list.data[i].message);
        }
        arena_destroy(own.scratch);
        arena_destroy(own.graph);
        arena_destroy(own.kept);
    }
    fts_close(tree);
    ck_assert_uint_gt(loaded, 1200);
    ck_assert_uint_lt(refused, 100);
}
END_TEST

int main(void)
{
    setup();
    bool missing = access(corpus("onnx"), R_OK) != 0;
    if (missing)
        printf("SKIP: no real models at %s\n", corpus("onnx"));
    teardown();
    if (missing)
        return 77;
    Suite *suite = suite_create("onnx corpus");
    TCase *tests = tcase_create("models");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, test_counts, 0, COUNT_OF(models));
    tcase_add_test(tests, test_weights);
    tcase_add_test(tests, test_constant_nodes);
    tcase_add_loop_test(tests, test_hostile, 0, COUNT_OF(hostile));
    tcase_add_test(tests, test_backend);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
