/* onnx-to-dlc: an ONNX model with user-defined ops becomes a DLC container. */
#include "tools/convert_command.h"
#include "tools/convert_options.h"

static const struct option rows[] = {
#define FOR_EVERY TAKE_ROW
#define FOR_CONVERTERS TAKE_ROW
#define FOR_ONNX TAKE_ROW
#define FOR_TENSORFLOW LEAVE_ROW
#define FOR_READ_TENSORFLOW LEAVE_ROW
#include "tools/convert_rows.def"
    OPTIONS_COMMON("Reports"),
};

static const struct convert_command self = {
    .command =
        {
            .name = "onnx-to-dlc",
            .summary = "convert an ONNX model to a DLC container",
            .usage = "-i MODEL [-o CONTAINER] [options]",
            OPTION_ROWS(rows),
        },
    .framework = ODLC_ONNX,
};

int main(int argc, char **argv)
{
    return convert_main(&self, argc, argv);
}
