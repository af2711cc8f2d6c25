/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: whole ones of every form, and each way in which one can be broken. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bundle_writer.h"
#include "converters/tensorflow/source/bundle.h"
#include "converters/tensorflow/source/sorted_table.h"

enum { TF_FLOAT = 1, TF_INT32 = 3, TF_STRING = 7, TF_COMPLEX64 = 8, TF_INT64 = 9, TF_BOOL = 10, TF_BFLOAT16 = 14 };

static struct arena *arena;
static struct diags diags;
static char folder[200];
static const char *prefix;

static void setup(void)
{
    const char *base = getenv("TMPDIR");
    arena = arena_create();
    diags_init(&diags, arena);
    snprintf(folder, sizeof folder, "%s/odlc-bundle-XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    prefix = arena_printf(arena, "%s/model", folder);
}

static void teardown(void)
{
    unlink(arena_printf(arena, "%s.index", prefix));
    for (unsigned shards = 1; shards < 4; shards++)
        for (unsigned i = 0; i < shards; i++)
            unlink(arena_printf(arena, "%s.data-%05u-of-%05u", prefix, i, shards));
    rmdir(folder);
    arena_destroy(arena);
}

/* ---- writing ---- */

static void save(const char *path, text bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes.count ? bytes.data : "", bytes.count), (ssize_t)bytes.count);
    close(fd);
}

static void save_index(text bytes)
{
    save(arena_printf(arena, "%s.index", prefix), bytes);
}

static void save_shard(unsigned i, unsigned n, text bytes)
{
    save(arena_printf(arena, "%s.data-%05u-of-%05u", prefix, i, n), bytes);
}

#define DIMS(...) (int64_t[]){__VA_ARGS__}, COUNT_OF(((int64_t[]){__VA_ARGS__}))

static struct table_writer begin(void)
{
    struct table_writer w = {.arena = arena};
    table_add(&w, "", 0, header_of(arena, 1, 0, 0));
    return w;
}

static void add(struct table_writer *w, const char *key, text entry)
{
    table_add(w, key, strlen(key), entry);
}

/* Elements at the end of the shard, and their entry. */
static text stored(text *shard, int type, const int64_t *dims, size_t rank, const void *bytes, size_t size)
{
    int64_t offset = (int64_t)shard->count;
    put(arena, shard, bytes, size);
    return entry_of(arena, type, dims, rank, 0, offset, (int64_t)size, masked(plain_crc32c(0, bytes, size)));
}

static const float pair[] = {1.5f, -2.0f};

/* A bundle of the float32 tensor "w" of 2 elements and this entry. */
static void save_pair(text entry)
{
    text shard = {0};
    struct table_writer w = begin();
    put(arena, &shard, pair, sizeof pair);
    add(&w, "w", entry);
    save_index(table_end(&w));
    save_shard(0, 1, shard);
}

static text pair_entry(void)
{
    return entry_of(arena, TF_FLOAT, DIMS(2), 0, 0, 8, masked(plain_crc32c(0, pair, 8)));
}

/* ---- reading ---- */

static struct bundle *opened(void)
{
    struct bundle *b;
    odlc_status status = bundle_open(arena, &diags, model_folder_of(arena, prefix, false), prefix, &b);
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "?");
    return b;
}

static struct view found(struct bundle *b, const char *key)
{
    struct view view;
    bool is;
    odlc_status status = bundle_find(b, key, &is, &view);
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "?");
    ck_assert_msg(is, "%s", key);
    return view;
}

/* The one error that was reported. */
static void reported(odlc_status status, odlc_status expected, const char *code, const char *file, const char *part)
{
    ck_assert_int_eq(status, expected);
    ck_assert_uint_eq(diags.list.count, 1);
    const struct odlc_diag *d = &diags.list.data[0];
    ck_assert_str_eq(d->code, code);
    ck_assert_msg(strstr(d->message, part), "%s", d->message);
    ck_assert_msg(d->file && strstr(d->file, file), "%s", d->file);
    diags_init(&diags, arena);
}

static void not_opened(odlc_status expected, const char *code, const char *part)
{
    struct bundle *b;
    reported(bundle_open(arena, &diags, model_folder_of(arena, prefix, false), prefix, &b), expected, code,
             "/model.index", part);
}

static void not_found_in(const char *file, const char *key, odlc_status expected, const char *code, const char *part)
{
    struct view view;
    bool is;
    reported(bundle_find(opened(), key, &is, &view), expected, code, file, part);
}

static void not_found(const char *key, odlc_status expected, const char *code, const char *part)
{
    not_found_in("/model.index", key, expected, code, part);
}

/* ---- whole bundles ---- */

START_TEST(test_types)
{
    static const int64_t longs[] = {INT64_MIN, -1, INT64_MAX};
    static const uint16_t brains[] = {0x3f80, 0xc000};
    static const uint8_t flags[] = {1, 0, 1, 1};
    text shard = {0};
    struct table_writer w = begin();
    add(&w, "bool", stored(&shard, TF_BOOL, DIMS(2, 2), flags, sizeof flags));
    add(&w, "brain", stored(&shard, TF_BFLOAT16, DIMS(1, 2, 1), brains, sizeof brains));
    add(&w, "empty", stored(&shard, TF_FLOAT, DIMS(4, 0, 2), "", 0));
    add(&w, "long", stored(&shard, TF_INT64, DIMS(3), longs, sizeof longs));
    add(&w, "reference", stored(&shard, 100 + TF_FLOAT, DIMS(2), pair, sizeof pair));
    add(&w, "scalar", stored(&shard, TF_FLOAT, NULL, 0, pair, sizeof pair[0]));
    save_index(table_end(&w));
    save_shard(0, 1, shard);

    struct bundle *b = opened();
    struct view v = found(b, "long");
    ck_assert_int_eq(v.dtype, DT_INT64);
    ck_assert_mem_eq(v.bytes, longs, sizeof longs);
    ck_assert_ptr_nonnull(v.file);
    ck_assert_ptr_eq(v.bytes, v.file->data + 8); /* a view of the shard, not a copy */
    v = found(b, "bool");
    ck_assert_int_eq(v.dtype, DT_BOOL);
    ck_assert(shape_equal(&v.shape, &SHAPE(2, 2)));
    ck_assert_mem_eq(v.bytes, flags, sizeof flags);
    v = found(b, "brain");
    ck_assert_int_eq(v.dtype, DT_BFLOAT16);
    ck_assert_mem_eq(v.bytes, brains, sizeof brains);
    v = found(b, "empty");
    ck_assert(shape_equal(&v.shape, &SHAPE(4, 0, 2)));
    ck_assert_int_eq(found(b, "reference").dtype, DT_FLOAT32);
    v = found(b, "scalar");
    ck_assert_uint_eq(v.shape.rank, 0);
    ck_assert_mem_eq(v.bytes, &pair[0], sizeof pair[0]);
}
END_TEST

START_TEST(test_lists)
{
    save_pair(pair_entry());
    struct bundle *b = opened();
    struct view view;
    bool is = true;
    size_t n;
    ck_assert_int_eq(bundle_find(b, "none", &is, &view), ODLC_OK);
    ck_assert(!is);
    is = true;
    ck_assert_int_eq(bundle_find(b, "", &is, &view), ODLC_OK); /* the header is no tensor */
    ck_assert(!is);
    ck_assert_str_eq(bundle_keys(b, &n)[0], "w");
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(bundle_files(b, &n)[0], arena_printf(arena, "%s.index", prefix));
    ck_assert_uint_eq(n, 1);
    found(b, "w");
    found(b, "w");
    ck_assert_str_eq(bundle_files(b, &n)[1], arena_printf(arena, "%s.data-00000-of-00001", prefix));
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(diags.list.count, 0);
}
END_TEST

START_TEST(test_checked_once)
{
    save_pair(pair_entry());
    struct bundle *b = opened();
    ck_assert_mem_eq(found(b, "w").bytes, pair, sizeof pair);
    int fd = open(arena_printf(arena, "%s.data-00000-of-00001", prefix), O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, "\1", 1, 0), 1);
    close(fd);
    ck_assert_int_eq(found(b, "w").bytes[0], 1); /* a view of the same bytes: nobody reads them a second time */
}
END_TEST

/* Many entries, in blocks of 50, compressed or not; keys that share most of what they have. */
START_TEST(test_many)
{
    enum { MANY = 2000 };
    text shard = {0};
    struct table_writer w = begin();
    w.per_block = 50;
    w.compressed = _i;
    for (int32_t i = 0; i < MANY; i++)
        add(&w, arena_printf(arena, "model/layer-%04d/kernel/.ATTRIBUTES/VARIABLE_VALUE", i),
            stored(&shard, TF_INT32, DIMS(1), &i, sizeof i));
    text index = table_end(&w);
    save_index(index);
    save_shard(0, 1, shard);
    if (_i)
        ck_assert_uint_lt(index.count, MANY * 25);
    struct bundle *b = opened();
    for (int32_t i = MANY; i-- > 0;) {
        struct view v = found(b, arena_printf(arena, "model/layer-%04d/kernel/.ATTRIBUTES/VARIABLE_VALUE", i));
        ck_assert_mem_eq(v.bytes, &i, sizeof i);
    }
    size_t n;
    bundle_keys(b, &n);
    ck_assert_uint_eq(n, MANY);
}
END_TEST

START_TEST(test_shards)
{
    text shards[3] = {{0}};
    struct table_writer w = {.arena = arena};
    table_add(&w, "", 0, header_of(arena, 3, 0, 1));
    for (int32_t i = 0; i < 3; i++) {
        put(arena, &shards[i], &i, 4);
        add(&w, arena_printf(arena, "v%d", i),
            entry_of(arena, TF_INT32, DIMS(1), i, 0, 4, masked(plain_crc32c(0, &i, 4))));
        if (i != 1)
            save_shard((unsigned)i, 3, shards[i]);
    }
    save_index(table_end(&w));
    struct bundle *b = opened();
    ck_assert_int_eq(found(b, "v2").bytes[0], 2);
    ck_assert_int_eq(found(b, "v0").bytes[0], 0);
    size_t n;
    bundle_files(b, &n);
    ck_assert_uint_eq(n, 3); /* no shard is opened that is not needed */
    not_found_in("/model.data-00001-of-00003", "v1", ODLC_ERR_IO, "io", "cannot open");
}
END_TEST

/* ---- strings ---- */

/* A tensor of strings as the shard has it, and the entry's CRC. */
struct saved_strings {
    text bytes;
    uint32_t crc;
};

static struct saved_strings strings_of(size_t n, const char *const *strings, const size_t *sizes)
{
    text t = {0};
    uint32_t crc = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t fixed[4];
        store_le(fixed, 4, sizes[i]);
        put_varint(arena, &t, sizes[i]);
        crc = plain_crc32c(crc, fixed, 4);
    }
    put_le(arena, &t, 4, masked(crc));
    crc = plain_crc32c(crc, t.data + t.count - 4, 4);
    for (size_t i = 0; i < n; i++) {
        put(arena, &t, strings[i], sizes[i]);
        crc = plain_crc32c(crc, strings[i], sizes[i]);
    }
    return (struct saved_strings){t, crc};
}

static void save_strings(struct saved_strings s, int64_t n)
{
    struct table_writer w = begin();
    add(&w, "s", entry_of(arena, TF_STRING, DIMS(n), 0, 0, (int64_t)s.bytes.count, masked(s.crc)));
    save_index(table_end(&w));
    save_shard(0, 1, s.bytes);
}

START_TEST(test_strings)
{
    char *long_one = arena_alloc(arena, 301);
    memset(long_one, 'x', 300);
    save_strings(strings_of(3, (const char *[]){"one", "", long_one}, (size_t[]){3, 0, 300}), 3);
    struct view v = found(opened(), "s");
    ck_assert_int_eq(v.dtype, DT_STRING);
    ck_assert(shape_equal(&v.shape, &SHAPE(3)));
    ck_assert_str_eq(v.strings[0], "one");
    ck_assert_str_eq(v.strings[1], "");
    ck_assert_str_eq(v.strings[2], long_one);
    save_strings(strings_of(0, NULL, NULL), 0);
    v = found(opened(), "s");
    ck_assert(shape_equal(&v.shape, &SHAPE(0)));
}
END_TEST

START_TEST(test_string_of_any_bytes)
{
    struct file bytes;
    bool is;
    save_strings(strings_of(1, (const char *[]){"a\0b"}, (size_t[]){3}), 1);
    not_found_in("/model.data", "s", ODLC_ERR_UNSUPPORTED, "checkpoint-nul", "a NUL byte");
    ck_assert_int_eq(bundle_find_bytes(opened(), "s", &is, &bytes), ODLC_OK);
    ck_assert(is);
    ck_assert_uint_eq(bytes.size, 3);
    ck_assert_mem_eq(bytes.data, "a\0b", 3);
    ck_assert_int_eq(bundle_find_bytes(opened(), "t", &is, &bytes), ODLC_OK);
    ck_assert(!is);
    save_strings(strings_of(2, (const char *[]){"a", "b"}, (size_t[]){1, 1}), 2);
    reported(bundle_find_bytes(opened(), "s", &is, &bytes), ODLC_ERR_INVALID, "checkpoint-entry", "/model.index",
             "is not one string");
}
END_TEST

START_TEST(test_broken_strings)
{
    struct saved_strings whole = strings_of(2, (const char *[]){"ab", "c"}, (size_t[]){2, 1});
    save_strings(whole, 3); /* "\2\1", 4 bytes of CRC, "abc" */
    not_found_in("/model.data", "s", ODLC_ERR_INVALID, "checkpoint-data", "the strings that its shape asks for");
    save_strings(whole, INT64_C(1) << 50);
    not_found_in("/model.data", "s", ODLC_ERR_INVALID, "checkpoint-data", "the strings that its shape asks for");
    static const struct {
        size_t at;
        const char *message;
    } flips[] = {{0, "the strings that its shape asks for"}, {3, "not those that were saved"}, {7, "the checksum"}};
    for (size_t i = 0; i < COUNT_OF(flips); i++) {
        whole.bytes.data[flips[i].at] ^= 1;
        save_strings(whole, 2);
        not_found_in("/model.data", "s", ODLC_ERR_INVALID, "checkpoint-data", flips[i].message);
        whole.bytes.data[flips[i].at] ^= 1;
    }
    whole.bytes.data[0] = 1; /* lengths of the same sum */
    whole.bytes.data[1] = 2;
    save_strings(whole, 2);
    not_found_in("/model.data", "s", ODLC_ERR_INVALID, "checkpoint-data", "lengths are not those that were saved");
}
END_TEST

/* ---- slices ---- */

/* Keys of slices as TensorFlow writes them. */
#define KEY(bytes) (bytes), sizeof(bytes) - 1
static const char top_key[] = "\0v\0\1\1\2\x80\x82\x80\x7f", left_key[] = "\0v\0\1\1\2\x82\x82\x80\x81",
                  right_key[] = "\0v\0\1\1\2\x82\x82\x81\x82";

static void put_slice(text *entry, const int64_t (*extents)[2], size_t rank)
{
    text slice = {0};
    for (size_t i = 0; i < rank; i++) {
        text extent = {0};
        put_int(arena, &extent, 1, extents[i][0]);
        if (extents[i][1] >= 0)
            put_int(arena, &extent, 2, extents[i][1]);
        put_message(arena, &slice, 1, extent);
    }
    put_message(arena, entry, 7, slice);
}

static const int64_t top[][2] = {{0, 2}, {0, -1}}, left[][2] = {{2, 2}, {0, 1}}, right[][2] = {{2, 2}, {1, 2}};

struct slices_case {
    int64_t rows, columns;          /* of the whole */
    const int64_t (*slices[3])[2];  /* NULL: left out */
    int64_t right_columns;          /* that the entry of the right slice has */
    bool without_right, right_type; /* its entry is left out, or of another type */
};

/* v of 4 × 3, cut in a row of two rows, and below it in a column of one and one of two. */
static void save_slices(const struct slices_case *c)
{
    static const int32_t top_data[] = {0, 1, 2, 3, 4, 5}, left_data[] = {6, 9}, right_data[] = {7, 8, 10, 11};
    text shard = {0}, whole = entry_head(arena, TF_INT32, (int64_t[]){c->rows, c->columns}, 2);
    struct table_writer w = begin();
    for (size_t i = 0; i < 3; i++)
        if (c->slices[i])
            put_slice(&whole, c->slices[i], 2);
    table_add(&w, KEY(top_key), stored(&shard, TF_INT32, DIMS(2, 3), top_data, sizeof top_data));
    table_add(&w, KEY(left_key), stored(&shard, TF_INT32, DIMS(2, 1), left_data, sizeof left_data));
    if (!c->without_right)
        table_add(&w, KEY(right_key),
                  stored(&shard, c->right_type ? TF_FLOAT : TF_INT32, DIMS(2, c->right_columns), right_data,
                         sizeof right_data));
    add(&w, "v", whole);
    save_index(table_end(&w));
    save_shard(0, 1, shard);
}

START_TEST(test_slices)
{
    save_slices(&(struct slices_case){4, 3, {top, right, left}, 2, false, false});
    struct bundle *b = opened();
    struct view v = found(b, "v");
    ck_assert_int_eq(v.dtype, DT_INT32);
    ck_assert(shape_equal(&v.shape, &SHAPE(4, 3)));
    for (int32_t i = 0; i < 12; i++)
        ck_assert_int_eq(((const int32_t *)v.bytes)[i], i);
    ck_assert_ptr_eq(found(b, "v").bytes, v.bytes); /* put together once */
    size_t n;
    ck_assert_str_eq(bundle_keys(b, &n)[0], "v");
    ck_assert_uint_eq(n, 1);
}
END_TEST

/* As a key has numbers from 0 on: in a byte below 64, and in two. */
static void put_ordered(text *key, unsigned number)
{
    if (number >= 64)
        put(arena, key, (const char[]){(char)(0xc0 | number >> 8)}, 1);
    put(arena, key, (const char[]){(char)(number < 64 ? 0x80 | number : number)}, 1);
}

/* v of `count` elements, a slice each. */
static void save_single_slices(unsigned count)
{
    text shard = {0}, whole = entry_head(arena, TF_INT32, (int64_t[]){count}, 1);
    struct table_writer w = begin();
    for (unsigned i = 0; i < count; i++) {
        text key = {0};
        put(arena, &key, "\0v\0\1\1\1", 6);
        put_ordered(&key, i);
        put(arena, &key, "\x81", 1);
        put_slice(&whole, (const int64_t[][2]){{i, 1}}, 1);
        table_add(&w, key.data, key.count, stored(&shard, TF_INT32, DIMS(1), &(int32_t){(int32_t)i}, sizeof(int32_t)));
    }
    add(&w, "v", whole);
    save_index(table_end(&w));
    save_shard(0, 1, shard);
}

START_TEST(test_number_of_slices)
{
    save_single_slices(4096);
    struct view v = found(opened(), "v");
    ck_assert(shape_equal(&v.shape, &SHAPE(4096)));
    for (int32_t i = 0; i < 4096; i++)
        ck_assert_int_eq(((const int32_t *)v.bytes)[i], i);
    save_single_slices(4097);
    not_found("v", ODLC_ERR_UNSUPPORTED, "checkpoint-slices", "tensor 'v' is saved in 4097 slices, more than 4096");
}
END_TEST

START_TEST(test_broken_slices)
{
    static const int64_t beyond[][2] = {{2, 3}, {1, 2}}, below[][2] = {{-1, 2}, {1, 2}};
    static const struct {
        struct slices_case c;
        const char *message;
    } cases[] = {
        {{4, 3, {top, left, NULL}, 2, false, false}, "which do not fill it"},
        {{4, 3, {top, top, NULL}, 2, false, false}, "two of which overlap"},
        {{4, 3, {top, left, right}, 2, true, false}, "one of which is missing"},
        {{4, 3, {top, left, right}, 2, false, true}, "another type or shape"},
        {{4, 3, {top, left, beyond}, 2, false, false}, "reaches over its edge"},
        {{4, 3, {top, left, below}, 2, false, false}, "reaches over its edge"},
        {{5, 3, {top, left, right}, 2, false, false}, "which do not fill it"},
        {{4, 4, {top, left, right}, 2, false, false}, "another type or shape"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        save_slices(&cases[i].c);
        not_found("v", ODLC_ERR_INVALID, "checkpoint-slices", cases[i].message);
    }
}
END_TEST

/* v of 4 elements in two slices of two, which begin at 0 and at `second`. */
static void save_two_spans(unsigned second)
{
    static const int32_t data[] = {5, 6};
    text shard = {0}, whole = entry_head(arena, TF_INT32, DIMS(4));
    struct table_writer w = begin();
    for (unsigned start = 0;; start = second) {
        text key = {0};
        put(arena, &key, "\0v\0\1\1\1", 6);
        put_ordered(&key, start);
        put(arena, &key, "\x82", 1);
        put_slice(&whole, (const int64_t[][2]){{start, 2}}, 1);
        table_add(&w, key.data, key.count, stored(&shard, TF_INT32, DIMS(2), data, sizeof data));
        if (start == second)
            break;
    }
    add(&w, "v", whole);
    save_index(table_end(&w));
    save_shard(0, 1, shard);
}

/* As many elements as the whole has, but one of them twice. */
START_TEST(test_slices_that_overlap_by_one)
{
    save_two_spans(1);
    not_found("v", ODLC_ERR_INVALID, "checkpoint-slices", "two of which overlap");
    save_two_spans(2);
    const int32_t expected[] = {5, 6, 5, 6};
    ck_assert_mem_eq(found(opened(), "v").bytes, expected, sizeof expected);
}
END_TEST

START_TEST(test_slices_of_other_rank)
{
    for (size_t rank = 1; rank < 4; rank += 2) {
        text whole = entry_head(arena, TF_INT32, DIMS(2, 2));
        put_slice(&whole, (const int64_t[][2]){{0, -1}, {0, -1}, {0, -1}}, rank);
        save_pair(whole);
        not_found("w", ODLC_ERR_INVALID, "checkpoint-slices", rank == 1 ? "too few axes" : "too many axes");
    }
}
END_TEST

/* A slice that is itself in slices would lead anywhere, itself included. */
START_TEST(test_slices_of_slices)
{
    static const int64_t all[][2] = {{0, -1}};
    text whole = entry_head(arena, TF_INT32, DIMS(2));
    put_slice(&whole, all, 1);
    struct table_writer w = begin();
    table_add(&w, KEY("\0v\0\1\1\1\x80\x7f"), whole);
    add(&w, "v", whole);
    save_index(table_end(&w));
    not_found("v", ODLC_ERR_INVALID, "checkpoint-slices", "another type or shape");
}
END_TEST

/* Two slices of the same 4 KiB would make 8 KiB out of a file of 4. */
START_TEST(test_slices_of_same_bytes)
{
    enum { SIZE = 4096 };
    static const int64_t first[][2] = {{0, SIZE}}, second[][2] = {{SIZE, SIZE}};
    text shard = {0}, whole = entry_head(arena, TF_BOOL, DIMS(2 * SIZE));
    put_slice(&whole, first, 1);
    put_slice(&whole, second, 1);
    char *zeros = arena_alloc(arena, SIZE);
    text entry = stored(&shard, TF_BOOL, DIMS(SIZE), zeros, SIZE);
    struct table_writer w = begin();
    table_add(&w, KEY("\0v\0\1\1\1\x80\xd0\x00"), entry);
    table_add(&w, KEY("\0v\0\1\1\1\xd0\x00\xd0\x00"), entry);
    add(&w, "v", whole);
    save_index(table_end(&w));
    save_shard(0, 1, shard);
    not_found("v", ODLC_ERR_INVALID, "checkpoint-slices", "larger than the files that hold them");
}
END_TEST

/* Rows of nothing are no rows to copy, however many there are. */
START_TEST(test_slices_of_nothing)
{
    static const int64_t part[][2] = {{0, -1}, {0, 2}, {0, -1}};
    text shard = {0}, whole = entry_head(arena, TF_INT32, DIMS(1 << 26, 4, 0));
    put_slice(&whole, part, 3);
    struct table_writer w = begin();
    table_add(&w, KEY("\0v\0\1\1\3\x80\x7f\x80\x82\x80\x7f"), stored(&shard, TF_INT32, DIMS(1 << 26, 2, 0), "", 0));
    add(&w, "v", whole);
    save_index(table_end(&w));
    save_shard(0, 1, shard);
    ck_assert_int_eq(found(opened(), "v").shape.dims[1], 4);
}
END_TEST

/* ---- entries ---- */

/* Tensors of the same bytes: reading each would take time that the file is too small for. */
START_TEST(test_shared_bytes)
{
    enum { COUNT = 3 };
    static const char keys[COUNT][2] = {"a", "b", "c"};
    text shard = {0}, entry = stored(&shard, TF_INT32, DIMS(2), "12345678", 8);
    struct table_writer w = begin();
    for (size_t i = 0; i < COUNT; i++)
        add(&w, keys[i], entry);
    save_index(table_end(&w));
    save_shard(0, 1, shard);
    struct bundle *b = opened();
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(found(b, keys[i]).shape.dims[0], 2);
    bool is;
    struct view v;
    ck_assert_int_eq(bundle_find(b, keys[2], &is, &v), ODLC_ERR_INVALID);
    ck_assert_str_eq(diags.list.data[0].code, "checkpoint-data");
    ck_assert_ptr_nonnull(strstr(diags.list.data[0].message, "'c' shares its bytes with others"));
}
END_TEST

START_TEST(test_broken_entries)
{
    uint32_t crc = masked(plain_crc32c(0, pair, 8));
    save_pair(entry_of(arena, TF_FLOAT, DIMS(3), 0, 0, 8, crc));
    not_found("w", ODLC_ERR_INVALID, "checkpoint-entry", "'w' of float32[3] has 8 bytes");
    save_pair(entry_of(arena, TF_FLOAT, DIMS(2), 1, 0, 8, crc));
    not_found("w", ODLC_ERR_INVALID, "checkpoint-entry", "in shard 1 of 1");
    save_pair(entry_of(arena, TF_FLOAT, DIMS(2), -1, 0, 8, crc));
    not_found("w", ODLC_ERR_INVALID, "checkpoint-entry", "in shard -1 of 1");
    save_pair(entry_of(arena, TF_FLOAT, DIMS(-2), 0, 0, 8, crc));
    not_found("w", ODLC_ERR_INVALID, "checkpoint-entry", "the impossible shape [-2]");
    save_pair(entry_of(arena, TF_FLOAT, DIMS(INT64_MAX, INT64_MAX), 0, 0, 8, crc));
    not_found("w", ODLC_ERR_INVALID, "checkpoint-entry", "the impossible shape");
    save_pair(entry_of(arena, TF_FLOAT, DIMS(1, 1, 1, 1, 1, 1, 1, 1, 2), 0, 0, 8, crc));
    not_found("w", ODLC_ERR_UNSUPPORTED, "checkpoint-rank", "more than 8 dimensions");
    save_pair(entry_of(arena, TF_COMPLEX64, DIMS(1), 0, 0, 8, crc));
    not_found("w", ODLC_ERR_UNSUPPORTED, "checkpoint-dtype", "complex64");
    save_pair(entry_of(arena, 99, DIMS(1), 0, 0, 8, crc));
    not_found("w", ODLC_ERR_UNSUPPORTED, "checkpoint-dtype", "an unknown type");
    text cut = pair_entry();
    cut.count--;
    save_pair(cut);
    not_found("w", ODLC_ERR_INVALID, "checkpoint-entry", "the entry 'w' is broken");
    text open_shape = {0}, rank_unknown = {0};
    put_int(arena, &rank_unknown, 3, 1);
    put_message(arena, &open_shape, 2, rank_unknown);
    save_pair(open_shape);
    not_found("w", ODLC_ERR_INVALID, "checkpoint-entry", "no known shape");
}
END_TEST

START_TEST(test_broken_data)
{
    uint32_t crc = masked(plain_crc32c(0, pair, 8));
    save_pair(entry_of(arena, TF_FLOAT, DIMS(2), 0, 0, 8, crc ^ 1));
    not_found_in("/model.data-00000-of-00001", "w", ODLC_ERR_INVALID, "checkpoint-data",
                 "the checkpoint is damaged: tensor 'w' does not have the checksum");
    static const int64_t beyond[] = {1, 8, INT64_MAX, -1, INT64_MIN};
    for (size_t i = 0; i < COUNT_OF(beyond); i++) {
        save_pair(entry_of(arena, TF_FLOAT, DIMS(2), 0, beyond[i], 8, crc));
        not_found_in("/model.data-00000-of-00001", "w", ODLC_ERR_INVALID, "checkpoint-data", "beyond the end");
    }
    save_pair(entry_of(arena, TF_STRING, DIMS(2), 0, 0, -8, crc));
    not_found_in("/model.data-00000-of-00001", "w", ODLC_ERR_INVALID, "checkpoint-data", "beyond the end");
}
END_TEST

/* ---- headers ---- */

static void save_header(text header)
{
    struct table_writer w = {.arena = arena};
    table_add(&w, "", 0, header);
    add(&w, "w", pair_entry());
    save_index(table_end(&w));
}

START_TEST(test_headers)
{
    save_header(header_of(arena, 1, 1, 0));
    not_opened(ODLC_ERR_UNSUPPORTED, "checkpoint-endianness", "big-endian");
    save_header(header_of(arena, 1, 0, 2));
    not_opened(ODLC_ERR_UNSUPPORTED, "checkpoint-version", "version 2");
    save_header(header_of(arena, -1, 0, 0));
    not_opened(ODLC_ERR_INVALID, "checkpoint-index", "-1 shards");
    save_header(header_of(arena, 99999, 0, 0));
    opened();
    save_header(header_of(arena, 100000, 0, 0));
    not_opened(ODLC_ERR_INVALID, "checkpoint-index", "100000 shards");
    text broken = {0};
    put(arena, &broken, "\xff", 1);
    save_header(broken);
    not_opened(ODLC_ERR_INVALID, "checkpoint-entry", "the entry '' is broken");
    struct table_writer w = {.arena = arena};
    add(&w, "w", pair_entry());
    save_index(table_end(&w));
    not_opened(ODLC_ERR_INVALID, "checkpoint-index", "no header");
}
END_TEST

START_TEST(test_no_index)
{
    not_opened(ODLC_ERR_IO, "io", "cannot open");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bundle");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_types);
    tcase_add_test(tests, test_lists);
    tcase_add_test(tests, test_checked_once);
    tcase_add_loop_test(tests, test_many, 0, 2);
    tcase_add_test(tests, test_shards);
    tcase_add_test(tests, test_strings);
    tcase_add_test(tests, test_string_of_any_bytes);
    tcase_add_test(tests, test_broken_strings);
    tcase_add_test(tests, test_slices);
    tcase_add_test(tests, test_number_of_slices);
    tcase_add_test(tests, test_broken_slices);
    tcase_add_test(tests, test_slices_that_overlap_by_one);
    tcase_add_test(tests, test_slices_of_other_rank);
    tcase_add_test(tests, test_slices_of_slices);
    tcase_add_test(tests, test_slices_of_same_bytes);
    tcase_add_test(tests, test_slices_of_nothing);
    tcase_add_test(tests, test_shared_bytes);
    tcase_add_test(tests, test_broken_entries);
    tcase_add_test(tests, test_broken_data);
    tcase_add_test(tests, test_headers);
    tcase_add_test(tests, test_no_index);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
