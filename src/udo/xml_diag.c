/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics at a place of an XML text. */
#include "udo/xml.h"

odlc_status xml_error(struct xml *x, size_t offset, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(x->source.arena, format, args);
    va_end(args);
    return source_error(&x->source, offset, NULL, hint, code, message);
}

void xml_warn(struct xml *x, size_t offset, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(x->source.arena, format, args);
    va_end(args);
    source_warn(&x->source, offset, NULL, hint, code, message);
}

void xml_note(struct xml *x, size_t offset, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(x->source.arena, format, args);
    va_end(args);
    source_note(&x->source, offset, code, message);
}
