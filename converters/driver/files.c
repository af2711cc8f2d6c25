/* The files of a conversion: those that it reads, that it writes none of them, and the depfile that lists them. */
#include <string.h>
#include <sys/stat.h>

#include "base/target.h"
#include "converters/driver/driver.h"

/* ---- what is read ---- */

void add_input(struct conversion *c, const char *path)
{
    const char *copy = arena_strdup(c->arena, path);
    if (map_add(&c->known_inputs, copy, 1) == MAP_NONE)
        vec_push(c->arena, &c->inputs, copy);
}

void list_inputs(struct conversion *c)
{
    const struct odlc_convert_options *o = c->options;
    map_init(&c->known_inputs, c->arena);
    add_input(c, c->model->path);
    for (size_t i = 0; i < o->n_udo_configs; i++)
        add_input(c, o->udo_configs[i]);
    for (size_t i = 0; i < o->n_frozen_inputs; i++)
        add_input(c, o->frozen_inputs[i].value);
    for (size_t i = 0; i < c->model->files.count; i++)
        add_input(c, c->model->files.data[i]);
    for (size_t i = 0; i < o->n_more_inputs; i++)
        add_input(c, o->more_inputs[i]);
}

uint64_t input_bytes(const struct conversion *c)
{
    struct stat st;
    uint64_t bytes = 0;
    for (size_t i = 0; i < c->inputs.count; i++)
        if (stat(c->inputs.data[i], &st) == 0 && S_ISREG(st.st_mode))
            bytes = sat_add(bytes, (uint64_t)st.st_size);
    return bytes;
}

/* ---- what is written ---- */

static bool is_file(const struct stat *st, const char *path)
{
    struct stat other;
    return stat(path, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* Writing over what is read would leave the user without it. */
static odlc_status check_not_input(struct conversion *c, const char *path, const char *what, const char *option)
{
    struct stat st;
    for (size_t i = 0; stat(path, &st) == 0 && i < c->inputs.count; i++)
        if (is_file(&st, c->inputs.data[i]))
            return diag_error(&c->diags, ODLC_ERR_USAGE,
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

static odlc_status add_path(struct conversion *c, text *rule, const char *path, bool target, bool first)
{
    if (!is_tellable(path))
        return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED,
                          AT(.file = path, .hint = "rename the file, or do without --depfile"), "depfile-name",
                          "a depfile cannot hold this name: make and ninja have no spelling for it");
    if (make_misreads(path, target, first))
        diag_warn(&c->diags, AT(.file = path, .hint = "ninja understands it"), "depfile-name",
                  "make does not take this name in a depfile for that of a file");
    text_add(c->arena, rule, "%s", target ? "" : " \\\n  ");
    for (const char *p = path; *p; p++)
        text_add(c->arena, rule, "%s%c", strchr(" #:", *p) ? "\\" : *p == '$' ? "$" : "", *p);
    if (target)
        text_add(c->arena, rule, ":");
    return ODLC_OK;
}

static odlc_status write_depfile(struct conversion *c)
{
    text rule = {0};
    TRY(add_path(c, &rule, c->options->output, true, false));
    for (size_t i = 0; i < c->inputs.count; i++)
        TRY(add_path(c, &rule, c->inputs.data[i], false, i == 0));
    text_add(c->arena, &rule, "\n");
    if (c->options->dry_run)
        return ODLC_OK;
    TRY(out_create(c->arena, &c->diags, c->options->depfile, &c->depfile));
    return out_write(c->depfile, rule.data, rule.count);
}

odlc_status check_outputs(struct conversion *c)
{
    const struct odlc_convert_options *o = c->options;
    if (!o->output)
        return ODLC_OK;
    TRY(check_not_input(c, o->output, "output", "--output_path"));
    if (!o->depfile)
        return ODLC_OK;
    TRY(check_not_input(c, o->depfile, "depfile", "--depfile"));
    if (same_target(c->arena, o->depfile, o->output))
        return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.file = o->depfile, .hint = "name another file with --depfile"),
                          "depfile-is-output", "the depfile is the output itself");
    return write_depfile(c);
}

odlc_status commit_depfile(void *user)
{
    struct conversion *c = user;
    return c->depfile ? out_commit(c->depfile) : ODLC_OK;
}
