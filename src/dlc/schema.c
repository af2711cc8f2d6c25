/* SPDX-License-Identifier: Apache-2.0 */
#include "dlc/schema.h"

#define VERIFIED_U8 FB_8
#define VERIFIED_BOOL FB_8
#define VERIFIED_U32 FB_32
#define VERIFIED_I32 FB_32
#define VERIFIED_F32 FB_32
#define VERIFIED_U64 FB_64
#define VERIFIED_I64 FB_64
#define VERIFIED_F64 FB_64
#define VERIFIED_OFFSET64 FB_64 /* not one of flatbuffers' own kinds; the reader checks where it leads */
#define VERIFIED_STRING FB_STRING
#define VERIFIED_TABLE FB_TABLE
#define VERIFIED_BYTES FB_BYTES
#define VERIFIED_WORDS FB_WORDS
#define VERIFIED_STRINGS FB_STRINGS
#define VERIFIED_TABLES FB_TABLES

#define FIELD(table, field, slot, kind, type, value) READ(table, field, slot, kind, type)
#define TABLE(table, record) static const struct fb_field table##_fields[] = {
#define READ(table, field, slot, kind, type) [slot] = {VERIFIED_##kind, type},
#define END(table) \
    }              \
    ;              \
    const struct fb_type table = {table##_fields, COUNT_OF(table##_fields)};
#include "dlc/schema_v3.def"
#include "dlc/schema_v4.def"
