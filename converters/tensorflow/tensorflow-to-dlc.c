/* SPDX-License-Identifier: Apache-2.0 */
/* tensorflow-to-dlc: a TensorFlow model with user-defined ops becomes a DLC container. */
#include <stdio.h>

#include "converters/driver/convert_model.h"
#include "converters/tensorflow/tf_frontend.h"
#include "tools/convert_command.h"
#include "tools/convert_options.h"

static const struct option rows[] = {
#define FOR_EVERY TAKE_ROW
#define FOR_CONVERTERS TAKE_ROW
#define FOR_ONNX LEAVE_ROW
#define FOR_TENSORFLOW TAKE_ROW
#define FOR_READ_TENSORFLOW TAKE_ROW
#include "tools/convert_rows.def"
    OPTIONS_COMMON("Reports"),
};

static void report_own(const struct options *options, const struct odlc_conversion *conversion)
{
    size_t count;
    const char *const *nodes = odlc_conversion_unconsumed(conversion, &count);
    if (!options_given(options, CONVERT_OPT_show_unconsumed_nodes))
        return;
    for (size_t i = 0; i < count; i++)
        printf("unconsumed   %s\n", nodes[i]);
    printf("%zu nodes are not consumed\n", count);
}

static odlc_status convert(const struct odlc_convert_options *options, struct odlc_conversion **out)
{
    return convert_model(&tensorflow_frontend, options, out);
}

static const struct convert_command self = {
    .command =
        {
            .name = "tensorflow-to-dlc",
            .summary = "convert a TensorFlow model to a DLC container",
            .usage = "[-i] MODEL [[-o] CONTAINER] [-d NAME DIMS]... [--out_node NAME] [options]",
            OPTION_ROWS(rows),
        },
    .convert = convert,
    .report = report_own,
};

int main(int argc, char **argv)
{
    return convert_main(&self, argc, argv);
}
