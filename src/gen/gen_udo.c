/* SPDX-License-Identifier: Apache-2.0 */
/* UDO packages: one for each package name, with a part for each core; what sources of the GPU and the DSP say. */
#include <string.h>

#include "gen/gen_model.h"
#include "udo/udo_cores.h"

/* ---- parts ---- */

enum part { PART_CPU, PART_GPU, PART_DSP, PART_HTP, PARTS };

/* As rows of tree.def name them, in each language. */
static const char *const names[][PARTS] = {
    [GEN_CPP] = {"CPU_CPP", "GPU", "DSP_LEGACY", "DSP_V68"}, [GEN_C] = {"CPU_C", "GPU", "DSP_LEGACY", "DSP_V68"}};

/* The DSP without an architecture is the HTP. */
static uint32_t parts_of(const struct udo_def *def)
{
    uint32_t found = 0;
    if (def->cores >> UDO_CPU & 1)
        found |= 1u << PART_CPU;
    if (def->cores >> UDO_GPU & 1)
        found |= 1u << PART_GPU;
    if (!(def->cores >> UDO_DSP & 1))
        return found;
    for (uint32_t i = 0; i < def->n_dsp_arch_types; i++)
        found |= 1u << (gen_is_legacy_arch(def->dsp_arch_types[i]) ? PART_DSP : PART_HTP);
    return def->n_dsp_arch_types ? found : found | 1u << PART_HTP;
}

static struct gen_part *part_of(struct describe *d, struct gen_package *package, enum part kind)
{
    const char *name = names[d->language][kind];
    for (size_t i = 0; i < package->parts.count; i++)
        if (strcmp(package->parts.data[i].where, name) == 0)
            return &package->parts.data[i];
    struct gen_part made = {.where = name, .scope = scope_new(d->arena, package->scope)};
    scope_set(package->scope, made.where, "1");
    vec_push(d->arena, &package->parts, made);
    return &package->parts.data[package->parts.count - 1];
}

/* ---- operands and params of the GPU ---- */

void gen_describe_gpu(struct describe *d, struct scope *package, const struct udo_def *def, struct scope *op)
{
    text operands = {0};
    for (uint32_t i = 0; i < def->n_inputs; i++)
        text_add(d->arena, &operands, "__global const INPUT%u *in%u, ", i, i);
    for (uint32_t i = 0; i < def->n_outputs; i++)
        text_add(d->arena, &operands, "%s__global OUTPUT%u *out%u", i ? ", " : "", i, i);
    scope_set(package, "GPU_LIBRARY", "1"); /* for templates that the CPU has, too */
    scope_set(op, "GPU_OPERANDS", operands.data);
    for (uint32_t i = 0; i < def->n_scalar_params; i++) {
        const struct udo_scalar *p = &def->scalar_params[i];
        const char *name = gen_quoted(d->arena, p->name);
        gen_comment(op, "gpu_lines",
                    arena_printf(d->arena, "  param %s, %s: get%sParam(\"%s\")", name,
                                 gen_type_name(p->dtype, "a number"), p->dtype == DT_STRING ? "String" : "Scalar",
                                 name));
    }
    for (uint32_t i = 0; i < def->n_tensor_params; i++) {
        const char *name = gen_quoted(d->arena, def->tensor_params[i].name);
        gen_comment(op, "gpu_lines",
                    arena_printf(d->arena, "  param %s, elements %s: getTensorParam(\"%s\")->v1.clientBuf.data", name,
                                 gen_type_name(def->tensor_params[i].dtype, "of the model's type"), name));
    }
}

/* ---- params of the DSP before v68 ---- */

static const char *value_member(enum dtype dtype)
{
    static const struct {
        enum dtype dtype;
        const char *member;
    } members[] = {{DT_BOOL, "boolValue"},     {DT_INT8, "int8Value"},     {DT_INT16, "int16Value"},
                   {DT_INT32, "int32Value"},   {DT_INT64, "int64Value"},   {DT_UINT8, "uint8Value"},
                   {DT_UINT16, "uint16Value"}, {DT_UINT32, "uint32Value"}, {DT_UINT64, "uint64Value"}};
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (members[i].dtype == dtype)
            return members[i].member;
    return "floatValue";
}

/* The newest of the architectures that the ops name. */
static const char *newest_arch(const struct udo_def *def, const char *newest)
{
    for (uint32_t i = 0; i < def->n_dsp_arch_types; i++)
        if (gen_is_legacy_arch(def->dsp_arch_types[i]) && strcmp(def->dsp_arch_types[i], newest) > 0)
            newest = def->dsp_arch_types[i];
    return newest;
}

void gen_describe_dsp(struct describe *d, struct scope *package, const struct udo_def *def, struct scope *op)
{
    const char *before = scope_get(package, "DSP_ARCH"), *newest = newest_arch(def, before ? before : "");
    scope_set(package, "DSP_ARCH", *newest ? newest : "v66");
    for (uint32_t i = 0; i < def->n_scalar_params; i++) {
        const struct udo_scalar *p = &def->scalar_params[i];
        const char *name = gen_quoted(d->arena, p->name);
        const char *member = p->dtype == DT_STRING
                                 ? "stringParam"
                                 : arena_printf(d->arena, "scalarParam.dataValue.%s", value_member(p->dtype));
        gen_comment(op, "dsp_lines",
                    arena_printf(d->arena, "  param %s, %s: getParam(operation, \"%s\")->%s", name,
                                 gen_type_name(p->dtype, "a number"), name, member));
    }
    for (uint32_t i = 0; i < def->n_tensor_params; i++) {
        const char *name = gen_quoted(d->arena, def->tensor_params[i].name);
        gen_comment(op, "dsp_lines",
                    arena_printf(d->arena,
                                 "  param %s, elements %s: getParam(operation, \"%s\")->tensorParam.tensorData", name,
                                 gen_type_name(def->tensor_params[i].dtype, "of the model's type"), name));
    }
}

/* ---- the HTP ---- */

/* A library is written for one of the two interfaces. */
static void describe_v68(struct describe *d, struct gen_part *part, const struct udo_def *def, struct scope *op)
{
    const char *qhpi = def->use_qhpi ? "1" : "";
    const char *before = part->ops.count ? scope_get(part->scope, "QHPI") : qhpi;
    if (strcmp(before, qhpi) != 0) {
        const struct odlc_diag at = udo_at(&def->place, "give all configs of the package the same UseQHPI");
        d->errors++;
        (void)diag_error(d->diags, ODLC_ERR_INVALID, &at, "gen-op",
                         "package %s uses QHPI in one config, and not in another", def->package);
    }
    scope_set(part->scope, "QHPI", qhpi);
    scope_set(part->scope, "MACROS", def->use_qhpi ? "" : "1");
    scope_set(op, "QHPI", qhpi);
    gen_describe_htp(d, def, op);
}

static void add_to_parts(struct describe *d, struct gen_package *package, const struct udo_def *def, struct scope *op)
{
    const uint32_t wanted = parts_of(def);
    for (enum part kind = 0; kind < PARTS; kind++) {
        if (!(wanted >> kind & 1))
            continue;
        struct gen_part *part = part_of(d, package, kind);
        if (kind == PART_GPU)
            gen_describe_gpu(d, part->scope, def, op);
        else if (kind == PART_DSP)
            gen_describe_dsp(d, part->scope, def, op);
        else if (kind == PART_HTP)
            describe_v68(d, part, def, op);
        scope_share(part->scope, "ops", op);
        vec_push(d->arena, &part->ops, op);
    }
}

void gen_warn_of_dsp(struct describe *d, const struct gen_package *package)
{
    diag_warn(d->diags, AT(.file = package->configs.data[0], .hint = "give each op a package of its own"), "gen-dsp",
              "package %s has several ops for the DSP before v68, of which devices take one for a library",
              package->name);
}

static void advise(struct describe *d, const struct gen_packages *packages)
{
    for (size_t i = 0; i < packages->list.count; i++) {
        const struct gen_package *package = &packages->list.data[i];
        for (size_t k = 0; k < package->parts.count; k++)
            if (strcmp(package->parts.data[k].where, names[d->language][PART_DSP]) == 0 &&
                package->parts.data[k].ops.count > 1)
                gen_warn_of_dsp(d, package);
    }
}

static void set_choices(const struct gen_choices *choices, struct scope *package)
{
    const bool c = choices->language == GEN_C;
    scope_set(package, "CMAKELISTS", choices->cmakelists ? "1" : "");
    scope_set(package, "LANGUAGE_C", c ? "1" : "");
    scope_set(package, "LANGUAGE_CPP", c ? "" : "1");
    scope_set(package, "HEADER", c ? "h" : "hpp");
}

odlc_status gen_describe(struct udo_set *set, const struct gen_choices *choices, struct gen_packages *out)
{
    struct describe d = {.arena = set->arena, .diags = set->diags, .language = choices->language};
    for (size_t i = 0; i < set->defs.count; i++) {
        const struct udo_def *def = set->defs.data[i];
        struct gen_package *package = gen_package_of(&d, out, def->package, GEN_UDO, def);
        set_choices(choices, package->scope);
        if (gen_find_op(package, def->type)) /* of another domain, it is the same for a package */
            continue;
        struct scope *op = gen_add_op(&d, package, def);
        add_to_parts(&d, package, def, op);
        if (choices->reference && def->cores >> UDO_CPU & 1)
            gen_describe_reference(&d, def, package->scope, op);
    }
    advise(&d, out);
    return d.errors ? ODLC_ERR_INVALID : ODLC_OK;
}
