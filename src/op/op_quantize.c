/* SPDX-License-Identifier: Apache-2.0 */
/* Quantize, Dequantize and Convert: between floats and fixed-point tensors, whose encodings say what their integers
 * mean, and between such tensors. */
#include "op/axes.h"
#include "op/families.h"
#include "op/infer.h"

/* The target type is that of the output and nowhere else, as for Cast. */
static const struct tensor *output_of(const struct infer *c)
{
    return c->node->outputs ? node_output(c->graph, c->node, 0) : NULL;
}

static odlc_status infer_quantize(const struct infer *c)
{
    const struct tensor *out = output_of(c);
    if (!out || !dtype_is_fixed(out->type->dtype))
        return infer_error(c, "the output is not of a fixed-point type");
    if (!out->quant)
        return infer_error(c, "the output has no encoding");
    c->out[0] = (struct type){.dtype = out->type->dtype, .shape = infer_in(c, 0)->shape};
    return need_real(c);
}

static odlc_status infer_dequantize(const struct infer *c)
{
    const struct tensor *in = node_input(c->graph, c->node, 0), *out = output_of(c);
    if (!dtype_is_fixed(in->type->dtype) || !in->quant)
        return infer_error(c, "the input is not of a fixed-point type with an encoding");
    if (!out || !dtype_is_float(out->type->dtype))
        return infer_error(c, "the output is not of a floating-point type");
    c->out[0] = (struct type){.dtype = out->type->dtype, .shape = in->type->shape};
    return ODLC_OK;
}

static bool is_encoded(const struct tensor *t)
{
    return dtype_is_float(t->type->dtype) || (dtype_is_fixed(t->type->dtype) && t->quant);
}

static odlc_status infer_convert(const struct infer *c)
{
    const struct tensor *in = node_input(c->graph, c->node, 0), *out = output_of(c);
    if (!is_encoded(in) || !out || !is_encoded(out))
        return infer_error(c,
                           "an operand is neither of a floating-point type nor of a fixed-point type with an encoding");
    c->out[0] = (struct type){.dtype = out->type->dtype, .shape = in->type->shape};
    return ODLC_OK;
}

/* The axis of an encoding would have to move with the tensor's axes. */
static bool per_tensor(const struct tensor *t)
{
    return !t->quant || !t->quant->per_axis;
}

static bool permute_quantize(struct graph *g, struct node *n, const struct perm *perm, struct perm *out)
{
    *out = *perm;
    return per_tensor(node_input(g, n, 0)) && per_tensor(node_output(g, n, 0));
}

static const struct param_def convert_params[] = {
    {PARAM_NAMED(dynamic_input_data), DT_BOOL, PARAM_DEFAULT, false, false, 0},
    {PARAM_NAMED(dynamic_output_data), DT_BOOL, PARAM_DEFAULT, false, false, 0},
};

#define QUANTIZE_ROW(op_name, types)                                                                          \
    {                                                                                                         \
        .id = OP_##op_name, .name = #op_name, .dlc_type = #op_name, .min_inputs = 1, .max_inputs = 1,         \
        .min_outputs = 1, .max_outputs = 1, .infer = types, .permute = permute_quantize, .cut = cut_broadcast \
    }

const struct op op_rows_quantize[] = {
    {.id = OP_Convert,
     .name = "Convert",
     .dlc_type = "Convert",
     .min_inputs = 1,
     .max_inputs = 1,
     .min_outputs = 1,
     .max_outputs = 1,
     .params = convert_params,
     .n_params = COUNT_OF(convert_params),
     .infer = infer_convert,
     .permute = permute_quantize,
     .cut = cut_broadcast},
    QUANTIZE_ROW(Dequantize, infer_dequantize),
    QUANTIZE_ROW(Quantize, infer_quantize),
};
const size_t op_rows_quantize_count = COUNT_OF(op_rows_quantize);
