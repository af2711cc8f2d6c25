/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_packages.h"

#include <string.h>

#include "base/child.h"
#include "package/package.h"
#include "trial/device_trial.h"
#include "trial/kernel_trial.h"
#include "trial/plugin_trial.h"
#include "trial/registered_op.h"

struct trials {
    struct arena *arena;
    struct diags *diags;
    const struct trial_options *options;
    struct udo_set set;
    bool *met; /* per definition: a library is of its package */
    size_t findings;
    bool unloaded; /* a library could not be loaded: its ops are not known */
    bool is_told;  /* that there is no device */
    struct tried_ops *out;
};

enum place { OF_ANOTHER, IMPLEMENTED, MISSING };

/* What the child that loads a library tells of it. */
struct told {
    bool loaded;
    char package[128];
    bool is_plugin, is_device;
    char device[4096]; /* the package's library for GPUs, which may be the library itself; "": there is none */
    struct told_def {
        uint8_t place;          /* enum place */
        bool on_cpu, on_device; /* on_cpu: also a plugin's */
    } defs[];
};

struct loading {
    struct trials *t;
    const char *library, *provider;     /* provider NULL: a registration library */
    struct contained **of, **of_device; /* per definition */
    struct told *told;
};

static const char *native_of(const struct trials *t, const char *type)
{
    const size_t length = strlen(type);
    for (size_t i = 0; i < t->options->n_against; i++) {
        const char *text = t->options->against[i];
        if (strcmp(text, type) == 0)
            return text;
        if (strncmp(text, type, length) == 0 && text[length] == '=')
            return text + length + 1;
    }
    return NULL;
}

/* ---- loading ---- */

static bool describes(const struct trials *t, const struct package *package, const char *type)
{
    for (size_t i = 0; i < t->set.defs.count; i++)
        if (package_is_named(package, t->set.defs.data[i]->package) && strcmp(t->set.defs.data[i]->type, type) == 0)
            return true;
    return false;
}

static void compare_with_configs(struct loading *l, struct contained *c, const struct package *package,
                                 const struct package *device)
{
    const struct trials *t = l->t;
    for (size_t i = 0; i < t->set.defs.count; i++) {
        const struct udo_def *def = t->set.defs.data[i];
        if (!package_is_named(package, def->package))
            continue;
        const SnpeUdo_OperationInfo_t *op = registration_operation(&package->registration, def->type);
        struct told_def *told = &l->told->defs[i];
        told->on_device = device && package_has_op(device, def->type);
        told->on_cpu = !package->is_device && package_has_op(package, def->type);
        told->place = told->on_device || told->on_cpu ? IMPLEMENTED : MISSING;
        if (op)
            registered_op_compare(l->of[i], op, def);
        else if (told->place == IMPLEMENTED && !l->provider)
            contained_found(l->of[i], "registration-missing", "generate the package anew from this config",
                            "is implemented, but the registration library does not announce it");
    }
    /* Ops of plugins may come from rewriting alone. */
    for (uint32_t i = 0;
         package->info && !package->is_plugin && !package->is_device && i < package->info->numOperations; i++)
        if (!describes(t, package, package->info->operationNames[i]))
            contained_found(c, "package-op-undescribed", "give the config that describes it as well",
                            "package %s has an op %s that no config describes", package_name(package),
                            package->info->operationNames[i]);
}

static void load(struct contained *c, void *loading)
{
    struct loading *l = loading;
    struct package *package, *device = NULL;
    struct diags diags;
    diags_init(&diags, l->t->arena);
    contained_stage(c, "load the package");
    odlc_status status = package_load(l->t->arena, &diags, l->library, l->provider, &package);
    if (status == ODLC_OK)
        status = package_load_device(&diags, package, &device);
    if (status != ODLC_OK) {
        for (size_t i = 0; i < diags.list.count; i++)
            if (diags.list.data[i].severity == ODLC_ERROR)
                contained_found(c, diags.list.data[i].code, diags.list.data[i].hint, "%s", diags.list.data[i].message);
        return;
    }
    strncpy(l->told->package, package_name(package), sizeof l->told->package - 1);
    l->told->is_plugin = package->is_plugin;
    l->told->is_device = package->is_device;
    if (device)
        strncpy(l->told->device, device->library.path, sizeof l->told->device - 1);
    compare_with_configs(l, c, package, device);
    l->told->loaded = true;
    contained_stage(c, "unload the package");
    package_release(package);
}

/* ---- reporting ---- */

static void report_library(struct trials *t, const char *library, const struct contained *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        const struct found *f = &c->found[i];
        t->findings++;
        (void)diag_error(t->diags, ODLC_ERR_INVALID, AT(.file = library, .hint = *f->hint ? f->hint : NULL), f->code,
                         strncmp(f->code, "kernel", 6) == 0 ? "the library %s" : "%s", f->message);
    }
}

static void report_op(struct trials *t, const struct tried_op *op, const struct udo_def *def)
{
    for (uint32_t i = 0; i < op->trial->count; i++) {
        const struct found *f = &op->trial->found[i];
        const struct odlc_diag place = udo_at(&def->place, *f->hint ? f->hint : NULL);
        t->findings++;
        (void)diag_error(t->diags, ODLC_ERR_INVALID, &place, f->code, "op %s of package %s, library %s, %s", op->type,
                         op->package, op->library, f->message);
    }
}

static void try_core(const struct loading *l, const struct tried_op *op, const struct udo_def *def, struct contained *c,
                     bool compares, void (*work)(struct contained *c, void *trial))
{
    struct trials *t = l->t;
    struct kernel_trial trial = {.arena = t->arena,
                                 .set = &t->set,
                                 .def = def,
                                 .library = l->library,
                                 .provider = l->provider,
                                 .native = op->native,
                                 .device = t->options->device,
                                 .compares_cores = compares};
    contained_run(t->arena, c, t->options->seconds, work, &trial);
    report_op(t, op, def);
}

/* Once for all ops. */
static void tell_untried(struct trials *t, const struct tried_op *op, const char *why)
{
    if (!t->is_told)
        diag_warn(t->diags, AT(.file = op->library), "kernel-untried", "kernels for GPUs are not tried: %s", why);
    t->is_told = true;
}

static void try_device(const struct loading *l, const struct udo_def *def, struct contained *c, bool compares)
{
    struct trials *t = l->t;
    const struct tried_op op = {.type = def->type,
                                .package = def->package,
                                .library = l->told->device,
                                .core = "GPU",
                                .native = native_of(t, def->type),
                                .trial = c};
    if (!t->options->device) {
        tell_untried(t, &op, "OpenDLC was built without OpenCL");
        return;
    }
    try_core(l, &op, def, c, compares, device_trial_work);
    if (*c->untried)
        tell_untried(t, &op, c->untried);
    else
        vec_push(t->arena, &t->out->ops, op);
}

static void try_op(const struct loading *l, const struct udo_def *def, struct contained *c)
{
    struct trials *t = l->t;
    const bool is_plugin = l->told->is_plugin;
    const struct tried_op op = {.type = def->type,
                                .package = def->package,
                                .library = l->library,
                                .core = is_plugin ? "HTP" : "CPU",
                                .native = is_plugin ? NULL : native_of(t, def->type),
                                .trial = c};
    try_core(l, &op, def, c, false, is_plugin ? plugin_trial_work : kernel_trial_work);
    vec_push(t->arena, &t->out->ops, op);
}

static void try_cores(const struct loading *l, size_t i)
{
    const struct udo_def *def = l->t->set.defs.data[i];
    const struct told_def *told = &l->told->defs[i];
    if (told->on_cpu)
        try_op(l, def, l->of[i]);
    else
        report_op(l->t, &(struct tried_op){def->type, def->package, l->library, .trial = l->of[i]}, def);
    if (told->on_device)
        try_device(l, def, l->of_device[i], told->on_cpu && l->of[i]->count == 0);
}

static void missing_op(struct trials *t, const char *library, const struct udo_def *def, enum udo_core core)
{
    if (!(def->cores >> core & 1))
        return;
    const struct odlc_diag place = udo_at(&def->place, "generate the package anew from this config, and fill it in");
    t->findings++;
    (void)diag_error(t->diags, ODLC_ERR_INVALID, &place, "package-op-missing",
                     "package %s, library %s, does not implement op %s", def->package, library, def->type);
}

/* ---- the work ---- */

static struct contained **contained_each(struct arena *arena, size_t count)
{
    struct contained **all = arena_array(arena, struct contained *, count);
    for (size_t i = 0; i < count; i++)
        all[i] = contained_new(arena);
    return all;
}

static void try_library(struct trials *t, const char *library, const char *provider)
{
    const size_t count = t->set.defs.count;
    struct contained *c = contained_new(t->arena);
    struct loading l = {.t = t,
                        .library = library,
                        .provider = provider,
                        .of = contained_each(t->arena, count),
                        .of_device = contained_each(t->arena, count)};
    l.told = child_share(t->arena, sizeof *l.told + count * sizeof *l.told->defs);
    contained_run(t->arena, c, t->options->seconds, load, &l);
    report_library(t, library, c);
    t->unloaded |= !l.told->loaded;
    bool any = false;
    for (size_t i = 0; i < count && l.told->loaded; i++) {
        any |= l.told->defs[i].place != OF_ANOTHER;
        t->met[i] |= l.told->defs[i].place != OF_ANOTHER;
        if (l.told->defs[i].place == IMPLEMENTED)
            try_cores(&l, i);
        else if (l.told->defs[i].place == MISSING)
            missing_op(t, library, t->set.defs.data[i], l.told->is_device ? UDO_GPU : UDO_CPU);
    }
    if (l.told->loaded && !any) {
        t->findings++;
        (void)diag_error(t->diags, ODLC_ERR_INVALID, AT(.file = library), "package-undescribed",
                         "no config describes package %s", l.told->package);
    }
}

static odlc_status try_named(struct trials *t, const char *name)
{
    const char *library, *provider;
    TRY(package_split(t->arena, t->diags, name, &library, &provider));
    try_library(t, library, provider);
    return ODLC_OK;
}

odlc_status trial_packages(struct arena *arena, struct diags *diags, const struct trial_options *options,
                           struct tried_ops *out)
{
    struct diags said; /* of the configs: by who loaded them before */
    struct trials t = {.arena = arena, .diags = diags, .options = options, .out = out};
    diags_init(&said, arena);
    udo_set_init(&t.set, arena, &said, op_registry_new(arena));
    for (size_t i = 0; i < options->n_configs; i++)
        TRY(udo_load(&t.set, options->configs[i]));
    t.met = arena_array(arena, bool, t.set.defs.count);
    for (size_t i = 0; i < options->n_libraries; i++)
        try_library(&t, options->libraries[i], NULL);
    for (size_t i = 0; i < options->n_packages; i++)
        TRY(try_named(&t, options->packages[i]));
    for (size_t i = 0; i < t.set.defs.count; i++)
        if (!t.met[i] && !t.unloaded) {
            const struct odlc_diag place = udo_at(&t.set.defs.data[i]->place, NULL);
            diag_note(diags, &place, "package-not-given",
                      "no library of package %s is given, so that op %s is not tried", t.set.defs.data[i]->package,
                      t.set.defs.data[i]->type);
        }
    return t.findings ? ODLC_ERR_INVALID : ODLC_OK;
}
