/* SPDX-License-Identifier: Apache-2.0 */
/* The container's flatbuffers, made from their field list (schema_v4.def, schema_v3.def): for each table the slots of
 * the fields, a description for fb_verify, and an accessor for each field. The codes that fields hold, too. */
#ifndef DLC_SCHEMA_H
#define DLC_SCHEMA_H

#include "dlc/flatbuf.h"

/* Every stream of the zip: u16 magic, u16 major, u16 minor, u16 patch; then the flatbuffer, whose bytes 4 … 7 are its
 * identifier. */
#define STREAM_MAGIC 0x0AD5
#define STREAM_HEADER 8
#define ID_MODEL "NETD"
#define ID_PARAMS "NETP"
#define ID_BUFFERS "NR64"

#define NO_ENCODING 0x7FFFFFFFu  /* quantization encoding: none. 0, as an absent field, is scale and offset */
#define STRING_DTYPE 0x7FFFFFFFu /* dtype of string scalars up to release 2.20; later 0x0608 */
#define NATIVE_PACKAGE "qti.aisw"
#define PACKAGE_ATTRIBUTE "packageName"
#define OPERATION_ATTRIBUTE "operation" /* tells the ops of one type apart by a number */

enum dlc_tensor_kind { KIND_APP_WRITE, KIND_APP_READ, KIND_APP_READWRITE, KIND_NATIVE, KIND_STATIC, KIND_NULL };
enum dlc_usage { USAGE_PARAM = 1, USAGE_SUPPLEMENTAL = 2 };

/* Of v3_arg and v3_data. */
enum arg_type {
    ARG_IS_BOOL = 1,
    ARG_IS_INT,
    ARG_IS_UINT,
    ARG_IS_FLOAT,
    ARG_IS_STRING,
    ARG_IS_BYTES,
    ARG_IS_INTS,
    ARG_IS_UINTS,
    ARG_IS_FLOATS,
    ARG_IS_STRINGS,
    ARG_IS_NESTED
};

/* Readers do not ask for the column `value`. */
#define FIELD(table, field, slot, kind, type, value) READ(table, field, slot, kind, type)

/* ---- slots: SLOT_v4_tensor_id ---- */

enum dlc_slot {
#define TABLE(table, record)
#define READ(table, field, slot, kind, type) SLOT_##table##_##field = (slot),
#define END(table)
#include "dlc/schema_v3.def"
#include "dlc/schema_v4.def"
};
#undef TABLE
#undef READ
#undef END

/* ---- descriptions: v4_tensor ---- */

#define TABLE(table, record) extern const struct fb_type table;
#define READ(table, field, slot, kind, type)
#define END(table)
#include "dlc/schema_v3.def"
#include "dlc/schema_v4.def"
#undef TABLE
#undef READ
#undef END

/* ---- accessors: v4_tensor_id(table). Absent numbers are 0, absent strings NULL, absent tables and vectors have pos 0
 * and no elements ---- */

#define ACCESSOR_U8(name, slot) ACCESSOR(uint8_t, name, fb_u8(t, slot))
#define ACCESSOR_BOOL(name, slot) ACCESSOR(bool, name, fb_u8(t, slot) != 0)
#define ACCESSOR_U32(name, slot) ACCESSOR(uint32_t, name, fb_u32(t, slot))
#define ACCESSOR_I32(name, slot) ACCESSOR(int32_t, name, (int32_t)fb_u32(t, slot))
#define ACCESSOR_F32(name, slot) ACCESSOR(double, name, fb_float(t, slot))
#define ACCESSOR_U64(name, slot) ACCESSOR(uint64_t, name, fb_u64(t, slot))
#define ACCESSOR_I64(name, slot) ACCESSOR(int64_t, name, (int64_t)fb_u64(t, slot))
#define ACCESSOR_F64(name, slot) ACCESSOR(double, name, fb_double(t, slot))
#define ACCESSOR_STRING(name, slot) ACCESSOR(const char *, name, fb_string(t, slot))
#define ACCESSOR_TABLE(name, slot) ACCESSOR(struct fb_table, name, fb_child(t, slot))
#define ACCESSOR_OFFSET64(name, slot) ACCESSOR(uint64_t, name, fb_far(t, slot))
#define ACCESSOR_BYTES(name, slot) ACCESSOR(struct fb_vector, name, fb_vector(t, slot, 1))
#define ACCESSOR_WORDS(name, slot) ACCESSOR(struct fb_vector, name, fb_vector(t, slot, 4))
#define ACCESSOR_STRINGS(name, slot) ACCESSOR(struct fb_vector, name, fb_vector(t, slot, 4))
#define ACCESSOR_TABLES(name, slot) ACCESSOR(struct fb_vector, name, fb_vector(t, slot, 4))
#define ACCESSOR(returned, name, value)            \
    static inline returned name(struct fb_table t) \
    {                                              \
        return value;                              \
    }

#define TABLE(table, record)
#define READ(table, field, slot, kind, type) ACCESSOR_##kind(table##_##field, slot)
#define END(table)
#include "dlc/schema_v3.def"
#include "dlc/schema_v4.def"
#undef TABLE
#undef READ
#undef END
#undef FIELD

#endif
