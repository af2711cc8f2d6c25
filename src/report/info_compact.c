/* SPDX-License-Identifier: Apache-2.0 */
/* The table of nodes for a terminal: what each gives and costs. */
#include <inttypes.h>
#include <string.h>

#include "report/info_text.h"
#include "report/value_text.h"

enum { COL_ID, COL_NAME, COL_TYPE, COL_DIMS, COL_PARAMETERS, COL_MACS, COL_TARGET, N_COLUMNS };

static const char *const headers[N_COLUMNS] = {"Id", "Name", "Type", "Out Dims", "Params", "MACs", "Target"};

struct table info_compact_table(const struct info_options *options)
{
    return table_create(options->targets ? N_COLUMNS : COL_TARGET, headers);
}

/* The end of a long name, which tells nodes apart: "...expand/Relu6". The other columns take OTHERS of the width. */
static const char *name_text(struct arena *arena, const char *name, size_t width)
{
    enum { OTHERS = 63, LEAST = 16 };
    const size_t limit = width > OTHERS + LEAST ? width - OTHERS : LEAST;
    size_t columns = display_width(name);
    if (columns <= limit)
        return name;
    for (columns += 3; columns > limit; columns--)
        for (name++; (*name & 0xC0) == 0x80; name++) {
        }
    return arena_printf(arena, "...%s", name);
}

static const char *cost_text(struct arena *arena, uint64_t number)
{
    return number ? short_number(arena, number) : "";
}

void info_make_compact_node(const void *user, struct arena *arena, struct table *table, size_t index)
{
    const struct info_nodes *nodes = user;
    const struct odlc_op *op = &nodes->graph->ops[index];
    if (!info_node_selected(op, nodes->options))
        return;
    struct table_row *row = table_add_row(arena, table);
    table_add_line(arena, table, &row->cells[COL_ID], arena_printf(arena, "%" PRIu32, op->id));
    table_add_line(arena, table, &row->cells[COL_NAME], name_text(arena, op->name, nodes->options->form.width));
    table_add_line(arena, table, &row->cells[COL_TYPE], op->type);
    for (size_t i = 0; i < op->n_outputs; i++) {
        const struct odlc_tensor *t = op->outputs[i].tensor;
        table_add_line(arena, table, &row->cells[COL_DIMS], t ? dims_text(arena, t, "x") : "");
    }
    table_add_line(arena, table, &row->cells[COL_PARAMETERS], cost_text(arena, op->parameters));
    table_add_line(arena, table, &row->cells[COL_MACS], cost_text(arena, op->macs));
    if (nodes->options->targets)
        info_add_targets(arena, table, &row->cells[COL_TARGET], op, nodes->options->targets);
}
