/* SPDX-License-Identifier: Apache-2.0 */
/* What tuning found: of kernels in cases (options of their build, sizes, arguments) the fastest of some choices. It is
 * kept in the performance cache, a folder with a file for each device, driver and version of the kernels:
 *
 *     <folder>/gpuperformance.<16 hexadecimal digits>.json       read, and written
 *     <folder>/gpuperformance.<the same>.<anything>.json         read as well: so caches of others are merged
 *
 * docs/gpu-performance.schema.json describes the files. Of a case that several files have, the fastest choice counts. A
 * file that is damaged or of others is a warning. All functions are thread-safe. */
#ifndef BACKEND_GPU_GPU_TUNING_H
#define BACKEND_GPU_GPU_TUNING_H

#include "backend/gpu/gpu_config.h"
#include "backend/gpu/gpu_device.h"

struct gpu_tuned {
    const struct gpu_tuned *next;
    const char *kernel, *where; /* "eltwise.apply", its case */
    const char *choice, *usual; /* the fastest, and what is taken without tuning */
    double microseconds, usual_microseconds;
    bool is_measured; /* in this process; else it was known */
    uint64_t uses;    /* in steps of this process */
};

struct gpu_tuning;

/* NULL: memory runs out. */
struct gpu_tuning *gpu_tuning_create(const struct gpu_tuning_options *options);
void gpu_tuning_destroy(struct gpu_tuning *tuning);

/* What the folder of the options has for the device, which is deleted first where they say so. The warning gpu-tuning:
 * a file is left out, or the folder is none. */
void gpu_tuning_read(struct gpu_tuning *tuning, struct diags *diags, const struct gpu_device *device);
/* Adds what a text of a file's form has. False: it is none, or of another device. */
bool gpu_tuning_read_text(struct gpu_tuning *tuning, struct arena *arena, const struct gpu_device *device,
                          const char *text, size_t size);
/* All that is known as such a text, in the arena; NULL: memory runs out. */
const char *gpu_tuning_text(const struct gpu_tuning *tuning, struct arena *arena, const struct gpu_device *device);
/* Writes the folder's file where something was measured or merged, or where it is absent and measuring was asked for.
 * The warning gpu-tuning: it cannot be written. */
void gpu_tuning_write(struct gpu_tuning *tuning, struct diags *diags, const struct gpu_device *device);

/* What is known of a case, or NULL. */
const struct gpu_tuned *gpu_tuning_find(struct gpu_tuning *tuning, const char *kernel, const char *where);
/* Notes what was measured; strings are copied. What somebody noted before stays, and is returned. NULL: memory runs
 * out. */
const struct gpu_tuned *gpu_tuning_note(struct gpu_tuning *tuning, const struct gpu_tuned *tuned);
/* One more step uses it. */
void gpu_tuning_use(struct gpu_tuning *tuning, const struct gpu_tuned *tuned);
/* The newest, with those before it behind it. */
const struct gpu_tuned *gpu_tuning_newest(struct gpu_tuning *tuning);

/* Whether there is time left to measure. */
bool gpu_tuning_has_time(struct gpu_tuning *tuning);
void gpu_tuning_spend(struct gpu_tuning *tuning, uint64_t nanoseconds);
/* A case was not measured, or not by all candidates, for lack of time. */
void gpu_tuning_skip(struct gpu_tuning *tuning);

struct gpu_tuning_sums {
    uint64_t measured, skipped, nanoseconds;
};
struct gpu_tuning_sums gpu_tuning_sum(struct gpu_tuning *tuning);

#endif
