/* SPDX-License-Identifier: Apache-2.0 */
/* What net-run reads: raw and .npy files that an input list names. */
#include <inttypes.h>

#include "base/fault.h"
#include "base/file.h"
#include "ir/npy.h"
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

/* The elements of an array as the input has them: integers and bools exactly, all else as floats, or, where inputs are
 * in their own types, as they are. */
static odlc_status set_array(struct run_worker *w, odlc_run *run, size_t index, const struct view *array,
                             const char *path)
{
    size_t n_inputs;
    const struct odlc_io *io = &odlc_run_inputs(run, &n_inputs)[index];
    const enum dtype own = dtype_from_display(io->dtype);
    const bool fixed = dtype_is_fixed(own);
    uint64_t bad;
    if (fixed && w->settings->native_inputs && view_size(array, array->dtype) != io->native_size)
        return diag_error(&w->diags, ODLC_ERR_INVALID, AT(.file = path), "input-type",
                          "input '%s' is %s, and the array has elements of type %s", io->name, io->dtype,
                          dtype_info(array->dtype)->name);
    if (fixed && w->settings->native_inputs)
        return odlc_run_set_native(run, index, view_load(w->scratch, array, array->dtype), io->native_size);
    if (fixed || dtype_is_float(own))
        return odlc_run_set_floats(run, index, view_load(w->scratch, array, DT_FLOAT32), io->count);
    if (!view_fits(w->scratch, array, own, &bad))
        return diag_error(&w->diags, ODLC_ERR_INVALID, AT(.file = path), "input-type",
                          "input '%s' is %s, which does not hold element %" PRIu64 " of the array", io->name, io->dtype,
                          bad);
    return odlc_run_set_native(run, index, view_load(w->scratch, array, own), io->native_size);
}

/* What to do about an array of other dimensions: one of the model's, whose channels stand before the places, is told
 * how containers have its axes. */
static const char *dims_hint(struct arena *arena, const struct odlc_io *io, const struct shape *array)
{
    bool channels_first = array->rank == io->rank && io->rank > 2 && array->dims[0] == io->dims[0] &&
                          array->dims[1] == io->dims[io->rank - 1];
    for (uint32_t i = 2; channels_first && i < io->rank; i++)
        channels_first = array->dims[i] == io->dims[i - 1];
    if (!channels_first)
        return "the dimensions are those of the container: dlc-info shows them";
    text order = {0};
    for (uint32_t i = 2; i < io->rank; i++)
        text_add(arena, &order, "%" PRIu32 ", ", i);
    return arena_printf(arena, "the container has the channels last: numpy.transpose(array, (0, %s1))", order.data);
}

odlc_status run_array_fits(struct run_worker *w, const struct odlc_io *io, const struct view *array, const char *path)
{
    const struct shape shape = view_shape(array);
    bool same = shape.rank == io->rank;
    for (uint32_t i = 0; same && i < shape.rank; i++)
        same = shape.dims[i] == io->dims[i];
    if (same)
        return ODLC_OK;
    return diag_error(&w->diags, ODLC_ERR_INVALID, AT(.file = path, .hint = dims_hint(w->scratch, io, &shape)),
                      "array-size", "tensor '%s' is %s, and the array %s", io->name, dims_text(w->scratch, io),
                      shape_text(w->scratch, &shape));
}

static odlc_status load_npy(struct run_worker *w, odlc_run *run, size_t index, const struct file *file)
{
    size_t n_inputs;
    const struct odlc_io *io = &odlc_run_inputs(run, &n_inputs)[index];
    struct view array;
    TRY(npy_read(w->scratch, &w->diags, file, &array));
    TRY(run_array_fits(w, io, &array, file->path));
    return set_array(w, run, index, &array, file->path);
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
    if (npy_is(file))
        return load_npy(w, run, index, file);
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
