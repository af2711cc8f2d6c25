/* SPDX-License-Identifier: Apache-2.0 */
/* The writer: what stands in the records and bytes of a container, checked against the graph it was made from. */
#include "dlc_fixture.h"

#include "base/reader.h"
#include "dlc/schema.h"

static struct dlc_file *read_sample(bool netp)
{
    struct dlc_file *dlc;
    ck_status_ok(dlc_read(arena, &diags, write_sample("sample.dlc", netp), &dlc));
    ck_status_ok(dlc_verify(&diags, dlc, NULL));
    ck_assert_uint_eq(dlc->n_graphs, 1);
    return dlc;
}

static const struct dlc_tensor *tensor(const struct dlc_file *dlc, const char *name)
{
    const struct dlc_tensor *t = dlc_tensor_find(&dlc->graphs[0], name);
    ck_assert_msg(t != NULL, "no tensor %s", name);
    return t;
}

START_TEST(container_and_metadata)
{
    const struct dlc_file *dlc = read_sample(false);
    static const char *const names[] = {"dlc.metadata", "model", "model.params"};
    ck_assert_uint_eq(dlc->n_entries, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(dlc->entries[i].name, names[i]);
    ck_assert_uint_eq(dlc->entries[2].offset % 64, 0);
    ck_assert_uint_eq(dlc->major, 4);
    ck_assert_uint_eq(dlc->minor, 0);
    ck_assert_str_eq(dlc->params_format, "NR64");
    ck_assert_uint_eq(dlc->n_metadata, 5);
    ck_assert_mem_eq(dlc->file->data + dlc->entries[0].offset,
                     "converter-command=onnx-to-dlc a=1\nconverter-version=0.1\nmodel-copyright=N/A\n"
                     "model-version=N/A\nquantizer-command=N/A\n",
                     dlc->entries[0].size);
    ck_assert_str_eq(dlc_metadata(dlc, "converter-command"), "onnx-to-dlc a=1");
    ck_assert_ptr_null(dlc_metadata(dlc, "converter"));
    ck_assert_str_eq(dlc->graphs[0].name, "sample");
}
END_TEST

/* Inputs, tensor params by name, outputs; then the inputs that no op reads. */
START_TEST(ids_follow_first_use)
{
    const struct dlc_file *dlc = read_sample(false);
    static const struct {
        const char *name;
        uint32_t id, kind, format;
    } expected[] = {{"x", 1, KIND_APP_WRITE, 5},    {"table", 2, KIND_STATIC, 8},  {"words", 3, KIND_STATIC, 10},
                    {"ones", 4, KIND_STATIC, 8},    {"empty", 5, KIND_STATIC, 10}, {"y", 9, KIND_NATIVE, 5},
                    {"spare", 10, KIND_NATIVE, 10}, {"z", 12, KIND_APP_READ, 5},   {"unread", 13, KIND_APP_WRITE, 10}};
    ck_assert_uint_eq(dlc->graphs[0].n_tensors, COUNT_OF(expected));
    for (uint32_t i = 0; i < COUNT_OF(expected); i++) {
        const struct dlc_tensor *t = &dlc->graphs[0].tensors[i];
        ck_assert_str_eq(t->name, expected[i].name);
        ck_assert_uint_eq(t->id, expected[i].id);
        ck_assert_uint_eq(t->kind, expected[i].kind);
        ck_assert_uint_eq(t->axis_format, expected[i].format);
    }
    ck_assert_uint_eq(dlc_attr_find(&dlc->graphs[0].ops[0], "modes")->tensor->id, 6);
    ck_assert_uint_eq(dlc_attr_find(&dlc->graphs[0].ops[0], "offsets")->tensor->id, 7);
    ck_assert_uint_eq(dlc_attr_find(&dlc->graphs[0].ops[0], "weights")->tensor->id, 8);
    ck_assert_uint_eq(dlc_attr_find(&dlc->graphs[0].ops[1], "perm")->tensor->id, 11);
}
END_TEST

START_TEST(tensors_carry_their_types)
{
    const struct dlc_file *dlc = read_sample(false);
    const struct dlc_tensor *x = tensor(dlc, "x"), *table = tensor(dlc, "table"), *y = tensor(dlc, "y");
    ck_assert_uint_eq(x->dtype_code, 0x0232);
    ck_assert(x->is_quantizable);
    ck_assert_uint_eq(x->encoding, 0x7FFFFFFF);
    ck_assert_ptr_null(x->quant);
    ck_assert_uint_eq(table->dtype_code, 0x0216);
    ck_assert(shape_equal(table->shape, &SHAPE(3, 2)));
    ck_assert_uint_eq(tensor(dlc, "spare")->dtype_code, 0x0108);
    ck_assert(!tensor(dlc, "spare")->is_quantizable);
    ck_assert_uint_eq(tensor(dlc, "words")->dtype_code, 0x0608);
    ck_assert_uint_eq(y->encoding, 0);
    ck_assert_uint_eq(y->quant->count, 1);
    ck_assert_double_eq(y->quant->encodings[0].scale, 0.25);
    ck_assert_int_eq(y->quant->encodings[0].offset, -128);
}
END_TEST

/* Permuted and converted on the way in: [[1.5,-2,3],[4,5,6.25]] transposed, as halves. */
static void check_payloads(const struct dlc_file *dlc)
{
    static const uint16_t halves[] = {0x3E00, 0x4400, 0xC000, 0x4500, 0x4200, 0x4640};
    static const int32_t ones[] = {1, 1, 1, 1};
    const struct dlc_tensor *table = tensor(dlc, "table"), *words = tensor(dlc, "words");
    ck_assert_mem_eq(table->view->bytes, halves, sizeof halves);
    ck_assert_mem_eq(tensor(dlc, "ones")->view->bytes, ones, sizeof ones);
    ck_assert(tensor(dlc, "empty")->view);
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(words->view->strings[i], sample_words[i]);
    const struct dlc_op *op = &dlc->graphs[0].ops[0];
    static const int32_t offsets[] = {-1, 0, 7, 2147483647};
    static const uint16_t weights[] = {0x3800, 0xBD00};
    ck_assert_mem_eq(dlc_attr_find(op, "offsets")->tensor->view->bytes, offsets, sizeof offsets);
    ck_assert_mem_eq(dlc_attr_find(op, "weights")->tensor->view->bytes, weights, sizeof weights);
    ck_assert_str_eq(dlc_attr_find(op, "modes")->tensor->view->strings[1], "größer");
    const uint8_t *entry = dlc->file->data + dlc->entries[2].offset;
    ck_assert_uint_eq((size_t)(table->view->bytes - entry) % 16, 0);
    ck_assert_uint_eq((size_t)(dlc_attr_find(op, "offsets")->tensor->view->bytes - entry) % 16, 0);
}

START_TEST(payloads_in_buffers)
{
    check_payloads(read_sample(false));
}
END_TEST

START_TEST(payloads_inline)
{
    const struct dlc_file *dlc = read_sample(true);
    ck_assert_str_eq(dlc->params_format, "NETP");
    check_payloads(dlc);
}
END_TEST

/* The length in front of a payload: 64 bits in NR64, 32 in NETP. */
START_TEST(lengths_stand_before_payloads)
{
    const uint8_t *nr64 = tensor(read_sample(false), "table")->view->bytes;
    ck_assert_uint_eq(load_le(nr64 - 8, 8), 12);
    const uint8_t *netp = tensor(read_sample(true), "table")->view->bytes;
    ck_assert_uint_eq(load_le(netp - 4, 4), 12);
}
END_TEST

START_TEST(attributes_of_a_user_defined_op)
{
    const struct dlc_file *dlc = read_sample(false);
    const struct dlc_op *op = &dlc->graphs[0].ops[0];
    static const char *const names[] = {"alpha", "count",   "flag",        "label",
                                        "modes", "offsets", "packageName", "weights"};
    ck_assert_str_eq(op->type, "Blend");
    ck_assert_str_eq(op->name, "blend");
    ck_assert_uint_eq(op->n_attrs, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        ck_assert_str_eq(op->attrs[i].name, names[i]);
    ck_assert_double_eq(dlc_attr_find(op, "alpha")->f, 0.2);
    ck_assert_uint_eq(dlc_attr_find(op, "alpha")->dtype_code, 0x0232);
    ck_assert_int_eq(dlc_attr_find(op, "count")->i, -5000000000);
    ck_assert_int_eq(dlc_attr_find(op, "flag")->kind, DLC_BOOL);
    ck_assert_str_eq(dlc_attr_find(op, "label")->s, "a \"label\"");
    ck_assert_uint_eq(dlc_attr_find(op, "label")->usage, 2);
    ck_assert_uint_eq(dlc_attr_find(op, "label")->dtype_code, 0x7FFFFFFF);
    ck_assert_str_eq(dlc_attr_find(op, "packageName")->s, "MyPack");
    ck_assert_str_eq(dlc_attr_find(op, "offsets")->tensor->name, "blend_offsets");
    ck_assert_uint_eq(dlc_attr_find(op, "offsets")->tensor->axis_format, 8);
    ck_assert_str_eq(op->inputs[2], "");
    ck_assert_str_eq(dlc_attr_find(&dlc->graphs[0].ops[1], "packageName")->s, "qti.aisw");
}
END_TEST

START_TEST(selector_names_the_op)
{
    struct graph *g = sample_graph(arena);
    const struct op *add = op_find("ElementWiseAdd");
    tensor_id in[] = {graph_find_tensor(g, "z"), graph_find_tensor(g, "z")};
    tensor_id out = graph_add_tensor(g, "twice", TENSOR_OUTPUT, graph_tensor(g, in[0])->type);
    vec_push(arena, &g->order, graph_add_node(g, add, add->n_params, "sum", in, 2, &out, 1));
    vec_push(arena, &g->outputs, out);
    const char *path = in_folder("sum.dlc");
    struct dlc_file *dlc;
    ck_status_ok(dlc_write(arena, &diags, g, path, &(struct dlc_write_options){.netp = false}));
    ck_status_ok(dlc_read(arena, &diags, path, &dlc));
    const struct dlc_op *op = &dlc->graphs[0].ops[2];
    ck_assert_str_eq(op->type, "Eltwise_Binary");
    ck_assert_str_eq(dlc_attr_find(op, "eltwise_type")->s, "ElementWiseAdd");
    ck_assert_uint_eq(dlc_attr_find(op, "eltwise_type")->usage, 2);
    ck_assert_str_eq(dlc_metadata(dlc, "converter-version"), "N/A");
}
END_TEST

static void expect_refusal(struct graph *g, const char *message)
{
    const char *path = in_folder("refused.dlc");
    ck_assert_int_eq(dlc_write(arena, &diags, g, path, &(struct dlc_write_options){.netp = false}),
                     ODLC_ERR_UNSUPPORTED);
    ck_assert_str_eq(last_diag()->message, message);
    ck_assert_int_ne(access(path, F_OK), 0);
}

START_TEST(values_that_do_not_fit)
{
    static const int64_t wide[] = {0, 1, 2, 2147483648};
    struct graph *g = sample_graph(arena);
    set_param(g, graph_node(g, 0), (struct param){.name = "offsets", .shape = SHAPE(4), .ints = wide});
    expect_refusal(g, "element 3 of param offsets does not fit int32");
    g = sample_graph(arena);
    set_param(g, graph_node(g, 0), (struct param){.name = "flag", .i = 2});
    expect_refusal(g, "the value of param flag cannot be stored as bool");
}
END_TEST

START_TEST(graphs_that_a_container_cannot_say)
{
    struct graph *g = sample_graph(arena);
    vec_push(arena, &g->outputs, graph_find_tensor(g, "x"));
    expect_refusal(g, "output x of the graph is at the same time an input");
    g = sample_graph(arena);
    vec_push(arena, &g->outputs, graph_find_tensor(g, "ones"));
    expect_refusal(g, "output ones of the graph is at the same time a constant");
    g = sample_graph(arena);
    graph_set_dtype(g, graph_find_tensor(g, "y"), DT_BFLOAT16);
    expect_refusal(g, "tensor y is of type bfloat16, which containers do not have");
}
END_TEST

START_TEST(line_breaks_stay_out_of_the_metadata)
{
    const char *path = in_folder("lines.dlc");
    struct dlc_file *dlc;
    struct dlc_write_options options = {.model_copyright = "one\ntwo\r\nmodel-version=9"};
    ck_status_ok(dlc_write(arena, &diags, sample_graph(arena), path, &options));
    ck_status_ok(dlc_read(arena, &diags, path, &dlc));
    ck_assert_str_eq(dlc_metadata(dlc, "model-copyright"), "one two  model-version=9");
    ck_assert_str_eq(dlc_metadata(dlc, "model-version"), "N/A");
}
END_TEST

START_TEST(per_axis_encodings)
{
    static const struct encoding encodings[] = {{.bitwidth = 8, .min = -1, .max = 0.5, .scale = 0.5, .offset = -2},
                                                {.bitwidth = 4, .scale = 2, .symmetric = true}};
    static const struct quant quant = {
        .per_axis = true, .axis = 1, .count = 2, .encodings = encodings, .overridden = true};
    struct graph *g = sample_graph(arena);
    struct dlc_file *dlc;
    graph_tensor(g, graph_find_tensor(g, "table"))->quant = &quant; /* [3,2] */
    const char *path = in_folder("axis.dlc");
    ck_status_ok(dlc_write(arena, &diags, g, path, &(struct dlc_write_options){.netp = false}));
    ck_status_ok(dlc_read(arena, &diags, path, &dlc));
    const struct dlc_tensor *t = tensor(dlc, "table");
    ck_assert_uint_eq(t->encoding, 1);
    ck_assert(t->quant->per_axis && t->quant->overridden);
    ck_assert_uint_eq(t->quant->axis, 1);
    ck_assert_uint_eq(t->quant->count, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(t->quant->encodings[i].bitwidth, encodings[i].bitwidth);
        ck_assert_double_eq(t->quant->encodings[i].min, encodings[i].min);
        ck_assert_double_eq(t->quant->encodings[i].max, encodings[i].max);
        ck_assert_double_eq(t->quant->encodings[i].scale, encodings[i].scale);
        ck_assert_int_eq(t->quant->encodings[i].offset, encodings[i].offset);
        ck_assert(t->quant->encodings[i].symmetric == encodings[i].symmetric);
    }
}
END_TEST

/* The model shrinks while its weights are streamed: an error, the older output unharmed, nothing left beside it. */
START_TEST(failure_leaves_the_older_file)
{
    static const uint8_t weights[16384];
    const char *model = in_folder("model.bin"), *path = in_folder("out.dlc");
    struct file *file;
    struct graph *g = sample_graph(arena);
    write_all(path, "older", 5);
    write_all(model, weights, sizeof weights);
    ck_status_ok(file_map(arena, &diags, model, &file));
    struct view view = view_of(file->data, DT_FLOAT32, &SHAPE(4096));
    view.file = file;
    tensor_id big = graph_add_constant(g, "big", DT_FLOAT32, &view);
    graph_node(g, 0)->inputs[2] = big;
    ck_assert_int_eq(truncate(model, 0), 0);
    ck_assert_int_eq(dlc_write(arena, &diags, g, path, &(struct dlc_write_options){.netp = false}), ODLC_ERR_IO);
    ck_assert_str_eq(last_diag()->message, "cannot read the data of tensor big");
    arena_destroy(arena);
    arena = arena_create();
    size_t size;
    ck_assert_mem_eq(read_all(in_folder("out.dlc"), &size), "older", 5);
    ck_assert_int_eq(system(arena_printf(arena, "test \"$(ls %s | wc -l)\" = 2", folder)), 0);
}
END_TEST

START_TEST(inline_bytes_end_at_2_gib)
{
    struct graph *g = sample_graph(arena);
    struct view zeros = view_splat_float(arena, DT_FLOAT32, &SHAPE(1 << 15, 1 << 14), 0); /* exactly 2 GiB */
    graph_node(g, 0)->inputs[2] = graph_add_constant(g, "big", DT_FLOAT32, &zeros);
    struct dlc_write_options options = {.netp = true};
    ck_assert_int_eq(dlc_write(arena, &diags, g, in_folder("big.dlc"), &options), ODLC_ERR_LIMIT);
    ck_assert_str_eq(last_diag()->message, "the weights do not fit the NETP format, which ends at 2 GiB");
    ck_assert_ptr_nonnull(last_diag()->hint);
}
END_TEST

START_TEST(same_input_same_bytes)
{
    for (int netp = 0; netp < 2; netp++) {
        size_t a, b;
        const uint8_t *first = read_all(write_sample("a.dlc", netp), &a);
        const uint8_t *second = read_all(write_sample("b.dlc", netp), &b);
        ck_assert_uint_eq(a, b);
        ck_assert_mem_eq(first, second, a);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {container_and_metadata,
                                  ids_follow_first_use,
                                  tensors_carry_their_types,
                                  payloads_in_buffers,
                                  payloads_inline,
                                  lengths_stand_before_payloads,
                                  attributes_of_a_user_defined_op,
                                  selector_names_the_op,
                                  values_that_do_not_fit,
                                  graphs_that_a_container_cannot_say,
                                  line_breaks_stay_out_of_the_metadata,
                                  per_axis_encodings,
                                  failure_leaves_the_older_file,
                                  inline_bytes_end_at_2_gib,
                                  same_input_same_bytes};
    return run_tests("write", tests, COUNT_OF(tests));
}
