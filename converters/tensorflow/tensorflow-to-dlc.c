/* tensorflow-to-dlc: a TensorFlow model with user-defined ops becomes a DLC container. */
#include <stdio.h>

#include "tools/convert_command.h"
#include "tools/model_options.h"

enum { OPT_UNCONSUMED, OPT_ALLOW_UNCONSUMED };

static const struct option rows[] = {
    {.title = "Files"},
    {.id = CONVERT_OPT_INPUT,
     .name = "input_network",
     .aliases = {"graph"},
     .shorts = {"i"},
     .min = 1,
     .max = 1,
     .required = true,
     .values = "FILE",
     .complete = ".pb .pbtxt .meta",
     .help =
         "the TensorFlow model: a frozen graph, the folder of a saved model, or the .meta file beside a checkpoint"},
#include "tools/saved_model_options.def"
    {.id = OPT_UNCONSUMED, .name = "show_unconsumed_nodes", .help = "list the nodes of the model that no output needs"},
    {.id = OPT_ALLOW_UNCONSUMED,
     .name = "allow_unconsumed_nodes",
     .ignored = true,
     .help = "go on where nodes are not needed, which is always so"},
#include "tools/convert_options.def"
};

static void report_own(const struct options *options, const struct odlc_conversion *conversion)
{
    size_t count;
    const char *const *nodes = odlc_conversion_unconsumed(conversion, &count);
    if (!options_given(options, OPT_UNCONSUMED))
        return;
    for (size_t i = 0; i < count; i++)
        printf("unconsumed   %s\n", nodes[i]);
    printf("%zu nodes are not consumed\n", count);
}

static const struct convert_command self = {
    .command =
        {
            .name = "tensorflow-to-dlc",
            .summary = "convert a TensorFlow model to a DLC container",
            .usage = "-i MODEL [-d NAME DIMS]... [--out_node NAME] [-o CONTAINER] [options]",
            OPTION_ROWS(rows),
        },
    .convert = odlc_convert_tensorflow,
    .report = report_own,
};

int main(int argc, char **argv)
{
    return convert_main(&self, argc, argv);
}
