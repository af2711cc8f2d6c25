/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of an image as elements of the batch, and back, channels last: SpaceToBatch, BatchToSpace. */
#include <string.h>

#include "op/batches.h"
#include "op/families.h"
#include "op/infer.h"

static const char *read_pairs(struct batches *b, const struct node *n, enum param_id param)
{
    uint32_t count;
    const int64_t *pairs = node_ints(n, param, &count);
    if (pairs && count != 4)
        return "a param has the wrong number of elements";
    for (int i = 0; pairs && i < 2; i++) {
        b->before[i] = pairs[2 * i];
        b->after[i] = pairs[2 * i + 1];
        if (b->before[i] < 0 || b->before[i] > INT32_MAX || b->after[i] < 0 || b->after[i] > INT32_MAX)
            return "a param is out of range";
    }
    return NULL;
}

static const char *read_block(struct batches *b, const struct node *n, const struct shape *x)
{
    uint32_t count;
    const int64_t *block = node_ints(n, PARAM_block_size, &count);
    *b = (struct batches){0};
    if (x->rank != 4)
        return "the input does not have 4 axes";
    for (uint32_t i = 0; i < x->rank; i++)
        if (x->dims[i] > INT32_MAX)
            return "an extent is out of range";
    if (!block || count != 2 || block[0] < 1 || block[1] < 1 || block[0] > INT16_MAX || block[1] > INT16_MAX)
        return "block_size is out of range";
    memcpy(b->block, block, sizeof b->block);
    b->depth = x->dims[3];
    return NULL;
}

const char *batches_read_space(struct batches *b, const struct node *n, const struct shape *x)
{
    const char *wrong = read_block(b, n, x);
    if (!wrong)
        wrong = read_pairs(b, n, PARAM_pad_amount);
    if (wrong)
        return wrong;
    b->batch = x->dims[0];
    for (int i = 0; i < 2; i++) {
        b->in[i] = x->dims[i + 1];
        if ((b->before[i] + b->in[i] + b->after[i]) % b->block[i] != 0)
            return "the padded image does not divide into blocks";
    }
    return NULL;
}

const char *batches_read_batch(struct batches *b, const struct node *n, const struct shape *x)
{
    const char *wrong = read_block(b, n, x);
    if (!wrong)
        wrong = read_pairs(b, n, PARAM_crops);
    if (wrong)
        return wrong;
    if (x->dims[0] % (b->block[0] * b->block[1]) != 0)
        return "the batch does not divide into blocks";
    b->batch = x->dims[0] / (b->block[0] * b->block[1]);
    for (int i = 0; i < 2; i++) {
        b->in[i] = x->dims[i + 1] * b->block[i] - b->before[i] - b->after[i];
        if (b->in[i] < 0)
            return "crops leave nothing of the output";
    }
    return NULL;
}

int64_t batches_along(const struct batches *b, int axis)
{
    return (b->before[axis] + b->in[axis] + b->after[axis]) / b->block[axis];
}

static odlc_status infer_space_to_batch(const struct infer *c)
{
    struct batches b;
    const struct type *x = infer_in(c, 0);
    const char *wrong = batches_read_space(&b, c->node, &x->shape);
    int64_t batch = 0;
    if (!wrong && ckd_mul(&batch, b.batch, b.block[0] * b.block[1]))
        wrong = "block_size is out of range";
    if (wrong)
        return infer_error(c, "%s (input %s)", wrong, shape_text(c->diags->arena, &x->shape));
    c->out[0] = (struct type){x->dtype, SHAPE(batch, batches_along(&b, 0), batches_along(&b, 1), b.depth)};
    return ODLC_OK;
}

static odlc_status infer_batch_to_space(const struct infer *c)
{
    struct batches b;
    const struct type *x = infer_in(c, 0);
    const char *wrong = batches_read_batch(&b, c->node, &x->shape);
    if (wrong)
        return infer_error(c, "%s (input %s)", wrong, shape_text(c->diags->arena, &x->shape));
    c->out[0] = (struct type){x->dtype, SHAPE(b.batch, b.in[0], b.in[1], b.depth)};
    return ODLC_OK;
}

static const struct param_def params_space_to_batch[] = {
    {PARAM_NAMED(block_size), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(pad_amount), DT_UINT32, PARAM_OPTIONAL, true, false, 0},
};

static const struct param_def params_batch_to_space[] = {
    {PARAM_NAMED(block_size), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(crops), DT_UINT32, PARAM_OPTIONAL, true, false, 0},
};

#define BATCH_ROW(name_, params_, infer_)                                                                         \
    {                                                                                                             \
        .id = OP_##name_, .name = #name_, .dlc_type = #name_, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, \
        .max_outputs = 1, .params = params_, .n_params = COUNT_OF(params_), .infer = infer_, .images = true       \
    }

const struct op op_rows_batch[] = {
    BATCH_ROW(BatchToSpace, params_batch_to_space, infer_batch_to_space),
    BATCH_ROW(SpaceToBatch, params_space_to_batch, infer_space_to_batch),
};
const size_t op_rows_batch_count = COUNT_OF(op_rows_batch);
