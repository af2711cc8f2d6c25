/* SPDX-License-Identifier: Apache-2.0 */
/* How net-run has the GPU backend execute. */
#ifndef TOOLS_RUN_GPU_H
#define TOOLS_RUN_GPU_H

#include "opendlc/gpu.h"
#include "tools/run_worker.h"

/* What the command line says of it. */
struct run_gpu_options {
    bool is_first;                                 /* --use_gpu: asked before the backends that are the default */
    bool is_half;                                  /* --use_gpu_fp16: the same, in float16 */
    const char *config_file;                       /* NULL: none */
    const char *perf_hint;                         /* NULL: as the file says */
    const char *priority;                          /* the same */
    const char *context_cache, *performance_cache; /* NULL: none, and as the file says */
    bool rebuilds;                                 /* the former */
    bool tunes;
};

/* Makes settings->gpu where the GPU takes part, and the list of backends of --use_gpu. */
odlc_status run_gpu_settle(struct arena *arena, struct diags *diags, const struct run_gpu_options *options,
                           struct run_settings *settings) MUST_USE;
/* ODLC_ERR_USAGE: the file names graphs that the container does not have. */
odlc_status run_gpu_check(const struct run_settings *settings, const odlc_run *run) MUST_USE;

/* Prints what tuning gained, where it was asked for. */
void run_gpu_report(const struct run_settings *settings);

#endif
