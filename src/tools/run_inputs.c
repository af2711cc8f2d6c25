/* SPDX-License-Identifier: Apache-2.0 */
/* What net-run reads: raw files that an input list names. */
#include <inttypes.h>

#include "base/fault.h"
#include "base/file.h"
#include "tools/run_worker.h"

static const char *dims_text(struct arena *arena, const struct odlc_io *io)
{
    text dims = {0};
    text_add(arena, &dims, "[");
    for (uint32_t i = 0; i < io->rank; i++)
        text_add(arena, &dims, "%s%" PRId64, i ? "," : "", io->dims[i]);
    text_add(arena, &dims, "]");
    return dims.data;
}

static odlc_status load_input(struct run_worker *w, odlc_run *run, const struct inference *inference,
                              const struct input_item *item)
{
    size_t n_inputs, index = 0;
    const struct odlc_io *inputs = odlc_run_inputs(run, &n_inputs);
    if (item->name)
        TRY(odlc_run_find_input(run, item->name, &index));
    else if (n_inputs != 1)
        return diag_error(
            &w->diags, ODLC_ERR_USAGE,
            AT(.file = w->settings->list.path, .line = inference->line, .hint = "write name:=path for each input"),
            "input-list", "the graph has %zu inputs", n_inputs);
    const struct odlc_io *io = &inputs[index];
    struct file *file;
    TRY(file_map(w->scratch, &w->diags, item->path, &file));
    uint64_t wanted = w->settings->native_inputs ? io->native_size : io->count * sizeof(float);
    if (file->size != wanted)
        return diag_error(&w->diags, ODLC_ERR_INVALID,
                          AT(.file = item->path, .hint = w->settings->native_inputs || io->native_size != file->size
                                                             ? NULL
                                                             : "this is the size in the input's own type: "
                                                               "--use_native_input_files"),
                          "input-size", "input '%s' (%s, %s) takes %" PRIu64 " bytes%s, and the file has %" PRIu64,
                          io->name, io->dtype, dims_text(w->scratch, io), wanted,
                          w->settings->native_inputs ? "" : " of float32", file->size);
    if (w->settings->native_inputs)
        return odlc_run_set_native(run, index, file->data, file->size);
    return odlc_run_set_floats(run, index, (const float *)(const void *)file->data, io->count);
}

static odlc_status load_all(struct run_worker *w, odlc_run *run, const struct inference *inference)
{
    for (size_t i = 0; i < inference->n_items; i++) {
        struct arena_mark mark = arena_mark(w->scratch);
        TRY(load_input(w, run, inference, &inference->items[i]));
        TRY(fault_check_inputs(&w->diags));
        arena_rewind(w->scratch, mark);
    }
    return ODLC_OK;
}

odlc_status run_inputs_load(struct run_worker *w, odlc_run *run, const struct inference *inference)
{
    pthread_mutex_lock(w->reading);
    w->holds = true;
    odlc_status status = load_all(w, run, inference);
    w->holds = false;
    pthread_mutex_unlock(w->reading);
    return status;
}
