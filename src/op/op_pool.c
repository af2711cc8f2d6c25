/* SPDX-License-Identifier: Apache-2.0 */
/* Pools over channels-last activations: PoolMax2d, PoolAvg2d, L2Pool2d, PoolMax3d, PoolAvg3d. */
#include "op/families.h"
#include "op/infer.h"
#include "op/window.h"

enum { ROUND_FLOOR, ROUND_CEIL };

static odlc_status infer_pool(const struct infer *c)
{
    const struct type *x = infer_in(c, 0);
    int64_t rounding = node_int(c->node, PARAM_rounding_mode, ROUND_FLOOR);
    struct window w;
    const char *wrong = window_read_pool(&w, c->node, &x->shape);
    if (!wrong && rounding != ROUND_FLOOR && rounding != ROUND_CEIL)
        wrong = "rounding_mode is neither 0 (floor) nor 1 (ceil)";
    if (!wrong)
        wrong = window_count(&w, rounding == ROUND_CEIL);
    if (wrong)
        return infer_error(c, "%s (input %s)", wrong, shape_text(c->diags->arena, &x->shape));
    c->out[0] = (struct type){x->dtype, window_shape(&w, w.channels)};
    return ODLC_OK;
}

/* Each element of the result may see a whole window. */
static uint64_t work_pool(const struct graph *g, const struct node *n)
{
    const struct shape *x = &node_input(g, n, 0)->type->shape;
    uint32_t axes;
    const int64_t *filter = node_ints(n, PARAM_filter_size, &axes);
    uint64_t work = shape_count(&node_output(g, n, 0)->type->shape);
    for (uint32_t i = 0; i < axes && i + 1 < x->rank; i++)
        work = sat_mul(work, (uint64_t)min_i64(filter[i], x->dims[i + 1]));
    return work;
}

/* clang-format off */
#define POOL_PARAMS                                             \
    {PARAM_NAMED(filter_size), DT_UINT32, PARAM_REQUIRED, true, false, 0}, \
    {PARAM_NAMED(stride), DT_UINT32, PARAM_REQUIRED, true, false, 0},      \
    {PARAM_NAMED(pad_amount), DT_UINT32, PARAM_REQUIRED, true, false, 0},  \
    {PARAM_NAMED(padding_size_strategy), DT_UINT8, PARAM_OPTIONAL, false, true, 0}
#define ROUNDING {PARAM_NAMED(rounding_mode), DT_UINT32, PARAM_OPTIONAL, false, false, 0}
/* clang-format on */

static const struct param_def params_max[] = {POOL_PARAMS, ROUNDING};
static const struct param_def params_average[] = {
    POOL_PARAMS,
    ROUNDING,
    {PARAM_NAMED(count_pad_for_edges), DT_BOOL, PARAM_DEFAULT, false, false, 0},
};
static const struct param_def params_l2[] = {POOL_PARAMS};

#define POOL_ROW(name_, axes_, type_, selector_, params_)                                                             \
    {                                                                                                                 \
        .id = OP_##name_, .name = #name_, .dlc_type = type_, .selector = selector_, .min_inputs = 1, .max_inputs = 1, \
        .min_outputs = 1, .max_outputs = 1, .params = params_, .n_params = COUNT_OF(params_), .infer = infer_pool,    \
        .spatial_axes = axes_, .work = work_pool, .images = true                                                      \
    }

const struct op op_rows_pool[] = {
    POOL_ROW(L2Pool2d, 2, "L2Pool2d", NULL, params_l2),
    POOL_ROW(PoolAvg2d, 2, "Pool", "pool_type", params_average),
    POOL_ROW(PoolAvg3d, 3, "PoolAvg3d", NULL, params_average),
    POOL_ROW(PoolMax2d, 2, "Pool", "pool_type", params_max),
    POOL_ROW(PoolMax3d, 3, "PoolMax3d", NULL, params_max),
};
const size_t op_rows_pool_count = COUNT_OF(op_rows_pool);
