/* SPDX-License-Identifier: Apache-2.0 */
/* Containers that the writer does not make, put together here: versions 3 and 4.1, and those that are refused. */
#include "dlc_fixture.h"

#include "base/reader.h"
#include "dlc/fb_build.h"
#include "dlc/schema.h"
#include "dlc/zip.h"

struct entry {
    const char *name;
    const void *bytes;
    size_t size;
};

static const char *write_zip(const struct entry *entries, size_t count)
{
    const char *path = in_folder("made.dlc");
    struct zip_writer zip = {.diags = &diags, .path = path};
    ck_status_ok(out_create(arena, &diags, path, &zip.out));
    for (size_t i = 0; i < count; i++) {
        ck_status_ok(zip_begin(&zip, entries[i].name, entries[i].size, 1));
        ck_status_ok(zip_write(&zip, entries[i].bytes, entries[i].size));
        ck_status_ok(zip_end(&zip));
    }
    ck_status_ok(zip_finish(&zip));
    ck_status_ok(out_commit(zip.out));
    return path;
}

static struct entry stream(const char *name, unsigned major, unsigned minor, const struct fb_build *b)
{
    uint8_t *bytes = arena_alloc(arena, STREAM_HEADER + b->out.count);
    store_le(bytes, 2, STREAM_MAGIC);
    store_le(bytes + 2, 2, major);
    store_le(bytes + 4, 2, minor);
    memcpy(bytes + STREAM_HEADER, b->out.data, b->out.count);
    return (struct entry){name, bytes, STREAM_HEADER + b->out.count};
}

static struct dlc_file *read_zip(const struct entry *entries, size_t count)
{
    struct dlc_file *dlc;
    ck_status_ok(dlc_read(arena, &diags, write_zip(entries, count), &dlc));
    ck_status_ok(dlc_verify(&diags, dlc, NULL));
    return dlc;
}

/* ---- version 3 ---- */

static uint32_t put_named(struct fb_build *b, uint32_t ref, const char *name, unsigned type, unsigned slot,
                          struct fb_slot value)
{
    const struct fb_slot slots[] = {FB_REF(SLOT_v3_arg_name), FB_U8(SLOT_v3_arg_type, type), value};
    struct fb_made table = fb_put_table(b, ref, slots, 3);
    fb_put_string(b, fb_slot_ref(b, table, SLOT_v3_arg_name), name);
    return fb_slot_ref(b, table, slot);
}

static void put_float(struct fb_build *b, uint32_t ref, const char *name, float value)
{
    put_named(b, ref, name, ARG_IS_FLOAT, SLOT_v3_arg_float_value, FB_U32(SLOT_v3_arg_float_value, float_bits(value)));
}

static void put_int(struct fb_build *b, uint32_t ref, const char *name, int value)
{
    put_named(b, ref, name, ARG_IS_INT, SLOT_v3_arg_int_value, FB_U32(SLOT_v3_arg_int_value, value));
}

/* The first reference of the nested list. */
static uint32_t put_group(struct fb_build *b, uint32_t ref, const char *name, uint32_t count)
{
    return fb_put_references(b, put_named(b, ref, name, ARG_IS_NESTED, SLOT_v3_arg_args, FB_REF(SLOT_v3_arg_args)),
                             count);
}

static void put_output_dims(struct fb_build *b, uint32_t ref, const uint32_t *dims, uint32_t rank)
{
    uint32_t list = put_group(b, ref, "OutputDims", 1);
    fb_put_words(b, put_named(b, list, "0", ARG_IS_UINTS, SLOT_v3_arg_uints, FB_REF(SLOT_v3_arg_uints)), dims, rank);
}

static void put_encoding(struct fb_build *b, uint32_t ref, const char *name, float delta, float offset)
{
    uint32_t list = put_group(b, ref, name, 3);
    put_float(b, list, "delta", delta);
    put_float(b, list + 4, "offset", offset);
    put_named(b, list + 8, "precision", ARG_IS_UINT, SLOT_v3_arg_uint_value, FB_U32(SLOT_v3_arg_uint_value, 0x208));
}

/* The first reference of the layer's arguments. */
static uint32_t put_layer(struct fb_build *b, uint32_t ref, uint32_t id, const char *type, const char *in,
                          const char *out, uint32_t n_args)
{
    const struct fb_slot slots[] = {FB_U32(SLOT_v3_layer_id, id),  FB_REF(SLOT_v3_layer_name),
                                    FB_REF(SLOT_v3_layer_type),    FB_REF(SLOT_v3_layer_inputs),
                                    FB_REF(SLOT_v3_layer_outputs), FB_REF(SLOT_v3_layer_args)};
    struct fb_made table = fb_put_table(b, ref, slots, COUNT_OF(slots));
    fb_put_string(b, fb_slot_ref(b, table, SLOT_v3_layer_name), arena_printf(arena, "layer_%s", out));
    fb_put_string(b, fb_slot_ref(b, table, SLOT_v3_layer_type), type);
    fb_put_strings(b, fb_slot_ref(b, table, SLOT_v3_layer_inputs), &in, in ? 1 : 0);
    fb_put_strings(b, fb_slot_ref(b, table, SLOT_v3_layer_outputs), &out, 1);
    return fb_put_references(b, fb_slot_ref(b, table, SLOT_v3_layer_args), n_args);
}

/* in ─ Input ─ in ─ Convolutional ─ mid ─ Neuron ─ out, and a Const. */
static struct fb_build network3(void)
{
    static const uint32_t dims[] = {1, 4, 4, 2};
    static const char *const words[] = {"left", "right"};
    struct fb_build b;
    const struct fb_slot root[] = {FB_REF(SLOT_v3_network_layers)};
    struct fb_made table = fb_put_table(&b, fb_start(&b, arena, ID_MODEL), root, 1);
    uint32_t layers = fb_put_references(&b, fb_slot_ref(&b, table, SLOT_v3_network_layers), 4);
    put_output_dims(&b, put_layer(&b, layers, 0, "Input", "in", "in", 1), dims, 4);
    uint32_t args = put_layer(&b, layers + 4, 1, "Convolutional", "in", "mid", 4);
    put_output_dims(&b, args, dims, 4);
    put_int(&b, args + 4, "stride", -2);
    uint32_t old = put_group(&b, args + 8, "FxpData", 1);
    put_encoding(&b, old, "0", 0.5f, -3);
    fb_put_strings(&b,
                   put_named(&b, args + 12, "sides", ARG_IS_STRINGS, SLOT_v3_arg_strings, FB_REF(SLOT_v3_arg_strings)),
                   words, 2);
    put_output_dims(&b, put_layer(&b, layers + 8, 2, "Neuron", "mid", "out", 1), dims, 4);
    put_output_dims(&b, put_layer(&b, layers + 12, 3, "Const", NULL, "const", 1), dims + 3, 1);
    return b;
}

static uint32_t put_layer_params(struct fb_build *b, uint32_t ref, const char *layer)
{
    const struct fb_slot slots[] = {FB_REF(SLOT_v3_layer_params_name), FB_REF(SLOT_v3_layer_params_tensors)};
    struct fb_made table = fb_put_table(b, ref, slots, 2);
    fb_put_string(b, fb_slot_ref(b, table, SLOT_v3_layer_params_name), layer);
    return fb_put_references(b, fb_slot_ref(b, table, SLOT_v3_layer_params_tensors), 1);
}

/* The reference to the tensor's arguments. */
static uint32_t put_tensor3(struct fb_build *b, uint32_t ref, const char *name, const uint32_t *dims, uint32_t rank,
                            const void *bytes, uint32_t size)
{
    const struct fb_slot slots[] = {FB_REF(SLOT_v3_tensor_name), FB_REF(SLOT_v3_tensor_dims),
                                    FB_REF(SLOT_v3_tensor_data), FB_REF(SLOT_v3_tensor_args)};
    const struct fb_slot data[] = {FB_U8(SLOT_v3_data_type, ARG_IS_BYTES), FB_REF(SLOT_v3_data_bytes)};
    struct fb_made table = fb_put_table(b, ref, slots, COUNT_OF(slots));
    fb_put_string(b, fb_slot_ref(b, table, SLOT_v3_tensor_name), name);
    fb_put_words(b, fb_slot_ref(b, table, SLOT_v3_tensor_dims), dims, rank);
    struct fb_made inner = fb_put_table(b, fb_slot_ref(b, table, SLOT_v3_tensor_data), data, 2);
    fb_put_bytes(b, fb_slot_ref(b, inner, SLOT_v3_data_bytes), bytes, size);
    return fb_slot_ref(b, table, SLOT_v3_tensor_args);
}

/* Weights [2,3] with one encoding per column; a constant [2] without encoding. `size`: bytes given to the weights. */
static struct fb_build params3(uint32_t size)
{
    static const uint32_t dims[] = {2, 3};
    struct fb_build b;
    const struct fb_slot root[] = {FB_REF(SLOT_v3_params_layers)};
    struct fb_made table = fb_put_table(&b, fb_start(&b, arena, ID_PARAMS), root, 1);
    uint32_t layers = fb_put_references(&b, fb_slot_ref(&b, table, SLOT_v3_params_layers), 2);
    uint32_t ref = put_tensor3(&b, put_layer_params(&b, layers, "layer_mid"), "weights_0", dims, 2, "abcdefgh", size);
    uint32_t args = fb_put_references(&b, ref, 1);
    uint32_t coded = put_group(&b, put_group(&b, args, "DataEncoding", 1), "0", 2);
    uint32_t list = put_group(&b, coded, "DataEncodingElement", 3);
    for (uint32_t i = 0; i < 3; i++)
        put_encoding(&b, list + 4 * i, arena_printf(arena, "%u", i), 0.25f * (float)(i + 1), -(float)i);
    put_int(&b, coded + 4, "axis", 1);
    ref = put_tensor3(&b, put_layer_params(&b, layers + 4, "layer_const"), "value", dims, 1, "xy", 2);
    fb_put_references(&b, ref, 0);
    return b;
}

static struct dlc_file *read_v3(void)
{
    struct fb_build model = network3(), params = params3(6);
    const struct entry entries[] = {{"dlc.metadata", "model-version=7\n", 16},
                                    stream("model", 3, 0, &model),
                                    stream("model.params", 3, 0, &params)};
    return read_zip(entries, 3);
}

START_TEST(v3_layers_are_ops)
{
    const struct dlc_file *dlc = read_v3();
    const struct dlc_graph *g = &dlc->graphs[0];
    ck_assert_uint_eq(dlc->major, 3);
    ck_assert_str_eq(dlc->params_format, "NETP");
    ck_assert_str_eq(dlc_metadata(dlc, "model-version"), "7");
    ck_assert_uint_eq(g->n_ops, 4);
    ck_assert_uint_eq(g->ops[0].n_inputs, 0);
    const struct dlc_op *conv = &g->ops[1];
    ck_assert_uint_eq(conv->id, 1);
    ck_assert_str_eq(conv->name, "layer_mid");
    ck_assert_str_eq(conv->type, "Convolutional");
    ck_assert_str_eq(conv->inputs[0], "in");
    ck_assert_int_eq(dlc_attr_find(conv, "stride")->kind, DLC_INT);
    ck_assert_int_eq(dlc_attr_find(conv, "stride")->i, -2);
    ck_assert_int_eq(dlc_attr_find(conv, "OutputDims")->kind, DLC_NESTED);
    const struct dlc_tensor *sides = dlc_attr_find(conv, "sides")->tensor;
    ck_assert_int_eq(sides->dtype, DT_STRING);
    ck_assert_int_eq(sides->shape->dims[0], 2);
    ck_assert_str_eq(sides->view->strings[1], "right");
}
END_TEST

START_TEST(v3_tensors_come_from_outputs)
{
    const struct dlc_graph *g = &read_v3()->graphs[0];
    static const struct {
        const char *name;
        uint32_t kind;
    } expected[] = {{"in", KIND_APP_WRITE}, {"mid", KIND_NATIVE}, {"out", KIND_APP_READ}, {"const", KIND_STATIC}};
    ck_assert_uint_eq(g->n_tensors, 4);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_str_eq(g->tensors[i].name, expected[i].name);
        ck_assert_uint_eq(g->tensors[i].kind, expected[i].kind);
    }
    const struct dlc_tensor *mid = dlc_tensor_find(g, "mid");
    ck_assert(shape_equal(mid->shape, &SHAPE(1, 4, 4, 2)));
    ck_assert_int_eq(mid->dtype, DT_UFXP8);
    ck_assert_int_eq(mid->source_dtype, DT_FLOAT32);
    ck_assert_double_eq(mid->quant->encodings[0].scale, 0.5);
    ck_assert_int_eq(mid->quant->encodings[0].offset, -3);
    ck_assert_int_eq(dlc_tensor_find(g, "out")->dtype, DT_FLOAT32);
    ck_assert_mem_eq(dlc_tensor_find(g, "const")->view->bytes, "xy", 2);
}
END_TEST

START_TEST(v3_params_belong_to_layers)
{
    const struct dlc_op *conv = &read_v3()->graphs[0].ops[1];
    ck_assert_uint_eq(conv->n_params, 1);
    const struct dlc_tensor *w = &conv->params[0];
    ck_assert_str_eq(w->name, "weights_0");
    ck_assert(shape_equal(w->shape, &SHAPE(2, 3)));
    ck_assert_mem_eq(w->view->bytes, "abcdef", 6);
    ck_assert(w->quant->per_axis);
    ck_assert_uint_eq(w->quant->axis, 1);
    ck_assert_uint_eq(w->quant->count, 3);
    ck_assert_double_eq(w->quant->encodings[2].scale, 0.75);
    ck_assert_int_eq(w->quant->encodings[2].offset, -2);
    ck_assert_uint_eq(w->quant->encodings[2].bitwidth, 8);
}
END_TEST

static void expect_error(const struct entry *entries, size_t count, odlc_status status, const char *code,
                         const char *message)
{
    struct dlc_file *dlc;
    ck_assert_int_eq(dlc_read(arena, &diags, write_zip(entries, count), &dlc), status);
    ck_assert_str_eq(last_diag()->code, code);
    ck_assert_str_eq(last_diag()->message, message);
}

START_TEST(v3_sizes_must_match)
{
    struct fb_build model = network3(), params = params3(7);
    const struct entry entries[] = {stream("model", 3, 0, &model), stream("model.params", 3, 0, &params)};
    expect_error(entries, 2, ODLC_ERR_INVALID, "dlc-invalid",
                 "tensor weights_0 has 7 bytes of data, ufxp8[2,3] takes 6");
}
END_TEST

START_TEST(v3_is_shown_but_not_executed)
{
    struct graph *g;
    ck_assert_int_eq(dlc_to_ir(arena, &diags, op_registry_new(arena), read_v3(), 0, &g), ODLC_ERR_UNSUPPORTED);
    ck_assert_str_eq(last_diag()->message, "version 3 containers can be shown, but not executed");
}
END_TEST

/* ---- version 4.1 ---- */

/* Constants "c", "d", … of one dimension. */
static struct fb_build network41_of(uint32_t count, uint32_t dtype, uint32_t elements)
{
    struct fb_build b;
    const struct fb_slot root[] = {FB_REF(SLOT_v4_network_graphs)},
                         graph[] = {FB_REF(SLOT_v4_graph_name), FB_REF(SLOT_v4_graph_tensors)};
    const struct fb_slot tensor[] = {FB_U32(SLOT_v4_tensor_id, 1), FB_REF(SLOT_v4_tensor_name),
                                     FB_U32(SLOT_v4_tensor_kind, KIND_STATIC), FB_REF(SLOT_v4_tensor_dims),
                                     FB_U32(SLOT_v4_tensor_dtype, dtype)};
    struct fb_made table = fb_put_table(&b, fb_start(&b, arena, ID_MODEL), root, 1);
    table = fb_put_table(&b, fb_put_references(&b, fb_slot_ref(&b, table, SLOT_v4_network_graphs), 1), graph, 2);
    fb_put_string(&b, fb_slot_ref(&b, table, SLOT_v4_graph_name), "g");
    uint32_t list = fb_put_references(&b, fb_slot_ref(&b, table, SLOT_v4_graph_tensors), count);
    for (uint32_t i = 0; i < count; i++) {
        table = fb_put_table(&b, list + 4 * i, tensor, COUNT_OF(tensor));
        fb_put_string(&b, fb_slot_ref(&b, table, SLOT_v4_tensor_name), (char[]){(char)('c' + i), 0});
        fb_put_words(&b, fb_slot_ref(&b, table, SLOT_v4_tensor_dims), &elements, 1);
    }
    return b;
}

static struct fb_build network41(void)
{
    return network41_of(1, 0x232, 2);
}

/* Their bytes, all the same ones: `size` of model.params.bin from `offset`. */
static struct fb_build params41_of(const char *graph_name, uint32_t count, uint64_t offset, uint64_t size)
{
    struct fb_build b;
    const struct fb_slot root[] = {FB_REF(SLOT_v4_params_graphs)};
    const struct fb_slot graph[] = {FB_REF(SLOT_v4_graph_params_name), FB_REF(SLOT_v4_graph_params_tensors)};
    const struct fb_slot data[] = {FB_REF(SLOT_v4_data_name), FB_U64(SLOT_v4_data_buffer_index, 5),
                                   FB_REF(SLOT_v4_data_position)};
    const struct fb_slot position[] = {FB_U64(SLOT_v4_position_offset, offset), FB_U64(SLOT_v4_position_size, size)};
    struct fb_made table = fb_put_table(&b, fb_start(&b, arena, ID_PARAMS), root, 1);
    table = fb_put_table(&b, fb_put_references(&b, fb_slot_ref(&b, table, SLOT_v4_params_graphs), 1), graph, 2);
    fb_put_string(&b, fb_slot_ref(&b, table, SLOT_v4_graph_params_name), graph_name);
    uint32_t list = fb_put_references(&b, fb_slot_ref(&b, table, SLOT_v4_graph_params_tensors), count);
    for (uint32_t i = 0; i < count; i++) {
        table = fb_put_table(&b, list + 4 * i, data, COUNT_OF(data));
        fb_put_string(&b, fb_slot_ref(&b, table, SLOT_v4_data_name), (char[]){(char)('c' + i), 0});
        fb_put_table(&b, fb_slot_ref(&b, table, SLOT_v4_data_position), position, 2);
    }
    return b;
}

static struct fb_build params41(const char *graph_name, uint64_t offset)
{
    return params41_of(graph_name, 1, offset, 8);
}

static const char metadata41[] =
    "{\"header\": {\"version\": {\"major\": 2}}, \"dlcGenerationInfo\": [{\"converterCommand\": "
    "{\"tool\": \"some-converter\", \"converterVersion\": \"2.47\", \"args\": {\"a\": true}}}]}";

START_TEST(v41_positions)
{
    static const float bin[] = {9, 1.5f, -2};
    struct fb_build model = network41(), params = params41("g", 4);
    const struct entry entries[] = {
        {"model.params.bin", bin, sizeof bin}, stream("model", 4, 1, &model), stream("model.params", 4, 1, &params)};
    const struct dlc_file *dlc = read_zip(entries, 3);
    ck_assert_uint_eq(dlc->minor, 1);
    ck_assert_str_eq(dlc->params_format, "bin");
    const struct dlc_tensor *c = dlc_tensor_find(&dlc->graphs[0], "c");
    ck_assert_mem_eq(c->view->bytes, &bin[1], 8);
    ck_assert_ptr_eq(c->view->file, dlc->file);
}
END_TEST

START_TEST(v41_metadata)
{
    struct fb_build model = network41();
    const struct entry entries[] = {{"dlc.metadata2.2.0", metadata41, sizeof metadata41 - 1},
                                    stream("model", 4, 1, &model)};
    struct dlc_file *dlc;
    ck_status_ok(dlc_read(arena, &diags, write_zip(entries, 2), &dlc));
    ck_assert_str_eq(dlc->params_format, "none");
    ck_assert_str_eq(dlc_metadata(dlc, "header.version.major"), "2");
    ck_assert_str_eq(dlc_metadata(dlc, "dlcGenerationInfo.0.converterCommand.args.a"), "true");
    ck_assert_str_eq(dlc_metadata(dlc, "converter-version"), "2.47");
    ck_assert_int_eq(dlc_verify(&diags, dlc, NULL), ODLC_ERR_INVALID);
    ck_assert_str_eq(last_diag()->message, "there is no data for static tensor c");
    const struct entry broken[] = {{"dlc.metadata2.2.0", "{\"a\":", 5}, entries[1]};
    expect_error(broken, 2, ODLC_ERR_INVALID, "dlc-invalid", "entry dlc.metadata2.2.0 is not valid JSON");
}
END_TEST

START_TEST(model_and_params_must_agree)
{
    struct fb_build model = network41(), other = params41("h", 0), beyond = params41("g", 1);
    struct entry entries[] = {
        stream("model", 4, 1, &model), stream("model.params", 4, 1, &other), {"model.params.bin", "12345678", 8}};
    expect_error(entries, 3, ODLC_ERR_INVALID, "dlc-invalid", "model has graph g where model.params has h");
    entries[1] = stream("model.params", 4, 1, &beyond);
    expect_error(entries, 3, ODLC_ERR_INVALID, "dlc-invalid", "the data of tensor c lie outside model.params.bin");
}
END_TEST

/* ---- refused ---- */

/* A million empty strings take a byte each in the file, and a pointer in memory: two tensors may share them, not three.
 * Numbers stay where they are, however many tensors share them. */
START_TEST(shared_strings_are_limited)
{
    enum { SIZE = 1 << 20, STRINGS = 0x608, BYTES = 0x108 };
    uint8_t *bin = arena_alloc(arena, SIZE);
    for (uint32_t count = 2; count <= 3; count++) {
        struct fb_build strings = network41_of(count, STRINGS, SIZE), bytes = network41_of(count, BYTES, SIZE),
                        params = params41_of("g", count, 0, SIZE);
        struct entry entries[] = {
            {"model.params.bin", bin, SIZE}, stream("model", 4, 1, &bytes), stream("model.params", 4, 1, &params)};
        read_zip(entries, 3);
        entries[1] = stream("model", 4, 1, &strings);
        if (count == 2)
            read_zip(entries, 3);
        else
            expect_error(entries, 3, ODLC_ERR_LIMIT, "dlc-shared-data",
                         "strings and attributes share data so often that they would take far more memory than the "
                         "file");
    }
}
END_TEST

START_TEST(version_2_is_named)
{
    const struct entry entry = {"model", "\xD5\x0A\2\0\0\0\0\0 and so on", 19};
    expect_error(&entry, 1, ODLC_ERR_UNSUPPORTED, "dlc-version-2",
                 "this is a version 2 container, whose layout is not documented");
}
END_TEST

START_TEST(unknown_versions_and_streams)
{
    struct fb_build model = network41();
    struct entry entry = stream("model", 5, 3, &model);
    expect_error(&entry, 1, ODLC_ERR_UNSUPPORTED, "dlc-version", "this is a version 5.3 container, which is not known");
    entry = (struct entry){"weights", "abc", 3};
    expect_error(&entry, 1, ODLC_ERR_INVALID, "dlc-not-a-container",
                 "not a DLC container: the zip has no entry named model");
    entry = (struct entry){"model", "not a stream at all", 19};
    expect_error(&entry, 1, ODLC_ERR_INVALID, "dlc-not-a-container", "entry model does not start with a stream header");
    memcpy(model.out.data + 4, "ABCD", 4);
    entry = stream("model", 4, 0, &model);
    expect_error(&entry, 1, ODLC_ERR_INVALID, "dlc-invalid", "entry model is not identified as NETD");
}
END_TEST

START_TEST(metadata_lines)
{
    struct fb_build model = network41();
    const struct entry entries[] = {{"dlc.metadata", "a=b=c\n\nno equals\n", 17}, stream("model", 4, 0, &model)};
    expect_error(entries, 2, ODLC_ERR_INVALID, "dlc-invalid", "a line of dlc.metadata is not of the form key=value");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {v3_layers_are_ops,   v3_tensors_come_from_outputs, v3_params_belong_to_layers,
                                  v3_sizes_must_match, v3_is_shown_but_not_executed, v41_positions,
                                  v41_metadata,        model_and_params_must_agree,  shared_strings_are_limited,
                                  version_2_is_named,  unknown_versions_and_streams, metadata_lines};
    return run_tests("versions", tests, COUNT_OF(tests));
}
