/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "opendlc/version.h"
#include "tools/completion.h"
#include "tools/terminal.h"

#define HELP_COLUMN 34
#define HELP_WIDTH 100

struct parser {
    struct arena *arena;
    struct diags *diags;
    const struct command *command;
    int argc;
    char *const *argv;
    int next; /* argument to look at */
    struct options *out;
    bool *noted; /* ignored rows that were noted already */
};

static bool looks_like_option(const char *arg)
{
    return arg[0] == '-' && arg[1] != '\0' && !strchr("0123456789.", arg[1]);
}

static bool is_one_of(const char *const names[2], const char *name)
{
    return (names[0] && strcmp(names[0], name) == 0) || (names[1] && strcmp(names[1], name) == 0);
}

static bool has_prefix(const char *name, const char *prefix, size_t length)
{
    return name && strncmp(name, prefix, length) == 0;
}

/* The nearest spelling of a wrong option, as a hint. */
static const char *suggest(struct arena *arena, const struct command *command, const char *word)
{
    VEC(const char *) known = {0};
    for (size_t i = 0; i < command->n_rows; i++) {
        const struct option *row = &command->rows[i];
        const char *const longs[] = {row->name, row->aliases[0], row->aliases[1]};
        for (size_t k = 0; k < COUNT_OF(longs); k++)
            if (longs[k])
                vec_push(arena, &known, longs[k]);
    }
    const char *near = nearest_word(word, known.data, known.count);
    if (near)
        return arena_printf(arena, "did you mean --%s?", near);
    return arena_printf(arena, "%s --help lists the options", command->name);
}

static const struct option *find_short(const struct command *command, const char *name)
{
    for (size_t i = 0; i < command->n_rows; i++)
        if (is_one_of(command->rows[i].shorts, name))
            return &command->rows[i];
    return NULL;
}

/* An exact long name or the only one that starts so. *others gets the candidates when there are several. */
static const struct option *find_long(struct arena *arena, const struct command *command, const char *name,
                                      text *others)
{
    size_t length = strlen(name), matches = 0;
    const struct option *found = NULL;
    for (size_t i = 0; i < command->n_rows; i++) {
        const struct option *row = &command->rows[i];
        if (strcmp(row->name, name) == 0 || is_one_of(row->aliases, name))
            return row;
        if (has_prefix(row->name, name, length) || has_prefix(row->aliases[0], name, length) ||
            has_prefix(row->aliases[1], name, length)) {
            text_add(arena, others, "%s--%s", matches ? ", " : "", row->name);
            matches++;
            found = row;
        }
    }
    return matches == 1 ? found : NULL;
}

/* The row that `arg` (up to an '=') names, or NULL. *name gets its name, *candidates what a short form of it could be.
 */
static const struct option *look_up(struct arena *arena, const struct command *command, const char *arg,
                                    const char **name, text *candidates)
{
    size_t dashes = arg[1] == '-' ? 2 : 1;
    *name = arena_strndup(arena, arg + dashes, strcspn(arg + dashes, "="));
    if (dashes == 1)
        return find_short(command, *name);
    return **name ? find_long(arena, command, *name, candidates) : NULL;
}

/* The same with an error when there is none. */
static const struct option *find_option(struct parser *p, const char *arg)
{
    const char *name;
    text candidates = {0};
    const struct option *row = look_up(p->arena, p->command, arg, &name, &candidates);
    if (row)
        return row;
    if (candidates.count)
        diag_error(p->diags, ODLC_ERR_USAGE, AT(.hint = arena_printf(p->arena, "it could be %s", candidates.data)),
                   "option-ambiguous", "option --%s is ambiguous", name);
    else
        diag_error(p->diags, ODLC_ERR_USAGE, AT(.hint = suggest(p->arena, p->command, name)), "option-unknown",
                   "unknown option %.*s", (int)strcspn(arg, "="), arg);
    return NULL;
}

static void note_ignored(struct parser *p, const struct option *row)
{
    const struct option *rows = p->command->rows;
    bool noted = p->noted[row - rows];
    for (size_t i = 0; row->instead && i < p->command->n_rows; i++)
        noted |= p->noted[i] && rows[i].instead == row->instead;
    if (!noted)
        diag_note(p->diags, AT(.file = NULL), "option-ignored", "option --%s has no effect%s%s", row->name,
                  row->instead ? ": " : "", row->instead ? row->instead : "");
    p->noted[row - rows] = true;
}

/* Whether the values of a row are files: they are what a shell offers. */
static bool takes_files(const struct option *row)
{
    return row->values && (strncmp(row->values, "FILE", 4) == 0 || strncmp(row->values, "DIR", 3) == 0);
}

static bool is_dash(const char *file)
{
    return strcmp(file, "-") == 0;
}

static void dash_error(struct parser *p, const char *where)
{
    diag_error(p->diags, ODLC_ERR_USAGE, AT(.hint = "name a file; ./- is one that is called -"), "option-dash",
               "%s: standard input and output cannot be used here", where);
}

/* "-" names no file. A command whose file can be a stream says so in the row. */
static bool refuse_dash(struct parser *p, const struct option_use *use)
{
    const struct option *row = use->option;
    for (size_t i = 0; takes_files(row) && !row->stream && i < use->n_values; i++) {
        if (!is_dash(use->values[i]))
            continue;
        dash_error(p, arena_printf(p->arena, "option --%s", row->name));
        return true;
    }
    return false;
}

static void record_use(struct parser *p, const struct option_use *use)
{
    const struct option *row = use->option;
    if (refuse_dash(p, use))
        return;
    if (row->ignored) {
        note_ignored(p, row);
        return;
    }
    if (!row->repeatable && row->max && options_given(p->out, row->id))
        diag_warn(p->diags, AT(.file = NULL), "option-repeated",
                  "option --%s is given more than once; the last one counts", row->name);
    vec_push(p->arena, &p->out->uses, *use);
}

/* Whether the argument behind an option is its value. One that need not be there is a word that the option knows, or a
 * number: all else is an operand. */
static bool takes_word(const struct option *row, size_t count, const char *arg)
{
    if (!row || count < row->min || row->max != 1 || !row->values)
        return true;
    const char *word = row->values + 1; /* "[info|debug]", "[N]" */
    if (*word == 'N')
        return strspn(arg, "0123456789") == strlen(arg);
    for (size_t length; *word; word += length + 1) {
        length = strcspn(word, "|]");
        const bool is_file = strncmp(word, "FILE.", 5) == 0; /* of that suffix */
        if (is_file && strlen(arg) > length - 4 && strncmp(arg + strlen(arg) - (length - 4), word + 4, length - 4) == 0)
            return true;
        if (strlen(arg) == length && strncmp(arg, word, length) == 0)
            return true;
        if (word[length] != '|')
            break;
    }
    return false;
}

/* Consumes one option and its values. */
static void parse_option(struct parser *p)
{
    const char *arg = p->argv[p->next++];
    const struct option *row = find_option(p, arg);
    const char *attached = strchr(arg, '=');
    const char **values = arena_array(p->arena, const char *, (size_t)(p->argc - p->next) + 1);
    size_t count = 0,
           limit = row ? row->max : MANY_VALUES; /* an unknown option's values are not worth further errors */
    if (limit == MANY_VALUES)
        limit = SIZE_MAX;
    if (attached)
        values[count++] = attached + 1;
    while (count < limit && p->next < p->argc && !looks_like_option(p->argv[p->next]) &&
           takes_word(row, count, p->argv[p->next]))
        values[count++] = p->argv[p->next++];
    if (!row)
        return;
    if (count > limit) {
        diag_error(p->diags, ODLC_ERR_USAGE, AT(.file = NULL), "option-value", "option --%s takes no value", row->name);
        return;
    }
    if (count < row->min) {
        diag_error(p->diags, ODLC_ERR_USAGE, AT(.hint = arena_printf(p->arena, "--%s %s", row->name, row->values)),
                   "option-value", "option --%s needs %s", row->name,
                   row->min == 1 ? "a value" : arena_printf(p->arena, "%u values", (unsigned)row->min));
        return;
    }
    record_use(p, &(struct option_use){row, values, count});
}

/* Gives operands to the rows that take one and are not given by name. */
static void take_operands(struct parser *p)
{
    const struct command *command = p->command;
    const struct option *row = command->rows, *end = row + command->n_rows;
    for (size_t i = 0; i < p->out->operands.count; i++) {
        while (row < end && (!row->operand || (!row->repeatable && options_given(p->out, row->id))))
            row++;
        if (row < end)
            record_use(p, &(struct option_use){row, &p->out->operands.data[i], 1});
        else
            diag_error(p->diags, ODLC_ERR_USAGE, AT(.hint = "values belong to an option: --name value"),
                       "argument-stray", "unexpected argument '%s'", p->out->operands.data[i]);
    }
}

/* Operands that belong to no option are files. */
static void refuse_dashes(struct parser *p)
{
    for (size_t i = 0; i < p->out->operands.count; i++)
        if (is_dash(p->out->operands.data[i]))
            dash_error(p, "argument -");
}

static void check_required(const struct parser *p)
{
    if (options_given(p->out, OPT_HELP) || options_given(p->out, OPT_VERSION) || options_given(p->out, OPT_COMPLETION))
        return;
    for (size_t i = 0; i < p->command->n_rows; i++) {
        const struct option *row = &p->command->rows[i];
        if (row->required && !options_given(p->out, row->id))
            diag_error(p->diags, ODLC_ERR_USAGE,
                       AT(.hint = arena_printf(p->arena, "%s %s", p->command->name, p->command->usage)),
                       "option-missing", "option --%s is required", row->name);
    }
}

static void check_shell(const struct parser *p)
{
    const char *shell = options_value(p->out, OPT_COMPLETION, NULL);
    if (shell && !completion_known(shell))
        diag_error(p->diags, ODLC_ERR_USAGE, AT(.hint = "bash, zsh or fish"), "option-value",
                   "option --completion: there is no script for %s", shell);
}

odlc_status options_parse(struct arena *arena, struct diags *diags, const struct command *command, int argc,
                          char *const *argv, struct options *out)
{
    struct options parsed = {.command = command};
    struct parser p = {.arena = arena,
                       .diags = diags,
                       .command = command,
                       .argc = argc,
                       .argv = argv,
                       .next = 1,
                       .out = &parsed,
                       .noted = arena_array(arena, bool, command->n_rows)};
    size_t errors = diags->errors;
    bool ended = false; /* by "--" */
    while (p.next < argc) {
        if (!ended && strcmp(argv[p.next], "--") == 0) {
            ended = true;
            p.next++;
        } else if (!ended && looks_like_option(argv[p.next])) {
            parse_option(&p);
        } else {
            vec_push(arena, &parsed.operands, argv[p.next++]);
        }
    }
    if (!command->operands)
        take_operands(&p);
    else
        refuse_dashes(&p);
    if (diags->errors == errors)
        check_required(&p);
    check_shell(&p);
    if (diags->errors != errors)
        return ODLC_ERR_USAGE;
    if (options_given(&parsed, OPT_QUIET))
        terminal_be_quiet();
    if (options_given(&parsed, OPT_VERBOSE))
        terminal_be_verbose();
    *out = parsed;
    return ODLC_OK;
}

bool options_mention(struct arena *arena, const struct command *command, int argc, char *const *argv, int id)
{
    for (int i = 1; i < argc; i++) {
        const char *name;
        text candidates = {0};
        const struct option *row =
            looks_like_option(argv[i]) ? look_up(arena, command, argv[i], &name, &candidates) : NULL;
        if (row && row->id == id)
            return true;
    }
    return false;
}

static const struct option_use *last_use(const struct options *options, int id)
{
    for (size_t i = options->uses.count; i > 0; i--)
        if (options->uses.data[i - 1].option->id == id)
            return &options->uses.data[i - 1];
    return NULL;
}

bool options_given(const struct options *options, int id)
{
    return last_use(options, id) != NULL;
}

const char *options_value(const struct options *options, int id, const char *absent)
{
    const struct option_use *use = last_use(options, id);
    return use && use->n_values ? use->values[0] : absent;
}

void options_values(struct arena *arena, const struct options *options, int id, const char *const **out, size_t *count)
{
    VEC(const char *) values = {0};
    for (size_t i = 0; i < options->uses.count; i++) {
        const struct option_use *use = &options->uses.data[i];
        for (size_t k = 0; use->option->id == id && k < use->n_values; k++)
            vec_push(arena, &values, use->values[k]);
    }
    *out = values.data;
    *count = values.count;
}

void options_names(struct arena *arena, const struct options *options, int id, const char *const **out, size_t *count)
{
    const char *const *values;
    size_t n_values;
    VEC(const char *) names = {0};
    options_values(arena, options, id, &values, &n_values);
    for (size_t i = 0; i < n_values; i++) {
        const char *name = values[i] + strspn(values[i], ",");
        for (const char *end; *name; name = end + strspn(end, ",")) {
            end = name + strcspn(name, ",");
            vec_push(arena, &names, arena_strndup(arena, name, (size_t)(end - name)));
        }
    }
    *out = names.data;
    *count = names.count;
}

static void add_use(struct arena *arena, text *t, const struct option_use *use)
{
    text_add(arena, t, " %s=", use->option->name);
    for (size_t k = 0; k < use->n_values; k++)
        text_add(arena, t, "%s%s", k ? "," : "", use->values[k]);
    if (!use->n_values)
        text_add(arena, t, "True");
}

const char *options_text_but(struct arena *arena, const struct options *options, int id)
{
    const struct command *command = options->command;
    text t = {0};
    text_add(arena, &t, "%s", "");
    for (const struct option *row = command->rows; row < command->rows + command->n_rows; row++)
        for (size_t i = 0; i < options->uses.count; i++)
            if (options->uses.data[i].option == row && !row->unrecorded && row->id != id)
                add_use(arena, &t, &options->uses.data[i]);
    return t.data;
}

const char *options_text(struct arena *arena, const struct options *options)
{
    return arena_printf(arena, "%s%s", options->command->name, options_text_but(arena, options, OPT_HELP));
}

odlc_status options_int(const struct options *options, struct diags *diags, int id, int64_t low, int64_t high,
                        int64_t *out)
{
    const struct option_use *use = last_use(options, id);
    if (!use || !use->n_values)
        return ODLC_OK;
    char *end;
    errno = 0;
    long long value = strtoll(use->values[0], &end, 10);
    if (errno || end == use->values[0] || *end || value < low || value > high)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.file = NULL), "option-value",
                          "option --%s takes an integer from %lld to %lld, not '%s'", use->option->name, (long long)low,
                          (long long)high, use->values[0]);
    *out = value;
    return ODLC_OK;
}

bool options_answered(const struct options *options)
{
    if (options_given(options, OPT_HELP))
        options_print_help(stdout, options->command);
    else if (options_given(options, OPT_VERSION))
        printf("%s (OpenDLC) %s\n", options->command->name, ODLC_VERSION);
    else if (options_given(options, OPT_COMPLETION))
        completion_print(stdout, options->command, options_value(options, OPT_COMPLETION, ""));
    else
        return false;
    return true;
}

/* Prints words between HELP_COLUMN and HELP_WIDTH; `column` is where the cursor stands. */
static void print_wrapped(FILE *stream, const char *words, size_t column)
{
    if (column + 2 > HELP_COLUMN) {
        fputc('\n', stream);
        column = 0;
    }
    fprintf(stream, "%*s", (int)(HELP_COLUMN - column), "");
    column = HELP_COLUMN;
    while (*words) {
        size_t length = strcspn(words, " ");
        if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
            fprintf(stream, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            fputc(' ', stream);
            column++;
        }
        fwrite(words, 1, length, stream);
        column += length;
        words += length + strspn(words + length, " ");
    }
    fputc('\n', stream);
}

static void print_option(FILE *stream, const struct option *row)
{
    int column = fprintf(stream, "  ");
    for (size_t i = 0; i < COUNT_OF(row->shorts) && row->shorts[i]; i++)
        column += fprintf(stream, "-%s, ", row->shorts[i]);
    column += fprintf(stream, "--%s", row->name);
    if (row->values)
        column += fprintf(stream, " %s", row->values);
    print_wrapped(stream, row->help, (size_t)column);
}

void options_print_help(FILE *stream, const struct command *command)
{
    fprintf(stream, "Usage: %s %s\n\n%s.\n", command->name, command->usage, command->summary);
    for (size_t i = 0; i < command->n_rows; i++) {
        const char *section = command->rows[i].section;
        if (!option_opens_section(command, i))
            continue;
        fprintf(stream, "\n%s:\n", section ? section : "Options");
        for (size_t k = i; k < command->n_rows; k = option_row_of(command, section, k + 1))
            print_option(stream, &command->rows[k]);
    }
    if (command->epilogue)
        fprintf(stream, "\n%s\n", command->epilogue);
}

int exit_status(odlc_status status)
{
    return status == ODLC_OK ? 0 : status == ODLC_ERR_USAGE ? 2 : 1;
}
