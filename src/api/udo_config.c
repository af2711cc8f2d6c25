/* SPDX-License-Identifier: Apache-2.0 */
#include "opendlc/udo.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "udo/udo.h"
#include "udo/param_value.h"
#include "udo/udo_write.h"

struct odlc_udo {
    struct arena *arena;
    struct diags diags;
    struct udo_set set;
    VEC(struct odlc_udo_definition) definitions;
};

odlc_udo *odlc_udo_new(void)
{
    struct arena *arena = arena_create();
    if (!arena)
        return NULL;
    if (setjmp(*arena_catch(arena))) {
        arena_destroy(arena);
        return NULL;
    }
    struct odlc_udo *udo = arena_new(arena, struct odlc_udo);
    udo->arena = arena;
    diags_init(&udo->diags, arena);
    udo_set_init(&udo->set, arena, &udo->diags, op_registry_new(arena));
    return udo;
}

void odlc_udo_free(odlc_udo *udo)
{
    if (udo)
        arena_destroy(udo->arena);
}

static const char *layout_name(enum udo_layout layout)
{
    static const char *const names[] = {
        [UDO_LAYOUT_NONE] = NULL, [UDO_LAYOUT_NHWC] = "NHWC", [UDO_LAYOUT_NCHW] = "NCHW"};
    return names[layout];
}

static const struct odlc_udo_operand *copy_tensors(struct arena *arena, const struct udo_tensor *from, uint32_t count)
{
    struct odlc_udo_operand *to = arena_array(arena, struct odlc_udo_operand, count);
    for (uint32_t i = 0; i < count; i++)
        to[i] = (struct odlc_udo_operand){.name = from[i].name,
                                          .data_type = from[i].dtype ? udo_type_name(from[i].dtype) : NULL,
                                          .layout = layout_name(from[i].layout),
                                          .is_static = from[i].is_static,
                                          .is_optional = from[i].optional,
                                          .is_repeated = from[i].repeated,
                                          .has_default = from[i].default_value != NULL,
                                          .has_shape = from[i].same_as || from[i].shape};
    return to;
}

static const struct odlc_udo_operand *copy_scalars(struct arena *arena, const struct udo_scalar *from, uint32_t count)
{
    struct odlc_udo_operand *to = arena_array(arena, struct odlc_udo_operand, count);
    for (uint32_t i = 0; i < count; i++)
        to[i] = (struct odlc_udo_operand){.name = from[i].name,
                                          .data_type = udo_type_name(from[i].dtype),
                                          .has_default = from[i].default_value != NULL};
    return to;
}

static const char *supplemental(const struct udo_def *def, const char *name)
{
    for (uint32_t i = 0; i < def->n_supplemental; i++)
        if (strcmp(def->supplemental[i].name, name) == 0)
            return def->supplemental[i].s;
    return NULL;
}

static struct odlc_udo_definition copy_definition(struct arena *arena, const struct udo_def *def)
{
    return (struct odlc_udo_definition){
        .package = def->package,
        .type = def->type,
        .domain = def->domain,
        .replaces_native = def->replaces_native,
        .file = def->place.file,
        .line = def->place.line,
        .column = def->place.column,
        .core_types = supplemental(def, UDO_PARAM_CORES),
        .dsp_arch_types = supplemental(def, UDO_PARAM_ARCHS),
        .n_inputs = def->n_inputs,
        .n_outputs = def->n_outputs,
        .n_scalar_params = def->n_scalar_params,
        .n_tensor_params = def->n_tensor_params,
        .inputs = copy_tensors(arena, def->inputs, def->n_inputs),
        .outputs = copy_tensors(arena, def->outputs, def->n_outputs),
        .scalar_params = copy_scalars(arena, def->scalar_params, def->n_scalar_params),
        .tensor_params = copy_tensors(arena, def->tensor_params, def->n_tensor_params),
    };
}

static odlc_status load(odlc_udo *udo, const char *path)
{
    odlc_status status = udo_load(&udo->set, arena_strdup(udo->arena, path));
    for (size_t i = udo->definitions.count; i < udo->set.defs.count; i++)
        vec_push(udo->arena, &udo->definitions, copy_definition(udo->arena, udo->set.defs.data[i]));
    return status;
}

odlc_status odlc_udo_load(odlc_udo *udo, const char *path)
{
    if (setjmp(*arena_catch(udo->arena)))
        return ODLC_ERR_NOMEM;
    return load(udo, path);
}

odlc_status odlc_udo_load_bytes(odlc_udo *udo, const struct odlc_bytes *bytes)
{
    if (setjmp(*arena_catch(udo->arena)))
        return ODLC_ERR_NOMEM;
    diags_take_buffer(&udo->diags, bytes);
    return load(udo, bytes->name);
}

static odlc_status write_file(odlc_udo *udo, const text *content, const char *path)
{
    struct out_file *out;
    TRY(out_create(udo->arena, &udo->diags, path, &out));
    TRY(out_write(out, content->data, content->count));
    return out_commit(out);
}

odlc_status odlc_udo_write(odlc_udo *udo, enum odlc_udo_form form, const char *path)
{
    text content;
    if (setjmp(*arena_catch(udo->arena)))
        return ODLC_ERR_NOMEM;
    TRY(udo_write(&udo->set, form == ODLC_UDO_JSON ? UDO_JSON : UDO_XML, &content));
    return write_file(udo, &content, path);
}

const struct odlc_udo_definition *odlc_udo_definitions(const odlc_udo *udo, size_t *count)
{
    *count = udo->definitions.count;
    return udo->definitions.data;
}

const struct odlc_diag *odlc_udo_diags(const odlc_udo *udo, size_t *count)
{
    *count = udo->diags.list.count;
    return udo->diags.list.data;
}
