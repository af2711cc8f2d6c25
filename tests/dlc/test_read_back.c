/* SPDX-License-Identifier: Apache-2.0 */
/* What is written wrongly is noticed before the container gets its name: every byte of the graph's description is
 * changed in turn on its way into the file, with a CRC that is right for the changed byte. */
#include "dlc_fixture.h"

#include "dlc/schema.h"
#include "dlc/write_container.h"

#define NOWHERE UINT64_MAX

/* A sink that passes on what it gets, with one byte changed. Zeros stay as they are: some are filled in later, and the
 * byte is changed then. */
struct damaging {
    struct zip_writer *zip;
    uint64_t at, passed;
    uint8_t before; /* the byte's value */
};

static odlc_status pass_on(void *user, const void *bytes, size_t size)
{
    struct damaging *d = user;
    const uint8_t *p = bytes;
    uint64_t from = d->passed;
    d->passed += size;
    if (d->at < from || d->at >= d->passed)
        return zip_write(d->zip, bytes, size);
    uint8_t changed = (d->before = p[d->at - from]) ? d->before ^ 1 : 0;
    TRY(zip_write(d->zip, p, d->at - from));
    TRY(zip_write(d->zip, &changed, 1));
    return zip_write(d->zip, p + (d->at - from) + 1, d->passed - d->at - 1);
}

static odlc_status fill_in(void *user, uint64_t position, const void *bytes, size_t size)
{
    struct damaging *d = user;
    uint8_t *p = arena_memdup(arena, bytes, size);
    if (d->at >= position && d->at < position + size) {
        d->before = p[d->at - position];
        p[d->at - position] ^= 1;
    }
    return zip_fill(d->zip, STREAM_HEADER + position, p, size);
}

struct written {
    struct dlc_writing w;
    struct dlc_records records;
    struct dlc_model model;
    struct dlc_params params;
    struct zip_writer zip;
    const char *path;
};

static void lay_out(struct written *x, bool netp)
{
    x->path = in_folder("damaged.dlc");
    x->w = (struct dlc_writing){.arena = arena, .diags = &diags, .path = x->path};
    x->zip = (struct zip_writer){.diags = &diags, .path = x->path};
    ck_status_ok(dlc_records_start(&x->w, sample_graph(arena), &x->records));
    dlc_model_start(&x->records, &x->model);
    ck_status_ok(dlc_measure_model(&x->model));
    ck_status_ok(dlc_lay_out_params(&x->records, netp, &x->params));
    ck_status_ok(out_create(arena, &diags, x->path, &x->zip.out));
}

static void begin(struct written *x, const char *entry, uint64_t size)
{
    static const uint8_t header[STREAM_HEADER] = {STREAM_MAGIC & 0xFF, STREAM_MAGIC >> 8, CONTAINER_MAJOR};
    ck_status_ok(zip_begin(&x->zip, entry, STREAM_HEADER + size, PAYLOAD_ALIGNMENT));
    ck_status_ok(zip_write(&x->zip, header, sizeof header));
}

/* Writes the sample with one byte of the model, or of the params' head, changed (NOWHERE: none). Gives its value. */
static uint8_t write_damaged(struct written *x, bool netp, uint64_t in_model, uint64_t in_head)
{
    struct damaging model = {.zip = &x->zip, .at = in_model}, head = {.zip = &x->zip, .at = in_head};
    lay_out(x, netp);
    ck_status_ok(zip_begin(&x->zip, "dlc.metadata", 4, 1));
    ck_status_ok(zip_write(&x->zip, "a=b\n", 4));
    ck_status_ok(zip_end(&x->zip));
    begin(x, "model", x->model.size);
    ck_status_ok(dlc_emit_model(&x->model, pass_on, fill_in, &model));
    ck_status_ok(zip_end(&x->zip));
    begin(x, "model.params", x->params.size);
    ck_status_ok(dlc_emit_params_head(&x->params, pass_on, &head));
    ck_status_ok(dlc_stream_payloads(&x->w, &x->params, &x->zip));
    ck_status_ok(zip_end(&x->zip));
    ck_status_ok(zip_finish(&x->zip));
    return in_model == NOWHERE ? head.before : model.before;
}

static odlc_status read_back(struct written *x)
{
    return dlc_read_back(&x->w, &x->zip, &x->model, &x->params);
}

/* Only zeros may change unnoticed: padding, and high bytes of what no reader looks at. */
static void damage_each_byte(bool netp, bool in_head)
{
    uint64_t size = 1;
    for (uint64_t at = 0; at < size; at++) {
        struct arena_mark mark = arena_mark(arena);
        struct written x;
        uint8_t before = write_damaged(&x, netp, in_head ? NOWHERE : at, in_head ? at : NOWHERE);
        size = in_head ? x.params.head_size : x.model.size;
        ck_assert_msg(read_back(&x) != ODLC_OK || before == 0, "byte %llu of %s was not noticed",
                      (unsigned long long)at, in_head ? "the head" : "the model");
        arena_rewind(arena, mark);
        diags_init(&diags, arena);
    }
}

START_TEST(intact)
{
    for (int netp = 0; netp < 2; netp++) {
        struct written x;
        write_damaged(&x, netp, NOWHERE, NOWHERE);
        ck_status_ok(read_back(&x));
    }
}
END_TEST

START_TEST(bytes_of_the_model)
{
    damage_each_byte(false, false);
}
END_TEST

START_TEST(bytes_of_the_head)
{
    damage_each_byte(false, true);
    damage_each_byte(true, true);
}
END_TEST

START_TEST(lengths_of_payloads)
{
    for (int netp = 0; netp < 2; netp++) {
        struct written x;
        struct dlc_payload payload;
        write_damaged(&x, netp, NOWHERE, NOWHERE);
        struct dlc_payload_walk walk = dlc_payloads(&x.params);
        uint64_t stream = x.zip.entries[ENTRY_PARAMS].offset + STREAM_HEADER;
        uint32_t count = 0;
        for (; dlc_next_payload(&walk, &payload); count++) {
            uint64_t at = stream + payload.pos - x.params.length_size;
            uint8_t length = (uint8_t)payload.size, wrong = length ^ 1;
            ck_status_ok(out_patch(x.zip.out, at, &wrong, 1));
            ck_assert_int_eq(read_back(&x), ODLC_ERR_INTERNAL);
            ck_status_ok(out_patch(x.zip.out, at, &length, 1));
        }
        ck_assert_uint_eq(count, 8);
        ck_status_ok(read_back(&x));
    }
}
END_TEST

/* Even padding, when it changes after its CRC was computed. */
START_TEST(bytes_that_differ_from_their_crc)
{
    struct written x;
    write_damaged(&x, false, NOWHERE, NOWHERE);
    for (uint32_t entry = ENTRY_METADATA; entry <= ENTRY_MODEL; entry++) {
        uint64_t at = x.zip.entries[entry].offset + x.zip.entries[entry].size - 1;
        ck_status_ok(out_patch(x.zip.out, at, "\xAA", 1));
        ck_assert_int_eq(read_back(&x), ODLC_ERR_INVALID);
        ck_assert_str_eq(last_diag()->code, "dlc-crc");
        ck_status_ok(out_patch(x.zip.out, at, entry == ENTRY_METADATA ? "\n" : "\0", 1));
    }
    ck_status_ok(read_back(&x));
}
END_TEST

START_TEST(headers_of_the_zip)
{
    struct written x;
    write_damaged(&x, false, NOWHERE, NOWHERE);
    for (uint32_t entry = 0; entry < x.zip.count; entry++) {
        uint8_t crc = (uint8_t)x.zip.entries[entry].crc, wrong = crc ^ 1;
        ck_status_ok(out_patch(x.zip.out, x.zip.headers[entry] + 14, &wrong, 1));
        ck_assert_int_ne(read_back(&x), ODLC_OK);
        ck_status_ok(out_patch(x.zip.out, x.zip.headers[entry] + 14, &crc, 1));
    }
    ck_status_ok(read_back(&x));
}
END_TEST

/* What is found names the op. */
START_TEST(the_op_is_named)
{
    struct written x;
    write_damaged(&x, false, NOWHERE, NOWHERE);
    const struct dlc_entry *entry = &x.zip.entries[ENTRY_MODEL];
    uint8_t *bytes = arena_alloc(arena, entry->size);
    ck_status_ok(out_flush(x.zip.out));
    ck_assert_int_eq(pread(out_fd(x.zip.out), bytes, entry->size, (off_t)entry->offset), (ssize_t)entry->size);
    const uint8_t *type = memmem(bytes, entry->size, "Transpose", 9);
    ck_assert_ptr_nonnull(type);
    write_damaged(&x, false, (uint64_t)(type - bytes) - STREAM_HEADER, NOWHERE);
    ck_assert_int_eq(read_back(&x), ODLC_ERR_INTERNAL);
    ck_assert_str_eq(last_diag()->node, "turn");
    ck_assert_str_eq(last_diag()->message, "the container that was written reads back differently: op turn");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {intact,
                                  bytes_of_the_model,
                                  bytes_of_the_head,
                                  lengths_of_payloads,
                                  bytes_that_differ_from_their_crc,
                                  headers_of_the_zip,
                                  the_op_is_named};
    return run_tests("read_back", tests, COUNT_OF(tests));
}
