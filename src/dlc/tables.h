/* SPDX-License-Identifier: Apache-2.0 */
/* Records and the tables of version 4 that they stand in, made from the field list (schema_v4.def). For each table:
 *
 *   put_v4_tensor(b, reference, record)  appends the table and its strings and numbers. The caller makes the references
 *                                        of LATER lead somewhere (fb_slot_ref).
 *   same_v4_tensor(table, record)        whether the table holds the record, as put_v4_tensor writes it. References
 *                                        of LATER must be there; the caller compares the objects they lead to.
 *   take_v4_tensor(table, record)        sets those members of the record that fields hold as they are.
 *
 * Nothing fails here: put reports through its fb_build, the others through the table's buffer. */
#ifndef DLC_TABLES_H
#define DLC_TABLES_H

#include "dlc/fb_build.h"
#include "dlc/record.h"
#include "dlc/schema.h"

/* The record of v4_data: where the bytes of a payload are. */
struct dlc_data {
    const char *name;
    bool is_inline; /* in NETP itself; else in a buffer of NR64: */
    uint32_t index;
};

/* Most ops say what an op before them said: their package, their selector, the same scalars. Text is compared by its
 * address alone: rows share theirs, and what is not recognized is only taken as new. */
enum { KNOWN_SCALARS = 256 };

static inline bool alike_scalars(const struct dlc_attr *a, const struct dlc_attr *b)
{
    return a->name == b->name && a->i == b->i && a->dtype_code == b->dtype_code && a->kind == b->kind &&
           a->usage == b->usage;
}

/* Where such an attribute stands among KNOWN_SCALARS; an older one stands at that ^ 1. */
static inline unsigned place_of_scalar(const struct dlc_attr *a)
{
    return (((uint64_t)(uintptr_t)a->name ^ (uint64_t)a->i * 31 ^ a->dtype_code) * 0x9E3779B97F4A7C15u) >> 56;
}

static inline void put_dims(struct fb_build *b, uint32_t reference, const struct shape *shape)
{
    uint32_t dims[MAX_RANK];
    for (uint32_t i = 0; i < shape->rank; i++)
        dims[i] = (uint32_t)shape->dims[i];
    fb_put_words(b, reference, dims, shape->rank);
}

static inline bool same_dims(struct fb_vector dims, const struct shape *shape)
{
    if (!dims.pos || dims.count != shape->rank)
        return false;
    for (uint32_t i = 0; i < dims.count; i++)
        if (fb_word_at(dims, i) != (uint64_t)shape->dims[i])
            return false;
    return true;
}

static inline bool same_names(struct fb_vector found, const char *const *meant, uint32_t count)
{
    if (!found.pos || found.count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!fb_is_text(found.in, found.pos + 4 * (uint64_t)i, meant[i]))
            return false;
    return true;
}

/* NULL, for LATER: whether there is a string. */
static inline bool same_text(struct fb_table t, unsigned slot, const char *meant)
{
    uint64_t at = fb_place(t, slot, 4);
    return at && (!meant || fb_is_text(t.in, at, meant));
}

static inline void put_string(struct fb_build *b, uint32_t reference, const char *string)
{
    if (string) /* not LATER */
        fb_put_string(b, reference, string);
}

/* ---- the column `value`: whether the field is there, the value, and how the record takes the value back ---- */

/* Of all bytes: a zero with a sign is one that must be written. */
static inline bool is_zero(const void *value, size_t size)
{
    const uint8_t *bytes = value;
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

#define IF_MEMBER(m) true
#define IF_MEMBER_UNLESS_0(m) (!is_zero(&r->m, sizeof r->m))
#define IF_ALWAYS(...) true
#define IF_UNLESS_0(v) ((v) != 0)
#define IF_WHEN(condition, v) (condition)
#define VALUE_MEMBER(m) r->m
#define VALUE_MEMBER_UNLESS_0(m) r->m
#define VALUE_ALWAYS(...) __VA_ARGS__
#define VALUE_UNLESS_0(v) v
#define VALUE_WHEN(condition, v) v
#define TAKE_MEMBER(m) r->m =
#define TAKE_MEMBER_UNLESS_0(m) r->m =
#define TAKE_ALWAYS(...) (void)sizeof
#define TAKE_UNLESS_0(v) (void)sizeof
#define TAKE_WHEN(condition, v) (void)sizeof
#define LATER NULL

#define READ(table, field, slot, kind, type)

/* ---- putting: the slots of a table, then the strings and vectors behind the table ---- */

#define SLOT_U8(slot, v) FB_U8(slot, v)
#define SLOT_U32(slot, v) FB_U32(slot, v)
#define SLOT_U64(slot, v) FB_U64(slot, v)
#define SLOT_F32(slot, v) FB_U32(slot, float_bits((float)(v)))
#define SLOT_F64(slot, v) FB_U64(slot, double_bits(v))
#define SLOT_OFFSET64(slot, v) FB_U64(slot, 0)
#define SLOT_REFERENCE(slot, ...) FB_REF(slot)
#define SLOT_BOOL SLOT_U8
#define SLOT_I32 SLOT_U32
#define SLOT_I64 SLOT_U64
#define SLOT_STRING SLOT_REFERENCE
#define SLOT_TABLE SLOT_REFERENCE
#define SLOT_BYTES SLOT_REFERENCE
#define SLOT_WORDS SLOT_REFERENCE
#define SLOT_STRINGS SLOT_REFERENCE
#define SLOT_TABLES SLOT_REFERENCE

#define TABLE(table, record)                                                        \
    static inline unsigned slots_of_##table(const record *r, struct fb_slot *slots) \
    {                                                                               \
        unsigned n = 0;                                                             \
        (void)r, (void)slots;
#define FIELD(table, field, slot, kind, type, value) \
    if (IF_##value)                                  \
        slots[n++] = SLOT_##kind(slot, VALUE_##value);
#define END(table) \
    return n;      \
    }
#include "dlc/schema_v4.def"
#undef TABLE
#undef FIELD
#undef END

#define BEHIND_STRING(reference, v) put_string(b, reference, v)
#define BEHIND_WORDS(reference, v) put_dims(b, reference, v)
#define BEHIND_STRINGS(reference, ...) fb_put_strings(b, reference, __VA_ARGS__)
#define NOTHING_BEHIND(reference, ...) (void)0
#define BEHIND_U8 NOTHING_BEHIND
#define BEHIND_BOOL NOTHING_BEHIND
#define BEHIND_U32 NOTHING_BEHIND
#define BEHIND_I32 NOTHING_BEHIND
#define BEHIND_F32 NOTHING_BEHIND
#define BEHIND_U64 NOTHING_BEHIND
#define BEHIND_I64 NOTHING_BEHIND
#define BEHIND_F64 NOTHING_BEHIND
#define BEHIND_OFFSET64 NOTHING_BEHIND
#define BEHIND_TABLE NOTHING_BEHIND
#define BEHIND_BYTES NOTHING_BEHIND
#define BEHIND_TABLES NOTHING_BEHIND

#define TABLE(table, record)                                                                          \
    static inline struct fb_made put_##table(struct fb_build *b, uint32_t reference, const record *r) \
    {                                                                                                 \
        struct fb_slot slots[FB_MAX_SLOTS];                                                           \
        struct fb_made made = fb_put_table(b, reference, slots, slots_of_##table(r, slots));
#define FIELD(table, field, slot, kind, type, value) \
    if (IF_##value)                                  \
        BEHIND_##kind(fb_slot_ref(b, made, slot), VALUE_##value);
#define END(table) \
    return made;   \
    }
#include "dlc/schema_v4.def"
#undef TABLE
#undef FIELD
#undef END

/* ---- comparing: a number that is left out is 0 ---- */

#define SAME_U8(slot, present, v) (fb_u8(t, slot) == (uint8_t)((present) ? (v) : 0))
#define SAME_U32(slot, present, v) (fb_u32(t, slot) == (uint32_t)((present) ? (v) : 0))
#define SAME_U64(slot, present, v) (fb_u64(t, slot) == (uint64_t)((present) ? (v) : 0))
#define SAME_F32(slot, present, v) (fb_u32(t, slot) == ((present) ? float_bits((float)(v)) : 0))
#define SAME_F64(slot, present, v) (fb_u64(t, slot) == ((present) ? double_bits(v) : 0))
#define SAME_OFFSET64(slot, present, v) ((fb_place(t, slot, 8) != 0) == (present))
#define SAME_REFERENCE(slot, present, ...) (fb_has(t, slot) == (present))
#define SAME_STRING(slot, present, v) ((present) ? same_text(t, slot, v) : !fb_has(t, slot))
#define SAME_WORDS(slot, present, v) same_dims(fb_vector(t, slot, 4), v)
#define SAME_STRINGS(slot, present, ...) same_names(fb_vector(t, slot, 4), __VA_ARGS__)
#define SAME_BOOL SAME_U8
#define SAME_I32 SAME_U32
#define SAME_I64 SAME_U64
#define SAME_TABLE SAME_REFERENCE
#define SAME_BYTES SAME_REFERENCE
#define SAME_TABLES SAME_REFERENCE

#define TABLE(table, record)                                            \
    static inline bool same_##table(struct fb_table t, const record *r) \
    {                                                                   \
        (void)t, (void)r;
#define FIELD(table, field, slot, kind, type, value)   \
    if (!SAME_##kind(slot, IF_##value, VALUE_##value)) \
        return false;
#define END(table) \
    return true;   \
    }
#include "dlc/schema_v4.def"
#undef TABLE
#undef FIELD
#undef END

/* ---- taking ---- */

#define TABLE(table, record)                                      \
    static inline void take_##table(struct fb_table t, record *r) \
    {                                                             \
        (void)t, (void)r;
#define FIELD(table, field, slot, kind, type, value) TAKE_##value table##_##field(t);
#define END(table) }
#include "dlc/schema_v4.def"
#undef TABLE
#undef FIELD
#undef END
#undef READ

#endif
