/* The UDO config that a user can start from: one definition for each op type that nothing can convert, with what its
 * first node shows of inputs, outputs and attributes. What only its author knows is left for them to fill in. */
#include <cjson/cJSON.h>
#include <string.h>

#include "converters/driver.h"

static void delete_tree(void *object)
{
    cJSON_Delete(object);
}

static void free_text(void *object)
{
    cJSON_free(object);
}

/* What the model shows of a value. */
struct known_value {
    enum dtype dtype;
    bool is_data;
};

static bool is_constant_node(const struct fw_node *n, const char *output)
{
    return strcmp(n->op_type, "Constant") == 0 && n->n_outputs > 0 && strcmp(n->outputs[0], output) == 0;
}

static enum dtype declared_dtype(const struct fw_value *values, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].name, name) == 0)
            return values[i].dtype;
    return DT_NONE;
}

static struct known_value find_value(const struct conversion *c, const char *name)
{
    const struct fw_graph *g = &c->model->graph;
    for (size_t i = 0; i < g->initializers.count; i++)
        if (strcmp(g->initializers.data[i].name, name) == 0)
            return (struct known_value){g->initializers.data[i].view.dtype, true};
    for (size_t i = 0; i < g->nodes.count; i++) {
        if (!is_constant_node(&g->nodes.data[i], name))
            continue;
        const struct fw_attr *value = fw_find_attr(&g->nodes.data[i], "value");
        return (struct known_value){value && value->tensor ? value->tensor->view.dtype : DT_NONE, true};
    }
    enum dtype dtype = declared_dtype(g->inputs.data, g->inputs.count, name);
    if (dtype == DT_NONE)
        dtype = declared_dtype(g->values.data, g->values.count, name);
    if (dtype == DT_NONE)
        dtype = declared_dtype(g->outputs.data, g->outputs.count, name);
    return (struct known_value){dtype, false};
}

/* How a config spells the type that a UDO would take; 64-bit integers become 32-bit ones in containers. */
static const char *config_type(enum dtype dtype)
{
    switch (dtype) {
    case DT_FLOAT16:
        return "FLOAT_16";
    case DT_INT8:
        return "INT_8";
    case DT_INT16:
        return "INT_16";
    case DT_INT32:
    case DT_INT64:
        return "INT_32";
    case DT_UINT8:
        return "UINT_8";
    case DT_UINT16:
        return "UINT_16";
    case DT_UINT32:
    case DT_UINT64:
        return "UINT_32";
    case DT_BOOL:
        return "BOOL_8";
    case DT_STRING:
        return "STRING";
    default:
        return "FLOAT_32";
    }
}

static void add_tensor(struct conversion *c, cJSON *list, const char *kind, size_t i, const char *value)
{
    struct known_value known = *value ? find_value(c, value) : (struct known_value){0};
    cJSON *tensor = cJSON_CreateObject();
    cJSON_AddStringToObject(tensor, "name", arena_printf(c->arena, "%s%zu", kind, i));
    cJSON_AddStringToObject(tensor, "data_type", config_type(known.dtype));
    if (known.is_data)
        cJSON_AddBoolToObject(tensor, "static", 1);
    if (!*value && strcmp(kind, "in") == 0)
        cJSON_AddBoolToObject(tensor, "optional", 1);
    cJSON_AddItemToArray(list, tensor);
}

static enum dtype attr_dtype(const struct fw_attr *a)
{
    switch (a->kind) {
    case FW_INT:
    case FW_INTS:
        return DT_INT32;
    case FW_STRING:
    case FW_STRINGS:
        return DT_STRING;
    case FW_TENSOR:
        return a->tensor->view.dtype;
    default:
        return DT_FLOAT32;
    }
}

static void add_param(cJSON *scalars, cJSON *tensors, const struct fw_attr *a)
{
    bool scalar = a->kind == FW_INT || a->kind == FW_FLOAT || a->kind == FW_STRING;
    bool tensor = a->kind == FW_INTS || a->kind == FW_FLOATS || a->kind == FW_STRINGS || a->kind == FW_TENSOR;
    if (!scalar && !tensor)
        return;
    cJSON *param = cJSON_CreateObject();
    cJSON_AddStringToObject(param, "name", a->name);
    cJSON_AddStringToObject(param, "data_type", config_type(attr_dtype(a)));
    cJSON_AddItemToArray(scalar ? scalars : tensors, param);
}

static void add_operator(struct conversion *c, cJSON *operators, const struct fw_node *n)
{
    cJSON *op = cJSON_CreateObject();
    cJSON_AddStringToObject(op, "type", n->op_type);
    cJSON *inputs = cJSON_AddArrayToObject(op, "inputs"), *outputs = cJSON_AddArrayToObject(op, "outputs");
    cJSON *scalars = cJSON_AddArrayToObject(op, "scalar_params"),
          *tensors = cJSON_AddArrayToObject(op, "tensor_params");
    for (size_t i = 0; i < n->n_inputs; i++)
        add_tensor(c, inputs, "in", i, n->inputs[i]);
    for (size_t i = 0; i < n->n_outputs; i++)
        add_tensor(c, outputs, "out", i, n->outputs[i]);
    for (size_t i = 0; i < n->n_attrs; i++)
        add_param(scalars, tensors, &n->attrs[i]);
    cJSON *cores = cJSON_AddArrayToObject(op, "core_types");
    cJSON_AddItemToArray(cores, cJSON_CreateString("CPU"));
    cJSON_AddItemToArray(operators, op);
}

const char *write_udo_stub(struct conversion *c)
{
    struct map seen;
    map_init(&seen, c->arena);
    cJSON *root = cJSON_CreateObject();
    if (!root)
        arena_exhausted(c->arena);
    arena_defer(c->arena, delete_tree, root);
    cJSON *package = cJSON_AddObjectToObject(root, "UdoPackage_0");
    cJSON *operators = cJSON_AddArrayToObject(package, "Operators");
    cJSON_AddStringToObject(package, "UDO_PACKAGE_NAME", "MyUdoPackage");
    for (size_t i = 0; i < c->ops.count; i++)
        if (c->ops.data[i].status == ODLC_OP_UNSUPPORTED && map_add(&seen, c->ops.data[i].op_type, 1) == MAP_NONE)
            add_operator(c, operators, c->op_nodes.data[i]);
    if (!cJSON_GetArraySize(operators))
        return NULL;
    char *printed = cJSON_Print(root);
    if (!printed)
        arena_exhausted(c->arena);
    arena_defer(c->arena, free_text, printed);
    return printed;
}
