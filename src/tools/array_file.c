/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/array_file.h"

#include <inttypes.h>

#include "ir/npy.h"

/* What to do about an array of other dimensions: one of the model's, whose channels stand before the places, is told
 * how containers have its axes. */
static const char *dims_hint(struct arena *arena, const struct shape *wanted, const struct shape *array)
{
    bool channels_first = array->rank == wanted->rank && wanted->rank > 2 && array->dims[0] == wanted->dims[0] &&
                          array->dims[1] == wanted->dims[wanted->rank - 1];
    for (uint32_t i = 2; channels_first && i < wanted->rank; i++)
        channels_first = array->dims[i] == wanted->dims[i - 1];
    if (!channels_first)
        return "the dimensions are those of the container: dlc-info shows them";
    text order = {0};
    for (uint32_t i = 2; i < wanted->rank; i++)
        text_add(arena, &order, "%" PRIu32 ", ", i);
    return arena_printf(arena, "the container has the channels last: numpy.transpose(array, (0, %s1))", order.data);
}

odlc_status array_fits(struct arena *arena, struct diags *diags, const struct array_wanted *wanted,
                       const struct view *array, const char *path)
{
    const struct shape shape = view_shape(array);
    if (shape_equal(&shape, &wanted->shape))
        return ODLC_OK;
    return diag_error(diags, ODLC_ERR_INVALID, AT(.file = path, .hint = dims_hint(arena, &wanted->shape, &shape)),
                      "array-size", "tensor '%s' is %s, and the array %s", wanted->name,
                      shape_text(arena, &wanted->shape), shape_text(arena, &shape));
}

static odlc_status read_array(struct arena *arena, struct diags *diags, const struct array_wanted *wanted,
                              const struct file *file, struct array_read *out)
{
    const char *type = dtype_info(wanted->dtype)->display;
    const bool fixed = dtype_is_fixed(wanted->dtype), as_stored = fixed && wanted->is_native;
    struct view array;
    uint64_t bad;
    TRY(npy_read(arena, diags, file, &array));
    TRY(array_fits(arena, diags, wanted, &array, file->path));
    if (as_stored && view_size(&array, array.dtype) != wanted->native_size)
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = file->path), "input-type",
                          "input '%s' is %s, and the array has elements of type %s", wanted->name, type,
                          dtype_info(array.dtype)->name);
    if (!as_stored && (fixed || dtype_is_float(wanted->dtype))) {
        *out = (struct array_read){.data = view_load(arena, &array, DT_FLOAT32)};
        return ODLC_OK;
    }
    if (!as_stored && !view_fits(arena, &array, wanted->dtype, &bad))
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = file->path), "input-type",
                          "input '%s' is %s, which does not hold element %" PRIu64 " of the array", wanted->name, type,
                          bad);
    *out = (struct array_read){.data = view_load(arena, &array, as_stored ? array.dtype : wanted->dtype),
                               .is_native = true};
    return ODLC_OK;
}

static odlc_status raw_fits(struct arena *arena, struct diags *diags, const struct array_wanted *wanted,
                            const struct file *file)
{
    const uint64_t size = wanted->is_native ? wanted->native_size : shape_count(&wanted->shape) * sizeof(float);
    if (file->size == size)
        return ODLC_OK;
    const char *hint = wanted->is_native || wanted->native_size != file->size
                           ? NULL
                           : "this is the size in the input's own type: --use_native_input_files";
    return diag_error(diags, ODLC_ERR_INVALID, AT(.file = file->path, .hint = hint), "input-size",
                      "input '%s' (%s, %s) takes %" PRIu64 " bytes%s, and the file has %" PRIu64, wanted->name,
                      dtype_info(wanted->dtype)->display, shape_text(arena, &wanted->shape), size,
                      wanted->is_native ? "" : " of float32", file->size);
}

odlc_status array_file_fits(struct arena *arena, struct diags *diags, const struct array_wanted *wanted,
                            const struct file *file)
{
    struct view array;
    if (!npy_is(file))
        return raw_fits(arena, diags, wanted, file);
    TRY(npy_read(arena, diags, file, &array));
    return array_fits(arena, diags, wanted, &array, file->path);
}

odlc_status array_file_read(struct arena *arena, struct diags *diags, const struct array_wanted *wanted,
                            const struct file *file, struct array_read *out)
{
    if (npy_is(file))
        return read_array(arena, diags, wanted, file, out);
    TRY(raw_fits(arena, diags, wanted, file));
    *out = (struct array_read){.data = file->data, .is_native = wanted->is_native};
    return ODLC_OK;
}
