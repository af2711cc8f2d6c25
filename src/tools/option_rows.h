/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a command line. A command has one const table of them, and all that is said of them comes from it:
 * parsing,
 * --help, completion scripts, and the section OPTIONS of the man page. Rows stand in a file of their own,
 * src/tools/COMMAND.def,
 *
 *     OPTION(SAVE, .name = "save", .shorts = {"s"}, .min = 1, .max = 1, .values = "FILE.csv",
 *            .help = "also write the table of nodes as CSV")
 *
 * which is included twice: for the ids (OPTION_IDS), and for the table (OPTION_ROW). Options of conversions, which
 * three commands share with the C API, stand in opendlc/convert_options.def (tools/convert_options.h). */
#ifndef TOOLS_OPTION_ROWS_H
#define TOOLS_OPTION_ROWS_H

#include "base/base.h"

#define MANY_VALUES 255

/* Ids of the rows that every command has (OPTIONS_COMMON), or most (OPTION_VERBOSE). A command's own ids are >= 0. */
enum { OPT_VERBOSE = -5, OPT_QUIET = -4, OPT_COMPLETION = -3, OPT_HELP = -2, OPT_VERSION = -1 };

/* Which member an option of a conversion sets, and how (convert_options_read). */
enum option_fill {
    FILL_NONE,
    FILL_FLAG,   /* int: 1 */
    FILL_TEXT,   /* const char *: the value */
    FILL_NUMBER, /* int64_t: the value, which is within `low` and `high` */
    FILL_LIST,   /* const char *const * and size_t: the values of all uses */
    FILL_PAIRS   /* const struct odlc_name_value * and size_t: the two values of each use */
};

struct option {
    int id;                 /* of the command's own enum; rows that share one mean the same */
    const char *name;       /* long name without dashes */
    const char *shorts[2];  /* short forms without the dash: "i", "udo" */
    const char *aliases[2]; /* further long names; found like the name, not shown in the help */
    uint8_t min, max;       /* how many values one use takes: 0,0 a flag; 0,1 an optional value; 1,MANY_VALUES a list */
    bool required;          /* its absence is an error, unless --help or the like is given */
    bool repeatable;        /* every use counts; otherwise the last one does, with a warning */
    bool operand;           /* an argument that belongs to no option is its value, unless it is given by name */
    bool stream;            /* its file may be "-", for standard input or output */
    bool ignored;           /* accepted because scripts pass it: values are taken, one note says it has no effect */
    bool unrecorded;        /* of a conversion: changes nothing in the container, whose metadata do not name it */
    const char *instead;    /* ignored: what happens instead; options that have the same text are noted once together */
    const char *values;     /* placeholder in the help: "FILE", "NAME DIMS", "[N]" */
    const char
        *section;     /* heading in the help and the man page, under which the rows of one stand together; NULL: none */
    const char *help; /* one sentence without a full stop; the printer wraps it */
    const char *more; /* further sentences for the man page (manual.h), or NULL */
    const char *complete; /* what a shell offers for the last value: suffixes ".json .xml" of files, or words
                           * "NCHW NHWC"; NULL: what `values` says (FILE, FILE.csv, DIR, a|b|c), or nothing */
    enum option_fill fill;
    size_t member, count; /* offsets of what is filled */
    int64_t low, high;
};

/* Rows of a file COMMAND.def as enumerators, and as rows of a table. */
#define OPTION_IDS(option, ...) OPT_##option,
#define OPTION_ROW(option, ...) {.id = OPT_##option, __VA_ARGS__},

/* For commands without another --verbose. */
#define OPTION_VERBOSE(heading)                                                                          \
    {                                                                                                    \
        .id = OPT_VERBOSE, .name = "verbose", .shorts = {"v"}, .section = (heading), .unrecorded = true, \
        .help = "say at the end how much time and memory the command took"                               \
    }

/* The last rows of every command, under a heading. */
#define OPTIONS_COMMON(heading)                                                                             \
    {.id = OPT_QUIET,                                                                                       \
     .name = "quiet",                                                                                       \
     .shorts = {"q"},                                                                                       \
     .section = (heading),                                                                                  \
     .unrecorded = true,                                                                                    \
     .help = "results, errors and warnings only: no notes, no summary, no progress"},                       \
        {.id = OPT_HELP, .name = "help", .shorts = {"h"}, .section = (heading), .help = "print this help"}, \
        {.id = OPT_VERSION, .name = "version", .section = (heading), .help = "print the version"},          \
    {                                                                                                       \
        .id = OPT_COMPLETION, .name = "completion", .min = 1, .max = 1, .values = "bash|zsh|fish",          \
        .section = (heading), .help = "print the completion script for a shell",                            \
        .more = "In bash: `source <(COMMAND --completion bash)`"                                            \
    }

struct command {
    const char *name;    /* "dlc-info" */
    const char *summary; /* what it does: one sentence without a full stop */
    const char *usage;   /* arguments after the name: "-i MODEL [options]" */
    const struct option *rows;
    size_t n_rows;
    bool operands;        /* takes arguments that belong to no option; else rows take them, or they are errors */
    const char *complete; /* what a shell offers for operands, as in struct option; NULL: any file */
    const char *epilogue; /* text after the options of the help, or NULL; lines are printed as they are */
};

#define OPTION_ROWS(table) .rows = (table), .n_rows = COUNT_OF(table)

/* The first row from `from` on that takes operands; NULL: there is none. */
const struct option *option_with_operand(const struct command *command, const struct option *from);
/* The first row from `from` on under a heading; n_rows: there is none. */
size_t option_row_of(const struct command *command, const char *section, size_t from);
/* The row is the first one under its heading. */
bool option_opens_section(const struct command *command, size_t row);

#endif
