/* SPDX-License-Identifier: Apache-2.0 */
/* The options of commands that convert a model: rows of opendlc/convert_options.def, as a command's table has them and
 * as members of struct odlc_convert_options. A table includes tools/convert_rows.def, which says how. */
#ifndef TOOLS_CONVERT_OPTIONS_H
#define TOOLS_CONVERT_OPTIONS_H

#include "opendlc/convert.h"
#include "tools/options.h"

/* CONVERT_OPT_ and the row's id. */
enum {
    CONVERT_OPT_BEFORE = 1000, /* a command's own ids are below */
#define ODLC_ID(id) CONVERT_OPT_##id,
#include "opendlc/convert_options.def"
};

/* Sets what options are given for; all else stays as it is. Strings are borrowed from the arguments and the arena.
 * ODLC_ERR_USAGE with a diagnostic: a value that no such option takes; the copyright's file: what file_map says,
 * and ODLC_ERR_LIMIT when it is over 64 KiB. */
odlc_status convert_options_read(struct arena *arena, struct diags *diags, const struct options *options,
                                 struct odlc_convert_options *out) MUST_USE;

#endif
