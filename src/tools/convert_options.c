/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/convert_options.h"

#include <string.h>

#include "base/file.h"

/* ---- rows that say how they fill a member ---- */

static void collect_pairs(struct arena *arena, const struct options *options, int id,
                          const struct odlc_name_value **out, size_t *count)
{
    VEC(struct odlc_name_value) pairs = {0};
    for (size_t i = 0; i < options->uses.count; i++) {
        const struct option_use *use = &options->uses.data[i];
        if (use->option->id == id)
            vec_push(arena, &pairs, (struct odlc_name_value){.name = use->values[0], .value = use->values[1]});
    }
    *out = pairs.data;
    *count = pairs.count;
}

static odlc_status fill(struct arena *arena, struct diags *diags, const struct options *options,
                        const struct option *row, struct odlc_convert_options *out)
{
    void *member = (char *)out + row->member, *count = (char *)out + row->count;
    switch (row->fill) {
    case FILL_NONE:
        break;
    case FILL_FLAG:
        *(int *)member = 1;
        break;
    case FILL_TEXT:
        *(const char **)member = options_value(options, row->id, NULL);
        break;
    case FILL_NUMBER:
        return options_int(options, diags, row->id, row->low, row->high, member);
    case FILL_LIST:
        options_values(arena, options, row->id, member, count);
        break;
    case FILL_PAIRS:
        collect_pairs(arena, options, row->id, member, count);
        break;
    }
    return ODLC_OK;
}

/* ---- rows with forms of their own ---- */

/* NAME=FILE */
static odlc_status read_frozen(struct arena *arena, struct diags *diags, const struct options *options,
                               struct odlc_convert_options *out)
{
    VEC(struct odlc_name_value) frozen = {0};
    for (size_t i = 0; i < options->uses.count; i++) {
        const struct option_use *use = &options->uses.data[i];
        if (use->option->id != CONVERT_OPT_freeze_input)
            continue;
        const char *text = use->values[0], *sign = strchr(text, '=');
        if (!sign || sign == text || !sign[1])
            return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "--freeze_input NAME=FILE"), "freeze-input",
                              "--freeze_input: %s is not of the form NAME=FILE", text);
        const char *name = arena_strndup(arena, text, (size_t)(sign - text));
        vec_push(arena, &frozen, (struct odlc_name_value){.name = name, .value = sign + 1});
    }
    out->frozen_inputs = frozen.data;
    out->n_frozen_inputs = frozen.count;
    return ODLC_OK;
}

/* --preserve_io [layout|datatype [NAME…]]: alone it means both, for all. */
static void read_preserve(struct arena *arena, const struct options *options, struct odlc_convert_options *out)
{
    const char *const *values;
    size_t count;
    options_values(arena, options, CONVERT_OPT_preserve_io, &values, &count);
    if (!options_given(options, CONVERT_OPT_preserve_io))
        return;
    bool layout = count > 0 && strcmp(values[0], "layout") == 0;
    bool datatype = count > 0 && strcmp(values[0], "datatype") == 0;
    out->preserve_layout = layout || !datatype;
    out->preserve_dtype = datatype || !layout;
    size_t skip = layout || datatype;
    out->preserve_names = values + skip;
    out->n_preserve_names = count - skip;
}

static odlc_status read_format(struct diags *diags, const struct options *options, struct odlc_convert_options *out)
{
    const char *format = options_value(options, CONVERT_OPT_params_format, "nr64");
    out->netp = strcmp(format, "netp") == 0;
    if (!out->netp && strcmp(format, "nr64") != 0)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "nr64 or netp"), "params-format",
                          "--params_format: there is no format %s", format);
    return ODLC_OK;
}

static odlc_status read_dump(struct diags *diags, const struct options *options, struct odlc_convert_options *out)
{
    const char *dump = options_value(options, CONVERT_OPT_dump_ir, NULL);
    if (dump && strncmp(dump, "after=", 6) != 0)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "--dump_ir after=PASS"), "dump-ir",
                          "--dump_ir: %s is not of the form after=PASS", dump);
    out->dump_ir_after = dump ? dump + 6 : NULL;
    return ODLC_OK;
}

static odlc_status read_copyright(struct arena *arena, struct diags *diags, const struct options *options,
                                  struct odlc_convert_options *out)
{
    const char *path = options_value(options, CONVERT_OPT_copyright_file, NULL);
    struct file *file;
    if (!path)
        return ODLC_OK;
    options_values(arena, options, CONVERT_OPT_copyright_file, &out->more_inputs, &out->n_more_inputs);
    TRY(file_map(arena, diags, path, &file));
    if (file->size > 65536)
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = path), "copyright", "the copyright text is over 64 KiB");
    out->model_copyright = arena_strndup(arena, (const char *)file->data, file->size);
    return ODLC_OK;
}

odlc_status convert_options_read(struct arena *arena, struct diags *diags, const struct options *options,
                                 struct odlc_convert_options *out)
{
    const struct command *command = options->command;
    for (const struct option *row = command->rows; row < command->rows + command->n_rows; row++)
        if (options_given(options, row->id))
            TRY(fill(arena, diags, options, row, out));
    options_names(arena, options, CONVERT_OPT_inference_libraries, &out->inference_libraries,
                  &out->n_inference_libraries);
    read_preserve(arena, options, out);
    TRY(read_frozen(arena, diags, options, out));
    TRY(read_format(diags, options, out));
    TRY(read_dump(diags, options, out));
    return read_copyright(arena, diags, options, out);
}
