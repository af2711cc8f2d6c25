/* SPDX-License-Identifier: Apache-2.0 */
/* The time of each step of a container, again and again.
 * usage: overhead CONTAINER LIBRARY EXECUTIONS    prints "NODE BACKEND MEDIAN LEAST", in nanoseconds, a step a line */
#include <stdio.h>
#include <stdlib.h>

#include "opendlc/run.h"

/* As many as are executed before the first that counts. */
enum { WARM = 20 };

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static odlc_status prepare(odlc_run *run, const char *container, const char *library)
{
    size_t n_inputs;
    const char *const backends[] = {"package", "reference"};
    odlc_status status = odlc_run_open(run, container);
    if (status == ODLC_OK)
        status = odlc_run_add_op_package(run, library, NULL);
    if (status == ODLC_OK)
        status = odlc_run_set_backends(run, backends, 2);
    if (status == ODLC_OK)
        status = odlc_run_want_outputs(run);
    const struct odlc_io *inputs = odlc_run_inputs(run, &n_inputs);
    float *values = status == ODLC_OK ? calloc(inputs[0].count, sizeof *values) : NULL;
    if (!values)
        return status == ODLC_OK ? ODLC_ERR_NOMEM : status;
    for (uint64_t i = 0; i < inputs[0].count; i++)
        values[i] = (float)(i % 7) - 3;
    status = odlc_run_set_floats(run, 0, values, inputs[0].count);
    free(values);
    return status;
}

static odlc_status measure(odlc_run *run, size_t executions, size_t n_steps, uint64_t *times)
{
    for (size_t i = 0; i < WARM + executions; i++) {
        odlc_status status = odlc_run_execute(run);
        if (status != ODLC_OK)
            return status;
        size_t count;
        const struct odlc_step *steps = odlc_run_steps(run, &count);
        for (size_t k = 0; i >= WARM && k < n_steps; k++)
            times[k * executions + i - WARM] = steps[k].nanoseconds;
    }
    return ODLC_OK;
}

static void print(const odlc_run *run, size_t executions, uint64_t *times)
{
    size_t count;
    const struct odlc_step *steps = odlc_run_steps(run, &count);
    for (size_t k = 0; k < count; k++) {
        uint64_t *own = &times[k * executions];
        qsort(own, executions, sizeof *own, compare);
        printf("%s %s %llu %llu\n", steps[k].node, steps[k].backend, (unsigned long long)own[executions / 2],
               (unsigned long long)own[0]);
    }
}

int main(int argc, char **argv)
{
    const size_t executions = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    odlc_run *run = executions ? odlc_run_new() : NULL;
    if (!run)
        return 2;
    size_t count = 0, n_diags;
    odlc_status status = prepare(run, argv[1], argv[2]);
    odlc_run_steps(run, &count);
    uint64_t *times = calloc(count * executions + 1, sizeof *times);
    if (status == ODLC_OK)
        status = times ? measure(run, executions, count, times) : ODLC_ERR_NOMEM;
    if (status == ODLC_OK)
        print(run, executions, times);
    const struct odlc_diag *diags = odlc_run_diags(run, &n_diags);
    for (size_t i = 0; i < n_diags && status != ODLC_OK; i++)
        fprintf(stderr, "%s\n", diags[i].message);
    free(times);
    odlc_run_free(run);
    return status == ODLC_OK ? 0 : 1;
}
