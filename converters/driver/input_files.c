/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/input_files.h"

#include <string.h>
#include <sys/stat.h>

void add_input_file(const struct context *c, struct input *in, const char *path)
{
    if (file_in_memory(c->diags, path))
        return;
    const char *copy = arena_strdup(c->arena, path);
    if (map_add(&in->files.known, copy, 1) == MAP_NONE)
        vec_push(c->arena, &in->files.paths, copy);
}

void list_input_files(const struct context *c, struct input *in)
{
    const struct odlc_convert_options *o = c->options;
    map_init(&in->files.known, c->arena);
    add_input_file(c, in, in->model->path);
    for (size_t i = 0; i < o->n_udo_configs; i++)
        add_input_file(c, in, o->udo_configs[i]);
    for (size_t i = 0; i < o->n_inference_libraries; i++)
        if (strchr(o->inference_libraries[i], '/')) /* or else the loader finds it */
            add_input_file(c, in, o->inference_libraries[i]);
    if (o->quantization_overrides)
        add_input_file(c, in, o->quantization_overrides);
    if (o->custom_io)
        add_input_file(c, in, o->custom_io);
    for (size_t i = 0; i < o->n_frozen_inputs; i++)
        add_input_file(c, in, o->frozen_inputs[i].value);
    for (size_t i = 0; i < in->model->files.count; i++)
        add_input_file(c, in, in->model->files.data[i]);
    for (size_t i = 0; i < o->n_more_inputs; i++)
        add_input_file(c, in, o->more_inputs[i]);
}

uint64_t bytes_in_memory(const struct context *c)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < c->options->n_buffers; i++)
        bytes = sat_add(bytes, c->options->buffers[i].size);
    return bytes;
}

uint64_t input_bytes(const struct context *c, const struct input *in)
{
    struct stat st;
    uint64_t bytes = bytes_in_memory(c);
    for (size_t i = 0; i < in->files.paths.count; i++)
        if (stat(in->files.paths.data[i], &st) == 0 && S_ISREG(st.st_mode))
            bytes = sat_add(bytes, (uint64_t)st.st_size);
    return bytes;
}
