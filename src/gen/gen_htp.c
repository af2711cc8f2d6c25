/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of HTP packages say of an op: operands, params behind the inputs, and for QHPI a kernel for each
 * combination of types. */
#include <string.h>

#include "base/c_locale.h"
#include "gen/gen_model.h"

enum { MOST_KERNELS = 64 };

/* ---- params, in the order of the config ---- */

struct param_row {
    const struct udo_place *place;
    const char *name, *rank;
    enum dtype dtype; /* DT_NONE: several, or the model's */
    bool optional;
};

struct param_rows {
    VEC(struct param_row) list;
};

static void insert(struct describe *d, struct param_rows *rows, struct param_row row)
{
    vec_push(d->arena, &rows->list, row);
    size_t at = rows->list.count - 1;
    for (; at > 0 && udo_stands_before(row.place, rows->list.data[at - 1].place); at--)
        rows->list.data[at] = rows->list.data[at - 1];
    rows->list.data[at] = row;
}

static enum dtype on_dsp(const struct udo_tensor *t)
{
    return t->several ? DT_NONE : gen_type_on(t, UDO_DSP);
}

static struct param_rows params_of(struct describe *d, const struct udo_def *def)
{
    struct param_rows rows = {0};
    for (uint32_t i = 0; i < def->n_scalar_params; i++) {
        const struct udo_scalar *p = &def->scalar_params[i];
        const enum dtype own = p->per_core && p->core_dtypes[UDO_DSP] ? p->core_dtypes[UDO_DSP] : p->dtype;
        insert(
            d, &rows,
            (struct param_row){&p->place, p->name, NULL, p->several ? DT_NONE : own, p->optional || p->default_value});
    }
    for (uint32_t i = 0; i < def->n_tensor_params; i++) {
        const struct udo_tensor *p = &def->tensor_params[i];
        insert(d, &rows, (struct param_row){&p->place, p->name, p->rank, on_dsp(p), p->optional || p->default_value});
    }
    return rows;
}

static void comment_params(struct describe *d, const struct udo_def *def, const struct param_rows *rows,
                           struct scope *op)
{
    for (size_t i = 0; i < rows->list.count; i++) {
        const struct param_row *p = &rows->list.data[i];
        gen_comment(op, "htp_lines",
                    arena_printf(d->arena, "  param %s: %s%s%s, behind the inputs: number %zu%s",
                                 gen_quoted(d->arena, p->name), gen_type_name(p->dtype, "one of several types"),
                                 p->rank ? ", " : "", p->rank ? gen_quoted(d->arena, p->rank) : "", def->n_inputs + i,
                                 scope_get(op, "OPEN_INPUTS")[0] ? ", or later" : ""));
    }
}

/* ---- C++ macros ---- */

static void describe_macros(struct describe *d, const struct udo_def *def, const struct param_rows *rows,
                            struct scope *op)
{
    text operands = {0}, params = {0};
    for (uint32_t i = 0; i < def->n_outputs; i++)
        text_add(d->arena, &operands, "%sTensorType &out_%u", i ? ", " : "", i);
    for (uint32_t i = 0; i < def->n_inputs; i++)
        text_add(d->arena, &operands, ", const TensorType &in_%u", i);
    text_add(d->arena, &params, "%s", "");
    for (size_t i = 0; i < rows->list.count; i++) {
        text_add(d->arena, &operands, ", const Tensor &param_%zu", i);
        text_add(d->arena, &params, ", \"%s\", %s, nullptr", gen_quoted(d->arena, rows->list.data[i].name),
                 rows->list.data[i].optional ? "false" : "true");
    }
    scope_set(op, "HTP_OPERANDS", operands.data);
    scope_set(op, "HTP_PARAMS", params.data);
}

/* ---- QHPI ---- */

/* Integers are quantized types without an encoding; what has no type of its own is any. */
static const char *element_type(enum dtype dtype)
{
    static const struct {
        enum dtype dtype;
        const char *name;
    } types[] = {
        {DT_BOOL, "QHPI_QUInt8"},     {DT_UINT8, "QHPI_QUInt8"},    {DT_UFXP8, "QHPI_QUInt8"},
        {DT_UINT16, "QHPI_QUInt16"},  {DT_UFXP16, "QHPI_QUInt16"},  {DT_INT8, "QHPI_QInt8"},
        {DT_SFXP8, "QHPI_QInt8"},     {DT_INT16, "QHPI_QInt16"},    {DT_SFXP16, "QHPI_QInt16"},
        {DT_INT32, "QHPI_Int32"},     {DT_UINT32, "QHPI_Int32"},    {DT_INT64, "QHPI_Int32"},
        {DT_UINT64, "QHPI_Int32"},    {DT_SFXP32, "QHPI_Int32"},    {DT_UFXP32, "QHPI_Int32"},
        {DT_FLOAT32, "QHPI_Float32"}, {DT_FLOAT16, "QHPI_Float16"},
    };
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (types[i].dtype == dtype)
            return types[i].name;
    return "QHPI_ELEMENT_TYPE_ANY";
}

static void add_signature(struct scope *kernel, const char *list, enum dtype dtype, bool bytes, const char *what)
{
    struct scope *s = scope_add(kernel, list);
    scope_set(s, "ELEMENT", element_type(dtype));
    scope_set(s, "LAYOUT", bytes ? "QHPI_Layout_Any" : "QHPI_Layout_Flat4");
    scope_set(s, "STORAGE", bytes ? "QHPI_Storage_Direct_OR_Indirect" : "QHPI_Storage_Direct");
    scope_set(s, "WHAT", what);
}

/* Operands that may have the same types have the same one in a kernel. */
struct choice {
    uint64_t types; /* mask of DTYPE_BIT */
    enum dtype first, now;
};

struct choices {
    VEC(struct choice) list;
};

static uint64_t types_of(const struct udo_tensor *t)
{
    return t->several ? t->several : DTYPE_BIT(gen_type_on(t, UDO_DSP));
}

static struct choice *choice_of(struct choices *choices, const struct udo_tensor *t)
{
    for (size_t i = 0; i < choices->list.count; i++)
        if (choices->list.data[i].types == types_of(t))
            return &choices->list.data[i];
    return NULL;
}

static void add_choices(struct describe *d, struct choices *choices, const struct udo_tensor *tensors, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const enum dtype first = gen_type_on(&tensors[i], UDO_DSP);
        if (!choice_of(choices, &tensors[i]))
            vec_push(d->arena, &choices->list, (struct choice){types_of(&tensors[i]), first, first});
    }
}

/* The next type of a choice: the first one leads, then the others by number. False: there was none, it is the first. */
static bool advance(struct choice *c)
{
    enum dtype next = c->now == c->first ? DT_NONE : c->now;
    do
        next++;
    while (next < DT_COUNT && (next == c->first || !(c->types & DTYPE_BIT(next))));
    c->now = next < DT_COUNT ? next : c->first;
    return next < DT_COUNT;
}

/* "float_32_" */
static const char *tag_of(struct describe *d, const struct choices *choices)
{
    text tag = {0};
    for (size_t i = 0; i < choices->list.count; i++) {
        const char *name = gen_type_name(choices->list.data[i].now, "any");
        for (; *name; name++)
            text_add(d->arena, &tag, "%c", c_tolower(*name));
        text_add(d->arena, &tag, "_");
    }
    return tag.data;
}

static void add_operands(struct describe *d, struct scope *kernel, struct choices *choices, const char *list,
                         const struct udo_tensor *tensors, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        add_signature(kernel, list, choice_of(choices, &tensors[i])->now, false,
                      tensors[i].name ? gen_quoted(d->arena, tensors[i].name) : arena_printf(d->arena, "%u", i));
}

static void add_kernel(struct describe *d, const struct udo_def *def, const struct param_rows *params,
                       struct choices *choices, struct scope *op)
{
    struct scope *kernel = scope_add(op, "kernels");
    scope_set(kernel, "DT", tag_of(d, choices));
    add_operands(d, kernel, choices, "signature_in", def->inputs, def->n_inputs);
    add_operands(d, kernel, choices, "signature_out", def->outputs, def->n_outputs);
    for (size_t i = 0; i < params->list.count; i++) {
        const struct param_row *p = &params->list.data[i];
        const bool bytes =
            p->dtype == DT_STRING || (p->rank && strcmp(p->rank, "1D") == 0 && dtype_size(p->dtype) == 1);
        add_signature(kernel, "signature_in", p->dtype, bytes,
                      arena_printf(d->arena, "param %s", gen_quoted(d->arena, p->name)));
    }
}

static void describe_kernels(struct describe *d, const struct udo_def *def, const struct param_rows *params,
                             struct scope *op)
{
    struct choices choices = {0};
    add_choices(d, &choices, def->inputs, def->n_inputs);
    add_choices(d, &choices, def->outputs, def->n_outputs);
    for (uint32_t count = 0; count < MOST_KERNELS; count++) {
        size_t i = 0;
        add_kernel(d, def, params, &choices, op);
        while (i < choices.list.count && !advance(&choices.list.data[i]))
            i++;
        if (i == choices.list.count)
            return;
    }
    const struct odlc_diag at = udo_at(&def->place, "leave types out, or divide the op");
    d->errors++;
    (void)diag_error(d->diags, ODLC_ERR_INVALID, &at, "gen-kernels",
                     "op %s has more than %d combinations of types, each of which would be a kernel", def->type,
                     MOST_KERNELS);
}

/* ---- both ---- */

void gen_describe_htp(struct describe *d, const struct udo_def *def, struct scope *op)
{
    const struct param_rows params = params_of(d, def);
    scope_set(op, "N_PARAMS", arena_printf(d->arena, "%zu", params.list.count));
    comment_params(d, def, &params, op);
    describe_macros(d, def, &params, op);
    if (def->use_qhpi)
        describe_kernels(d, def, &params, op);
}
