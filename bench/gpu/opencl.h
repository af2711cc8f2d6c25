/* SPDX-License-Identifier: Apache-2.0 */
/* The device that backend gpu takes without an option, and a queue on it, for programs that measure there. */
#ifndef BENCH_GPU_OPENCL_H
#define BENCH_GPU_OPENCL_H

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NO_DEVICE = 77 }; /* the status that says it: nothing is wrong, and nothing to measure */

struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
};

static inline double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static inline void check(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", what, (int)error);
    exit(1);
}

/* The first GPU, else the first device. */
static inline cl_device_id choose_device(void)
{
    static const cl_device_type types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL};
    cl_platform_id platforms[32];
    cl_uint count = 0;
    cl_device_id id;
    if (clGetPlatformIDs(32, platforms, &count) != CL_SUCCESS)
        count = 0;
    for (int t = 0; t < 2; t++)
        for (cl_uint i = 0; i < count && i < 32; i++)
            if (clGetDeviceIDs(platforms[i], types[t], 1, &id, NULL) == CL_SUCCESS)
                return id;
    fprintf(stderr, "there is no OpenCL device\n");
    exit(NO_DEVICE);
}

static inline struct device open_device(void)
{
    struct device d = {.id = choose_device()};
    cl_int error;
    d.context = clCreateContext(NULL, 1, &d.id, NULL, NULL, &error);
    check(error, "clCreateContext");
    d.queue = clCreateCommandQueue(d.context, d.id, 0, &error);
    check(error, "clCreateCommandQueue");
    return d;
}

static inline void close_device(const struct device *d)
{
    (void)clReleaseCommandQueue(d->queue);
    (void)clReleaseContext(d->context);
}

static inline cl_mem make_buffer(const struct device *d, size_t size)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(d->context, CL_MEM_READ_WRITE, size, NULL, &error);
    check(error, "clCreateBuffer");
    return buffer;
}

#endif
