/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/udo_template.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "converters/driver/value_types.h"

static void delete_tree(void *object)
{
    cJSON_Delete(object);
}

static void free_text(void *object)
{
    cJSON_free(object);
}

/* What nodes show of the input, output or attribute at one place. */
struct seen {
    const char *name; /* of an attribute, or of an operand where the model says it */
    enum dtype dtype; /* DT_NONE: nothing tells */
    bool mixed;       /* of several types */
    bool data;        /* the model holds it */
    bool computed;    /* it does not */
    bool absent;      /* a node leaves it out */
    bool list;        /* an attribute that is not a single value */
};

typedef VEC(struct seen) seen_list;

/* The inputs, or outputs, at all places. */
struct operands {
    seen_list places;
    size_t least; /* that a node has */
};

/* The nodes of one domain and op type. */
struct group {
    const char *op_type, *domain;
    bool names_domain; /* nodes of that type are in other domains, too */
    bool holds_graphs; /* in attributes, which no UDO can carry */
    size_t n_nodes;
    struct operands inputs, outputs;
    seen_list params;
    struct map param_index;
};

struct template
{
    const struct context *c;
    struct input *in;
    const struct support *support;
    struct map data; /* name of a value that the model holds → its dtype */
    VEC(struct group) groups;
};

/* ---- what the model shows ---- */

static enum dtype constant_dtype(const struct fw_node *n)
{
    static const struct {
        const char *name;
        enum dtype dtype;
    } forms[] = {{"value_float", DT_FLOAT32}, {"value_floats", DT_FLOAT32}, {"value_int", DT_INT64},
                 {"value_ints", DT_INT64},    {"value_string", DT_STRING},  {"value_strings", DT_STRING}};
    const struct fw_attr *value = fw_find_attr(n, "value");
    if (value && fw_attr_tensor(value))
        return fw_attr_tensor(value)->view.dtype;
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        if (fw_find_attr(n, forms[i].name))
            return forms[i].dtype;
    return DT_NONE;
}

static void find_values(struct template *s)
{
    const struct fw_graph *g = &s->in->model->graph;
    map_init(&s->data, s->c->arena);
    for (size_t i = 0; i < g->initializers.count; i++)
        map_put(&s->data, g->initializers.data[i].name, g->initializers.data[i].view.dtype);
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct fw_node *n = &g->nodes.data[i];
        if (*n->op->domain || n->n_outputs == 0)
            continue;
        if (strcmp(n->op->type, "Constant") == 0)
            map_put(&s->data, n->outputs[0], constant_dtype(n));
        else if (strcmp(n->op->type, "Identity") == 0 && n->n_inputs == 1 &&
                 map_get(&s->data, n->inputs[0]) != MAP_NONE)
            map_put(&s->data, n->outputs[0], map_get(&s->data, n->inputs[0]));
    }
}

static void see_value(const struct template *s, const char *name, fw_name id, struct seen *seen)
{
    uint32_t data = map_get(&s->data, name);
    enum dtype dtype = data != MAP_NONE && data != DT_NONE ? (enum dtype)data : known_type(s->c, s->in, id);
    if (!*name) {
        seen->absent = true;
        return;
    }
    seen->data |= data != MAP_NONE;
    seen->computed |= data == MAP_NONE;
    seen->mixed |= dtype != DT_NONE && seen->dtype != DT_NONE && seen->dtype != dtype;
    if (seen->dtype == DT_NONE)
        seen->dtype = dtype;
}

static void see_values(const struct template *s, const struct group *group, struct operands *list,
                       const char *const *names, const fw_name *ids, size_t count)
{
    if (group->n_nodes == 0 || count < list->least)
        list->least = count;
    while (list->places.count < count)
        vec_push(s->c->arena, &list->places, (struct seen){0});
    for (size_t i = 0; i < count; i++)
        see_value(s, names[i], ids[i], &list->places.data[i]);
}

/* Nodes of a group can have operands in different number. */
static void note_absent(struct operands *list)
{
    for (size_t i = list->least; i < list->places.count; i++)
        list->places.data[i].absent = true;
}

static enum dtype attr_dtype(const struct fw_attr *a)
{
    switch (a->kind) {
    case FW_INT:
    case FW_INTS:
        return DT_INT32;
    case FW_BOOL:
        return DT_BOOL;
    case FW_STRING:
    case FW_STRINGS:
        return DT_STRING;
    case FW_TENSOR:
    case FW_SPARSE:
        return a->tensor->view.dtype;
    default:
        return DT_FLOAT32;
    }
}

static void see_attr(const struct template *s, struct group *group, const struct fw_attr *a)
{
    group->holds_graphs |= fw_holds_graph(a);
    bool single = a->kind == FW_INT || a->kind == FW_BOOL || a->kind == FW_FLOAT || a->kind == FW_STRING;
    bool list = a->kind == FW_INTS || a->kind == FW_FLOATS || a->kind == FW_STRINGS || fw_attr_tensor(a);
    if ((!single && !list) || a->is_type)
        return;
    enum dtype dtype = attr_dtype(a);
    uint32_t at = map_add(&group->param_index, a->name, (uint32_t)group->params.count);
    if (at == MAP_NONE) {
        at = (uint32_t)group->params.count;
        vec_push(s->c->arena, &group->params, (struct seen){.name = a->name, .dtype = dtype});
    }
    struct seen *seen = &group->params.data[at];
    seen->list |= list;
    if (seen->dtype == DT_INT32 && dtype == DT_FLOAT32) /* a whole number that one exporter wrote as such */
        seen->dtype = dtype;
}

static struct group *group_of(struct template *s, struct map *index, const struct fw_node *n)
{
    const char *key = arena_printf(s->c->arena, "%s::%s", n->op->domain, n->op->type);
    uint32_t at = map_add(index, key, (uint32_t)s->groups.count);
    if (at != MAP_NONE)
        return &s->groups.data[at];
    struct group group = {.op_type = n->op->type, .domain = n->op->domain, .names_domain = *n->op->domain};
    map_init(&group.param_index, s->c->arena);
    for (uint32_t i = 0; i < n->op->n_input_names && i < n->n_inputs; i++)
        vec_push(s->c->arena, &group.inputs.places, (struct seen){.name = n->op->input_names[i]});
    for (uint32_t i = 0; i < n->op->n_defaults; i++)
        see_attr(s, &group, &n->op->defaults[i]);
    vec_push(s->c->arena, &s->groups, group);
    return &s->groups.data[s->groups.count - 1];
}

static void find_groups(struct template *s)
{
    const struct context *c = s->c;
    struct map index;
    map_init(&index, c->arena);
    for (size_t i = 0; i < s->support->missing.count; i++) {
        const struct fw_node *n = s->support->missing.data[i];
        struct group *group = group_of(s, &index, n);
        see_values(s, group, &group->inputs, n->inputs, n->ids, n->n_inputs);
        see_values(s, group, &group->outputs, n->outputs, n->ids + n->n_inputs, n->n_outputs);
        for (size_t a = 0; a < n->n_attrs; a++)
            see_attr(s, group, &n->attrs[a]);
        group->n_nodes++;
    }
    for (size_t i = 0; i < s->groups.count; i++) {
        note_absent(&s->groups.data[i].inputs);
        note_absent(&s->groups.data[i].outputs);
    }
}

/* No definition can claim them. */
static void drop_graph_holders(struct template *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->groups.count; i++)
        if (!s->groups.data[i].holds_graphs)
            s->groups.data[kept++] = s->groups.data[i];
    s->groups.count = kept;
}

/* A definition without a domain claims the nodes of all domains, native ones too. */
static void find_namesakes(struct template *s)
{
    const struct context *c = s->c;
    struct map elsewhere; /* types of nodes that are in a domain */
    map_init(&elsewhere, c->arena);
    for (size_t i = 0; i < s->support->notes.count; i++) {
        const struct odlc_op_report *op = &s->support->ops[s->support->notes.data[i].op];
        if (*op->domain)
            map_put(&elsewhere, op->op_type, 1);
    }
    for (size_t i = 0; i < s->groups.count; i++) {
        struct group *group = &s->groups.data[i];
        group->names_domain |= map_get(&elsewhere, group->op_type) != MAP_NONE;
    }
}

/* ---- as a config ---- */

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

/* What is made goes into the tree at once, which the arena holds: memory may run out at any time. */
static cJSON *need(struct template *s, cJSON *made)
{
    if (!made)
        arena_exhausted(s->c->arena);
    return made;
}

static void add_string(struct template *s, cJSON *object, const char *key, const char *value)
{
    (void)need(s, cJSON_AddStringToObject(object, key, value));
}

static void add_true(struct template *s, cJSON *object, const char *key)
{
    (void)need(s, cJSON_AddBoolToObject(object, key, 1));
}

static cJSON *add_list(struct template *s, cJSON *object, const char *key)
{
    return need(s, cJSON_AddArrayToObject(object, key));
}

static cJSON *append(struct template *s, cJSON *list, cJSON *made)
{
    (void)cJSON_AddItemToArray(list, need(s, made)); /* allocates nothing */
    return made;
}

static void add_tensors(struct template *s, cJSON *op, const char *list_name, const char *kind, const seen_list *list)
{
    cJSON *tensors = add_list(s, op, list_name);
    for (size_t i = 0; i < list->count; i++) {
        const struct seen *seen = &list->data[i];
        bool is_input = strcmp(kind, "in") == 0;
        cJSON *tensor = append(s, tensors, cJSON_CreateObject());
        add_string(s, tensor, "name", seen->name ? seen->name : arena_printf(s->c->arena, "%s%zu", kind, i));
        if (!seen->mixed)
            add_string(s, tensor, "data_type", config_type(seen->dtype));
        if (seen->data && !seen->computed)
            add_true(s, tensor, "static");
        if (is_input && seen->absent)
            add_true(s, tensor, "optional");
    }
}

static void add_params(struct template *s, cJSON *op, const char *list_name, const seen_list *list, bool lists)
{
    cJSON *params = add_list(s, op, list_name);
    for (size_t i = 0; i < list->count; i++) {
        const struct seen *seen = &list->data[i];
        if (seen->list != lists)
            continue;
        cJSON *param = append(s, params, cJSON_CreateObject());
        add_string(s, param, "name", seen->name);
        add_string(s, param, "data_type", config_type(seen->dtype));
    }
}

static void add_operator(struct template *s, cJSON *operators, const struct group *group)
{
    cJSON *op = append(s, operators, cJSON_CreateObject());
    add_string(s, op, "type", group->op_type);
    if (group->names_domain)
        add_string(s, op, "domain", *group->domain ? group->domain : "ai.onnx");
    add_tensors(s, op, "inputs", "in", &group->inputs.places);
    add_tensors(s, op, "outputs", "out", &group->outputs.places);
    add_params(s, op, "scalar_params", &group->params, false);
    add_params(s, op, "tensor_params", &group->params, true);
    cJSON *cores = add_list(s, op, "core_types");
    (void)append(s, cores, cJSON_CreateString("CPU"));
}

const char *write_udo_template(const struct context *c, struct input *in, const struct support *support)
{
    struct template s = {.c = c, .in = in, .support = support};
    find_values(&s);
    find_groups(&s);
    find_namesakes(&s);
    drop_graph_holders(&s);
    if (s.groups.count == 0)
        return NULL;
    cJSON *root = need(&s, cJSON_CreateObject());
    arena_defer(c->arena, delete_tree, root);
    cJSON *package = need(&s, cJSON_AddObjectToObject(root, "UdoPackage_0"));
    cJSON *operators = add_list(&s, package, "Operators");
    add_string(&s, package, "UDO_PACKAGE_NAME", "MyUdoPackage");
    for (size_t i = 0; i < s.groups.count; i++)
        add_operator(&s, operators, &s.groups.data[i]);
    char *printed = cJSON_Print(root);
    if (!printed)
        arena_exhausted(c->arena);
    arena_defer(c->arena, free_text, printed);
    return printed;
}
