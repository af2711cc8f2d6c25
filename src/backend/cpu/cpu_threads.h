/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the backend: those of OpenMP's runtime, libgomp, which oneDNN uses as well, so that both share one pool.
 * Its functions are declared here because only gcc has a header for them. */
#ifndef BACKEND_CPU_CPU_THREADS_H
#define BACKEND_CPU_CPU_THREADS_H

#include <stdint.h>

/* How many threads the calling thread's calls of oneDNN use until the end, which takes the number before. Where these
 * are as many as processors, each stays on one. */
int threads_begin(int threads);
void threads_end(int before);

/* Calls fn for parts of [0, count) that do not overlap, on the threads in use: each part is at least `least` long, but
 * for the last. The parts depend on the number of threads alone. All threads meet, also those that have no part: a
 * smaller team would end the others. */
void threads_share(int64_t count, int64_t least, void (*fn)(void *user, int64_t first, int64_t last), void *user);

#endif
