/* SPDX-License-Identifier: Apache-2.0 */
/* The list of inferences that net-run is given: one line each.
 *     path                         the raw data of the only input
 *     name:=path name2:=path2      the raw data of each input
 * A name or path that has blanks stands in quotes, "my image.raw" or 'my image.raw', or has backslashes before them. A
 * backslash stands for itself, but before a blank, a quote or a backslash. A first line `#node node2` asks for the
 * outputs of those nodes, `%tensor tensor2` for those tensors. */
#ifndef TOOLS_INPUT_LIST_H
#define TOOLS_INPUT_LIST_H

#include "base/diag.h"

struct input_item {
    const char *name; /* NULL: the only input */
    const char *path;
};

struct inference {
    uint32_t line;
    const struct input_item *items;
    size_t n_items;
};

enum list_choice { LIST_ALL_OUTPUTS, LIST_NODES, LIST_TENSORS };

struct input_list {
    const char *path; /* "standard input" for "-" */
    enum list_choice choice;
    const char *const *chosen; /* names of the nodes or tensors */
    size_t n_chosen;
    VEC(struct inference) inferences;
};

/* Where the path is "-", reads standard input to its end, and has the diagnostics keep it as the file of that name:
 * whoever maps "-" for them gets it, as often as they do. ODLC_ERR_IO, with a diagnostic. */
odlc_status input_list_take_stream(struct arena *arena, struct diags *diags, const char *path) MUST_USE;
odlc_status input_list_read(struct arena *arena, struct diags *diags, const char *path,
                            struct input_list *out) MUST_USE;
/* The same of a text in memory, of which nothing is kept; path is for diagnostics, and stays. */
odlc_status input_list_parse(struct arena *arena, struct diags *diags, const char *path, const char *text,
                             uint64_t size, struct input_list *out) MUST_USE;

#endif
