/* SPDX-License-Identifier: Apache-2.0 */
/* What both forms of a config have in common: reports of what a form cannot say, and numbers. */
#include "udo/udo_write.h"

#include <string.h>

/* ---- reports ---- */

void write_lost(struct udo_writer *w, const struct udo_place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct odlc_diag at = udo_at(place, NULL);
    diag_warn(w->diags, &at, "udo-lost", "%s", arena_vprintf(w->arena, format, args));
    va_end(args);
}

void write_impossible(struct udo_writer *w, const struct udo_place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct odlc_diag at = udo_at(place, NULL);
    w->errors++;
    (void)diag_error(w->diags, ODLC_ERR_UNSUPPORTED, &at, "udo-cannot-write", "%s",
                     arena_vprintf(w->arena, format, args));
    va_end(args);
}

const char *write_label(struct udo_writer *w, const struct udo_def *def, const char *kind, uint32_t i, const char *name)
{
    return name ? arena_printf(w->arena, "%s '%s' of '%s'", kind, name, def->type)
                : arena_printf(w->arena, "%s %u of '%s'", kind, i, def->type);
}

/* ---- values ---- */

void write_number(struct udo_writer *w, const struct param *value, uint64_t k)
{
    if (!dtype_is_float(value->dtype)) {
        text_add(w->arena, &w->out, "%lld", (long long)(value->is_tensor ? value->ints[k] : value->i));
        return;
    }
    size_t start = w->out.count;
    text_add(w->arena, &w->out, "%.9g", value->is_tensor ? value->floats[k] : value->f);
    if (!strpbrk(w->out.data + start, ".e"))
        text_add(w->arena, &w->out, ".0");
}

static void write_level(struct udo_writer *w, const struct param *value, const char brackets[2], uint32_t level,
                        uint64_t *k, void (*leaf)(struct udo_writer *w, const struct param *value, uint64_t k))
{
    if (level == value->shape.rank) {
        leaf(w, value, (*k)++);
        return;
    }
    text_add(w->arena, &w->out, "%c", brackets[0]);
    for (int64_t i = 0; i < value->shape.dims[level]; i++) {
        text_add(w->arena, &w->out, "%s", i ? ", " : "");
        write_level(w, value, brackets, level + 1, k, leaf);
    }
    text_add(w->arena, &w->out, "%c", brackets[1]);
}

void write_nested(struct udo_writer *w, const struct param *value, const char brackets[2],
                  void (*leaf)(struct udo_writer *w, const struct param *value, uint64_t k))
{
    uint64_t k = 0;
    write_level(w, value, brackets, value->is_tensor ? 0 : value->shape.rank, &k, leaf);
}
