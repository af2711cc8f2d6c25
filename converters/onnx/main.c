/* onnx-to-dlc: an ONNX model with user-defined ops becomes a DLC container. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "opendlc/convert.h"
#include "tools/command.h"
#include "tools/model_options.h"
#include "tools/options.h"
#include "tools/progress.h"

enum {
    OPT_INPUT,
    OPT_OUTPUT,
    OPT_UDO,
    OPT_OP_PACKAGE,
    OPT_DRY_RUN,
    OPT_MODEL_VERSION,
    OPT_COPYRIGHT,
    OPT_FORMAT,
    OPT_THREADS,
    OPT_DEPFILE,
    OPT_JSON,
    OPT_DUMP,
    OPT_QUIET,
    OPT_DEBUG,
    OPT_IGNORED /* from here: accepted without effect */
};

static const struct option rows[] = {
    {.title = "Files"},
    {.id = OPT_INPUT,
     .name = "input_network",
     .shorts = {"i"},
     .min = 1,
     .max = 1,
     .required = true,
     .values = "FILE",
     .complete = ".onnx",
     .help = "the ONNX model"},
    {.id = OPT_OUTPUT,
     .name = "output_path",
     .shorts = {"o"},
     .min = 1,
     .max = 1,
     .values = "FILE",
     .complete = ".dlc",
     .help = "the container to write; by default the model's name with .dlc"},
    {.id = OPT_UDO,
     .name = "udo_config_paths",
     .shorts = {"udo"},
     .min = 1,
     .max = MANY_VALUES,
     .repeatable = true,
     .values = "FILE...",
     .complete = ".json .xml",
     .help = "descriptions of user-defined ops, JSON or XML"},
    {.id = OPT_OP_PACKAGE,
     .name = "op_package_config",
     .shorts = {"opc"},
     .min = 1,
     .max = MANY_VALUES,
     .repeatable = true,
     .values = "FILE...",
     .complete = ".json .xml",
     .help = "the same as --udo_config_paths, as scripts with XML configs call it"},
    {.id = OPT_COPYRIGHT,
     .name = "copyright_file",
     .min = 1,
     .max = 1,
     .values = "FILE",
     .help = "text that is stored as the model's copyright"},
    {.id = OPT_DEPFILE,
     .name = "depfile",
     .min = 1,
     .max = 1,
     .values = "FILE",
     .help = "write the files that the container depends on, in make syntax, which ninja reads, too"},
#include "tools/model_options.def"
    {.id = OPT_FORMAT,
     .name = "params_format",
     .min = 1,
     .max = 1,
     .values = "nr64|netp",
     .help = "how parameters are stored: nr64 (default), or netp, inline and below 2 GiB"},
    {.id = OPT_MODEL_VERSION,
     .name = "model_version",
     .min = 1,
     .max = 1,
     .values = "TEXT",
     .help = "stored as the model's version; at most 64 bytes"},
    {.id = OPT_THREADS,
     .name = "threads",
     .min = 1,
     .max = 1,
     .values = "N",
     .help = "threads that write constants, 1 (default) to 16; the container does not depend on it"},
    {.title = "Reports"},
    {.id = OPT_DRY_RUN,
     .name = "dry_run",
     .help = "list every op (native, UDO, unsupported) and print a UDO config for the unsupported ones; write nothing"},
    {.id = OPT_JSON, .name = "json", .help = "diagnostics as JSON lines"},
    {.id = OPT_DUMP,
     .name = "dump_ir",
     .min = 1,
     .max = 1,
     .values = "after=PASS",
     .help = "print the graph as text after a pass"},
    {.id = OPT_QUIET, .name = "quiet", .shorts = {"q"}, .help = "errors and warnings only"},
    {.id = OPT_DEBUG, .name = "debug", .min = 0, .max = 1, .values = "[N]", .help = "show notes on every decision"},
    OPTIONS_COMMON,
    {.title = "Accepted for the sake of existing scripts, without effect"},
    {.id = OPT_IGNORED,
     .name = "input_type",
     .shorts = {"t"},
     .min = 2,
     .max = 2,
     .repeatable = true,
     .ignored = true,
     .values = "NAME TYPE",
     .help = "kind of data that an input takes"},
    {.id = OPT_IGNORED + 1,
     .name = "input_encoding",
     .shorts = {"e"},
     .min = 2,
     .max = 3,
     .repeatable = true,
     .ignored = true,
     .values = "NAME ENCODING",
     .help = "colour encoding of an image input"},
    {.id = OPT_IGNORED + 2,
     .name = "validation_target",
     .min = 2,
     .max = 2,
     .ignored = true,
     .values = "RUNTIME CHIP",
     .help = "target to validate against"},
    {.id = OPT_IGNORED + 3,
     .name = "strict",
     .aliases = {"enable_strict_validation"},
     .ignored = true,
     .help = "strict validation"},
    {.id = OPT_IGNORED + 4,
     .name = "package_name",
     .shorts = {"p"},
     .min = 1,
     .max = 1,
     .ignored = true,
     .values = "NAME",
     .help = "package of custom ops"},
    {.id = OPT_IGNORED + 5,
     .name = "op_package_lib",
     .min = 1,
     .max = 1,
     .ignored = true,
     .values = "FILE",
     .help = "library of custom ops"},
    {.id = OPT_IGNORED + 6,
     .name = "float_bw",
     .min = 1,
     .max = 1,
     .ignored = true,
     .values = "N",
     .help = "bit width of floats"},
    {.id = OPT_IGNORED + 7,
     .name = "float_bias_bw",
     .min = 1,
     .max = 1,
     .ignored = true,
     .values = "N",
     .help = "bit width of biases"},
    {.id = OPT_IGNORED + 9, .name = "expand_lstm_op_structure", .ignored = true, .help = "expand LSTM ops"},
    {.id = OPT_IGNORED + 11,
     .name = "no_simplification",
     .shorts = {"n"},
     .ignored = true,
     .help = "no simplification of the model"},
};

static const struct command self = {
    .name = "onnx-to-dlc",
    .summary = "convert an ONNX model to a DLC container",
    .usage = "-i MODEL [-o CONTAINER] [options]",
    OPTION_ROWS(rows),
};

/* ---- options → odlc_convert_options ---- */

static const char *default_output(struct arena *arena, const char *input)
{
    const char *slash = strrchr(input, '/'), *dot = strrchr(slash ? slash : input, '.');
    return arena_printf(arena, "%.*s.dlc", dot ? (int)(dot - input) : (int)strlen(input), input);
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
    static const int others[] = {OPT_OUTPUT, OPT_THREADS, OPT_DEPFILE, OPT_JSON, OPT_DUMP, OPT_QUIET, OPT_DEBUG};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (id == others[i])
            return false;
    return true;
}

/* The container records the tool and its options, sorted by name, as files of the field do. */
static const char *command_text(struct arena *arena, const struct options *options)
{
    text t = {0};
    text_add(arena, &t, "onnx-to-dlc");
    for (const struct option *row = rows; row < rows + COUNT_OF(rows); row++) {
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
    TRY(options_int(options, diags, OPT_THREADS, 1, ODLC_MAX_THREADS, &threads));
    out->threads = (unsigned)threads;
    return ODLC_OK;
}

static odlc_status read_options(struct arena *arena, struct diags *diags, const struct options *options,
                                struct odlc_convert_options *out)
{
    const char *format = options_value(options, OPT_FORMAT, "nr64"), *dump = options_value(options, OPT_DUMP, NULL);
    out->input = options_value(options, OPT_INPUT, NULL);
    out->output = options_value(options, OPT_OUTPUT, default_output(arena, out->input));
    options_values(arena, options, OPT_UDO, OPT_OP_PACKAGE, &out->udo_configs, &out->n_udo_configs);
    out->dry_run = options_given(options, OPT_DRY_RUN);
    out->model_version = options_value(options, OPT_MODEL_VERSION, NULL);
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
    out->depfile = options_value(options, OPT_DEPFILE, NULL);
    TRY(read_threads(options, diags, out));
    if (!options_given(options, OPT_COPYRIGHT))
        return ODLC_OK;
    options_values(arena, options, OPT_COPYRIGHT, OPT_COPYRIGHT, &out->more_inputs, &out->n_more_inputs);
    return read_text_file(arena, diags, options_value(options, OPT_COPYRIGHT, NULL), &out->model_copyright);
}

/* ---- results ---- */

static void print_ops(const struct odlc_conversion *conversion)
{
    static const char *const status[] = {"native", "UDO", "unsupported"};
    size_t count, of[3] = {0};
    const struct odlc_op_report *ops = odlc_conversion_ops(conversion, &count);
    for (size_t i = 0; i < count; i++) {
        of[ops[i].status]++;
        printf("%-12s %s%s%s (version %lld)  %s%s%s\n", status[ops[i].status], ops[i].domain,
               *ops[i].domain ? "::" : "", ops[i].op_type, (long long)ops[i].version, ops[i].node,
               ops[i].package ? "  package " : "", ops[i].package ? ops[i].package : "");
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
static void print_conversion_diags(const struct odlc_conversion *conversion, bool notes, enum diag_format format)
{
    size_t count;
    const struct odlc_diag *diags = odlc_conversion_diags(conversion, &count);
    for (size_t i = 0; i < count; i++)
        if (notes || diags[i].severity != ODLC_NOTE || diag_explains_error(&diags[i]))
            print_diag(stderr, self.name, &diags[i], format);
}

static odlc_status convert(struct arena *arena, struct diags *diags, const struct options *options,
                           enum diag_format format)
{
    struct odlc_convert_options convert = {0};
    struct odlc_conversion *conversion;
    struct progress_line line;
    bool summary = !options_given(options, OPT_QUIET) && format == DIAG_TEXT; /* JSON lines stay among themselves */
    TRY(read_options(arena, diags, options, &convert));
    if (progress_line_begin(&line, stderr) && summary)
        convert.progress = progress_line_report;
    convert.progress_user = &line;
    odlc_status status = odlc_convert_onnx(&convert, &conversion);
    progress_line_end(&line);
    if (!conversion)
        return diag_error(diags, status, AT(.file = convert.input), "no-memory", "memory ran out");
    if ((status == ODLC_OK && !convert.dry_run) || command_inputs_intact(arena, self.name, format))
        print_conversion_diags(conversion, options_given(options, OPT_DEBUG), format);
    else
        status = ODLC_ERR_IO;
    if (convert.dry_run)
        print_ops(conversion);
    if (odlc_conversion_dump(conversion))
        fputs(odlc_conversion_dump(conversion), stdout);
    if (status == ODLC_OK && !convert.dry_run && summary)
        print_summary(conversion, convert.output);
    if (status == ODLC_OK && !convert.dry_run && summary && !options_given(options, OPT_DEBUG))
        print_layout_changes(conversion);
    odlc_conversion_free(conversion);
    return status;
}

int main(int argc, char **argv)
{
    command_begin();
    command_outlives_readers();
    struct arena *arena = arena_create();
    if (!arena || setjmp(*arena_catch(arena)))
        return exit_status(print_out_of_memory(self.name));
    struct diags diags;
    struct options options;
    diags_init(&diags, arena);
    odlc_status status = options_parse(arena, &diags, &self, argc, argv, &options);
    enum diag_format format = options_mention(arena, &self, argc, argv, OPT_JSON) ? DIAG_JSON : DIAG_TEXT;
    if (status == ODLC_OK && options_answered(&options)) {
        arena_destroy(arena);
        return command_end(self.name, 0, exit_status(ODLC_ERR_IO));
    }
    if (status == ODLC_OK)
        status = convert(arena, &diags, &options, format);
    print_diags(stderr, self.name, diags.list.data, diags.list.count, format);
    arena_destroy(arena);
    return command_end(self.name, exit_status(status), exit_status(ODLC_ERR_IO));
}
