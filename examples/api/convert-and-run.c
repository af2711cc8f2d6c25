/* SPDX-License-Identifier: Apache-2.0 */
/* Converts an ONNX model to a container, and computes the first output for an image of raw floats.
 *
 *     gcc -o convert-and-run convert-and-run.c $(pkg-config --cflags --libs opendlc)
 *     ./convert-and-run ../digits/digits.onnx digits.dlc ../digits/digit.raw
 */
#include "opendlc/convert.h"
#include "opendlc/run.h"
#include "opendlc/version.h"

#include <stdio.h>
#include <stdlib.h>

static void print_diags(const struct odlc_diag *diags, size_t count)
{
    char text[1000];
    for (size_t i = 0; i < count; i++)
        if (odlc_diag_format(&diags[i], ODLC_DIAG_TEXT, "convert-and-run", text, sizeof text))
            fputs(text, stderr);
}

static odlc_status convert(const char *model, const char *container)
{
    struct odlc_convert_options options;
    odlc_convert_defaults(&options, sizeof options);
    options.input = model;
    options.output = container;
    struct odlc_conversion *conversion = NULL;
    odlc_status status = odlc_convert(ODLC_ONNX, &options, &conversion);
    size_t count = 0;
    const struct odlc_diag *diags = conversion ? odlc_conversion_diags(conversion, &count) : NULL;
    print_diags(diags, count);
    if (status == ODLC_OK)
        printf("%s has %u ops\n", container, odlc_conversion_summary(conversion).ops);
    odlc_conversion_free(conversion);
    return status;
}

/* The file's floats, `count` of them; NULL: it has not so many, or cannot be read. The caller frees them. */
static float *read_floats(const char *path, size_t count)
{
    float *values = malloc(count * sizeof *values);
    FILE *file = fopen(path, "rb");
    int complete = values && file && fread(values, sizeof *values, count, file) == count;
    if (file)
        fclose(file);
    if (complete)
        return values;
    fprintf(stderr, "%s: cannot read %zu floats\n", path, count);
    free(values);
    return NULL;
}

static odlc_status set_input(odlc_run *run, const char *path)
{
    size_t count;
    const struct odlc_io *inputs = odlc_run_inputs(run, &count);
    if (count != 1) {
        fprintf(stderr, "the model has %zu inputs, and this program one image\n", count);
        return ODLC_ERR_UNSUPPORTED;
    }
    float *image = read_floats(path, inputs[0].count);
    if (!image)
        return ODLC_ERR_IO;
    odlc_status status = odlc_run_set_floats(run, 0, image, inputs[0].count);
    free(image);
    return status;
}

static odlc_status print_result(odlc_run *run)
{
    size_t count;
    const struct odlc_io *results = odlc_run_results(run, &count);
    float *scores = malloc(results[0].count * sizeof *scores);
    odlc_status status = scores ? odlc_run_get_floats(run, 0, scores, results[0].count) : ODLC_ERR_NOMEM;
    for (size_t i = 0; status == ODLC_OK && i < results[0].count; i++)
        printf("%s[%zu] = %.4f\n", results[0].name, i, (double)scores[i]);
    free(scores);
    return status;
}

static odlc_status execute(const char *container, const char *image)
{
    odlc_run *run = odlc_run_new();
    if (!run)
        return ODLC_ERR_NOMEM;
    odlc_status status = odlc_run_open(run, container);
    if (status == ODLC_OK)
        status = odlc_run_want_outputs(run);
    if (status == ODLC_OK)
        status = set_input(run, image);
    if (status == ODLC_OK)
        status = odlc_run_execute(run);
    if (status == ODLC_OK)
        status = print_result(run);
    size_t count;
    const struct odlc_diag *diags = odlc_run_diags(run, &count);
    print_diags(diags, count);
    odlc_run_free(run);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s MODEL.onnx CONTAINER.dlc IMAGE.raw   (with OpenDLC %s)\n", argv[0], odlc_version());
        return 2;
    }
    odlc_status status = convert(argv[1], argv[2]);
    if (status == ODLC_OK)
        status = execute(argv[2], argv[3]);
    if (status != ODLC_OK)
        fprintf(stderr, "%s\n", odlc_status_name(status));
    return status == ODLC_OK ? 0 : 1;
}
