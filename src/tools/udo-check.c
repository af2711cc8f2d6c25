/* SPDX-License-Identifier: Apache-2.0 */
/* udo-check: descriptions of user-defined ops, checked alone or against a model, and rewritten in the other form. */
#include <string.h>
#include <sys/stat.h>

#include "api/backends.h"
#include "base/map.h"
#include "tools/check.h"
#include "tools/command.h"
#include "tools/convert_options.h"
#include "trial/trial_packages.h"
#include "udo/config_keys.h"

enum {
#define OPTION OPTION_IDS
#include "tools/udo-check.def"
};

static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/udo-check.def"
#define FOR_EVERY TAKE_ROW
#define FOR_CONVERTERS LEAVE_ROW
#define FOR_ONNX LEAVE_ROW
#define FOR_TENSORFLOW LEAVE_ROW
#define FOR_READ_TENSORFLOW TAKE_ROW
#include "tools/convert_rows.def"
    OPTION_VERBOSE("Help"),
    OPTIONS_COMMON("Help"),
};

static const struct command self = {
    .name = "udo-check",
    .summary = "Checks descriptions of user-defined ops",
    .usage = "FILE... [--model MODEL] [options]",
    .operands = true,
    .complete = ".json .xml",
    OPTION_ROWS(rows),
};

struct session {
    struct arena *arena;
    struct diags diags;
    struct options options;
    odlc_udo *udo;
    struct odlc_conversion *conversion;
};

/* ---- which nodes each definition claims ---- */

static const char *place_key(struct arena *arena, const char *file, uint32_t line, uint32_t column)
{
    return arena_printf(arena, "%u:%u:%s", line, column, file);
}

static void add_reported(struct session *s, struct check_report *r, const struct odlc_udo_report *reports, size_t count)
{
    struct map places;
    map_init(&places, s->arena);
    for (size_t i = 0; i < r->n_definitions; i++) {
        const struct odlc_udo_definition *d = &r->definitions[i];
        map_put(&places, place_key(s->arena, d->file, d->line, d->column), (uint32_t)i);
    }
    for (size_t k = 0; k < count; k++) {
        uint32_t at = map_get(&places, place_key(s->arena, reports[k].file, reports[k].line, reports[k].column));
        if (at != MAP_NONE)
            vec_push(s->arena, &r->nodes[at], (struct check_node){.name = reports[k].node, .report = &reports[k]});
    }
}

static bool claims(const struct odlc_udo_definition *d, const struct odlc_op_report *op)
{
    return strcmp(op->op_type, d->type) == 0 && !d->replaces_native &&
           (!d->domain || strcmp(op->domain, d->domain) == 0);
}

/* Nodes that the conversion did not get to: the survey knows that they are claimed. */
static void add_surveyed(struct session *s, struct check_report *r, const struct odlc_op_report *ops, size_t count)
{
    struct map types;
    map_init(&types, s->arena);
    for (size_t k = 0; k < count; k++) {
        if (ops[k].status != ODLC_OP_UDO)
            continue;
        const char *key = arena_printf(s->arena, "%s %s", ops[k].op_type, ops[k].domain);
        uint32_t at = map_get(&types, key);
        for (uint32_t i = 0; at == MAP_NONE && i < r->n_definitions; i++)
            if (claims(&r->definitions[i], &ops[k])) {
                map_put(&types, key, i);
                at = i;
            }
        if (at != MAP_NONE)
            vec_push(s->arena, &r->nodes[at], (struct check_node){.name = ops[k].node});
    }
}

static void find_nodes(struct session *s, struct check_report *r)
{
    size_t n_reports = 0, n_ops = 0;
    r->nodes = arena_array(s->arena, struct check_nodes, r->n_definitions);
    if (!s->conversion)
        return;
    const struct odlc_udo_report *reports = odlc_conversion_udo_nodes(s->conversion, &n_reports);
    const struct odlc_op_report *ops = odlc_conversion_ops(s->conversion, &n_ops);
    if (!ops)
        arena_exhausted(s->arena);
    r->looked_at = r->convertible || n_ops > 0;
    if (n_reports)
        add_reported(s, r, reports, n_reports);
    else
        add_surveyed(s, r, ops, n_ops);
}

/* ---- the work ---- */

static odlc_status usage_error(struct session *s, const char *message)
{
    return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "udo-check --help lists the options"), "usage", "%s",
                      message);
}

static odlc_status load(struct session *s)
{
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < s->options.operands.count; i++) {
        odlc_status loaded = odlc_udo_load(s->udo, s->options.operands.data[i]);
        if (loaded == ODLC_ERR_NOMEM)
            return loaded;
        status = status == ODLC_OK ? loaded : status; /* the errors of all files are reported */
    }
    return status;
}

/* TensorFlow keeps models in folders and in files with suffixes of its own; any other file is an ONNX model. */
static bool is_tensorflow(const char *path)
{
    static const char *const suffixes[] = {".pb", ".pbtxt", ".meta"};
    struct stat st;
    size_t length = strlen(path);
    for (size_t i = 0; i < COUNT_OF(suffixes); i++)
        if (length >= strlen(suffixes[i]) && strcmp(path + length - strlen(suffixes[i]), suffixes[i]) == 0)
            return true;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static odlc_status convert_model(struct session *s, const char *model)
{
    struct odlc_convert_options convert;
    odlc_convert_defaults(&convert, sizeof convert);
    convert.command_words = 1;
    convert.input = model;
    TRY(convert_options_read(s->arena, &s->diags, &s->options, &convert));
    convert.udo_configs = s->options.operands.data;
    convert.n_udo_configs = s->options.operands.count;
    return odlc_convert(is_tensorflow(model) ? ODLC_TENSORFLOW : ODLC_ONNX, &convert, &s->conversion);
}

/* Those of the conversion repeat what the configs alone say. */
static const struct odlc_diag *diags_of(const struct session *s, size_t *count)
{
    return s->conversion ? odlc_conversion_diags(s->conversion, count) : odlc_udo_diags(s->udo, count);
}

static void count_diags(const struct session *s, struct check_report *r)
{
    size_t count;
    const struct odlc_diag *diags = diags_of(s, &count);
    r->errors = s->diags.errors;
    r->warnings = s->diags.warnings;
    for (size_t i = 0; i < count; i++) {
        r->errors += diags[i].severity == ODLC_ERROR;
        r->warnings += diags[i].severity == ODLC_WARNING;
    }
}

/* ---- packages ---- */

static bool names_packages(const struct session *s)
{
    return options_given(&s->options, OPT_UDO_PACKAGES) || options_given(&s->options, OPT_OP_PACKAGES);
}

/* Names that commas separate, of all uses of the option. */
static const char *const *names_of(struct session *s, int option, size_t *count)
{
    const char *const *values;
    VEC(const char *) names = {0};
    size_t n;
    options_values(s->arena, &s->options, option, &values, &n);
    for (size_t i = 0; i < n; i++) {
        char *rest = arena_strdup(s->arena, values[i]);
        for (char *name = strtok_r(rest, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
            vec_push(s->arena, &names, name);
    }
    *count = names.count;
    return names.data;
}

/* NULL: this build does not have it. */
static const struct backend *find_backend(const char *name)
{
    for (const struct backend *const *b = all_backends; *b; b++)
        if (strcmp((*b)->name, name) == 0)
            return *b;
    return NULL;
}

static odlc_status try_packages(struct session *s, struct tried_ops *tried)
{
    int64_t seconds = 20;
    struct trial_options options = {.configs = s->options.operands.data, .n_configs = s->options.operands.count};
    TRY(options_int(&s->options, &s->diags, OPT_TIMEOUT, 1, 86400, &seconds));
    options.libraries = names_of(s, OPT_UDO_PACKAGES, &options.n_libraries);
    options.packages = names_of(s, OPT_OP_PACKAGES, &options.n_packages);
    options.against = names_of(s, OPT_AGAINST, &options.n_against);
    options.seconds = (double)seconds;
    options.device = find_backend("gpu");
    return trial_packages(s->arena, &s->diags, &options, tried);
}

/* ---- the check ---- */

static odlc_status check(struct session *s)
{
    struct tried_ops tried = {0};
    const bool packages = names_packages(s);
    const char *model = options_value(&s->options, OPT_MODEL, NULL);
    odlc_status status = load(s);
    bool loaded = status == ODLC_OK;
    if (loaded && model)
        status = convert_model(s, model);
    const bool convertible = s->conversion && status == ODLC_OK;
    if (loaded && packages) {
        odlc_status sound = try_packages(s, &tried);
        status = status == ODLC_OK || sound == ODLC_ERR_USAGE ? sound : status;
    }
    if (status == ODLC_ERR_NOMEM || (status == ODLC_ERR_USAGE && !s->conversion))
        return status;
    struct check_report r = {.files = s->options.operands.data,
                             .n_files = s->options.operands.count,
                             .model = model,
                             .conversion = s->conversion,
                             .convertible = convertible,
                             .tried = packages ? &tried : NULL};
    r.definitions = odlc_udo_definitions(s->udo, &r.n_definitions);
    find_nodes(s, &r);
    count_diags(s, &r);
    if (options_given(&s->options, OPT_JSON))
        check_print_json(stdout, &r);
    else if (!options_given(&s->options, OPT_QUIET))
        check_print_text(stdout, s->arena, &r);
    if (fflush(stdout) != 0 || ferror(stdout))
        return diag_error(&s->diags, ODLC_ERR_IO, AT(.file = NULL), "io", "the report could not be written");
    if (status == ODLC_OK && r.warnings && options_given(&s->options, OPT_STRICT))
        status = ODLC_ERR_INVALID;
    return status;
}

/* A definition that has an error would be left out, so there must be none. */
static odlc_status write_other_form(struct session *s, const char *form)
{
    const char *path = options_value(&s->options, OPT_OUTPUT, NULL);
    bool json = strcmp(form, "json") == 0;
    if (!json && strcmp(form, "xml") != 0)
        return usage_error(s, arena_printf(s->arena, "--convert: there is no form %s", form));
    if (!path)
        return usage_error(s, "--convert needs --output_path FILE");
    if (options_given(&s->options, OPT_MODEL) || options_given(&s->options, OPT_JSON) || names_packages(s))
        return usage_error(s, "--convert goes with none of --model, --udo_package_path, --op_packages and --json");
    TRY(load(s));
    TRY(odlc_udo_write(s->udo, json ? ODLC_UDO_JSON : ODLC_UDO_XML, path));
    size_t count, warnings = 0;
    const struct odlc_diag *diags = diags_of(s, &count);
    for (size_t i = 0; i < count; i++)
        warnings += diags[i].severity == ODLC_WARNING;
    return warnings && options_given(&s->options, OPT_STRICT) ? ODLC_ERR_INVALID : ODLC_OK;
}

static odlc_status run_command(struct session *s, int argc, char **argv)
{
    TRY(options_parse(s->arena, &s->diags, &self, argc, argv, &s->options));
    if (options_answered(&s->options))
        return ODLC_OK;
    if (options_given(&s->options, OPT_SCHEMA)) {
        config_write_schema(stdout);
        return ODLC_OK;
    }
    if (!s->options.operands.count)
        return usage_error(s, "no file is given");
    if (names_packages(s))
        check_count_allocations(s->arena, argv);
    else if (options_given(&s->options, OPT_AGAINST) || options_given(&s->options, OPT_TIMEOUT))
        return usage_error(s, "--against and --timeout go with --udo_package_path and --op_packages only");
    const char *form = options_value(&s->options, OPT_CONVERT, NULL);
    if (!form && options_given(&s->options, OPT_OUTPUT))
        return usage_error(s, "--output_path goes with --convert only");
    return form ? write_other_form(s, form) : check(s);
}

static enum diag_format diag_format(const struct session *s)
{
    return options_given(&s->options, OPT_JSON) ? DIAG_JSON : DIAG_TEXT;
}

static odlc_status guarded_run(struct session *s, int argc, char **argv)
{
    if (setjmp(*arena_catch(s->arena)))
        return print_out_of_memory(self.name, diag_format(s));
    odlc_status status = run_command(s, argc, argv);
    enum diag_format format = diag_format(s);
    if (!command_inputs_intact(s->arena, self.name, format))
        return ODLC_ERR_IO;
    size_t count;
    const struct odlc_diag *list = diags_of(s, &count);
    for (size_t i = 0; i < count; i++)
        if (list[i].severity != ODLC_NOTE || diag_explains_error(&list[i]))
            print_diag(stderr, self.name, &list[i], format);
    print_diags(stderr, self.name, s->diags.list.data, s->diags.list.count, format);
    return command_finish(self.name, format, status);
}

int main(int argc, char **argv)
{
    command_begin();
    struct session s = {.arena = arena_create(), .udo = odlc_udo_new()};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena && s.udo) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = print_out_of_memory(self.name, DIAG_TEXT);
    }
    odlc_conversion_free(s.conversion);
    odlc_udo_free(s.udo);
    arena_destroy(s.arena);
    return command_end(self.name, exit_status(status), exit_status(ODLC_ERR_IO));
}
