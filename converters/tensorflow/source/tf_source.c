#include "converters/tensorflow/source/tf_source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "converters/frontend/unknown_name.h"
#include "converters/tensorflow/source/tf_fields.h"
#include "converters/tensorflow/source/pbtxt.h"
#include "converters/tensorflow/normalize/saved_functions.h"
#include "converters/tensorflow/source/tf_schema.h"
#include "converters/tensorflow/tensorflow.h"
#include "tensorflow.pb-c.h"
#include "converters/tensorflow/decode/tf_types.h"

#define DEFAULT_TAG "serve"
#define DEFAULT_SIGNATURE "serving_default"

/* ---- files ---- */

static bool is_text(const char *path)
{
    return fw_has_suffix(path, ".pbtxt") || fw_has_suffix(path, ".prototxt") || fw_has_suffix(path, ".txt");
}

/* Makes the file the model's. Text becomes bytes first. */
static odlc_status take_file(struct tf_model *m, struct file *file, const ProtobufCMessageDescriptor *message)
{
    if (file->size == 0)
        return diag_error(m->diags, ODLC_ERR_INVALID, AT(.file = file->path), "tensorflow-empty",
                          "not a TensorFlow model: the file is empty");
    if (is_text(file->path))
        TRY(pbtxt_to_wire(m->memory.kept, m->diags, file, message, &file));
    m->file = file;
    return wire_check(m->diags, file, &tensorflow_schema, message);
}

/* A file that the caller named. */
static odlc_status take_named_file(struct tf_model *m, const char *path, const ProtobufCMessageDescriptor *message)
{
    struct file *file;
    TRY(file_map(m->memory.kept, m->diags, path, &file));
    return take_file(m, file, message);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether the path is that of a saved model's file. */
static bool is_saved_model(const char *path)
{
    return strcmp(base_name(path), "saved_model.pb") == 0 || strcmp(base_name(path), "saved_model.pbtxt") == 0;
}

/* Takes the file of a saved model's folder. */
static odlc_status take_from_folder(struct tf_model *m, const char *input, struct model_folder *folder)
{
    static const char *const names[] = {"saved_model.pb", "saved_model.pbtxt"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *path = arena_printf(m->memory.kept, "%s%s", folder->path, names[i]);
        struct file *file;
        if (!model_folder_has(folder, path))
            continue;
        TRY(model_folder_map(folder, m->memory.kept, m->diags, path, NULL, &file));
        return take_file(m, file, &tensorflow__saved_model__descriptor);
    }
    return diag_error(m->diags, ODLC_ERR_INVALID,
                      AT(.file = input, .hint = "give the folder that holds saved_model.pb, or a frozen graph"),
                      "saved-model", "the folder holds no saved_model.pb and no saved_model.pbtxt");
}

/* ---- messages ---- */

static struct sections sections_of(const struct tf_model *m, const struct wire_field *message)
{
    return wire_sections(m->file, message->content, message->content + message->size);
}

static const char *only_text(const struct tf_model *m, const struct sections *s, uint32_t number)
{
    struct wire_field f = wire_only(m->file, s, number);
    return tf_text(m, &f);
}

/* ---- which graph of a saved model ---- */

typedef VEC(const char *) name_list;

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "gpu,serve": sorted, so that their order does not count. */
static const char *join(struct arena *arena, name_list *tags)
{
    text t = {0};
    if (tags->count)
        qsort(tags->data, tags->count, sizeof *tags->data, compare_texts);
    for (size_t i = 0; i < tags->count; i++)
        text_add(arena, &t, "%s%s", i ? "," : "", tags->data[i]);
    return t.count ? t.data : "";
}

static const char *tags_of(const struct tf_model *m, const struct wire_field *meta)
{
    const struct sections s = sections_of(m, meta);
    struct wire_field info = wire_only(m->file, &s, META_INFO), f;
    struct wire w = wire_in(m->file, &info);
    name_list tags = {0};
    while (wire_next_of(&w, META_INFO_TAG, &f))
        vec_push(m->memory.scratch, &tags, tf_text(m, &f));
    return join(m->memory.kept, &tags);
}

static const char *sorted_tags(const struct tf_model *m, const char *given)
{
    name_list tags = {0};
    for (const char *at = given; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        vec_push(m->memory.scratch, &tags, arena_strndup(m->memory.scratch, at, length));
        at += length;
    }
    return join(m->memory.scratch, &tags);
}

/* Without a wish it is the graph to serve, or the only one. */
static odlc_status choose_graph(struct tf_model *m, const char *tag, struct wire_field *out)
{
    const char *wanted = sorted_tags(m, tag ? tag : DEFAULT_TAG);
    struct wire w = wire_of(m->file, 0, m->file->size);
    struct wire_field f, last = {0};
    name_list known = {0};
    while (wire_next_of(&w, SAVED_MODEL_META_GRAPH, &f)) {
        const char *tags = tags_of(m, &f);
        vec_push(m->memory.scratch, &known, tags);
        last = f;
        if (strcmp(tags, wanted) != 0)
            continue;
        *out = f;
        return ODLC_OK;
    }
    *out = last;
    if (known.count == 1 && !tag)
        return ODLC_OK;
    return unknown_name(m->diags, m->file->path,
                        &(struct unknown_name){.code = "unknown-tag",
                                               .message = "--saved_model_tag: the saved model has no graph tagged",
                                               .name = tag ? tag : DEFAULT_TAG,
                                               .known = known.data,
                                               .n_known = known.count,
                                               .listed_as = "tags of its graphs"});
}

/* ---- which signature ---- */

static odlc_status add_end(struct tf_model *m, const struct wire_field *entry, struct tf_end *out)
{
    const struct sections s = sections_of(m, entry);
    struct wire_field value = wire_only(m->file, &s, ENTRY_VALUE);
    const struct sections info = sections_of(m, &value);
    struct wire_field dtype = wire_only(m->file, &info, TENSOR_INFO_DTYPE),
                      shape = wire_only(m->file, &info, TENSOR_INFO_SHAPE);
    *out = (struct tf_end){.key = only_text(m, &s, ENTRY_KEY)};
    out->value.name = tensorflow_canonical_name(m->memory.kept, only_text(m, &info, TENSOR_INFO_NAME));
    out->value.dtype = tf_dtype((int64_t)dtype.value);
    out->value.not_a_tensor = !*out->value.name;
    if (info.of[TENSOR_INFO_SHAPE].count)
        TRY(tf_decode_shape(m, &shape, out->value.name, &out->value));
    return ODLC_OK;
}

static int compare_ends(const void *a, const void *b)
{
    return strcmp(((const struct tf_end *)a)->key, ((const struct tf_end *)b)->key);
}

static odlc_status read_signature(struct tf_model *m, const struct wire_field *signature, struct tf_source *out)
{
    struct wire w = wire_in(m->file, signature);
    struct wire_field f;
    struct tf_end end;
    while (wire_next(&w, &f)) {
        if (f.number != SIGNATURE_INPUTS && f.number != SIGNATURE_OUTPUTS)
            continue;
        TRY(add_end(m, &f, &end));
        if (f.number == SIGNATURE_INPUTS)
            vec_push(m->memory.scratch, &out->inputs, end);
        else
            vec_push(m->memory.scratch, &out->outputs, end);
    }
    if (out->outputs.count)
        qsort(out->outputs.data, out->outputs.count, sizeof *out->outputs.data, compare_ends);
    if (out->inputs.count)
        qsort(out->inputs.data, out->inputs.count, sizeof *out->inputs.data, compare_ends);
    return ODLC_OK;
}

/* Signatures whose names begin so are for loading, not for users. */
static bool is_internal(const char *key)
{
    return strncmp(key, "__saved_model_", 14) == 0;
}

static odlc_status choose_signature(struct tf_model *m, const struct sections *meta, const char *key, bool needed,
                                    struct tf_source *out)
{
    const char *wanted = key ? key : DEFAULT_SIGNATURE;
    struct wire w = wire_section(m->file, meta, META_SIGNATURE);
    struct wire_field f, last = {0};
    name_list known = {0};
    while (wire_next_of(&w, META_SIGNATURE, &f)) {
        const struct sections entry = sections_of(m, &f);
        const char *name = only_text(m, &entry, ENTRY_KEY);
        struct wire_field value = wire_only(m->file, &entry, ENTRY_VALUE);
        if (strcmp(name, wanted) == 0)
            return read_signature(m, &value, out);
        if (is_internal(name))
            continue;
        vec_push(m->memory.scratch, &known, name);
        last = value;
    }
    if (known.count == 1 && !key)
        return read_signature(m, &last, out);
    if (!key && !needed)
        return ODLC_OK;
    if (!key && known.count == 0)
        return report_no_signature(m, meta);
    return unknown_name(
        m->diags, m->file->path,
        &(struct unknown_name){.code = "unknown-signature",
                               .message = "--saved_model_signature_key: the saved model has no signature",
                               .name = wanted,
                               .known = known.data,
                               .n_known = known.count,
                               .listed_as = "signatures"});
}

/* ---- forms ---- */

static odlc_status take_graph(struct tf_model *m, const struct wire_field *meta, struct sections *s,
                              struct tf_source *out)
{
    *s = sections_of(m, meta);
    struct wire_field graph = wire_only(m->file, s, META_GRAPH_DEF), saver = wire_only(m->file, s, META_SAVER);
    struct wire_field info = wire_only(m->file, s, META_INFO);
    const struct sections names = sections_of(m, &saver), infos = sections_of(m, &info);
    const struct wire_field ops = wire_only(m->file, &infos, META_INFO_OPS);
    TRY(tf_decode_op_list(m, &ops));
    out->from = graph.content;
    out->to = graph.content + graph.size;
    out->restore_op = tensorflow_canonical_name(m->memory.kept, only_text(m, &names, SAVER_RESTORE_OP));
    return ODLC_OK;
}

/* Of the model's file, which is taken already. */
static odlc_status read_saved_model(struct tf_model *m, const struct fw_load_options *options, struct tf_source *out)
{
    struct wire_field meta;
    struct sections s;
    TRY(choose_graph(m, options->saved_model_tag, &meta));
    TRY(take_graph(m, &meta, &s, out));
    const char *prefix = arena_printf(m->memory.kept, "%svariables/variables", out->folder->path);
    if (model_folder_has(out->folder, arena_printf(m->memory.scratch, "%s.index", prefix)))
        out->checkpoint = prefix;
    if (options->saved_model_function)
        return choose_function(m, &s, options->saved_model_function, out);
    return choose_signature(m, &s, options->signature_key, options->n_out_names == 0, out);
}

static odlc_status read_meta(struct tf_model *m, const char *path, struct tf_source *out)
{
    struct sections s;
    TRY(take_named_file(m, path, &tensorflow__meta_graph_def__descriptor));
    const struct wire_field whole = {.size = m->file->size};
    TRY(take_graph(m, &whole, &s, out));
    out->checkpoint = arena_strndup(m->memory.kept, path, strlen(path) - strlen(".meta"));
    return ODLC_OK;
}

static odlc_status check_choices(struct tf_model *m, const struct fw_load_options *options, bool saved_model)
{
    const char *function = options->saved_model_function;
    if (function && options->signature_key)
        return diag_error(m->diags, ODLC_ERR_USAGE, AT(.file = options->input), "saved-model-function",
                          "--saved_model_function %s and --saved_model_signature_key %s contradict each other",
                          function, options->signature_key);
    if (function && !saved_model)
        return diag_error(m->diags, ODLC_ERR_USAGE, AT(.file = options->input), "saved-model-function",
                          "--saved_model_function %s: the model is no saved model", function);
    return ODLC_OK;
}

odlc_status source_open(struct tf_model *m, const struct fw_load_options *options, struct tf_source *out)
{
    const char *input = options->input;
    bool folder = !is_saved_model(input) && is_folder(input);
    const char *in_folder =
        folder && !fw_has_suffix(input, "/") ? arena_printf(m->memory.scratch, "%s/", input) : input;
    *out = (struct tf_source){.path = input, .restore_op = ""};
    TRY(check_choices(m, options, folder || is_saved_model(input)));
    out->folder = model_folder_of(m->memory.kept, in_folder, options->follow_links);
    if (folder || is_saved_model(input)) {
        TRY(folder ? take_from_folder(m, input, out->folder)
                   : take_named_file(m, input, &tensorflow__saved_model__descriptor));
        return read_saved_model(m, options, out);
    }
    if (fw_has_suffix(input, ".meta"))
        return read_meta(m, input, out);
    TRY(take_named_file(m, input, &tensorflow__graph_def__descriptor));
    out->to = m->file->size;
    return ODLC_OK;
}
