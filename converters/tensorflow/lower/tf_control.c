/* SPDX-License-Identifier: Apache-2.0 */
/* Branches and loops of TensorFlow: as functions that nodes hold, as Switch and Merge, and as loops that were cycles.
 * Operators that only pass on what they get are here, too. */
#include <string.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/control.h"
#include "converters/lowering/shapes.h"
#include "converters/lowering/emit.h"
#include "converters/tensorflow/schema/merge_sides.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

/* ---- conditions ---- */

/* A value as a condition of rank 0: one number is true when it is not 0, other tensors when they have elements. */
static odlc_status truth(const struct lower *l, tensor_id x, const char *what, tensor_id *out)
{
    const struct type *type = build_type(l->b, x);
    const struct shape scalar = {.rank = 0};
    const int64_t filled = shape_count(&type->shape) > 0;
    if (type->dtype == DT_STRING)
        return lower_unsupported(l, NULL, NULL, "%s is a string", what);
    if (type->shape.rank > 0)
        *out = build_const_ints(l->b, step_name(l, "condition"), DT_BOOL, &scalar, &filled);
    else if (type->dtype != DT_BOOL)
        return build_cast(l->b, x, DT_BOOL, step_name(l, "condition"), out);
    else
        *out = x;
    return ODLC_OK;
}

odlc_status tf_if(struct lower *l)
{
    tensor_id condition;
    TRY(lower_need(l, 0, "cond", &condition));
    TRY(truth(l, condition, "input 0 (cond)", &condition));
    return control_if(l, condition, l->values + 1, l->n_in - 1);
}

/* ---- Case ---- */

/* The attributes that hold the branches are branches:0, branches:1, … */
static const char *branch_name(const struct lower *l, uint32_t i)
{
    return arena_printf(l->arena, "branches:%u", i);
}

/* Any other index is that of the last branch. */
static odlc_status take_branch(struct lower *l, tensor_id index, uint32_t n_branches)
{
    const int64_t *value;
    uint32_t count;
    struct lower_value *results;
    TRY(lower_tensor_ints(l, index, "input 0 (branch_index)", &value, &count));
    if (count != 1)
        return lower_invalid(l, NULL, NULL, "input 0 (branch_index) has %u elements instead of one", count);
    bool inside = value[0] >= 0 && value[0] < n_branches;
    const char *name = branch_name(l, inside ? (uint32_t)value[0] : n_branches - 1);
    TRY(control_run(l, name, l->node->name, l->values + 1, l->n_in - 1, &results));
    for (uint32_t i = 0; i < l->n_out; i++)
        control_give(l, i, &results[i]);
    return ODLC_OK;
}

static odlc_status select_branches(struct lower *l, tensor_id index, uint32_t n_branches)
{
    struct emit s = {.l = l};
    struct lower_value **results = arena_array(l->arena, struct lower_value *, n_branches);
    odlc_status status = ODLC_OK;
    for (uint32_t i = 0; i < n_branches; i++) {
        const char *prefix = arena_printf(l->arena, "%s/%u", l->node->name, i);
        odlc_status lowered = control_run(l, branch_name(l, i), prefix, l->values + 1, l->n_in - 1, &results[i]);
        if (status == ODLC_OK)
            status = lowered;
    }
    if (status != ODLC_OK)
        return control_blame(l, index, "a branch cannot be converted");
    for (uint32_t k = 0; k < l->n_out; k++)
        l->results[k] = results[n_branches - 1][k];
    for (uint32_t i = n_branches - 1; i-- > 0;) {
        tensor_id this_one = emit_binary(&s, OP_ElementWiseEqual, index, emit_scalar(&s, index, i));
        TRY(s.status);
        for (uint32_t k = 0; k < l->n_out; k++)
            if (lower_out_name(l, k))
                TRY(control_select(l, this_one, k, &results[i][k], &l->results[k], &l->results[k]));
    }
    for (uint32_t k = 0; k < l->n_out; k++)
        if (lower_out_name(l, k) && l->results[k].kind == VALUE_TENSOR)
            TRY(emit_give(&s, k, l->results[k].tensor));
    return ODLC_OK;
}

odlc_status tf_case(struct lower *l)
{
    tensor_id index;
    uint32_t n_branches = 0;
    TRY(lower_need(l, 0, "branch_index", &index));
    while (lower_has_attr(l, branch_name(l, n_branches)))
        n_branches++;
    if (n_branches == 0)
        return lower_invalid(l, "branches", NULL, "there are no branches");
    if (build_rank(l->b, index) != 0)
        return lower_invalid(l, NULL, NULL, "input 0 (branch_index) has %u dimensions instead of none",
                             build_rank(l->b, index));
    return build_is_const(l->b, index) ? take_branch(l, index, n_branches) : select_branches(l, index, n_branches);
}

/* ---- While ---- */

static odlc_status check_loop(const struct lower *l, const struct fw_graph *cond, const struct fw_graph *body)
{
    if (cond->outputs.count != 1)
        return lower_invalid(l, "cond", NULL, "the condition gives %zu values instead of one", cond->outputs.count);
    if (body->outputs.count != l->n_in || l->n_out > l->n_in)
        return lower_invalid(l, "body", NULL, "the body gives %zu values for %u variables", body->outputs.count,
                             l->n_in);
    return ODLC_OK;
}

static odlc_status goes_on(struct lower *l, const struct fw_graph *cond, long long trip,
                           const struct lower_value *values, bool *out)
{
    struct lower_value condition;
    tensor_id known;
    const char *prefix = arena_printf(l->arena, "%s/%lld/cond", l->node->name, trip);
    const char *what =
        trip ? arena_printf(l->diags->arena, "the condition after trip %lld", trip - 1) : "the condition of the loop";
    TRY(lower_subgraph(l, cond, prefix, values, l->n_in, &condition));
    if (condition.kind != VALUE_TENSOR)
        return lower_invalid(l, "cond", NULL, "%s is no tensor", what);
    TRY(truth(l, condition.tensor, what, &known));
    return control_known(l, known, what, out);
}

odlc_status tf_while(struct lower *l)
{
    const struct fw_graph *cond, *body;
    bool go_on;
    TRY(lower_attr_graph(l, "cond", &cond));
    TRY(lower_attr_graph(l, "body", &body));
    TRY(check_loop(l, cond, body));
    struct lower_value *values = arena_memdup(l->arena, l->values, l->n_in * sizeof *values);
    struct lower_value *results = arena_array(l->arena, struct lower_value, l->n_in);
    TRY(goes_on(l, cond, 0, values, &go_on));
    for (long long trip = 0; go_on; trip++) {
        const char *prefix = arena_printf(l->arena, "%s/%lld", l->node->name, trip);
        TRY(lower_subgraph(l, body, prefix, values, l->n_in, results));
        memcpy(values, results, l->n_in * sizeof *values);
        TRY(goes_on(l, cond, trip + 1, values, &go_on));
    }
    for (uint32_t i = 0; i < l->n_out; i++)
        control_give(l, i, &values[i]);
    return ODLC_OK;
}

/* The body is given the number, start, start + delta … before limit, and the variables. */
odlc_status tf_for(struct lower *l)
{
    enum { FIRST = 3 }; /* of the variables, among the inputs */
    const struct fw_graph *body;
    const struct shape scalar = {.rank = 0};
    int64_t number, limit, delta;
    TRY(lower_attr_graph(l, "body", &body));
    TRY(lower_one_int(l, 0, "start", &number));
    TRY(lower_one_int(l, 1, "limit", &limit));
    TRY(lower_one_int(l, 2, "delta", &delta));
    uint32_t count = l->n_in - FIRST;
    if (body->outputs.count != count || l->n_out > count)
        return lower_invalid(l, "body", NULL, "the body gives %zu values for %u variables", body->outputs.count, count);
    if (delta == 0 || (delta > 0 ? number > limit : number < limit))
        return lower_invalid(l, NULL, NULL, "steps of %lld do not lead from %lld to %lld", (long long)delta,
                             (long long)number, (long long)limit);
    struct lower_value *values = arena_array(l->arena, struct lower_value, count + 1);
    struct lower_value *results = arena_array(l->arena, struct lower_value, count);
    memcpy(values + 1, l->values + FIRST, count * sizeof *values);
    for (; delta > 0 ? number < limit : number > limit; number += delta) {
        const char *prefix = arena_printf(l->arena, "%s/%lld", l->node->name, (long long)number);
        tensor_id known = build_const_ints(l->b, step_name(l, "number"), DT_INT32, &scalar, &number);
        values[0] = (struct lower_value){.kind = VALUE_TENSOR, .tensor = known};
        TRY(lower_subgraph(l, body, prefix, values, count + 1, results));
        memcpy(values + 1, results, count * sizeof *values);
    }
    for (uint32_t i = 0; i < l->n_out; i++)
        control_give(l, i, &values[1 + i]);
    return ODLC_OK;
}

/* ---- Switch and Merge ---- */

/* Output 0 when the condition is false, 1 when it is true. What is not known may be either: a Merge selects. */
odlc_status tf_switch(struct lower *l)
{
    tensor_id condition;
    bool taken = false;
    TRY(lower_need(l, 1, "pred", &condition));
    bool known = build_is_const(l->b, condition);
    if (known)
        TRY(control_known(l, condition, "input 1 (pred)", &taken));
    for (uint32_t i = 0; i < l->n_out; i++)
        l->results[i] = known && i != taken ? (struct lower_value){.kind = VALUE_DEAD} : l->values[0];
    return ODLC_OK;
}

/* Output i when the index is i; any other index is that of the last output. What is not known may be any. */
odlc_status tf_switch_n(struct lower *l)
{
    tensor_id index;
    int64_t outputs, taken = -1;
    TRY(lower_need(l, 1, "output_index", &index));
    TRY(lower_attr_int(l, "num_outs", 0, &outputs));
    if (build_is_const(l->b, index)) {
        TRY(lower_one_int(l, 1, "output_index", &taken));
        taken = taken < 0 || taken >= outputs ? outputs - 1 : taken;
    }
    for (uint32_t i = 0; i < l->n_out; i++)
        l->results[i] = taken < 0 || i == taken ? l->values[0] : (struct lower_value){.kind = VALUE_DEAD};
    return ODLC_OK;
}

/* The one input that is alive is given, with its number. */
static odlc_status give_living(struct lower *l, uint32_t alive)
{
    struct emit s = {.l = l};
    const struct shape scalar = {.rank = 0};
    const int64_t number = alive;
    l->results[0] = l->values[alive];
    if (l->n_out > 1)
        return emit_give(&s, 1, build_const_ints(l->b, lower_out_name(l, 1), DT_INT32, &scalar, &number));
    return ODLC_OK;
}

/* The inputs of those numbers arrive when the condition, which is not known, is true and false. */
static odlc_status select_side(struct lower *l, tensor_id condition, uint32_t yes, uint32_t no)
{
    struct emit s = {.l = l};
    const struct shape scalar = {.rank = 0};
    struct lower_value numbers[2] = {{.kind = VALUE_TENSOR}, {.kind = VALUE_TENSOR}}, which;
    const int64_t number[2] = {no, yes};
    TRY(build_reshape(l->b, condition, &scalar, step_name(l, "condition"), &condition));
    TRY(control_select(l, condition, 0, &l->values[yes], &l->values[no], &l->results[0]));
    if (l->results[0].kind == VALUE_TENSOR)
        TRY(emit_give(&s, 0, l->results[0].tensor));
    if (l->n_out < 2)
        return ODLC_OK;
    for (uint32_t i = 0; i < 2; i++)
        numbers[i].tensor = build_const_ints(l->b, step_name(l, "input"), DT_INT32, &scalar, &number[i]);
    TRY(control_select(l, condition, 1, &numbers[1], &numbers[0], &which));
    return emit_give(&s, 1, which.tensor);
}

/* The inputs of those numbers arrive for indices that their sides say, the highest one's for any other index. */
static odlc_status select_numbered(struct lower *l, tensor_id index, const int64_t *sides, const uint32_t *alive,
                                   uint32_t count)
{
    struct emit s = {.l = l};
    const struct shape scalar = {.rank = 0};
    uint32_t last = 0;
    struct lower_value *numbers = arena_array(l->arena, struct lower_value, count), which;
    index = emit_reshape(&s, index, &scalar);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t number = alive[i];
        numbers[i] = (struct lower_value){
            .kind = VALUE_TENSOR, .tensor = build_const_ints(l->b, step_name(l, "input"), DT_INT32, &scalar, &number)};
        last = sides[alive[i]] > sides[alive[last]] ? i : last;
    }
    l->results[0] = l->values[alive[last]];
    which = numbers[last];
    for (uint32_t i = 0; i < count; i++) {
        if (i == last)
            continue;
        tensor_id this_one =
            emit_binary(&s, OP_ElementWiseEqual, index, emit_scalar(&s, index, (double)sides[alive[i]]));
        TRY(s.status);
        TRY(control_select(l, this_one, 0, &l->values[alive[i]], &l->results[0], &l->results[0]));
        if (l->n_out > 1)
            TRY(control_select(l, this_one, 1, &numbers[i], &which, &which));
    }
    if (l->results[0].kind == VALUE_TENSOR)
        TRY(emit_give(&s, 0, l->results[0].tensor));
    return l->n_out > 1 ? emit_give(&s, 1, which.tensor) : ODLC_OK;
}

/* Where the inputs are the sides of a conditional, they are followed by what it decides by. */
odlc_status tf_merge(struct lower *l)
{
    const int64_t *sides;
    uint32_t count, n_alive = 0;
    TRY(lower_attr_ints(l, MERGE_SIDES, &sides, &count));
    uint32_t *alive = arena_array(l->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        if (l->values[i].kind != VALUE_DEAD && sides[i] != NEVER_ALIVE)
            alive[n_alive++] = i;
    if (n_alive == 1)
        return give_living(l, alive[0]);
    for (uint32_t i = 0; n_alive == 0 && i < l->n_out; i++)
        l->results[i] = (struct lower_value){.kind = VALUE_DEAD};
    if (n_alive == 0)
        return ODLC_OK;
    tensor_id condition = count < l->n_in ? l->in[count] : NO_TENSOR;
    enum dtype dtype = condition == NO_TENSOR ? DT_NONE : build_type(l->b, condition)->dtype;
    if (dtype_is_int(dtype))
        return select_numbered(l, condition, sides, alive, n_alive);
    if (dtype != DT_BOOL || n_alive != 2)
        return lower_unsupported(l, NULL, NULL,
                                 "which of its inputs arrives depends on what is not known at conversion, and they "
                                 "are not the sides of one condition");
    uint32_t yes = sides[alive[0]] == 1 ? 0 : 1;
    return select_side(l, condition, alive[yes], alive[1 - yes]);
}

/* ---- operators that pass on what they get ---- */

odlc_status tf_identities(struct lower *l)
{
    if (l->n_out > l->n_in)
        return lower_invalid(l, NULL, NULL, "it has %u inputs, and %u outputs", l->n_in, l->n_out);
    for (uint32_t i = 0; i < l->n_out; i++)
        l->results[i] = l->values[i];
    return ODLC_OK;
}
