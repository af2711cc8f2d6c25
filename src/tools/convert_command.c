#include "tools/convert_command.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tools/command.h"
#include "tools/model_options.h"
#include "tools/progress.h"

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

static void print_ops(const struct odlc_conversion *conversion)
{
    static const char *const status[] = {"native", "UDO", "unsupported"};
    size_t count, of[3] = {0};
    const struct odlc_op_report *ops = odlc_conversion_ops(conversion, &count);
    for (size_t i = 0; i < count; i++) {
        of[ops[i].status]++;
        printf("%-12s %s%s%s", status[ops[i].status], ops[i].domain, *ops[i].domain ? "::" : "", ops[i].op_type);
        if (ops[i].version)
            printf(" (version %lld)", (long long)ops[i].version);
        printf("  %s%s%s\n", ops[i].node, ops[i].package ? "  package " : "", ops[i].package ? ops[i].package : "");
    }
    printf("%zu ops: %zu native, %zu UDO, %zu unsupported\n", count, of[ODLC_OP_NATIVE], of[ODLC_OP_UDO],
           of[ODLC_OP_UNSUPPORTED]);
    if (odlc_conversion_udo_stub(conversion))
        printf("\nA UDO config to start from:\n%s\n", odlc_conversion_udo_stub(conversion));
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

static odlc_status convert(const struct convert_command *self, struct arena *arena, struct diags *diags,
                           const struct options *options, enum diag_format format)
{
    const char *name = self->command.name;
    struct odlc_convert_options convert = {0};
    struct odlc_conversion *conversion;
    struct progress_line line;
    bool summary =
        !options_given(options, CONVERT_OPT_QUIET) && format == DIAG_TEXT; /* JSON lines stay among themselves */
    TRY(read_options(arena, diags, options, &convert));
    if (progress_line_begin(&line, stderr) && summary)
        convert.progress = progress_line_report;
    convert.progress_user = &line;
    odlc_status status = self->convert(&convert, &conversion);
    progress_line_end(&line);
    if (!conversion)
        return diag_error(diags, status, AT(.file = convert.input), "no-memory", "memory ran out");
    if ((status == ODLC_OK && !convert.dry_run) || command_inputs_intact(arena, name, format))
        print_conversion_diags(conversion, name, options_given(options, CONVERT_OPT_DEBUG), format);
    else
        status = ODLC_ERR_IO;
    if (convert.dry_run)
        print_ops(conversion);
    if (odlc_conversion_dump(conversion))
        fputs(odlc_conversion_dump(conversion), stdout);
    if (status == ODLC_OK && !convert.dry_run && summary)
        print_summary(conversion, convert.output);
    if (status == ODLC_OK && !convert.dry_run && summary && !options_given(options, CONVERT_OPT_DEBUG))
        print_layout_changes(conversion);
    if (self->report)
        self->report(options, conversion);
    odlc_conversion_free(conversion);
    return status;
}

int convert_main(const struct convert_command *self, int argc, char **argv)
{
    const char *name = self->command.name;
    command_begin();
    command_outlives_readers();
    struct arena *arena = arena_create();
    if (!arena || setjmp(*arena_catch(arena)))
        return exit_status(print_out_of_memory(name));
    struct diags diags;
    struct options options;
    diags_init(&diags, arena);
    odlc_status status = options_parse(arena, &diags, &self->command, argc, argv, &options);
    enum diag_format format =
        options_mention(arena, &self->command, argc, argv, CONVERT_OPT_JSON) ? DIAG_JSON : DIAG_TEXT;
    if (status == ODLC_OK && options_answered(&options)) {
        arena_destroy(arena);
        return command_end(name, 0, exit_status(ODLC_ERR_IO));
    }
    if (status == ODLC_OK)
        status = convert(self, arena, &diags, &options, format);
    print_diags(stderr, name, diags.list.data, diags.list.count, format);
    arena_destroy(arena);
    return command_end(name, exit_status(status), exit_status(ODLC_ERR_IO));
}
