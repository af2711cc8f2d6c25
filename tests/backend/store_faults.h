/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of the files in which the GPU backend keeps what it made (gpu_store.h): cut, changed, lying and foreign ones.
 */
#ifndef TESTS_BACKEND_STORE_FAULTS_H
#define TESTS_BACKEND_STORE_FAULTS_H

#include <stddef.h>
#include <stdint.h>

/* The file's format. */
enum { AT_VERSION = 8, AT_COUNT = 12, AT_IDENTITY = 16, AT_SIZE = 32, AT_SUM = 40, AT_ENTRIES = 48, ENTRY = 32 };

struct content {
    uint8_t data[16384];
    size_t size;
};

enum fault { FAULT_ABSENT, FAULT_DAMAGED, FAULT_FOREIGN };

struct faults {
    const char *path, *letters;
    struct content sound;             /* of two or more entries, in 3001 bytes or more */
    void (*expect)(enum fault fault); /* the file as it is now counts as none */
    int cases;
};

struct content content_read(const char *path);
void content_write(const char *path, const void *data, size_t size);
/* The sum of what follows the header, as the format has it. */
void content_sign(struct content *c);
/* All of them. */
void faults_try(struct faults *f);
/* Changes at random; `look` sees what is there now. */
void faults_at_random(const struct faults *f, void (*look)(void));

#endif
