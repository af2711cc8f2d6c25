/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/convert_command.h"

#include <stdio.h>
#include <string.h>

#include "tools/command.h"
#include "tools/convert_json.h"
#include "tools/convert_options.h"
#include "tools/convert_progress.h"
#include "tools/terminal.h"
#include "tools/text_file.h"
#include "text/text_table.h"

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

static odlc_status read_options(struct arena *arena, struct diags *diags, const struct options *options,
                                struct odlc_convert_options *out)
{
    odlc_convert_defaults(out, sizeof *out);
    out->command_words = 1;
    TRY(convert_options_read(arena, diags, options, out));
    if (!out->output)
        out->output = default_output(arena, out->input);
    if (options_given(options, CONVERT_OPT_udo_stub))
        out->dry_run = 1;
    out->converter_command = options_text(arena, options);
    return ODLC_OK;
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
        printf("--udo_stub FILE writes a UDO config to start from\n");
    if (odlc_conversion_target_stub(conversion))
        printf("\nA UDO config to start from, for what the targets' lists do not have:\n%s\n",
               odlc_conversion_target_stub(conversion));
    return ODLC_OK;
}

static void print_summary(const struct odlc_conversion *conversion, const char *output)
{
    struct odlc_conversion_summary s = odlc_conversion_summary(conversion);
    fprintf(stderr, "%s: %u ops from %u nodes, %u of them UDOs, %u permutes inserted, %.1f MB of constants\n", output,
            s.ops, s.model_nodes, s.udo_ops, s.permutes_inserted, (double)s.static_bytes / 1e6);
}

/* Which graph inputs and outputs are stored in another order of axes than the model's: a few are listed. */
static void print_layout_changes(const struct odlc_conversion *conversion)
{
    enum { MOST_LISTED = 8 };
    size_t count, inputs = 0, outputs = 0;
    const struct odlc_diag *diags = odlc_conversion_diags(conversion, &count);
    for (size_t i = 0; i < count; i++) {
        inputs += strcmp(diags[i].code, "input-layout") == 0;
        outputs += strcmp(diags[i].code, "output-layout") == 0;
    }
    bool listed = inputs + outputs <= MOST_LISTED;
    for (size_t i = 0; i < count && listed; i++)
        if (strcmp(diags[i].code, "input-layout") == 0 || strcmp(diags[i].code, "output-layout") == 0)
            fprintf(stderr, "  %s\n", diags[i].message);
    if (!listed)
        fprintf(stderr, "  %zu graph inputs and %zu graph outputs are stored channels-last: --debug lists them\n",
                inputs, outputs);
    if (inputs + outputs)
        fprintf(stderr, "  --io_layout model keeps the model's order\n");
}

/* Results that have more rows than the model's, because the container knows no other shapes. */
static void print_worst_cases(const struct odlc_conversion *conversion)
{
    size_t count;
    const struct odlc_diag *diags = odlc_conversion_diags(conversion, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(diags[i].code, "worst-case-shape") == 0)
            fprintf(stderr, "  node '%s': %s\n", diags[i].node, diags[i].message);
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

/* The file of --udo_stub, or standard output. */
static odlc_status write_stub(struct arena *arena, struct diags *diags, const struct odlc_conversion *conversion,
                              const char *path)
{
    const char *stub = odlc_conversion_udo_stub(conversion);
    struct text_stream file;
    if (!stub) {
        diag_note(diags, AT(.file = NULL), "udo-stub", "no operator needs a UDO: there is no config to write");
        return ODLC_OK;
    }
    if (!text_stream_open(&file))
        return ODLC_ERR_NOMEM;
    fprintf(file.stream, "%s\n", stub);
    return text_file_write(arena, diags, &file, path);
}

struct session {
    const struct convert_command *self;
    struct arena *arena;
    struct diags diags;
    struct options options;
    enum diag_format format;
    struct odlc_conversion *conversion;
};

/* The values of options that say how much is told. */
static bool shows_notes(const struct options *options)
{
    return options_given(options, CONVERT_OPT_debug) ||
           strcmp(options_value(options, CONVERT_OPT_dry_run, ""), "debug") == 0;
}

/* What goes to standard output: results of a dry run, and of a conversion for programs. */
static odlc_status print_results(struct session *s, const struct odlc_convert_options *convert, odlc_status status)
{
    const char *stub = options_value(&s->options, CONVERT_OPT_udo_stub, NULL);
    const bool json = s->format == DIAG_JSON && !(stub && strcmp(stub, "-") == 0);
    if (stub)
        TRY(write_stub(s->arena, &s->diags, s->conversion, stub));
    if (json && (status == ODLC_OK || convert->dry_run))
        return convert_print_json(stdout, s->conversion, convert, status == ODLC_OK);
    if (!convert->dry_run || (stub && strcmp(stub, "-") == 0))
        return ODLC_OK;
    return print_ops(s->arena, s->conversion, status == ODLC_OK);
}

static odlc_status report(struct session *s, const struct odlc_convert_options *convert, odlc_status status,
                          bool summary)
{
    const char *name = s->self->command.name;
    bool notes = shows_notes(&s->options), written = status == ODLC_OK && !convert->dry_run;
    if (written || command_inputs_intact(s->arena, name, s->format))
        print_conversion_diags(s->conversion, name, notes, s->format);
    else
        status = ODLC_ERR_IO;
    const odlc_status printed = print_results(s, convert, status);
    if (printed == ODLC_ERR_NOMEM)
        return print_out_of_memory(name, s->format);
    if (odlc_conversion_dump(s->conversion))
        fputs(odlc_conversion_dump(s->conversion), stdout);
    if (written && summary)
        print_summary(s->conversion, convert->output);
    if (written && summary && !notes) {
        print_layout_changes(s->conversion);
        print_worst_cases(s->conversion);
    }
    if (s->self->report)
        s->self->report(&s->options, s->conversion);
    return status == ODLC_OK ? printed : status;
}

static odlc_status convert(struct session *s)
{
    struct odlc_convert_options convert;
    struct progress_line line;
    bool summary = !terminal_is_quiet() && s->format == DIAG_TEXT; /* JSON lines stay among themselves */
    TRY(read_options(s->arena, &s->diags, &s->options, &convert));
    if (progress_line_begin(&line, stderr) && summary)
        convert.progress = convert_progress_report;
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
    if (options_mention(s->arena, command, argc, argv, CONVERT_OPT_json))
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
