/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of a definition at a site: which is which, in which layout, and diagnostics about them. */
#include "udo/site.h"

#include <string.h>

#include "op/layout.h"
#include "udo/param_value.h"

/* ---- diagnostics ---- */

void site_error(struct site_build *s, const char *operand, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(s->scratch, format, args);
    va_end(args);
    s->errors++;
    (void)diag_error(s->set->diags, ODLC_ERR_INVALID,
                     AT(.file = s->site->path, .node = s->site->label, .attribute = operand, .hint = hint), code, "%s",
                     message);
}

void site_warn(struct site_build *s, const char *operand, const char *hint, const char *code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(s->scratch, format, args);
    va_end(args);
    diag_warn(s->set->diags, AT(.file = s->site->path, .node = s->site->label, .attribute = operand, .hint = hint),
              code, "%s", message);
}

bool site_first(struct site_build *s, const char *what, const char *name)
{
    const char *key = arena_printf(s->scratch, "%u %s %s", s->def->index, what, name);
    if (map_get(&s->set->said, key) != MAP_NONE)
        return false;
    map_put(&s->set->said, arena_strdup(s->set->arena, key), 0);
    return true;
}

const char *site_place(struct site_build *s, const struct udo_place *place)
{
    return arena_printf(s->scratch, "%s:%u:%u", place->file, place->line, place->column);
}

/* ---- operands ---- */

uint32_t repeated_of(const struct udo_tensor *tensors, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && !tensors[i].repeated)
        i++;
    return i;
}

const struct udo_tensor *operand_of(const struct udo_tensor *tensors, uint32_t count, uint32_t total, uint32_t i)
{
    uint32_t repeated = repeated_of(tensors, count), more = total > count ? total - count : 0;
    if (repeated < count && i > repeated)
        i = i - repeated <= more ? repeated : i - more;
    return i < count ? &tensors[i] : NULL;
}

const struct udo_tensor *site_input(const struct site_build *s, uint32_t i)
{
    return operand_of(s->def->inputs, s->def->n_inputs, s->n_in, i);
}

const struct udo_tensor *site_output(const struct site_build *s, uint32_t j)
{
    return operand_of(s->def->outputs, s->def->n_outputs, s->n_out, j);
}

const char *operand_label(struct site_build *s, const char *kind, uint32_t i, const struct udo_tensor *t)
{
    return t && t->name ? arena_printf(s->scratch, "%s %u ('%s')", kind, i, t->name)
                        : arena_printf(s->scratch, "%s %u", kind, i);
}

static const struct param *find_param(const struct param *params, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(params[i].name, name) == 0)
            return &params[i];
    return NULL;
}

const struct param *site_attr(const struct site_build *s, const char *name)
{
    return find_param(s->site->attrs, s->site->n_attrs, name);
}

const struct param *site_default(const struct site_build *s, const char *name)
{
    return find_param(s->site->defaults, s->site->n_defaults, name);
}

/* ---- layouts ---- */

bool layout_perm(const struct udo_site *site, enum udo_layout layout, uint32_t rank, struct perm *out)
{
    if (site->channels_first && layout == UDO_LAYOUT_NHWC && rank == 4) {
        *out = perm_channels_last(rank);
        return true;
    }
    if (!site->channels_first && layout == UDO_LAYOUT_NCHW && rank >= 3 && rank <= 5) {
        *out = perm_channels_first(rank);
        return true;
    }
    return false;
}

struct operand_form form_of(const struct udo_site *site, const struct udo_tensor *t, uint32_t rank)
{
    bool no_image = t->layout == UDO_LAYOUT_NHWC && site->channels_first && rank >= 3 && rank != 4;
    enum dtype dtype = udo_pick_dtype(t->dtype, t->several, DT_FLOAT32);
    return (struct operand_form){.as_stored = t->layout == UDO_LAYOUT_NONE || no_image,
                                 .fixed_bits = dtype_is_fixed(dtype) ? (uint8_t)dtype_value_bits(dtype) : 0};
}

const char *layout_suffix(enum udo_layout layout, uint32_t rank)
{
    return order_suffix(layout == UDO_LAYOUT_NCHW ? ORDER_CHANNELS_FIRST : ORDER_CHANNELS_LAST, rank);
}

int declared_rank(const struct udo_tensor *t)
{
    if (t->rank && t->rank[0] >= '0' && t->rank[0] <= '9')
        return t->rank[0] - '0';
    return t->shape ? (int)t->shape_rank : t->default_value ? (int)t->default_value->shape.rank : -1;
}

bool layout_fits(enum udo_layout layout, uint32_t rank)
{
    return layout == UDO_LAYOUT_NONE || (rank >= 3 && rank <= 5);
}
