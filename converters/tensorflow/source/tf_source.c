/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/source/tf_source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "converters/frontend/unknown_name.h"
#include "converters/tensorflow/schema/tf_fields.h"
#include "converters/tensorflow/schema/tf_names.h"
#include "converters/tensorflow/source/pbtxt.h"
#include "converters/tensorflow/source/saved_program.h"
#include "converters/tensorflow/schema/tf_schema.h"
#include "tensorflow.pb-c.h"

#define DEFAULT_TAG "serve"
#define DEFAULT_SIGNATURE "serving_default"

/* ---- files ---- */

static bool is_text(const char *path)
{
    return fw_has_suffix(path, ".pbtxt") || fw_has_suffix(path, ".prototxt") || fw_has_suffix(path, ".txt");
}

/* Makes the file the model's. Text becomes bytes first. */
static odlc_status take_file(struct tf_source *src, struct file *file, const ProtobufCMessageDescriptor *message)
{
    if (file->size == 0)
        return diag_error(src->diags, ODLC_ERR_INVALID, AT(.file = file->path), "tensorflow-empty",
                          "not a TensorFlow model: the file is empty");
    if (is_text(file->path))
        TRY(pbtxt_to_wire(src->memory.kept, src->diags, file, message, &file));
    src->file = file;
    return wire_check(src->diags, file, &tensorflow_schema, message);
}

/* A file that the caller named. */
static odlc_status take_named_file(struct tf_source *src, const char *path, const ProtobufCMessageDescriptor *message)
{
    struct file *file;
    TRY(file_map(src->memory.kept, src->diags, path, &file));
    return take_file(src, file, message);
}

static bool is_folder(const struct diags *diags, const char *path)
{
    struct stat st;
    return !file_in_memory(diags, path) && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
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
static odlc_status take_from_folder(struct tf_source *src, const char *input, struct model_folder *folder)
{
    static const char *const names[] = {"saved_model.pb", "saved_model.pbtxt"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *path = arena_printf(src->memory.kept, "%s%s", folder->path, names[i]);
        struct file *file;
        if (!model_folder_has(folder, path))
            continue;
        TRY(model_folder_map(folder, src->memory.kept, src->diags, path, NULL, &file));
        return take_file(src, file, &tensorflow__saved_model__descriptor);
    }
    return diag_error(src->diags, ODLC_ERR_INVALID,
                      AT(.file = input, .hint = "give the folder that holds saved_model.pb, or a frozen graph"),
                      "saved-model", "the folder holds no saved_model.pb and no saved_model.pbtxt");
}

/* ---- messages ---- */

static const char *only_text(const struct tf_source *src, const struct sections *s, uint32_t number)
{
    struct wire_field f = wire_only(src->file, s, number);
    return wire_text(src->memory.kept, src->file, &f);
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

static const char *tags_of(const struct tf_source *src, const struct wire_field *meta)
{
    const struct sections s = wire_sections_of(src->file, meta);
    struct wire_field info = wire_only(src->file, &s, META_INFO), f;
    struct wire w = wire_in(src->file, &info);
    name_list tags = {0};
    while (wire_next_of(&w, META_INFO_TAG, &f))
        vec_push(src->memory.scratch, &tags, wire_text(src->memory.kept, src->file, &f));
    return join(src->memory.kept, &tags);
}

static const char *sorted_tags(const struct tf_source *src, const char *given)
{
    name_list tags = {0};
    for (const char *at = given; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        vec_push(src->memory.scratch, &tags, arena_strndup(src->memory.scratch, at, length));
        at += length;
    }
    return join(src->memory.scratch, &tags);
}

/* Without a wish it is the graph to serve, or the only one. */
static odlc_status choose_graph(struct tf_source *src, const char *tag, struct wire_field *out)
{
    const char *wanted = sorted_tags(src, tag ? tag : DEFAULT_TAG);
    struct wire w = wire_of(src->file, 0, src->file->size);
    struct wire_field f, last = {0};
    name_list known = {0};
    while (wire_next_of(&w, SAVED_MODEL_META_GRAPH, &f)) {
        const char *tags = tags_of(src, &f);
        vec_push(src->memory.scratch, &known, tags);
        last = f;
        if (strcmp(tags, wanted) != 0)
            continue;
        *out = f;
        return ODLC_OK;
    }
    *out = last;
    if (known.count == 1 && !tag)
        return ODLC_OK;
    return unknown_name(src->diags, src->file->path,
                        &(struct unknown_name){.code = "unknown-tag",
                                               .message = "--saved_model_tag: the saved model has no graph tagged",
                                               .name = tag ? tag : DEFAULT_TAG,
                                               .known = known.data,
                                               .n_known = known.count,
                                               .listed_as = "tags of its graphs"});
}

/* ---- which signature ---- */

/* Signatures whose names begin so are for loading, not for users. */
static bool is_internal(const char *key)
{
    return strncmp(key, "__saved_model_", 14) == 0;
}

static odlc_status choose_signature(struct tf_source *src, const char *key, bool needed)
{
    const char *wanted = key ? key : DEFAULT_SIGNATURE;
    struct wire w = wire_section(src->file, &src->meta, META_SIGNATURE);
    struct wire_field f, last = {0};
    name_list known = {0};
    while (wire_next_of(&w, META_SIGNATURE, &f)) {
        const struct sections entry = wire_sections_of(src->file, &f);
        const char *name = only_text(src, &entry, ENTRY_KEY);
        last = is_internal(name) ? last : wire_only(src->file, &entry, ENTRY_VALUE);
        if (strcmp(name, wanted) == 0) {
            src->signature = wire_only(src->file, &entry, ENTRY_VALUE);
            return ODLC_OK;
        }
        if (!is_internal(name))
            vec_push(src->memory.scratch, &known, name);
    }
    if (known.count == 1 && !key)
        src->signature = last;
    if ((known.count == 1 || !needed) && !key)
        return ODLC_OK;
    if (!key && known.count == 0)
        return report_no_signature(src);
    return unknown_name(
        src->diags, src->file->path,
        &(struct unknown_name){.code = "unknown-signature",
                               .message = "--saved_model_signature_key: the saved model has no signature",
                               .name = wanted,
                               .known = known.data,
                               .n_known = known.count,
                               .listed_as = "signatures"});
}

odlc_status source_choose(struct tf_source *s, const struct fw_load_options *options)
{
    if (!s->is_saved_model)
        return ODLC_OK;
    if (options->saved_model_function)
        return choose_function(s, options->saved_model_function);
    return choose_signature(s, options->signature_key, options->n_out_names == 0);
}

/* ---- forms ---- */

static void take_graph(struct tf_source *src, const struct wire_field *meta)
{
    src->meta = wire_sections_of(src->file, meta);
    struct wire_field graph = wire_only(src->file, &src->meta, META_GRAPH_DEF),
                      saver = wire_only(src->file, &src->meta, META_SAVER),
                      info = wire_only(src->file, &src->meta, META_INFO);
    const struct sections names = wire_sections_of(src->file, &saver), infos = wire_sections_of(src->file, &info);
    src->ops = wire_only(src->file, &infos, META_INFO_OPS);
    src->from = graph.content;
    src->to = graph.content + graph.size;
    src->restore_op = tensorflow_short_name(src->memory.kept, only_text(src, &names, SAVER_RESTORE_OP));
}

/* Of the model's file, which is taken already. */
static odlc_status read_saved_model(struct tf_source *src, const struct fw_load_options *options)
{
    struct wire_field meta;
    TRY(choose_graph(src, options->saved_model_tag, &meta));
    take_graph(src, &meta);
    const char *prefix = arena_printf(src->memory.kept, "%svariables/variables", src->folder->path);
    if (model_folder_has(src->folder, arena_printf(src->memory.scratch, "%s.index", prefix)))
        src->checkpoint = prefix;
    return ODLC_OK;
}

static odlc_status read_meta(struct tf_source *src, const char *path)
{
    TRY(take_named_file(src, path, &tensorflow__meta_graph_def__descriptor));
    const struct wire_field whole = {.size = src->file->size};
    take_graph(src, &whole);
    src->checkpoint = arena_strndup(src->memory.kept, path, strlen(path) - strlen(".meta"));
    return ODLC_OK;
}

static odlc_status check_choices(const struct tf_source *src, const struct fw_load_options *options)
{
    const char *function = options->saved_model_function;
    if (function && options->signature_key)
        return diag_error(src->diags, ODLC_ERR_USAGE, AT(.file = options->input), "saved-model-function",
                          "--saved_model_function %s and --saved_model_signature_key %s contradict each other",
                          function, options->signature_key);
    if (function && !src->is_saved_model)
        return diag_error(src->diags, ODLC_ERR_USAGE, AT(.file = options->input), "saved-model-function",
                          "--saved_model_function %s: the model is no saved model", function);
    return ODLC_OK;
}

odlc_status source_open(const struct fw_memory *memory, struct diags *diags, const struct fw_load_options *options,
                        struct tf_source *out)
{
    const char *input = options->input;
    bool folder = !is_saved_model(input) && is_folder(diags, input);
    const char *in_folder = folder && !fw_has_suffix(input, "/") ? arena_printf(memory->scratch, "%s/", input) : input;
    *out = (struct tf_source){.memory = *memory,
                              .diags = diags,
                              .path = input,
                              .restore_op = "",
                              .is_saved_model = folder || is_saved_model(input)};
    TRY(check_choices(out, options));
    out->folder = model_folder_with(memory->kept, diags, in_folder, options->follow_links);
    if (out->is_saved_model) {
        TRY(folder ? take_from_folder(out, input, out->folder)
                   : take_named_file(out, input, &tensorflow__saved_model__descriptor));
        return read_saved_model(out, options);
    }
    if (fw_has_suffix(input, ".meta"))
        return read_meta(out, input);
    TRY(take_named_file(out, input, &tensorflow__graph_def__descriptor));
    out->to = out->file->size;
    return ODLC_OK;
}
