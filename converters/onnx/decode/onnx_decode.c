/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/decode/onnx_decode.h"

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

/* ---- reading messages ---- */

fw_name decode_name(struct decode *d, const struct wire_field *f)
{
    return names_number(&d->names, wire_bytes(d->file, f), f->size);
}

const char *decode_text(struct decode *d, const struct wire_field *f)
{
    return f->size > 0 ? arena_strndup(d->memory.kept, wire_bytes(d->file, f), f->size) : "";
}

const fw_name *decode_names(struct decode *d, const struct sections *s, uint32_t number)
{
    VEC(fw_name) names = {0};
    struct wire w = wire_section(d->file, s, number);
    struct wire_field f;
    while (wire_next_of(&w, number, &f))
        vec_push(d->memory.graph, &names, decode_name(d, &f));
    return names.data;
}
