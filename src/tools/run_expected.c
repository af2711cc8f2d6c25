/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_expected.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "ir/npy.h"
#include "tools/output_dir.h"
#include "tools/run_compare.h"
#include "tools/run_pairs.h"

struct run_expected {
    struct run_worker *worker;
    struct run_pairs pairs;
    size_t beyond; /* results beyond the tolerance, over all inferences */
};

void run_expected_prepare(struct run_worker *w, struct run_expected **out)
{
    struct run_expected *e = arena_new(w->arena, struct run_expected);
    *e = (struct run_expected){
        .worker = w, .pairs = {.container = w->settings->container, .compared = w->settings->compared.data[0]}};
    map_init(&e->pairs.places, w->arena);
    *out = e;
}

/* The file of a result; NULL: there is none, and `tried` names the places. */
static odlc_status find_file(struct run_expected *e, const struct odlc_io *io, const char **out, text *tried)
{
    static const char *const suffixes[] = {".raw", ".npy"};
    struct run_worker *w = e->worker;
    const char *folder = w->settings->compared.data[0];
    const char *const folders[] = {arena_printf(w->scratch, "%s/Result_%zu", folder, w->number), folder};
    const size_t n_folders = w->settings->list.inferences.count > 1 ? 1 : 2;
    *out = NULL;
    for (size_t i = 0; i < n_folders; i++)
        for (size_t k = 0; k < COUNT_OF(suffixes); k++) {
            const char *path;
            TRY(output_path(w->scratch, &w->diags, folders[i], io->name, suffixes[k], &path));
            text_add(w->scratch, tried, "%s%s", tried->count ? ", " : "", path);
            if (!*out && access(path, F_OK) == 0)
                *out = path;
        }
    return ODLC_OK;
}

static odlc_status read_array(struct run_expected *e, const struct odlc_io *io, const struct file *file,
                              const float **out)
{
    struct run_worker *w = e->worker;
    const struct array_wanted wanted = run_array_wanted(io, false);
    struct view array;
    TRY(npy_read(w->scratch, &w->diags, file, &array));
    TRY(array_fits(w->scratch, &w->diags, &wanted, &array, file->path));
    *out = view_load(w->scratch, &array, DT_FLOAT32);
    return ODLC_OK;
}

static odlc_status read_expected(struct run_expected *e, const struct odlc_io *io, const float **out)
{
    struct run_worker *w = e->worker;
    const char *path;
    text tried = {0};
    struct file *file;
    TRY(find_file(e, io, &path, &tried));
    if (!path)
        return diag_error(&w->diags, ODLC_ERR_IO, AT(.hint = tried.data), "compare-nothing",
                          "nothing says what the result '%s' of inference %zu should be", io->name, w->number);
    TRY(file_map(w->scratch, &w->diags, path, &file));
    if (npy_is(file))
        return read_array(e, io, file, out);
    if (file->size != io->count * sizeof(float))
        return diag_error(&w->diags, ODLC_ERR_INVALID, AT(.file = path), "compare-size",
                          "result '%s' has %" PRIu64 " bytes of float32, and the file has %" PRIu64, io->name,
                          io->count * (uint64_t)sizeof(float), file->size);
    *out = (const float *)(const void *)file->data;
    return ODLC_OK;
}

odlc_status run_expected_infer(struct run_expected *e)
{
    struct run_worker *w = e->worker;
    size_t count;
    const struct odlc_io *results = odlc_run_results(w->run, &count);
    for (size_t i = 0; i < count; i++) {
        struct arena_mark mark = arena_mark(w->scratch);
        const float *expected;
        float *values = arena_array(w->scratch, float, results[i].count);
        TRY(read_expected(e, &results[i], &expected));
        TRY(odlc_run_get_floats(w->run, i, values, results[i].count));
        e->beyond += !(run_distance(&results[i], values, expected) <= w->settings->tolerance);
        run_pairs_add(&e->pairs, w->arena, &results[i], expected, values);
        arena_rewind(w->scratch, mark);
    }
    e->pairs.inferences++;
    return ODLC_OK;
}

odlc_status run_expected_end(struct run_expected *e)
{
    struct run_worker *w = e->worker;
    run_pairs_print(&e->pairs, w->arena);
    if (w->settings->compare_json)
        TRY(run_pairs_write(&e->pairs, w->arena, &w->diags, w->settings->compare_json));
    if (!e->beyond)
        return ODLC_OK;
    return diag_error(&w->diags, ODLC_ERR_INVALID,
                      AT(.file = w->settings->container, .hint = "--compare_tolerance says how far they may be apart"),
                      "compare-differs",
                      "%zu result%s differ%s from what %s holds by more than %g of the largest value", e->beyond,
                      e->beyond == 1 ? "" : "s", e->beyond == 1 ? "s" : "", e->pairs.compared, w->settings->tolerance);
}
