/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/output_files.h"

#include <string.h>
#include <sys/stat.h>

#include "base/target.h"

static bool is_file(const struct stat *st, const char *path)
{
    struct stat other;
    return stat(path, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* Writing over what is read would leave the user without it. */
static odlc_status check_not_input(const struct context *c, const struct input *in, const char *path, const char *what,
                                   const char *option)
{
    struct stat st;
    for (size_t i = 0; stat(path, &st) == 0 && i < in->files.paths.count; i++)
        if (is_file(&st, in->files.paths.data[i]))
            return diag_error(c->diags, ODLC_ERR_USAGE,
                              AT(.file = path, .hint = arena_printf(c->arena, "name another file with %s", option)),
                              "output-is-input", "the %s is %s", what,
                              i ? "a file that the conversion reads" : "the model itself");
    return ODLC_OK;
}

/* ---- the depfile ---- */

/* The characters besides letters, digits and bytes of UTF-8 that both make and ninja can be told in a file name. */
static bool is_tellable(const char *path)
{
    size_t length = strlen(path);
    for (const char *p = path; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7F || strchr("\"&'*;<>?\\^`|", *p))
            return false;
    return length > 0 && path[length - 1] != ' ' && path[length - 1] != ':';
}

/* The same name means something else to make: a variable, a pattern, a member of an archive. */
static bool make_misreads(const char *path, bool target, bool first)
{
    size_t length = strlen(path);
    return (strchr(path, '=') && (target || first)) || (strchr(path, '%') && target) ||
           (strchr(path, '(') && path[length - 1] == ')');
}

static odlc_status add_path(const struct context *c, text *rule, const char *path, bool target, bool first)
{
    if (!is_tellable(path))
        return diag_error(c->diags, ODLC_ERR_UNSUPPORTED,
                          AT(.file = path, .hint = "rename the file, or do without --depfile"), "depfile-name",
                          "a depfile cannot hold this name: make and ninja have no spelling for it");
    if (make_misreads(path, target, first))
        diag_warn(c->diags, AT(.file = path, .hint = "ninja understands it"), "depfile-name",
                  "make does not take this name in a depfile for that of a file");
    text_add(c->arena, rule, "%s", target ? "" : " \\\n  ");
    for (const char *p = path; *p; p++)
        text_add(c->arena, rule, "%s%c", strchr(" #:", *p) ? "\\" : *p == '$' ? "$" : "", *p);
    if (target)
        text_add(c->arena, rule, ":");
    return ODLC_OK;
}

static odlc_status write_depfile(const struct context *c, const struct input *in, struct out_file **depfile)
{
    text rule = {0};
    TRY(add_path(c, &rule, c->options->output, true, false));
    for (size_t i = 0; i < in->files.paths.count; i++)
        TRY(add_path(c, &rule, in->files.paths.data[i], false, i == 0));
    text_add(c->arena, &rule, "\n");
    if (c->options->dry_run)
        return ODLC_OK;
    TRY(out_create(c->arena, c->diags, c->options->depfile, depfile));
    return out_write(*depfile, rule.data, rule.count);
}

odlc_status check_outputs(const struct context *c, const struct input *in, struct out_file **depfile)
{
    const struct odlc_convert_options *o = c->options;
    if (!o->output)
        return ODLC_OK;
    if (!o->in_memory)
        TRY(check_not_input(c, in, o->output, "output", "--output_path"));
    if (!o->depfile)
        return ODLC_OK;
    TRY(check_not_input(c, in, o->depfile, "depfile", "--depfile"));
    if (!o->in_memory && same_target(c->arena, o->depfile, o->output))
        return diag_error(c->diags, ODLC_ERR_USAGE, AT(.file = o->depfile, .hint = "name another file with --depfile"),
                          "depfile-is-output", "the depfile is the output itself");
    return write_depfile(c, in, depfile);
}

odlc_status commit_depfile(void *user)
{
    struct out_file *depfile = user;
    return depfile ? out_commit(depfile) : ODLC_OK;
}
