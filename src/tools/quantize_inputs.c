/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/quantize_inputs.h"

#include <string.h>

#include "base/fault.h"
#include "base/file.h"
#include "quantize/quant_input.h"
#include "tools/array_file.h"

odlc_status quantize_list_read(struct arena *arena, struct diags *diags, const char *path, struct input_list *out)
{
    TRY(input_list_read(arena, diags, path, out));
    if (out->inferences.count == 0)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.file = path), "input-list", "the list names no inputs");
    if (out->choice != LIST_ALL_OUTPUTS)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.file = path, .line = 1), "input-list",
                          "all tensors get encodings: a list for dlc-quantize does not choose results");
    return ODLC_OK;
}

odlc_status quantize_line_failed(struct diags *diags, odlc_status status, const struct odlc_diag *place)
{
    if (status == ODLC_OK || diags->list.count == 0)
        return status;
    const struct odlc_diag *last = &diags->list.data[diags->list.count - 1];
    if (!last->file || strcmp(last->file, place->file) != 0)
        diag_note(diags, place, "input-list", "these are the inputs");
    return status;
}

/* A file that a line names for an input. */
struct named_file {
    tensor_id input;
    struct array_wanted wanted;
    struct file *file;
};

static odlc_status open_named(struct arena *scratch, struct diags *diags, const struct graph *g,
                              const struct input_item *item, bool is_native, const struct odlc_diag *place,
                              struct named_file *out)
{
    TRY(quant_find_input(scratch, diags, g, item->name, place, &out->input));
    TRY(file_map(scratch, diags, item->path, &out->file));
    const struct tensor *t = graph_tensor(g, out->input);
    out->wanted = (struct array_wanted){.name = t->name,
                                        .dtype = t->type->dtype,
                                        .shape = t->type->shape,
                                        .native_size = tensor_bytes(t->type),
                                        .is_native = is_native};
    return ODLC_OK;
}

static odlc_status check_named(struct arena *scratch, struct diags *diags, const struct graph *g,
                               const struct input_item *item, bool is_native, const struct odlc_diag *place)
{
    struct named_file named;
    TRY(open_named(scratch, diags, g, item, is_native, place, &named));
    TRY(array_file_fits(scratch, diags, &named.wanted, named.file));
    return fault_check_inputs(diags);
}

/* All files of the line. */
static odlc_status check_line(struct arena *scratch, struct diags *diags, const struct graph *g, const char *list,
                              const struct inference *inference, bool is_native)
{
    const struct odlc_diag place = {.file = list, .line = inference->line};
    odlc_status first = ODLC_OK;
    for (size_t i = 0; i < inference->n_items; i++) {
        const odlc_status status = check_named(scratch, diags, g, &inference->items[i], is_native, &place);
        first = first == ODLC_OK ? status : first;
    }
    return quantize_line_failed(diags, first, &place);
}

odlc_status quantize_inputs_check(struct arena *scratch, struct diags *diags, const struct graph *g,
                                  const struct input_list *list, size_t first, size_t end, bool is_native)
{
    enum { LINES_NAMED = 10 };
    odlc_status status = ODLC_OK;
    size_t failed = 0;
    for (size_t i = first; i < end; i++) {
        struct arena_mark mark = arena_mark(scratch);
        struct diags unread;
        diags_init(&unread, scratch);
        unread.buffers = diags->buffers;
        unread.n_buffers = diags->n_buffers;
        const odlc_status one = check_line(scratch, failed < LINES_NAMED ? diags : &unread, g, list->path,
                                           &list->inferences.data[i], is_native);
        failed += one != ODLC_OK;
        status = status == ODLC_OK ? one : status;
        arena_rewind(scratch, mark);
    }
    if (failed > LINES_NAMED)
        diag_note(diags, AT(.file = list->path), "input-list", "%zu more lines have such files", failed - LINES_NAMED);
    return status;
}

odlc_status quantize_inputs_give(struct arena *scratch, struct diags *diags, const struct graph *g,
                                 const struct inference *inference, bool is_native, const struct odlc_diag *place,
                                 quantize_give_fn *give, void *user)
{
    for (size_t i = 0; i < inference->n_items; i++) {
        const struct input_item *item = &inference->items[i];
        struct arena_mark mark = arena_mark(scratch);
        struct named_file named;
        struct array_read read;
        TRY(open_named(scratch, diags, g, item, is_native, place, &named));
        TRY(array_file_read(scratch, diags, &named.wanted, named.file, &read));
        TRY(give(user, named.input, read.data, read.is_native, place));
        TRY(fault_check_inputs(diags));
        arena_rewind(scratch, mark);
    }
    return ODLC_OK;
}
