/* SPDX-License-Identifier: Apache-2.0 */
/* Files in which the backend keeps bytes under keys, for the next process: the repository of kernels, context caches.
 *
 * Such a file holds (numbers are little endian, as the processors are that this runs on):
 *
 *     eight letters, u32 version, u32 count, u64[2] identity, u64 size of the file, u64 sum of all that follows
 *     count times: u64[2] key, u64 offset, u64 size
 *     the bytes
 *
 * It is read as a whole, and nothing of it is believed unless all of it is sound. */
#ifndef BACKEND_GPU_GPU_STORE_H
#define BACKEND_GPU_GPU_STORE_H

#include "base/diag.h"

/* Bytes under a key: a program as the driver gives it, for example. */
struct gpu_binary {
    uint64_t key[2];
    const uint8_t *bytes;
    uint64_t size;
};

/* The key of two texts: of a program's source and its options, for example. */
void gpu_binary_key(const char *first, const char *second, uint64_t key[2]);
/* A hash of these texts and numbers. */
void gpu_identity(const char *const *texts, size_t n_texts, const uint64_t *numbers, size_t n_numbers,
                  uint64_t identity[2]);

struct gpu_store_kind {
    char letters[9];
    uint64_t identity[2];
};

enum gpu_store_state {
    GPU_STORE_SOUND,
    GPU_STORE_ABSENT,  /* there is no file, or an empty one */
    GPU_STORE_DAMAGED, /* it begins as one of the kind, and is none of this version and identity that is whole */
    GPU_STORE_FOREIGN, /* it is something else, or cannot be read */
    GPU_STORE_NOMEM
};

/* What a file has, in memory of its own: others may replace or change a file at any time. */
struct gpu_contents {
    uint8_t *bytes;
    struct gpu_binary *binaries;
    uint32_t count;
};

/* Without contents unless the file is sound. */
enum gpu_store_state gpu_store_read(const char *path, const struct gpu_store_kind *kind, struct gpu_contents *out);
/* What is kept under a key, or NULL. */
const struct gpu_binary *gpu_store_find(const struct gpu_binary *binaries, size_t count, const uint64_t key[2]);
void gpu_store_forget(struct gpu_contents *contents);

/* Replaces the file. Of more than GPU_STORE_MOST the first ones. ODLC_ERR_IO: it cannot be written; ODLC_ERR_USAGE, in
 * commands: it is an input of the work. */
odlc_status gpu_store_write(struct diags *diags, const char *path, const struct gpu_store_kind *kind,
                            const struct gpu_binary *binaries, size_t count) MUST_USE;

enum { GPU_STORE_MOST = 65536 };

#endif
