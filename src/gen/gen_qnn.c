/* SPDX-License-Identifier: Apache-2.0 */
/* Packages of XML configs: one for each package name and backend. */
#include <string.h>
#include <strings.h>

#include "gen/gen_model.h"
#include "udo/udo_cores.h"

/* What an op may be for: the kinds of packages, and what none is written for. */
enum target { TARGET_CPU, TARGET_HTP, TARGET_GPU, TARGET_DSP, TARGET_AIC, TARGETS };

static const struct {
    const char *suffix; /* of the package's name; NULL: no package is written */
    enum gen_tree tree;
} targets[TARGETS] = {
    [TARGET_CPU] = {.suffix = "Cpu", .tree = GEN_QNN_CPU},
    [TARGET_HTP] = {.suffix = "Htp", .tree = GEN_HTP},
    [TARGET_GPU] = {.suffix = "Gpu", .tree = GEN_QNN_GPU},
    [TARGET_DSP] = {.suffix = "Dsp", .tree = GEN_QNN_DSP},
};

static bool ends_in(const char *name, const char *suffix)
{
    const size_t length = strlen(name), end = strlen(suffix);
    return length > end && strcasecmp(name + length - end, suffix) == 0;
}

/* The DSP without an architecture is what it was before the HTP. */
static uint32_t targets_of_dsp(const struct udo_def *def)
{
    uint32_t found = def->n_dsp_arch_types ? 0 : 1u << TARGET_DSP;
    for (uint32_t i = 0; i < def->n_dsp_arch_types; i++)
        found |= 1u << (gen_is_legacy_arch(def->dsp_arch_types[i]) ? TARGET_DSP : TARGET_HTP);
    return found;
}

/* Where no backend is named, the package's name tells. */
static uint32_t targets_of(const struct udo_def *def)
{
    static const enum target of_backend[BACKENDS] = {[BACKEND_CPU] = TARGET_CPU,
                                                     [BACKEND_GPU] = TARGET_GPU,
                                                     [BACKEND_DSP] = TARGET_DSP,
                                                     [BACKEND_HTP] = TARGET_HTP,
                                                     [BACKEND_AIC] = TARGET_AIC};
    uint32_t found = 0;
    for (uint32_t backend = 0; backend < BACKENDS; backend++)
        if (def->backends >> backend & 1)
            found |= backend == BACKEND_DSP ? targets_of_dsp(def) : 1u << of_backend[backend];
    for (uint32_t i = 0; i < TARGETS && !def->backends; i++)
        if (targets[i].suffix && ends_in(def->package, targets[i].suffix))
            found |= 1u << i;
    return found;
}

static void refuse(struct describe *d, const struct udo_def *def, const char *hint, const char *message)
{
    const struct odlc_diag at = udo_at(&def->place, hint);
    d->errors++;
    (void)diag_error(d->diags, ODLC_ERR_INVALID, &at, "gen-op", "%s", message);
}

/* Whether the op is to be added to the package; one that it has already must be the same. */
static bool is_new(struct describe *d, const struct gen_package *package, const struct udo_def *def)
{
    const struct udo_def *first = gen_find_op(package, def->type);
    if (first && !udo_same_definition(first, def)) {
        const struct odlc_diag at = udo_at(&first->place, NULL);
        refuse(d, def, "remove one",
               arena_printf(d->arena, "second, different definition of '%s' for package %s", def->type, package->name));
        diag_note(d->diags, &at, "udo-first", "the first definition of '%s' is here", first->type);
    }
    return !first;
}

static void add_for(struct describe *d, struct gen_packages *out, const struct udo_def *def, enum target target)
{
    const char *suffix = targets[target].suffix;
    const char *name = arena_printf(d->arena, "%s%s", def->package, ends_in(def->package, suffix) ? "" : suffix);
    struct gen_package *package = gen_package_of(d, out, name, targets[target].tree, def);
    const char *qhpi = def->use_qhpi ? "1" : "";
    if (!is_new(d, package, def))
        return;
    if (!package->defs.count) {
        scope_set(package->scope, "QHPI", qhpi);
        scope_set(package->scope, "MACROS", def->use_qhpi ? "" : "1");
    } else if (target == TARGET_HTP && strcmp(scope_get(package->scope, "QHPI"), qhpi) != 0) {
        refuse(d, def, "give all configs of the package the same UseQHPI, or other package names",
               arena_printf(d->arena, "package %s uses QHPI in one config, and not in another", name));
    }
    struct scope *op = gen_add_op(d, package, def);
    if (target == TARGET_HTP)
        gen_describe_htp(d, def, op);
    else if (target == TARGET_GPU)
        gen_describe_gpu(d, package->scope, def, op);
    else if (target == TARGET_DSP)
        gen_describe_dsp(d, package->scope, def, op);
    if (target == TARGET_DSP && package->defs.count == 2)
        gen_warn_of_dsp(d, package);
}

/* Types of operators are what the functions of the package are called by, whatever backend computes them. */
static void add_for_converters(struct describe *d, struct gen_packages *out, const struct udo_def *def)
{
    const char *name = arena_printf(d->arena, "%s_Converter_Op_Package", def->package);
    struct gen_package *package = gen_package_of(d, out, name, GEN_CONVERTER, def);
    if (!gen_find_op(package, def->type))
        (void)gen_add_op(d, package, def);
}

/* Once for the config. */
static void warn_of_aic(struct describe *d, const struct udo_def *first)
{
    const struct odlc_diag at = udo_at(&first->place, NULL);
    diag_warn(d->diags, &at, "gen-backend", "package %s: no sources are written for AIC", first->package);
}

odlc_status gen_describe_qnn(struct udo_set *set, bool converter, struct gen_packages *out)
{
    struct describe d = {.arena = set->arena, .diags = set->diags};
    uint32_t wanted = 0;
    for (size_t i = 0; i < set->defs.count; i++) {
        const struct udo_def *def = set->defs.data[i];
        const uint32_t of_op = targets_of(def);
        wanted |= of_op;
        if (!(of_op & ~(1u << TARGET_AIC)))
            refuse(&d, def, "name CPU, GPU, DSP or HTP in <SupportedBackend>",
                   arena_printf(d.arena, "op %s is for no backend that packages are written for", def->type));
        for (enum target target = 0; target < TARGETS; target++)
            if (of_op >> target & 1 && targets[target].suffix)
                add_for(&d, out, def, target);
        if (converter)
            add_for_converters(&d, out, def);
    }
    if (wanted >> TARGET_AIC & 1)
        warn_of_aic(&d, set->defs.data[0]);
    return d.errors ? ODLC_ERR_INVALID : ODLC_OK;
}
