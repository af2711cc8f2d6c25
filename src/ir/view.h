/* SPDX-License-Identifier: Apache-2.0 */
/* Constants are views: source bytes (usually in the mapped model) plus work that is still to do on them. The bytes are
 * read once, when the writer streams them out or a kernel needs them.
 *
 * The value of a view, in this order:  (source elements (splat: one element repeated) - zero) × scale
 *                                      → cast to the tensor's dtype → permuted by perm. */
#ifndef IR_VIEW_H
#define IR_VIEW_H

#include "base/file.h"
#include "ir/dtype.h"
#include "ir/encoding.h"
#include "ir/shape.h"

#define SCALE_WHOLE UINT32_MAX

/* How the elements of a view that is far lie in its file. */
enum packing { PACKED_NOT, PACKED_NIBBLES, PACKED_NIBBLES_BY_ROW }; /* ir/nibbles.h */

struct view {
    const uint8_t *bytes;       /* source elements, row-major, little-endian; strings: see `strings`. NULL: far */
    const struct file *file;    /* the mapping that holds bytes, or NULL for memory; far: the file to read them from */
    uint64_t offset;            /* far: of the elements in the file */
    const char *const *strings; /* dtype DT_STRING: shape_count(shape) pointers (1 when splat) */
    enum dtype dtype;           /* of the source */
    enum packing packing;       /* far */
    struct shape shape;         /* of the source */
    bool splat;                 /* bytes (or strings) hold one element for all */
    struct perm perm;           /* result axis i is source axis perm.axis[i]; rank == shape.rank */
    const double *scale;        /* NULL, or one factor per index of source axis scale_axis; to become floats only */
    const double *zero;         /* with a scale: NULL, or the zero points, subtracted before scaling, likewise */
    uint32_t scale_axis;        /* SCALE_WHOLE: one factor (and zero) for all elements */
    const struct quant *given;  /* of floats, for who quantizes the container: along a source axis; NULL: nothing */
};

/* A view of elements in memory; the elements must outlive the view. */
struct view view_of(const void *bytes, enum dtype dtype, const struct shape *shape);
/* A splat of one element (copied into the arena), given as double for float types and as int64 otherwise. */
struct view view_splat_float(struct arena *arena, enum dtype dtype, const struct shape *shape, double value);
struct view view_splat_int(struct arena *arena, enum dtype dtype, const struct shape *shape, int64_t value);

/* Whether the elements must be read before they can be looked at: those of a file with a source (base/file.h) are. A
 * far view is row-major, with nothing pending but what its packing says. */
static inline bool view_is_far(const struct view *view)
{
    return !view->bytes && view->file && view->file->source;
}
/* Elements [first, first + count) of the source, which is no splat: where they are in memory, or read into the buffer
 * of count * dtype_size(view->dtype) bytes; zeros where they cannot be read, which the file's source then tells. */
const uint8_t *view_elements(const struct view *view, uint64_t first, uint64_t count, void *buffer);

/* The shape after perm. */
struct shape view_shape(const struct view *view);
/* True when the value is exactly bytes[0 … count): nothing pending with regard to `as`. */
bool view_is_plain(const struct view *view, enum dtype as);
/* Bytes of the value as `as`. */
uint64_t view_size(const struct view *view, enum dtype as);
/* Composes another permutation onto the view. */
void view_permute(struct view *view, const struct perm *perm);
/* Gives the value another shape of the same count without touching bytes; false when a pending permutation or a scale
 * of an axis that would be none stands in the way. Encodings that are given along an axis that does not stay are lost.
 */
bool view_reshape(struct view *view, const struct shape *shape);

/* The view of indices [first, first + count) of an axis of the value. Source elements that lie apart, or in a file, are
 * copied into the arena. ODLC_ERR_IO, without a diagnostic: the file cannot be read. Not for strings. */
odlc_status view_part(struct arena *arena, const struct view *view, uint32_t axis, int64_t first, int64_t count,
                      struct view *out) MUST_USE;

/* The view as elements of type `as`, in the arena (or the mapped bytes themselves when nothing is pending). A float →
 * integer or narrower-integer cast follows C with saturation; callers that must not lose values use view_fits first.
 * Not for strings. */
const void *view_load(struct arena *arena, const struct view *view, enum dtype as);

/* Streams the value as elements of type `as` in tiles of bounded size (ir/tiles.h). emit gets pieces of the value,
 * which do not overlap, in any order; offset is in bytes from the value's first. Source pages are dropped behind. */
typedef odlc_status view_emit_fn(void *user, uint64_t offset, const void *bytes, size_t size);
odlc_status view_stream(struct arena *scratch, const struct view *view, enum dtype as, view_emit_fn *emit,
                        void *user) MUST_USE;

/* True when every value of the view is exactly representable as `as` (floats: within range; the rounding of
 * float → narrower float counts as fitting). On false, *bad gets the index (in result order) of the first that is not,
 * when bad is not NULL. */
bool view_fits(struct arena *scratch, const struct view *view, enum dtype as, uint64_t *bad);

/* The closed range of an integer or bool type, as int64: that of uint64 ends at -1, which has its largest value's bits.
 */
void integer_range(enum dtype dtype, int64_t *low, int64_t *high);
/* Two's complement: each value becomes what is left of it in the bits of an integer type. */
void keep_low_bits(int64_t *values, enum dtype dtype, uint64_t count);

/* Converts count elements between types with the rules of view_load. */
void convert_elements(void *to, enum dtype to_dtype, const void *from, enum dtype from_dtype, size_t count);

struct scaling {
    const double *factor, *zero; /* zero: NULL, or the values subtracted before multiplying */
    bool each;                   /* one for each element; else one for all */
};

/* (element - zero) × factor, computed in double and converted once; of 32-bit integers a float32 difference is taken,
 * as DequantizeLinear does. */
void scale_elements(void *to, enum dtype to_dtype, const void *from, enum dtype from_dtype, size_t count,
                    const struct scaling *scaling);

#endif
