/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/freeze.h"

#include "converters/driver/declared_dims.h"
#include "converters/driver/input_files.h"
#include "converters/driver/model_inputs.h"
#include "ir/npy.h"

static odlc_status bad_value(const struct context *c, const char *path, const struct fw_value *input, const char *what)
{
    return diag_error(c->diags, ODLC_ERR_USAGE, AT(.file = path), "freeze-input", "--freeze_input %s: %s", input->name,
                      what);
}

/* Raw elements say neither type nor shape: the graph input must. */
static odlc_status raw_value(const struct context *c, const struct fw_value *input, const struct file *file,
                             struct view *out)
{
    struct shape shape = {.rank = input->rank};
    if (input->dtype == DT_NONE || dtype_size(input->dtype) == 0)
        return bad_value(c, file->path, input, "raw elements need an input whose element type has a size");
    for (uint32_t i = 0; i < input->rank; i++) {
        if (!input->has_shape || input->dims[i] == DIM_OPEN)
            return bad_value(c, file->path, input, "raw elements need known dimensions: give them with --input_dim");
        shape.dims[i] = input->dims[i];
    }
    if (!input->has_shape || shape_too_large(&shape))
        return bad_value(c, file->path, input, "raw elements need known dimensions: give them with --input_dim");
    uint64_t size = shape_count(&shape) * dtype_size(input->dtype);
    if (size != file->size) {
        const char *what =
            arena_printf(c->arena, "the file has %llu bytes, %s of %s take %llu", (unsigned long long)file->size,
                         shape_text(c->arena, &shape), dtype_info(input->dtype)->name, (unsigned long long)size);
        return bad_value(c, file->path, input, what);
    }
    *out = view_of(file->data, input->dtype, &shape);
    out->file = file;
    return ODLC_OK;
}

/* By content for .npy, by name for .pb; anything else is raw. */
static odlc_status read_value(const struct context *c, const struct fw_value *input, const struct file *file,
                              struct view *out)
{
    struct fw_tensor tensor;
    if (fw_has_suffix(file->path, ".pb")) {
        const struct fw_memory memory = model_memory(c);
        TRY(c->frontend->load_tensor(&memory, c->diags, file, &tensor));
        *out = tensor.view;
        return ODLC_OK;
    }
    return npy_is(file) ? npy_read(c->arena, c->diags, file, out) : raw_value(c, input, file, out);
}

/* The value must be what the model declares, as far as it does. */
static odlc_status check_value(const struct context *c, const struct fw_value *input, const char *path,
                               const struct view *view)
{
    struct shape shape = view_shape(view);
    bool fits = !input->has_shape || input->rank == shape.rank;
    for (uint32_t i = 0; fits && input->has_shape && i < shape.rank; i++)
        fits = input->dims[i] == DIM_OPEN || input->dims[i] == shape.dims[i];
    if (!fits)
        return bad_value(c, path, input,
                         arena_printf(c->arena, "the value's dimensions %s are not those of the input",
                                      shape_text(c->arena, &shape)));
    if (input->dtype != DT_NONE && input->dtype != view->dtype)
        return bad_value(c, path, input,
                         arena_printf(c->arena, "the value is of type %s, the input of type %s",
                                      dtype_info(view->dtype)->name, dtype_info(input->dtype)->name));
    return ODLC_OK;
}

odlc_status read_frozen(const struct context *c, const struct fw_value *input, const struct file *file,
                        struct view *out)
{
    TRY(read_value(c, input, file, out));
    return check_value(c, input, file->path, out);
}

static odlc_status freeze_input(const struct context *c, struct input *in, const struct odlc_name_value *given)
{
    struct fw_graph *g = &in->model->graph;
    struct fw_value *input = find_model_input(c, in, given->name, "--freeze_input");
    struct fw_tensor constant;
    struct file *file;
    if (!input)
        return ODLC_ERR_USAGE;
    constant.name = input->name;
    constant.id = input->id;
    TRY(file_map(c->arena, c->diags, given->value, &file));
    TRY(read_frozen(c, input, file, &constant.view));
    if (constant.view.file) /* a .pb may lead to another one */
        add_input_file(c, in, constant.view.file->path);
    const struct shape value = view_shape(&constant.view);
    input->has_shape = true;
    input->rank = (uint8_t)value.rank;
    input->dims = arena_memdup(c->model_arena, value.dims, value.rank * sizeof *value.dims);
    note_symbols(c, in, input);
    vec_push(c->model_arena, &g->initializers, constant);
    input->frozen = true;
    return ODLC_OK;
}

odlc_status freeze_inputs(const struct context *c, struct input *in)
{
    struct fw_graph *g = &in->model->graph;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < c->options->n_frozen_inputs; i++) {
        odlc_status frozen = freeze_input(c, in, &c->options->frozen_inputs[i]);
        if (status == ODLC_OK)
            status = frozen; /* all of them are reported */
    }
    size_t kept = 0;
    for (size_t i = 0; i < g->inputs.count; i++)
        if (!g->inputs.data[i].frozen)
            g->inputs.data[kept++] = g->inputs.data[i];
    g->inputs.count = kept;
    return status;
}
