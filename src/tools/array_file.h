/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a tensor's elements: raw, or NumPy's .npy. */
#ifndef TOOLS_ARRAY_FILE_H
#define TOOLS_ARRAY_FILE_H

#include "base/file.h"
#include "ir/view.h"

/* The tensor that a file has elements of. */
struct array_wanted {
    const char *name;
    enum dtype dtype;
    struct shape shape;
    uint64_t native_size; /* bytes in the tensor's own type */
    bool is_native;       /* raw files are in the tensor's own type, others in float32 */
};

/* What a file has: floats, or elements in the tensor's own type. They are the file's, or the arena's. */
struct array_read {
    const void *data;
    bool is_native;
};

/* ODLC_ERR_INVALID, with a diagnostic: the array has other dimensions than the tensor. */
odlc_status array_fits(struct arena *arena, struct diags *diags, const struct array_wanted *wanted,
                       const struct view *array, const char *path) MUST_USE;
/* The same of a file, whose elements are not read: its size, or the dimensions of an .npy file. ODLC_ERR_INVALID. */
odlc_status array_file_fits(struct arena *arena, struct diags *diags, const struct array_wanted *wanted,
                            const struct file *file) MUST_USE;
/* Integers and bools of an .npy file are taken exactly, all else as floats, or, where the tensor is fixed-point and
 * wanted in its own type, as they are. ODLC_ERR_INVALID: another size, other dimensions, elements that the type does
 * not hold, or no such file. */
odlc_status array_file_read(struct arena *arena, struct diags *diags, const struct array_wanted *wanted,
                            const struct file *file, struct array_read *out) MUST_USE;

#endif
