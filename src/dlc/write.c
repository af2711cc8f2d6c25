/* Writing a container: graph → records → three zip entries → read back and compared → renamed. */
#include "dlc/write.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/reader.h"
#include "dlc/read.h"

enum { MAJOR = 4, MINOR = 0, ENTRY_ALIGNMENT = 64 };

static odlc_status write_stream_header(struct zip_writer *zip)
{
    uint8_t header[STREAM_HEADER] = {0};
    store_le(header, 2, STREAM_MAGIC);
    store_le(header + 2, 2, MAJOR);
    store_le(header + 4, 2, MINOR);
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

static odlc_status write_model(const struct dlc_writing *w, struct zip_writer *zip, const struct dlc_graph *g)
{
    struct fb_build model;
    TRY(dlc_build_model(w, g, &model));
    TRY(zip_begin(zip, "model", STREAM_HEADER + model.out.count, 1));
    TRY(write_stream_header(zip));
    TRY(zip_write(zip, model.out.data, model.out.count));
    return zip_end(zip);
}

static odlc_status write_params(const struct dlc_writing *w, struct zip_writer *zip, const struct dlc_graph *g,
                                bool netp)
{
    struct dlc_params params;
    TRY(dlc_build_params(w, g, netp, &params));
    TRY(zip_begin(zip, "model.params", STREAM_HEADER + params.size, ENTRY_ALIGNMENT));
    TRY(write_stream_header(zip));
    TRY(dlc_stream_params(w, &params, zip));
    return zip_end(zip);
}

/* ---- checking what was written ---- */

static bool same_tensor(const struct dlc_tensor *a, const struct dlc_tensor *b)
{
    return a->id == b->id && strcmp(a->name, b->name) == 0 && a->kind == b->kind && shape_equal(&a->shape, &b->shape) &&
           a->dtype_code == b->dtype_code && a->has_data == b->has_data;
}

static bool same_op(const struct dlc_op *a, const struct dlc_op *b)
{
    if (strcmp(a->name, b->name) != 0 || strcmp(a->type, b->type) != 0 || a->n_inputs != b->n_inputs ||
        a->n_outputs != b->n_outputs || a->n_attrs != b->n_attrs)
        return false;
    for (uint32_t i = 0; i < a->n_attrs; i++)
        if (strcmp(a->attrs[i].name, b->attrs[i].name) != 0)
            return false;
    return true;
}

static bool same_graph(const struct dlc_graph *a, const struct dlc_graph *b)
{
    if (strcmp(a->name, b->name) != 0 || a->n_ops != b->n_ops || a->n_tensors != b->n_tensors)
        return false;
    for (uint32_t i = 0; i < a->n_ops; i++)
        if (!same_op(&a->ops[i], &b->ops[i]))
            return false;
    for (uint32_t i = 0; i < a->n_tensors; i++)
        if (!same_tensor(&a->tensors[i], &b->tensors[i]))
            return false;
    return true;
}

/* A bad container shall be noticed here, not on the device: the file is read as any other, CRCs included. */
static odlc_status read_back(const struct dlc_writing *w, struct out_file *out, const struct dlc_graph *g)
{
    struct file *file;
    struct dlc_file *dlc;
    TRY(out_flush(out));
    int fd = dup(out_fd(out));
    if (fd < 0)
        return diag_error(w->diags, ODLC_ERR_IO, AT(.file = w->path), "io", "cannot read the file back: %s",
                          strerror(errno));
    TRY(file_map_fd(w->arena, w->diags, w->path, fd, &file));
    TRY(dlc_read_mapped(w->arena, w->diags, file, &dlc));
    TRY(dlc_verify(w->diags, dlc));
    if (dlc->n_graphs == 1 && same_graph(&dlc->graphs[0], g))
        return ODLC_OK;
    return diag_error(w->diags, ODLC_ERR_INTERNAL, AT(.file = w->path), "dlc-write",
                      "the container that was written reads back differently");
}

odlc_status dlc_write(struct arena *scratch, struct diags *diags, const struct graph *g, const char *path,
                      const struct dlc_write_options *options)
{
    struct dlc_writing w = {scratch, diags, path, options->progress};
    struct dlc_graph records;
    struct zip_writer zip = {.diags = diags, .path = path};
    TRY(dlc_from_ir(&w, g, &records));
    TRY(out_create(scratch, diags, path, &zip.out));
    TRY(write_metadata(&w, &zip, options));
    TRY(write_model(&w, &zip, &records));
    TRY(write_params(&w, &zip, &records, options->netp));
    TRY(zip_finish(&zip));
    TRY(read_back(&w, zip.out, &records));
    if (options->ready)
        TRY(options->ready(options->ready_user));
    return out_commit(zip.out);
}
