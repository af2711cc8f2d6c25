/* SPDX-License-Identifier: Apache-2.0 */
/* What net-run reads: raw and .npy files that an input list names. */
#include "base/fault.h"
#include "base/file.h"
#include "tools/run_worker.h"

struct array_wanted run_array_wanted(const struct odlc_io *io, bool is_native)
{
    struct array_wanted wanted = {.name = io->name,
                                  .dtype = dtype_from_display(io->dtype),
                                  .shape = {.rank = io->rank},
                                  .native_size = io->native_size,
                                  .is_native = is_native};
    for (uint32_t i = 0; i < io->rank; i++)
        wanted.shape.dims[i] = io->dims[i];
    return wanted;
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
    const struct array_wanted wanted = run_array_wanted(io, w->settings->native_inputs);
    struct array_read read;
    TRY(array_file_read(w->scratch, &w->diags, &wanted, file, &read));
    if (read.is_native)
        return odlc_run_set_native(run, index, read.data, io->native_size);
    return odlc_run_set_floats(run, index, read.data, io->count);
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
