/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/completion.h"

#include <string.h>

#include "tools/manual.h"

/* ---- what a value can be ---- */

enum offer_kind { OFFER_NOTHING, OFFER_WORDS, OFFER_FILES, OFFER_FOLDERS };

struct offer {
    enum offer_kind kind;
    const char *words; /* WORDS: separated by | or blanks; FILES: suffixes, each with its dot */
    size_t length;
    unsigned first, last; /* the values that it is for, counted from 1 */
};

/* A row says it itself (`complete`), or its placeholder does: FILE, FILE.csv, DIR, a|b|c. */
static struct offer offer_of(const struct option *row)
{
    const char *values = row->values ? row->values : "";
    values += *values == '[';
    size_t length = strcspn(values, " ]");
    struct offer offer = {.kind = OFFER_NOTHING, .first = row->min ? row->min : 1};
    offer.last = offer.first;
    if (row->complete)
        offer = (struct offer){*row->complete == '.' ? OFFER_FILES : OFFER_WORDS, row->complete, strlen(row->complete),
                               offer.first, offer.last};
    else if (strncmp(values, "FILE", 4) == 0)
        offer = (struct offer){OFFER_FILES, values + 4, values[4] == '.' && values[5] != '.' ? length - 4 : 0,
                               offer.first, offer.last};
    else if (strcmp(values, "DIR") == 0)
        offer.kind = OFFER_FOLDERS;
    else if (memchr(values, '|', length))
        offer = (struct offer){OFFER_WORDS, values, length, offer.first, offer.last};
    if (offer.kind == OFFER_FILES && row->max == MANY_VALUES)
        offer.last = MANY_VALUES;
    return offer;
}

static bool takes_operands(const struct command *command)
{
    return command->operands || option_with_operand(command, command->rows);
}

/* Operands of several rows are files of the same suffixes, or any. */
static struct offer offer_operands(const struct command *command)
{
    const struct option *row = option_with_operand(command, command->rows);
    const char *complete = command->complete;
    const struct option *other = row ? option_with_operand(command, row + 1) : NULL;
    if (!command->operands && row &&
        (!other || (row->complete && other->complete && strcmp(row->complete, other->complete) == 0)))
        complete = row->complete;
    return offer_of(&(struct option){.max = MANY_VALUES, .values = "FILE", .complete = complete});
}

/* Each word between `before` and `after`. A word of files is their suffix. */
static void print_words(FILE *stream, const struct offer *offer, const char *before, const char *after)
{
    for (size_t at = 0, length; at < offer->length; at += length + 1) {
        length = strcspn(offer->words + at, " |");
        if (length > offer->length - at)
            length = offer->length - at;
        fprintf(stream, "%s%.*s%s", before, (int)length, offer->words + at, after);
    }
}

/* ---- spellings ---- */

enum { MAX_SPELLINGS = 5 };

struct spelling {
    const char *dashes, *name;
};

/* Short forms first, then the name, then the aliases, which completion takes but does not offer. */
static size_t spellings_of(const struct option *row, bool aliases, struct spelling out[MAX_SPELLINGS])
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(row->shorts); i++)
        if (row->shorts[i])
            out[count++] = (struct spelling){"-", row->shorts[i]};
    out[count++] = (struct spelling){"--", row->name};
    for (size_t i = 0; aliases && i < COUNT_OF(row->aliases); i++)
        if (row->aliases[i])
            out[count++] = (struct spelling){"--", row->aliases[i]};
    return count;
}

static void print_spellings(FILE *stream, const struct option *row, bool aliases, const char *between)
{
    struct spelling spellings[MAX_SPELLINGS];
    size_t count = spellings_of(row, aliases, spellings);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%s%s", i ? between : "", spellings[i].dashes, spellings[i].name);
}

/* The command's name as a part of a function's. */
static void print_identifier(FILE *stream, const char *name)
{
    for (; *name; name++)
        fputc(*name == '-' ? '_' : *name, stream);
}

/* Text inside single quotes: characters of `special` get a backslash, which survives the quotes; a quote in the text
 * is written as `quote`. */
static void print_quoted(FILE *stream, const char *words, const char *special, const char *quote)
{
    for (; *words; words++) {
        if (*words == '\'')
            fputs(quote, stream);
        else if (strchr(special, *words))
            fprintf(stream, "\\%c", *words);
        else
            fputc(*words, stream);
    }
}

/* ---- bash ---- */

static const char bash_head[] = "()\n{\n"
                                "    local word=${COMP_WORDS[COMP_CWORD]} option='' given=0 i path pattern\n"
                                "    local least=0 most=0 first=1 last=0 kind='' words=()\n"
                                "    COMPREPLY=()\n"
                                "    # --name=value comes in three words.\n"
                                "    [[ $word != = ]] || word=''\n"
                                "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                                "        case ${COMP_WORDS[i]} in\n"
                                "        -[!0-9.]*=*) option=${COMP_WORDS[i]%%=*} given=1 ;;\n"
                                "        -[!0-9.]*) option=${COMP_WORDS[i]} given=0 ;;\n"
                                "        =) ((given == 0)) || given=$((given - 1)) ;;\n"
                                "        *) given=$((given + 1)) ;;\n"
                                "        esac\n"
                                "    done\n"
                                "    given=$((given + 1))\n"
                                "    case $option in\n";

static const char bash_tail[] =
    "'\n"
    "    if [[ $word == -* ]] || ((given < first || given > last)); then\n"
    "        ((given <= least)) || while IFS= read -r path; do COMPREPLY+=(\"$path\"); done \\\n"
    "            < <(compgen -W \"$options\" -- \"$word\")\n"
    "        return\n"
    "    fi\n"
    "    [[ $kind == words ]] || compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r path; do\n"
    "        COMPREPLY+=(\"$path\")\n"
    "    done < <(\n"
    "        case $kind in\n"
    "        words) compgen -W \"${words[*]}\" -- \"$word\" ;;\n"
    "        folders) compgen -d -- \"$word\" ;;\n"
    "        any) compgen -f -- \"$word\" ;;\n"
    "        files)\n"
    "            compgen -d -- \"$word\"\n"
    "            for pattern in \"${words[@]}\"; do compgen -f -X \"!*$pattern\" -- \"$word\"; done\n"
    "            ;;\n"
    "        esac\n"
    "    )\n"
    "}\n";

static void print_bash_offer(FILE *stream, const struct offer *offer)
{
    static const char *const kinds[] = {"", "words", "files", "folders"};
    if (offer->kind == OFFER_NOTHING)
        return;
    fprintf(stream, " first=%u last=%u kind=%s", offer->first, offer->last,
            offer->kind == OFFER_FILES && !offer->length ? "any" : kinds[offer->kind]);
    if (!offer->length)
        return;
    fputs(" words=(", stream);
    print_words(stream, offer, " ", "");
    fputs(" )", stream);
}

static void print_bash_row(FILE *stream, const struct option *row)
{
    struct offer offer = offer_of(row);
    fputs("    ", stream);
    print_spellings(stream, row, true, " | ");
    fprintf(stream, ") least=%u most=%u", row->min, row->max);
    print_bash_offer(stream, &offer);
    fputs(" ;;\n", stream);
}

static void print_bash(FILE *stream, const struct command *command)
{
    fprintf(stream, "# bash completion of %s\n_odlc_", command->name);
    print_identifier(stream, command->name);
    fputs(bash_head, stream);
    for (size_t i = 0; i < command->n_rows; i++)
        if (command->rows[i].max)
            print_bash_row(stream, &command->rows[i]);
    fputs("    esac\n", stream);
    if (takes_operands(command)) {
        struct offer offer = offer_operands(command);
        fputs("    if ((given > most)); then given=1 least=0", stream);
        print_bash_offer(stream, &offer);
        fputs("; fi\n", stream);
    }
    fputs("    local options='", stream);
    for (size_t i = 0; i < command->n_rows; i++) {
        fprintf(stream, "\n        ");
        print_spellings(stream, &command->rows[i], false, " ");
    }
    fprintf(stream, "%scomplete -F _odlc_", bash_tail);
    print_identifier(stream, command->name);
    fprintf(stream, " %s\n", command->name);
}

/* ---- zsh ---- */

static void print_zsh_action(FILE *stream, const struct offer *offer, unsigned value)
{
    if (value < offer->first || value > offer->last || offer->kind == OFFER_NOTHING) {
        fputc(' ', stream);
    } else if (offer->kind == OFFER_WORDS) {
        fputc('(', stream);
        print_words(stream, offer, " ", "");
        fputs(" )", stream);
    } else if (offer->kind == OFFER_FOLDERS) {
        fputs("_files -/", stream);
    } else if (offer->length) {
        fputs("_files -g \"", stream);
        print_words(stream, offer, " *", "");
        fputc('"', stream);
    } else {
        fputs("_files", stream);
    }
}

/* The values of an option: `:message:action` each, `::` where it may be missing, `:*-*:` for all up to the next option.
 */
static void print_zsh_values(FILE *stream, const struct option *row)
{
    struct offer offer = offer_of(row);
    unsigned single = row->max == MANY_VALUES ? (row->min ? row->min - 1u : 0u) : row->max;
    const char *name = row->values ? row->values : "value";
    for (unsigned value = 1; value <= single; value++) {
        size_t length = strcspn(name, " ");
        fprintf(stream, "%s%.*s:", value > row->min ? "::" : ":", (int)length, name);
        print_zsh_action(stream, &offer, value);
        if (name[length])
            name += length + 1;
    }
    if (row->max != MANY_VALUES)
        return;
    fprintf(stream, ":*-*:%s:", name);
    print_zsh_action(stream, &offer, single + 1);
}

static void print_zsh_row(FILE *stream, const struct option *row)
{
    struct spelling spellings[MAX_SPELLINGS];
    size_t count = spellings_of(row, false, spellings);
    for (size_t i = 0; i < count; i++) {
        fprintf(stream, " \\\n        '");
        if (row->repeatable) {
            fputc('*', stream);
        } else {
            fputc('(', stream);
            print_spellings(stream, row, false, " ");
            fputc(')', stream);
        }
        fprintf(stream, "%s%s%s[", spellings[i].dashes, spellings[i].name, row->max ? "=" : "");
        print_quoted(stream, row->help, "[]\\:", "'\\''");
        fputc(']', stream);
        print_zsh_values(stream, row);
        fputc('\'', stream);
    }
}

static void print_zsh(FILE *stream, const struct command *command)
{
    const char *name = command->name;
    fprintf(stream, "#compdef %s\n\n_%s()\n{\n    _arguments", name, name);
    for (size_t i = 0; i < command->n_rows; i++)
        print_zsh_row(stream, &command->rows[i]);
    if (takes_operands(command)) {
        struct offer offer = offer_operands(command);
        fputs(" \\\n        '*:FILE:", stream);
        print_zsh_action(stream, &offer, 1);
        fputc('\'', stream);
    }
    fprintf(stream,
            "\n}\n\n# As a file of $fpath this is the function's first call; sourced, it makes the function known.\n"
            "if [[ ${funcstack[1]} == _%s ]]; then\n    _%s \"$@\"\nelse\n    compdef _%s %s\nfi\n",
            name, name, name, name);
}

/* ---- fish ---- */

static const char fish_head[] =
    " --description 'First, last, options: the word is such a value of one of the options'\n"
    "    set -l option ''\n"
    "    set -l given 1\n"
    "    for word in (commandline -opc)[2..-1]\n"
    "        if string match -qr -- '^-[^0-9.]' $word\n"
    "            set -l parts (string split -m 1 -- = $word)\n"
    "            set option $parts[1]\n"
    "            set given (count $parts)\n"
    "        else\n"
    "            set given (math $given + 1)\n"
    "        end\n"
    "    end\n"
    "    contains -- \"$option\" $argv[3..-1]; and test $given -ge $argv[1]; and test $given -le $argv[2]\n"
    "end\n\n";

static const struct offer nothing = {.kind = OFFER_NOTHING};

static void print_fish_action(FILE *stream, const struct offer *offer)
{
    if (offer->kind == OFFER_WORDS) {
        fputs(" -f -a '", stream);
        print_words(stream, offer, " ", "");
        fputc('\'', stream);
    } else if (offer->kind == OFFER_FOLDERS) {
        fputs(" -f -a '(__fish_complete_directories)'", stream);
    } else if (offer->kind == OFFER_FILES && offer->length) {
        fputs(" -k -f -a '(", stream);
        print_words(stream, offer, "__fish_complete_suffix ", ";");
        fputs(")'", stream);
    } else if (offer->kind == OFFER_FILES) {
        fputs(" -F", stream);
    } else {
        fputs(" -f", stream);
    }
}

/* fish itself knows one value that an option must have: -r. Further and optional ones are offered by a condition. */
static void print_fish_row(FILE *stream, const char *name, const struct option *row)
{
    struct offer offer = offer_of(row);
    unsigned next = row->min ? 2 : 1; /* value for the condition */
    fprintf(stream, "complete -c %s", name);
    for (size_t i = 0; i < COUNT_OF(row->shorts); i++)
        if (row->shorts[i])
            fprintf(stream, " %s %s", row->shorts[i][1] ? "-o" : "-s", row->shorts[i]);
    fprintf(stream, " -l %s -d '", row->name);
    print_quoted(stream, row->help, "\\", "\\'");
    fputc('\'', stream);
    if (row->min) {
        fputs(" -r", stream);
        print_fish_action(stream, offer.first == 1 ? &offer : &nothing);
    }
    fputc('\n', stream);
    if (offer.kind == OFFER_NOTHING || offer.last < next)
        return;
    fprintf(stream, "complete -c %s -n '__odlc_", name);
    print_identifier(stream, name);
    fprintf(stream, "_at %u %u ", offer.first > next ? offer.first : next, offer.last);
    print_spellings(stream, row, true, " ");
    fputc('\'', stream);
    print_fish_action(stream, &offer);
    fputc('\n', stream);
}

static void print_fish(FILE *stream, const struct command *command)
{
    struct offer operands = offer_operands(command);
    fprintf(stream, "# fish completion of %s\nfunction __odlc_", command->name);
    print_identifier(stream, command->name);
    fprintf(stream, "_at%scomplete -c %s", fish_head, command->name);
    print_fish_action(stream, command->operands ? &operands : &nothing);
    fputc('\n', stream);
    if (!command->operands && takes_operands(command)) {
        fprintf(stream, "complete -c %s -n 'test (count (commandline -opc)) -eq 1'", command->name);
        print_fish_action(stream, &operands);
        fputc('\n', stream);
    }
    for (size_t i = 0; i < command->n_rows; i++)
        print_fish_row(stream, command->name, &command->rows[i]);
}

/* ---- shells, and man, for which the build asks ---- */

static const struct printer {
    const char *shell;
    void (*print)(FILE *stream, const struct command *command);
} printers[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}, {"man", manual_print_options}};

static const struct printer *find_printer(const char *shell)
{
    for (size_t i = 0; i < COUNT_OF(printers); i++)
        if (strcmp(shell, printers[i].shell) == 0)
            return &printers[i];
    return NULL;
}

bool completion_known(const char *shell)
{
    return find_printer(shell) != NULL;
}

void completion_print(FILE *stream, const struct command *command, const char *shell)
{
    find_printer(shell)->print(stream, command);
}
