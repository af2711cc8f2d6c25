/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a container: the graph → three zip entries → read back and compared → renamed. */
#include "dlc/write_container.h"

#include <string.h>

#include "base/reader.h"
#include "dlc/schema.h"

static odlc_status write_stream_header(struct zip_writer *zip)
{
    uint8_t header[STREAM_HEADER] = {0};
    store_le(header, 2, STREAM_MAGIC);
    store_le(header + 2, 2, CONTAINER_MAJOR);
    store_le(header + 4, 2, CONTAINER_MINOR);
    return zip_write(zip, header, sizeof header);
}

/* Line breaks would add lines of the metadata that nobody meant. */
static const char *one_line(struct arena *arena, const char *value)
{
    char *copy = arena_strdup(arena, value ? value : "N/A");
    for (char *p = copy; *p; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
    return copy;
}

static odlc_status write_metadata(const struct dlc_writing *w, struct zip_writer *zip,
                                  const struct dlc_write_options *options)
{
    const struct dlc_meta lines[] = {{"converter-command", options->converter_command},
                                     {"converter-version", options->converter_version},
                                     {"model-copyright", options->model_copyright},
                                     {"model-version", options->model_version},
                                     {"quantizer-command", options->quantizer_command}};
    text all = {0};
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        text_add(w->arena, &all, "%s=%s\n", lines[i].key, one_line(w->arena, lines[i].value));
    TRY(zip_begin(zip, "dlc.metadata", strlen(all.data), 1));
    TRY(zip_write(zip, all.data, strlen(all.data)));
    return zip_end(zip);
}

static odlc_status to_zip(void *zip, const void *bytes, size_t size)
{
    return zip_write(zip, bytes, size);
}

static odlc_status fill_in_zip(void *zip, uint64_t position, const void *bytes, size_t size)
{
    return zip_fill(zip, STREAM_HEADER + position, bytes, size);
}

static odlc_status write_model(struct zip_writer *zip, struct dlc_model *model)
{
    TRY(zip_begin(zip, "model", ZIP_OPEN, 1));
    TRY(write_stream_header(zip));
    TRY(dlc_emit_model(model, to_zip, fill_in_zip, zip));
    return zip_end(zip);
}

static odlc_status write_params(const struct dlc_writing *w, struct zip_writer *zip, struct dlc_params *params)
{
    TRY(zip_begin(zip, "model.params", STREAM_HEADER + params->size, PAYLOAD_ALIGNMENT));
    TRY(write_stream_header(zip));
    TRY(dlc_emit_params_head(params, to_zip, zip));
    TRY(dlc_stream_payloads(w, params, zip));
    return zip_end(zip);
}

/* A few bytes of a model can stand for any number of elements. */
static odlc_status check_payload(const struct dlc_writing *w, const struct dlc_params *params, uint64_t most)
{
    struct dlc_payload_walk walk = dlc_payloads(params);
    struct dlc_payload payload;
    uint64_t total = 0, largest = 0;
    const char *name = "";
    while (most && dlc_next_payload(&walk, &payload)) {
        total += payload.size;
        if (payload.size > largest) {
            largest = payload.size;
            name = arena_strdup(w->arena, payload.name);
        }
    }
    if (total <= most)
        return ODLC_OK;
    const char *hint = arena_printf(w->diags->arena, "the largest is %s, of %llu bytes: make it a graph input", name,
                                    (unsigned long long)largest);
    return diag_error(w->diags, ODLC_ERR_LIMIT, AT(.file = w->path, .hint = hint), "constants-size",
                      "the constants of the container would take %llu bytes, more than the %llu that a model of this "
                      "size may have",
                      (unsigned long long)total, (unsigned long long)most);
}

/* A container at work. */
struct container {
    struct dlc_writing w;
    struct dlc_records records;
    struct dlc_model model;
    struct dlc_params params;
};

static odlc_status start(struct arena *scratch, struct diags *diags, const struct graph *g, const char *path,
                         const struct dlc_write_options *options, struct container *out)
{
    out->w = (struct dlc_writing){.arena = scratch,
                                  .diags = diags,
                                  .path = path,
                                  .release = options->release,
                                  .threads = options->threads,
                                  .progress = options->progress,
                                  .packed = options->packed};
    TRY(dlc_records_start(&out->w, g, &out->records));
    dlc_model_start(&out->records, &out->model);
    return ODLC_OK;
}

static odlc_status lay_out_params(struct container *c, const struct dlc_write_options *options)
{
    TRY(dlc_lay_out_params(&c->records, options->netp, &c->params));
    return check_payload(&c->w, &c->params, options->most_payload);
}

odlc_status dlc_try_write(struct arena *scratch, struct diags *diags, const struct graph *g, const char *path,
                          const struct dlc_write_options *options)
{
    struct container c;
    TRY(start(scratch, diags, g, path, options, &c));
    TRY(dlc_measure_model(&c.model));
    return lay_out_params(&c, options);
}

odlc_status dlc_write(struct arena *scratch, struct diags *diags, const struct graph *g, const char *path,
                      const struct dlc_write_options *options)
{
    struct container c;
    struct zip_writer zip = {.diags = diags, .path = path};
    TRY(start(scratch, diags, g, path, options, &c));
    TRY(options->kept ? out_create_in_memory(scratch, diags, path, &zip.out)
                      : out_create(scratch, diags, path, &zip.out));
    TRY(write_metadata(&c.w, &zip, options));
    TRY(write_model(&zip, &c.model));
    TRY(lay_out_params(&c, options));
    TRY(write_params(&c.w, &zip, &c.params));
    TRY(zip_finish(&zip));
    TRY(dlc_read_back(&c.w, &zip, &c.model, &c.params));
    if (options->ready)
        TRY(options->ready(options->ready_user));
    TRY(out_commit(zip.out));
    return options->kept ? out_keep(zip.out, diags->arena, options->kept) : ODLC_OK;
}
