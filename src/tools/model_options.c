#include "tools/model_options.h"

#include <string.h>

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

/* NAME=FILE */
static odlc_status collect_frozen(struct arena *arena, struct diags *diags, const struct options *options,
                                  struct odlc_convert_options *out)
{
    VEC(struct odlc_name_value) frozen = {0};
    for (size_t i = 0; i < options->uses.count; i++) {
        const struct option_use *use = &options->uses.data[i];
        if (use->option->id != MODEL_OPT_FREEZE)
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
    options_values(arena, options, MODEL_OPT_PRESERVE, MODEL_OPT_PRESERVE, &values, &count);
    if (!options_given(options, MODEL_OPT_PRESERVE))
        return;
    bool layout = count > 0 && strcmp(values[0], "layout") == 0;
    bool datatype = count > 0 && strcmp(values[0], "datatype") == 0;
    out->preserve_layout = layout || !datatype;
    out->preserve_dtype = datatype || !layout;
    size_t skip = layout || datatype;
    out->preserve_names = values + skip;
    out->n_preserve_names = count - skip;
}

odlc_status model_options_read(struct arena *arena, struct diags *diags, const struct options *options,
                               struct odlc_convert_options *out)
{
    options_values(arena, options, MODEL_OPT_OUT, MODEL_OPT_OUT, &out->out_names, &out->n_out_names);
    collect_pairs(arena, options, MODEL_OPT_DIM, &out->input_dims, &out->n_input_dims);
    collect_pairs(arena, options, MODEL_OPT_SYMBOL, &out->symbols, &out->n_symbols);
    collect_pairs(arena, options, MODEL_OPT_DTYPE, &out->input_dtypes, &out->n_input_dtypes);
    TRY(collect_frozen(arena, diags, options, out));
    collect_pairs(arena, options, MODEL_OPT_LAYOUT, &out->input_layouts, &out->n_input_layouts);
    read_preserve(arena, options, out);
    out->promote_static = options_given(options, MODEL_OPT_PROMOTE);
    out->no_batchnorm_folding = options_given(options, MODEL_OPT_NO_BN);
    out->keep_disconnected_nodes = options_given(options, MODEL_OPT_KEEP);
    out->keep_quant_nodes = options_given(options, MODEL_OPT_KEEP_QUANT);
    out->follow_links = options_given(options, MODEL_OPT_FOLLOW_LINKS);
    out->keep_int64_inputs = options_given(options, MODEL_OPT_KEEP_INT64);
    out->saved_model_tag = options_value(options, MODEL_OPT_TAG, NULL);
    out->signature_key = options_value(options, MODEL_OPT_SIGNATURE, NULL);
    out->saved_model_function = options_value(options, MODEL_OPT_FUNCTION, NULL);
    return options_int(options, diags, MODEL_OPT_BATCH, 1, INT32_MAX, &out->batch);
}
