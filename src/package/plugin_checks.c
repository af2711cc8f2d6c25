/* SPDX-License-Identifier: Apache-2.0 */
#include "package/plugin_checks.h"

#include <string.h>

#include "base/map.h"

struct checking {
    struct diags *diags;
    const struct library *library;
    const char *op, *kernel; /* at work; NULL: none */
    struct map kernels;      /* names of kernels of the package */
    odlc_status status;
};

/* `what` follows the name of what is at work. */
static void wrong(struct checking *c, const char *code, const char *hint, const char *what)
{
    const char *subject = "the package";
    if (c->op)
        subject = c->kernel ? arena_printf(c->diags->arena, "kernel %s of op %s", c->kernel, c->op)
                            : arena_printf(c->diags->arena, "op %s", c->op);
    c->status = library_error(c->diags, ODLC_ERR_INVALID, c->library, code, hint, "%s %s", subject, what);
}

static const char *quoted(struct checking *c, const char *text)
{
    return text ? arena_printf(c->diags->arena, "'%s'", text) : "NULL";
}

/* ---- names ---- */

static void check_package(struct checking *c, const char *expected, const char *found, const char *function)
{
    if (!found || strcmp(found, expected) != 0)
        wrong(c, "plugin-name", "let both be the package's name",
              arena_printf(c->diags->arena, "is called '%s' by getInfo, and %s by %s", expected, quoted(c, found),
                           function));
}

static bool is_told(const QnnOpPackage_Info_t *info, const char *type)
{
    for (uint32_t i = 0; i < info->numOperations; i++)
        if (strcmp(info->operationNames[i], type) == 0)
            return true;
    return false;
}

static void check_op_name(struct checking *c, const QnnOpPackage_Info_t *info, struct plugin_op *op)
{
    const size_t length = strlen(info->packageName);
    const char *name = op->info.name;
    op->type = name ? name : "";
    c->op = quoted(c, name);
    if (!name || strncmp(name, info->packageName, length) != 0 || strncmp(name + length, "::", 2) != 0) {
        wrong(c, "plugin-op-name", arena_printf(c->diags->arena, "call it %s::<type>", info->packageName),
              "does not have its package's name in front");
        return;
    }
    op->type = name + length + 2;
    if (!is_told(info, op->type))
        wrong(c, "plugin-op", "add it to operationNames of getInfo", "is registered, and getInfo does not tell of it");
}

/* ---- kernels ---- */

static bool is_between(uint32_t value, uint32_t first, uint32_t last)
{
    return value >= first && value <= last;
}

static void check_signature(struct checking *c, const char *side, const QHPI_Tensor_Signature_v1 *signature,
                            uint32_t count, bool more)
{
    if (count == 0 && !more && side[0] == 'o')
        wrong(c, "plugin-count", NULL, "has no output: min_outputs is 0");
    if (count == 0)
        return;
    if (!signature) {
        wrong(c, "plugin-signature", NULL,
              arena_printf(c->diags->arena, "has min_%ss %u and no %s_signature", side, count, side));
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const QHPI_Tensor_Signature_v1 *s = &signature[i];
        const char *field = !is_between(s->element_type, QHPI_ELEMENT_TYPE_ANY, QHPI_FLOAT16) ? "element_type"
                            : !is_between(s->layout, QHPI_LAYOUT_ANY, QHPI_LAYOUT_CROUTON_16) ? "layout"
                            : !is_between(s->storage, QHPI_STORAGE_DIRECT, QHPI_STORAGE_DIRECT_OR_INDIRECT) ? "storage"
                            : !is_between(s->mem_placement, QHPI_MEM_LOC_DDR_ONLY, QHPI_MEM_LOC_DDR_OR_TCM)
                                ? "mem_placement"
                                : NULL;
        if (field)
            wrong(c, "plugin-signature", "count the entries of the array",
                  arena_printf(c->diags->arena, "has a value in %s_signature[%u].%s that qhpi.h does not have", side, i,
                               field));
    }
}

static void check_functions(struct checking *c, const QHPI_Kernel_v1 *k)
{
    if (!k->function && !k->function_with_precomputed_data)
        wrong(c, "plugin-kernel-function", NULL, "has neither function nor function_with_precomputed_data");
    const bool sized = k->precomputed_data_size > 0, fills = k->do_precomputation_function,
               reads = k->function_with_precomputed_data;
    if (sized && !fills)
        wrong(c, "plugin-precomputation", NULL, "has a precomputed_data_size and no do_precomputation_function");
    if (sized && !reads)
        wrong(c, "plugin-precomputation", NULL, "has a precomputed_data_size and no function_with_precomputed_data");
    if (!sized && (fills || reads))
        wrong(c, "plugin-precomputation", "say how many bytes the data has",
              arena_printf(c->diags->arena, "has %s, and its precomputed_data_size is 0",
                           fills ? "do_precomputation_function" : "function_with_precomputed_data"));
}

static void check_kernel(struct checking *c, const QHPI_Kernel_v1 *k, uint32_t index)
{
    c->kernel = arena_printf(c->diags->arena, "%u", index);
    if (!k->function_name || !*k->function_name)
        wrong(c, "plugin-kernel-name", NULL, "has no function_name");
    else {
        c->kernel = quoted(c, k->function_name);
        if (map_add(&c->kernels, k->function_name, 0) != MAP_NONE)
            wrong(c, "plugin-kernel-name", "the name must be that of one kernel of the package",
                  "has the function_name of another kernel");
    }
    check_functions(c, k);
    check_signature(c, "input", k->input_signature, k->min_inputs, k->variable_inputs);
    check_signature(c, "output", k->output_signature, k->min_outputs, k->variable_outputs);
    if (k->resources & ~(QHPI_RESOURCE_HVX | QHPI_RESOURCE_HMX))
        wrong(c, "plugin-resources", NULL, "needs resources that qhpi.h does not have");
    c->kernel = NULL;
}

static void check_kernels(struct checking *c, const QHPI_OpInfo_v1 *op)
{
    if (op->num_kernels > 0 && !op->kernels)
        wrong(c, "plugin-kernels", NULL,
              arena_printf(c->diags->arena, "has num_kernels %u and no kernels", op->num_kernels));
    if (op->num_kernels == 0 && !op->early_rewrite)
        wrong(c, "plugin-kernels", "an op without kernels has to be rewritten: early_rewrite",
              "has no kernel, and nothing that rewrites it");
    for (uint32_t i = 0; i < op->num_kernels && op->kernels; i++)
        check_kernel(c, &op->kernels[i], i);
    if (!op->build_tile && (op->shape_legalized || op->shape_required))
        diag_note(c->diags, AT(.file = c->library->path), "plugin-no-build-tile",
                  "op %s is never cut: it says what tiles it takes, and has no build_tile", c->op);
}

/* ---- all ---- */

static void check_missing(struct checking *c, const QnnOpPackage_Info_t *info, const struct map *names)
{
    for (uint32_t i = 0; i < info->numOperations; i++) {
        c->op = arena_printf(c->diags->arena, "'%s'", info->operationNames[i]);
        if (map_get(names, info->operationNames[i]) == MAP_NONE)
            wrong(c, "plugin-op", "register it in qhpi_init, by qhpi_register_ops_v1",
                  "is told of by getInfo, and not registered");
    }
}

odlc_status plugin_check(struct diags *diags, const struct library *library, const QnnOpPackage_Info_t *info,
                         const char *name, const char *const *packages, struct plugin_ops *ops)
{
    struct checking c = {.diags = diags, .library = library, .status = ODLC_OK};
    struct map names;
    map_init(&c.kernels, diags->arena);
    map_init(&names, diags->arena);
    check_package(&c, info->packageName, name, "qhpi_init");
    for (size_t i = 0; i < ops->count; i++) {
        c.op = NULL;
        if (i == 0 || packages[i] != packages[i - 1])
            check_package(&c, info->packageName, packages[i], "qhpi_register_ops_v1");
        check_op_name(&c, info, &ops->list[i]);
        if (map_add(&names, ops->list[i].type, 0) != MAP_NONE)
            wrong(&c, "plugin-op-twice", NULL, "is registered twice");
        check_kernels(&c, &ops->list[i].info);
    }
    check_missing(&c, info, &names);
    return c.status;
}
