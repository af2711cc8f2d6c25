/* onnx-to-dlc: an ONNX model with user-defined ops becomes a DLC container. */
#include "tools/convert_command.h"
#include "tools/model_options.h"

static const struct option rows[] = {
    {.title = "Files"},
    {.id = CONVERT_OPT_INPUT,
     .name = "input_network",
     .shorts = {"i"},
     .min = 1,
     .max = 1,
     .required = true,
     .values = "FILE",
     .complete = ".onnx",
     .help = "the ONNX model"},
#include "tools/convert_options.def"
};

static const struct convert_command self = {
    .command =
        {
            .name = "onnx-to-dlc",
            .summary = "convert an ONNX model to a DLC container",
            .usage = "-i MODEL [-o CONTAINER] [options]",
            OPTION_ROWS(rows),
        },
    .convert = odlc_convert_onnx,
};

int main(int argc, char **argv)
{
    return convert_main(&self, argc, argv);
}
