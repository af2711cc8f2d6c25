#include "tools/convert_command.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tools/command.h"
#include "tools/model_options.h"
#include "tools/progress_line.h"
#include "tools/text_table.h"

/* ---- options → odlc_convert_options ---- */

static const char *default_output(struct arena *arena, const char *input)
{
    size_t length = strlen(input);
    while (length > 1 && input[length - 1] == '/') /* a folder */
        length--;
    const char *path = arena_strndup(arena, input, length), *slash = strrchr(path, '/');
    const char *stem = slash ? slash + 1 : path, *dot = strrchr(stem, '.');
    return arena_printf(arena, "%.*s.dlc", dot && dot != stem ? (int)(dot - path) : (int)length, path);
}

static odlc_status read_text_file(struct arena *arena, struct diags *diags, const char *path, const char **out)
{
    struct file *file;
    TRY(file_map(arena, diags, path, &file));
    if (file->size > 65536)
        return diag_error(diags, ODLC_ERR_LIMIT, AT(.file = path), "copyright", "the copyright text is over 64 KiB");
    *out = arena_strndup(arena, (const char *)file->data, file->size);
    return ODLC_OK;
}

/* Whether an option says something about the container, and not only where it goes, how fast, and with what words. */
static bool is_recorded(int id)
{
    static const int others[] = {CONVERT_OPT_OUTPUT, CONVERT_OPT_THREADS, CONVERT_OPT_DEPFILE, CONVERT_OPT_JSON,
                                 CONVERT_OPT_DUMP,   CONVERT_OPT_QUIET,   CONVERT_OPT_DEBUG,   MODEL_OPT_FOLLOW_LINKS};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (id == others[i])
            return false;
    return true;
}

/* The container records the tool and its options, sorted by name, as files of the field do. */
static const char *command_text(struct arena *arena, const struct options *options)
{
    const struct command *command = options->command;
    text t = {0};
    text_add(arena, &t, "%s", command->name);
    for (const struct option *row = command->rows; row < command->rows + command->n_rows; row++) {
        for (size_t i = 0; row->name && i < options->uses.count; i++) {
            const struct option_use *use = &options->uses.data[i];
            if (use->option != row || !is_recorded(row->id))
                continue;
            text_add(arena, &t, " %s=", row->name);
            for (size_t k = 0; k < use->n_values; k++)
                text_add(arena, &t, "%s%s", k ? "," : "", use->values[k]);
            if (!use->n_values)
                text_add(arena, &t, "True");
        }
    }
    return t.data;
}

static odlc_status read_threads(const struct options *options, struct diags *diags, struct odlc_convert_options *out)
{
    int64_t threads = 1;
    TRY(options_int(options, diags, CONVERT_OPT_THREADS, 1, ODLC_MAX_THREADS, &threads));
    out->threads = (unsigned)threads;
    return ODLC_OK;
}

static odlc_status read_options(struct arena *arena, struct diags *diags, const struct options *options,
                                struct odlc_convert_options *out)
{
    const char *format = options_value(options, CONVERT_OPT_FORMAT, "nr64"),
               *dump = options_value(options, CONVERT_OPT_DUMP, NULL);
    out->input = options_value(options, CONVERT_OPT_INPUT, NULL);
    out->output = options_value(options, CONVERT_OPT_OUTPUT, default_output(arena, out->input));
    options_values(arena, options, CONVERT_OPT_UDO, CONVERT_OPT_OP_PACKAGE, &out->udo_configs, &out->n_udo_configs);
    out->dry_run = options_given(options, CONVERT_OPT_DRY_RUN);
    out->model_version = options_value(options, CONVERT_OPT_MODEL_VERSION, NULL);
    out->netp = strcmp(format, "netp") == 0;
    out->converter_command = command_text(arena, options);
    TRY(model_options_read(arena, diags, options, out));
    if (!out->netp && strcmp(format, "nr64") != 0)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "nr64 or netp"), "params-format",
                          "--params_format: there is no format %s", format);
    if (dump && strncmp(dump, "after=", 6) != 0)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "--dump_ir after=PASS"), "dump-ir",
                          "--dump_ir: %s is not of the form after=PASS", dump);
    out->dump_ir_after = dump ? dump + 6 : NULL;
    out->depfile = options_value(options, CONVERT_OPT_DEPFILE, NULL);
    TRY(read_threads(options, diags, out));
    if (!options_given(options, CONVERT_OPT_COPYRIGHT))
        return ODLC_OK;
    options_values(arena, options, CONVERT_OPT_COPYRIGHT, CONVERT_OPT_COPYRIGHT, &out->more_inputs,
                   &out->n_more_inputs);
    return read_text_file(arena, diags, options_value(options, CONVERT_OPT_COPYRIGHT, NULL), &out->model_copyright);
}

/* ---- results ---- */

/* "0 unsupported" is only said where the conversion succeeds. */
static odlc_status print_ops(struct arena *arena, const struct odlc_conversion *conversion, bool converts)
{
    static const char *const status[] = {"native", "UDO", "unsupported"};
    size_t count, of[3] = {0};
    const struct odlc_op_report *ops = odlc_conversion_ops(conversion, &count);
    if (!ops)
        return ODLC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        of[ops[i].status]++;
        printf("%-12s %s%s%s", status[ops[i].status], printable(arena, ops[i].domain), *ops[i].domain ? "::" : "",
               printable(arena, ops[i].op_type));
        if (ops[i].version)
            printf(" (version %lld)", (long long)ops[i].version);
        printf("  %s%s%s\n", printable(arena, ops[i].node), ops[i].package ? "  package " : "",
               ops[i].package ? printable(arena, ops[i].package) : "");
    }
    printf("%zu ops: %zu native, %zu UDO, ", count, of[ODLC_OP_NATIVE], of[ODLC_OP_UDO]);
    if (converts || of[ODLC_OP_UNSUPPORTED])
        printf("%zu unsupported\n", of[ODLC_OP_UNSUPPORTED]);
    else
        printf("not converted: the errors say why\n");
    if (odlc_conversion_udo_stub(conversion))
        printf("\nA UDO config to start from:\n%s\n", odlc_conversion_udo_stub(conversion));
    return ODLC_OK;
}

static void print_summary(const struct odlc_conversion *conversion, const char *output)
{
    struct odlc_conversion_summary s = odlc_conversion_summary(conversion);
    fprintf(stderr, "%s: %u ops from %u nodes, %u of them UDOs, %u permutes inserted, %.1f MB of constants\n", output,
            s.ops, s.model_nodes, s.udo_ops, s.permutes_inserted, (double)s.static_bytes / 1e6);
}

/* Which graph inputs and outputs are stored in another order of axes than the model's. */
static void print_layout_changes(const struct odlc_conversion *conversion)
{
    size_t count;
    const struct odlc_diag *diags = odlc_conversion_diags(conversion, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(diags[i].code, "input-layout") == 0 || strcmp(diags[i].code, "output-layout") == 0)
            fprintf(stderr, "  %s\n", diags[i].message);
}

/* Notes behind an error belong to it. Others explain decisions: they are for --debug. */
static void print_conversion_diags(const struct odlc_conversion *conversion, const char *name, bool notes,
                                   enum diag_format format)
{
    size_t count;
    const struct odlc_diag *diags = odlc_conversion_diags(conversion, &count);
    for (size_t i = 0; i < count; i++)
        if (notes || diags[i].severity != ODLC_NOTE || diag_explains_error(&diags[i]))
            print_diag(stderr, name, &diags[i], format);
}

struct session {
    const struct convert_command *self;
    struct arena *arena;
    struct diags diags;
    struct options options;
    enum diag_format format;
    struct odlc_conversion *conversion;
};

static odlc_status report(const struct session *s, const struct odlc_convert_options *convert, odlc_status status,
                          bool summary)
{
    const char *name = s->self->command.name;
    bool debug = options_given(&s->options, CONVERT_OPT_DEBUG), written = status == ODLC_OK && !convert->dry_run;
    if (written || command_inputs_intact(s->arena, name, s->format))
        print_conversion_diags(s->conversion, name, debug, s->format);
    else
        status = ODLC_ERR_IO;
    if (convert->dry_run && print_ops(s->arena, s->conversion, status == ODLC_OK) != ODLC_OK)
        return print_out_of_memory(name, s->format);
    if (odlc_conversion_dump(s->conversion))
        fputs(odlc_conversion_dump(s->conversion), stdout);
    if (written && summary)
        print_summary(s->conversion, convert->output);
    if (written && summary && !debug)
        print_layout_changes(s->conversion);
    if (s->self->report)
        s->self->report(&s->options, s->conversion);
    return status;
}

static odlc_status convert(struct session *s)
{
    struct odlc_convert_options convert = {0};
    struct progress_line line;
    bool summary =
        !options_given(&s->options, CONVERT_OPT_QUIET) && s->format == DIAG_TEXT; /* JSON lines stay among themselves */
    TRY(read_options(s->arena, &s->diags, &s->options, &convert));
    if (progress_line_begin(&line, stderr) && summary)
        convert.progress = progress_line_report;
    convert.progress_user = &line;
    odlc_status status = s->self->convert(&convert, &s->conversion);
    progress_line_end(&line);
    if (!s->conversion)
        return diag_error(&s->diags, status, AT(.file = convert.input), "no-memory", "memory ran out");
    return report(s, &convert, status, summary);
}

static odlc_status guarded_run(struct session *s, int argc, char **argv)
{
    const struct command *command = &s->self->command;
    if (setjmp(*arena_catch(s->arena)))
        return print_out_of_memory(command->name, s->format);
    diags_init(&s->diags, s->arena);
    odlc_status status = options_parse(s->arena, &s->diags, command, argc, argv, &s->options);
    if (options_mention(s->arena, command, argc, argv, CONVERT_OPT_JSON))
        s->format = DIAG_JSON;
    if (status == ODLC_OK && !options_answered(&s->options))
        status = convert(s);
    print_diags(stderr, command->name, s->diags.list.data, s->diags.list.count, s->format);
    return status;
}

int convert_main(const struct convert_command *self, int argc, char **argv)
{
    const char *name = self->command.name;
    command_begin();
    command_outlives_readers();
    struct session s = {.self = self, .arena = arena_create(), .format = DIAG_TEXT};
    odlc_status status = s.arena ? guarded_run(&s, argc, argv) : print_out_of_memory(name, DIAG_TEXT);
    odlc_conversion_free(s.conversion);
    arena_destroy(s.arena);
    return command_end(name, exit_status(status), exit_status(ODLC_ERR_IO));
}
