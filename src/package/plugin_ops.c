/* SPDX-License-Identifier: Apache-2.0 */
#include "package/plugin_ops.h"

#include <stdlib.h>
#include <string.h>

#include "package/plugin_checks.h"
#include "package/plugin_host.h"

/* What was registered, in memory that foreign code cannot make anybody jump out of. */
struct collected {
    struct plugin_registrar registrar;
    QHPI_OpInfo_v1 *ops;
    const char **packages; /* per op: who it was registered for */
    size_t count;
    bool exhausted, without_ops;
};

static bool grow(struct collected *c, uint32_t more)
{
    QHPI_OpInfo_v1 *ops = realloc(c->ops, (c->count + more) * sizeof *ops);
    if (!ops)
        return false;
    c->ops = ops;
    const char **packages = realloc(c->packages, (c->count + more) * sizeof *packages);
    if (!packages)
        return false;
    c->packages = packages;
    return true;
}

static uint32_t add_v1(struct plugin_registrar *registrar, uint32_t num_ops, const QHPI_OpInfo_v1 *operators,
                       const char *package)
{
    struct collected *c = (struct collected *)registrar;
    if (num_ops == 0 || !operators) {
        c->without_ops = true;
        return QHPI_ErrorFatal;
    }
    if (num_ops > PLUGIN_MAX_OPS - c->count || !grow(c, num_ops)) {
        c->exhausted = true;
        return QHPI_ErrorFatal;
    }
    memcpy(c->ops + c->count, operators, num_ops * sizeof *operators);
    for (uint32_t i = 0; i < num_ops; i++)
        c->packages[c->count + i] = package;
    c->count += num_ops;
    return QHPI_SUCCESS;
}

static void free_collected(void *collected)
{
    struct collected *c = collected;
    free(c->ops);
    free(c->packages);
}

bool plugin_is(const struct library *library)
{
    return library_symbol(library, PLUGIN_INIT) != NULL;
}

static const char *initialize(const struct library *library, struct collected *c, set_plugin_registrar_fn *set)
{
    const char *(*init)(void);
    void *symbol = library_symbol(library, PLUGIN_INIT);
    memcpy(&init, &symbol, sizeof symbol);
    set(&c->registrar);
    const char *name = init();
    set(NULL);
    return name;
}

odlc_status plugin_register(struct arena *arena, struct diags *diags, const struct library *library,
                            const QnnOpPackage_Info_t *info, struct plugin_ops *out)
{
    struct collected *c = arena_new(arena, struct collected);
    set_plugin_registrar_fn *set = plugin_host_registrar();
    if (!set)
        return library_error(diags, ODLC_ERR_UNSUPPORTED, library, "plugin-host", NULL,
                             "the library brings functions of its own in the place of libopendlc-plugin.so's");
    c->registrar.add_v1 = add_v1;
    arena_defer(arena, free_collected, c);
    const char *name = initialize(library, c, set);
    if (c->exhausted)
        return library_error(diags, ODLC_ERR_LIMIT, library, "plugin-ops", NULL,
                             "qhpi_init registers more ops than there is room for");
    if (c->without_ops)
        return library_error(diags, ODLC_ERR_INVALID, library, "plugin-ops", NULL,
                             "qhpi_register_ops_v1 is called without ops");
    out->count = c->count;
    out->list = arena_array(arena, struct plugin_op, c->count);
    for (size_t i = 0; i < c->count; i++)
        out->list[i] = (struct plugin_op){.info = c->ops[i]};
    return plugin_check(diags, library, info, name, c->packages, out);
}

const struct plugin_op *plugin_find(const struct plugin_ops *ops, const char *type)
{
    for (size_t i = 0; i < ops->count; i++)
        if (strcmp(ops->list[i].type, type) == 0)
            return &ops->list[i];
    return NULL;
}
