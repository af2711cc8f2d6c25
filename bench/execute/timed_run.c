/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a container through the public API, and writes what it took as lines of JSON.
 * usage: timed_run CONTAINER THREADS [-i TENSOR FILE]... [-o TENSOR FILE]... [-g FILE KERNELS]
 *
 * -i: an input in its own type. -o: a result, written as floats at the end. -g: backend gpu before the usual ones, with
 * the options of a file ("-": none); KERNELS is "kernels" where the times of kernels are taken, which costs time, else
 * "-". The first line is {"start": S, "resident": KB, "first": KB}: milliseconds from opening the container to the
 * first result, what was resident before that, and the peak since. Then each number N on standard input is so many
 * executions, answered by {"run": MS, "steps": MS, "kernels": K, "device": MS}: of one of them, and of the last one
 * what its steps took on the host, copies apart, and how many kernels for how long the device ran; at the end comes
 * {"peak": KB}. timed_ort.py does the same with ONNX Runtime. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "opendlc/gpu.h"

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "timed_run: %s\n", what);
    exit(1);
}

static void check(const odlc_run *run, odlc_status status)
{
    size_t count;
    if (status == ODLC_OK)
        return;
    const struct odlc_diag *diags = odlc_run_diags(run, &count);
    fail(count ? diags[count - 1].message : "memory runs out");
}

/* A line of /proc/self/status, such as VmHWM. */
static long kilobytes(const char *key)
{
    char line[256];
    long value = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && value < 0 && fgets(line, sizeof line, status))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key) + 1, NULL, 10);
    if (status)
        fclose(status);
    return value;
}

static void begin_peak(void)
{
    FILE *clear = fopen("/proc/self/clear_refs", "w");
    if (!clear || fputs("5", clear) < 0 || fclose(clear) != 0)
        fail("the peak of the memory cannot be begun anew");
}

static void *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail(path);
    *size = (size_t)ftell(file);
    void *bytes = malloc(*size + 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        fail(path);
    fclose(file);
    return bytes;
}

/* The tensors and files behind `option`. */
struct pairs {
    const char *tensors[256], *files[256];
    size_t count;
};

static struct pairs pairs_of(char **words, int count, const char *option)
{
    struct pairs p = {.count = 0};
    for (int i = 0; i + 2 < count && p.count < 256; i += 3)
        if (strcmp(words[i], option) == 0) {
            p.tensors[p.count] = words[i + 1];
            p.files[p.count++] = words[i + 2];
        }
    return p;
}

static void set_inputs(odlc_run *run, const struct pairs *inputs, void *const *bytes, const size_t *sizes)
{
    size_t index;
    for (size_t i = 0; i < inputs->count; i++) {
        check(run, odlc_run_find_input(run, inputs->tensors[i], &index));
        check(run, odlc_run_set_native(run, index, bytes[i], sizes[i]));
    }
}

/* The run's executions begin with backend gpu. */
static void use_gpu(odlc_run *run, odlc_gpu *gpu, const char *options, bool times_kernels)
{
    static const char *const backends[] = {"gpu", "cpu", "reference"};
    check(run, odlc_run_set_backends(run, backends, sizeof(backends) / sizeof(*backends)));
    if (strcmp(options, "-") != 0 && odlc_gpu_configure_from_file(gpu, options) != ODLC_OK)
        fail(options);
    check(run, odlc_run_set_gpu(run, gpu));
    check(run, odlc_run_time_kernels(run, times_kernels));
}

static void print_times(const odlc_run *run, double milliseconds_of_one)
{
    size_t n_steps, n_kernels;
    const struct odlc_step *steps = odlc_run_steps(run, &n_steps);
    const struct odlc_kernel *kernels = odlc_run_kernels(run, &n_kernels);
    uint64_t host = 0, device = 0;
    for (size_t i = 0; i < n_steps; i++)
        host += steps[i].n_nodes ? steps[i].nanoseconds : 0;
    for (size_t i = 0; i < n_kernels; i++)
        device += kernels[i].nanoseconds;
    printf("{\"run\": %.6f, \"steps\": %.6f, \"kernels\": %zu, \"device\": %.6f}\n", milliseconds_of_one,
           (double)host * 1e-6, n_kernels, (double)device * 1e-6);
    fflush(stdout);
}

static void answer(odlc_run *run)
{
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        const long count = strtol(line, NULL, 10);
        const double begin = milliseconds();
        for (long i = 0; i < count; i++)
            check(run, odlc_run_execute(run));
        print_times(run, (milliseconds() - begin) / (double)count);
    }
}

static void write_results(odlc_run *run, const struct pairs *outputs)
{
    size_t count;
    const struct odlc_io *results = odlc_run_results(run, &count);
    for (size_t i = 0; i < outputs->count; i++) {
        const size_t size = (size_t)results[i].count;
        float *values = malloc(size * sizeof *values + 1);
        FILE *file = fopen(outputs->files[i], "wb");
        if (!values || !file)
            fail(outputs->files[i]);
        check(run, odlc_run_get_floats(run, i, values, size));
        if (fwrite(values, sizeof *values, size, file) != size || fclose(file) != 0)
            fail(outputs->files[i]);
        free(values);
    }
}

/* Up to the first result. */
static void start(odlc_run *run, odlc_gpu *gpu, char **argv, int argc)
{
    const struct pairs inputs = pairs_of(argv + 3, argc - 3, "-i"), outputs = pairs_of(argv + 3, argc - 3, "-o");
    const struct pairs devices = pairs_of(argv + 3, argc - 3, "-g");
    void *bytes[256];
    size_t sizes[256];
    for (size_t i = 0; i < inputs.count; i++)
        bytes[i] = read_all(inputs.files[i], &sizes[i]);
    begin_peak();
    const long resident = kilobytes("VmRSS:");
    const double begin = milliseconds();
    check(run, odlc_run_open(run, argv[1]));
    check(run, odlc_run_set_threads(run, (unsigned)strtoul(argv[2], NULL, 10)));
    if (devices.count)
        use_gpu(run, gpu, devices.tensors[0], strcmp(devices.files[0], "kernels") == 0);
    check(run, odlc_run_want(run, outputs.tensors, outputs.count));
    set_inputs(run, &inputs, bytes, sizes);
    check(run, odlc_run_execute(run));
    printf("{\"start\": %.6f, \"resident\": %ld, \"first\": %ld}\n", milliseconds() - begin, resident,
           kilobytes("VmHWM:"));
    fflush(stdout);
    for (size_t i = 0; i < inputs.count; i++)
        free(bytes[i]);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    odlc_run *run = odlc_run_new();
    odlc_gpu *gpu = odlc_gpu_new();
    const struct pairs outputs = pairs_of(argv + 3, argc - 3, "-o");
    start(run, gpu, argv, argc);
    answer(run);
    printf("{\"peak\": %ld}\n", kilobytes("VmHWM:"));
    write_results(run, &outputs);
    odlc_run_free(run);
    const bool is_kept = odlc_gpu_close(gpu) == ODLC_OK;
    odlc_gpu_free(gpu);
    return is_kept && fflush(stdout) == 0 ? 0 : 1;
}
