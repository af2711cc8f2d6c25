/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/quantize_inputs.h"

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

odlc_status quantize_inputs_give(struct arena *scratch, struct diags *diags, const struct graph *g,
                                 const struct inference *inference, bool is_native, const struct odlc_diag *place,
                                 quantize_give_fn *give, void *user)
{
    for (size_t i = 0; i < inference->n_items; i++) {
        const struct input_item *item = &inference->items[i];
        struct arena_mark mark = arena_mark(scratch);
        tensor_id input;
        struct file *file;
        TRY(quant_find_input(scratch, diags, g, item->name, place, &input));
        TRY(file_map(scratch, diags, item->path, &file));
        const struct tensor *t = graph_tensor(g, input);
        const struct array_wanted wanted = {.name = t->name,
                                            .dtype = t->type->dtype,
                                            .shape = t->type->shape,
                                            .native_size = tensor_bytes(t->type),
                                            .is_native = is_native};
        struct array_read read;
        TRY(array_file_read(scratch, diags, &wanted, file, &read));
        TRY(give(user, input, read.data, read.is_native, place));
        TRY(fault_check_inputs(diags));
        arena_rewind(scratch, mark);
    }
    return ODLC_OK;
}
