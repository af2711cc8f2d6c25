/* SPDX-License-Identifier: Apache-2.0 */
#include "store_faults.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"

enum { MUTATIONS = 200, LONG_MUTATIONS = 100000 };

struct content content_read(const char *path)
{
    struct content c = {.size = 0};
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    c.size = fread(c.data, 1, sizeof(c.data), f);
    (void)fclose(f);
    return c;
}

void content_write(const char *path, const void *data, size_t size)
{
    (void)unlink(path); /* disks wait for files that are cut */
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
}

static void put_number(struct content *c, size_t at, uint64_t value, size_t size)
{
    memcpy(c->data + at, &value, size);
}

void content_sign(struct content *c)
{
    static const uint64_t key[2] = {0x6f70656e646c6331, 0x6770756b65726e31};
    put_number(c, AT_SUM, hash_bytes(key, c->data + AT_ENTRIES, c->size - AT_ENTRIES), 8);
}

static void try_bytes(struct faults *f, const void *data, size_t size, enum fault fault)
{
    content_write(f->path, data, size);
    f->cases++;
    f->expect(fault);
}

/* What begins as the format has it is damaged, else foreign. */
static void try_content(struct faults *f, const struct content *c)
{
    const size_t known = c->size < 8 ? c->size : 8;
    try_bytes(f, c->data, c->size,
              c->size == 0                              ? FAULT_ABSENT
              : memcmp(c->data, f->letters, known) == 0 ? FAULT_DAMAGED
                                                        : FAULT_FOREIGN);
}

static void truncate_and_extend(struct faults *f)
{
    static const size_t sizes[] = {0, 1, 7, 8, 12, 16, 31, 32, 40, 47, 48, 49, 80, 143, 144, 145, 2000};
    struct content c = f->sound;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        c.size = sizes[i];
        try_content(f, &c);
    }
    for (int more = -1; more <= 1; more++) {
        c.size = f->sound.size + (size_t)more;
        if (more)
            try_content(f, &c);
    }
}

static void change_bytes(struct faults *f)
{
    static const size_t places[] = {0,           7,      AT_VERSION, AT_IDENTITY, AT_IDENTITY + 15, AT_SIZE,
                                    AT_SIZE + 7, AT_SUM, 47,         48,          AT_ENTRIES + 16,  AT_ENTRIES + 24,
                                    144,         145,    3000};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct content c = f->sound;
        c.data[places[i]] ^= (uint8_t)(1U << i % 8);
        try_content(f, &c);
    }
    struct content c = f->sound;
    c.data[c.size - 1] ^= 0x80;
    try_content(f, &c);
}

/* With sums that are right. */
static void lie_about_entries(struct faults *f)
{
    static const uint64_t offsets[] = {6000, UINT64_MAX, UINT64_MAX / 2, (uint64_t)1 << 32};
    static const uint32_t counts[] = {65537, UINT32_MAX, 1U << 31, 65536, 4096};
    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        struct content c = f->sound;
        put_number(&c, AT_ENTRIES + ENTRY + 16 + 8 * (i % 2), offsets[i], 8);
        content_sign(&c);
        try_content(f, &c);
    }
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct content c = f->sound;
        put_number(&c, AT_COUNT, counts[i], 4);
        try_content(f, &c);
    }
}

static void put_foreign_files(struct faults *f)
{
    const char *const foreign[] = {"\177ELF\2\1\1", "{\"kernels\": []}\n", "ODLCGPUXODLCGPUXODLCGPUXODLCGPUX"};
    const struct content zeros = {.size = 4096};
    char letters[64] = "";
    for (size_t i = 0; i < COUNT_OF(foreign); i++)
        try_bytes(f, foreign[i], strlen(foreign[i]), FAULT_FOREIGN);
    try_bytes(f, zeros.data, zeros.size, FAULT_FOREIGN);
    for (int i = 0; i < 7; i++, strcat(letters, f->letters))
        try_bytes(f, letters, strlen(letters), i ? FAULT_DAMAGED : FAULT_ABSENT);
    ck_assert_int_eq(unlink(f->path), 0);
    f->cases++;
    f->expect(FAULT_ABSENT);
}

void faults_try(struct faults *f)
{
    truncate_and_extend(f);
    change_bytes(f);
    lie_about_entries(f);
    put_foreign_files(f);
    ck_assert_int_ge(f->cases, 50);
}

void faults_at_random(const struct faults *f, void (*look)(void))
{
    const char *longer = getenv("ODLC_LONG");
    const int count = longer && strcmp(longer, "1") == 0 ? LONG_MUTATIONS : MUTATIONS;
    uint64_t state = 88172645463325252;
    for (int i = 0; i < count; i++) {
        struct content c = f->sound;
        for (int k = 0; k <= i % 3; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            const size_t at = (size_t)(state % (i % 2 ? 144 : c.size));
            c.data[at] = (uint8_t)(state >> 32);
        }
        content_write(f->path, c.data, c.size);
        look();
    }
}
