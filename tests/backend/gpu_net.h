/* SPDX-License-Identifier: Apache-2.0 */
/* A small network for tests of the GPU backend's contexts, and its execution by the public API. Expected values are
 * computed here, in double precision. */
#ifndef TESTS_BACKEND_GPU_NET_H
#define TESTS_BACKEND_GPU_NET_H

#include <stdbool.h>

#include "opendlc/gpu.h"

enum { ROWS = 4, WIDTH = 32, COUNT = ROWS * WIDTH };

/* A folder of the test, and the container in it. */
extern char net_folder[64], net_path[96];

void net_setup(void);
void net_teardown(void);
/* Writes the container again, with a graph of that name. */
void net_write(const char *name);

const float *net_input(void);
odlc_gpu *net_context(struct odlc_gpu_config config);
void net_expect_ok(const odlc_run *run, odlc_status status);
/* The results of one execution, and how many steps there were. */
size_t net_execute(odlc_gpu *gpu, bool isolates, float *y);
void net_expect_values(const float *y, double tolerance);

#endif
