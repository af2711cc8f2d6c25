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

static bool is_initializer(const struct conversion *c, const char *name)
{
    const struct fw_graph *g = &c->model->graph;
    for (size_t i = 0; i < g->initializers.count; i++)
        if (strcmp(g->initializers.data[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < g->nodes.count; i++)
        if (strcmp(g->nodes.data[i].op_type, "Constant") == 0 && strcmp(g->nodes.data[i].outputs[0], name) == 0)
            return true;
    return false;
}

static cJSON *add_tensor(cJSON *list, const char *name)
{
    cJSON *tensor = cJSON_CreateObject();
    cJSON_AddStringToObject(tensor, "name", name);
    cJSON_AddStringToObject(tensor, "data_type", "FLOAT_32");
    cJSON_AddItemToArray(list, tensor);
    return tensor;
}

static void add_param(cJSON *scalars, cJSON *tensors, const struct fw_attr *a)
{
    bool scalar = a->kind == FW_INT || a->kind == FW_FLOAT || a->kind == FW_STRING;
    bool tensor = a->kind == FW_INTS || a->kind == FW_FLOATS || a->kind == FW_STRINGS || a->kind == FW_TENSOR;
    if (!scalar && !tensor)
        return;
    const char *type = a->kind == FW_INT || a->kind == FW_INTS         ? "INT_32"
                       : a->kind == FW_STRING || a->kind == FW_STRINGS ? "STRING"
                                                                       : "FLOAT_32";
    cJSON *param = cJSON_CreateObject();
    cJSON_AddStringToObject(param, "name", a->name);
    cJSON_AddStringToObject(param, "data_type", type);
    cJSON_AddItemToArray(scalar ? scalars : tensors, param);
}

static void add_operator(struct conversion *c, cJSON *operators, const struct fw_node *n)
{
    cJSON *op = cJSON_CreateObject();
    cJSON_AddStringToObject(op, "type", n->op_type);
    cJSON *inputs = cJSON_AddArrayToObject(op, "inputs"), *outputs = cJSON_AddArrayToObject(op, "outputs");
    cJSON *scalars = cJSON_AddArrayToObject(op, "scalar_params"),
          *tensors = cJSON_AddArrayToObject(op, "tensor_params");
    for (size_t i = 0; i < n->n_inputs; i++) {
        cJSON *tensor = add_tensor(inputs, arena_printf(c->arena, "in%zu", i));
        if (*n->inputs[i] && is_initializer(c, n->inputs[i]))
            cJSON_AddBoolToObject(tensor, "static", 1);
    }
    for (size_t i = 0; i < n->n_outputs; i++)
        add_tensor(outputs, arena_printf(c->arena, "out%zu", i));
    for (size_t i = 0; i < n->n_attrs; i++)
        add_param(scalars, tensors, &n->attrs[i]);
    cJSON *cores = cJSON_AddArrayToObject(op, "core_types");
    cJSON_AddItemToArray(cores, cJSON_CreateString("CPU"));
    cJSON_AddItemToArray(operators, op);
}

const char *write_udo_stub(struct conversion *c)
{
    const struct fw_graph *g = &c->model->graph;
    struct map seen;
    map_init(&seen, c->arena);
    cJSON *root = cJSON_CreateObject();
    if (!root)
        arena_exhausted(c->arena);
    arena_defer(c->arena, delete_tree, root);
    cJSON *package = cJSON_AddObjectToObject(root, "UdoPackage_0");
    cJSON *operators = cJSON_AddArrayToObject(package, "Operators");
    cJSON_AddStringToObject(package, "UDO_PACKAGE_NAME", "MyUdoPackage");
    for (size_t i = 0, k = 0; i < g->nodes.count; i++) {
        const struct fw_node *n = &g->nodes.data[i];
        if (!c->live[i] || c->ops.data[k++].status != ODLC_OP_UNSUPPORTED)
            continue;
        if (map_add(&seen, n->op_type, 1) == MAP_NONE)
            add_operator(c, operators, n);
    }
    if (!cJSON_GetArraySize(operators))
        return NULL;
    char *printed = cJSON_Print(root);
    if (!printed)
        arena_exhausted(c->arena);
    arena_defer(c->arena, free_text, printed);
    return printed;
}
