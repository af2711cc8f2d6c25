/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/option_rows.h"

#include <string.h>

static bool same_section(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

size_t option_row_of(const struct command *command, const char *section, size_t from)
{
    while (from < command->n_rows && !same_section(command->rows[from].section, section))
        from++;
    return from;
}

bool option_opens_section(const struct command *command, size_t row)
{
    return option_row_of(command, command->rows[row].section, 0) == row;
}

const struct option *option_with_operand(const struct command *command, const struct option *from)
{
    for (; from < command->rows + command->n_rows; from++)
        if (from->operand)
            return from;
    return NULL;
}
