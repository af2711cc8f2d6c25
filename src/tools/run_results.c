/* SPDX-License-Identifier: Apache-2.0 */
/* What net-run writes: the results of inferences as raw or .npy files. */
#include <string.h>

#include "base/map.h"
#include "tools/npy_header.h"
#include "tools/output_dir.h"
#include "tools/run_worker.h"

static const char *suffix_of(const struct run_worker *w)
{
    return w->settings->npy_outputs ? ".npy" : ".raw";
}

/* Writes a tensor of the inference at work, of whose elements `values` has the form that is written. */
static odlc_status write_tensor(struct run_worker *w, const struct odlc_io *io, const void *values)
{
    struct arena_mark mark = arena_mark(w->scratch);
    const char *folder = arena_printf(w->scratch, "%s/Result_%zu", w->settings->output_dir, w->number), *path;
    if (w->settings->native_outputs && io->count && !io->native_size)
        return diag_error(&w->diags, ODLC_ERR_UNSUPPORTED, AT(.attribute = io->name), "output-strings",
                          "a tensor of strings has no raw form");
    const bool native = w->settings->native_outputs;
    text head = {0};
    if (w->settings->npy_outputs)
        npy_add_header(w->scratch, &head, native ? npy_type(w->scratch, io->dtype) : "<f4", io->rank, io->dims);
    TRY(output_path(w->scratch, &w->diags, folder, io->name, suffix_of(w), &path));
    TRY(output_write(w->scratch, &w->diags, path, &head, values, native ? io->native_size : io->count * sizeof(float)));
    arena_rewind(w->scratch, mark);
    return ODLC_OK;
}

/* In the first of the iterations. */
odlc_status run_results_show(void *user, const struct odlc_io *io, const void *values)
{
    struct run_worker *w = user;
    return w->iteration == 0 ? write_tensor(w, io, values) : ODLC_OK;
}

static odlc_status write_result(struct run_worker *w, size_t index, const struct odlc_io *io)
{
    if (w->settings->native_outputs)
        return write_tensor(w, io, odlc_run_native(w->run, index));
    float *values = arena_array(w->scratch, float, io->count);
    TRY(odlc_run_get_floats(w->run, index, values, io->count));
    return write_tensor(w, io, values);
}

odlc_status run_results_write(struct run_worker *w)
{
    size_t n_results;
    const struct odlc_io *results = odlc_run_results(w->run, &n_results);
    for (size_t i = 0; i < n_results; i++) {
        struct arena_mark mark = arena_mark(w->scratch);
        TRY(write_result(w, i, &results[i]));
        arena_rewind(w->scratch, mark);
    }
    return ODLC_OK;
}

odlc_status run_results_check(struct run_worker *w)
{
    size_t n_results;
    const struct odlc_io *results = odlc_run_results(w->run, &n_results);
    struct map taken;
    map_init(&taken, w->arena);
    for (size_t i = 0; i < n_results; i++) {
        const char *path;
        TRY(output_path(w->arena, &w->diags, w->settings->output_dir, results[i].name, suffix_of(w), &path));
        uint32_t other = map_add(&taken, path, (uint32_t)i);
        if (other != MAP_NONE && strcmp(results[other].name, results[i].name) != 0)
            return diag_error(&w->diags, ODLC_ERR_UNSUPPORTED, AT(.file = path), "output-path",
                              "tensors '%s' and '%s' would be written to the same file", results[other].name,
                              results[i].name);
    }
    return ODLC_OK;
}
