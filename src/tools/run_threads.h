/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads and jobs a run has, and how its threads wait for each other. Both numbers are 0 in settings where
 * the command line says nothing. */
#ifndef TOOLS_RUN_THREADS_H
#define TOOLS_RUN_THREADS_H

#include "tools/run_worker.h"

enum { MAX_THREADS = 1024, MAX_JOBS = 256 };

/* Starts the program anew, once, with an environment in which OpenMP's threads fall asleep after a few microseconds:
 * its runtime looks when it is loaded. By default they wait busily for milliseconds, and where other work runs, too,
 * they keep each other from it. Nothing happens where inferences have one thread each, where the environment says how
 * to wait, and where the program cannot be started. Before anything is read or written. */
void run_threads_restart(const struct run_settings *settings, char **argv);

/* Fills in the numbers that the command line does not say; all other settings are there. measures: times are asked for.
 */
void run_threads_settle(struct run_settings *settings, bool measures);

#endif
