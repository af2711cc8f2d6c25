/* SPDX-License-Identifier: Apache-2.0 */
/* What rows of the field list make: a table of all kinds is put, verified, read, compared and taken, and no other line
 * knows of it. */
#include "dlc_fixture.h"

struct sample_record {
    uint8_t u8;
    bool flag, has_child;
    uint32_t u32, n_names;
    int32_t i32;
    double f32, f64;
    uint64_t u64;
    int64_t i64;
    const char *name;
    const struct shape *shape;
    const char *const *names;
};

#include "dlc/tables.h"

static const struct shape shape = {.rank = 2, .dims = {3, 70000}};
static const char *const names[] = {"", "two words"};

static struct sample_record full_record(void)
{
    return (struct sample_record){.u8 = 200,
                                  .flag = true,
                                  .has_child = true,
                                  .u32 = 4000000000,
                                  .n_names = 2,
                                  .i32 = -5,
                                  .f32 = 1.5,
                                  .f64 = 0.1,
                                  .u64 = 1ull << 40,
                                  .i64 = -(1ll << 40),
                                  .name = "full",
                                  .shape = &shape,
                                  .names = names};
}

static struct sample_record small_record(void)
{
    return (struct sample_record){.name = "small", .shape = &shape, .names = names};
}

/* The root, a full table, has two small ones as children, the word "behind", and bytes to which the far offset leads.
 */
static struct fb_build build(void)
{
    struct fb_build b;
    const struct sample_record full = full_record(), small = small_record();
    struct fb_made root = put_v4_sample(&b, fb_start(&b, arena, "TEST"), &full);
    fb_put_string(&b, fb_slot_ref(&b, root, SLOT_v4_sample_later_name), "behind");
    put_v4_sample(&b, fb_slot_ref(&b, root, SLOT_v4_sample_child), &small);
    put_v4_sample(&b, fb_put_references(&b, fb_slot_ref(&b, root, SLOT_v4_sample_children), 1), &small);
    fb_set_u64(&b, fb_slot_ref(&b, root, SLOT_v4_sample_far), fb_size(&b) - fb_slot_ref(&b, root, SLOT_v4_sample_far));
    fb_put_bytes(&b, fb_slot_ref(&b, root, SLOT_v4_sample_bytes), (const uint8_t *)"\x07\x08", 2);
    return b;
}

static struct fb_buffer built(void)
{
    struct fb_build b = build();
    return (struct fb_buffer){.data = b.out.data, .size = b.out.count, .is_aligned = true};
}

START_TEST(slots_and_description)
{
    ck_assert_int_eq(SLOT_v4_sample_u8, 0);
    ck_assert_int_eq(SLOT_v4_sample_far, 15);
    ck_assert_uint_eq(v4_sample.n_fields, 16);
    ck_assert_int_eq(v4_sample.fields[SLOT_v4_sample_flag].kind, FB_8);
    ck_assert_int_eq(v4_sample.fields[SLOT_v4_sample_i64].kind, FB_64);
    ck_assert_int_eq(v4_sample.fields[SLOT_v4_sample_child].kind, FB_TABLE);
    ck_assert_ptr_eq(v4_sample.fields[SLOT_v4_sample_child].type, &v4_sample);
    ck_assert_ptr_eq(v4_sample.fields[SLOT_v4_sample_bytes].type, FB_PAYLOAD);
    struct fb_fault fault;
    struct fb_buffer buffer = built();
    ck_assert(fb_verify(buffer.data, buffer.size, &v4_sample, &fault));
}
END_TEST

START_TEST(accessors)
{
    struct fb_buffer buffer = built();
    struct fb_table t = fb_root(&buffer);
    ck_assert_uint_eq(v4_sample_u8(t), 200);
    ck_assert(v4_sample_flag(t));
    ck_assert_uint_eq(v4_sample_u32(t), 4000000000);
    ck_assert_int_eq(v4_sample_i32(t), -5);
    ck_assert_double_eq(v4_sample_f32(t), 1.5);
    ck_assert_uint_eq(v4_sample_u64(t), 1ull << 41);
    ck_assert_int_eq(v4_sample_i64(t), -(1ll << 40));
    ck_assert_double_eq(v4_sample_f64(t), 0.1);
    ck_assert_str_eq(v4_sample_name(t), "full");
    ck_assert_str_eq(v4_sample_later_name(t), "behind");
    ck_assert_uint_eq(v4_sample_dims(t).count, 2);
    ck_assert_uint_eq(fb_word_at(v4_sample_dims(t), 1), 70000);
    ck_assert_str_eq(fb_string_at(v4_sample_names(t), 1), "two words");
    ck_assert_str_eq(v4_sample_name(v4_sample_child(t)), "small");
    ck_assert_uint_eq(v4_sample_children(t).count, 1);
    ck_assert_mem_eq(fb_bytes(v4_sample_bytes(t)), "\x07\x08", 2);
    ck_assert_uint_le(v4_sample_far(t), v4_sample_bytes(t).pos - 4);
    ck_assert(!buffer.failed);
}
END_TEST

START_TEST(left_out)
{
    struct fb_buffer buffer = built();
    struct fb_table t = fb_table_at(v4_sample_children(fb_root(&buffer)), 0);
    ck_assert_uint_eq(fb_place(t, SLOT_v4_sample_flag, 1), 0);
    ck_assert_uint_eq(fb_place(t, SLOT_v4_sample_u32, 4), 0);
    ck_assert_uint_eq(fb_place(t, SLOT_v4_sample_u64, 8), 0);
    ck_assert_uint_eq(fb_place(t, SLOT_v4_sample_f64, 8), 0);
    ck_assert_uint_ne(fb_place(t, SLOT_v4_sample_u8, 1), 0);
    ck_assert_uint_ne(fb_place(t, SLOT_v4_sample_i64, 8), 0);
    ck_assert_uint_eq(v4_sample_u32(t), 0);
    ck_assert_ptr_null(v4_sample_later_name(t));
    ck_assert_uint_eq(v4_sample_child(t).pos, 0);
    ck_assert_uint_eq(v4_sample_u32(v4_sample_child(t)), 0);
    ck_assert_uint_eq(v4_sample_children(t).count, 0);
    ck_assert_uint_eq(v4_sample_far(t), 0);
    ck_assert(!buffer.failed);
}
END_TEST

START_TEST(what_is_taken)
{
    struct fb_buffer buffer = built();
    struct sample_record r = {.u64 = 1, .f64 = 2, .n_names = 3};
    take_v4_sample(fb_root(&buffer), &r);
    ck_assert_uint_eq(r.u8, 200);
    ck_assert(r.flag);
    ck_assert_uint_eq(r.u32, 4000000000);
    ck_assert_int_eq(r.i32, -5);
    ck_assert_double_eq(r.f32, 1.5);
    ck_assert_int_eq(r.i64, -(1ll << 40));
    ck_assert_str_eq(r.name, "full");
    /* what is no MEMBER stays as it was */
    ck_assert_uint_eq(r.u64, 1);
    ck_assert_double_eq(r.f64, 2);
    ck_assert_uint_eq(r.n_names, 3);
    ck_assert_ptr_null(r.shape);
}
END_TEST

static bool is_same(const struct sample_record *meant)
{
    struct fb_buffer buffer = built();
    return same_v4_sample(fb_root(&buffer), meant);
}

#define DIFFERS(member, other)                        \
    do {                                              \
        struct sample_record changed = full_record(); \
        changed.member = other;                       \
        ck_assert_msg(!is_same(&changed), #member);   \
    } while (0)

START_TEST(each_difference_is_seen)
{
    static const struct shape other_dims = {.rank = 2, .dims = {3, 70001}}, longer = {.rank = 3, .dims = {3, 70000, 1}};
    static const char *const other_names[] = {"", "two wordz"};
    struct sample_record full = full_record(), small = small_record();
    struct fb_buffer buffer = built();
    ck_assert(is_same(&full));
    ck_assert(!is_same(&small));
    ck_assert(same_v4_sample(v4_sample_child(fb_root(&buffer)), &small));
    ck_assert(!same_v4_sample(v4_sample_child(fb_root(&buffer)), &full));
    DIFFERS(u8, 201);
    DIFFERS(flag, false);
    DIFFERS(u32, 4000000001);
    DIFFERS(i32, 5);
    DIFFERS(f32, 1.25);
    DIFFERS(f64, 0.2);
    DIFFERS(u64, (1ull << 40) + 1);
    DIFFERS(i64, 1ll << 40);
    DIFFERS(name, "fuller");
    DIFFERS(name, "ful");
    DIFFERS(shape, &other_dims);
    DIFFERS(shape, &longer);
    DIFFERS(names, other_names);
    DIFFERS(n_names, 1);
    DIFFERS(has_child, false);
}
END_TEST

/* Without a verification before it, the same reader stays inside the buffer and says that it would have left it. */
START_TEST(leaving_the_buffer_fails)
{
    struct fb_buffer whole = built();
    struct fb_vector far_away = v4_sample_bytes(fb_root(&whole));
    for (uint64_t size = 0; size < far_away.pos + 2; size++) {
        uint8_t *cut = memcpy(malloc(size + 1), whole.data, size);
        struct fb_buffer buffer = {.data = cut, .size = size};
        struct sample_record full = full_record();
        struct fb_table t = fb_root(&buffer);
        bool good = same_v4_sample(t, &full) && v4_sample_bytes(t).pos != 0;
        ck_assert_msg(!good && (buffer.failed || t.pos == 0), "%llu bytes", (unsigned long long)size);
        free(cut);
    }
}
END_TEST

START_TEST(alignment_is_asked_for)
{
    struct fb_build b = build();
    uint8_t *moved = arena_array(arena, uint8_t, b.out.count + 6);
    memcpy(moved + 6, b.out.data, b.out.count);
    store_le(moved, 4, 6 + load_le(b.out.data, 4));
    for (int is_aligned = 0; is_aligned < 2; is_aligned++) {
        struct fb_buffer buffer = {.data = moved, .size = b.out.count + 6, .is_aligned = is_aligned};
        ck_assert_uint_eq(fb_root(&buffer).pos == 0, is_aligned);
        ck_assert_uint_eq(buffer.failed, is_aligned);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        slots_and_description, accessors, left_out, what_is_taken, each_difference_is_seen, leaving_the_buffer_fails,
        alignment_is_asked_for};
    return run_tests("tables", tests, COUNT_OF(tests));
}
