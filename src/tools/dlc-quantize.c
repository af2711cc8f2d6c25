/* SPDX-License-Identifier: Apache-2.0 */
/* dlc-quantize: a container of floats becomes one of fixed-point tensors. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/backends.h"
#include "api/opened_packages.h"
#include "base/c_locale.h"
#include "dlc/record.h"
#include "op/registry.h"
#include "quantize/quantize.h"
#include "tools/calibration.h"
#include "tools/command.h"
#include "tools/encodings_out.h"
#include "tools/options.h"
#include "tools/progress_line.h"
#include "tools/quantize_budget.h"
#include "tools/quantize_inputs.h"
#include "tools/quantize_report.h"
#include "tools/terminal.h"

enum {
#define OPTION OPTION_IDS
#include "tools/dlc-quantize.def"
};
static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/dlc-quantize.def"
    OPTION_VERBOSE("General"),
    OPTIONS_COMMON("General"),
};

static const struct command self = {
    .name = "dlc-quantize",
    .summary = "Makes a DLC container of floats one of fixed-point tensors",
    .usage = "[--input_dlc] FILE [[--output_dlc] FILE] --input_list FILE [options]",
    OPTION_ROWS(rows),
    .epilogue = "Ranges are those of the values that the inputs give. See dlc-quantize(1).",
};

struct session {
    struct arena *arena, *scratch;
    struct diags diags;
    struct options options;
    struct quantize_options settings;
    int64_t threads;
    struct quantizer *quantizer;
    struct input_list list;        /* of --input_list */
    struct input_list report_list; /* of --report_list */
    bool has_looked;               /* … and its files are there, and of the right sizes */
    struct progress_line *trials;  /* says how far trials are; NULL: there is no such line */
    bool is_trying;                /* … and what is made is one of them */
};

/* ---- options ---- */

/* The value as one of these words; *out stays where the option is not given. */
static odlc_status read_word(struct session *s, int option, const char *const *words, size_t count, uint32_t *out)
{
    const char *value = options_value(&s->options, option, NULL);
    text known = {0};
    if (!value)
        return ODLC_OK;
    for (size_t i = 0; i < count; i++) {
        text_add(s->arena, &known, "%s%s", i ? ", " : "", words[i]);
        if (strcmp(value, words[i]) == 0) {
            *out = (uint32_t)i;
            return ODLC_OK;
        }
    }
    return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = known.data), "option-value",
                      "'%s' is none of the values that there are yet", value);
}

#define READ_WORD(s, option, out, ...) \
    read_word(s, option, (const char *const[]){__VA_ARGS__}, COUNT_OF(((const char *const[]){__VA_ARGS__})), out)

static odlc_status read_bits(struct session *s, int option, const char *const *words, size_t count, uint32_t *out)
{
    static const uint32_t numbers[] = {4, 8, 16, 32};
    uint32_t place = UINT32_MAX;
    TRY(read_word(s, option, words, count, &place));
    for (size_t i = 0; place != UINT32_MAX && i < COUNT_OF(numbers); i++)
        if (strcmp(words[place], (const char *const[]){"4", "8", "16", "32"}[i]) == 0)
            *out = numbers[i];
    return ODLC_OK;
}

#define READ_BITS(s, option, out, ...) \
    read_bits(s, option, (const char *const[]){__VA_ARGS__}, COUNT_OF(((const char *const[]){__VA_ARGS__})), out)

static odlc_status read_widths(struct session *s)
{
    struct quantize_options *o = &s->settings;
    o->act_bits = o->bias_bits = 8;
    TRY(READ_BITS(s, OPT_BITS, &o->act_bits, "8", "16"));
    o->weights_bits = o->act_bits;
    TRY(READ_BITS(s, OPT_ACT_BITS, &o->act_bits, "8", "16"));
    uint32_t scale = 0;
    TRY(READ_WORD(s, OPT_BIAS_SCALE, &scale, "range", "product"));
    o->product_bias = scale == 1;
    if (o->product_bias)
        o->bias_bits = 32;
    TRY(READ_BITS(s, OPT_WEIGHTS_BITS, &o->weights_bits, "4", "8", "16"));
    uint32_t second = 8;
    TRY(READ_BITS(s, OPT_SECOND_BITS, &second, "8", "16"));
    o->wide_products = second == 16;
    TRY(READ_BITS(s, OPT_BIAS_BITS, &o->bias_bits, "8", "32"));
    return o->product_bias && o->bias_bits != 32
               ? diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "leave out one of both"), "option-value",
                            "--bias_scale product is for biases of 32 bits, and --bias_bitwidth chooses %u",
                            (unsigned)o->bias_bits)
               : ODLC_OK;
}

/* What the older words for a calibrator and a schema together mean, and then the words for each. */
static odlc_status read_quantizer(struct session *s, const int options[3], enum quantize_calibrator *calibrator,
                                  enum quantize_schema *schema)
{
    static const char *const calibrators[] = {
#define CALIBRATOR(id, name, function, takes_histogram) name,
#include "quantize/quant_calibrators.def"
    };
    static const struct {
        enum quantize_calibrator calibrator;
        enum quantize_schema schema;
    } both[] = {{CALIBRATOR_MIN_MAX, SCHEMA_ASYMMETRIC},
                {CALIBRATOR_SQNR, SCHEMA_ASYMMETRIC},
                {CALIBRATOR_ADJUSTED, SCHEMA_ASYMMETRIC},
                {CALIBRATOR_MIN_MAX, SCHEMA_SYMMETRIC}};
    uint32_t word = UINT32_MAX, found = *calibrator, kind = *schema;
    TRY(READ_WORD(s, options[0], &word, "tf", "enhanced", "adjusted", "symmetric"));
    if (word != UINT32_MAX) {
        found = both[word].calibrator;
        kind = both[word].schema;
    }
    TRY(read_word(s, options[1], calibrators, COUNT_OF(calibrators), &found));
    TRY(READ_WORD(s, options[2], &kind, "asymmetric", "symmetric", "unsignedsymmetric"));
    *calibrator = (enum quantize_calibrator)found;
    *schema = (enum quantize_schema)kind;
    return ODLC_OK;
}

static odlc_status read_improvements(struct session *s)
{
    static const char *const words[] = {"cle", "adaround", "bc"};
    /* Scaled weights and what is between layers have other means when they are integers: biases take that back. */
    static const uint32_t kinds[] = {IMPROVE_EQUALIZE | IMPROVE_CORRECT, IMPROVE_ROUND, IMPROVE_CORRECT};
    const char *const *names;
    size_t count;
    options_names(s->arena, &s->options, OPT_OPTIMIZATIONS, &names, &count);
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < COUNT_OF(words) && strcmp(names[i], words[k]) != 0)
            k++;
        if (k == COUNT_OF(words))
            return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "cle, adaround, bc"), "option-value",
                              "'%s' is none of the optimizations that there are", names[i]);
        s->settings.improvements |= kinds[k];
    }
    if (options_given(&s->options, OPT_STATISTICS) && s->settings.improvements)
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "leave out --statistics"), "options",
                          "cle, adaround and bc choose by a whole --input_list, not by statistics");
    return ODLC_OK;
}

/* "-0x80 0x7F": the least and the greatest integer. */
static odlc_status read_steps(struct session *s)
{
    const char *value = options_value(&s->options, OPT_STEPS, NULL);
    char *middle, *end;
    if (!value)
        return ODLC_OK;
    const long least = strtol(value, &middle, 0), greatest = strtol(middle, &end, 0);
    if (middle == value || end == middle || *end || least >= 0 || least < -0x8000 || greatest <= 0 || greatest > 0x7FFF)
        return diag_error(&s->diags, ODLC_ERR_USAGE,
                          AT(.hint = "write the least and the greatest integer: \"-0x80 0x7F\""), "option-value",
                          "'%s' is not a range of integers", value);
    s->settings.least_step = (int32_t)least;
    s->settings.greatest_step = (int32_t)greatest;
    return ODLC_OK;
}

/* What stays float, or gets 16 bits. */
static void read_floats(struct session *s)
{
    const struct options *o = &s->options;
    struct quantize_options *to = &s->settings;
    options_names(s->arena, o, OPT_KEEP_FLOAT, &to->keep_float, &to->n_keep_float);
    options_names(s->arena, o, OPT_WIDEN, &to->widen, &to->n_widen);
    options_names(s->arena, o, OPT_WIDEN_WEIGHTS, &to->widen_weights, &to->n_widen_weights);
    options_names(s->arena, o, OPT_KEEP_IO, &to->keep_io, &to->n_keep_io);
    to->keeps_all_io = options_given(o, OPT_KEEP_IO) && to->n_keep_io == 0;
    to->float_fallback = options_given(o, OPT_FLOAT_FALLBACK);
    to->fixed_weights = options_given(o, OPT_FIXED_WEIGHTS);
    to->float_weights = options_given(o, OPT_FLOAT_WEIGHTS);
}

static odlc_status read_percentile(struct session *s)
{
    const char *value = options_value(&s->options, OPT_PERCENTILE, "99.99");
    char *end;
    s->settings.percentile = c_strtod(value, &end);
    if (end != value && !*end && s->settings.percentile > 50 && s->settings.percentile <= 100)
        return ODLC_OK;
    return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "99.99 cuts off a value of 10,000 at each end"),
                      "option-value",
                      "option --percentile_calibration_value takes a number above 50, 100 at most, not '%s'", value);
}

static odlc_status read_quantizers(struct session *s)
{
    static const int act[] = {OPT_ACT_QUANTIZER, OPT_ACT_CALIBRATION, OPT_ACT_SCHEMA};
    static const int param[] = {OPT_PARAM_QUANTIZER, OPT_PARAM_CALIBRATION, OPT_PARAM_SCHEMA};
    struct quantize_options *o = &s->settings;
    uint32_t which = UINT32_MAX;
    TRY(READ_WORD(s, OPT_ENHANCED, &which, "weights", "activations"));
    if (options_given(&s->options, OPT_ENHANCED) && which != 0)
        o->act_calibrator = CALIBRATOR_SQNR;
    if (options_given(&s->options, OPT_ENHANCED) && which != 1)
        o->weights_calibrator = CALIBRATOR_SQNR;
    if (options_given(&s->options, OPT_ADJUSTED_WEIGHTS))
        o->weights_calibrator = CALIBRATOR_ADJUSTED;
    if (options_given(&s->options, OPT_SYMMETRIC_WEIGHTS))
        o->weights_schema = SCHEMA_SYMMETRIC;
    TRY(read_quantizer(s, act, &o->act_calibrator, &o->act_schema));
    TRY(read_quantizer(s, param, &o->weights_calibrator, &o->weights_schema));
    return read_percentile(s);
}

static odlc_status check_report(struct session *s)
{
    const struct options *o = &s->options;
    if (!options_given(o, OPT_REPORT))
        return options_given(o, OPT_REPORT_LIST)
                   ? diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "add --report FILE.html"), "option-value",
                                "option --report_list is for a report")
                   : ODLC_OK;
    if (!options_given(o, OPT_REPORT_LIST) && !options_given(o, OPT_INPUT_LIST))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "--report_list FILE, or --input_list FILE"),
                          "option-value", "option --report: there are no inputs to compare the networks with");
    return quantize_report_check(&s->diags, options_value(o, OPT_REPORT, ""));
}

static odlc_status read_settings(struct session *s)
{
    static const char *const cores[] = {"CPU", "GPU", "DSP"};
    enum { MOST_THREADS = 256 };
    uint32_t core = COUNT_OF(cores) - 1;
    TRY(read_word(s, OPT_UDO_CORE, cores, COUNT_OF(cores), &core));
    s->settings.udo_core = cores[core];
    const struct options *o = &s->options;
    TRY(read_widths(s));
    TRY(read_quantizers(s));
    TRY(read_improvements(s));
    s->settings.per_channel = options_given(o, OPT_PER_CHANNEL);
    s->settings.per_row = options_given(o, OPT_PER_ROW);
    s->settings.ignore_encodings = options_given(o, OPT_IGNORE_ENCODINGS);
    s->settings.overrides = options_value(o, OPT_OVERRIDES, NULL);
    s->settings.fixed_ranges = options_given(o, OPT_FIXED_RANGES);
    s->settings.per_row_bias = options_given(o, OPT_PER_ROW_BIAS);
    TRY(read_steps(s));
    s->settings.packs_4_bits = options_given(o, OPT_PACK);
    read_floats(s);
    TRY(READ_BITS(s, OPT_FLOAT_BITS, &s->settings.float_bits, "16", "32"));
    TRY(READ_BITS(s, OPT_FLOAT_BIAS_BITS, &s->settings.float_bias_bits, "16", "32"));
    if (s->settings.float_fallback && options_given(o, OPT_INPUT_LIST))
        return diag_error(&s->diags, ODLC_ERR_USAGE,
                          AT(.hint = "without a list what has no encoding stays float; with one ranges are observed"),
                          "option-value", "--float_fallback and --input_list exclude each other");
    s->threads = 1;
    TRY(check_report(s));
    return options_int(o, &s->diags, OPT_THREADS, 1, MOST_THREADS, &s->threads);
}

static const char *output_path(struct session *s, const char *input)
{
    const size_t length = strlen(input);
    const bool has_suffix = length > 4 && strcmp(input + length - 4, ".dlc") == 0;
    return arena_printf(s->arena, "%.*s_quantized.dlc", (int)(has_suffix ? length - 4 : length), input);
}

/* ---- calibration ---- */

/* Two names of one file in one folder, whether the file is there or not. */
static bool is_same_file(struct arena *arena, const char *one, const char *other)
{
    const char *const paths[] = {one, other};
    const char *names[2];
    struct stat folders[2];
    for (int i = 0; i < 2; i++) {
        const char *slash = strrchr(paths[i], '/');
        names[i] = slash ? slash + 1 : paths[i];
        if (stat(slash ? arena_strndup(arena, paths[i], (size_t)(slash + 1 - paths[i])) : ".", &folders[i]) != 0)
            return false; /* which is an error when the file is made */
    }
    return strcmp(names[0], names[1]) == 0 && folders[0].st_dev == folders[1].st_dev &&
           folders[0].st_ino == folders[1].st_ino;
}

/* Of two outputs with one name the later one would be left. */
static odlc_status check_outputs(struct session *s)
{
    const struct options *o = &s->options;
    const struct {
        const char *option, *path;
    } outputs[] = {
        {"output_dlc", options_given(o, OPT_STATISTICS)
                           ? NULL
                           : options_value(o, OPT_OUTPUT, output_path(s, options_value(o, OPT_INPUT, "")))},
        {"dump_encodings", options_value(o, OPT_DUMP_ENCODINGS, NULL)},
        {"report", options_value(o, OPT_REPORT, NULL)},
        {"calibration_cache", options_value(o, OPT_CACHE, NULL)},
        {"statistics", options_value(o, OPT_STATISTICS, NULL)},
    };
    for (size_t i = 0; i < COUNT_OF(outputs); i++)
        for (size_t k = 0; k < i; k++)
            if (outputs[i].path && outputs[k].path && is_same_file(s->scratch, outputs[i].path, outputs[k].path))
                return diag_error(&s->diags, ODLC_ERR_USAGE,
                                  AT(.file = outputs[i].path, .hint = "name another file for one of them"), "options",
                                  "--%s and --%s are to be the same file", outputs[k].option, outputs[i].option);
    return ODLC_OK;
}

/* Which files go together. */
static odlc_status check_files(struct session *s)
{
    static const struct {
        int id, other;
        bool needs;
        const char *message;
    } rules[] = {
        {OPT_SHARD, OPT_STATISTICS, true, "--shard is for --statistics FILE, which --merge takes"},
        {OPT_STATISTICS, OPT_INPUT_LIST, true, "--statistics are those of an --input_list"},
        {OPT_CACHE, OPT_INPUT_LIST, true, "--calibration_cache is for an --input_list"},
        {OPT_STATISTICS, OPT_OUTPUT, false, "--statistics writes no container: --output_dlc is for --merge"},
        {OPT_STATISTICS, OPT_DUMP_ENCODINGS, false, "--statistics makes no encodings: --dump_encodings is for --merge"},
        {OPT_STATISTICS, OPT_REPORT, false, "--statistics writes no container: --report is for --merge"},
        {OPT_BUDGET, OPT_STATISTICS, false, "--budget_sqnr goes by a whole --input_list: leave out --statistics"},
        {OPT_BUDGET, OPT_CACHE, false, "--budget_sqnr observes more than once: leave out --calibration_cache"},
        {OPT_KEEP_WORST, OPT_STATISTICS, false, "--keep_worst goes by a whole --input_list: leave out --statistics"},
        {OPT_KEEP_WORST, OPT_CACHE, false, "--keep_worst observes more than once: leave out --calibration_cache"},
        {OPT_MERGE, OPT_INPUT_LIST, false, "--merge takes what was observed: leave out --input_list"},
        {OPT_MERGE, OPT_OPTIMIZATIONS, false, "--optimizations go by a whole --input_list, not by files of --merge"},
    };
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        if (options_given(&s->options, rules[i].id) && options_given(&s->options, rules[i].other) != rules[i].needs)
            return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = NULL), "options", "%s", rules[i].message);
    return check_outputs(s);
}

/* What a report needs after all the work is looked for before, once for all trials. */
static odlc_status read_report_list(struct session *s)
{
    const char *path = options_value(&s->options, OPT_REPORT_LIST, NULL);
    return path ? quantize_list_read(s->arena, &s->diags, path, &s->report_list) : ODLC_OK;
}

static odlc_status look_for_report_inputs(struct session *s)
{
    if (s->has_looked || !options_given(&s->options, OPT_REPORT_LIST))
        return ODLC_OK;
    s->has_looked = true;
    return quantize_inputs_check(s->scratch, &s->diags, quantizer_graph(s->quantizer), &s->report_list, 0,
                                 s->report_list.inferences.count, options_given(&s->options, OPT_NATIVE_INPUTS));
}

static odlc_status calibrate(struct session *s)
{
    const struct options *o = &s->options;
    struct calibration_run run = {.arena = s->arena,
                                  .scratch = s->scratch,
                                  .diags = &s->diags,
                                  .quantizer = s->quantizer,
                                  .list_path = options_value(o, OPT_INPUT_LIST, ""),
                                  .options = options_text_but(s->arena, o, OPT_INPUT),
                                  .shard = options_value(o, OPT_SHARD, NULL),
                                  .cache = options_value(o, OPT_CACHE, NULL),
                                  .statistics = options_value(o, OPT_STATISTICS, NULL),
                                  .is_native = options_given(o, OPT_NATIVE_INPUTS),
                                  .is_quiet = s->is_trying,
                                  .threads = (unsigned)s->threads};
    const char *const *files;
    size_t count;
    options_values(s->arena, o, OPT_MERGE, &files, &count);
    TRY(look_for_report_inputs(s));
    if (count)
        return calibration_merge(&run, files, count);
    if (!options_given(o, OPT_INPUT_LIST))
        return ODLC_OK;
    TRY(calibration_observe(&run));
    s->list = run.list;
    return ODLC_OK;
}

/* A report, or a comparison, of the quantized network with the floats. */
static struct quantize_report report_of(struct session *s, const struct input_list *list)
{
    const struct options *o = &s->options;
    const char *input = options_value(o, OPT_INPUT, "");
    return (struct quantize_report){.path = options_value(o, OPT_REPORT, ""),
                                    .floats = input,
                                    .output = options_value(o, OPT_OUTPUT, output_path(s, input)),
                                    .fixed = quantizer_graph(s->quantizer),
                                    .list = list,
                                    .backends = default_backends,
                                    .threads = (uint32_t)s->threads,
                                    .packages = s->settings.packages,
                                    .native_inputs = options_given(o, OPT_NATIVE_INPUTS)};
}

static odlc_status report(struct session *s)
{
    const bool has_own = options_given(&s->options, OPT_REPORT_LIST);
    const struct quantize_report wanted = report_of(s, has_own ? &s->report_list : &s->list);
    return quantize_report_make(s->arena, s->scratch, &s->diags, &wanted);
}

/* When the container is complete, before it appears. */
static odlc_status write_others(void *user)
{
    struct session *s = user;
    const char *path = options_value(&s->options, OPT_DUMP_ENCODINGS, NULL);
    if (path)
        TRY(encodings_out(s->arena, &s->diags, quantizer_graph(s->quantizer), path));
    return options_given(&s->options, OPT_REPORT) ? report(s) : ODLC_OK;
}

static odlc_status make(struct session *s)
{
    const struct options *o = &s->options;
    TRY(quantizer_open(s->arena, s->scratch, &s->diags, options_value(o, OPT_INPUT, ""), &s->settings, &s->quantizer));
    TRY(calibrate(s));
    return options_given(o, OPT_STATISTICS) ? ODLC_OK : quantizer_finish(s->quantizer);
}

/* ---- layers that stay float, or get more bits ---- */

/* The names that the option gives, and others. */
static void join(struct session *s, int option, const struct quantize_names *others, const char *const **out,
                 size_t *count)
{
    const char *const *before;
    size_t n_before;
    options_names(s->arena, &s->options, option, &before, &n_before);
    *count = n_before + others->count;
    const char **all = arena_array(s->arena, const char *, *count);
    for (size_t i = 0; i < *count; i++)
        all[i] = i < n_before ? before[i] : others->names[i - n_before];
    *out = all;
}

static void take(struct session *s, const struct quantize_mix *mix)
{
    join(s, OPT_KEEP_FLOAT, &mix->floats, &s->settings.keep_float, &s->settings.n_keep_float);
    join(s, OPT_WIDEN, &mix->wide, &s->settings.widen, &s->settings.n_widen);
    join(s, OPT_WIDEN_WEIGHTS, &mix->wide_weights, &s->settings.widen_weights, &s->settings.n_widen_weights);
}

/* What a trial says, the container that is made in the end says, too. */
static odlc_status measure(void *user, const struct quantize_trial *trial, double *sqnr)
{
    struct session *s = user;
    struct arena_mark mark = arena_mark(s->arena);
    const struct diags before = s->diags;
    if (s->trials && trial->most)
        progress_line_report(
            s->trials, &(struct work_progress){
                           .stage = "choosing layers", .unit = " trials", .done = trial->number, .total = trial->most});
    take(s, trial->mix);
    TRY(make(s));
    const struct quantize_report compared = report_of(s, &s->list);
    TRY(quantize_report_outputs(s->arena, s->scratch, &s->diags, &compared, sqnr));
    s->diags = before;
    arena_rewind(s->arena, mark);
    return ODLC_OK;
}

static odlc_status choose_layers(struct session *s, const struct graph *g, const struct quantize_budget *budget,
                                 struct quantize_choice *choice)
{
    struct progress_line line;
    s->trials = progress_line_begin(&line, stderr) ? &line : NULL;
    s->is_trying = true;
    const odlc_status status = quantize_choose(s->arena, &s->diags, g, budget, choice);
    s->is_trying = false;
    if (s->trials)
        progress_line_end(s->trials);
    return status;
}

/* What layers become, one after the other: with a budget 16 bits, then float, without one float. */
static odlc_status read_steps_of_budget(struct session *s, struct quantize_budget *budget)
{
    static const char *const words[] = {[STEP_ACT] = "act16", [STEP_ALL] = "all16", [STEP_FLOAT] = "float"};
    static const enum quantize_step usual[] = {STEP_ACT, STEP_FLOAT};
    const char *const *names;
    size_t count;
    options_names(s->arena, &s->options, OPT_WIDEN_TO, &names, &count);
    enum quantize_step *steps = arena_array(s->arena, enum quantize_step, count);
    for (size_t i = 0; i < count; i++) {
        for (int step = STEP_ACT; step <= STEP_FLOAT; step++)
            if (strcmp(names[i], words[step]) == 0)
                steps[i] = (enum quantize_step)step;
        if (steps[i] == STEP_NONE || (i && steps[i] <= steps[i - 1]))
            return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "act16, all16, float, in this order"),
                              "option-value", "option --widen_to: '%s' is none of the words, or comes too late",
                              names[i]);
    }
    budget->steps = count ? steps : budget->has_least ? usual : usual + 1;
    budget->n_steps = count ? count : budget->has_least ? COUNT_OF(usual) : 1;
    return ODLC_OK;
}

static odlc_status read_budget(struct session *s, struct quantize_budget *budget)
{
    const char *value = options_value(&s->options, OPT_BUDGET, NULL);
    int64_t count = 0;
    TRY(options_int(&s->options, &s->diags, OPT_KEEP_WORST, 1, INT32_MAX, &count));
    *budget = (struct quantize_budget){.count = (size_t)count, .user = s, .measure = measure};
    if (!value)
        return read_steps_of_budget(s, budget);
    char *end;
    budget->has_least = true;
    budget->least = c_strtod(value, &end);
    if (end == value || *end || !(budget->least > -1000 && budget->least < 1000))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "--budget_sqnr 30"), "option-value",
                          "option --budget_sqnr: '%s' is no number of decibels", value);
    return read_steps_of_budget(s, budget);
}

static void tell(const struct quantize_budget *budget, const struct quantize_choice *choice)
{
    printf("Results have %.2f dB with all layers as the options say", choice->before);
    if (budget->has_least)
        printf(", and %.2f dB with %s", choice->after, choice->count ? "these changes" : "none changed");
    printf("%s\n", choice->count ? ":" : "");
    for (size_t i = 0; i < choice->count; i++)
        if (choice->steps[i] != STEP_NONE)
            printf("  %s (%.2f dB with all others in float): %s\n", choice->names[i], choice->alone[i],
                   quantize_step_text(choice->steps[i]));
}

/* Before the container is made: what layers become, so that results are as good as they are to be. */
static odlc_status choose(struct session *s)
{
    const struct options *o = &s->options;
    struct quantize_budget budget;
    struct quantize_choice choice;
    const struct dlc_file *dlc;
    struct graph *g;
    if (!options_given(o, OPT_BUDGET) && !options_given(o, OPT_KEEP_WORST))
        return options_given(o, OPT_WIDEN_TO)
                   ? diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "--widen NAMES names the layers"), "option-value",
                                "option --widen_to is for --budget_sqnr and --keep_worst")
                   : ODLC_OK;
    TRY(read_budget(s, &budget));
    if (!options_given(o, OPT_INPUT_LIST) || (budget.has_least && budget.count))
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "give --input_list, and one of both"), "option-value",
                          "--budget_sqnr and --keep_worst compare results for inputs, and exclude each other");
    TRY(dlc_open_graph(s->arena, &s->diags, op_registry_new(s->arena), options_value(o, OPT_INPUT, ""), "quantized",
                       NULL, &dlc, &g));
    TRY(choose_layers(s, g, &budget, &choice));
    take(s, &choice.mix);
    tell(&budget, &choice);
    return ODLC_OK;
}

static odlc_status load_packages(struct session *s)
{
    struct package_names names;
    options_names(s->arena, &s->options, OPT_UDO_PACKAGES, &names.registrations, &names.n_registrations);
    options_names(s->arena, &s->options, OPT_OP_PACKAGES, &names.named, &names.n_named);
    if (names.n_registrations + names.n_named == 0)
        return ODLC_OK;
    return packages_open(s->arena, &s->diags, &names, &s->settings.packages);
}

static odlc_status quantize(struct session *s)
{
    const struct options *o = &s->options;
    const char *output = options_value(o, OPT_OUTPUT, output_path(s, options_value(o, OPT_INPUT, "")));
    TRY(check_files(s));
    TRY(read_settings(s));
    TRY(input_list_take_stream(s->arena, &s->diags, options_value(o, OPT_INPUT_LIST, "")));
    TRY(load_packages(s));
    TRY(read_report_list(s));
    TRY(choose(s));
    TRY(make(s));
    if (options_given(o, OPT_STATISTICS))
        return ODLC_OK;
    TRY(quantizer_write(s->quantizer, output, options_text(s->arena, o), NULL, write_others, s));
    const size_t observed = quantizer_observed(s->quantizer);
    if (!terminal_is_quiet())
        printf("%s is written; calibrated with %zu set%s of inputs\n", output, observed, observed == 1 ? "" : "s");
    return ODLC_OK;
}

/* ---- the command ---- */

static odlc_status run_command(struct session *s, int argc, char **argv)
{
    TRY(options_parse(s->arena, &s->diags, &self, argc, argv, &s->options));
    return options_answered(&s->options) ? ODLC_OK : quantize(s);
}

static odlc_status guarded_run(struct session *s, int argc, char **argv)
{
    if (setjmp(*arena_catch(s->arena)))
        return print_out_of_memory(self.name, DIAG_TEXT);
    if (setjmp(*arena_catch(s->scratch)))
        return print_out_of_memory(self.name, DIAG_TEXT);
    odlc_status status = run_command(s, argc, argv);
    if (!command_inputs_intact(s->arena, self.name, DIAG_TEXT))
        return ODLC_ERR_IO;
    print_diags(stderr, self.name, s->diags.list.data, s->diags.list.count, DIAG_TEXT);
    return command_finish(self.name, DIAG_TEXT, status);
}

int main(int argc, char **argv)
{
    command_begin();
    command_outlives_readers();
    struct session s = {.arena = arena_create(), .scratch = arena_create()};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena && s.scratch) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = print_out_of_memory(self.name, DIAG_TEXT);
    }
    arena_destroy(s.arena); /* what it has prepared holds parts of the other one */
    arena_destroy(s.scratch);
    return command_end(self.name, exit_status(status), exit_status(ODLC_ERR_IO));
}
