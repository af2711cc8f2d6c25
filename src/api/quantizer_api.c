/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "api/backends.h"
#include "api/opened_packages.h"
#include "api/quantizer_options.h"
#include "api/tensor_io.h"

enum state { STATE_NEW, STATE_FAILED, STATE_OPEN, STATE_IMPROVING, STATE_CALIBRATING, STATE_FINISHED };

struct odlc_quantizer {
    struct arena *arena, *scratch;
    struct diags diags;
    struct odlc_quantize_options options;
    struct quantize_options settings;
    struct progress progress;
    struct told_work told;
    struct odlc_diag place; /* of inputs */
    struct quantizer *quantizer;
    struct odlc_io *inputs;
    size_t n_inputs;
    enum state state;
};

/* Exhausted memory ends the public function that contains this. */
#define CATCH_EXHAUSTION(q)                     \
    do {                                        \
        if (setjmp(*arena_catch((q)->arena)))   \
            return ODLC_ERR_NOMEM;              \
        if (setjmp(*arena_catch((q)->scratch))) \
            return ODLC_ERR_NOMEM;              \
    } while (0)

static odlc_status out_of_order(odlc_quantizer *q, const char *what)
{
    return diag_error(&q->diags, ODLC_ERR_USAGE, AT(.file = q->place.file), "quantize-order", "%s", what);
}

/* What is here what an option of dlc-quantize is. */
static const char *name_of(const char *option)
{
    static const struct odlc_name_value names[] = {{"quantization_overrides", "overrides"},
                                                   {"ignore_encodings", "ignore_encodings"},
                                                   {"keep_float", "keep_float"},
                                                   {"widen", "widen"},
                                                   {"widen_weights", "widen_weights"},
                                                   {"udo_package_path", "packages"},
                                                   {"restrict_quantization_steps", "least_step"},
                                                   {"input_list", "inputs"},
                                                   {"use_native_input_files", "native"}};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i].name, option) == 0)
            return names[i].value;
    return NULL;
}

odlc_quantizer *odlc_quantizer_new(void)
{
    odlc_quantizer *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->arena = arena_create();
    q->scratch = arena_create();
    if (!q->arena || !q->scratch) {
        odlc_quantizer_free(q);
        return NULL;
    }
    q->progress = (struct progress){progress_tell, &q->told};
    diags_init(&q->diags, q->arena);
    q->diags.option_name = name_of;
    return q;
}

void odlc_quantizer_free(odlc_quantizer *quantizer)
{
    if (!quantizer)
        return;
    arena_destroy(quantizer->arena); /* what it has prepared holds parts of the other one */
    arena_destroy(quantizer->scratch);
    free(quantizer);
}

void odlc_quantizer_set_progress(odlc_quantizer *quantizer, odlc_work_fn *fn, void *user)
{
    quantizer->told = (struct told_work){fn, user};
}

const struct odlc_diag *odlc_quantizer_diags(const odlc_quantizer *quantizer, size_t *count)
{
    *count = quantizer->diags.list.count;
    return quantizer->diags.list.data;
}

/* ---- opening ---- */

static odlc_status open_container(odlc_quantizer *q, const char *path, const struct odlc_quantize_options *options)
{
    if (q->state != STATE_NEW)
        return out_of_order(q, "an object opens one container only");
    q->state = STATE_FAILED;
    q->place.file = arena_strdup(q->arena, path);
    TRY(quantizer_options_read(q->arena, &q->diags, options, &q->options, &q->settings));
    for (size_t i = 0; i < q->options.n_buffers; i++)
        diags_take_buffer(&q->diags, &q->options.buffers[i]);
    const struct package_names packages = {.registrations = q->options.packages,
                                           .n_registrations = q->options.n_packages};
    if (packages.n_registrations)
        TRY(packages_open(q->arena, &q->diags, &packages, &q->settings.packages));
    q->settings.progress = &q->progress;
    TRY(quantizer_open(q->arena, q->scratch, &q->diags, q->place.file, &q->settings, &q->quantizer));
    const struct graph *g = quantizer_graph(q->quantizer);
    q->n_inputs = g->inputs.count;
    q->inputs = arena_array(q->arena, struct odlc_io, q->n_inputs);
    for (size_t i = 0; i < q->n_inputs; i++) {
        q->inputs[i] = tensor_io(g, g->inputs.data[i]);
        q->inputs[i].needed = 1;
        q->inputs[i].dims = arena_memdup(q->arena, q->inputs[i].dims, q->inputs[i].rank * sizeof *q->inputs[i].dims);
    }
    q->state = STATE_OPEN;
    return ODLC_OK;
}

odlc_status odlc_quantizer_open(odlc_quantizer *quantizer, const char *path,
                                const struct odlc_quantize_options *options)
{
    CATCH_EXHAUSTION(quantizer);
    return open_container(quantizer, path, options);
}

odlc_status odlc_quantizer_open_bytes(odlc_quantizer *quantizer, const struct odlc_bytes *bytes,
                                      const struct odlc_quantize_options *options)
{
    CATCH_EXHAUSTION(quantizer);
    diags_take_buffer(&quantizer->diags, bytes);
    return open_container(quantizer, bytes->name, options);
}

const struct odlc_io *odlc_quantizer_inputs(const odlc_quantizer *quantizer, size_t *count)
{
    *count = quantizer->n_inputs;
    return quantizer->inputs;
}

/* ---- passes ---- */

static unsigned threads_of(const odlc_quantizer *q)
{
    return (unsigned)q->options.threads;
}

static odlc_status finish(odlc_quantizer *q)
{
    TRY(quantizer_finish(q->quantizer));
    q->state = STATE_FINISHED;
    return ODLC_OK;
}

/* Whether another pass over the inputs, before that for the ranges, begins. */
static odlc_status improve(odlc_quantizer *q, bool *observes)
{
    TRY(quantizer_improve(q->quantizer, default_backends, threads_of(q), observes));
    q->state = STATE_IMPROVING;
    return ODLC_OK;
}

static odlc_status begin_next(odlc_quantizer *q, int *observes)
{
    bool improving = false;
    if (q->state == STATE_NEW || q->state == STATE_FAILED)
        return out_of_order(q, "no container is open");
    if (q->state == STATE_FINISHED)
        return out_of_order(q, "all is known already");
    if (q->state == STATE_CALIBRATING) {
        *observes = 0;
        return finish(q);
    }
    TRY(improve(q, &improving));
    *observes = improving;
    if (improving)
        return ODLC_OK;
    if (quantizer_unknown(q->quantizer) == 0 || q->settings.float_fallback)
        return finish(q);
    TRY(quantizer_calibrate(q->quantizer, default_backends, threads_of(q)));
    q->state = STATE_CALIBRATING;
    *observes = 1;
    return ODLC_OK;
}

odlc_status odlc_quantizer_next(odlc_quantizer *quantizer, int *observes)
{
    CATCH_EXHAUSTION(quantizer);
    int begun = 0;
    TRY(begin_next(quantizer, &begun));
    *observes = begun;
    return ODLC_OK;
}

/* ---- inputs ---- */

static bool in_pass(const odlc_quantizer *q)
{
    return q->state == STATE_IMPROVING || q->state == STATE_CALIBRATING;
}

static odlc_status give(odlc_quantizer *q, size_t input, const void *values, bool is_native)
{
    const tensor_id id = quantizer_graph(q->quantizer)->inputs.data[input];
    return quantizer_give(q->quantizer, id, values, is_native, &q->place);
}

static odlc_status check_input(odlc_quantizer *q, size_t input)
{
    if (!in_pass(q))
        return out_of_order(q, "no pass over inputs has begun");
    return input < q->n_inputs ? ODLC_OK : out_of_order(q, "there is no input of that index");
}

odlc_status odlc_quantizer_set_floats(odlc_quantizer *quantizer, size_t input, const float *values, size_t count)
{
    CATCH_EXHAUSTION(quantizer);
    TRY(check_input(quantizer, input));
    const struct odlc_io *io = &quantizer->inputs[input];
    TRY(tensor_io_check(&quantizer->diags, quantizer->place.file, io, count, io->count, "values"));
    return give(quantizer, input, values, false);
}

odlc_status odlc_quantizer_set_native(odlc_quantizer *quantizer, size_t input, const void *bytes, size_t size)
{
    CATCH_EXHAUSTION(quantizer);
    TRY(check_input(quantizer, input));
    const struct odlc_io *io = &quantizer->inputs[input];
    TRY(tensor_io_check(&quantizer->diags, quantizer->place.file, io, size, io->native_size, "bytes"));
    return give(quantizer, input, bytes, true);
}

odlc_status odlc_quantizer_observe(odlc_quantizer *quantizer)
{
    CATCH_EXHAUSTION(quantizer);
    if (!in_pass(quantizer))
        return out_of_order(quantizer, "no pass over inputs has begun");
    return quantizer_observe(quantizer->quantizer, &quantizer->place);
}

/* ---- the result ---- */

static odlc_status write_result(odlc_quantizer *q, const char *path, const char *command, struct file **kept)
{
    if (q->state != STATE_FINISHED)
        return out_of_order(q, "a container is written when all is known");
    return quantizer_write(q->quantizer, path, command, kept, NULL, NULL);
}

odlc_status odlc_quantizer_write(odlc_quantizer *quantizer, const char *path, const char *command)
{
    CATCH_EXHAUSTION(quantizer);
    return write_result(quantizer, path, command, NULL);
}

/* Out of line, so that none of its variables lives in a frame that the jump comes back to. */
__attribute__((noinline)) static odlc_status write_bytes(odlc_quantizer *q, const char *command, const void **bytes,
                                                         size_t *size)
{
    struct file *kept;
    TRY(write_result(q, q->place.file, command, &kept));
    *bytes = kept->data;
    *size = kept->size;
    return ODLC_OK;
}

odlc_status odlc_quantizer_write_bytes(odlc_quantizer *quantizer, const char *command, const void **bytes, size_t *size)
{
    CATCH_EXHAUSTION(quantizer);
    return write_bytes(quantizer, command, bytes, size);
}
