/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/option_name.h"

#include <stdbool.h>
#include <string.h>

#include "opendlc/convert.h"

/* What rows of opendlc/convert_options.def say; asked for are the spellings alone. */
enum { MANY_VALUES };
struct row {
    const char *section, *name, *aliases[4], *shorts[4], *values, *complete, *help, *more;
    int64_t low, high;
    int min, max;
    bool required, repeatable, operand, stream, ignored, unrecorded;
};

static bool is_called(const struct row *row, const char *option)
{
    return strcmp(row->name, option) == 0;
}

const char *option_member(const char *option)
{
    /* Those that are read by hand into members of other names. */
    static const struct odlc_name_value others[] = {
        {"freeze_input", "frozen_inputs"},     {"preserve_io", "preserve_names"}, {"params_format", "netp"},
        {"copyright_file", "model_copyright"}, {"dump_ir", "dump_ir_after"},      {"udo_stub", "dry_run"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, option) == 0)
            return others[i].value;
#define ODLC_ROW(who, kind, id, ...)                         \
    if (is_called(&(const struct row){__VA_ARGS__}, option)) \
        return #id;
#include "opendlc/convert_options.def"
    return NULL;
}
