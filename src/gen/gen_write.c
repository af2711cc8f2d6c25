/* SPDX-License-Identifier: Apache-2.0 */
#include "gen/gen.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/target.h"
#include "gen/gen_model.h"

struct file_row {
    enum gen_tree tree;
    const char *where, *template, *path;
};

static const struct file_row files[] = {
#define GEN_FILE(tree, where, template, path) {GEN_##tree, #where, template, path},
#include "gen/tree.def"
};

struct writer {
    struct arena *arena;
    struct diags *diags;
    const struct gen_options *options;
    struct gen_result *result;
};

/* ---- files ---- */

static odlc_status make_folders(const struct writer *w, const char *folder)
{
    char *path = arena_strdup(w->arena, folder);
    for (char *slash = path; slash; *slash = '/') {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return diag_error(w->diags, ODLC_ERR_IO, AT(.file = path), "io", "the folder cannot be made: %s",
                              strerror(errno));
        if (!slash)
            break;
    }
    return ODLC_OK;
}

static odlc_status same_content(const struct writer *w, const char *path, const char *content, size_t size, bool *same)
{
    struct file *file;
    TRY(file_map(w->arena, w->diags, path, &file));
    *same = file->size == size && memcmp(file->data, content, size) == 0;
    return ODLC_OK;
}

static odlc_status write_file(const struct writer *w, const char *path, const char *content, size_t size)
{
    struct out_file *out;
    struct stat st;
    if (!w->options->force && lstat(path, &st) == 0) {
        bool same = false;
        if (S_ISREG(st.st_mode))
            TRY(same_content(w, path, content, size, &same));
        if (!same)
            vec_push(w->arena, &w->result->kept, path);
        return ODLC_OK;
    }
    TRY(make_folders(w, folder_of(w->arena, path)));
    TRY(out_create(w->arena, w->diags, path, &out));
    TRY(out_write(out, content, size));
    TRY(out_commit(out));
    vec_push(w->arena, &w->result->written, path);
    return ODLC_OK;
}

/* ---- trees ---- */

static odlc_status write_from(const struct writer *w, const struct gen_package *package, const struct file_row *row,
                              const struct scope *scope)
{
    const char *template = row->template ? template_find(row->template) : NULL;
    text path = {0}, content = {0};
    text_add(w->arena, &path, "%s/%s/", w->options->folder, package->name);
    TRY(template_render(w->arena, w->diags, row->path, row->path, scope, &path));
    if (!row->template)
        return make_folders(w, path.data);
    if (!template)
        return diag_error(w->diags, ODLC_ERR_INTERNAL, AT(.file = NULL), "template", "there is no template %s",
                          row->template);
    text_add(w->arena, &content, "%s", "");
    TRY(template_render(w->arena, w->diags, row->template, template, scope, &content));
    return write_file(w, path.data, content.data, content.count);
}

static odlc_status write_row(const struct writer *w, const struct gen_package *package, const struct file_row *row)
{
    const struct gen_part whole = {.scope = package->scope,
                                   .ops = {.data = package->ops.data, .count = package->ops.count}};
    const struct gen_part *part = &whole;
    const char *value = scope_get(package->scope, row->where);
    if (strcmp(row->where, "ALWAYS") != 0 && (!value || !*value))
        return ODLC_OK;
    for (size_t i = 0; i < package->parts.count; i++)
        if (strcmp(package->parts.data[i].where, row->where) == 0)
            part = &package->parts.data[i];
    if (!strstr(row->path, "@OP@"))
        return write_from(w, package, row, part->scope);
    for (size_t i = 0; i < part->ops.count; i++)
        TRY(write_from(w, package, row, part->ops.data[i]));
    return ODLC_OK;
}

/* The configs go with the package, under their own names. */
static odlc_status copy_configs(const struct writer *w, const struct gen_package *package)
{
    for (size_t i = 0; i < package->configs.count; i++) {
        struct file *file;
        const char *config = package->configs.data[i];
        TRY(file_map(w->arena, w->diags, config, &file));
        TRY(write_file(w,
                       arena_printf(w->arena, "%s/%s/config/%s", w->options->folder, package->name, gen_base(config)),
                       (const char *)file->data, file->size));
    }
    return ODLC_OK;
}

odlc_status gen_write(struct arena *arena, struct diags *diags, const struct gen_packages *packages,
                      const struct gen_options *options, struct gen_result *out)
{
    const struct writer w = {arena, diags, options, out};
    for (size_t i = 0; i < packages->list.count; i++) {
        const struct gen_package *package = &packages->list.data[i];
        for (size_t k = 0; k < COUNT_OF(files); k++)
            if (files[k].tree == package->tree)
                TRY(write_row(&w, package, &files[k]));
        TRY(copy_configs(&w, package));
    }
    return ODLC_OK;
}
