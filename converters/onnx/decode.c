/* Loading a model: map, unpack, decode, inline, check. Problems are collected over each step; a step that found some
 * ends the work, because later ones would only repeat them in other words. */
#include "converters/onnx/decode.h"

#include <inttypes.h>

odlc_status decode_failed(struct decode *d, odlc_status status)
{
    if (d->status == ODLC_OK)
        d->status = status;
    return status;
}

odlc_status decode_error(struct decode *d, odlc_status status, const struct odlc_diag *place, const char *code,
                         const char *format, ...)
{
    if (d->diags->errors >= DECODE_MAX_ERRORS) {
        d->unreported++;
        return decode_failed(d, status);
    }
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(d->diags->arena, format, args);
    va_end(args);
    return decode_failed(d, diag_error(d->diags, status, place, code, "%s", message));
}

static odlc_status outcome(struct decode *d)
{
    if (d->unreported > 0)
        diag_note(d->diags, AT(IN_MODEL(d)), "onnx-more", "%zu more errors are not listed", d->unreported);
    return d->status;
}

static odlc_status check_header(struct decode *d, const Onnx__ModelProto *model)
{
    const char *hint = "give a model that was saved in ONNX's protobuf form (.onnx)";
    if (d->file->size == 0)
        return decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .hint = hint), "onnx-empty",
                            "not an ONNX model: the file is empty");
    if (!model->graph)
        return decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d), .hint = hint), "onnx-no-graph",
                            "not an ONNX model: it holds no graph");
    if (model->ir_version < ONNX_MIN_IR)
        return decode_error(d, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(d)), "onnx-ir-version",
                            "the model has IR version %" PRId64 ", older than the oldest supported one, %d",
                            model->ir_version, ONNX_MIN_IR);
    if (model->ir_version > ONNX_MAX_IR)
        diag_warn(d->diags, AT(IN_MODEL(d)), "onnx-ir-version",
                  "the model has IR version %" PRId64 ", newer than the newest known one, %d", model->ir_version,
                  ONNX_MAX_IR);
    return ODLC_OK;
}

static odlc_status decode_model(struct decode *d, const Onnx__ModelProto *proto, const struct onnx_keep *keep,
                                struct fw_model *model)
{
    struct opsets opsets = {0};
    Onnx__OperatorSetIdProto first = ONNX__OPERATOR_SET_ID_PROTO__INIT, *const only[] = {&first};
    first.version = 1;
    bool says = proto->n_opset_import > 0 || proto->ir_version >= ONNX_FIRST_IR_WITH_OPSETS;
    decode_opsets(d, says ? proto->opset_import : only, says ? proto->n_opset_import : COUNT_OF(only), &opsets);
    model->opset = opsets_version(&opsets, "");
    struct function *functions = decode_functions(d, proto->functions, proto->n_functions);
    decode_graph(d, proto->graph, &opsets, &model->graph);
    TRY(d->status);
    if (proto->n_functions > 0)
        inline_functions(d, functions, proto->n_functions, keep, &model->graph);
    TRY(d->status);
    check_names(d, &model->graph);
    return d->status;
}

odlc_status onnx_load_file(struct arena *arena, struct diags *diags, const struct file *file,
                           const struct onnx_keep *keep, struct fw_model **out)
{
    struct decode d = {.arena = arena, .diags = diags, .file = file};
    d.external = external_create(arena, diags, file->path);
    Onnx__ModelProto *proto;
    TRY(wire_unpack(arena, diags, file, &proto));
    TRY(check_header(&d, proto));
    struct fw_model *model = arena_new(arena, struct fw_model);
    model->path = file->path;
    model->ir_version = proto->ir_version;
    if (decode_model(&d, proto, keep, model) != ODLC_OK)
        return outcome(&d);
    external_list(d.external, model);
    *out = model;
    return ODLC_OK;
}

odlc_status onnx_load(struct arena *arena, struct diags *diags, const char *path, struct fw_model **out)
{
    struct file *file;
    TRY(file_map(arena, diags, path, &file));
    return onnx_load_file(arena, diags, file, NULL, out);
}

odlc_status onnx_load_tensor(struct arena *arena, struct diags *diags, const char *path, struct fw_tensor *out)
{
    struct file *file;
    Onnx__TensorProto *proto;
    TRY(file_map(arena, diags, path, &file));
    struct decode d = {.arena = arena, .diags = diags, .file = file};
    d.external = external_create(arena, diags, path);
    TRY(wire_unpack_tensor(arena, diags, file, &proto));
    return decode_tensor(&d, proto, AT(IN_MODEL(&d)), out);
}
