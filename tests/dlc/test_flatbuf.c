/* SPDX-License-Identifier: Apache-2.0 */
/* The flatbuffer codec: what the builder writes reads back, hand-made bytes decode, broken ones are refused. */
#include "dlc_fixture.h"

#include "dlc/fb_build.h"
#include "dlc/flatbuf.h"

enum { BOX_TAG, BOX_SIZE, BOX_WIDE, BOX_NAME, BOX_BYTES, BOX_WORDS, BOX_NAMES, BOX_CHILDREN, BOX_CHILD };

static const struct fb_type box;
static const struct fb_field box_fields[] = {
    [BOX_TAG] = {FB_8, NULL},         [BOX_SIZE] = {FB_32, NULL},         [BOX_WIDE] = {FB_64, NULL},
    [BOX_NAME] = {FB_STRING, NULL},   [BOX_BYTES] = {FB_BYTES, NULL},     [BOX_WORDS] = {FB_WORDS, NULL},
    [BOX_NAMES] = {FB_STRINGS, NULL}, [BOX_CHILDREN] = {FB_TABLES, &box}, [BOX_CHILD] = {FB_TABLE, &box},
};
static const struct fb_type box = {box_fields, COUNT_OF(box_fields)};

/* The root of a buffer that stays as long as the arena. */
static struct fb_table root_of(const void *data, uint64_t size)
{
    struct fb_buffer *buffer = arena_new(arena, struct fb_buffer);
    *buffer = (struct fb_buffer){.data = data, .size = size};
    return fb_root(buffer);
}

static struct fb_build build_boxes(void)
{
    struct fb_build b;
    const struct fb_slot all[] = {FB_U8(BOX_TAG, 200), FB_U32(BOX_SIZE, 70000), FB_U64(BOX_WIDE, 1ull << 40),
                                  FB_REF(BOX_NAME),    FB_REF(BOX_BYTES),       FB_REF(BOX_WORDS),
                                  FB_REF(BOX_NAMES),   FB_REF(BOX_CHILDREN)};
    const struct fb_slot few[] = {FB_U32(BOX_SIZE, 7)};
    const uint32_t words[] = {1, 0xFFFFFFFF, 3};
    const char *const names[] = {"", "one", "three"};
    struct fb_made root = fb_put_table(&b, fb_start(&b, arena, "TEST"), all, COUNT_OF(all));
    fb_put_string(&b, fb_slot_ref(&b, root, BOX_NAME), "root");
    fb_put_bytes(&b, fb_slot_ref(&b, root, BOX_BYTES), (const uint8_t *)"\x01\x02\x03", 3);
    fb_put_words(&b, fb_slot_ref(&b, root, BOX_WORDS), words, 3);
    fb_put_strings(&b, fb_slot_ref(&b, root, BOX_NAMES), names, 3);
    uint32_t children = fb_put_references(&b, fb_slot_ref(&b, root, BOX_CHILDREN), 2);
    fb_put_table(&b, children, few, 1);
    fb_put_table(&b, children + 4, few, 1);
    return b;
}

START_TEST(round_trip)
{
    struct fb_build b = build_boxes();
    struct fb_fault fault;
    ck_assert(fb_verify(b.out.data, b.out.count, &box, &fault));
    ck_assert_mem_eq(b.out.data + 4, "TEST", 4);
    struct fb_table root = root_of(b.out.data, b.out.count);
    ck_assert_uint_eq(fb_u8(root, BOX_TAG), 200);
    ck_assert_uint_eq(fb_u32(root, BOX_SIZE), 70000);
    ck_assert_uint_eq(fb_u64(root, BOX_WIDE), 1ull << 40);
    ck_assert_uint_eq(fb_place(root, BOX_WIDE, 8) % 8, 0);
    ck_assert_str_eq(fb_string(root, BOX_NAME), "root");
    struct fb_vector bytes = fb_vector(root, BOX_BYTES, 1), words = fb_vector(root, BOX_WORDS, 4);
    ck_assert_uint_eq(bytes.count, 3);
    ck_assert_uint_eq(bytes.pos % 8, 0);
    ck_assert_mem_eq(fb_bytes(bytes), "\x01\x02\x03", 3);
    ck_assert_uint_eq(words.count, 3);
    ck_assert_uint_eq(fb_word_at(words, 1), 0xFFFFFFFF);
    struct fb_vector names = fb_vector(root, BOX_NAMES, 4);
    ck_assert_str_eq(fb_string_at(names, 0), "");
    ck_assert_str_eq(fb_string_at(names, 2), "three");
    struct fb_vector children = fb_vector(root, BOX_CHILDREN, 4);
    ck_assert_uint_eq(children.count, 2);
    ck_assert_uint_eq(fb_u32(fb_table_at(children, 1), BOX_SIZE), 7);
    ck_assert(!fb_has(root, BOX_CHILD));
    ck_assert_uint_eq(fb_child(root, BOX_CHILD).pos, 0);
    ck_assert_uint_eq(fb_u32(fb_child(root, BOX_CHILD), BOX_SIZE), 0);
}
END_TEST

START_TEST(equal_tables_share_their_vtable)
{
    struct fb_build b = build_boxes();
    ck_assert_uint_eq(b.vtables.count, 2);
    struct fb_vector children = fb_vector(root_of(b.out.data, b.out.count), BOX_CHILDREN, 4);
    uint64_t first = fb_table_at(children, 0).pos, second = fb_table_at(children, 1).pos;
    ck_assert_uint_eq(first - load_le(b.out.data + first, 4), second - load_le(b.out.data + second, 4));
}
END_TEST

/* root at 8: {vtable at 20, behind the table; size = 5}, written by hand. */
static const uint8_t by_hand[] = {8, 0, 0,    0,    'T',  'E',  'S', 'T', 0xF4, 0xFF, 0xFF, 0xFF, 5, 0,
                                  0, 0, 0xAA, 0xAA, 0xAA, 0xAA, 8,   0,   8,    0,    0,    0,    4, 0};

START_TEST(vtable_behind_its_table)
{
    struct fb_fault fault;
    ck_assert(fb_verify(by_hand, sizeof by_hand, &box, &fault));
    ck_assert_uint_eq(fb_u32(root_of(by_hand, sizeof by_hand), BOX_SIZE), 5);
    ck_assert_uint_eq(fb_u8(root_of(by_hand, sizeof by_hand), BOX_TAG), 0);
    ck_assert(!fb_place(root_of(by_hand, sizeof by_hand), BOX_WIDE, 8));
}
END_TEST

static bool verify_changed(size_t at, uint8_t value)
{
    uint8_t bytes[sizeof by_hand];
    struct fb_fault fault;
    memcpy(bytes, by_hand, sizeof bytes);
    bytes[at] = value;
    return fb_verify(bytes, sizeof bytes, &box, &fault);
}

START_TEST(offsets_must_stay_inside)
{
    struct fb_fault fault;
    ck_assert(!fb_verify(by_hand, 3, &box, &fault));
    ck_assert(!fb_verify(by_hand, sizeof by_hand - 1, &box, &fault));
    ck_assert(!verify_changed(0, 25));   /* root table */
    ck_assert(!verify_changed(8, 0xFF)); /* vtable distance -1: the table would be its own vtable, of odd size */
    ck_assert(!verify_changed(8, 9));    /* before the buffer */
    ck_assert(!verify_changed(20, 7));   /* odd vtable */
    ck_assert(!verify_changed(20, 10));  /* vtable past the end */
    ck_assert(!verify_changed(22, 24));  /* table past the end */
    ck_assert(!verify_changed(26, 6));   /* field past the table */
    ck_assert(!verify_changed(26, 2));   /* field on top of the vtable distance */
    ck_assert(verify_changed(12, 255));
}
END_TEST

START_TEST(strings_must_end)
{
    struct fb_fault fault;
    struct fb_build b;
    const struct fb_slot slots[] = {FB_REF(BOX_NAME)};
    struct fb_made root = fb_put_table(&b, fb_start(&b, arena, "TEST"), slots, 1);
    fb_put_string(&b, fb_slot_ref(&b, root, BOX_NAME), "ab");
    ck_assert(fb_verify(b.out.data, b.out.count, &box, &fault));
    size_t text = b.out.count - 3;
    b.out.data[text + 2] = 'c';
    ck_assert(!fb_verify(b.out.data, b.out.count, &box, &fault));
    ck_assert_str_eq(fault.what, "string without its end");
    b.out.data[text + 2] = 0;
    b.out.data[text] = 0;
    ck_assert(!fb_verify(b.out.data, b.out.count, &box, &fault));
    ck_assert_str_eq(fault.what, "string with a NUL inside");
}
END_TEST

/* Chain of depth tables, each the child of the one before. */
static bool chain_verifies(unsigned depth)
{
    struct fb_fault fault;
    struct fb_build b;
    const struct fb_slot slots[] = {FB_REF(BOX_CHILD)};
    uint32_t ref = fb_start(&b, arena, "TEST");
    for (unsigned i = 0; i < depth; i++)
        ref = fb_slot_ref(&b, fb_put_table(&b, ref, slots, 1), BOX_CHILD);
    fb_put_table(&b, ref, NULL, 0);
    return fb_verify(b.out.data, b.out.count, &box, &fault);
}

START_TEST(nesting_is_limited)
{
    ck_assert(chain_verifies(63));
    ck_assert(!chain_verifies(64));
}
END_TEST

/* Every level lists the next one twice: 2^40 paths through 40 tables. */
START_TEST(sharing_is_limited)
{
    struct fb_fault fault;
    struct fb_build b;
    const struct fb_slot slots[] = {FB_REF(BOX_CHILDREN)};
    struct fb_made table = fb_put_table(&b, fb_start(&b, arena, "TEST"), slots, 1);
    for (unsigned i = 0; i < 40; i++) {
        uint32_t list = fb_put_references(&b, fb_slot_ref(&b, table, BOX_CHILDREN), 2);
        table = fb_put_table(&b, list, slots, 1);
        fb_link(&b, list + 4, table.at);
    }
    fb_put_references(&b, fb_slot_ref(&b, table, BOX_CHILDREN), 0);
    ck_assert(!fb_verify(b.out.data, b.out.count, &box, &fault));
    ck_assert_str_eq(fault.what, "parts shared too often");
}
END_TEST

/* A list that leads to one child `count` times. */
static bool shared_child_verifies(uint32_t count, struct fb_fault *fault)
{
    struct fb_build b;
    const struct fb_slot slots[] = {FB_REF(BOX_CHILDREN)}, child[] = {FB_U32(BOX_SIZE, 7), FB_U64(BOX_WIDE, 8)};
    struct fb_made table = fb_put_table(&b, fb_start(&b, arena, "TEST"), slots, 1);
    uint32_t list = fb_put_references(&b, fb_slot_ref(&b, table, BOX_CHILDREN), count);
    table = fb_put_table(&b, list, child, COUNT_OF(child));
    for (uint32_t i = 1; i < count; i++)
        fb_link(&b, list + 4 * i, table.at);
    return fb_verify(b.out.data, b.out.count, &box, fault);
}

/* The same with one string. */
static bool shared_string_verifies(uint32_t count, struct fb_fault *fault)
{
    char name[801] = {0};
    struct fb_build b;
    const struct fb_slot slots[] = {FB_REF(BOX_NAMES)};
    memset(name, 'n', sizeof name - 1);
    struct fb_made table = fb_put_table(&b, fb_start(&b, arena, "TEST"), slots, 1);
    uint32_t list = fb_put_references(&b, fb_slot_ref(&b, table, BOX_NAMES), count);
    uint32_t at = fb_put_string(&b, list, name);
    for (uint32_t i = 1; i < count; i++)
        fb_link(&b, list + 4 * i, at);
    return fb_verify(b.out.data, b.out.count, &box, fault);
}

/* A child of 16 bytes in a buffer of 60 and 4 for each reference; a string of 800 bytes, of which an eighth counts. */
START_TEST(shared_parts_count_each_time)
{
    struct fb_fault fault;
    ck_assert(shared_child_verifies(2, &fault));
    ck_assert(!shared_child_verifies(6, &fault));
    ck_assert_str_eq(fault.what, "parts shared too often");
    ck_assert(shared_string_verifies(7, &fault));
    ck_assert(!shared_string_verifies(10, &fault));
    ck_assert_str_eq(fault.what, "parts shared too often");
}
END_TEST

START_TEST(vector_counts_are_checked)
{
    struct fb_fault fault;
    struct fb_build b = build_boxes();
    struct fb_vector words = fb_vector(root_of(b.out.data, b.out.count), BOX_WORDS, 4);
    store_le(b.out.data + words.pos - 4, 4, 0x40000001); /* times 4 does not fit 32 bits */
    ck_assert(!fb_verify(b.out.data, b.out.count, &box, &fault));
    ck_assert_str_eq(fault.what, "vector longer than the buffer");
    ck_assert_uint_eq(fault.offset, words.pos - 4);
}
END_TEST

/* ---- streaming ---- */

static odlc_status collect(void *user, const void *bytes, size_t size)
{
    text *all = user;
    text_add_bytes(arena, all, bytes, size);
    return ODLC_OK;
}

static odlc_status fill_in(void *user, uint64_t position, const void *bytes, size_t size)
{
    text *all = user;
    ck_assert_uint_le(position + size, all->count);
    for (size_t i = 0; i < size; i++)
        ck_assert_int_eq(all->data[position + i], 0);
    memcpy(all->data + position, bytes, size);
    return ODLC_OK;
}

/* A root that lists boxes with names of many lengths, each third one put from its bytes; long enough for several
 * pieces. With fill, the places need not be known before. */
static uint64_t stream_boxes(uint32_t *places, uint32_t count, fb_sink_fn *sink, fb_fill_fn *fill, void *user)
{
    struct fb_build b;
    struct fb_kept kept = {.size = 0};
    const struct fb_slot root[] = {FB_REF(BOX_CHILDREN)}, box_slots[] = {FB_U8(BOX_TAG, 3), FB_REF(BOX_NAME)};
    uint32_t start = fb_start_stream(&b, arena, sink, user, "TEST");
    struct fb_made table = fb_put_table(&b, start, root, COUNT_OF(root));
    uint32_t list = fb_slot_ref(&b, table, BOX_CHILDREN), first = 0;
    b.fill = fill;
    if (fill)
        first = fb_put_open_references(&b, list, count);
    else
        fb_put_targets(&b, list, places, count);
    for (uint32_t i = 0; i < count; i++) {
        fb_settle(&b);
        if (kept.size && i % 3 == 2) {
            places[i] = fb_put_kept(&b, FB_NOWHERE, &kept);
            continue;
        }
        size_t n_vtables = b.vtables.count;
        table = fb_put_table(&b, FB_NOWHERE, box_slots, COUNT_OF(box_slots));
        places[i] = table.at;
        fb_put_string(&b, fb_slot_ref(&b, table, BOX_NAME), arena_printf(arena, "%0*u", (int)(i % 9) + 1, i));
        fb_keep(&b, &table, 1, n_vtables, &kept);
    }
    ck_status_ok(fill ? fb_fill_references(&b, first, places, count) : fb_flush(&b));
    return fb_size(&b);
}

START_TEST(streamed_in_pieces)
{
    enum { COUNT = 40000 };
    uint32_t *places = arena_array(arena, uint32_t, COUNT);
    text all = {0}, filled = {0};
    struct fb_fault fault;
    ck_assert_uint_eq(stream_boxes(places, COUNT, collect, fill_in, &filled), filled.count);
    memset(places, 0, COUNT * sizeof *places);
    uint64_t size = stream_boxes(places, COUNT, NULL, NULL, NULL);
    ck_assert_uint_gt(size, 1024 * 1024);
    ck_assert_uint_eq(stream_boxes(places, COUNT, collect, NULL, &all), size);
    ck_assert_uint_eq(all.count, size);
    ck_assert_uint_eq(filled.count, size);
    ck_assert_mem_eq(filled.data, all.data, size);
    const uint8_t *data = (const uint8_t *)all.data;
    ck_assert(fb_verify(data, all.count, &box, &fault));
    struct fb_vector boxes = fb_vector(root_of(data, all.count), BOX_CHILDREN, 4);
    ck_assert_uint_eq(boxes.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t meant = i > 1 && i % 3 == 2 ? i - 1 : i; /* the one before was kept */
        struct fb_table t = fb_table_at(boxes, i);
        ck_assert_str_eq(fb_string(t, BOX_NAME), arena_printf(arena, "%0*u", (int)(meant % 9) + 1, meant));
        ck_assert_uint_eq(fb_u8(t, BOX_TAG), 3);
        ck_assert_uint_eq(fb_place(t, BOX_NAME, 4) % 4, 0);
    }
}
END_TEST

static odlc_status refuse(void *user, const void *bytes, size_t size)
{
    size_t *calls = user;
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_gt(size, 0);
    return ++*calls == 2 ? ODLC_ERR_IO : ODLC_OK;
}

START_TEST(first_failure_of_the_sink)
{
    size_t calls = 0;
    struct fb_build b;
    fb_start_stream(&b, arena, refuse, &calls, "TEST");
    for (int i = 0; i < 4; i++) {
        fb_put_words(&b, FB_NOWHERE, NULL, 0);
        ck_assert_int_eq(fb_flush(&b), i == 0 ? ODLC_OK : ODLC_ERR_IO);
    }
    ck_assert_uint_eq(calls, 2);
}
END_TEST

/* Large ones, and those whose vtable is among their bytes, are not. */
START_TEST(what_is_kept)
{
    struct fb_build b;
    struct fb_kept kept;
    const struct fb_slot few[] = {FB_REF(BOX_NAME)};
    char name[FB_KEPT_BYTES] = {0};
    uint32_t start = fb_start(&b, arena, "TEST");
    struct fb_made table = fb_put_table(&b, start, few, 1);
    fb_put_string(&b, fb_slot_ref(&b, table, BOX_NAME), "a");
    fb_keep(&b, &table, 1, 0, &kept);
    ck_assert_uint_eq(kept.size, 0);
    fb_keep(&b, &table, 1, 1, &kept);
    ck_assert_uint_eq(kept.size, 8 + 4 + 2);
    memset(name, 'n', sizeof name - 1);
    table = fb_put_table(&b, start, few, 1);
    fb_put_string(&b, fb_slot_ref(&b, table, BOX_NAME), name);
    fb_keep(&b, &table, 1, 1, &kept);
    ck_assert_uint_eq(kept.size, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {round_trip,
                                  streamed_in_pieces,
                                  first_failure_of_the_sink,
                                  what_is_kept,
                                  equal_tables_share_their_vtable,
                                  vtable_behind_its_table,
                                  offsets_must_stay_inside,
                                  strings_must_end,
                                  nesting_is_limited,
                                  sharing_is_limited,
                                  shared_parts_count_each_time,
                                  vector_counts_are_checked};
    return run_tests("flatbuf", tests, COUNT_OF(tests));
}
