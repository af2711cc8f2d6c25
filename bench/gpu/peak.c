/* SPDX-License-Identifier: Apache-2.0 */
/* Measures what the OpenCL device can do at most, and writes a line of JSON: its name and whether it is a GPU; "flops":
 * float32 operations a second, of multiply-adds in registers; "bytes": of its memory a second, read and written;
 * "launch": milliseconds that enqueueing a kernel takes. */
#include <stdbool.h>
#include <string.h>

#include "opencl.h"

enum { CHAINS = 8, STEPS = 512, ITEMS = 1 << 20, COPIED = 1 << 24, LAUNCHES = 1000, ROUNDS = 5 };

/* On GPUs a register is a float's, on CPUs a vector's: REAL. */
static const char source[] = "kernel void compute(global float *out, float a, int steps)\n"
                             "{\n"
                             "    const float at = get_global_id(0);\n"
                             "    REAL v0 = at, v1 = at + 1, v2 = at + 2, v3 = at + 3;\n"
                             "    REAL v4 = at + 4, v5 = at + 5, v6 = at + 6, v7 = at + 7;\n"
                             "    const REAL b = a;\n"
                             "    for (int s = 0; s < steps; s++) {\n"
                             "        v0 = fma(v0, b, b), v1 = fma(v1, b, b), v2 = fma(v2, b, b), v3 = fma(v3, b, b);\n"
                             "        v4 = fma(v4, b, b), v5 = fma(v5, b, b), v6 = fma(v6, b, b), v7 = fma(v7, b, b);\n"
                             "    }\n"
                             "    if (any(v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 == (REAL)0.5f))\n"
                             "        out[0] = 1;\n"
                             "}\n"
                             "kernel void copy(global float4 *out, global const float4 *x)\n"
                             "{\n"
                             "    out[get_global_id(0)] = x[get_global_id(0)];\n"
                             "}\n";

static cl_kernel make_kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error, name);
    return kernel;
}

static void enqueue(const struct device *d, cl_kernel kernel, size_t items)
{
    const size_t group = 128;
    check(clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

/* Milliseconds of a kernel, the least of some rounds. */
static double time_of(const struct device *d, cl_kernel kernel, size_t items, int count)
{
    double least = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = milliseconds();
        for (int i = 0; i < count; i++)
            enqueue(d, kernel, items);
        check(clFinish(d->queue), "clFinish");
        const double time = (milliseconds() - begin) / count;
        least = time < least ? time : least;
    }
    return least;
}

/* Without waiting for them. */
static double launch_time(const struct device *d, cl_kernel kernel)
{
    double least = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = milliseconds();
        for (int i = 0; i < LAUNCHES; i++)
            enqueue(d, kernel, 128);
        const double time = (milliseconds() - begin) / LAUNCHES;
        check(clFinish(d->queue), "clFinish");
        least = time < least ? time : least;
    }
    return least;
}

int main(void)
{
    const struct device d = open_device();
    const char *text = source;
    char name[256] = "";
    cl_device_type type = 0;
    cl_int error, steps = STEPS;
    const cl_float a = 0.999F;
    check(clGetDeviceInfo(d.id, CL_DEVICE_NAME, sizeof(name), name, NULL), "clGetDeviceInfo");
    check(clGetDeviceInfo(d.id, CL_DEVICE_TYPE, sizeof(type), &type, NULL), "clGetDeviceInfo");
    const bool is_gpu = type & CL_DEVICE_TYPE_GPU;
    const size_t items = is_gpu ? ITEMS : ITEMS / 64, copied = is_gpu ? COPIED : COPIED / 16; /* of float4 */
    cl_program program = clCreateProgramWithSource(d.context, 1, &text, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &d.id, is_gpu ? "-DREAL=float2" : "-DREAL=float16", NULL, NULL), "clBuildProgram");
    cl_kernel compute = make_kernel(program, "compute"), copy = make_kernel(program, "copy");
    cl_mem out = make_buffer(&d, copied * 16), x = make_buffer(&d, copied * 16);
    check(clSetKernelArg(compute, 0, sizeof(out), &out) | clSetKernelArg(compute, 1, sizeof(a), &a) |
              clSetKernelArg(compute, 2, sizeof(steps), &steps) | clSetKernelArg(copy, 0, sizeof(out), &out) |
              clSetKernelArg(copy, 1, sizeof(x), &x),
          "clSetKernelArg");
    const double computing = time_of(&d, compute, items, 1), copying = time_of(&d, copy, copied, 4);
    printf("{\"device\": \"%s\", \"is_gpu\": %s, \"flops\": %.6g, \"bytes\": %.6g, \"launch\": %.6f}\n", name,
           is_gpu ? "true" : "false", 2.0 * (is_gpu ? 2 : 16) * CHAINS * STEPS * (double)items / computing * 1e3,
           2.0 * 16 * (double)copied / copying * 1e3, launch_time(&d, copy));
    (void)clReleaseMemObject(out);
    (void)clReleaseMemObject(x);
    (void)clReleaseKernel(compute);
    (void)clReleaseKernel(copy);
    (void)clReleaseProgram(program);
    close_device(&d);
    return fflush(stdout) == 0 ? 0 : 1;
}
