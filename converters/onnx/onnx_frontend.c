#include "converters/frontends.h"
#include "converters/onnx/decode/onnx.h"
#include "converters/onnx/decode/operand_types.h"
#include "converters/onnx/lower/onnx_rows.h"

static odlc_status load(const struct fw_memory *memory, struct diags *diags, const struct odlc_convert_options *options,
                        fw_claims_fn *claims, void *user, struct fw_model **out)
{
    const struct onnx_reading how = {.claims = claims, .user = user, .follow_links = options->follow_links};
    struct file *file;
    TRY(file_map(memory->kept, diags, options->input, &file));
    return onnx_load_file(memory, diags, file, &how, out);
}

struct frontend onnx_frontend(void)
{
    return (struct frontend){.load = load,
                             .load_tensor = onnx_load_tensor,
                             .rows = onnx_rows,
                             .n_rows = onnx_row_count,
                             .refusal = onnx_refusal,
                             .takes_strings = onnx_takes_strings,
                             .schema_default = onnx_schema_default,
                             .operand_types = onnx_operand_types,
                             .is_flag = onnx_is_flag,
                             .channels_first = true,
                             .has_opsets = true};
}
