/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in several threads that share one package, and a package that is loaded and given back many times.
 *     share_package CONTAINER LIBRARY PROVIDER RAW REGISTRATION
 * prints "same" when all runs gave the same bits, and loading left nothing behind */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opendlc/package.h"
#include "opendlc/run.h"

enum { THREADS = 8, RUNS = 8, LOADS = 1000, WARM = 10, MOST = 65536, SPARE = 16384 /* bytes of the C library's own */ };

static const char *container, *library, *provider, *registration;
static float input[MOST], expected[MOST];
static size_t n_input, n_output;

static int say(const odlc_run *run, const char *what)
{
    size_t count;
    const struct odlc_diag *diags = odlc_run_diags(run, &count);
    fprintf(stderr, "%s fails\n", what);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "  %s\n", diags[i].message);
    return 1;
}

/* One run from the start; 0 when all calls succeed. */
static int compute(float *out)
{
    odlc_run *run = odlc_run_new();
    int failed = 0;
    if (odlc_run_open(run, container) || odlc_run_add_op_package(run, library, provider) || odlc_run_want_outputs(run))
        failed = say(run, "preparing");
    else if (odlc_run_set_floats(run, 0, input, n_input) || odlc_run_execute(run) ||
             odlc_run_get_floats(run, 0, out, n_output))
        failed = say(run, "executing");
    odlc_run_free(run);
    return failed;
}

static void *work(void *failures)
{
    float *out = malloc(sizeof expected);
    for (int i = 0; out && i < RUNS; i++)
        *(int *)failures += compute(out) || memcmp(out, expected, n_output * sizeof *out) != 0;
    free(out);
    return NULL;
}

static int in_threads(void)
{
    pthread_t threads[THREADS];
    int failures[THREADS] = {0}, sum = 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, &failures[i]) != 0)
            exit(2);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += failures[i];
    }
    return sum;
}

static int load(int times, const char *path, const char *function)
{
    int failures = 0;
    for (int i = 0; i < times; i++) {
        odlc_run *run = odlc_run_new();
        failures += odlc_run_add_op_package(run, path, function) != ODLC_OK;
        odlc_run_free(run);
    }
    return failures;
}

/* Pages that the process has; -1: they are not known. */
static long pages(void)
{
    long count = -1;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm && fscanf(statm, "%ld", &count) != 1)
        count = -1;
    return statm && fclose(statm) == 0 ? count : -1;
}

/* The process does not grow with the number of loads. What is lost is the sanitizer's to find where malloc is not the
 * C library's. */
static int many_times(void)
{
    int failures = load(WARM, library, provider) + load(WARM, registration, NULL);
    const struct mallinfo2 before = mallinfo2();
    const long first = pages();
    failures += load(LOADS, library, provider) + load(LOADS, registration, NULL);
    const struct mallinfo2 after = mallinfo2();
    const long last = pages();
    if (before.arena == 0)
        return failures;
    if (first < 0 || last > first + LOADS / 2 || after.uordblks > before.uordblks + SPARE)
        return fprintf(stderr, "pages %ld and then %ld, bytes %zu and then %zu\n", first, last, before.uordblks,
                       after.uordblks);
    return failures;
}

/* Without a package of its own, a run has those of the process. */
static int for_all(void)
{
    char problem[200] = "";
    odlc_run *run = odlc_run_new();
    int failures = odlc_add_op_package("/none/such.so", NULL, problem, sizeof problem) != ODLC_ERR_IO || !*problem;
    failures += odlc_run_open(run, container) != ODLC_OK || odlc_run_want_outputs(run) != ODLC_ERR_UNSUPPORTED;
    failures += odlc_add_op_package(library, provider, NULL, 0) != ODLC_OK;
    failures += odlc_add_op_package(library, provider, NULL, 0) != ODLC_OK;
    failures += odlc_run_want_outputs(run) != ODLC_OK;
    odlc_run_free(run);
    return failures;
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    container = argv[1], library = argv[2], provider = argv[3], registration = argv[5];
    FILE *raw = fopen(argv[4], "rb");
    n_input = n_output = raw ? fread(input, sizeof *input, MOST, raw) : 0;
    if (!raw || fclose(raw) != 0 || compute(expected))
        return 2;
    int threads = in_threads(), loads = many_times(), all = for_all();
    printf("%s\n", threads + loads + all ? "different" : "same");
    fprintf(stderr, "threads %d, loads %d, for all %d\n", threads, loads, all);
    return threads + loads + all != 0;
}
