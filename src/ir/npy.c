/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/reader.h"

#define MAGIC "\x93NUMPY"
enum { MAGIC_SIZE = 6, MAX_HEADER = 65536 };

struct npy {
    struct diags *diags;
    const struct file *file;
    const char *header; /* the text of the dictionary, NUL-terminated */
    uint64_t data;      /* offset of the elements */
};

static odlc_status bad(const struct npy *n, const char *what)
{
    return diag_error(n->diags, ODLC_ERR_INVALID, AT(.file = n->file->path), "npy", "the .npy file %s", what);
}

bool npy_is(const struct file *file)
{
    return file->size >= MAGIC_SIZE && memcmp(file->data, MAGIC, MAGIC_SIZE) == 0;
}

static odlc_status read_header(struct npy *n, struct arena *arena)
{
    struct reader r = reader_of(n->file->data, n->file->size);
    (void)read_bytes(&r, MAGIC_SIZE);
    uint8_t major = read_u8(&r);
    (void)read_u8(&r); /* no minor version but 0 exists */
    uint64_t length = read_le(&r, major == 1 ? 2 : 4);
    if (r.failed || major < 1 || major > 3)
        return bad(n, "has an unknown version");
    if (length > MAX_HEADER)
        return bad(n, arena_printf(arena, "has a header of %" PRIu64 " bytes, more than %d", length, MAX_HEADER));
    const uint8_t *text = read_bytes(&r, length);
    if (!text)
        return bad(n, "has a broken header");
    n->header = arena_strndup(arena, (const char *)text, length);
    n->data = r.pos;
    return ODLC_OK;
}

/* What follows a key of the dictionary, or NULL. */
static const char *value_of(const struct npy *n, const char *key)
{
    const char *p = strstr(n->header, key);
    if (!p)
        return NULL;
    p += strlen(key);
    p += strspn(p, " ");
    return *p == ':' ? p + 1 + strspn(p + 1, " ") : NULL;
}

static const struct {
    const char *descr;
    enum dtype dtype;
} dtypes[] = {
    {"|b1", DT_BOOL},   {"|i1", DT_INT8},    {"<i2", DT_INT16},   {"<i4", DT_INT32},
    {"<i8", DT_INT64},  {"|u1", DT_UINT8},   {"<u2", DT_UINT16},  {"<u4", DT_UINT32},
    {"<u8", DT_UINT64}, {"<f2", DT_FLOAT16}, {"<f4", DT_FLOAT32}, {"<f8", DT_FLOAT64},
};

static odlc_status read_dtype(const struct npy *n, enum dtype *out)
{
    const char *descr = value_of(n, "'descr'");
    for (size_t i = 0; descr && i < COUNT_OF(dtypes); i++) {
        size_t length = strlen(dtypes[i].descr);
        if (descr[0] == '\'' && strncmp(descr + 1, dtypes[i].descr, length) == 0 && descr[length + 1] == '\'') {
            *out = dtypes[i].dtype;
            return ODLC_OK;
        }
    }
    return bad(n, "has elements that are no little-endian numbers or bools");
}

static odlc_status read_shape(const struct npy *n, struct shape *out)
{
    const char *p = value_of(n, "'shape'");
    *out = (struct shape){.rank = 0};
    if (!p || *p != '(')
        return bad(n, "has no shape in its header");
    for (p += 1 + strspn(p + 1, " "); *p != ')'; p += strspn(p, " ,")) {
        char *end;
        errno = 0;
        long long dim = strtoll(p, &end, 10);
        if (end == p || errno || dim < 0)
            return bad(n, "has a broken shape");
        if (out->rank == MAX_RANK)
            return bad(n, "has more axes than are supported");
        out->dims[out->rank++] = dim;
        p = end;
    }
    return shape_too_large(out) ? bad(n, "has an impossible shape") : ODLC_OK;
}

/* Fortran order is the reversed shape in C order, seen with its axes reversed. */
static void see_reversed(struct view *view, const struct shape *shape)
{
    struct perm reversed = {.rank = shape->rank};
    for (uint32_t i = 0; i < shape->rank && i < MAX_RANK; i++) { /* gcc does not see that ranks are no larger */
        view->shape.dims[i] = shape->dims[shape->rank - 1 - i];
        reversed.axis[i] = (uint8_t)(shape->rank - 1 - i);
    }
    view->perm = reversed;
}

odlc_status npy_read(struct arena *arena, struct diags *diags, const struct file *file, struct view *out)
{
    struct npy n = {.diags = diags, .file = file};
    enum dtype dtype;
    struct shape shape;
    TRY(read_header(&n, arena));
    TRY(read_dtype(&n, &dtype));
    TRY(read_shape(&n, &shape));
    const char *fortran = value_of(&n, "'fortran_order'");
    if (!fortran)
        return bad(&n, "does not say the order of its elements");
    if (shape_count(&shape) * dtype_size(dtype) != file->size - n.data)
        return bad(&n, "has another size than its header says");
    *out = view_of(file->data + n.data, dtype, &shape);
    out->file = file;
    if (strncmp(fortran, "True", 4) == 0)
        see_reversed(out, &shape);
    return ODLC_OK;
}
