/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a model: map, check the bytes, decode, inline, check names. Problems are collected over each step; a step
 * that found some ends the work, because later ones would only repeat them in other words. */
#include "converters/onnx/decode/onnx_load.h"

#include <inttypes.h>

#include "base/file_kind.h"
#include "converters/onnx/decode/check_names.h"
#include "converters/onnx/decode/external_data.h"
#include "converters/onnx/decode/onnx_functions.h"
#include "converters/onnx/decode/onnx_tensor.h"
#include "onnx.pb-c.h"

#define ONNX_MIN_IR 1
#define ONNX_MAX_IR 13

/* Files of older IR versions do not say which opset they use: there was only the first. */
#define ONNX_FIRST_IR_WITH_OPSETS 3

static const struct wire_schema onnx_schema = {
    .what = "an ONNX model",
    .form = "ONNX's protobuf form",
    .tensor = &onnx__tensor_proto__descriptor,
    .elements = {{TENSOR_FLOAT_DATA, WIRE_FIXED32},
                 {TENSOR_DOUBLE_DATA, WIRE_FIXED64},
                 {TENSOR_INT32_DATA, WIRE_VARINT},
                 {TENSOR_INT64_DATA, WIRE_VARINT},
                 {TENSOR_UINT64_DATA, WIRE_VARINT},
                 {TENSOR_RAW_DATA, WIRE_BYTES}},
};

static odlc_status outcome(struct decode *d)
{
    if (d->unreported > 0)
        diag_note(d->diags, AT(IN_MODEL(d)), "onnx-more", "%zu more errors are not listed", d->unreported);
    return d->status;
}

static odlc_status check_header(struct decode *d, const struct sections *model)
{
    const char *hint = file_kind_hint(d->diags->arena, d->file->data, d->file->size, onnx_schema.what,
                                      "give a model that was saved in ONNX's protobuf form (.onnx)");
    int64_t version = d->model->ir_version;
    if (d->file->size == 0)
        return decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .hint = hint), "onnx-empty",
                            "not an ONNX model: the file is empty");
    if (model->of[MODEL_GRAPH].count == 0)
        return decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .hint = hint), "onnx-no-graph",
                            "not an ONNX model: it holds no graph");
    if (version < ONNX_MIN_IR)
        return decode_error(d, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(d)), "onnx-ir-version",
                            "the model has IR version %" PRId64 ", older than the oldest supported one, %d", version,
                            ONNX_MIN_IR);
    if (version > ONNX_MAX_IR)
        diag_warn(d->diags, AT(IN_MODEL(d)), "onnx-ir-version",
                  "the model has IR version %" PRId64 ", newer than the newest known one, %d", version, ONNX_MAX_IR);
    return ODLC_OK;
}

static odlc_status decode_model(struct decode *d, const struct sections *s, const struct fw_load_options *options)
{
    struct fw_model *model = d->model;
    struct opsets opsets = {0};
    struct wire_field graph = {0};
    struct wire w = wire_section(d->file, s, MODEL_GRAPH);
    if (s->of[MODEL_OPSET_IMPORT].count > 0 || model->ir_version >= ONNX_FIRST_IR_WITH_OPSETS)
        decode_opsets(d, s, MODEL_OPSET_IMPORT, &opsets);
    else
        assume_opset(d, 1, &opsets);
    model->opset = opsets_version(&opsets, "");
    struct function *functions = decode_functions(d, s);
    (void)wire_next_of(&w, MODEL_GRAPH, &graph);
    decode_graph(d, &graph, &opsets, &model->graph);
    TRY(d->status);
    if (s->of[MODEL_FUNCTIONS].count > 0)
        inline_functions(d, functions, s->of[MODEL_FUNCTIONS].count, options, &model->graph);
    TRY(d->status);
    check_names(d, &model->graph);
    model->n_names = (uint32_t)d->names.texts.count;
    return d->status;
}

static struct decode begin(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                           bool follow_links)
{
    struct decode d = {.memory = *memory, .diags = diags, .file = file};
    d.external = external_create(memory->kept, diags, file->path, follow_links);
    d.model = arena_new(memory->graph, struct fw_model);
    d.model->path = file->path;
    d.model->file = file;
    names_init(&d.names, memory->kept, memory->scratch);
    map_init(&d.ops, memory->scratch);
    return d;
}

static odlc_status load_file(struct decode *d, const struct fw_load_options *options)
{
    TRY(wire_check(d->diags, d->file, &onnx_schema, &onnx__model_proto__descriptor));
    const struct sections s = wire_sections(d->file, 0, d->file->size);
    struct wire w = wire_section(d->file, &s, MODEL_IR_VERSION);
    struct wire_field f;
    if (wire_next_of(&w, MODEL_IR_VERSION, &f))
        d->model->ir_version = (int64_t)f.value;
    TRY(check_header(d, &s));
    return decode_model(d, &s, options) == ODLC_OK ? ODLC_OK : outcome(d);
}

odlc_status onnx_load_file(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                           const struct fw_load_options *options, struct fw_model **out)
{
    struct arena_mark mark = arena_mark(memory->scratch);
    struct decode d = begin(memory, diags, file, options && options->follow_links);
    odlc_status status = load_file(&d, options);
    arena_rewind(memory->scratch, mark);
    external_list(d.external, d.model);
    if (status == ODLC_OK)
        *out = d.model;
    return status;
}

odlc_status onnx_load(const struct fw_memory *memory, struct diags *diags, const struct fw_load_options *options,
                      struct fw_model **out)
{
    struct file *file;
    TRY(file_map(memory->kept, diags, options->input, &file));
    return onnx_load_file(memory, diags, file, options, out);
}

odlc_status onnx_load_tensor(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                             struct fw_tensor *out)
{
    struct arena_mark mark = arena_mark(memory->scratch);
    struct decode d = begin(memory, diags, file, false);
    struct wire_field whole = {.size = file->size};
    odlc_status status = wire_check(diags, file, &onnx_schema, &onnx__tensor_proto__descriptor);
    if (status == ODLC_OK)
        status = decode_tensor(&d, &whole, AT(IN_MODEL(&d)), out);
    arena_rewind(memory->scratch, mark);
    return status;
}
