/* SPDX-License-Identifier: Apache-2.0 */
/* The real containers of the shared corpus: what its README says of each. */
#include "dlc_fixture.h"

#include "dlc/schema.h"

static const char *corpus(void)
{
    const char *shared = getenv("ODLC_SHARED");
    return shared ? shared : SOURCE_ROOT "/../shared";
}

static struct dlc_file *read_real(const char *name)
{
    struct dlc_file *dlc;
    ck_status_ok(dlc_read(arena, &diags, arena_printf(arena, "%s/corpus/dlc/%s", corpus(), name), &dlc));
    ck_status_ok(dlc_verify(&diags, dlc, NULL));
    ck_assert_uint_eq(dlc->n_graphs, 1);
    return dlc;
}

static uint32_t count_ops(const struct dlc_graph *g, const char *type)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_ops; i++)
        n += strcmp(g->ops[i].type, type) == 0;
    return n;
}

static uint32_t count_kind(const struct dlc_graph *g, uint32_t kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        n += g->tensors[i].kind == kind;
    return n;
}

static void check_version(const struct dlc_file *dlc, uint32_t major, uint32_t minor, const char *params)
{
    ck_assert_uint_eq(dlc->major, major);
    ck_assert_uint_eq(dlc->minor, minor);
    ck_assert_str_eq(dlc->params_format, params);
}

static void check_add2(const struct dlc_file *dlc, uint32_t dtype)
{
    static const uint32_t kinds[] = {KIND_APP_WRITE, KIND_STATIC, KIND_APP_READ};
    static const char *const names[] = {"input", "add/y", "Identity"};
    const struct dlc_graph *g = &dlc->graphs[0];
    check_version(dlc, 4, 0, "NR64");
    ck_assert_str_eq(g->name, "model");
    ck_assert_uint_eq(g->n_ops, 1);
    ck_assert_str_eq(g->ops[0].type, "Eltwise_Binary");
    ck_assert_str_eq(dlc_attr_find(&g->ops[0], "eltwise_type")->s, "ElementWiseAdd");
    ck_assert_str_eq(dlc_attr_find(&g->ops[0], "packageName")->s, "qti.aisw");
    ck_assert_uint_eq(g->n_tensors, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_str_eq(g->tensors[i].name, names[i]);
        ck_assert_uint_eq(g->tensors[i].kind, kinds[i]);
        ck_assert_uint_eq(g->tensors[i].dtype_code, dtype);
        ck_assert(shape_equal(g->tensors[i].shape, &SHAPE(1)));
    }
    ck_assert_str_eq(dlc_metadata(dlc, "converter-version"), "2.18.0.231229151826_79175");
}

START_TEST(add2_float)
{
    const struct dlc_file *dlc = read_real("add2_float.v2.dlc");
    float y;
    check_add2(dlc, 0x0232);
    memcpy(&y, dlc_tensor_find(&dlc->graphs[0], "add/y")->view->bytes, 4);
    ck_assert_float_eq(y, 2.0f);
    ck_assert_str_eq(dlc_metadata(dlc, "quantizer-command"), "N/A");
}
END_TEST

START_TEST(add2_uint8)
{
    const struct dlc_file *dlc = read_real("add2_uint8.v2.dlc");
    check_add2(dlc, 0x0408);
    ck_assert_str_ne(dlc_metadata(dlc, "quantizer-command"), "N/A");
    for (uint32_t i = 0; i < 3; i++) {
        const struct dlc_tensor *t = &dlc->graphs[0].tensors[i];
        ck_assert_ptr_nonnull(t->quant);
        ck_assert_uint_eq(t->quant->encodings[0].bitwidth, 8);
        ck_assert_int_eq(t->source_dtype, DT_FLOAT32);
    }
    /* (255 + 0) * 2/255 = 2 */
    const struct dlc_tensor *y = dlc_tensor_find(&dlc->graphs[0], "add/y");
    ck_assert_uint_eq(y->view->bytes[0], 255);
    ck_assert_double_eq_tol(y->quant->encodings[0].scale, 2.0 / 255, 1e-8);
}
END_TEST

START_TEST(zipformer)
{
    static const struct {
        const char *type;
        uint32_t count;
    } ops[] = {{"Transpose", 4}, {"Reshape", 3}, {"Neuron", 2}, {"Eltwise_Binary", 2},
               {"Gather", 1},    {"Cast", 1},    {"Conv2d", 1}, {"FullyConnected", 1}};
    const struct dlc_file *dlc = read_real("zipformer-decoder.v4.0.dlc");
    const struct dlc_graph *g = &dlc->graphs[0];
    check_version(dlc, 4, 0, "NR64");
    ck_assert_str_eq(g->name, "decoder-epoch-4-avg-1.fix");
    ck_assert_uint_eq(g->n_ops, 15);
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        ck_assert_uint_eq(count_ops(g, ops[i].type), ops[i].count);
    ck_assert_uint_eq(g->n_tensors, 21);
    ck_assert_uint_eq(count_kind(g, KIND_NATIVE), 14);
    uint64_t elements = 0;
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].kind == KIND_STATIC)
            elements += shape_count(g->tensors[i].shape);
    ck_assert_uint_eq(elements, 522753);
    ck_assert(shape_equal(dlc_tensor_find(g, "y")->shape, &SHAPE(1, 2)));
    ck_assert_int_eq(dlc_tensor_find(g, "y")->dtype, DT_INT32);
    ck_assert(shape_equal(dlc_tensor_find(g, "decoder_out")->shape, &SHAPE(1, 512)));
    ck_assert_uint_eq(dlc_tensor_find(g, "decoder_out")->kind, KIND_APP_READ);
    ck_assert_int_eq(dlc_tensor_find(g, "/decoder/GreaterOrEqual_output_0")->dtype, DT_BOOL);
    ck_assert_uint_eq(dlc_tensor_find(g, "decoder.conv.weight")->axis_format, AXIS_FORMAT_HWIO);
}
END_TEST

START_TEST(block_32)
{
    const struct dlc_file *dlc = read_real("block_32_quantized.v4.1.dlc");
    const struct dlc_graph *g = &dlc->graphs[0];
    check_version(dlc, 4, 1, "bin");
    ck_assert_str_eq(g->name, "block_32");
    ck_assert_uint_eq(g->n_ops, 1);
    ck_assert_uint_eq(count_ops(g, "MatMul"), 1);
    ck_assert_uint_eq(dlc->n_entries, 4);
    for (uint32_t i = 0; i < dlc->n_entries; i++)
        ck_assert_uint_eq(dlc->entries[i].crc, 0);
    const struct dlc_tensor *lhs = dlc_tensor_find(g, "lhs"), *rhs = dlc_tensor_find(g, "rhs");
    ck_assert(shape_equal(lhs->shape, &SHAPE(1, 1, 128, 256)));
    ck_assert_uint_eq(lhs->kind, KIND_APP_WRITE);
    ck_assert_int_eq(lhs->dtype, DT_FLOAT16);
    ck_assert(shape_equal(dlc_tensor_find(g, "output")->shape, &SHAPE(1, 1, 128, 256)));
    ck_assert_uint_eq(shape_count(rhs->shape), 65536);
    /* Half of its 262144 bytes are its elements. */
    ck_assert_int_eq(rhs->view->dtype, DT_FLOAT16);
    ck_assert_uint_eq(view_size(rhs->view, rhs->view->dtype), 131072);
    ck_assert_uint_eq(diags.warnings, 1);
    ck_assert_ptr_nonnull(
        strstr(last_diag()->message, "262144 bytes of data where Float_16 [1,1,256,256] takes 131072"));
    ck_assert_str_eq(dlc_metadata(dlc, "converter-version"), "2.47.0.260601114230");
}
END_TEST

START_TEST(selu_udo)
{
    const struct dlc_file *dlc = read_real("selu-udo.v3.dlc");
    const struct dlc_graph *g = &dlc->graphs[0];
    check_version(dlc, 3, 0, "NETP");
    ck_assert_uint_eq(g->n_ops, 7);
    ck_assert_uint_eq(count_ops(g, "FullyConnected"), 2);
    const struct dlc_op *udo = &g->ops[6];
    ck_assert_str_eq(udo->name, "StatefulPartitionedCall/sequential/output/Selu");
    ck_assert_str_eq(udo->type, "UDO");
    ck_assert_str_eq(dlc_attr_find(udo, "udo_type")->s, "Selu");
    ck_assert_str_eq(dlc_attr_find(udo, "package_name")->s, "SeluUdoPackage");
    const struct dlc_op *conv = &g->ops[1];
    ck_assert_uint_eq(conv->n_params, 2);
    ck_assert_str_eq(conv->params[1].name, "weights_0");
    ck_assert(shape_equal(conv->params[1].shape, &SHAPE(3, 3, 1, 28)));
    ck_assert_int_eq(conv->params[1].dtype, DT_FLOAT32);
    ck_assert(shape_equal(dlc_tensor_find(g, udo->outputs[0])->shape, &SHAPE(1, 10)));
    ck_assert_uint_eq(dlc_tensor_find(g, udo->outputs[0])->kind, KIND_APP_READ);
    ck_assert_str_eq(dlc_metadata(dlc, "converter-version"), "1.51.0.2663");
}
END_TEST

START_TEST(test_abs)
{
    const struct dlc_file *dlc = read_real("test_abs_q.v3.dlc");
    const struct dlc_graph *g = &dlc->graphs[0];
    ck_assert_uint_eq(g->n_ops, 2);
    ck_assert_str_eq(g->ops[1].type, "ElementwiseUnaryOp");
    const struct dlc_tensor *x = dlc_tensor_find(g, "x");
    ck_assert(shape_equal(x->shape, &SHAPE(3, 4, 5)));
    ck_assert_int_eq(x->dtype, DT_UFXP8);
    ck_assert_int_eq(x->quant->encodings[0].offset, -125);
    ck_assert_double_eq_tol(x->quant->encodings[0].min, -23.039215, 1e-5);
}
END_TEST

START_TEST(mobilenet)
{
    static const struct {
        const char *type;
        uint32_t count;
    } layers[] = {{"Neuron", 41},  {"Convolutional", 34},  {"ElementwiseBinaryOp", 24},
                  {"Permute", 18}, {"FullyConnected", 18}, {"Pooling", 9},
                  {"Const", 9},    {"Reshape", 9},         {"Input", 1}};
    const struct dlc_file *dlc = read_real("mobilenetv3-htp-cache.v3.dlc");
    const struct dlc_graph *g = &dlc->graphs[0];
    ck_assert_uint_eq(g->n_ops, 163);
    for (size_t i = 0; i < COUNT_OF(layers); i++)
        ck_assert_uint_eq(count_ops(g, layers[i].type), layers[i].count);
    ck_assert_str_eq(dlc->entries[0].name, "backend.metadata0");
    ck_assert_uint_eq(count_kind(g, KIND_STATIC), 9);
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_params; k++)
            ck_assert_int_eq(g->ops[i].params[k].dtype, DT_UFXP8);
}
END_TEST

/* A real graph through IR and writer, and back: the same graph with the same weights. */
START_TEST(zipformer_written_again)
{
    static const char *const names[] = {"decoder.conv.weight", "decoder.embedding.weight", "decoder_proj.bias",
                                        "decoder_proj.weight_permute", "/decoder/Constant_output_0"};
    const struct dlc_file *real = read_real("zipformer-decoder.v4.0.dlc");
    struct dlc_file *ours;
    struct graph *g;
    const char *path = in_folder("again.dlc");
    ck_status_ok(dlc_to_ir(arena, &diags, op_registry_new(arena), real, 0, &g));
    ck_assert_uint_eq(diags.warnings, 0);
    ck_status_ok(dlc_write(arena, &diags, g, path, &(struct dlc_write_options){.netp = false}));
    ck_status_ok(dlc_read(arena, &diags, path, &ours));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct dlc_tensor *a = dlc_tensor_find(&real->graphs[0], names[i]),
                                *b = dlc_tensor_find(&ours->graphs[0], names[i]);
        ck_assert_uint_eq(a->axis_format, b->axis_format);
        ck_assert_mem_eq(a->view->bytes, b->view->bytes, view_size(a->view, a->dtype));
    }
    for (uint32_t i = 0; i < 15; i++) {
        const struct dlc_op *a = &real->graphs[0].ops[i], *b = &ours->graphs[0].ops[i];
        ck_assert_str_eq(a->name, b->name);
        ck_assert_str_eq(a->type, b->type);
        for (uint32_t k = 0; k < a->n_attrs; k++)
            ck_assert_msg(dlc_attr_find(b, a->attrs[k].name) != NULL, "%s has lost %s", a->name, a->attrs[k].name);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {add2_float, add2_uint8, zipformer, block_32,
                                  selu_udo,   test_abs,   mobilenet, zipformer_written_again};
    char path[4096];
    snprintf(path, sizeof path, "%s/corpus/dlc", corpus());
    if (access(path, R_OK) != 0) {
        printf("skipped: there is no %s\n", path);
        return 77;
    }
    return run_tests("corpus", tests, COUNT_OF(tests));
}
