/* udo-check: descriptions of user-defined ops, checked alone or against a model, and rewritten in the other form. */
#include <setjmp.h>
#include <string.h>

#include "tools/check.h"
#include "tools/model_options.h"
#include "tools/print_diags.h"

enum { OPT_MODEL, OPT_STRICT, OPT_JSON, OPT_QUIET, OPT_CONVERT, OPT_OUTPUT };

static const struct option rows[] = {
    {.title = "Checking"},
    {.id = OPT_MODEL,
     .name = "model",
     .aliases = {"input_network"},
     .shorts = {"i"},
     .min = 1,
     .max = 1,
     .values = "FILE",
     .complete = ".onnx",
     .help = "an ONNX model: say which of its nodes each definition claims, and how"},
    {.id = OPT_STRICT, .name = "strict", .help = "warnings count as errors"},
    {.id = OPT_JSON, .name = "json", .help = "print JSON instead of text; diagnostics on stderr are JSON lines then"},
    {.id = OPT_QUIET, .name = "quiet", .shorts = {"q"}, .help = "diagnostics only, no report"},
    {.title = "Writing the other form"},
    {.id = OPT_CONVERT,
     .name = "convert",
     .min = 1,
     .max = 1,
     .values = "json|xml",
     .help = "write the definitions of the files in this form, and say what is lost"},
    {.id = OPT_OUTPUT,
     .name = "output_path",
     .shorts = {"o"},
     .min = 1,
     .max = 1,
     .values = "FILE",
     .complete = ".json .xml",
     .help = "the file that --convert writes"},
#include "tools/model_options.def"
    {.title = "Help"},
    OPTIONS_COMMON,
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

/* The nodes of a definition whose details are known. */
static bool is_of(const struct odlc_udo_report *report, const struct odlc_udo_definition *d)
{
    return report->line == d->line && report->column == d->column && strcmp(report->file, d->file) == 0 &&
           strcmp(report->op_type, d->type) == 0;
}

static bool claims(const struct odlc_udo_definition *d, const struct odlc_op_report *op)
{
    return op->status == ODLC_OP_UDO && !d->replaces_native && strcmp(op->op_type, d->type) == 0 &&
           (!d->domain || strcmp(op->domain, d->domain) == 0);
}

const struct check_node *check_nodes(struct arena *arena, const struct check_report *r, size_t i, size_t *count)
{
    const struct odlc_udo_definition *d = &r->definitions[i];
    VEC(struct check_node) nodes = {0};
    size_t n_reports = 0, n_ops = 0;
    const struct odlc_udo_report *reports = r->conversion ? odlc_conversion_udo_nodes(r->conversion, &n_reports) : NULL;
    const struct odlc_op_report *ops = r->conversion ? odlc_conversion_ops(r->conversion, &n_ops) : NULL;
    for (size_t k = 0; k < n_reports; k++)
        if (is_of(&reports[k], d))
            vec_push(arena, &nodes, (struct check_node){.name = reports[k].node, .report = &reports[k]});
    for (size_t k = 0; k < n_ops && !n_reports; k++)
        if (claims(d, &ops[k]))
            vec_push(arena, &nodes, (struct check_node){.name = ops[k].node});
    *count = nodes.count;
    return nodes.data;
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

static odlc_status convert_model(struct session *s, const char *model)
{
    struct odlc_convert_options convert = {.input = model};
    TRY(model_options_read(s->arena, &s->diags, &s->options, &convert));
    convert.udo_configs = s->options.operands.data;
    convert.n_udo_configs = s->options.operands.count;
    return odlc_convert_onnx(&convert, &s->conversion);
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

static odlc_status check(struct session *s)
{
    const char *model = options_value(&s->options, OPT_MODEL, NULL);
    odlc_status status = load(s);
    bool loaded = status == ODLC_OK;
    if (loaded && model)
        status = convert_model(s, model);
    if (status == ODLC_ERR_NOMEM || (status == ODLC_ERR_USAGE && !s->conversion))
        return status;
    struct check_report r = {.files = s->options.operands.data,
                             .n_files = s->options.operands.count,
                             .model = model,
                             .conversion = s->conversion,
                             .convertible = s->conversion && status == ODLC_OK};
    r.definitions = odlc_udo_definitions(s->udo, &r.n_definitions);
    count_diags(s, &r);
    if (options_given(&s->options, OPT_JSON))
        check_print_json(stdout, s->arena, &r);
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
    if (options_given(&s->options, OPT_MODEL) || options_given(&s->options, OPT_JSON))
        return usage_error(s, "--convert goes with neither --model nor --json");
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
    if (!s->options.operands.count)
        return usage_error(s, "no file is given");
    const char *form = options_value(&s->options, OPT_CONVERT, NULL);
    if (!form && options_given(&s->options, OPT_OUTPUT))
        return usage_error(s, "--output_path goes with --convert only");
    return form ? write_other_form(s, form) : check(s);
}

static odlc_status out_of_memory(void)
{
    fprintf(stderr, "%s: error: memory ran out\n", self.name);
    return ODLC_ERR_NOMEM;
}

static odlc_status guarded_run(struct session *s, int argc, char **argv)
{
    if (setjmp(*arena_catch(s->arena)))
        return out_of_memory();
    odlc_status status = run_command(s, argc, argv);
    enum diag_format format = options_given(&s->options, OPT_JSON) ? DIAG_JSON : DIAG_TEXT;
    size_t count;
    const struct odlc_diag *list = diags_of(s, &count);
    for (size_t i = 0; i < count; i++)
        if (list[i].severity != ODLC_NOTE || diag_explains_error(&list[i]))
            print_diag(stderr, self.name, &list[i], format);
    print_diags(stderr, self.name, s->diags.list.data, s->diags.list.count, format);
    return status == ODLC_ERR_NOMEM ? out_of_memory() : status;
}

int main(int argc, char **argv)
{
    struct session s = {.arena = arena_create(), .udo = odlc_udo_new()};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena && s.udo) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = out_of_memory();
    }
    odlc_conversion_free(s.conversion);
    odlc_udo_free(s.udo);
    arena_destroy(s.arena);
    return exit_status(status);
}
