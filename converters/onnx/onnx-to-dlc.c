/* SPDX-License-Identifier: Apache-2.0 */
/* onnx-to-dlc: an ONNX model with user-defined ops becomes a DLC container. */
#include "converters/driver/convert_model.h"
#include "converters/onnx/onnx_frontend.h"
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

static odlc_status convert(const struct odlc_convert_options *options, struct odlc_conversion **out)
{
    return convert_model(&onnx_frontend, options, out);
}

static const struct convert_command self = {
    .command =
        {
            .name = "onnx-to-dlc",
            .summary = "convert an ONNX model to a DLC container",
            .usage = "[-i] MODEL [[-o] CONTAINER] [options]",
            OPTION_ROWS(rows),
        },
    .convert = convert,
};

int main(int argc, char **argv)
{
    return convert_main(&self, argc, argv);
}
