/* SPDX-License-Identifier: Apache-2.0 */
/* Multiplies square matrices by CLBlast, as timed_run executes containers (its lines and answers).
 * usage: clblast SIZE */
#include <clblast_c.h>
#include <string.h>

#include "opencl.h"

static cl_mem fill(const struct device *d, size_t count)
{
    cl_mem buffer = make_buffer(d, count * sizeof(float));
    float *values = malloc(count * sizeof(*values));
    unsigned seed = 7;
    if (!values)
        exit(1);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525U + 1013904223U;
        values[i] = (float)(int)(seed >> 9) / 4194304.0F - 1.0F;
    }
    check(clEnqueueWriteBuffer(d->queue, buffer, CL_TRUE, 0, count * sizeof(*values), values, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
    free(values);
    return buffer;
}

static void multiply(struct device *d, size_t n, cl_mem x, cl_mem y, cl_mem out)
{
    if (CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, n, n, n, 1.0F, x, 0, n, y, 0, n,
                     0.0F, out, 0, n, &d->queue, NULL) != CLBlastSuccess)
        check(-1, "CLBlastSgemm");
}

int main(int argc, char **argv)
{
    const size_t n = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    char line[64];
    if (n == 0)
        return 2;
    struct device d = open_device();
    cl_mem x = fill(&d, n * n), y = fill(&d, n * n), out = make_buffer(&d, n * n * sizeof(float));
    const double begin = milliseconds();
    multiply(&d, n, x, y, out);
    check(clFinish(d.queue), "clFinish");
    printf("{\"start\": %.6f, \"resident\": 0}\n", milliseconds() - begin);
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        const long count = strtol(line, NULL, 10);
        const double start = milliseconds();
        for (long i = 0; i < count; i++)
            multiply(&d, n, x, y, out);
        check(clFinish(d.queue), "clFinish");
        printf("{\"run\": %.6f}\n", (milliseconds() - start) / (double)count);
        fflush(stdout);
    }
    (void)clReleaseMemObject(x);
    (void)clReleaseMemObject(y);
    (void)clReleaseMemObject(out);
    close_device(&d);
    printf("{\"peak\": 0}\n");
    return fflush(stdout) == 0 ? 0 : 1;
}
