/* SPDX-License-Identifier: Apache-2.0 */
/* Observations of dlc-quantize: the inputs of a list or of a part of it, kept in files, and files joined. */
#ifndef TOOLS_CALIBRATION_H
#define TOOLS_CALIBRATION_H

#include "quantize/quantize.h"
#include "tools/input_list.h"

struct calibration_run {
    struct arena *arena, *scratch;
    struct diags *diags;
    struct quantizer *quantizer;
    const char *list_path;
    const char *options;    /* as files record them */
    const char *shard;      /* "0/4"; NULL: all inputs of the list */
    const char *cache;      /* a file that keeps what was observed; NULL: none */
    const char *statistics; /* where the result is written; NULL: nowhere */
    bool is_native;
    bool is_quiet; /* no line says how far it is */
    unsigned threads;

    struct input_list list;
    bool is_checked; /* files of the list are there, and fit */
    struct quantizer_work work;
};

/* Observes what the list names, less what the cache has; before the first of them is computed all these files are
 * looked for, and those that are missing or do not fit named. A signal between two inputs ends the process when the
 * cache is written. */
odlc_status calibration_observe(struct calibration_run *run) MUST_USE;
/* Joins files, which together must have each input of one list once. */
odlc_status calibration_merge(struct calibration_run *run, const char *const *paths, size_t count) MUST_USE;

#endif
