/* SPDX-License-Identifier: Apache-2.0 */
#include "package/static_params.h"

#include <string.h>

#include "op/params.h"
#include "package/op_node.h"

static SnpeUdo_DataType_t type_of(enum dtype dtype)
{
    static const SnpeUdo_DataType_t types[DT_COUNT] = {
        [DT_FLOAT16] = SNPE_UDO_DATATYPE_FLOAT_16, [DT_FLOAT32] = SNPE_UDO_DATATYPE_FLOAT_32,
        [DT_FLOAT64] = ODLC_UDO_DATATYPE_FLOAT_64, [DT_UINT8] = SNPE_UDO_DATATYPE_UINT_8,
        [DT_UINT16] = SNPE_UDO_DATATYPE_UINT_16,   [DT_UINT32] = SNPE_UDO_DATATYPE_UINT_32,
        [DT_UINT64] = ODLC_UDO_DATATYPE_UINT_64,   [DT_INT8] = SNPE_UDO_DATATYPE_INT_8,
        [DT_INT16] = SNPE_UDO_DATATYPE_INT_16,     [DT_INT32] = SNPE_UDO_DATATYPE_INT_32,
        [DT_INT64] = ODLC_UDO_DATATYPE_INT_64,     [DT_BOOL] = ODLC_UDO_DATATYPE_BOOL_8,
        [DT_STRING] = ODLC_UDO_DATATYPE_STRING,
    };
    return types[dtype];
}

/* Floats are float32 whatever their type: values have no other. The bytes of narrower integers are the first ones of
 * the widest. */
static SnpeUdo_ScalarParam_t scalar(const struct param *p)
{
    SnpeUdo_ScalarParam_t out = {.dataType = type_of(p->dtype)};
    if (dtype_is_float(p->dtype)) {
        out.dataType = SNPE_UDO_DATATYPE_FLOAT_32;
        out.dataValue.floatValue = (float)p->f;
    } else {
        out.dataValue.int64Value = p->i;
    }
    return out;
}

static SnpeUdo_Param_t static_param(const struct param *p, const QnnCpuOpPackage_Param_t *as_cpu)
{
    SnpeUdo_Param_t out = {.paramType = SNPE_UDO_PARAMTYPE_SCALAR, .paramName = (SnpeUdo_String_t)p->name};
    if (p->is_tensor) {
        out.paramType = SNPE_UDO_PARAMTYPE_TENSOR;
        out.tensorParam = (SnpeUdo_TensorParam_t){.tensorRank = as_cpu->tensorParam->rank,
                                                  .maxDimensions = as_cpu->tensorParam->maxDimensions,
                                                  .currDimensions = as_cpu->tensorParam->currentDimensions,
                                                  .layout = ODLC_UDO_LAYOUT_OTHER,
                                                  .dataType = type_of(p->dtype),
                                                  .tensorData = as_cpu->tensorParam->data};
    } else if (p->dtype == DT_STRING) {
        out.paramType = SNPE_UDO_PARAMTYPE_STRING;
        out.stringParam = (SnpeUdo_String_t)p->s;
    } else {
        out.scalarParam = scalar(p);
    }
    return out;
}

/* Brings the param of that name to place `to`, behind which it may stand. */
static bool move_to(SnpeUdo_Param_t *params, uint32_t count, uint32_t to, const char *name)
{
    for (uint32_t i = to; name && i < count; i++)
        if (strcmp(params[i].paramName, name) == 0) {
            const SnpeUdo_Param_t found = params[i];
            memmove(&params[to + 1], &params[to], (i - to) * sizeof *params);
            params[to] = found;
            return true;
        }
    return false;
}

SnpeUdo_Param_t *static_params_make(struct arena *arena, const struct node *n, const QnnCpuOpPackage_Node_t *as_cpu,
                                    const SnpeUdo_OperationInfo_t *registered, uint32_t *count)
{
    SnpeUdo_Param_t *all = arena_array(arena, SnpeUdo_Param_t, as_cpu->numOfParams);
    *count = 0;
    for (uint32_t i = 0; i < n->op->n_params; i++) {
        const struct param p = node_get_param(n, i);
        if (op_node_gives(&p)) {
            all[*count] = static_param(&p, as_cpu->params[*count]);
            (*count)++;
        }
    }
    uint32_t sorted = 0;
    for (uint32_t i = 0; registered && i < registered->numOfStaticParams; i++)
        sorted += move_to(all, *count, sorted, registered->staticParams[i].paramName);
    return all;
}
